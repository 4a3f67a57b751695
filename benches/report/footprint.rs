//! The memory that is measured: bytes as requested from the allocator.

use weakly::Strong;

use crate::chance::{Numbers, Words};
use crate::duel::Sample;
use crate::memory::Count;
use crate::peers::{Collection, Object, Pointer};
use crate::shared::SharedInterner;

/// How many weak handles an object has that has nothing else.
const HANDLES: usize = 3;

/// What weak handles cost an object, besides the handles themselves and their vector.
pub(crate) fn weak_handles<P: Pointer<Target = u64>>(objects: usize) -> Sample {
    Box::new(move || {
        let objects = some::<P>(objects);
        let mut handles = Vec::with_capacity(objects.len() * HANDLES);
        let count = Count::new();
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
/// side tables, and queues that grow. It is divided by the number of entries.
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
        let count = Count::new();
        fill(measured);
        count.bytes() / (objects.len() * more) as f64
    })
}

fn some<O: Object<Payload = u64>>(objects: usize) -> Vec<O> {
    let numbers = Numbers::default().take(objects);
    numbers.into_iter().map(O::new).collect()
}

/// What a name costs in an interner, beside its handle, with its share in the table.
pub(crate) fn names<I: SharedInterner>(names: usize) -> Sample {
    Box::new(move || {
        let words = Words::of(&Numbers::default().take(names));
        let mut handles: Vec<Strong<str>> = Vec::with_capacity(names);
        let count = Count::new();
        let interner = I::with_capacity(names);
        handles.extend(words.run(0, names).map(|word| interner.intern(word)));
        count.bytes() / names as f64
    })
}
