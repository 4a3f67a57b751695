//! What an object says of its entries, while another thread registers it and ends that.

use super::*;
use crate::ptr::Recipient;

/// The hashes of the entries of a collection.
fn hashes<T>(a: &Strong<Payload>, map: &Shared<T>) -> Vec<u32> {
    ObjectRef::from(a).hashes_with(Recipient::Core(map.core))
}

/// A registration of a collection, as that of a computation: there is no entry yet.
fn registered(a: &Strong<Payload>, map: &Shared, hash: u32) -> SharedWatch {
    SharedWatch::registered(a, map.core, hash).untyped()
}

/// An entry that is there all the time is found, whatever becomes of its registration.
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

/// A registration that is seen brings its own hash or a later one, and never an earlier one.
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
