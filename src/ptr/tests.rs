//! What only this room can see: the header, the layout, and the counts.

use std::boxed::Box;
use std::process::Command;
use std::vec::Vec;
use std::{env, format, process};

use super::count::max_handles;
use super::flavour::{Flavour, Word};
use super::header::Header;
use super::hook::Hook;
use super::side::{MAX_COUNT, Side};
use super::{Atomic, Handle, Local};
use crate::sync::Ordering::Relaxed;
use crate::{Strong, Weak, local};

#[test]
fn the_header_is_two_words() {
    assert_eq!(size_of::<Header<Atomic>>(), 2 * size_of::<usize>());
    assert_eq!(size_of::<Header<Local>>(), 2 * size_of::<usize>());
    assert_eq!(size_of::<Option<Strong<u8>>>(), size_of::<usize>());
}

/// What the README says of the size of a record.
#[test]
#[cfg(target_pointer_width = "64")]
fn the_record_of_a_watched_object_is_small() {
    assert_eq!(size_of::<Side<Atomic>>(), 112);
    assert_eq!(size_of::<Hook<Atomic>>(), 56);
}

#[test]
fn the_payload_is_aligned_and_the_header_right_before_it() {
    #[repr(align(256))]
    struct Wide(u8);
    fn check<T>(value: T) {
        let strong = Strong::new(value);
        let payload = Handle::as_ptr(&strong).addr();
        assert_eq!(payload % align_of::<T>(), 0);
        let header: *const _ = strong.header();
        assert_eq!(header.addr() + size_of::<Header<Atomic>>(), payload);
    }
    check(1_u8);
    check(1_u64);
    check([0_u16; 33]);
    check(());
    let wide = Strong::new(Wide(3));
    assert_eq!(wide.0, 3);
    check(Wide(4));
}

/// 24: an object without a size has an address that is nobody else's.
#[test]
fn objects_without_size_have_addresses_of_their_own() {
    let many: Vec<_> = (0..100).map(|_| Strong::new(())).collect();
    let mut addresses: Vec<_> = many.iter().map(|one| Handle::as_ptr(one).addr()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), many.len());
    let nobody: Strong<dyn Send> = (Box::new(()) as Box<dyn Send>).into();
    assert!(!addresses.contains(&Handle::as_ptr(&nobody).cast::<()>().addr()));
}

#[test]
fn an_object_that_nobody_watches_has_no_record() {
    let strong = Strong::new(1);
    drop(strong.clone());
    assert!(strong.header().side.load(Relaxed).is_null());
    drop(Strong::downgrade(&strong));
    assert!(!strong.header().side.load(Relaxed).is_null());
}

/// Runs this very test again in another process, where `overflow` must not return.
fn aborts(test: &str, overflow: impl FnOnce()) {
    const CHILD: &str = "WEAKLY_TEST_OVERFLOW";
    if env::var_os(CHILD).is_some() {
        overflow();
        process::exit(0);
    }
    let child = Command::new(env::current_exe().unwrap())
        .args(["--exact", &format!("ptr::tests::{test}"), "--nocapture"])
        .env(CHILD, "1")
        .output()
        .unwrap();
    // Neither the exit above (0) nor a failed test (101): killed, or aborted.
    assert!(
        !matches!(child.status.code(), Some(0 | 101)),
        "{:?}",
        child.status
    );
}

fn overflow_strong<F: Flavour>() {
    let strong = Handle::<u8, F>::new(1);
    strong.header().count.store(max_handles::<F>() + 1, Relaxed);
    core::mem::forget(strong.clone());
}

fn overflow_upgrade<F: Flavour>() {
    let strong = Handle::<u8, F>::new(1);
    let weak = Handle::downgrade(&strong);
    strong.header().count.store(max_handles::<F>() + 1, Relaxed);
    core::mem::forget(weak.upgrade());
}

fn overflow_weak<F: Flavour>() {
    let strong = Handle::<u8, F>::new(1);
    let weak = Handle::downgrade(&strong);
    // SAFETY: the object is alive, and so is its record.
    unsafe { strong.side().unwrap().as_ref() }.set_refs(MAX_COUNT + 1);
    core::mem::forget(weak.clone());
}

/// 125: a count that overflows ends the process.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_strong_handles_abort() {
    aborts("too_many_strong_handles_abort", || {
        overflow_strong::<Atomic>();
    });
}

/// 125, in the flavour of one thread.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_local_handles_abort() {
    aborts("too_many_local_handles_abort", overflow_strong::<Local>);
}

/// 125, by upgrading.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_upgrades_abort() {
    aborts("too_many_upgrades_abort", overflow_upgrade::<Atomic>);
}

/// 125, for those who hold on weakly.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_weak_handles_abort() {
    aborts("too_many_weak_handles_abort", overflow_weak::<Atomic>);
}

/// 125: 2^32 weak handles are nothing special where a word has 64 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn four_billion_weak_handles_are_possible() {
    let strong = local::Strong::new(1);
    let weak = local::Strong::downgrade(&strong);
    // SAFETY: the object is alive, and so is its record.
    let side = unsafe { strong.side().unwrap().as_ref() };
    side.set_refs((1 << 32) + 2);
    let one_more = weak.clone();
    assert_eq!(local::Strong::weak_count(&strong), (1 << 32) + 2);
    drop(one_more);
    side.set_refs(2);
    assert_eq!(local::Strong::weak_count(&strong), 1);
}

/// 30, 31: all handles that never had an object are the same, and nobody's.
#[test]
fn handles_without_an_object() {
    let none = Weak::<u8>::new();
    assert!(none == Weak::default());
    assert!(none.is_expired() && none.upgrade().is_none());
    assert!(none != Strong::downgrade(&Strong::new(1)));
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
}
