//! Guards and iterators that are forgotten while keys live; then the keys die.

use std::sync::Mutex;
use std::sync::atomic::AtomicPtr;

use crate::common::{Counter, Kind, Witness, new, scaled};
use crate::for_each_kind;
use weakly::{WeakMap, WeakSet, weak_map};

const MANY: usize = scaled(100, 20);

type Map<P> = WeakMap<<P as Kind>::Strong<usize>, Witness>;

/// `mem::forget`, but into a hoard that can be reached, so that a search for leaks finds only others.
fn forget<T>(value: T) {
    static HOARD: Mutex<Vec<AtomicPtr<()>>> = Mutex::new(Vec::new());
    let memory = Box::into_raw(Box::new(value)).cast();
    HOARD.lock().unwrap().push(AtomicPtr::new(memory));
}

/// A map, half of whose keys are dead, is given to `hostile`; then all the keys die, and the map must
/// count right and be usable.
fn survives<P: Kind>(hostile: impl FnOnce(&mut Map<P>)) {
    let counter = Counter::default();
    let mut keys: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
    let mut map: Map<P> = keys.iter().map(|key| (key, counter.witness())).collect();
    keys.truncate(MANY / 2);
    hostile(&mut map);
    assert!(map.len_live() <= MANY / 2);
    drop(keys);
    assert_eq!(map.len_live(), 0);
    let others: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
    for other in &others {
        assert!(map.insert(other, counter.witness()).is_none());
    }
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (MANY, MANY, 0)
    );
    drop(others);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

fn drain<P: Kind>() {
    survives::<P>(|map| forget(map.drain()));
    survives::<P>(|map| {
        let mut drain = map.drain();
        forget(drain.next());
        forget(drain);
    });
}

fn extract_if<P: Kind>() {
    survives::<P>(|map| forget(map.extract_if(|_, _| true)));
    survives::<P>(|map| {
        let mut out = map.extract_if(|_, _| true);
        drop((out.next(), out.next()));
        forget(out);
    });
}

fn drain_dead<P: Kind>() {
    survives::<P>(|map| forget(map.drain_dead()));
    survives::<P>(|map| {
        let mut dead = map.drain_dead();
        drop((dead.next(), dead.next()));
        forget(dead);
    });
}

fn borrowing_iterators<P: Kind>() {
    survives::<P>(|map| {
        let mut iter = map.iter();
        iter.next();
        forget(iter);
        forget((map.keys(), map.values(), map.weak_keys()));
        forget(map.iter_mut());
        forget(map.values_mut());
    });
}

fn entries<P: Kind>() {
    survives::<P>(|map| {
        let (old, key) = (map.keys().next().unwrap(), new::<P, usize>(7));
        match map.entry(&key) {
            weak_map::Entry::Vacant(entry) => forget(entry),
            weak_map::Entry::Occupied(_) => panic!("it is new"),
        }
        forget(map.entry(&old));
        forget(map.try_insert(&old, Counter::default().witness()));
        forget(map.entry(&key).insert_entry(Counter::default().witness()));
        assert!(map.contains_key(&key));
        drop(key);
        assert!(map.contains_key(&old));
    });
}

/// The map itself is lost too.
fn into_iter<P: Kind>() {
    let counter = Counter::default();
    let keys: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
    let map = || -> Map<P> { keys.iter().map(|key| (key, counter.witness())).collect() };
    forget(map());
    forget(map().into_iter());
    forget(map().into_keys());
    let mut values = map().into_values();
    values.next();
    forget(values);
    let set: WeakSet<_> = keys.iter().collect();
    forget(set.into_iter());
    drop(keys);
    assert_eq!(counter.get(), 1);
}

for_each_kind!(
    drain,
    extract_if,
    drain_dead,
    borrowing_iterators,
    entries,
    into_iter
);
