//! The operations on what threads share, each written once, for one thread or several.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::mpsc::{self, Sender};
use std::sync::{Arc, Barrier};
use std::thread::{self, JoinHandle};

use weakly::Strong;

use crate::chance::{Numbers, Words, shuffle};
use crate::duel::{Sample, time};
use crate::peers::Pointer;
use crate::shared::{Shared, SharedInterner};
use crate::teams::{Plan, Team, alone};

/// Each thread clones a handle to the one object and drops the clone.
pub(crate) fn clone_drop<P>(plan: Plan) -> Sample
where
    P: Pointer<Target = u64> + Send + Sync,
{
    let strong = P::new(7);
    Team::sample(plan, |_| {
        let strong = strong.clone();
        Box::new(move |watch| {
            watch.time(|| {
                for _ in 0..plan.operations {
                    drop(black_box(black_box(&strong).clone()));
                }
            })
        })
    })
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

/// Each thread does something with objects that are present, starting at another place, and continuing where its last
/// sample ended.
fn over<M: Shared>(
    plan: Plan,
    operation: impl Fn(&M, &M::Object) -> u64 + Copy + Send + 'static,
) -> Sample {
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
                        sum = sum.wrapping_add(operation(map, object));
                    }
                    left -= some;
                    at = (at + some) % plan.size;
                }
                black_box(sum);
            })
        })
    })
}

/// Each thread looks up objects that are present.
pub(crate) fn get<M: Shared>(plan: Plan) -> Sample {
    over::<M>(plan, |map, object| map.get(object).unwrap_or_default())
}

/// Each thread gives objects that are present another value.
pub(crate) fn replace<M: Shared>(plan: Plan) -> Sample {
    over::<M>(plan, |map, object| {
        map.insert(object, 1);
        0
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
    churn_beside::<M, 0>(plan)
}

/// The same while other threads, which have used the map, are parked.
pub(crate) fn churn_beside<M: Shared, const PARKED: usize>(plan: Plan) -> Sample {
    let (map, mut all) = gathered::<M>(plan.size);
    let map = Arc::new(map);
    let used = map.clone();
    let share = plan.size / plan.threads;
    let mut churn = Team::sample(plan, |_| {
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
    });
    // They end with each sample: the other side is measured without them.
    Box::new(move || {
        let _parked = Parked::of(PARKED, &used);
        churn()
    })
}

/// A new thread churns a map of its own, while others, which have used another, are parked.
pub(crate) fn newcomer<M: Shared, const OTHERS: usize>(plan: Plan) -> Sample {
    Box::new(move || {
        let newcomer = move || {
            let (map, mut own) = gathered::<M>(plan.size);
            let mut churn = || {
                for turn in 0..plan.operations {
                    let place = &mut own[turn % plan.size];
                    renew(&map, place, turn as u64);
                }
            };
            // Caches are warm then, and a table as large as it will be.
            churn();
            alone(churn) / plan.operations as f64
        };
        last_of::<M, OTHERS, _>(newcomer)
    })
}

/// What a new thread does, while others are parked that have used a map, not that of the new thread.
pub(crate) fn last_of<M: Shared, const OTHERS: usize, R: Send + 'static>(
    work: impl FnOnce() -> R + Send + 'static,
) -> R {
    let _others = Parked::of(OTHERS, &Arc::new(M::with_capacity(1)));
    thread::spawn(work).join().expect("it does not panic")
}

/// Threads that have used a map, and wait for the end of this.
struct Parked {
    // Dropped first.
    wake: Vec<Sender<()>>,
    threads: Vec<JoinHandle<()>>,
}

impl Parked {
    /// All of them have used the map.
    fn of<M: Shared>(number: usize, map: &Arc<M>) -> Self {
        let used = Arc::new(Barrier::new(number + 1));
        let (wake, threads) = (0..number)
            .map(|_| {
                let (map, used) = (map.clone(), used.clone());
                let (wake, wakes) = mpsc::channel();
                let park = move || {
                    let mut object = M::object(1);
                    map.insert(&object, 1);
                    renew(&*map, &mut object, 2);
                    map.before_drop(&object);
                    drop((object, map));
                    used.wait();
                    // An error: the sender is gone.
                    _ = wakes.recv();
                };
                // There may be thousands.
                let thread = thread::Builder::new().stack_size(1 << 17).spawn(park);
                (wake, thread.expect("the system has room for a thread"))
            })
            .unzip();
        used.wait();
        Parked { wake, threads }
    }
}

impl Drop for Parked {
    fn drop(&mut self) {
        self.wake.clear();
        for thread in self.threads.drain(..) {
            // If it panicked, its message is already printed.
            _ = thread.join();
        }
    }
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
                let mut intern = interner.at_work();
                let mut left = plan.operations;
                while left > 0 {
                    let some = left.min(plan.size - at);
                    for word in words.run(at, some) {
                        drop(black_box(intern(word)));
                    }
                    left -= some;
                    at = (at + some) % plan.size;
                }
            })
        })
    })
}

/// New words are interned, and their handles dropped at once, beside some that stay.
pub(crate) fn miss<I: SharedInterner>(plan: Plan) -> Sample {
    renew_words::<I>(plan, |_, new| drop(black_box(new)))
}

/// Every operation interns a new word, and drops the oldest handle that the thread owns: of its share of all words,
/// at first in random order.
pub(crate) fn turnover<I: SharedInterner>(plan: Plan) -> Sample {
    renew_words::<I>(plan, |own, new| {
        own.push_back(new);
        drop(own.pop_front());
    })
}

/// Each thread interns new words, and does something with the handles and with its share of those that were there.
fn renew_words<I: SharedInterner>(
    plan: Plan,
    keep: impl Fn(&mut VecDeque<Strong<str>>, Strong<str>) + Copy + Send + 'static,
) -> Sample {
    let interner = Arc::new(I::with_capacity(plan.size));
    let words = Words::of(&Numbers::default().take(plan.size));
    let mut live: Vec<_> = words
        .run(0, plan.size)
        .map(|word| interner.intern(word))
        .collect();
    shuffle(&mut live);
    let share = plan.size / plan.threads;
    Team::sample(plan, |number| {
        let mut own = VecDeque::from(live.split_off(live.len() - share));
        let (interner, mut numbers) = (interner.clone(), Numbers::of(number));
        Box::new(move |watch| {
            let words = Words::of(&numbers.take(plan.operations));
            watch.time(|| {
                let mut intern = interner.at_work();
                for word in words.run(0, plan.operations) {
                    keep(&mut own, intern(word));
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
                let mut share = watch.time(|| {
                    ran = measured();
                    // Relaxed: it says nothing of what else has happened.
                    is_over.store(true, Relaxed);
                });
                share.ran = ran;
                share
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
