//! The threaded scenarios of CPython's `test_weakref.py` (`test_threaded_weak_valued_setdefault`, `…_pop`,
//! `…_consistency`, `test_threaded_weak_key_dict_copy`, `…_deepcopy`, and the same for values, and the
//! iterations of bpo-7105): one thread uses a weak dictionary, another lets its objects die.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::mpsc::sync_channel;
use std::thread;

use weakly::concurrent::{WeakMap, WeakValueMap};

use crate::common::scaled;
use crate::faces::{Kind, Life, is_same, lives};

const TURNS: usize = scaled(5_000, 6);
const MANY: usize = scaled(2_000, 10);
/// The most objects that were sent to die and may still be alive: those in the channel, the one being dropped,
/// and the one waiting to be sent.
const ROOM: usize = 8;

/// Its entries are identified by a number, and live as long as their objects, which contain the number.
trait Dict: Sync + Sized {
    type Kind: Kind;
    /// What an entry owns.
    type Owned: Clone;
    /// As `dict[…] = …`.
    fn set(&self, object: &Life<Self::Kind>);
    fn pop(&self, object: &Life<Self::Kind>) -> bool;
    /// Returns the entry that the test asks for; makes one if there is none.
    fn set_default(&self, kept: &Life<Self::Kind>, make: impl Fn() -> Life<Self::Kind>) -> usize;
    fn has(&self, object: &Life<Self::Kind>) -> bool;
    fn len(&self) -> usize;
    fn purge(&self);
    fn entries(&self) -> impl Iterator<Item = (Life<Self::Kind>, Self::Owned)>;
    fn is_of(owned: &Self::Owned, object: &Life<Self::Kind>) -> bool;
    /// With new objects for all that it owns.
    fn deep_copy(entries: impl Iterator<Item = (Life<Self::Kind>, Self::Owned)>) -> Self;
    fn copy(entries: impl Iterator<Item = (Life<Self::Kind>, Self::Owned)>) -> Self;

    fn of(objects: &[Life<Self::Kind>]) -> Self {
        let dict = Self::copy(std::iter::empty());
        objects.iter().for_each(|object| dict.set(object));
        dict
    }
}

struct Keys<P: Kind>(WeakMap<Life<P>, Arc<usize>>);
struct Values<P: Kind>(WeakValueMap<Arc<usize>, Life<P>>);

macro_rules! common {
    () => {
        type Kind = P;
        type Owned = Arc<usize>;
        fn len(&self) -> usize {
            self.0.len()
        }
        fn purge(&self) {
            self.0.purge();
        }
        fn is_of(owned: &Arc<usize>, object: &Life<P>) -> bool {
            **owned == **object
        }
        fn deep_copy(entries: impl Iterator<Item = (Life<P>, Arc<usize>)>) -> Self {
            Self::copy(entries.map(|(object, owned)| (object, Arc::new(*owned))))
        }
    };
}

impl<P: Kind> Dict for Keys<P> {
    common!();
    fn set(&self, object: &Life<P>) {
        self.0.insert(object, Arc::new(**object));
    }
    fn pop(&self, object: &Life<P>) -> bool {
        self.0
            .remove(object)
            .is_some_and(|value| *value == **object)
    }
    fn set_default(&self, kept: &Life<P>, make: impl Fn() -> Life<P>) -> usize {
        // The object asked for is a new one each time, at an address that another one had.
        let object = make();
        let default = |key: &Life<P>| *self.0.get_or_insert_with(key, || Arc::new(**key));
        assert_eq!((default(kept), default(&object)), (**kept, *object));
        *object
    }
    fn has(&self, object: &Life<P>) -> bool {
        self.0.get(object).is_some_and(|value| *value == **object)
    }
    fn entries(&self) -> impl Iterator<Item = (Life<P>, Arc<usize>)> {
        self.0.iter()
    }
    fn copy(entries: impl Iterator<Item = (Life<P>, Arc<usize>)>) -> Self {
        let copy = WeakMap::new();
        entries.for_each(|(key, value)| _ = copy.insert(&key, value));
        Self(copy)
    }
}

impl<P: Kind> Dict for Values<P> {
    common!();
    fn set(&self, object: &Life<P>) {
        self.0.insert(Arc::new(**object), object);
    }
    fn pop(&self, object: &Life<P>) -> bool {
        let popped = self.0.remove(&**object);
        popped.is_some_and(|popped| is_same::<P>(&popped, object))
    }
    fn set_default(&self, kept: &Life<P>, make: impl Fn() -> Life<P>) -> usize {
        assert!(is_same::<P>(
            &self.0.get_or_insert_with(Arc::new(**kept), |_| make()),
            kept
        ));
        *self.0.get_or_insert_with(Arc::new(usize::MAX), |_| make())
    }
    fn has(&self, object: &Life<P>) -> bool {
        self.0
            .get(&**object)
            .is_some_and(|got| is_same::<P>(&got, object))
    }
    fn entries(&self) -> impl Iterator<Item = (Life<P>, Arc<usize>)> {
        self.0.iter().map(|(key, value)| (value, key))
    }
    fn copy(entries: impl Iterator<Item = (Life<P>, Arc<usize>)>) -> Self {
        let copy = WeakValueMap::new();
        entries.for_each(|(value, key)| _ = copy.insert(key, &value));
        Self(copy)
    }
}

macro_rules! for_each_dict {
    (@one $test:ident $($name:ident: $dict:ident),*) => {$(
        mod $name {
            use $crate::cpython::{self as tests, $dict};
            use $crate::faces::{Ours, Std};
            #[test]
            fn strong() {
                tests::$test::<$dict<Ours>>();
            }
            #[test]
            fn arc() {
                tests::$test::<$dict<Std>>();
            }
        }
    )*};
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            for_each_dict!(@one $test weak_keys: Keys, weak_values: Values);
        }
    )*};
}

for_each_dict!(
    small_iterate,
    small_set,
    small_pop,
    small_set_default,
    small_copy,
    small_deep_copy,
);

/// Runs `turn` many times; the objects that it returns die on another thread.
fn while_they_die<P: Kind>(mut turn: impl FnMut(usize) -> Life<P>) {
    thread::scope(|scope| {
        let (send, dying) = sync_channel(ROOM);
        scope.spawn(move || dying.into_iter().for_each(drop));
        for n in 0..TURNS {
            send.send(turn(n)).unwrap();
        }
    });
}

/// Runs `look` repeatedly while three of four objects of a dictionary die, in no particular order, on another
/// thread; then once more. It gets the objects that stay.
fn while_most_die<D: Dict>(look: impl Fn(&D, &[Life<D::Kind>])) {
    let objects = lives::<D::Kind>(MANY);
    let dict = D::of(&objects);
    let (stay, mut go): (Vec<_>, Vec<_>) = objects.into_iter().partition(|n| **n % 4 == 0);
    let done = AtomicBool::new(false);
    thread::scope(|scope| {
        scope.spawn(|| {
            // A stride that is coprime to their number reaches each.
            let (mut at, stride) = (0, 7);
            while !go.is_empty() {
                at = (at + stride) % go.len();
                drop(go.swap_remove(at));
            }
            done.store(true, Release);
        });
        while !done.load(Acquire) {
            look(&dict, &stay);
        }
        look(&dict, &stay);
    });
    dict.purge();
    assert_eq!(dict.len(), stay.len());
}

/// The objects that stay are present, and all entries are complete.
fn check<D: Dict>(dict: &D, stay: &[Life<D::Kind>]) {
    assert!(stay.iter().all(|object| dict.has(object)));
    let mut shown = 0;
    for (object, owned) in dict.entries() {
        assert!(D::is_of(&owned, &object));
        shown += usize::from(*object % 4 == 0);
    }
    assert_eq!(shown, stay.len());
}

/// Iteration shows those that live throughout, and no torn entry.
fn small_iterate<D: Dict>() {
    while_most_die::<D>(check);
}

/// An entry that was just set is present, whatever happens to earlier ones.
fn small_set<D: Dict>() {
    let dict = D::of(&[]);
    while_they_die::<D::Kind>(|n| {
        let object = Life::<D::Kind>::from(n % 4);
        dict.set(&object);
        assert!(dict.has(&object));
        assert!(dict.len() >= 1);
        if D::Kind::NOTIFIES {
            assert!(dict.len() <= 1 + ROOM + 2, "{}", dict.len());
        }
        object
    });
    dict.purge();
    assert_eq!(dict.len(), 0);
}

/// An entry that was just set can be removed.
fn small_pop<D: Dict>() {
    let dict = D::of(&[]);
    while_they_die::<D::Kind>(|n| {
        let object = Life::<D::Kind>::from(n % 4);
        dict.set(&object);
        assert!(dict.pop(&object) && !dict.has(&object));
        object
    });
    dict.purge();
    assert_eq!(dict.len(), 0);
}

/// There is always an entry, and it is alive.
fn small_set_default<D: Dict>() {
    let kept = Life::<D::Kind>::from(TURNS);
    let dict = D::of(std::slice::from_ref(&kept));
    while_they_die::<D::Kind>(|n| {
        let (object, other) = (Life::<D::Kind>::from(n), Life::<D::Kind>::from(n + 1));
        // (Weak values all have the same key here: that of an earlier turn may be alive.)
        assert!(dict.set_default(&kept, || object.clone()) <= n);
        if n % 2 == 0 { object } else { other }
    });
    dict.purge();
    assert!(dict.has(&kept));
    assert_eq!(dict.len(), 1);
}

/// A copy contains the objects that stay, and keeps them as long.
fn small_copy<D: Dict>() {
    while_most_die::<D>(|dict, stay| check(&D::copy(dict.entries()), stay));
}

/// The same with new clones of all that it owns.
fn small_deep_copy<D: Dict>() {
    while_most_die::<D>(|dict, stay| check(&D::deep_copy(dict.entries()), stay));
}
