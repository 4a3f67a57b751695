//! What an anchor costs, counted by the allocator.

use weakly::{WeakMap, WeakSet, ptr};

use crate::common::Own;
use crate::common::heap::{allocations, bytes};
use crate::for_each_flavour;

for_each_flavour!(
    a_lookup_of_an_unwatched_anchor_allocates_nothing,
    the_first_watch_allocates_a_block,
    zeros_are_an_unwatched_anchor,
);

fn allocations_of(act: impl FnOnce()) -> usize {
    let before = allocations();
    act();
    allocations() - before
}

fn a_lookup_of_an_unwatched_anchor_allocates_nothing<F: Own>() {
    let (watched, unwatched) = (ptr::Anchor::<F>::new(), ptr::Anchor::<F>::new());
    let mut map = WeakMap::from([(&watched, 1_usize)]);
    let mut set = WeakSet::from([&watched]);
    let made = allocations_of(|| {
        assert!(!map.contains_key(&unwatched) && !set.contains(&unwatched));
        assert!(map.get(&unwatched).is_none() && map.get_mut(&unwatched).is_none());
        assert!(map.remove(&unwatched).is_none() && !set.remove(&unwatched));
    });
    assert_eq!((made, map.len()), (0, 1));
    assert_eq!(format!("{unwatched:?}"), "Anchor");
}

/// 361: C can lay an anchor out, and allocate it by `calloc`.
#[allow(unsafe_code)]
fn zeros_are_an_unwatched_anchor<F: Own>() {
    use std::mem::{ManuallyDrop, MaybeUninit, align_of, size_of};

    #[repr(C)]
    struct InC<F: ptr::Flavour>(u8, ManuallyDrop<ptr::Anchor<F>>, u8);

    let word = size_of::<*mut ()>();
    assert_eq!(size_of::<ptr::Anchor<F>>(), word);
    assert_eq!(align_of::<ptr::Anchor<F>>(), align_of::<*mut ()>());
    assert_eq!(size_of::<InC<F>>(), 3 * word);
    // SAFETY: what the layout of an anchor promises.
    let mut one: InC<F> = unsafe { MaybeUninit::zeroed().assume_init() };
    let mut map = WeakMap::<_, usize>::new();
    assert_eq!(map.get(&*one.1), None);
    let made = allocations_of(|| drop(ManuallyDrop::into_inner(one.1)));
    assert_eq!(made, 0, "nobody has watched it");
    // SAFETY: likewise.
    one = unsafe { MaybeUninit::zeroed().assume_init() };
    map.insert(&*one.1, 1);
    // C moves it as a word.
    let mut moved = MaybeUninit::<InC<F>>::uninit();
    // SAFETY: `one` is forgotten, as a moved value.
    unsafe { core::ptr::copy_nonoverlapping(&raw const one, moved.as_mut_ptr(), 1) };
    // SAFETY: copied there.
    let mut moved = unsafe { moved.assume_init() };
    assert_eq!((map.get(&*moved.1), moved.0, moved.2), (Some(&1), 0, 0));
    // SAFETY: it is not used afterwards.
    unsafe { ManuallyDrop::drop(&mut moved.1) };
    assert!(map.is_empty());
}

/// 189: 24 bytes, which serve the first entry or all weak handles; a record of 56 bytes for anything more.
#[cfg(target_pointer_width = "64")]
fn the_first_watch_allocates_a_block<F: Own>() {
    let mut map = WeakMap::<_, usize>::with_capacity(100);
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
