//! The operations on collections that are measured, each written once.

use std::collections::VecDeque;
use std::hint::black_box;
use std::time::Instant;

use crate::chance::{Numbers, Turns, shuffle};
use crate::duel::{Sample, time};
use crate::peers::{Collection, Lookup, Map, Object, Pointer, Purge, Remove, Walk};
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
    /// A collection with so many live objects.
    pub(crate) fn of(size: usize) -> Self {
        let mut numbers = Numbers::default();
        let known = numbers.take(size);
        let objects = known.iter().map(|&number| C::Object::new(number));
        Self::gather(objects.collect(), &known, numbers)
    }

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

    /// Looks up objects where their owner keeps them, in random order.
    pub(crate) fn look_up(this: Share<Self>, operations: usize) -> Sample
    where
        C: Lookup,
    {
        let mut turns = Turns::new(this.borrow().objects.len(), operations);
        let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let collection = &this.collection;
            let objects = &this.objects.make_contiguous()[turns.next()..][..some];
            let pass = || {
                let found = objects.iter().map(|object| collection.look_up(object));
                black_box(
                    found
                        .map(Option::unwrap_or_default)
                        .fold(0, u64::wrapping_add),
                );
            };
            alone(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// Objects are removed and inserted again, one after another.
    pub(crate) fn re_insert(this: Share<Self>, operations: usize) -> Sample
    where
        C: Remove,
    {
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let passes = operations.div_ceil(this.objects.len());
            let mut pass = || {
                for object in &this.objects {
                    this.collection.remove(object);
                    this.collection.insert(object, black_box(7));
                }
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * this.objects.len()) as f64
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

    /// Some objects die, at random places, and the collection is purged.
    pub(crate) fn purge(this: Share<Self>, deaths: usize) -> Sample
    where
        C: Purge,
    {
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            this.objects.drain(..deaths);
            let purged = time(|| this.collection.purge());
            for number in this.numbers.take(deaths) {
                this.insert_new(number, C::insert);
            }
            purged
        })
    }

    /// Looks up live objects that are absent.
    pub(crate) fn miss(this: Share<Self>, operations: usize) -> Sample
    where
        C: Lookup,
    {
        let numbers = this.borrow_mut().numbers.take(operations);
        let strangers: Vec<_> = numbers.into_iter().map(C::Object::new).collect();
        Box::new(move || {
            let collection = &this.borrow().collection;
            let pass = || {
                let found = strangers.iter().map(|object| collection.look_up(object));
                assert_eq!(found.flatten().count(), 0);
            };
            alone(pass) / operations as f64
        })
    }

    /// Visits all entries, as often as so many operations take.
    pub(crate) fn walk(this: Share<Self>, operations: usize) -> Sample
    where
        C: Walk,
    {
        Box::new(move || {
            let this = &*this.borrow();
            let passes = operations.div_ceil(this.objects.len());
            let pass = || _ = black_box(this.collection.walk());
            alone(|| (0..passes).for_each(|_| pass())) / (passes * this.objects.len()) as f64
        })
    }

    /// Some new objects are inserted, so few that the table does not grow. Then they die, which does not count. All this
    /// as often as so many operations take.
    pub(crate) fn insert(this: Share<Self>, some: usize, operations: usize) -> Sample
    where
        C: Purge,
    {
        let passes = operations.div_ceil(some);
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let pass = |_| {
                let numbers = this.numbers.take(some);
                let new: Vec<_> = numbers.into_iter().map(C::Object::new).collect();
                let inserted = batch(passes, || {
                    for object in &new {
                        this.collection.insert(object, black_box(7));
                    }
                });
                drop(new);
                this.collection.purge();
                inserted
            };
            (0..passes).map(pass).sum::<f64>() / (passes * some) as f64
        })
    }

    /// Objects that are present are inserted again, in random order.
    pub(crate) fn replace(this: Share<Self>, operations: usize) -> Sample {
        let mut turns = Turns::new(this.borrow().objects.len(), operations);
        let (some, passes) = (turns.some(), operations.div_ceil(turns.some()));
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let objects = &this.objects.make_contiguous()[turns.next()..][..some];
            let mut pass = || {
                for object in objects {
                    this.collection.insert(object, black_box(7));
                }
            };
            alone(|| (0..passes).for_each(|_| pass())) / (passes * some) as f64
        })
    }

    /// Some objects are removed, in random order. Then they are inserted again, which does not count. All this as often as
    /// so many operations take.
    pub(crate) fn remove(this: Share<Self>, some: usize, operations: usize) -> Sample
    where
        C: Remove,
    {
        let mut turns = Turns::new(this.borrow().objects.len(), some);
        let passes = operations.div_ceil(some);
        Box::new(move || {
            let this = &mut *this.borrow_mut();
            let pass = |_| {
                let objects = &this.objects.make_contiguous()[turns.next()..][..some];
                let removed = batch(passes, || {
                    for object in objects {
                        this.collection.remove(object);
                    }
                });
                for object in objects {
                    this.collection.insert(object, 7);
                }
                removed
            };
            (0..passes).map(pass).sum::<f64>() / (passes * some) as f64
        })
    }

    /// Objects that also have weak handles are removed and inserted again, one after another.
    pub(crate) fn put_back(this: Share<Self>, operations: usize) -> Sample
    where
        C: Remove<Object: Pointer<Target = u64>>,
    {
        let handles: Vec<_> = this
            .borrow()
            .objects
            .iter()
            .map(Pointer::downgrade)
            .collect();
        Box::new(move || {
            black_box(&handles);
            let Herd {
                collection,
                objects,
                ..
            } = &mut *this.borrow_mut();
            let passes = operations.div_ceil(objects.len());
            let mut pass = || {
                for object in &*objects {
                    collection.remove(object);
                    collection.insert(object, black_box(7));
                }
            };
            time(|| (0..passes).for_each(|_| pass())) / (passes * objects.len()) as f64
        })
    }

    #[inline]
    fn churn_one(&mut self, number: u64, insert: impl FnOnce(&mut C, &C::Object, u64)) {
        self.insert_new(number, insert);
        self.objects.pop_front();
    }

    #[inline]
    fn insert_new(&mut self, number: u64, insert: impl FnOnce(&mut C, &C::Object, u64)) {
        let object = C::Object::new(black_box(number));
        insert(&mut self.collection, &object, number);
        self.objects.push_back(object);
    }
}

/// A collection grows from nothing, among objects in random order: the slowest insert, the one in which it grows last.
pub(crate) fn slowest_growth<C>(size: usize) -> Sample
where
    C: Collection<Object: Object<Payload = u64>>,
{
    Box::new(move || {
        let mut objects: Vec<_> = (0..size as u64).map(C::Object::new).collect();
        shuffle(&mut objects);
        let mut collection = C::with_capacity(0);
        let inserts = objects
            .iter()
            .zip(0..)
            .map(|(object, number)| time(|| collection.insert(object, number)));
        inserts.fold(0.0, f64::max)
    })
}

/// The time of one of so many batches in a sample. A short one leaves no time for the clock of a processor, nor for what
/// that does to the caches.
fn batch(batches: usize, work: impl FnOnce()) -> f64 {
    match batches {
        1 => alone(work),
        _ => time(work),
    }
}
