//! Objects that another language counts (`Tracer::foreign`). The other language is a few lines of this file: objects with
//! a count and with slots for references. The random graphs state what wrong counts and hidden children do.

use std::sync::atomic::{AtomicIsize, AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use weakly::{
    Strong, WeakMap, concurrent,
    cycles::{Cycles, Purged, Trace, Tracer},
    impl_trace, local,
    reference::StrongRef,
};

use crate::common::{panics, quiet_panic};

/// What a foreign object says of itself.
#[derive(Default)]
struct Lies {
    /// Added to the count.
    count: AtomicIsize,
    /// Added to the count at each further visit.
    more: AtomicIsize,
    panics: AtomicUsize,
    /// The id, if not the address.
    id: AtomicUsize,
}

struct Object<P> {
    count: AtomicUsize,
    slots: Mutex<Vec<Slot<P>>>,
    traced: AtomicUsize,
    lies: Lies,
}

/// A counted reference to a foreign object.
struct Foreign<P>(Arc<Object<P>>);

enum Slot<P> {
    Foreign(Foreign<P>),
    Native(P),
    Locked(Mutex<P>),
}

impl<P> Foreign<P> {
    fn new() -> Self {
        Foreign(Arc::new(Object {
            count: AtomicUsize::new(1),
            slots: Mutex::new(Vec::new()),
            traced: AtomicUsize::new(0),
            lies: Lies::default(),
        }))
    }

    fn own(&self, slot: Slot<P>) {
        self.0.slots.lock().unwrap().push(slot);
    }

    fn id(&self) -> usize {
        match self.0.lies.id.load(Relaxed) {
            0 => Arc::as_ptr(&self.0).addr(),
            id => id,
        }
    }
}

impl<P> Clone for Foreign<P> {
    fn clone(&self) -> Self {
        self.0.count.fetch_add(1, Relaxed);
        Foreign(Arc::clone(&self.0))
    }
}

impl<P> Drop for Foreign<P> {
    fn drop(&mut self) {
        let mut work = Vec::new();
        if self.0.count.fetch_sub(1, Relaxed) == 1 {
            work.append(&mut self.0.slots.lock().unwrap());
        }
        while let Some(slot) = work.pop() {
            if let Slot::Foreign(last) = &slot {
                if last.0.count.load(Relaxed) == 1 {
                    work.append(&mut last.0.slots.lock().unwrap());
                }
            }
        }
    }
}

impl<P: Trace + 'static> Trace for Foreign<P> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        let lies = &self.0.lies;
        let more = lies.more.load(Relaxed);
        let lie = lies.count.fetch_add(more, Relaxed);
        let count = self.0.count.load(Relaxed).saturating_add_signed(lie);
        let object = Arc::clone(&self.0); // not counted
        tracer.foreign(self.id(), count, move |tracer| {
            object.traced.fetch_add(1, Relaxed);
            if object.lies.panics.load(Relaxed) > 0 {
                quiet_panic();
            }
            for slot in object.slots.lock().unwrap().iter() {
                slot.trace(tracer);
            }
        });
    }
}

impl<P: Trace + 'static> Trace for Slot<P> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Slot::Foreign(foreign) => foreign.trace(tracer),
            Slot::Native(native) => native.trace(tracer),
            Slot::Locked(native) => native.trace(tracer),
        }
    }
}

/// A native object with a reference to a foreign object, and what a value is.
struct Native<P>(Mutex<Option<Foreign<P>>>);

/// Of one thread, so that a purge looks behind the lock.
struct One(local::Strong<Native<One>>);
/// Of all threads.
struct All(Strong<Native<All>>);

/// The two families.
trait Family: Trace + Sized + 'static {
    type Strong: StrongRef;
    type Map: Default;
    const SHARED: bool;
    fn new() -> Self;
    fn strong(&self) -> &Self::Strong;
    fn again(&self) -> Self;
    fn insert(map: &mut Self::Map, key: &Self, value: Value<Self>);
    fn cycles(map: &mut Self::Map) -> Cycles<'_, 'static>;
    fn len(map: &Self::Map) -> usize;
    fn native(&self) -> &Native<Self>;
    fn count(&self) -> usize;
}

type Value<P> = (Vec<Foreign<P>>, Vec<P>);

macro_rules! families {
    ($($name:ident: $strong:ident, $map:ident, [$($mut:tt)?];)*) => {$(
        impl_trace!($name: 0);

        impl Family for $name {
            type Strong = $strong::Strong<Native<Self>>;
            type Map = $map::WeakMap<Self::Strong, Value<Self>>;
            const SHARED: bool = stringify!($($mut)?).is_empty();

            fn new() -> Self {
                $name($strong::Strong::new(Native(Mutex::new(None))))
            }

            fn strong(&self) -> &Self::Strong {
                &self.0
            }

            fn again(&self) -> Self {
                $name(self.0.clone())
            }

            fn insert(map: &mut Self::Map, key: &Self, value: Value<Self>) {
                map.insert(&key.0, value);
            }

            fn cycles(map: &mut Self::Map) -> Cycles<'_, 'static> {
                Cycles::new().with(&$($mut)? *map)
            }

            fn len(map: &Self::Map) -> usize {
                map.len()
            }

            fn native(&self) -> &Native<Self> {
                &self.0
            }

            fn count(&self) -> usize {
                $strong::Strong::strong_count(&self.0)
            }
        }
    )*};
}

impl<P: Trace + 'static> Trace for Native<P> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.0.trace(tracer);
    }
}

families! {
    One: local, weakly, [mut];
    All: weakly, concurrent, [];
}

macro_rules! both {
    ($($(#[$doc:meta])* fn $name:ident<$family:ident>() $body:block)*) => {$(
        $(#[$doc])*
        #[test]
        fn $name() {
            fn run<$family: Family>() $body
            run::<One>();
            run::<All>();
        }
    )*};
}

fn counts(purged: Purged) -> (usize, usize) {
    (purged.removed, purged.kept)
}

/// The counts of a purge.
fn purge<F: Family>(map: &mut F::Map) -> (usize, usize) {
    counts(F::cycles(map).purge())
}

/// Returns a map with an entry whose value leads to its key through `length` foreign objects; these; and the key.
fn ring<F: Family>(length: usize) -> (F::Map, Vec<Foreign<F>>, F) {
    let (mut map, key) = (F::Map::default(), F::new());
    let foreign: Vec<_> = (0..length).map(|_| Foreign::new()).collect();
    for pair in foreign.windows(2) {
        pair[0].own(Slot::Foreign(pair[1].clone()));
    }
    foreign.last().unwrap().own(Slot::Native(key.again()));
    F::insert(&mut map, &key, (vec![foreign[0].clone()], Vec::new()));
    (map, foreign, key)
}

both! {
    /// 367: A cycle from an entry through foreign objects to the entry's key is found, once nothing else leads to it.
    fn a_cycle_through_foreign_objects<F>() {
        for length in [1, 2, 5] {
            let (mut map, foreign, key) = ring::<F>(length);
            assert_eq!(purge::<F>(&mut map), (0, 0));
            drop(key);
            for foreign in foreign {
                // Held by the other language.
                assert_eq!((purge::<F>(&mut map), F::len(&map)), ((0, 0), 1));
                drop(foreign);
            }
            assert_eq!((purge::<F>(&mut map), F::len(&map)), ((1, 0), 0));
        }
    }

    /// 151: So does one whose counts differ from visit to visit, also if one of the counts is right.
    fn counts_that_differ<F>() {
        let (mut map, foreign, key) = ring::<F>(1);
        let (object, second) = (Arc::clone(&foreign[0].0), F::new());
        foreign[0].own(Slot::Native(second.again()));
        F::insert(&mut map, &second, (foreign, Vec::new()));
        drop((key, second));
        for (first, more) in [(0, 1), (0, -1), (-1, 1), (1, -1)] {
            object.lies.count.store(first, Relaxed);
            object.lies.more.store(more, Relaxed);
            assert_eq!(purge::<F>(&mut map), (0, 0));
        }
        object.lies.count.store(0, Relaxed);
        object.lies.more.store(0, Relaxed);
        assert_eq!((purge::<F>(&mut map), F::len(&map)), ((2, 0), 0));
    }

    /// 152: Children that the foreign object does not own, one of them a handle on the stack.
    fn children_of_others<F>() {
        struct Lying<F>(Foreign<F>, Arc<Mutex<Vec<F>>>);
        impl<F: Family> Trace for Lying<F> {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                let (id, count) = (self.0.id(), self.0.0.count.load(Relaxed));
                let others = Arc::clone(&self.1);
                tracer.foreign(id, count, move |tracer| {
                    let others = others.lock().unwrap();
                    others.trace(tracer);
                    others[0].again().trace(tracer);
                });
            }
        }
        let others = Arc::new(Mutex::new(vec![F::new(), F::new()]));
        let keys: Vec<F> = others.lock().unwrap().iter().map(F::again).collect();
        let mut map = WeakMap::new();
        for key in &keys {
            map.insert(key.strong(), Lying(Foreign::new(), Arc::clone(&others)));
        }
        assert_eq!(map.purge_cycles().removed, 0);
        drop(keys);
        _ = map.purge_cycles();
        let others = others.lock().unwrap();
        assert!(others.iter().all(|other| other.count() == 1));
    }

    /// 151: Two objects with one id are one object, with the children of one of them.
    fn two_objects_with_one_id<F>() {
        let (mut map, foreign, key) = ring::<F>(1);
        let (one, other) = (Arc::clone(&foreign[0].0), Foreign::new());
        let (second, object) = (F::new(), Arc::clone(&other.0));
        object.lies.id.store(foreign[0].id(), Relaxed);
        other.own(Slot::Native(second.again()));
        F::insert(&mut map, &second, (vec![other], Vec::new()));
        drop((foreign, key, second));
        assert_eq!(purge::<F>(&mut map), (0, 0));
        assert_eq!(one.traced.load(Relaxed) + object.traced.load(Relaxed), 1);
        object.lies.id.store(0, Relaxed);
        assert_eq!(purge::<F>(&mut map), (2, 0));
    }

    /// An id may be the address of a native object, or 0, or any number.
    fn ids_of_native_objects<F>() {
        for id in [0, 1, usize::MAX] {
            let (mut map, foreign, key) = ring::<F>(1);
            let id = match id {
                0 => <F::Strong as weakly::reference::WeakKey>::addr(key.strong()).addr(),
                id => id,
            };
            foreign[0].0.lies.id.store(id, Relaxed);
            drop(key);
            assert_eq!(purge::<F>(&mut map), (0, 0));
            drop(foreign);
            assert_eq!(purge::<F>(&mut map), (1, 0));
        }
    }

    /// A closure that panics changes nothing.
    fn children_that_panic<F>() {
        let (mut map, foreign, key) = ring::<F>(3);
        foreign[1].0.lies.panics.store(1, Relaxed);
        let object = Arc::clone(&foreign[1].0);
        drop((foreign, key));
        assert!(panics(|| _ = F::cycles(&mut map).purge()));
        assert_eq!((F::len(&map), object.count.load(Relaxed)), (1, 1));
        let key = F::new();
        assert!(panics(|| _ = F::cycles(&mut map).holders(key.strong())));
        object.lies.panics.store(0, Relaxed);
        assert_eq!(purge::<F>(&mut map), (1, 0));
    }

    /// A long chain takes no stack.
    fn a_chain<F>() {
        let (mut map, foreign, key) = ring::<F>(if cfg!(miri) { 50 } else { 100_000 });
        drop((foreign, key));
        assert_eq!(purge::<F>(&mut map), (1, 0));
    }

    /// A native object between the entry and the foreign object: a lock is looked behind where no thread shares it.
    fn a_native_object_between<F>() {
        let (mut map, key, middle, foreign) = (F::Map::default(), F::new(), F::new(), Foreign::new());
        foreign.own(Slot::Native(key.again()));
        *middle.native().0.lock().unwrap() = Some(foreign);
        F::insert(&mut map, &key, (Vec::new(), vec![middle]));
        drop(key);
        assert_eq!(purge::<F>(&mut map), (usize::from(!F::SHARED), 0));
        let all = F::cycles(&mut map).at_rest().purge();
        assert_eq!(counts(all), (usize::from(F::SHARED), 0));
    }

    /// A lock in a foreign object: any thread with the language's lock may give it away.
    fn a_lock_in_a_foreign_object<F>() {
        let (mut map, foreign, key) = ring::<F>(1);
        foreign[0].0.slots.lock().unwrap().clear();
        foreign[0].own(Slot::Locked(Mutex::new(key.again())));
        drop((foreign, key));
        assert_eq!(purge::<F>(&mut map), (0, 0));
        assert_eq!(counts(F::cycles(&mut map).at_rest().purge()), (1, 0));
    }

    /// A path names a foreign object by its id; so does the graph.
    fn holders_of_a_key<F>() {
        let (mut map, foreign, key) = ring::<F>(2);
        let ids: Vec<_> = foreign.iter().map(|it| format!("foreign object {:#x}", it.id())).collect();
        let holders = F::cycles(&mut map).holders(key.strong());
        assert_eq!((holders.count, holders.paths().len()), (Some(2), 1));
        let path = holders.groups[0].path.to_string();
        let (before, between) = (path.find(&ids[0]).unwrap(), path.find(&ids[1]).unwrap());
        assert!(before < between, "{path}");
        let dot = holders.to_dot();
        for id in &ids {
            assert_eq!(dot.matches(&format!("[label={id:?}]")).count(), 1, "{dot}");
        }
    }
}

/// 367: A shared map that is given twice shows each reference once: a reference of the other language keeps the entry.
#[test]
fn a_map_that_is_given_twice() {
    let (map, foreign, key) = ring::<All>(1);
    drop(key);
    let purge = || counts(Cycles::new().with(&map).with(&map).purge());
    assert_eq!((purge(), map.len()), ((0, 0), 1));
    drop(foreign);
    assert_eq!((purge(), map.len()), ((1, 0), 0));
}
