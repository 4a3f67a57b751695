//! Tests of items that only this room can see: the header, the layout and the counts.

use std::boxed::Box;
use std::process::Command;
use std::vec::Vec;
use std::{env, format, process};

use super::flavour::{Flavour, Variable};
use super::gate::MAX_BYSTANDERS;
use super::header::{Header, INLINE, MAX_STRONG, is_apart};
use super::hook::Hook;
use super::record::{MAX_REFS, MAX_REGISTERED, OWN, Record};
#[cfg(feature = "std")]
use super::stack::NoticeStack;
use super::state::{self, State};
use super::{Atomic, Local};
use crate::hash::HashValue;
use crate::queue::{DeadQueue, NoticeQueue as _};
use crate::sync::Ordering::Relaxed;
use crate::{Strong, Weak, local, ptr};

#[test]
fn the_header_is_two_words_of_64_bits() {
    assert_eq!(size_of::<Header<Atomic>>(), 16);
    assert_eq!(size_of::<Header<Local>>(), 16);
    #[cfg(not(feature = "holders"))]
    assert_eq!(size_of::<Option<Strong<u8>>>(), size_of::<usize>());
    assert_eq!(size_of::<Option<Weak<u8>>>(), size_of::<usize>());
}

/// The sizes of a record and of a hook that the README states.
#[test]
#[cfg(target_pointer_width = "64")]
fn records_and_hooks_are_small() {
    assert_eq!(size_of::<Record<Atomic>>(), 56);
    assert_eq!(size_of::<Record<Local>>(), 56);
    assert_eq!(size_of::<Hook<Atomic>>(), 32);
}

#[test]
fn the_payload_is_aligned_and_follows_its_header_or_a_pointer_to_it() {
    #[repr(align(256))]
    struct Wide(u8);
    fn check<T>(value: T) {
        let strong = Strong::new(value);
        let payload = Strong::as_ptr(&strong).addr();
        assert_eq!(payload % align_of::<T>(), 0);
        let header = core::ptr::from_ref(strong.block().header()).addr();
        let apart = is_apart(core::alloc::Layout::new::<T>());
        assert_eq!(header + size_of::<Header<Atomic>>() == payload, !apart);
        let found = strong.block().payload().as_ptr().addr();
        assert_eq!(found, payload);
    }
    check(1_u8);
    check(1_u64);
    check([0_u16; 33]);
    check(());
    check([1_u8; INLINE - 16]);
    check([1_u8; INLINE - 15]);
    check([1_u64; 1000]);
    let wide = Strong::new(Wide(3));
    assert_eq!(wide.0, 3);
    check(Wide(4));
}

/// A zero-sized object has an address of its own.
#[test]
fn zero_sized_objects_have_addresses_of_their_own() {
    let many: Vec<_> = (0..100).map(|_| Strong::new(())).collect();
    let mut addresses: Vec<_> = many.iter().map(|one| Strong::as_ptr(one).addr()).collect();
    addresses.sort_unstable();
    addresses.dedup();
    assert_eq!(addresses.len(), many.len());
    let of_a_box: Strong<dyn Send> = (Box::new(()) as Box<dyn Send>).into();
    assert!(!addresses.contains(&Strong::as_ptr(&of_a_box).cast::<()>().addr()));
}

fn state_of<T: ?Sized, F: Flavour>(strong: &ptr::Strong<T, F>) -> State<F> {
    State::decode(strong.block().header().state.load(Relaxed))
}

/// Weak pointers alone, or a first entry alone, allocate nothing.
#[test]
fn a_record_is_made_for_a_weak_pointer_beside_an_entry_only() {
    let strong = Strong::new(1);
    drop(strong.clone());
    assert!(matches!(state_of(&strong), State::None));
    let weak = Strong::downgrade(&strong);
    assert!(matches!(state_of(&strong), State::Weak(2)));
    drop(weak);
    let mut map = crate::WeakMap::new();
    map.insert(&strong, 1);
    assert!(matches!(state_of(&strong), State::Thin(_)));
    map.remove(&strong);
    assert!(matches!(state_of(&strong), State::None));
    map.insert(&strong, 1);
    let weak = Strong::downgrade(&strong);
    assert!(matches!(state_of(&strong), State::Record(_)));
    drop((weak, map));
    assert!(matches!(state_of(&strong), State::Record(_)));
}

/// A thread that alone uses an object with many entries keeps its processor, in a death and in a
/// walk over the entries. (The models have a thread that waits.)
#[test]
#[cfg(feature = "std")]
fn nobody_gives_way_to_nobody() {
    const MANY: i32 = if cfg!(miri) { 300 } else { 1_000 };
    macro_rules! check {
        ($of:ident: $map:expr) => {{
            let (keys, value): (Vec<_>, _) = ((0..MANY).map($of).collect(), $of(0));
            #[allow(unused_mut, reason = "some maps take `&self`")]
            let mut map = $map;
            keys.iter().for_each(|key| _ = map.insert(key, &value));
            assert_eq!(map.remove_value(&value), MANY as usize);
            keys.iter().for_each(|key| _ = map.insert(key, &value));
            drop(value);
            assert_eq!((map.len(), crate::sync::GAVE_WAY.get()), (0, 0));
        }};
    }
    let (shared, alone) = (Strong::<i32>::new, local::Strong::<i32>::new);
    check!(shared: crate::WeakPairMap::new());
    check!(shared: crate::concurrent::WeakPairMap::new());
    check!(alone: crate::WeakPairMap::new());
}

/// Runs the same test again in another process, where `overflow` must not return.
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
    // Neither the exit above (0) nor a failed test (101): the child was killed or aborted.
    assert!(
        !matches!(child.status.code(), Some(0 | 101)),
        "{:?}",
        child.status
    );
}

/// P1: A thread that makes a pointer to a marked object takes the mark away, and counts as usual.
#[test]
fn a_pointer_that_is_made_takes_the_mark_away() {
    let strong = Strong::new(1);
    let weak = Strong::downgrade(&strong);
    let block = strong.block();
    let make: [&dyn Fn() -> Strong<i32>; 2] = [&|| strong.clone(), &|| weak.upgrade().unwrap()];
    for make in make {
        assert!(block.mark());
        assert_eq!(
            (block.count_marked(), Strong::strong_count(&strong)),
            (1, 1)
        );
        let made = make();
        assert_eq!(
            (block.count_marked(), Strong::strong_count(&strong)),
            (2, 2)
        );
        assert_eq!(block.unmark(), None);
        drop(made);
        assert!(block.mark());
        assert_eq!((block.unmark(), block.count_marked()), (Some(1), 1));
    }
    drop(strong);
    assert!(weak.upgrade().is_none());
}

fn overflow_strong<F: Flavour>() {
    let strong = ptr::Strong::<u8, F>::new(1);
    strong.block().header().count.store((1 << 31) - 1, Relaxed);
    core::mem::forget(strong.clone());
}

fn overflow_upgrade<F: Flavour>() {
    let strong = ptr::Strong::<u8, F>::new(1);
    let weak = ptr::Strong::downgrade(&strong);
    strong.block().header().count.store(MAX_STRONG + 1, Relaxed);
    core::mem::forget(weak.upgrade());
}

fn overflow_weak<F: Flavour>() {
    let strong = ptr::Strong::<u8, F>::new(1);
    let weak = ptr::Strong::downgrade(&strong);
    strong
        .block()
        .header()
        .state
        .store(state::weak(usize::MAX >> 4), Relaxed);
    core::mem::forget(weak.clone());
}

fn overflow_record<F: Flavour>() {
    let strong = ptr::Strong::<u8, F>::new(1);
    let weak = ptr::Strong::downgrade(&strong);
    // SAFETY: a strong pointer.
    unsafe { strong.block().record().set_refs(MAX_REFS + 1) };
    core::mem::forget(weak.clone());
}

/// A count that overflows ends the process.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_strong_pointers_abort() {
    aborts("too_many_strong_pointers_abort", || {
        overflow_strong::<Atomic>();
    });
}

/// A count that overflows ends the process, in the single-threaded flavour.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_local_pointers_abort() {
    aborts("too_many_local_pointers_abort", overflow_strong::<Local>);
}

/// A count that overflows by upgrading ends the process.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_upgrades_abort() {
    aborts("too_many_upgrades_abort", overflow_upgrade::<Atomic>);
}

/// A count of weak pointers that overflows ends the process.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_weak_pointers_abort() {
    aborts("too_many_weak_pointers_abort", overflow_weak::<Atomic>);
}

fn overflow_registrations<F: Flavour>() {
    let strong = ptr::Strong::<u8, F>::new(1);
    let mut maps = Vec::from([(); 2].map(|()| crate::WeakSet::from([&strong])));
    // SAFETY: a strong pointer.
    unsafe { strong.block().record().set_registered(MAX_REGISTERED) };
    maps[0].clear();
    maps[0].insert(&strong);
    maps.push(crate::WeakSet::from([&strong]));
    core::mem::forget(maps);
}

/// A count of entries that overflows ends the process.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_entries_of_an_object_abort() {
    aborts(
        "too_many_entries_of_an_object_abort",
        overflow_registrations::<Atomic>,
    );
}

/// Too many tokens of finalizers do not abort, and allow no unique access. The drop of an uncounted
/// token is not missed.
#[test]
fn tokens_past_the_largest_number_look_like_weak_pointers() {
    let mut strong = Strong::new(1);
    let token = Strong::finalize(&strong, || {});
    // SAFETY: a strong pointer.
    let record = unsafe { strong.block().record() };
    let count = |strong: &mut Strong<_>| {
        (
            Strong::weak_count(strong),
            Strong::get_mut(strong).is_some(),
        )
    };
    assert_eq!(count(&mut strong), (0, true));
    record.lock().unwrap().set_bystanders(MAX_BYSTANDERS);
    record.set_refs(OWN + MAX_BYSTANDERS);
    assert_eq!(count(&mut strong), (0, true));
    let another = Strong::finalize(&strong, || {});
    assert_eq!(count(&mut strong), (1, false));
    drop(another);
    assert_eq!(count(&mut strong), (1, false));
    record.lock().unwrap().set_bystanders(0);
    record.set_refs(OWN + 1);
    drop(token);
    assert_eq!(count(&mut strong), (0, true));
}

/// A count of references that overflows ends the process, by weak pointers to an object with a
/// record.
#[test]
#[cfg_attr(miri, ignore = "starts processes")]
fn too_many_references_to_a_record_abort() {
    aborts(
        "too_many_references_to_a_record_abort",
        overflow_record::<Atomic>,
    );
}

/// 2^32 weak pointers are possible where a word has 64 bits.
#[test]
#[cfg(target_pointer_width = "64")]
fn four_billion_weak_pointers_are_possible() {
    let strong = local::Strong::new(1);
    let weak = local::Strong::downgrade(&strong);
    let state = &strong.block().header().state;
    Variable::store(state, state::weak((1 << 32) + 2), Relaxed);
    let one_more = weak.clone();
    assert_eq!(local::Strong::weak_count(&strong), (1 << 32) + 2);
    drop(one_more);
    Variable::store(state, state::weak(2), Relaxed);
    assert_eq!(local::Strong::weak_count(&strong), 1);
}

/// All weak pointers that never had an object are equal to each other, and to no other weak
/// pointer.
#[test]
fn weak_pointers_without_an_object() {
    let none = Weak::<u8>::new();
    assert!(none == Weak::default());
    assert!(none.is_expired() && none.upgrade().is_none());
    assert!(none != Strong::downgrade(&Strong::new(1)));
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
}

/// The allocation of a collection of one owner for its notices, hooks and waker, without the hooks
/// themselves.
#[test]
#[cfg(all(target_pointer_width = "64", feature = "std"))]
fn the_stack_of_a_collection_fits_into_a_cache_line() {
    assert_eq!(size_of::<NoticeStack<Atomic>>(), 64);
    assert_eq!(size_of::<NoticeStack<Local>>(), 64);
}

/// An object reports the collection and the hash of each of its entries, in whatever way the entry
/// is registered.
#[test]
fn an_object_knows_the_hashes_of_its_entries() {
    fn check<F: Flavour>(object: &ptr::Strong<u8, F>) {
        let (mut one, mut other) = (DeadQueue::<F>::NONE, DeadQueue::<F>::NONE);
        let hash = |n: u32| HashValue::of_short(n << 1);
        let of = |queue: &DeadQueue<F>| -> Vec<u32> {
            let hashes = queue.cookies_of(object);
            hashes.iter().map(|hash| hash.short() >> 1).collect()
        };
        assert!(of(&one).is_empty());
        let mut watches = Vec::new();
        // The block, the record's first and second, and hooks: each time of another collection.
        for n in (1..=9).rev() {
            let queue = if n % 2 == 0 { &mut one } else { &mut other };
            watches.push(queue.watch(object, hash(n)));
            let from = |first: u32| (first..=9).filter(move |n| n % 2 == first % 2);
            let (even, odd) = (n + n % 2, n + (n + 1) % 2);
            assert_eq!(of(&one), Vec::from_iter(from(even)));
            assert_eq!(of(&other), Vec::from_iter(from(odd)));
        }
        // Two entries with the same hash.
        watches.push(one.watch(object, hash(4)));
        assert_eq!(of(&one), [2, 4, 6, 8]);
        for (n, watch) in (1..=9).rev().zip(&mut watches) {
            let queue = if n % 2 == 0 { &mut one } else { &mut other };
            queue.end(watch);
        }
        assert_eq!(of(&one), [4]);
        assert!(of(&other).is_empty());
        one.end(&mut watches[9]);
        assert!(of(&one).is_empty());
    }
    check(&Strong::new(1));
    check(&local::Strong::new(1));
    // The record exists before the entries.
    let object = Strong::new(1);
    let _weak = [Strong::downgrade(&object), Strong::downgrade(&object)];
    drop(Strong::finalize(&object, || {}));
    check(&object);
}

/// There are more registrations than a thread reads before other threads get their turn; also, the
/// parts end at different places.
#[test]
fn a_long_list_of_entries_is_read_in_parts() {
    fn check<F: Flavour>(object: &ptr::Strong<u8, F>) {
        let (mut one, mut other) = (DeadQueue::<F>::NONE, DeadQueue::<F>::NONE);
        let counts = [259, 258, 515].into_iter();
        for many in counts.take(if cfg!(miri) { 1 } else { 3 }) {
            let watch = |n: u32| {
                let queue = if n % 3 == 0 { &mut one } else { &mut other };
                queue.watch(object, HashValue::of_short(n << 1))
            };
            let mut watches: Vec<_> = (0..many).map(watch).collect();
            let hashes = one.cookies_of(object);
            assert!(
                hashes
                    .iter()
                    .map(|hash| hash.short() >> 1)
                    .eq((0..many).step_by(3))
            );
            let others = other.cookies_of(object).len();
            assert_eq!(hashes.len() + others, many as usize);
            for (n, watch) in watches.iter_mut().enumerate() {
                let queue = if n % 3 == 0 { &mut one } else { &mut other };
                queue.end(watch);
            }
            assert!(one.cookies_of(object).is_empty() && other.cookies_of(object).is_empty());
        }
    }
    check(&Strong::new(1));
    check(&local::Strong::new(1));
}
