//! What is measured of maps: each operation once, for any of them.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::duel::{Sample, shuffle, time};
use crate::memory::{Bulky, payload_bytes_held};
use crate::peers::{Map, Pointer};
use crate::pointers::alternately;

/// A map, and the owner of its keys, in the order in which they will die.
pub(crate) struct Herd<M: Map> {
    map: M,
    keys: VecDeque<M::Key>,
}

/// Two maps with as many live keys each. The objects are made in turn and shuffled alike, so that
/// neither side has the better place in memory, and none meets its own in the order of addresses.
pub(crate) fn herds<A, B>(size: usize) -> (Herd<A>, Herd<B>)
where
    A: Map<Key: Pointer<Target = u64>>,
    B: Map<Key: Pointer<Target = u64>>,
{
    let (ours, theirs) = alternately(size);
    (Herd::gather(ours), Herd::gather(theirs))
}

impl<M: Map<Key: Pointer<Target = u64>>> Herd<M> {
    fn gather(mut keys: Vec<M::Key>) -> Self {
        shuffle(&mut keys);
        let mut map = M::with_capacity(keys.len());
        for (key, number) in keys.iter().zip(0..) {
            map.insert(key, number);
        }
        // So that keys are not looked up in the order in which they came in.
        shuffle(&mut keys);
        Herd {
            map,
            keys: keys.into(),
        }
    }

    /// Looks up keys that are there, in random order, going on where the last sample ended.
    pub(crate) fn get(mut self, operations: usize) -> Sample {
        let size = self.keys.len();
        let (some, passes) = (operations.min(size), operations.div_ceil(size));
        Box::new(move || {
            self.keys.rotate_left(some);
            let keys = &self.keys.make_contiguous()[..some];
            let pass = || {
                let found = keys.iter().map(|key| self.map.get(key).copied());
                black_box(found.map(Option::unwrap_or_default).sum::<u64>());
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// A new key comes in, and the oldest dies.
    pub(crate) fn churn(mut self, operations: usize) -> Sample {
        Box::new(move || {
            let generation = || (0..operations).for_each(|_| self.succeed(M::insert));
            time(generation) / operations as f64
        })
    }

    /// The same; the slowest of the inserts, alone.
    pub(crate) fn slowest_insert(mut self, operations: usize) -> Sample {
        Box::new(move || {
            let mut slowest = 0.0;
            for _ in 0..operations {
                self.succeed(|map, key, value| {
                    slowest = time(|| map.insert(key, value)).max(slowest);
                });
            }
            slowest
        })
    }

    /// Some keys die, at random places, and the map is told to clean up.
    pub(crate) fn purge(mut self, deaths: usize) -> Sample {
        Box::new(move || {
            self.keys.drain(..deaths);
            let purged = time(|| self.map.purge());
            (0..deaths).for_each(|_| self.born(M::insert));
            purged
        })
    }

    #[inline]
    fn succeed(&mut self, insert: impl FnOnce(&mut M, &M::Key, u64)) {
        self.born(insert);
        self.keys.pop_front();
    }

    #[inline]
    fn born(&mut self, insert: impl FnOnce(&mut M, &M::Key, u64)) {
        let key = M::Key::new(black_box(7));
        insert(&mut self.map, &key, 7);
        self.keys.push_back(key);
    }
}

/// The bytes of payload that are held for dead keys, before the map is told to clean up.
pub(crate) fn held_for_the_dead<M: Map<Key: Pointer<Target = Bulky>>>(size: usize) -> Sample {
    Box::new(move || {
        let before = payload_bytes_held();
        let mut map = M::with_capacity(size);
        let keys: Vec<_> = (0..size).map(|_| M::Key::new([7; _])).collect();
        for (key, number) in keys.iter().zip(0..) {
            map.insert(key, number);
        }
        assert!(payload_bytes_held() - before >= size * size_of::<Bulky>());
        drop(keys);
        (payload_bytes_held() - before) as f64
    })
}
