//! The operations on collections that threads share, each written once, by one thread or by several that start
//! together.
//!
//! The threads live as long as their side and wait between its samples, so that caches, allocator and the
//! thread's slot in a collection are warm, with one thread as with two.

use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicU64, AtomicUsize};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use crate::chance::{Numbers, Words, shuffle};
use crate::duel::Sample;
use crate::shared::{Shared, SharedInterner};

/// What a side does.
#[derive(Clone, Copy)]
pub(crate) struct Plan {
    pub(crate) threads: usize,
    /// The number of live objects, of all threads together.
    pub(crate) size: usize,
    /// Operations of each thread, in a sample.
    pub(crate) operations: usize,
    pub(crate) clock: Clock,
}

impl Plan {
    /// Where a thread starts in the common list.
    fn start(&self, number: usize) -> usize {
        number * self.size / self.threads
    }
}

/// Which time a sample measures.
#[derive(Clone, Copy)]
pub(crate) enum Clock {
    /// The processor time of a thread for one of its operations, the mean of all threads: the cost of the work.
    /// Other processes do not count, nor does sleeping on a lock. On Linux; elsewhere the wall-clock time.
    Processor,
    /// The time of the slowest thread for one of its operations: the caller's latency.
    Wall,
    /// The same divided by the operations of all threads together: the throughput.
    WallInTotal,
}

/// A spinning barrier: a thread that had to be woken would start when the others are done, perhaps on the same
/// processor, and they would never overlap.
struct StartLine {
    threads: usize,
    arrivals: AtomicUsize,
    made: Instant,
    /// The latest arrival, in nanoseconds since it was made.
    latest: AtomicU64,
}

impl StartLine {
    /// Some milliseconds: threads that have a processor each start without the scheduler.
    const SPINS: usize = 100_000;

    fn new(threads: usize) -> Self {
        StartLine {
            threads,
            arrivals: AtomicUsize::new(0),
            made: Instant::now(),
            latest: AtomicU64::new(0),
        }
    }

    /// Returns when all have arrived, and says when that was: the same instant for all, also for a thread that
    /// had no processor then.
    fn wait(&self) -> Instant {
        let arrival = self.made.elapsed().as_nanos() as u64;
        // Relaxed: published by the arrival below. No thread arrives for the next sample before all have ended
        // this one.
        self.latest.fetch_max(arrival, Relaxed);
        // AcqRel, with the loads of the waiting threads: all preparations have happened before they start.
        let before = self.arrivals.fetch_add(1, AcqRel);
        let all = (before / self.threads + 1) * self.threads;
        let mut spins = 0;
        while self.arrivals.load(Acquire) < all {
            if spins < Self::SPINS {
                spins += 1;
                spin_loop();
            } else {
                // There are more threads than processors.
                thread::yield_now();
            }
        }
        self.made + Duration::from_nanos(self.latest.load(Relaxed))
    }
}

/// A thread's clock, and the barrier at which its team starts.
struct Watch {
    barrier: Arc<StartLine>,
    operations: usize,
    /// Where Linux reports the thread's run time, if that is measured.
    ran: Option<File>,
}

impl Watch {
    /// The clock of the calling thread.
    fn new(barrier: Arc<StartLine>, plan: Plan) -> Self {
        let ran = match plan.clock {
            Clock::Processor => File::open("/proc/thread-self/schedstat").ok(),
            Clock::Wall | Clock::WallInTotal => None,
        };
        // A kernel without these statistics always reports zero.
        let ran = ran.filter(|file| nanoseconds(file) > 0);
        Watch {
            barrier,
            operations: plan.operations,
            ran,
        }
    }

    /// The time of each operation of some work, which all threads start together.
    fn time(&self, work: impl FnOnce()) -> f64 {
        let all_arrived = self.barrier.wait();
        let taken = match &self.ran {
            Some(file) => {
                let start = nanoseconds(file);
                work();
                (nanoseconds(file) - start) as f64
            }
            None => {
                work();
                all_arrived.elapsed().as_nanos() as f64
            }
        };
        taken / self.operations as f64
    }
}

/// The thread's run time. The kernel updates the number at its ticks, some milliseconds apart, and whenever the
/// thread yields its processor: then it is exact, and all of this costs a microsecond.
fn nanoseconds(mut file: &File) -> u64 {
    thread::yield_now();
    let mut text = String::new();
    file.rewind().expect("it is there to be read again");
    file.read_to_string(&mut text)
        .expect("the kernel reports text");
    let first = text.split(' ').next();
    first
        .and_then(|number| number.parse().ok())
        .expect("a number")
}

/// A thread's work for each sample: it prepares, and measures.
type Work = Box<dyn FnMut(&Watch) -> f64 + Send>;

/// Threads that wait for the next sample.
struct Team {
    clock: Clock,
    /// For each thread, the channel that starts it, and the one that receives its time.
    members: Vec<(Sender<()>, Receiver<f64>)>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// Each of the plan's threads does the work for its number.
    fn sample(plan: Plan, mut work: impl FnMut(usize) -> Work) -> Sample {
        let barrier = Arc::new(StartLine::new(plan.threads));
        let (members, threads) = (0..plan.threads)
            .map(|number| {
                let (mut work, barrier) = (work(number), barrier.clone());
                let (start, starts) = mpsc::channel();
                let (end, ends) = mpsc::channel();
                let thread = thread::spawn(move || {
                    let watch = Watch::new(barrier, plan);
                    for () in starts {
                        // The receiver is gone if another member has panicked.
                        let _ = end.send(work(&watch));
                    }
                });
                ((start, ends), thread)
            })
            .unzip();
        let team = Team {
            clock: plan.clock,
            members,
            threads,
        };
        Box::new(move || team.run())
    }

    fn run(&self) -> f64 {
        const ALIVE: &str = "no work panics";
        for (start, _) in &self.members {
            start.send(()).expect(ALIVE);
        }
        let times = self.members.iter().map(|(_, end)| end.recv().expect(ALIVE));
        let threads = self.members.len() as f64;
        match self.clock {
            Clock::Processor => times.sum::<f64>() / threads,
            Clock::Wall => times.fold(0.0, f64::max),
            Clock::WallInTotal => times.fold(0.0, f64::max) / threads,
        }
    }
}

impl Drop for Team {
    /// The next row starts when all of this one is gone.
    fn drop(&mut self) {
        self.members.clear();
        for thread in self.threads.drain(..) {
            // If it panicked, its message is already printed.
            let _ = thread.join();
        }
    }
}

/// A map with some objects, in random order.
fn gathered<M: Shared>(size: usize) -> (M, Vec<M::Object>) {
    let map = M::with_capacity(size);
    let mut objects = Vec::new();
    for number in Numbers::default().take(size) {
        let object = M::object(number);
        map.insert(&object, number);
        objects.push(object);
    }
    shuffle(&mut objects);
    (map, objects)
}

/// Each thread looks up objects that are present, starting at another place, and continuing where its last
/// sample ended.
pub(crate) fn get<M: Shared>(plan: Plan) -> Sample {
    let gathered = Arc::new(gathered::<M>(plan.size));
    Team::sample(plan, |number| {
        let (gathered, mut at) = (gathered.clone(), plan.start(number));
        Box::new(move |watch| {
            let (map, objects) = &*gathered;
            watch.time(|| {
                let mut sum = 0_u64;
                let mut left = plan.operations;
                while left > 0 {
                    let some = left.min(plan.size - at);
                    for object in &objects[at..at + some] {
                        sum = sum.wrapping_add(map.get(object).unwrap_or_default());
                    }
                    left -= some;
                    at = (at + some) % plan.size;
                }
                black_box(sum);
            })
        })
    })
}

/// Each thread looks up objects that are present, and with every twentieth operation inserts a new object of its
/// own and drops its last one.
pub(crate) fn mixed<M: Shared>(plan: Plan) -> Sample {
    let gathered = Arc::new(gathered::<M>(plan.size));
    Team::sample(plan, |number| {
        let (gathered, mut at) = (gathered.clone(), plan.start(number));
        Box::new(move |watch| {
            let (map, objects) = &*gathered;
            watch.time(|| {
                let mut sum = 0_u64;
                let mut own = M::object(0);
                for turn in 0..plan.operations {
                    if turn % 20 == 0 {
                        map.before_drop(&own);
                        own = M::object(turn as u64);
                        map.insert(&own, turn as u64);
                    } else {
                        sum = sum.wrapping_add(map.get(&objects[at]).unwrap_or_default());
                        at = if at + 1 == plan.size { 0 } else { at + 1 };
                    }
                }
                map.before_drop(&own);
                black_box(sum);
            })
        })
    })
}

/// Every operation inserts a new object, and drops one of those that the thread owns: its share of all objects,
/// in random order.
pub(crate) fn churn<M: Shared>(plan: Plan) -> Sample {
    let (map, mut all) = gathered::<M>(plan.size);
    let map = Arc::new(map);
    let share = plan.size / plan.threads;
    Team::sample(plan, |_| {
        let mut own = all.split_off(all.len() - share);
        let (map, mut at) = (map.clone(), 0);
        Box::new(move |watch| {
            watch.time(|| {
                for turn in 0..plan.operations {
                    let place = &mut own[at];
                    map.before_drop(place);
                    *place = M::object(turn as u64);
                    map.insert(place, turn as u64);
                    at = if at + 1 == share { 0 } else { at + 1 };
                }
            })
        })
    })
}

/// Each thread interns words that are present, in one random order, starting at another place.
pub(crate) fn hit<I: SharedInterner>(plan: Plan) -> Sample {
    let mut known = Numbers::default().take(plan.size);
    let interner = I::with_capacity(plan.size);
    let words = Words::of(&known);
    let live: Vec<_> = words
        .run(0, plan.size)
        .map(|word| interner.intern(word))
        .collect();
    shuffle(&mut known);
    let gathered = Arc::new((interner, live, Words::of(&known)));
    Team::sample(plan, |number| {
        let (gathered, mut at) = (gathered.clone(), plan.start(number));
        Box::new(move |watch| {
            let (interner, live, words) = &*gathered;
            black_box(live);
            watch.time(|| {
                let mut left = plan.operations;
                while left > 0 {
                    let some = left.min(plan.size - at);
                    for word in words.run(at, some) {
                        drop(black_box(interner.intern(word)));
                    }
                    left -= some;
                    at = (at + some) % plan.size;
                }
            })
        })
    })
}

/// New words are inserted, and their handles dropped at once, beside some that stay.
pub(crate) fn miss<I: SharedInterner>(plan: Plan) -> Sample {
    let mut numbers = Numbers::default();
    let interner = I::with_capacity(plan.size);
    let words = Words::of(&numbers.take(plan.size));
    let live: Vec<_> = words
        .run(0, plan.size)
        .map(|word| interner.intern(word))
        .collect();
    let gathered = Arc::new((interner, live));
    Team::sample(plan, |number| {
        let (gathered, mut numbers) = (gathered.clone(), Numbers::of(number));
        Box::new(move |watch| {
            let (interner, live) = &*gathered;
            black_box(live);
            let words = Words::of(&numbers.take(plan.operations));
            watch.time(|| {
                for word in words.run(0, plan.operations) {
                    drop(black_box(interner.intern(word)));
                }
            })
        })
    })
}
