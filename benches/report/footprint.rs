//! The memory that is measured: bytes as requested from the allocator.

use std::fs;
use std::path::Path;

use weakly::Strong;

use crate::chance::{Numbers, Words};
use crate::duel::Sample;
use crate::memory::{Bulky, Count};
use crate::passes::{SideTable, count_branches, find_parents, find_places};
use crate::peers::{Collection, Object, Pointer};
use crate::scale::ROOT;
use crate::shared::{Shared, SharedInterner};
use crate::together::last_of;
use crate::tree::Tree;

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

/// What an entry takes in all, with its share in the array of its table, of objects that have one in so many collections,
/// which have grown from nothing.
pub(crate) fn each_entry<C>(objects: usize, collections: usize) -> Sample
where
    C: Collection<Object: Object<Payload = u64>>,
{
    Box::new(move || {
        let objects = some::<C::Object>(objects);
        let count = Count::all();
        let new = |_| C::with_capacity(0);
        let mut all: Vec<_> = (0..collections).map(new).collect();
        for collection in &mut all {
            for (object, number) in objects.iter().zip(0..) {
                collection.insert(object, number);
            }
        }
        count.bytes() / (objects.len() * collections) as f64
    })
}

/// What a map takes with its first entry, itself included: of a new thread, while others that have used another map are
/// parked.
pub(crate) fn first_entry<M: Shared, const OTHERS: usize>() -> Sample {
    Box::new(|| {
        last_of::<M, OTHERS, _>(|| {
            let object = M::object(1);
            let count = Count::all();
            let map = M::with_capacity(0);
            map.insert(&object, 1);
            count.bytes() + size_of::<M>() as f64
        })
    })
}

/// What an object takes with its entry in one collection, and the entry's share in the array of the table.
pub(crate) fn object_and_entry<C>(objects: usize) -> f64
where
    C: Collection<Object: Object<Payload = u64>>,
{
    let numbers = Numbers::default().take(objects);
    let mut owner = Vec::with_capacity(objects);
    let count = Count::all();
    let mut collection = C::with_capacity(objects);
    for number in numbers {
        let object = C::Object::new(number);
        collection.insert(&object, number);
        owner.push(object);
    }
    count.bytes() / objects as f64
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

/// What a name costs in an interner, beside its handle, with its share in the table.
pub(crate) fn names<I: SharedInterner>(names: usize) -> Sample {
    Box::new(move || {
        let words = Words::of(&Numbers::default().take(names));
        let mut handles: Vec<Strong<str>> = Vec::with_capacity(names);
        let count = Count::all();
        let interner = I::with_capacity(names);
        handles.extend(words.run(0, names).map(|word| interner.intern(word)));
        count.bytes() / names as f64
    })
}

/// What a pass does to some trees; its table stays.
pub(crate) type Pass = Box<dyn FnMut(&[Tree])>;

/// The job of the example `side_tables`, on all files of the library, in each scale: the most bytes that there are at a
/// time, for each node. A tree for each file, which owns the file's text, and the tables of some passes, which look at
/// all trees one after another.
pub(crate) fn side_tables(passes: fn() -> Vec<Pass>) -> Sample {
    Box::new(move || {
        let count = Count::all();
        let sources = sources(&Path::new(ROOT).join("src"));
        let tree = |(name, text)| Tree::parse(name, text).expect("it compiles");
        let trees: Vec<_> = sources.into_iter().map(tree).collect();
        let mut passes = passes();
        passes.iter_mut().for_each(|pass| pass(&trees));
        let nodes: usize = trees.iter().map(|tree| tree.nodes().count()).sum();
        count.peak() / nodes as f64
    })
}

/// The passes of the example, each with a table of its own.
pub(crate) fn three_passes() -> Vec<Pass> {
    fn pass<V: 'static>(look_at: fn(&Tree, &mut SideTable<V>)) -> Pass {
        let mut table = SideTable::new();
        Box::new(move |trees| trees.iter().for_each(|tree| look_at(tree, &mut table)))
    }
    vec![
        pass(find_places),
        pass(find_parents),
        pass(|tree, known| _ = count_branches(&tree.root, known)),
    ]
}

/// The names and texts of the Rust files below a folder, in the order of their names.
fn sources(folder: &Path) -> Vec<(String, String)> {
    let entries = fs::read_dir(folder).expect("the library is there");
    let mut paths: Vec<_> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    let files = paths.into_iter().flat_map(|path| {
        if path.is_dir() {
            return sources(&path);
        }
        if path.extension().is_none_or(|it| it != "rs") {
            return Vec::new();
        }
        let text = fs::read_to_string(&path).expect("it is Rust");
        vec![(path.display().to_string(), text)]
    });
    files.collect()
}
