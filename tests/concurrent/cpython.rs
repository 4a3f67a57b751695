//! The threaded scenarios of CPython's `test_weakref.py` (`test_threaded_weak_valued_setdefault`, `…_pop`,
//! `…_consistency`, `test_threaded_weak_key_dict_copy`, `…_deepcopy`, and the same for values, and the
//! iterations of bpo-7105): one thread uses a weak dictionary, another lets its objects die.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::mpsc::sync_channel;
use std::thread;

use weakly::concurrent::{SharedRef, WeakMap, WeakValueMap};

use crate::common::scaled;
use crate::common::subject::Life;
use crate::dynamic::*;
use crate::faces::*;

const TURNS: usize = scaled(5_000, 6);
const MANY: usize = scaled(2_000, 10);
/// The most objects that were sent to die and may still be alive: those in the channel, the one being dropped,
/// and the one waiting to be sent.
const ROOM: usize = 8;

/// Its entries are identified by a number, and live as long as their objects, which contain the number.
trait Dict: Shared {
    fn pop(&self, object: &Self::Life) -> bool;
    /// Returns the entry that the test asks for; makes one if there is none.
    fn set_default(&self, kept: &Self::Life, make: impl Fn() -> Self::Life) -> usize;
    fn entries(&self) -> impl Iterator<Item = (Self::Life, Arc<Owned>)>;
    fn copy(entries: impl Iterator<Item = (Self::Life, Arc<Owned>)>) -> Self;
}

fn owned(number: usize) -> Arc<Owned> {
    Arc::new(Owned::new(number, &quietly()))
}

/// As `dict[…] = …`.
fn set<D: Dict>(dict: &D, object: &D::Life) {
    dict.enter(object, &quietly());
}

/// With new objects for all that it owns.
fn deep_copy<D: Dict>(entries: impl Iterator<Item = (D::Life, Arc<Owned>)>) -> D {
    D::copy(entries.map(|(object, of)| (object, owned(of.number))))
}

impl<K: Life + SharedRef> Dict for Maps<K> {
    fn pop(&self, object: &K) -> bool {
        self.remove(object).is_some_and(|value| value.is(object))
    }
    fn set_default(&self, kept: &K, make: impl Fn() -> K) -> usize {
        // The object asked for is a new one each time, at an address that another one had.
        let object = make();
        let default = |key: &K| self.get_or_insert_dyn(key, &mut || owned(**key)).number;
        assert_eq!((default(kept), default(&object)), (**kept, *object));
        *object
    }
    fn entries(&self) -> impl Iterator<Item = (K, Arc<Owned>)> {
        WeakMap::iter(self)
    }
    fn copy(entries: impl Iterator<Item = (K, Arc<Owned>)>) -> Self {
        let copy = WeakMap::new();
        entries.for_each(|(key, value)| _ = copy.insert(&key, value));
        copy
    }
}

impl<K: Life + SharedRef> Dict for ValueMaps<K> {
    fn pop(&self, object: &K) -> bool {
        self.remove(&owned(**object))
            .is_some_and(|popped| popped.is(object))
    }
    fn set_default(&self, kept: &K, make: impl Fn() -> K) -> usize {
        assert!(
            self.get_or_insert_dyn(owned(**kept), &mut || make())
                .is(kept)
        );
        *self.get_or_insert_dyn(owned(usize::MAX), &mut || make())
    }
    fn entries(&self) -> impl Iterator<Item = (K, Arc<Owned>)> {
        WeakValueMap::iter(self).map(|(key, value)| (value, key))
    }
    fn copy(entries: impl Iterator<Item = (K, Arc<Owned>)>) -> Self {
        let copy = WeakValueMap::new();
        entries.for_each(|(value, key)| _ = copy.insert(key, &value));
        copy
    }
}

crate::subjects! {
    $ in [crate::faces];

    for_each_dict [strong: Atomic, arc: StdArc] [weak_keys: Maps, weak_values: ValueMaps];
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
fn while_they_die<L: Send>(mut turn: impl FnMut(usize) -> L) {
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
fn while_most_die<D: Dict>(look: impl Fn(&D, &[D::Life])) {
    let objects = new_lives::<D::Life>(MANY);
    let dict = D::of(&objects, &quietly());
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
fn check<D: Dict>(dict: &D, stay: &[D::Life]) {
    assert!(stay.iter().all(|object| dict.has(object)));
    let mut shown = 0;
    for (object, owned) in dict.entries() {
        assert!(owned.is(&object));
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
    let dict = D::default();
    while_they_die(|n| {
        let object = D::Life::from(n % 4);
        set(&dict, &object);
        assert!(dict.has(&object));
        assert!(dict.len() >= 1);
        if D::NOTIFIES {
            assert!(dict.len() <= 1 + ROOM + 2, "{}", dict.len());
        }
        object
    });
    dict.purge();
    assert_eq!(dict.len(), 0);
}

/// An entry that was just set can be removed.
fn small_pop<D: Dict>() {
    let dict = D::default();
    while_they_die(|n| {
        let object = D::Life::from(n % 4);
        set(&dict, &object);
        assert!(dict.pop(&object) && !dict.has(&object));
        object
    });
    dict.purge();
    assert_eq!(dict.len(), 0);
}

/// There is always an entry, and it is alive.
fn small_set_default<D: Dict>() {
    let kept = D::Life::from(TURNS);
    let dict = D::of([&kept], &quietly());
    while_they_die(|n| {
        let (object, other) = (D::Life::from(n), D::Life::from(n + 1));
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
    while_most_die::<D>(|dict, stay| check(&deep_copy::<D>(dict.entries()), stay));
}
