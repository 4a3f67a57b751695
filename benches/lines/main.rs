//! How many cache lines go from thread to thread in an operation: a count, the same on each machine.
//!
//! `cargo bench -p weakly-benches --bench lines -- [SIDE] [OPERATION] [THREADS] [SIZE]` (weakly, churn, 2, 1000)
//!
//! The threads pass a baton: each makes one operation, then the next thread. valgrind's lackey writes each load and store of
//! that down, and a model of coherent caches (MSI) counts two kinds of transfers: a *dirty read*, of a line that another
//! thread has written last, and an *invalidation*, a write to a line of which another thread has a copy. The caches of the model
//! are infinite. Threads that run at the same time lose more lines, as they spin on what another has locked.

use std::collections::{HashMap, HashSet, VecDeque};
use std::env;
use std::hint::black_box;
use std::io::{BufRead, BufReader, Write, stderr};
use std::process::{Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Barrier, Condvar, Mutex};
use std::thread;

use weakly::{Strong, concurrent::WeakMap};

type Hasher = ahash::RandomState;

/// Operations of each thread that are counted.
const COUNTED: usize = 300;
/// Threads, at most.
const THREADS: usize = 64;

/// Stores here tell the reader of the trace which thread makes an operation.
#[repr(align(4096))]
struct Marks([AtomicU64; THREADS + 1]);

static MARKS: Marks = Marks([const { AtomicU64::new(0) }; THREADS + 1]);
static BATONS: [(Mutex<bool>, Condvar); THREADS] =
    [const { (Mutex::new(false), Condvar::new()) }; THREADS];

fn main() {
    // cargo passes that.
    let mut words: Vec<_> = env::args()
        .skip(1)
        .filter(|word| word != "--bench")
        .collect();
    let traced = words.first().is_some_and(|word| word == "--traced");
    if traced {
        words.remove(0);
    }
    let word = |at: usize, default: &str| {
        words
            .get(at)
            .map_or(default, |word| word.as_str())
            .to_owned()
    };
    let number = |at: usize, default: &str| word(at, default).parse().expect("a number");
    let run = Run {
        side: word(0, "weakly"),
        operation: word(1, "churn"),
        threads: number(2, "2"),
        size: number(3, "1000"),
    };
    assert!(
        (1..=THREADS).contains(&run.threads),
        "1 to {THREADS} threads"
    );
    if traced {
        run.execute();
    } else {
        run.count();
    }
}

struct Run {
    side: String,
    operation: String,
    threads: usize,
    size: usize,
}

/// What the trace says of the lines.
#[derive(Default)]
struct Counts {
    operations: usize,
    instructions: usize,
    dirty_reads: usize,
    invalidations: usize,
    /// Of each line: who has a copy, and who has written it last.
    lines: HashMap<usize, (HashSet<usize>, Option<usize>)>,
}

impl Counts {
    fn access(&mut self, thread: usize, line: usize, loads: bool, stores: bool) {
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
    }
}

impl Run {
    /// Runs this under lackey, and prints the transfers of an operation.
    fn count(&self) {
        let mut traced = Command::new("valgrind")
            .args(["--tool=lackey", "--trace-mem=yes", "--fair-sched=yes"])
            .arg(env::current_exe().expect("a path"))
            .args(["--traced", &self.side, &self.operation])
            .args([self.threads.to_string(), self.size.to_string()])
            // Each thread has a heap of its own.
            .env("MALLOC_ARENA_MAX", "256")
            .stdout(Stdio::null())
            .stderr(Stdio::piped())
            .spawn()
            .expect("valgrind is installed");
        let mut counts = Counts::default();
        let (mut marks, mut thread) = (None, None);
        let trace = BufReader::new(traced.stderr.take().expect("piped"));
        for line in trace.lines().map_while(Result::ok) {
            if let Some((_, address)) = line.split_once("MARKS ") {
                marks = usize::from_str_radix(address, 16).ok();
                continue;
            }
            let (Some(marks), Some((kind, place))) = (marks, line.split_at_checked(3)) else {
                continue;
            };
            let address = place.split(',').next();
            let address = address.and_then(|hex| usize::from_str_radix(hex, 16).ok());
            let (Some(address), kind) = (address, kind.trim()) else {
                continue;
            };
            let mark = address.wrapping_sub(marks) / size_of::<AtomicU64>();
            match (kind, thread) {
                ("S", _) if mark <= THREADS => {
                    counts.operations += usize::from(mark == THREADS);
                    thread = (mark != THREADS).then_some(mark);
                }
                ("I", Some(_)) => counts.instructions += 1,
                ("L" | "S" | "M", Some(thread)) => {
                    counts.access(thread, address / 64, kind != "S", kind != "L");
                }
                _ => {}
            }
        }
        assert!(
            traced.wait().expect("a child").success(),
            "valgrind has failed"
        );
        assert_eq!(counts.operations, COUNTED * self.threads);
        let each = |count: usize| count as f64 / counts.operations as f64;
        let sum = each(counts.dirty_reads + counts.invalidations);
        println!(
            "{} {} of {} with {} threads: {:.2} dirty reads, {:.2} invalidations, {sum:.2} lines, {:.0} instructions",
            self.side,
            self.operation,
            self.size,
            self.threads,
            each(counts.dirty_reads),
            each(counts.invalidations),
            each(counts.instructions),
        );
    }

    /// What is traced.
    fn execute(&self) {
        // In one piece, since valgrind writes there, too.
        let place = format!("MARKS {:x}\n", (&raw const MARKS).addr());
        stderr().write_all(place.as_bytes()).expect("a pipe");
        let map = WeakMap::<Strong<u64>, u64>::new();
        let papaya = papaya::HashMap::<usize, u64, Hasher>::with_hasher(Hasher::new());
        let dashmap = dashmap::DashMap::<usize, u64, Hasher>::with_hasher(Hasher::new());
        let address = |key: &Arc<u64>| Arc::as_ptr(key).addr();
        match self.side.as_str() {
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
            2_000 / self.threads + 70
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
            for nth in 0..warmup + COUNTED {
                random ^= random << 13;
                random ^= random >> 7;
                random ^= random << 17;
                let counts = nth >= warmup;
                let key = &live[(random >> 33) as usize % live.len()];
                match self.operation.as_str() {
                    "get" => self.turn(number, counts, || get(key)),
                    "replace" => self.turn(number, counts, || insert(key, nth as u64)),
                    "churn" => self.turn(number, counts, || {
                        let new = new(1);
                        insert(&new, 1);
                        live.push_back(new);
                        live.pop_front().into_iter().for_each(end);
                    }),
                    operation => panic!("no such operation: {operation}"),
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
