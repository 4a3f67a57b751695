//! The operations on collections that are measured, each written once.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use crate::chance::{Numbers, Turns, shuffle};
use crate::duel::{Sample, time};
use crate::peers::{Collection, Map, Object};
use crate::pointers::alternately;
use crate::subjects::Share;
use crate::teams::alone;

/// A collection and the owner of its objects, in the order in which they will die.
pub(crate) struct Herd<C: Collection> {
    collection: C,
    objects: VecDeque<C::Object>,
    /// For future objects.
    numbers: Numbers,
}

/// Two collections with as many live objects each. The objects are allocated alternately and shuffled, so that
/// neither side has the better memory layout, and neither visits its own in the order of addresses.
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
    pub(crate) fn gather(objects: Vec<C::Object>, known: &[u64], numbers: Numbers) -> Self {
        let mut objects: Vec<_> = objects.into_iter().zip(known).collect();
        shuffle(&mut objects);
        let mut collection = C::with_capacity(objects.len());
        for &(ref object, &number) in &objects {
            collection.insert(object, number);
        }
        // So that lookups do not come in the order of insertion.
        shuffle(&mut objects);
        Herd {
            collection,
            objects: objects.into_iter().map(|(object, _)| object).collect(),
            numbers,
        }
    }

    /// Looks up keys that are present, in random order, continuing where the last sample ended.
    pub(crate) fn get(this: Share<Self>, operations: usize) -> Sample
    where
        C: Map,
    {
        let mut keys: Vec<_> = this.borrow().objects.iter().map(C::key).collect();
        // The objects are in the order of insertion.
        shuffle(&mut keys);
        let collection = &this.borrow().collection;
        assert!(keys.iter().all(|key| collection.get(key).is_some()));
        let mut turns = Turns::new(keys.len(), operations);
        let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
        let this = this.clone();
        Box::new(move || {
            let collection = &this.borrow().collection;
            let keys = &keys[turns.next()..][..some];
            let pass = || {
                let found = keys.iter().map(|key| collection.get(key));
                black_box(
                    found
                        .map(Option::unwrap_or_default)
                        .fold(0, u64::wrapping_add),
                );
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// A new object is inserted, and the oldest dies.
    pub(crate) fn churn(this: Share<Self>, operations: usize) -> Sample {
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let numbers = this.numbers.take(operations);
            let generation = || {
                for &number in &numbers {
                    this.churn_one(number, C::insert);
                }
            };
            alone(generation) / operations as f64
        })
    }

    /// The same; measures only the slowest of the inserts.
    pub(crate) fn slowest_insert(this: Share<Self>, operations: usize) -> Sample {
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let mut slowest = 0.0;
            for number in this.numbers.take(operations) {
                this.churn_one(number, |collection, object, number| {
                    slowest = time(|| collection.insert(object, number)).max(slowest);
                });
            }
            slowest
        })
    }

    /// The nanoseconds of each step: a new object is inserted, and the oldest dies.
    pub(crate) fn pauses(&mut self, operations: usize) -> Vec<u32> {
        let mut pauses = vec![0; operations];
        for (number, pause) in self.numbers.take(operations).into_iter().zip(&mut pauses) {
            let object = C::Object::new(number);
            let oldest = self.objects.pop_front();
            let start = Instant::now();
            self.collection.insert(&object, number);
            drop(oldest);
            *pause = start.elapsed().as_nanos().try_into().unwrap_or(u32::MAX);
            self.objects.push_back(object);
        }
        pauses
    }

    #[inline]
    fn churn_one(&mut self, number: u64, insert: impl FnOnce(&mut C, &C::Object, u64)) {
        let object = C::Object::new(black_box(number));
        insert(&mut self.collection, &object, number);
        self.objects.push_back(object);
        self.objects.pop_front();
    }
}
