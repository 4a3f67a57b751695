//! What is measured of maps that threads share: each operation once, for any of them, by one thread or by
//! several that begin together. A sample is the time of the slowest thread for one of its operations.

use std::hint::black_box;
use std::sync::Barrier;
use std::thread;

use crate::chance::{Numbers, shuffle};
use crate::duel::{Sample, time};
use crate::shared::Shared;

/// Each of some threads does `work` with its number, and they begin together.
fn team(threads: usize, operations: usize, work: impl Fn(usize) + Sync) -> f64 {
    let barrier = Barrier::new(threads);
    let member = |number| {
        barrier.wait();
        time(|| work(number)) / operations as f64
    };
    if threads == 1 {
        return member(0);
    }
    thread::scope(|scope| {
        let member = &member;
        let members: Vec<_> = (0..threads)
            .map(|number| scope.spawn(move || member(number)))
            .collect();
        let times = members
            .into_iter()
            .map(|member| member.join().expect("no work panics"));
        times.fold(0.0, f64::max)
    })
}

/// A map with some objects, in an order without a pattern.
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

/// Each thread looks up objects that are there, beginning at another place.
pub(crate) fn get<M: Shared>(threads: usize, size: usize, operations: usize) -> Sample {
    let (map, objects) = gathered::<M>(size);
    Box::new(move || {
        team(threads, operations, |number| {
            let mut sum = 0_u64;
            let mut left = operations;
            let mut start = number * size / threads;
            while left > 0 {
                let some = left.min(size - start);
                for object in &objects[start..start + some] {
                    sum = sum.wrapping_add(map.get(object).unwrap_or_default());
                }
                left -= some;
                start = 0;
            }
            black_box(sum);
        })
    })
}

/// Each thread looks up objects that are there, and with every twentieth operation a new object of its own
/// comes in and its last one dies.
pub(crate) fn mixed<M: Shared>(threads: usize, size: usize, operations: usize) -> Sample {
    let (map, objects) = gathered::<M>(size);
    Box::new(move || {
        team(threads, operations, |number| {
            let mut sum = 0_u64;
            let mut own = M::object(0);
            let mut at = number * size / threads;
            for turn in 0..operations {
                if turn % 20 == 0 {
                    map.part(&own);
                    own = M::object(turn as u64);
                    map.insert(&own, turn as u64);
                } else {
                    sum = sum.wrapping_add(map.get(&objects[at]).unwrap_or_default());
                    at = if at + 1 == size { 0 } else { at + 1 };
                }
            }
            map.part(&own);
            black_box(sum);
        })
    })
}

/// With every operation a new object comes in, and one dies, of those that the thread owns.
pub(crate) fn churn<M: Shared>(threads: usize, size: usize, operations: usize) -> Sample {
    let map = M::with_capacity(2 * size);
    Box::new(move || {
        team(threads, operations, |_| {
            let mut own: Vec<_> = (0..size).map(|number| M::object(number as u64)).collect();
            for turn in 0..operations {
                let place = &mut own[turn % size];
                map.part(place);
                *place = M::object(turn as u64);
                map.insert(place, turn as u64);
            }
            own.iter().for_each(|object| map.part(object));
        })
    })
}
