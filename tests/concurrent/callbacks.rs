//! User code that runs inside an operation of a shared collection (`Eq` of keys and of contents, and
//! `is_expired` of pointers): it panics, uses the collection, or lets another thread use it.

use std::cell::RefCell;
use std::hash::{Hash, Hasher};
use std::sync::Arc;
use std::thread;

use weakly::concurrent::{SharedRef, WeakMap, WeakValueMap};
use weakly::{Reclaim, Strong};

use crate::common::lease::{self, Asked};
use crate::common::subject::shared::*;
use crate::common::subject::{Content, Life, Owned, Shared, Subject, Upkeep};
use crate::common::{in_time, panics, quiet_panic, scaled};
use crate::faces::Count;

type Actions = Vec<(usize, Box<dyn FnOnce()>)>;

thread_local! {
    /// The actions of this thread, each with the number of callbacks that come before it.
    static ACTIONS: RefCell<Actions> = const { RefCell::new(Vec::new()) };
}

/// Runs `act` in one of the next callbacks.
fn schedule(after: usize, act: impl FnOnce() + 'static) {
    ACTIONS.with_borrow_mut(|actions| actions.push((after, Box::new(act))));
}

/// Drops the actions that did not run.
fn clear_actions() {
    ACTIONS.take();
}

/// A callback. (While an action runs, further ones are not counted.)
fn callback() {
    let (due, mut rest): (Actions, Actions) = ACTIONS.take().into_iter().partition(|it| it.0 == 0);
    for (_, act) in due {
        act();
    }
    rest.iter_mut().for_each(|(after, _)| *after -= 1);
    ACTIONS.set(rest);
}

/// A key; all have the same hash. Its comparison is a callback. May report its drop.
#[derive(Clone)]
struct Key(
    usize,
    #[allow(dead_code)] // for its drop
    Option<Arc<Owned<Ends>>>,
);

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        let equal = self.0 == other.0;
        callback();
        equal
    }
}

impl Eq for Key {}

impl Hash for Key {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

/// A pointer that is found by sweeping. The question whether it is dead is a callback.
type Lease = lease::Lease<Key>;

impl Asked for Key {
    fn asked(_: *const Self) {
        callback();
    }
}

impl Content for Key {
    fn number(&self) -> usize {
        self.0
    }
}

fn object<L: From<Key>>(number: usize) -> L {
    Key(number, None).into()
}

/// A collection that runs such callbacks.
trait Acts: Shared<Key> {
    /// All operations that may run one.
    fn acts() -> Vec<fn(&Self, &Self::Life)>;
}

macro_rules! acts {
    ($($subject:ident: |$this:ident, $it:ident| [$($act:expr),*];)*) => {$(
        impl<K: Life<Key> + SharedRef> Acts for $subject<K> {
            fn acts() -> Vec<fn(&Self, &K)> {
                vec![
                    |all, it| _ = all.enter(it, &quietly()),
                    |all, it| _ = all.leave(it),
                    |all, it| _ = all.has(it),
                    |all, _| _ = all.purge(),
                    |all, _| all.clear(),
                    |all, _| _ = Shared::iter(all).count(),
                    $(|$this, $it| _ = $act,)*
                ]
            }
        }
    )*};
}

fn owned(key: &Key) -> Arc<Owned<Ends, Key>> {
    Arc::new(Owned::new(key.clone(), &quietly()))
}

acts! {
    ValueMaps: |map, it| [
        map.get_or_insert_with(owned(it), |_| it.clone()),
        map.compute(owned(it), |_| Some(it.clone())),
        map.compute(owned(it), |_| None),
        map.remove_if(&owned(it), |_| true),
        map.retain(|key, _| key.number != **it)
    ];
    Interners: |_names, _it| [];
    Maps: |map, it| [
        map.get_or_insert_with(it, |_| owned(it)),
        map.compute(it, |_| Some(owned(it))),
        map.compute(it, |_| None),
        map.remove(&K::downgrade(it)),
        map.retain(|key, _| key.0 != it.0)
    ];
    Sets: |set, it| [set.contains(&K::downgrade(it)), set.retain(|key| key.0 != it.0)];
    HashMaps: |map, it| [
        map.get_or_insert_with(it, |_| owned(it)),
        map.compute(it, |_| Some(owned(it))),
        map.compute(it, |_| None),
        map.remove_if(&**it, |_| true),
        map.retain(|key, _| **key != **it)
    ];
    HashSets: |set, it| [set.replace(it), set.take(&**it), set.retain(|key| **key != **it)];
    PairsTwice: |map, it| [
        map.get_or_insert_with(it, K::clone),
        map.compute(it, |_| Some(it.clone())),
        map.compute(it, |_| None),
        map.remove(&K::downgrade(it)),
        map.retain(|key, _| key.0 != it.0)
    ];
}

macro_rules! for_each_subject {
    ($test:ident: $($name:ident: $subject:ty;)*) => {
        mod $test {
            use super::*;
            $(#[test]
            fn $name() {
                super::$test::<$subject>();
            })*
        }
    };
}

for_each_subject! {
    a_panic_inside_leaves_nothing_half_done:
    values: ValueMaps<Strong<Key>>;
    swept_values: ValueMaps<Lease>;
    names: Interners<Strong<Key>>;
    swept_names: Interners<Lease>;
    swept_maps: Maps<Lease>;
    swept_sets: Sets<Lease>;
    facts: HashMaps<Strong<Key>>;
    swept_facts: HashMaps<Lease>;
    words: HashSets<Strong<Key>>;
    swept_words: HashSets<Lease>;
    swept_pairs: PairsTwice<Lease>;
}

/// D65: In each callback an entry is removed, and in each later one, or in the same, there is a panic: the new
/// entry is present, or it is not, and nothing else is left of it.
fn a_panic_inside_leaves_nothing_half_done<S: Acts>() {
    for act in S::acts() {
        for change in 0..scaled(6, 2) {
            for panic in change..scaled(9, 4) {
                let all = Arc::new(S::default());
                let mut objects: Vec<S::Life> = (0..4).map(object).collect();
                for object in &objects {
                    all.enter(object, &quietly());
                }
                drop(objects.pop());
                let (removed, new) = (objects[0].clone(), object::<S::Life>(0));
                {
                    let all = all.clone();
                    schedule(change, move || _ = all.leave(&removed));
                }
                schedule(panic, || quiet_panic());
                panics(|| act(&all, &new));
                clear_actions();
                assert!(all.counts().0 <= 5);
                drop((objects, new));
                all.purge();
                assert_eq!(all.counts(), (0, 0, 0), "{change} {panic}");
                let more: Vec<S::Life> = (0..4).map(object).collect();
                for object in &more {
                    all.enter(object, &quietly());
                }
                assert!(more.iter().all(|object| all.has(object)));
                assert_eq!(all.counts(), (4, 4, 0));
            }
        }
    }
}

/// N185, D65: An entry is unlinked while its pointer panics instead of answering whether it is dead: since it
/// may be dead, it is kept on request.
#[test]
fn a_value_whose_is_expired_panics_is_kept() {
    let mut kept = 0;
    for at in 0..scaled(12, 4) {
        let all = WeakValueMap::<Key, Lease>::new();
        all.set_reclaim(Reclaim::OnRequest);
        let ended = Count::default();
        let owned = Arc::new(Owned::new(1, &ended.ends()));
        let value: Lease = object(1);
        all.insert(Key(1, Some(owned)), &value);
        drop(value);
        schedule(at, || quiet_panic());
        let panicked = panics(|| {
            let again: Lease = object(1);
            all.insert((*again).clone(), &again);
        });
        clear_actions();
        assert_eq!(ended.get(), 0, "at callback {at}");
        kept += usize::from(panicked && all.pending_dead() == 1);
        all.purge();
        assert_eq!((all.counts(), ended.get()), ((0, 0, 0), 1));
    }
    assert_ne!(kept, 0, "the callback ran");
}

/// M175: Whatever panics, no thread waits forever: neither the one that has seen the panic nor another; and
/// sweeps find the dead as before.
#[test]
fn a_panic_of_a_pointer_completes_the_flight() {
    in_time(|| {
        let few = scaled(40, 20);
        for after in 0..scaled(20, 4) {
            let (map, values) = (WeakMap::new(), WeakValueMap::<Key, Lease>::new());
            let keys: Vec<Lease> = (0..few).map(object).collect();
            let mut panicked = 0;
            for key in &keys {
                schedule(after, || quiet_panic());
                panicked += usize::from(panics(|| _ = map.get_or_insert_with(key, |_| 1)));
                clear_actions();
                let asked = thread::scope(|scope| {
                    let ask = || map.get_or_insert_with(key, |_| 2);
                    scope.spawn(ask).join().unwrap()
                });
                assert!((1..=2).contains(&asked));
                let make = |_: &Key| key.clone();
                schedule(after, || quiet_panic());
                panicked += usize::from(panics(|| {
                    _ = values.get_or_insert_with((**key).clone(), make);
                }));
                clear_actions();
                let asked = thread::scope(|scope| {
                    let ask = || values.get_or_insert_with((**key).clone(), make);
                    scope.spawn(ask).join().unwrap()
                });
                assert!(asked.0 == key.0);
            }
            assert!(panicked > 0, "no panic at {after}");
            assert_eq!((map.len(), values.len()), (few, few));
            drop(keys);
            for number in 0..4 * few {
                map.insert(&object::<Lease>(number), 3);
                values.insert(Key(number, None), &object::<Lease>(number));
            }
            // As many as there were may be added before a sweep.
            assert!(map.len() <= 2 * few + 1, "{}", map.len());
        }
    });
}

/// M174: While one thread is about to compute a value, another removes an entry, which is destroyed on the first
/// thread; its destructor asks for the value that is about to be computed. That is no cycle.
#[test]
fn small_a_destructor_may_ask_for_a_value_not_yet_begun() {
    in_time(|| {
        let mut asked_first = 0;
        for at in 0..scaled(24, 10) {
            let map = Arc::new(WeakValueMap::<Key, Strong<Key>>::new());
            let new = |number| Strong::new(Key(number, None));
            let ask = |map: &WeakValueMap<Key, Strong<Key>>, make: fn(&Key) -> Strong<Key>| {
                map.get_or_insert_with(Key(5, None), make)
            };
            let objects: Vec<_> = (0..3).map(new).collect();
            let (ended, refused) = (Count::default(), Count::default());
            let ends: Ends = {
                let (map, ended, refused) = (Arc::downgrade(&map), ended.clone(), refused.clone());
                Arc::new(move |_| {
                    ended.add();
                    let map = map.upgrade().expect("the map is alive");
                    if panics(|| _ = ask(&map, |_| Strong::new(Key(7, None)))) {
                        refused.add();
                    }
                })
            };
            for object in &objects {
                map.insert((**object).clone(), object);
            }
            let owned = Arc::new(Owned::new(9, &ends));
            map.insert(Key(9, Some(owned)), &objects[0]);
            {
                let map = map.clone();
                schedule(at, move || {
                    let remove = move || assert!(map.remove(&Key(9, None)).is_some());
                    thread::spawn(remove).join().unwrap();
                });
            }
            let value = ask(&map, |key| Strong::new(key.clone()));
            clear_actions();
            asked_first += usize::from(value.0 == 7);
            assert_eq!(refused.get(), 0, "at callback {at}");
            assert!(
                map.get(&Key(5, None))
                    .is_some_and(|got| Strong::ptr_eq(&got, &value))
            );
            map.clear();
            assert_eq!(ended.get(), 1);
            assert!(map.is_empty());
        }
        // (The destructor's own value dies with it, and is not what the other call returns.)
        assert_eq!(asked_first, 0);
    });
}
