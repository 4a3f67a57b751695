//! What is measured of collections: each operation once, for any of them.

use std::collections::VecDeque;
use std::hint::black_box;

use crate::chance::{Numbers, Turns, shuffle};
use crate::duel::{Sample, time};
use crate::memory::{Bulky, payload_bytes_held};
use crate::peers::{Collection, Map, Object, Purge};
use crate::pointers::alternately;

/// A collection, and the owner of its objects, in the order in which they will die.
pub(crate) struct Herd<C: Collection> {
    collection: C,
    objects: VecDeque<C::Object>,
    /// For those who will come.
    numbers: Numbers,
}

/// Two collections with as many live objects each. The objects are made in turn and shuffled alike, so
/// that neither side has the better place in memory, and none meets its own in the order of addresses.
pub(crate) fn herds<A, B>(size: usize) -> (Herd<A>, Herd<B>)
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    let mut numbers = Numbers::default();
    let known = numbers.take(size);
    let (ours, theirs) = alternately(&known);
    (
        Herd::gather(ours, &known, numbers.clone()),
        Herd::gather(theirs, &known, numbers),
    )
}

impl<C: Collection<Object: Object<Payload = u64>>> Herd<C> {
    fn gather(objects: Vec<C::Object>, known: &[u64], numbers: Numbers) -> Self {
        let mut objects: Vec<_> = objects.into_iter().zip(known).collect();
        shuffle(&mut objects);
        let mut collection = C::with_capacity(objects.len());
        for &(ref object, &number) in &objects {
            collection.insert(object, number);
        }
        // So that objects are not looked up in the order in which they came in.
        shuffle(&mut objects);
        Herd {
            collection,
            objects: objects.into_iter().map(|(object, _)| object).collect(),
            numbers,
        }
    }

    /// Looks up keys that are there, in random order, going on where the last sample ended.
    pub(crate) fn get(self, operations: usize) -> Sample
    where
        C: Map,
    {
        let keys: Vec<_> = self.objects.iter().map(C::key).collect();
        assert!(keys.iter().all(|key| self.collection.get(key).is_some()));
        let mut turns = Turns::new(keys.len(), operations);
        let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
        Box::new(move || {
            black_box(&self.objects);
            let keys = &keys[turns.next()..][..some];
            let pass = || {
                let found = keys.iter().map(|key| self.collection.get(key));
                black_box(
                    found
                        .map(Option::unwrap_or_default)
                        .fold(0, u64::wrapping_add),
                );
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// A new object comes in, and the oldest dies.
    pub(crate) fn churn(mut self, operations: usize) -> Sample {
        Box::new(move || {
            let numbers = self.numbers.take(operations);
            let generation = || {
                for &number in &numbers {
                    self.succeed(number, C::insert);
                }
            };
            time(generation) / operations as f64
        })
    }

    /// The same; the slowest of the inserts, alone.
    pub(crate) fn slowest_insert(mut self, operations: usize) -> Sample {
        Box::new(move || {
            let mut slowest = 0.0;
            for number in self.numbers.take(operations) {
                self.succeed(number, |collection, object, number| {
                    slowest = time(|| collection.insert(object, number)).max(slowest);
                });
            }
            slowest
        })
    }

    /// Some objects die, at random places, and the collection is told to clean up.
    pub(crate) fn purge(mut self, deaths: usize) -> Sample
    where
        C: Purge,
    {
        Box::new(move || {
            self.objects.drain(..deaths);
            let purged = time(|| self.collection.purge());
            for number in self.numbers.take(deaths) {
                self.born(number, C::insert);
            }
            purged
        })
    }

    #[inline]
    fn succeed(&mut self, number: u64, insert: impl FnOnce(&mut C, &C::Object, u64)) {
        self.born(number, insert);
        self.objects.pop_front();
    }

    #[inline]
    fn born(&mut self, number: u64, insert: impl FnOnce(&mut C, &C::Object, u64)) {
        let object = C::Object::new(black_box(number));
        insert(&mut self.collection, &object, number);
        self.objects.push_back(object);
    }
}

/// The bytes of payload that are held for dead objects, before the collection is told to clean up.
pub(crate) fn held_for_the_dead<C>(size: usize) -> Sample
where
    C: Collection<Object: Object<Payload = Bulky>>,
{
    Box::new(move || {
        let before = payload_bytes_held();
        let mut collection = C::with_capacity(size);
        let objects: Vec<_> = (0..size)
            .map(|_| C::Object::new([7; size_of::<Bulky>()]))
            .collect();
        for (object, number) in objects.iter().zip(0..) {
            collection.insert(object, number);
        }
        assert!(payload_bytes_held() - before >= size * size_of::<Bulky>());
        drop(objects);
        (payload_bytes_held() - before) as f64
    })
}
