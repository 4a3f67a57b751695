//! The operations on what threads share, each written once, for one thread or several.

use std::collections::VecDeque;
use std::hint::black_box;
use std::sync::Arc;

use weakly::Strong;

use crate::chance::{Numbers, Words, shuffle};
use crate::duel::Sample;
use crate::peers::Object;
use crate::shared::{Shared, SharedInterner};
use crate::teams::{Plan, Team};

/// A map with some objects, in random order.
fn gathered<M: Shared>(size: usize) -> (M, Vec<M::Object>) {
    let map = M::with_capacity(size);
    let mut objects = Vec::new();
    for number in Numbers::default().take(size) {
        let object = M::Object::new(number);
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
                let mut own = M::Object::new(0);
                for turn in 0..plan.operations {
                    if turn % 20 == 0 {
                        map.before_drop(&own);
                        own = M::Object::new(turn as u64);
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
                    *place = M::Object::new(turn as u64);
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
                for word in words.run(0, plan.operations) {
                    keep(&mut own, interner.intern(word));
                }
            })
        })
    })
}
