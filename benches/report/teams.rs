//! The operations on collections that threads share, each written once, by one thread or by several that start
//! together.
//!
//! The threads live as long as their side and wait between its samples, so that caches, allocator and the
//! thread's slot in a collection are warm, with one thread as with two. Threads that are more than one have a
//! processor each, as far as there are some: where the scheduler had two on one, they would take turns.

use std::fs::File;
use std::hint::{black_box, spin_loop};
use std::io::{Read, Seek};
use std::sync::Arc;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed};
use std::sync::atomic::{AtomicBool, AtomicUsize};
use std::sync::mpsc::{self, Receiver, Sender};
use std::thread::{self, JoinHandle};
use std::time::Instant;

use crate::chance::{Numbers, Words, shuffle};
use crate::duel::{NEVER, Sample, time};
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
    /// Other processes do not count, nor does sleeping on a lock. On Linux; elsewhere the wall-clock time. Only
    /// samples in which the threads [overlap](Team::overlap) count.
    Processor,
    /// The time from the first start to the last end, divided by the operations of all threads together: the
    /// throughput.
    Total,
    /// What the first thread says. It has a processor that none of the others uses, if there are two.
    First,
}

/// A spinning barrier: a thread that had to be woken would start when the others are done, perhaps on the same
/// processor, and they would never overlap.
struct StartLine {
    threads: usize,
    arrivals: AtomicUsize,
}

impl StartLine {
    /// Some milliseconds: threads that have a processor each start without the scheduler.
    const SPINS: usize = 100_000;

    /// Returns when all have arrived.
    fn wait(&self) {
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
    }
}

/// A thread's share in a sample.
struct Share {
    start: Instant,
    end: Instant,
    /// The nanoseconds in which it ran.
    ran: f64,
    /// Those in which it waited for a processor.
    waited: f64,
}

impl Share {
    /// The nanoseconds in which it slept, on a lock.
    fn slept(&self) -> f64 {
        (nanoseconds(self.start, self.end) - self.ran - self.waited).max(0.0)
    }
}

fn nanoseconds(start: Instant, end: Instant) -> f64 {
    end.duration_since(start).as_nanos() as f64
}

/// A thread's clock, and the barrier at which its team starts.
struct Watch {
    barrier: Arc<StartLine>,
    /// Where Linux reports how long the thread has run and waited, if that is measured.
    schedule: Option<File>,
}

impl Watch {
    /// The clock of the calling thread.
    fn new(barrier: Arc<StartLine>, plan: Plan) -> Self {
        let schedule = match plan.clock {
            Clock::Processor => File::open("/proc/thread-self/schedstat").ok(),
            Clock::Total | Clock::First => None,
        };
        // A kernel without these statistics always reports zero.
        let schedule = schedule.filter(|file| scheduled(file)[0] > 0.0);
        Watch { barrier, schedule }
    }

    /// The time of some work, which all threads start together.
    fn time(&self, work: impl FnOnce()) -> Share {
        self.barrier.wait();
        let before = self.schedule.as_ref().map(scheduled);
        let start = Instant::now();
        work();
        let end = Instant::now();
        let after = self.schedule.as_ref().map(scheduled);
        let [ran, waited] = match (before, after) {
            (Some(before), Some(after)) => [after[0] - before[0], after[1] - before[1]],
            _ => [nanoseconds(start, end), 0.0],
        };
        Share {
            start,
            end,
            ran,
            waited,
        }
    }
}

/// For how long the thread has run and waited for a processor. The kernel updates the former at its ticks, some
/// milliseconds apart, and whenever the thread yields its processor: then it is exact, and all of this costs a
/// microsecond.
fn scheduled(mut file: &File) -> [f64; 2] {
    thread::yield_now();
    let mut text = String::new();
    file.rewind().expect("it is there to be read again");
    file.read_to_string(&mut text)
        .expect("the kernel reports text");
    let mut numbers = text.split(' ').map(|number| number.parse().ok());
    [(); 2].map(|()| numbers.next().flatten().expect("a number"))
}

/// A thread's work for each sample: it prepares, and measures.
type Work = Box<dyn FnMut(&Watch) -> Share + Send>;

/// Threads that wait for the next sample.
struct Team {
    plan: Plan,
    /// For each thread, the channel that starts it, and the one that receives its share.
    members: Vec<(Sender<()>, Receiver<Share>)>,
    threads: Vec<JoinHandle<()>>,
}

impl Team {
    /// How often a sample is taken until the threads overlap.
    const TRIES: usize = 100;
    /// At most as much of its processor time may a thread miss of the time that the sample takes.
    const MISSED: f64 = 0.25;

    /// Each of the plan's threads does the work for its number.
    fn sample(plan: Plan, mut work: impl FnMut(usize) -> Work) -> Sample {
        let barrier = Arc::new(StartLine {
            threads: plan.threads,
            arrivals: AtomicUsize::new(0),
        });
        let (members, threads) = (0..plan.threads)
            .map(|number| {
                let (mut work, barrier) = (work(number), barrier.clone());
                let (start, starts) = mpsc::channel();
                let (end, ends) = mpsc::channel();
                let thread = thread::spawn(move || {
                    pin(plan, number);
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
            plan,
            members,
            threads,
        };
        Box::new(move || team.run())
    }

    fn run(&self) -> f64 {
        let Plan {
            threads,
            operations,
            clock,
            ..
        } = self.plan;
        let (threads, operations) = (threads as f64, operations as f64);
        match clock {
            Clock::Processor => {
                let mut tries = (0..Self::TRIES).map(|_| self.shares());
                let shares = tries.find(|shares| Self::overlap(shares));
                shares.map_or(NEVER, |shares| {
                    let ran: f64 = shares.iter().map(|share| share.ran).sum();
                    ran / threads / operations
                })
            }
            Clock::Total => Self::span(&self.shares()) / threads / operations,
            Clock::First => self.shares()[0].ran,
        }
    }

    /// All do their work.
    fn shares(&self) -> Vec<Share> {
        const ALIVE: &str = "no work panics";
        for (start, _) in &self.members {
            start.send(()).expect(ALIVE);
        }
        let ends = self.members.iter().map(|(_, end)| end);
        ends.map(|end| end.recv().expect(ALIVE)).collect()
    }

    /// The time from the first start to the last end.
    fn span(shares: &[Share]) -> f64 {
        let start = shares.iter().map(|share| share.start).min();
        let end = shares.iter().map(|share| share.end).max();
        start
            .zip(end)
            .map_or(0.0, |(start, end)| nanoseconds(start, end))
    }

    /// Whether the threads were at work at the same time, from beginning to end: no other process had the processor
    /// of one of them. One alone always is.
    fn overlap(shares: &[Share]) -> bool {
        let span = Self::span(shares);
        shares.len() == 1
            || shares
                .iter()
                .all(|share| span - share.slept() <= (1.0 + Self::MISSED) * share.ran)
    }
}

/// Threads that are more than one stay on their processors.
fn pin(plan: Plan, number: usize) {
    let processors = core_affinity::get_core_ids().unwrap_or_default();
    let of = |number: usize| processors.get(number % processors.len().max(1));
    let processor = match plan.clock {
        _ if plan.threads == 1 => None,
        // The others share the rest.
        Clock::First if number > 0 && processors.len() > 1 => {
            processors.get(1 + (number - 1) % (processors.len() - 1))
        }
        _ => of(number),
    };
    if let Some(&processor) = processor {
        core_affinity::set_for_current(processor);
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
                    renew(&*map, &mut own[at], turn as u64);
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

/// Objects of the first thread die, one after another, while each of the others churns, until that is over: the
/// longest of these deaths.
pub(crate) fn longest_death<M: Shared>(plan: Plan) -> Sample {
    let (map, all) = gathered::<M>(plan.size);
    let map = Arc::new(map);
    beside(plan, (map.clone(), all), move || {
        let mut longest = 0.0_f64;
        for turn in 0..plan.operations {
            let object = M::object(turn as u64);
            map.insert(&object, turn as u64);
            let death = || {
                map.before_drop(&object);
                drop(object);
            };
            longest = longest.max(time(death));
        }
        longest
    })
}

/// Maps of ten entries end, one after another, while each of the other threads churns elsewhere: the mean.
pub(crate) fn end<M: Shared>(plan: Plan) -> Sample {
    let (map, all) = gathered::<M>(plan.size);
    beside(plan, (Arc::new(map), all), move || {
        let ended = (0..plan.operations).map(|_| {
            let (map, objects) = gathered::<M>(10);
            let end = time(|| drop(map));
            drop(objects);
            end
        });
        ended.sum::<f64>() / plan.operations as f64
    })
}

/// The first thread measures, and the others churn meanwhile, each with its share of a map's objects.
fn beside<M: Shared>(
    plan: Plan,
    (map, mut all): (Arc<M>, Vec<M::Object>),
    measured: impl FnMut() -> f64 + Send + 'static,
) -> Sample {
    let is_over = Arc::new(AtomicBool::new(false));
    let share = all.len() / (plan.threads - 1).max(1);
    let mut measured = Some(measured);
    Team::sample(plan, |_| {
        let is_over = is_over.clone();
        if let Some(mut measured) = measured.take() {
            return Box::new(move |watch| {
                // Relaxed: the others see it after the barrier.
                is_over.store(false, Relaxed);
                let mut ran = 0.0;
                let share = watch.time(|| {
                    ran = measured();
                    // Relaxed: it says nothing of what else has happened.
                    is_over.store(true, Relaxed);
                });
                Share { ran, ..share }
            });
        }
        let (map, mut own) = (map.clone(), all.split_off(all.len() - share));
        Box::new(move |watch| {
            watch.time(|| {
                for (place, turn) in (0..share).cycle().zip(0..) {
                    if is_over.load(Relaxed) {
                        break;
                    }
                    renew(&*map, &mut own[place], turn);
                }
            })
        })
    })
}

/// A new object for one that dies.
#[inline]
fn renew<M: Shared>(map: &M, place: &mut M::Object, number: u64) {
    map.before_drop(place);
    *place = M::object(number);
    map.insert(place, number);
}
