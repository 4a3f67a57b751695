//! Facts about functions, kept up to date while the functions are edited, on several threads: an edit drops the facts
//! that depend on it, and only these are computed again.
//!
//! The fact is the size of a function if the calls in it are inlined, and those in the callees, and so on to some depth.
//! It depends on the function, and on the sizes of the callees to one level less, for which its computation asks: if a
//! function dies, its sizes go, and those of its callers, and so on up.
//!
//! `cargo run --release --example incremental -- [PATH…]`

mod code;
#[path = "../common/mod.rs"]
mod common;

use std::collections::HashMap;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::RwLock;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::{iter, thread};

use code::{Code, Function, functions, unique};
use common::report::{Report, bar};
use common::{same, sources};
use weakly::{Memo, Strong, memo::Value};

/// How deep calls are inlined.
const DEPTH: usize = 4;
const EDITS: usize = 200;
const THREADS: usize = 4;

/// The sizes of functions, for each depth from one.
#[derive(Default)]
struct Sizes(Memo<(Strong<Function>, Value<usize>), u64>);

impl Sizes {
    fn size(&self, code: &Code, function: &Strong<Function>, depth: usize) -> u64 {
        self.0.get_or_compute((function, &depth), |cx| {
            let callees = function.calls.iter().filter_map(|name| code.get(name));
            let callees = callees.map(|callee| {
                if depth == 1 {
                    cx.depends_on(callee);
                    return callee.size;
                }
                self.size(code, callee, depth - 1)
            });
            function.size + callees.sum::<u64>()
        })
    }

    /// How many functions and sizes there are; how many sizes were computed, and dropped because of a death.
    fn counts(&self, code: &Code) -> [usize; 4] {
        let statistics = self.0.statistics();
        let counts = [statistics.live, statistics.misses, statistics.invalidated];
        let [sizes, computed, invalidated] = counts.map(|count| count as usize);
        [code.len(), sizes, computed, invalidated]
    }

    /// Asks for all sizes, on several threads.
    fn ask_for_all(&self, code: &Code) {
        let ask = |first: usize| {
            for function in code.values().skip(first).step_by(THREADS) {
                (1..=DEPTH).for_each(|depth| _ = self.size(code, function, depth));
            }
        };
        on_threads(ask, || ());
    }

    /// Compares all sizes with a recomputation.
    fn check(&self, code: &Code) -> Result<(), String> {
        let plain = sums(code, |name| code[name].size);
        for (name, function) in code {
            for (depth, sizes) in (0..).zip(&plain).skip(1) {
                let size = self.size(code, function, depth);
                same(name, size, sizes[name.as_str()])?;
            }
        }
        Ok(())
    }
}

/// Does some work on several threads, and some here.
fn on_threads(there: impl Fn(usize) + Sync, here: impl FnOnce()) {
    thread::scope(|scope| {
        let there = &there;
        let start = |thread| scope.spawn(move || there(thread));
        let threads: Vec<_> = (0..THREADS).map(start).collect();
        here();
        // Joined one by one, they are gone with all their memory; the scope alone waits for their work only.
        for thread in threads {
            thread.join().expect("no panic");
        }
    });
}

/// Without memos: for each depth the sums of some numbers, the functions' own and those of their callees.
fn sums<'c>(code: &'c Code, number: impl Fn(&str) -> u64) -> Vec<HashMap<&'c str, u64>> {
    let next = |below: &HashMap<&str, u64>| {
        let sum = |(name, function): (&'c String, &Strong<Function>)| {
            let callees = function.calls.iter().filter_map(|name| below.get(&**name));
            (&**name, number(name) + callees.sum::<u64>())
        };
        Some(code.iter().map(sum).collect())
    };
    let own = next(&HashMap::new());
    iter::successors(own, next).take(DEPTH + 1).collect()
}

/// How many sizes depend on a function: those of functions from which some way leads there.
fn dependents(code: &Code, edited: &str) -> usize {
    let ways = sums(code, |name| u64::from(name == edited));
    let below = ways[1..].iter().flat_map(HashMap::values);
    below.filter(|&&ways| ways > 0).count()
}

/// Changes the size of a function, and what it calls. The old version dies, and its sizes go.
fn edit(code: &mut Code, name: &str, random: &mut impl FnMut(usize) -> usize) {
    let mut function = Function::clone(&code[name]);
    function.size = 1 + random(200) as u64;
    let other = any(code, random);
    match function.calls.binary_search(&other) {
        Ok(call) => drop(function.calls.remove(call)),
        Err(call) => function.calls.insert(call, other),
    }
    code.insert(name.to_string(), Strong::new(function));
}

/// The name of some function.
fn any(code: &Code, random: &mut impl FnMut(usize) -> usize) -> String {
    code.keys().nth(random(code.len())).expect("a name").clone()
}

fn main() -> ExitCode {
    let columns = ["functions", "sizes", "computed", "invalidated"];
    common::main(&["rs"], &columns, run)
}

fn run(files: &[PathBuf], report: &mut Report) -> Result<(), String> {
    let mut code = unique(sources::read(files, report, functions)?.concat());
    if code.is_empty() {
        return Err("no functions".into());
    }
    let sizes = Sizes::default();
    report.row("read", || sizes.counts(&code));
    sizes.ask_for_all(&code);
    report.row("all sizes", || sizes.counts(&code));
    report.aside(|_| sizes.check(&code))?;

    let mut seed = 0_u64;
    let mut random = |end: usize| {
        seed = seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(1);
        (seed >> 33) as usize % end
    };
    let (mut total, mut most) = (0, 0);
    for _ in bar("editing", EDITS).wrap_iter(0..EDITS) {
        let name = any(&code, &mut random);
        let cost = report.aside(|_| dependents(&code, &name));
        let [functions, all, computed, invalidated] = sizes.counts(&code);
        edit(&mut code, &name, &mut random);
        sizes.ask_for_all(&code);
        let expected = [functions, all, computed + cost, invalidated + cost];
        same("after an edit", sizes.counts(&code), expected)?;
        report.aside(|_| sizes.check(&code))?;
        (total, most) = (total + cost, most.max(cost));
    }
    report.row("edits", || sizes.counts(&code));
    let (mean, all) = (total as f64 / EDITS as f64, DEPTH * code.len());
    let cost = format!("{mean:.1} of {all} sizes, at most {most}");
    report.say(format!("An edit costs {cost}"));

    // Who asks keeps the lock until the answer, so that this is about one version of the code.
    let shared = RwLock::new(code);
    let done = AtomicBool::new(false);
    let ask = |thread| {
        while !done.load(Relaxed) {
            let code = shared.read().expect("no panic");
            let some = code.values().skip(thread).step_by(THREADS * 20);
            some.for_each(|function| _ = sizes.size(&code, function, DEPTH));
        }
    };
    on_threads(ask, || {
        for _ in 0..EDITS {
            let mut code = shared.write().expect("no panic");
            let name = any(&code, &mut random);
            edit(&mut code, &name, &mut random);
        }
        done.store(true, Relaxed);
    });
    let mut code = shared.into_inner().expect("no panic");
    sizes.ask_for_all(&code);
    report.row("concurrent edits", || sizes.counts(&code));
    report.aside(|_| sizes.check(&code))?;

    code = Code::new();
    report.row("drop the functions", || sizes.counts(&code));
    let [_, left, computed, invalidated] = sizes.counts(&code);
    same("sizes of the dead", (left, computed), (0, invalidated))?;
    drop(sizes);
    report.row("drop the memos", || [0; 4]);
    Ok(())
}
