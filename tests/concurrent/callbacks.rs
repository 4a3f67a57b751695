//! User code that runs inside an operation of a shared collection (`Eq` of keys and of contents, and
//! `is_expired` of pointers): it panics, uses the collection, or lets another thread use it.

use std::cell::RefCell;
use std::rc::Rc;
use std::sync::Arc;
use std::thread;

use weakly::concurrent::{SharedRef, WeakHashSet, WeakMap, WeakValueMap};
use weakly::{Reclaim, Strong};

use crate::common::custom::{Custom, On, with_callback};
use crate::common::lease::Lease;
use crate::common::subject::{Life, Upkeep};
use crate::common::{in_time, panics, quiet_panic, scaled};
use crate::dynamic::*;
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

/// Runs something in which each comparison, and each question to a lease whether it is dead, is a callback.
fn with_callbacks<R>(run: impl FnOnce() -> R) -> R {
    with_callback(|_, _| callback(), run)
}

/// A collection that runs such callbacks.
trait Acts: Upkeep + Default + 'static {
    type Life: Life<Custom>;
    fn enter(&self, it: &Self::Life);
    fn leave(&self, it: &Self::Life);
    fn has(&self, it: &Self::Life) -> bool;
    /// All operations that may run one.
    fn acts() -> Vec<fn(&Self, &Self::Life)>;
}

macro_rules! acts {
    ($($collection:ty: |$this:ident, $it:ident| $enter:expr, $leave:expr, $found:expr, [$($act:expr),*];)*) => {$(
        impl<K: Life<Custom> + SharedRef<Target = Custom>> Acts for $collection {
            type Life = K;

            fn enter(&self, $it: &K) {
                let $this = self;
                _ = $enter;
            }
            fn leave(&self, $it: &K) {
                let ($this, _) = (self, $it);
                _ = $leave;
            }
            fn has(&self, $it: &K) -> bool {
                let $this = self;
                let found: Option<K> = $found;
                found.is_some_and(|found| found.is($it))
            }
            fn acts() -> Vec<fn(&Self, &K)> {
                vec![
                    Self::enter,
                    Self::leave,
                    |all, it| _ = all.has(it),
                    |all, _| _ = all.purge(),
                    |all, _| all.clear(),
                    |all, _| _ = all.iter().count(),
                    $(|$this, $it| _ = $act,)*
                ]
            }
        }
    )*};
}

fn object<L: From<Custom>>(number: usize) -> L {
    Custom::from(number).into()
}

fn copy<L: Life<Custom>>(it: &L) -> Custom {
    (**it).clone()
}

fn key<K, V>(entry: Option<(K, V)>) -> Option<K> {
    entry.map(|(key, _)| key)
}

acts! {
    WeakValueMap<Custom, K>: |map, it| map.insert(copy(it), it), map.remove(&**it), map.get(&**it), [
        map.get_or_insert_dyn(copy(it), &mut || it.clone()),
        map.compute_dyn(copy(it), &mut |_| Some(it.clone())),
        map.compute_dyn(copy(it), &mut |_| None),
        map.remove_if(&**it, |_| true),
        map.retain(|key, _| *key != **it)
    ];
    WeakMap<K, Custom>: |map, it| map.insert(it, copy(it)), map.remove(it), key(map.get_key_value(it)), [
        map.get(it),
        map.get_or_insert_dyn(it, &mut || copy(it)),
        map.compute_dyn(it, &mut |_| Some(copy(it))),
        map.compute_dyn(it, &mut |_| None),
        map.remove(&K::downgrade(it)),
        map.retain(|key, _| key.number != it.number)
    ];
    WeakHashSet<K>: |set, it| set.insert(it), set.remove(&**it), set.get(&**it), [
        set.contains(&**it),
        set.replace(it),
        set.take(&**it),
        set.retain(|key| **key != **it)
    ];
}

/// 65: In each callback an entry is removed, and in each later one, or in the same, there is a panic: the new
/// entry is present, or it is not, and nothing else is left of it.
#[test]
fn a_panic_inside_leaves_nothing_half_done() {
    panics_in_each::<WeakValueMap<Custom, Lease>>();
    panics_in_each::<WeakMap<Lease, Custom>>();
    panics_in_each::<WeakHashSet<Lease>>();
}

fn panics_in_each<S: Acts>() {
    with_callbacks(|| {
        for act in S::acts() {
            for change in 0..scaled(6, 2) {
                for panic in change..scaled(9, 4) {
                    panics_inside::<S>(act, change, panic);
                }
            }
        }
    });
}

fn panics_inside<S: Acts>(act: fn(&S, &S::Life), change: usize, panic: usize) {
    let mut all = Rc::new(S::default());
    let mut objects: Vec<S::Life> = (0..4).map(object).collect();
    objects.iter().for_each(|object| all.enter(object));
    drop(objects.pop());
    let (removed, new) = (objects[0].clone(), object::<S::Life>(0));
    {
        let all = all.clone();
        schedule(change, move || all.leave(&removed));
    }
    schedule(panic, || quiet_panic());
    panics(|| act(&all, &new));
    clear_actions();
    assert!(all.counts().0 <= 5);
    drop((objects, new));
    let all = Rc::get_mut(&mut all).expect("no action has it any more");
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0), "{change} {panic}");
    let more: Vec<S::Life> = (0..4).map(object).collect();
    more.iter().for_each(|object| all.enter(object));
    assert!(more.iter().all(|object| all.has(object)));
    assert_eq!(all.counts(), (4, 4, 0));
}

/// N185, D65: An entry is unlinked while its pointer panics instead of answering whether it is dead: since it
/// may be dead, it is kept on request.
#[test]
fn a_value_whose_is_expired_panics_is_kept() {
    let mut kept = 0;
    for at in 0..scaled(12, 4) {
        let all = WeakValueMap::<Custom, Lease>::new();
        all.set_reclaim(Reclaim::OnRequest);
        let ended = Count::default();
        let counts = ended.clone();
        let key = Custom::from(1).on(On::Drop, move |_| _ = counts.add());
        let value: Lease = object(1);
        all.insert(key, &value);
        drop(value);
        schedule(at, || quiet_panic());
        let panicked = with_callbacks(|| {
            panics(|| {
                let again: Lease = object(1);
                all.insert(copy(&again), &again);
            })
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
            let maps = (
                WeakMap::<Lease, Custom>::new(),
                WeakValueMap::<Custom, Lease>::new(),
            );
            let keys: Vec<Lease> = (0..few).map(object).collect();
            let asks: [&(dyn Fn(&Lease, usize) -> usize + Sync); 2] = [
                &|key, made| maps.0.get_or_insert_dyn(key, &mut || made.into()).number,
                &|key, _| {
                    maps.1
                        .get_or_insert_dyn(copy(key), &mut || key.clone())
                        .number
                },
            ];
            let mut panicked = 0;
            for key in &keys {
                for (ask, right) in asks.into_iter().zip([1..=2, key.number..=key.number]) {
                    schedule(after, || quiet_panic());
                    let has = with_callbacks(|| panics(|| _ = ask(key, 1)));
                    panicked += usize::from(has);
                    clear_actions();
                    let asked = thread::scope(|scope| scope.spawn(|| ask(key, 2)).join().unwrap());
                    assert!(right.contains(&asked));
                }
            }
            let (map, values) = maps;
            assert!(panicked > 0, "no panic at {after}");
            assert_eq!((map.len(), values.len()), (few, few));
            drop(keys);
            for number in 0..4 * few {
                map.insert(&object::<Lease>(number), 3.into());
                values.insert(number.into(), &object::<Lease>(number));
            }
            // As many as there were may be added before a sweep.
            assert!(map.len() <= 2 * few + 1, "{}", map.len());
        }
    });
}

/// 174, 186: While one thread is about to compute a value, another removes an entry, which is destroyed on the first
/// thread; its destructor asks for the value that is about to be computed. That is no cycle.
#[test]
fn small_a_destructor_may_ask_for_a_value_not_yet_begun() {
    in_time(|| {
        let mut asked_first = 0;
        for at in 0..scaled(24, 10) {
            let map = Arc::new(WeakValueMap::<Custom, Strong<Custom>>::new());
            let ask = |map: &WeakValueMap<Custom, Strong<Custom>>, made: usize| {
                map.get_or_insert_dyn(5.into(), &mut || object(made))
            };
            let objects: Vec<Strong<Custom>> = (0..3).map(object).collect();
            let (ended, refused) = (Count::default(), Count::default());
            let asks = {
                let (map, ended, refused) = (Arc::downgrade(&map), ended.clone(), refused.clone());
                move |_: &Custom| {
                    ended.add();
                    let map = map.upgrade().expect("the map is alive");
                    if panics(|| _ = ask(&map, 7)) {
                        refused.add();
                    }
                }
            };
            for object in &objects {
                map.insert(copy(object), object);
            }
            map.insert(Custom::from(9).on(On::Drop, asks), &objects[0]);
            {
                let map = map.clone();
                schedule(at, move || {
                    let remove = move || assert!(map.remove(&Custom::from(9)).is_some());
                    thread::spawn(remove).join().unwrap();
                });
            }
            let value = with_callbacks(|| ask(&map, 5));
            clear_actions();
            asked_first += usize::from(value.number == 7);
            assert_eq!(refused.get(), 0, "at callback {at}");
            let found = map.get(&Custom::from(5));
            assert!(found.is_some_and(|found| Strong::ptr_eq(&found, &value)));
            map.clear();
            assert_eq!(ended.get(), 1);
            assert!(map.is_empty());
        }
        // (The destructor's own value dies with it, and is not what the other call returns.)
        assert_eq!(asked_first, 0);
    });
}
