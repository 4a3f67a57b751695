//! The entries that an object reports, while another thread registers with the object and ends the
//! registration.

use super::*;
use crate::ptr::Recipient;
use crate::sync::GAVE_WAY;

/// Returns the hashes of the entries of a collection.
fn hashes<T>(a: &Strong<Payload>, map: &Shared<T>) -> Vec<u32> {
    ObjectRef::from(a).hashes_with(Recipient::Core(map.core))
}

/// Registers with a collection as a computation does: there is no entry yet.
fn registered(a: &Strong<Payload>, map: &Shared, hash: u32) -> SharedWatch {
    SharedWatch::registered(a, map.core.count(), hash).untyped()
}

/// An entry that is present all the time is found, whatever becomes of other registrations.
#[test]
fn an_entry_against_those_of_another_collection() {
    for beside in EACH {
        check(1, move |maker| {
            let (a, _beside) = beside.object(maker);
            let map = Shared::of(&[&a]);
            let b = a.clone();
            both(
                move || {
                    let mut other = Map::of(&[&b]);
                    other.remove(0);
                    other.put(&b);
                    drop((other, b));
                },
                || assert_eq!(hashes(&a, &map), [HASH]),
            );
            drop(a);
            assert_eq!(map.drain(), 1);
        });
    }
}

/// A registration that is seen brings its own hash or a later hash, and never an earlier hash.
#[test]
fn a_hash_comes_with_its_registration() {
    for beside in EACH {
        check(1, move |maker| {
            let (a, _beside) = beside.object(maker);
            drop(Map::of(&[&a]));
            let map = Shared::<Payload>::new();
            let (b, there) = (a.clone(), map.lend());
            both(
                move || {
                    drop(registered(&b, there, 8));
                    drop(registered(&b, there, 16));
                    drop(b);
                },
                || {
                    let found = hashes(&a, &map);
                    assert!(matches!(found[..], [] | [8] | [16]), "{found:?}");
                },
            );
            assert!(hashes(&a, &map).is_empty());
        });
    }
}

/// An object with four entries: the first two are in the record, and the others have hooks. The
/// reader finds an entry that is present all the time, although another thread ends the neighbours
/// of the place where the reader goes on.
#[test]
fn a_list_that_changes_while_it_is_read() {
    for neighbour_is_newer in [true, false] {
        check_some(1, move |maker| {
            let (a, other) = (maker.object(), Shared::new());
            let _first = Map::of(&[&a, &a]);
            let neighbour =
                |newer| (newer == neighbour_is_newer).then(|| registered(&a, &other, 8));
            let older = neighbour(false);
            let map = Shared::of(&[&a]);
            let newer = neighbour(true);
            let (b, there) = (a.clone(), other.lend());
            both(
                move || {
                    drop((older, newer));
                    drop(registered(&b, there, 16));
                    drop(b);
                },
                || assert_eq!(hashes(&a, &map), [HASH]),
            );
            drop(a);
            assert_eq!(map.drain(), 1);
        });
    }
}

#[test]
fn two_read_a_list() {
    check_some(1, |maker| {
        let a = maker.object();
        let _others = Map::of(&[&a, &a, &a]);
        let map = Shared::of(&[&a]);
        let (b, there) = (a.clone(), map.lend());
        both(
            move || assert_eq!(hashes(&b, there), [HASH]),
            || assert_eq!(hashes(&a, &map), [HASH]),
        );
        drop(a);
        assert_eq!(map.drain(), 1);
    });
}

/// The thread with the gate gives way only if another thread has marked the gate, and no mark
/// outlasts the lock.
#[test]
fn only_a_gate_with_a_waiter_gives_way() {
    let before = GAVE_WAY.get();
    check_some(1, |maker| {
        let a = maker.object();
        let _others = Map::of(&[&a, &a, &a]);
        let map = Shared::of(&[&a]);
        let (b, there) = (a.clone(), map.lend());
        both(
            move || {
                drop(registered(&b, there, 16));
                drop(b);
            },
            || hashes(&a, &map),
        );
        let alone = GAVE_WAY.get();
        hashes(&a, &map);
        assert_eq!(GAVE_WAY.get(), alone, "nobody waits");
        drop(a);
        assert_eq!(map.drain(), 1);
    });
    assert_ne!(GAVE_WAY.get(), before, "a thread has waited");
}

#[test]
fn a_death_gives_way_to_a_waiter() {
    let before = GAVE_WAY.get();
    check_some(1, |maker| {
        let a = maker.object();
        let _maps = Map::of(&[&a, &a, &a]);
        let map = Shared::of(&[&a]);
        let weak = Strong::downgrade(&a);
        both(move || Weak::weak_count(&weak), || drop(a));
        assert_eq!(map.drain(), 1);
    });
    assert_ne!(GAVE_WAY.get(), before, "a thread has waited");
}
