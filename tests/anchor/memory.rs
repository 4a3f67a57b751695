//! What an anchor costs, counted by the allocator.

use weakly::{Anchor, WeakMap, WeakSet, concurrent, ptr};

use crate::common::heap::{allocations, bytes};
use crate::common::{Own, scaled};
use crate::for_each_flavour;

for_each_flavour!(
    an_unwatched_anchor_allocates_nothing,
    a_lookup_of_an_unwatched_anchor_allocates_nothing,
    the_first_watch_allocates_a_block,
);

fn allocations_of(act: impl FnOnce()) -> usize {
    let before = allocations();
    act();
    allocations() - before
}

fn an_unwatched_anchor_allocates_nothing<F: Own>() {
    let made = allocations_of(|| {
        for _ in 0..scaled(1000, 10) {
            let anchor = ptr::Anchor::<F>::new();
            let clone = anchor.clone();
            assert!(clone == anchor && !clone.ptr_eq(&anchor));
            drop(anchor);
        }
    });
    assert_eq!(made, 0);
}

fn a_lookup_of_an_unwatched_anchor_allocates_nothing<F: Own>() {
    let (watched, unwatched) = (ptr::Anchor::<F>::new(), ptr::Anchor::<F>::new());
    let mut map = WeakMap::from([(&watched, 1)]);
    let mut set = WeakSet::from([&watched]);
    let made = allocations_of(|| {
        assert!(!map.contains_key(&unwatched) && !set.contains(&unwatched));
        assert!(map.get(&unwatched).is_none() && map.get_mut(&unwatched).is_none());
        assert!(map.remove(&unwatched).is_none() && !set.remove(&unwatched));
    });
    assert_eq!((made, map.len()), (0, 1));
    assert_eq!(format!("{unwatched:?}"), "Anchor");
}

/// The same where threads share the collection.
#[test]
fn a_shared_lookup_of_an_unwatched_anchor_allocates_nothing() {
    let (watched, unwatched) = (Anchor::new(), Anchor::new());
    let map = concurrent::WeakMap::from_iter([(&watched, 1)]);
    assert_eq!(map.get(&watched), Some(1));
    let made = allocations_of(|| {
        assert!(map.get(&unwatched).is_none() && map.remove(&unwatched).is_none());
        assert!(!map.contains_key(&unwatched) && !map.remove_if(&unwatched, |_| true));
    });
    assert_eq!((made, map.len()), (0, 1));
    assert_eq!(format!("{unwatched:?}"), "Anchor");
}

/// 189: 24 bytes, which serve the first entry or all weak handles; a record of 56 bytes for anything more.
#[cfg(target_pointer_width = "64")]
fn the_first_watch_allocates_a_block<F: Own>() {
    let mut map = WeakMap::with_capacity(100);
    let mut other = WeakSet::with_capacity(100);
    // Their queues, and room for hooks.
    let anchor = ptr::Anchor::<F>::new();
    map.insert(&anchor, 1);
    other.insert(&anchor);
    drop(anchor);
    map.purge();
    other.purge();
    let before = bytes();
    let anchor = ptr::Anchor::<F>::new();
    assert_eq!(bytes() - before, 0);
    map.insert(&anchor, 1);
    assert_eq!(bytes() - before, 24);
    assert_eq!(map.remove(&anchor), Some(1));
    let weak = anchor.downgrade();
    assert_eq!((bytes() - before, weak.is_expired()), (24, false));
    drop((anchor, weak));
    assert_eq!(bytes() - before, 0);

    let anchor = ptr::Anchor::<F>::new();
    map.insert(&anchor, 1);
    other.insert(&anchor);
    assert_eq!(bytes() - before, 24 + 56);
    drop(anchor);
    map.purge();
    other.purge();
    assert_eq!(bytes() - before, 0);
}

#[cfg(not(target_pointer_width = "64"))]
fn the_first_watch_allocates_a_block<F: Own>() {
    let before = bytes();
    let set = WeakSet::from([&ptr::Anchor::<F>::new()]);
    drop(set);
    assert_eq!(bytes(), before);
}
