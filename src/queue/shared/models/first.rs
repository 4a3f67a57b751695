//! The first registration of an object, which brings its record into the world, against what else a strong pointer
//! or a reader may do at that moment.

use super::*;
use crate::Weak;
use crate::ptr::models::Map as Single;

/// A map with one place, for a key that has no record: its registration is part of the model. The other thread may
/// have the last pointer.
fn check_first(act: impl Fn(Strong<Payload>) + Send + Sync + Copy + 'static) {
    check(1, move |maker| {
        let key = maker.object();
        let clone = key.clone();
        let other = thread::spawn(move || act(clone));
        let map = Map::of([&key]);
        drop(key);
        other.join().unwrap();
        assert_eq!(map.drain(true), 1);
        assert!(map.is_spent());
    });
}

/// Two threads register the same object at once: one makes the record, and each gets its notice.
#[test]
fn two_first_registrations() {
    check_first(|key| {
        let map = Map::of([&key]);
        assert!(map.remove(&map.queue));
    });
}

#[test]
fn against_a_weak_pointer() {
    check_first(|key| {
        let weak = Strong::downgrade(&key);
        assert!(weak.upgrade().is_some());
    });
}

/// The last weak pointer goes meanwhile.
#[test]
fn against_the_end_of_a_weak_pointer() {
    check(1, |maker| {
        let key = maker.object();
        let weak: Weak<Payload> = Strong::downgrade(&key);
        let other = thread::spawn(move || drop(weak));
        let map = Map::of([&key]);
        other.join().unwrap();
        drop(key);
        assert_eq!(map.drain(true), 1);
        assert!(map.is_spent());
    });
}

/// A pointer that is not the only one is told so.
#[test]
fn against_get_mut() {
    check_first(|mut key| _ = Strong::get_mut(&mut key));
}

/// A death finds what was registered. (Nothing but the counts orders the registration before it.)
#[test]
fn against_a_death() {
    check_first(drop);
}

/// The owner of another map has had it under another hash, and has removed it: that hash is overwritten.
#[test]
fn after_an_entry_of_one_owner() {
    check_first(|key| {
        let mut single = Single::of(&[&key]);
        assert!(single.remove(0));
    });
}

/// The hash comes with the notice on a thread that has synchronised with nothing but the push.
#[test]
fn the_drainer_reads_the_hash() {
    check(1, |maker| {
        let key = maker.object();
        let map = Map::of([&key]);
        let drainer = drainer(&map, false);
        drop(key);
        let reclaimed = drainer.join().unwrap();
        assert_eq!(reclaimed + map.drain(true), 1);
    });
}
