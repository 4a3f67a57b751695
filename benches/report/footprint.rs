//! The memory that is measured: bytes as requested from the allocator.

use crate::chance::Numbers;
use crate::duel::Sample;
use crate::memory::{Bulky, Count};
use crate::peers::{Collection, Object, Pointer};

/// How many weak handles an object has that has nothing else.
const HANDLES: usize = 3;

/// What weak handles cost an object, besides the handles themselves and their vector.
pub(crate) fn weak_handles<P: Pointer<Target = u64>>(objects: usize) -> Sample {
    Box::new(move || {
        let objects = some::<P>(objects);
        let mut handles = Vec::with_capacity(objects.len() * HANDLES);
        let count = Count::all();
        for object in &objects {
            handles.extend((0..HANDLES).map(|_| P::downgrade(object)));
        }
        count.bytes() / objects.len() as f64
    })
}

/// What an entry costs an object beside itself and the array of the table: the mean of those in `more`
/// collections, of objects that have an entry in `already` others.
///
/// All objects are there before the count begins, all tables have reserved their arrays, and each collection
/// has had its first insert, with which it makes what it has once. What counts is whatever else an insert
/// allocates, on the object's behalf or on the collection's: records, hooks by the piece or by the slab,
/// side tables, and queues that grow. It is divided by the number of entries, and of the objects in one.
pub(crate) fn entries<C>(objects: usize, already: usize, more: usize) -> Sample
where
    C: Collection<Object: Object<Payload = u64>>,
{
    Box::new(move || {
        let first = C::Object::new(0);
        let objects = some::<C::Object>(objects);
        let new = |_| C::with_capacity(objects.len() + 1);
        let mut collections: Vec<_> = (0..already + more).map(new).collect();
        for collection in &mut collections {
            collection.insert(&first, 0);
        }
        let fill = |collections: &mut [C]| {
            for collection in collections {
                for (object, number) in objects.iter().zip(1..) {
                    collection.insert(object, number);
                }
            }
        };
        let (before, measured) = collections.split_at_mut(already);
        fill(before);
        let count = Count::all();
        fill(measured);
        count.bytes() / (objects.len() * C::Object::OBJECTS * more) as f64
    })
}

/// The largest of some samples.
pub(crate) fn largest(mut samples: Vec<Sample>) -> Sample {
    Box::new(move || {
        let bytes = samples.iter_mut().map(|sample| sample());
        bytes.fold(f64::NEG_INFINITY, f64::max)
    })
}

fn some<O: Object<Payload = u64>>(objects: usize) -> Vec<O> {
    let numbers = Numbers::default().take(objects);
    numbers.into_iter().map(O::new).collect()
}

/// The bytes of payload that dead objects keep allocated, before the collection is purged.
pub(crate) fn kept_by_the_dead<C>(size: usize) -> Sample
where
    C: Collection<Object: Object<Payload = Bulky>>,
{
    Box::new(move || {
        let count = Count::payloads();
        let mut collection = C::with_capacity(size);
        let objects: Vec<_> = (0..size)
            .map(|_| C::Object::new([7; size_of::<Bulky>()]))
            .collect();
        for (object, number) in objects.iter().zip(0..) {
            collection.insert(object, number);
        }
        assert!(count.bytes() >= (size * size_of::<Bulky>()) as f64);
        drop(objects);
        count.bytes()
    })
}
