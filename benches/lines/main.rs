//! How many cache lines go from thread to thread in an operation: a count, the same on each machine.
//!
//! `cargo bench -p weakly-benches --bench lines -- [SIDE] [OPERATION] [THREADS] [SIZE] [MOST]` (weakly, churn, 2, 1000)
//!
//! It fails if an operation passes more than `MOST` lines. With `--places` before these words it shows which lines of the source
//! pass most of them. `--write` alone counts what `docs/PERFORMANCE.md` shows, and writes that chapter. By `cargo test --benches`
//! it does all of this with few operations of two threads, and writes below `target`.
//!
//! The threads pass a baton: each makes one operation, then the next thread. valgrind's lackey writes each load and store of
//! that down, and a model of coherent caches (MSI) counts two kinds of transfers: a *dirty read*, of a line that another
//! thread has written last, and an *invalidation*, a write to a line of which another thread has a copy. The caches of the model
//! are infinite. Threads that run at the same time lose more lines, as they spin on what another has locked.

// Not by the library of the report, whose allocator counts.
#[allow(dead_code, reason = "the report shows more")]
#[path = "../report/machine.rs"]
mod machine;
#[allow(dead_code, reason = "fewer objects are enough here")]
#[path = "../report/scale.rs"]
mod scale;
#[allow(dead_code, reason = "the report fills all of it")]
#[path = "../report/template.rs"]
mod template;

use std::collections::{HashMap, HashSet, VecDeque};
use std::env;
use std::error::Error;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;
use std::{fmt, fs};

use weakly::{Strong, concurrent::WeakMap};

use scale::Scale;

type Hasher = ahash::RandomState;

/// Threads, at most.
const THREADS: usize = 64;

const OPERATIONS: [&str; 4] = ["get", "replace", "churn", "death"];

/// Stores here tell the reader of the trace which thread makes an operation.
#[repr(align(4096))]
struct Marks([AtomicU64; THREADS + 1]);

static MARKS: Marks = Marks([const { AtomicU64::new(0) }; THREADS + 1]);
static BATONS: [(Mutex<bool>, Condvar); THREADS] =
    [const { (Mutex::new(false), Condvar::new()) }; THREADS];

fn main() -> Result<(), Box<dyn Error>> {
    let (flags, words): (Vec<_>, Vec<_>) =
        env::args().skip(1).partition(|word| word.starts_with("--"));
    let has = |flag: &str| flags.iter().any(|given| given == flag);
    let scale = Scale::of_this_run();
    let word = |at: usize, default: &'static str| words.get(at).map_or(default, String::as_str);
    let run = Run {
        side: word(0, "weakly"),
        operation: word(1, "churn"),
        threads: word(2, "2").parse()?,
        size: few(scale, word(3, "1000").parse()?),
        scale,
    };
    assert!(
        (1..=THREADS).contains(&run.threads),
        "1 to {THREADS} threads"
    );
    // A thread that finds out would leave the others waiting.
    assert!(OPERATIONS.contains(&run.operation), "{OPERATIONS:?}");
    if has("--traced") {
        run.execute();
        return Ok(());
    }
    if has("--write") || scale == Scale::Tiny {
        write(scale)?;
    }
    if has("--write") {
        return Ok(());
    }
    let counts = run.count();
    println!("{counts}");
    if has("--places") || scale == Scale::Tiny {
        counts.show_places()?;
    }
    match words.get(4).map(|most| most.parse::<f64>()).transpose()? {
        Some(most) if counts.each(counts.lines()) > most => {
            Err(format!("more than {most} lines").into())
        }
        _ => Ok(()),
    }
}

/// A number of objects or operations. valgrind writes down each instruction.
fn few(scale: Scale, full: usize) -> usize {
    match scale {
        Scale::Full => full,
        Scale::Tiny => full.min(4),
    }
}

/// Counts what the document shows, and writes that chapter.
fn write(scale: Scale) -> Result<(), Box<dyn Error>> {
    let sides = ["weakly", "papaya", "dashmap"];
    let mut table = format!(
        "| lines for each operation | threads | {} |\n|---|---:|---:|---:|---:|",
        sides.join(" | ")
    );
    for operation in OPERATIONS {
        let threads: &[usize] = match scale {
            Scale::Full => &[2, 8, 64],
            Scale::Tiny => &[2],
        };
        for &threads in threads {
            table += &format!("\n| {operation} | {threads} |");
            for side in sides {
                let run = Run {
                    side,
                    operation,
                    threads,
                    size: few(scale, 1000),
                    scale,
                };
                let counts = run.count();
                eprintln!("{counts}");
                table += &format!(" {:.2} |", counts.each(counts.lines()));
            }
        }
    }
    let parts = [
        ("lines", table),
        ("counted", machine::Machine::this().caption()),
    ];
    template::write(scale.root(), template::LINES, parts.into())
}

#[derive(Clone, Copy)]
struct Run<'w> {
    side: &'w str,
    operation: &'w str,
    threads: usize,
    size: usize,
    scale: Scale,
}

/// What the trace says of the lines.
struct Counts<'w> {
    run: Run<'w>,
    operations: usize,
    instructions: usize,
    dirty_reads: usize,
    invalidations: usize,
    /// Of each line: who has a copy, and who has written it last.
    lines: HashMap<usize, (HashSet<usize>, Option<usize>)>,
    /// How many transfers each instruction has caused, by its address.
    places: HashMap<usize, usize>,
    /// The address of the marks, by which the addresses of instructions are found in the program.
    marks: usize,
}

impl Counts<'_> {
    /// The load or store of a line by an instruction.
    fn access(&mut self, thread: usize, line: usize, [loads, stores]: [bool; 2], place: usize) {
        let before = self.lines();
        let (copies, writer) = self.lines.entry(line).or_insert_with(|| {
            // It comes from memory.
            (HashSet::from([thread]), None)
        });
        if loads && copies.insert(thread) {
            self.dirty_reads += usize::from(writer.is_some());
            *writer = writer.filter(|writer| *writer == thread);
        }
        if stores && *writer != Some(thread) {
            self.invalidations += usize::from(copies.len() > 1 || !copies.contains(&thread));
            (*copies, *writer) = (HashSet::from([thread]), Some(thread));
        }
        if self.lines() > before {
            *self.places.entry(place).or_default() += self.lines() - before;
        }
    }

    fn lines(&self) -> usize {
        self.dirty_reads + self.invalidations
    }

    fn each(&self, count: usize) -> f64 {
        count as f64 / self.operations as f64
    }

    /// Prints the lines of the source that pass most lines of the cache.
    fn show_places(&self) -> Result<(), Box<dyn Error>> {
        let program = env::current_exe()?;
        // This process and the traced one have the same program at different addresses.
        let maps = fs::read_to_string("/proc/self/maps")?;
        let own = maps
            .lines()
            .find(|line| line.ends_with(&*program.to_string_lossy()));
        let (own, _) = own
            .and_then(|line| line.split_once('-'))
            .ok_or("where is it?")?;
        let marks = (&raw const MARKS).addr() - usize::from_str_radix(own, 16)?;
        let mut of = HashMap::<String, usize>::new();
        for (&place, &count) in &self.places {
            let place = place.wrapping_sub(self.marks.wrapping_sub(marks));
            let mut said = Command::new("addr2line");
            said.args(["-i", "-e"])
                .arg(&program)
                .arg(format!("{place:x}"));
            let said = String::from_utf8(said.output()?.stdout)?;
            // The innermost that is not the standard library's; the C library and its allocator are elsewhere.
            let line = said.lines().find(|line| !line.contains("/library/"));
            let line = line
                .filter(|line| !line.starts_with('?'))
                .unwrap_or("elsewhere");
            let line = line.split(" (").next().unwrap_or_default();
            *of.entry(line.to_owned()).or_default() += count;
        }
        let mut of: Vec<_> = of.into_iter().collect();
        of.sort_by_key(|(_, count)| std::cmp::Reverse(*count));
        for (place, count) in of.into_iter().take(30) {
            println!("{:6.2} {place}", self.each(count));
        }
        Ok(())
    }
}

impl fmt::Display for Counts<'_> {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Run {
            side,
            operation,
            threads,
            size,
            ..
        } = self.run;
        let each = |count| self.each(count);
        write!(
            f,
            "{side} {operation} of {size} with {threads} threads: {:.2} dirty reads, {:.2} invalidations, {:.2} lines, {:.0} instructions",
            each(self.dirty_reads),
            each(self.invalidations),
            each(self.lines()),
            each(self.instructions),
        )
    }
}

impl<'w> Run<'w> {
    /// Runs this under lackey, and counts the transfers.
    fn count(self) -> Counts<'w> {
        let mut traced = Command::new("valgrind")
            .args(["--tool=lackey", "--trace-mem=yes", "--fair-sched=yes"])
            .arg(env::current_exe().expect("a path"))
            .args(["--traced", self.side, self.operation])
            .args([self.threads.to_string(), self.size.to_string()])
            .args((self.scale == Scale::Full).then_some("--bench"))
            // Each thread has a heap of its own.
            .env("MALLOC_ARENA_MAX", "256")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("valgrind is installed");
        let mut counts = Counts {
            run: self,
            operations: 0,
            instructions: 0,
            dirty_reads: 0,
            invalidations: 0,
            lines: HashMap::new(),
            places: HashMap::new(),
            marks: 0,
        };
        let (mut instruction, mut thread) = (0, None);
        let trace = BufReader::new(traced.stderr.take().expect("piped"));
        for line in trace.lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("MARKS ") {
                counts.marks = usize::from_str_radix(address, 16).expect("an address");
                continue;
            }
            let Some((kind, place)) = line.split_at_checked(3) else {
                continue;
            };
            let address = place.split(',').next();
            let address = address.and_then(|hex| usize::from_str_radix(hex, 16).ok());
            let (Some(address), kind) = (address, kind.trim()) else {
                continue;
            };
            let mark = address.wrapping_sub(counts.marks) / size_of::<AtomicU64>();
            match (kind, thread) {
                ("S", _) if mark <= THREADS && counts.marks != 0 => {
                    counts.operations += usize::from(mark == THREADS);
                    thread = (mark != THREADS).then_some(mark);
                }
                ("I", Some(_)) => {
                    counts.instructions += 1;
                    instruction = address;
                }
                ("L" | "S" | "M", Some(thread)) => {
                    let kinds = [kind != "S", kind != "L"];
                    counts.access(thread, address / 64, kinds, instruction);
                }
                _ => {}
            }
        }
        assert!(
            traced.wait().expect("a child").success(),
            "valgrind has failed"
        );
        assert_eq!(counts.operations, self.counted() * self.threads);
        counts
    }

    /// Operations of each thread that are counted: of many threads two batches, as all of them begin theirs at a time.
    fn counted(self) -> usize {
        few(self.scale, (2_400 / self.threads).clamp(128, 300))
    }

    /// What is traced.
    fn execute(self) {
        // In one piece, since valgrind writes there, too.
        let place = format!("MARKS {:x}\n", (&raw const MARKS).addr());
        stderr().write_all(place.as_bytes()).expect("a pipe");
        let map = WeakMap::<Strong<u64>, u64>::new();
        let papaya = papaya::HashMap::<usize, u64, Hasher>::with_hasher(Hasher::new());
        // As many shards as on 16 processors, on each machine.
        let dashmap =
            dashmap::DashMap::<usize, u64, Hasher>::with_hasher_and_shard_amount(Hasher::new(), 64);
        let address = |key: &Arc<u64>| Arc::as_ptr(key).addr();
        match self.side {
            "weakly" => self.pass(
                Strong::new,
                &|key, value| _ = map.insert(key, value),
                &|key| _ = black_box(map.get(key)),
                &drop,
            ),
            "papaya" => self.pass(
                Arc::new,
                &|key, value| _ = papaya.pin().insert(address(key), value),
                &|key| _ = black_box(papaya.pin().get(&address(key)).copied()),
                &|key| _ = papaya.pin().remove(&address(&key)),
            ),
            "dashmap" => self.pass(
                Arc::new,
                &|key, value| _ = dashmap.insert(address(key), value),
                &|key| _ = black_box(dashmap.get(&address(key)).map(|value| *value)),
                &|key| _ = dashmap.remove(&address(&key)),
            ),
            side => panic!("no such side: {side}"),
        }
    }

    /// The threads pass the baton.
    fn pass<K>(
        &self,
        new: impl Fn(u64) -> K + Sync,
        insert: &(dyn Fn(&K, u64) + Sync),
        get: &(dyn Fn(&K) + Sync),
        end: &(dyn Fn(K) + Sync),
    ) {
        let together = Barrier::new(self.threads);
        // So many that what is gathered is in balance.
        let warmup = if self.operation == "get" {
            4
        } else {
            few(self.scale, 2_000 / self.threads + 70)
        };
        let run = |number: usize| {
            let mut live: VecDeque<K> = (0..self.size.div_ceil(self.threads))
                .map(|key| new(key as u64))
                .collect();
            together.wait();
            if number == 0 {
                give(0);
            }
            self.turn(number, false, || live.iter().for_each(|key| insert(key, 1)));
            let mut random = (number as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            for nth in 0..warmup + self.counted() {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let counts = nth >= warmup;
                let key = &live[(random >> 33) as usize % live.len()];
                match self.operation {
                    "get" => self.turn(number, counts, || get(key)),
                    "replace" => self.turn(number, counts, || insert(key, nth as u64)),
                    "churn" => self.turn(number, counts, || {
                        let new = new(1);
                        insert(&new, 1);
                        live.push_back(new);
                        live.pop_front().into_iter().for_each(end);
                    }),
                    "death" => {
                        let new = new(1);
                        self.turn(number, false, || insert(&new, 1));
                        live.push_back(new);
                        self.turn(number, counts, || {
                            live.pop_front().into_iter().for_each(end)
                        });
                    }
                    _ => unreachable!("`OPERATIONS` has no other"),
                }
            }
            together.wait();
        };
        thread::scope(|scope| {
            for number in 0..self.threads {
                let run = &run;
                scope.spawn(move || run(number));
            }
        });
    }

    /// Waits for the baton, makes an operation, and passes the baton on.
    fn turn(&self, number: usize, counts: bool, operation: impl FnOnce()) {
        let (baton, comes) = &BATONS[number];
        *comes
            .wait_while(baton.lock().unwrap(), |here| !*here)
            .unwrap() = false;
        if counts {
            MARKS.0[number].store(1, Relaxed);
        }
        operation();
        if counts {
            MARKS.0[THREADS].store(1, Relaxed);
        }
        give((number + 1) % self.threads);
    }
}

fn give(number: usize) {
    let (baton, comes) = &BATONS[number];
    *baton.lock().unwrap() = true;
    comes.notify_one();
}
