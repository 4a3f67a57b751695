//! I. Pointers (items 120–130), for both flavours of this crate's own.
//!
//! 123 (an upgrade races with the last drop) is a loom model, beside the code; here it runs on real threads. 125
//! (overflow of a count) takes 2^63 handles, or access to the internals: it is a unit test. 130 (objects on the
//! stack or in a `static` as keys) does not compile: only a strong handle can be inserted (see
//! `src/compile_fail`); looking one up is harmless.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::error::Error;
use std::fmt::Debug;
use std::rc::Rc;
use std::thread;

use weakly::{Strong, WeakMap, ptr, unsize};

use crate::common::{Counter, OnDrop, Own, sized};
use crate::{for_each_flavour, heap};

for_each_flavour!(
    counts_follow_the_handles,
    a_dead_object_is_never_brought_back,
    memory_is_freed_at_the_last_strong_handle,
    a_unique_owner_drops_once_watched_or_not,
    handles_compare_by_payload_and_weak_ones_by_identity,
    a_handle_without_an_object_is_expired,
    coercion_keeps_identity_and_counts,
    a_weak_handle_is_coerced_alive_dead_or_empty,
    a_weak_handle_of_a_dying_object_is_dead,
    get_mut_refuses_while_it_is_watched,
    try_unwrap_ends_the_object_for_its_watchers,
    make_mut_leaves_watchers_behind,
    an_object_that_is_no_key_is_only_not_found,
    handles_are_made_from_what_arcs_are,
);

/// I120: The counts after new, clone, move, drop, downgrade, upgrade, into_raw and from_raw.
fn counts_follow_the_handles<F: Own>() {
    let counts = |handle: &ptr::Strong<usize, F>| {
        (
            ptr::Strong::strong_count(handle),
            ptr::Strong::weak_count(handle),
        )
    };
    let a = ptr::Strong::<usize, F>::new(5);
    assert_eq!(counts(&a), (1, 0));
    let b = a.clone();
    assert_eq!(counts(&a), (2, 0));
    let moved = b;
    assert_eq!(counts(&moved), (2, 0));
    let weak = ptr::Strong::downgrade(&a);
    let another = weak.clone();
    assert_eq!(
        (counts(&a), weak.strong_count(), weak.weak_count()),
        ((2, 2), 2, 2)
    );
    let upgraded = another.upgrade().unwrap();
    assert_eq!(counts(&a), (3, 2));
    drop((upgraded, another));
    assert_eq!(counts(&a), (2, 1));
    let raw = ptr::Strong::into_raw(moved);
    assert_eq!((counts(&a), raw), ((2, 1), ptr::Strong::as_ptr(&a)));
    // SAFETY: from `into_raw`, once.
    #[allow(unsafe_code)]
    drop(unsafe { ptr::Strong::<usize, F>::from_raw(raw) });
    assert_eq!(counts(&a), (1, 1));
    let map = WeakMap::from([(&a, 1_usize)]);
    assert_eq!(counts(&a), (1, 2));
    drop((map, weak));
    assert_eq!(counts(&a), (1, 0));
}

/// I121: An upgrade gives a strong handle while the object lives, and none afterwards; nothing revives it.
fn a_dead_object_is_never_brought_back<F: Own>() {
    let object = ptr::Strong::<usize, F>::new(5);
    let weak = ptr::Strong::downgrade(&object);
    let upgraded = weak.upgrade().unwrap();
    assert!(ptr::Strong::ptr_eq(&upgraded, &object));
    drop(object);
    assert_eq!((*upgraded, weak.strong_count()), (5, 1));
    drop(upgraded);
    for _ in 0..3 {
        assert!(weak.upgrade().is_none() && weak.is_expired());
    }
    assert_eq!((weak.strong_count(), weak.weak_count()), (0, 0));
    assert!(weak.clone().upgrade().is_none());
}

/// I122: The payload is dropped, and its memory, which is large, freed, with the last strong handle, whatever
/// watches it; block and record are freed with the last watch; without any, all is freed at once.
fn memory_is_freed_at_the_last_strong_handle<F: Own>() {
    let counter = Counter::default();
    let base = heap::bytes();
    drop(ptr::Strong::<_, F>::new([0u8; 4096]));
    assert_eq!(heap::bytes(), base);
    let object = ptr::Strong::<_, F>::new((counter.witness(), [0u8; 4096]));
    let weak = ptr::Strong::downgrade(&object);
    let map = WeakMap::from([(&object, 1_usize)]);
    assert!(heap::bytes() - base > 4096);
    drop(object);
    assert_eq!(counter.get(), 1);
    assert!(heap::bytes() - base < 2048, "the payload's memory is free");
    drop((weak, map));
    assert_eq!(heap::bytes(), base);
}

/// I123: An upgrade races with the last drop on another thread: a working handle, or none.
#[test]
fn an_upgrade_racing_the_last_drop_gets_a_valid_handle_or_none() {
    for _ in 0..sized(2_000, 400, 20) {
        let object = Strong::new(vec![7]);
        let weak = Strong::downgrade(&object);
        thread::scope(|scope| {
            scope.spawn(move || drop(object));
            while let Some(strong) = weak.upgrade() {
                assert_eq!(*strong, [7]);
            }
        });
        assert!(weak.upgrade().is_none());
    }
}

/// I124: The only owner drops the payload once, with a past weak handle, a present one, or none.
fn a_unique_owner_drops_once_watched_or_not<F: Own>() {
    for watch in [
        |_| None,
        |object| Some(ptr::Strong::downgrade(object)),
        |object| {
            drop(ptr::Strong::downgrade(object));
            None
        },
    ] as [fn(&ptr::Strong<OnDrop, F>) -> Option<ptr::Weak<OnDrop, F>>; 3]
    {
        let counter = Counter::default();
        let object = ptr::Strong::<_, F>::new(counter.witness());
        let weak = watch(&object);
        assert_eq!(counter.get(), 0);
        drop(object);
        assert_eq!(counter.get(), 1);
        drop(weak);
        assert_eq!(counter.get(), 1);
    }
}

/// I126: Strong handles compare and hash by payload, or by `ptr_eq`; weak ones by identity, of which
/// `as_ptr` is the address.
fn handles_compare_by_payload_and_weak_ones_by_identity<F: Own>() {
    let [a, b, c] = [5, 5, 6].map(ptr::Strong::<usize, F>::new);
    assert!(a == b && a < c && !ptr::Strong::ptr_eq(&a, &b) && ptr::Strong::ptr_eq(&a, &a.clone()));
    assert_eq!(HashSet::from([a.clone(), b.clone(), c]).len(), 2);
    let (weak, other) = (ptr::Strong::downgrade(&a), ptr::Strong::downgrade(&b));
    let same = ptr::Strong::downgrade(&a);
    assert!(weak != other && weak == same && !weak.ptr_eq(&other) && weak.ptr_eq(&same));
    assert_eq!(weak.as_ptr(), ptr::Strong::as_ptr(&a));
    assert_eq!(HashSet::from([weak.clone(), weak, other]).len(), 2);
}

/// I126: A weak handle that never had an object is expired, finds nothing, and equals others like it.
fn a_handle_without_an_object_is_expired<F: Own>() {
    let none = ptr::Weak::<usize, F>::new();
    let object = ptr::Strong::<usize, F>::new(5);
    assert!(none.is_expired() && none.upgrade().is_none() && none.clone() == ptr::Weak::default());
    assert!(none != ptr::Strong::downgrade(&object));
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
    assert_eq!(WeakMap::from([(&object, 1_usize)]).get(&none), None);
}

/// I127: A coerced handle is to the same object: same address, same counts, same weak handles, same destructor.
fn coercion_keeps_identity_and_counts<F: Own>() {
    let counter = Counter::default();
    drop(unsize!(ptr::Strong::<_, F>::new([counter.witness()]) => [OnDrop]));
    assert_eq!(counter.get(), 1);

    let array = ptr::Strong::<_, F>::new([1, 2, 3]);
    let slice = unsize!(array.clone() => [usize]);
    let debug = unsize!(array.clone() => dyn Debug);
    assert_eq!(
        (&*slice, format!("{debug:?}")),
        (&[1, 2, 3][..], "[1, 2, 3]".into())
    );
    assert_eq!(ptr::Strong::strong_count(&array), 3);
    assert_eq!(
        ptr::Strong::as_ptr(&slice).cast(),
        ptr::Strong::as_ptr(&array)
    );
    let weak = ptr::Strong::downgrade(&slice);
    drop((array, slice));
    assert!(weak.upgrade().is_some_and(|slice| slice.len() == 3));
    drop(debug);
    assert!(weak.is_expired());
}

/// I127: A coerced weak handle is the same share in the same object, wherever the payload is: while it lives, when it
/// is dead, and where there never was one.
fn a_weak_handle_is_coerced_alive_dead_or_empty<F: Own>() {
    #[repr(align(64))]
    #[derive(Debug)]
    struct Aligned(#[allow(dead_code, reason = "it is shown")] u8);

    fn check<T: Debug, F: Own>(value: T) {
        let base = heap::bytes();
        let object = ptr::Strong::<_, F>::new(value);
        let weak = unsize!(ptr::Strong::downgrade(&object) => dyn Debug);
        assert_eq!(ptr::Strong::weak_count(&object), 1);
        assert_eq!(weak.as_ptr().cast(), ptr::Strong::as_ptr(&object));
        let shown = weak.upgrade().unwrap();
        assert!(ptr::Strong::ptr_eq(
            &shown,
            &unsize!(object.clone() => dyn Debug)
        ));
        assert_eq!(format!("{shown:?}"), format!("{object:?}"));
        drop(shown);

        let late = ptr::Strong::downgrade(&object);
        let map = WeakMap::from([(&object, 1_usize)]);
        drop(object);
        let late = unsize!(late => dyn Debug);
        assert!(late.is_expired() && late.upgrade().is_none());
        assert!(late == weak && late == late.clone());
        drop((late, weak, map));
        assert_eq!(heap::bytes(), base);
    }
    check::<_, F>(());
    check::<_, F>(7_u8);
    check::<_, F>(Aligned(7));
    check::<_, F>([7_u64; 40]);

    let array = ptr::Strong::<_, F>::new([1, 2, 3]);
    let slice = unsize!(ptr::Strong::downgrade(&array) => [usize]);
    assert_eq!(*slice.upgrade().unwrap(), [1, 2, 3]);

    let base = heap::bytes();
    let none = unsize!(ptr::Weak::<Aligned, F>::new() => dyn Debug);
    assert!(none.is_expired() && none.upgrade().is_none() && none == none.clone());
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
    assert_eq!(none, unsize!(ptr::Weak::<usize, F>::new() => dyn Debug));
    let shown = unsize!(array => dyn Debug);
    assert!(none != ptr::Strong::downgrade(&shown));
    let map = WeakMap::from([(&shown, 1_usize)]);
    assert_eq!(map.get(&none), None);
    drop(map);
    assert!(unsize!(ptr::Weak::<[u8; 3], F>::new() => [u8]).is_expired());
    drop((shown, slice));
    assert!(heap::bytes() < base, "only the array's memory was there");
}

/// I128: A weak handle that is made while the object is dying is dead.
fn a_weak_handle_of_a_dying_object_is_dead<F: Own>() {
    struct Dying<F: Own>(ptr::Weak<Dying<F>, F>, Rc<OnceCell<bool>>);
    impl<F: Own> Drop for Dying<F> {
        fn drop(&mut self) {
            let formed = self.0.clone();
            self.1
                .set(formed.upgrade().is_none() && formed.is_expired())
                .unwrap();
        }
    }
    let dead = Rc::new(OnceCell::new());
    let object = ptr::Strong::<_, F>::new_cyclic(|me| {
        assert!(me.upgrade().is_none(), "not born yet");
        Dying(me.clone(), dead.clone())
    });
    assert!(object.0.upgrade().is_some());
    drop(object);
    assert_eq!(dead.get(), Some(&true));
}

/// I129: `get_mut` refuses while there is another handle, a weak one, or an entry; and not afterwards.
fn get_mut_refuses_while_it_is_watched<F: Own>() {
    let mut object = ptr::Strong::<usize, F>::new(5);
    *ptr::Strong::get_mut(&mut object).unwrap() += 1;
    let weak = ptr::Strong::downgrade(&object);
    assert!(ptr::Strong::get_mut(&mut object).is_none());
    drop(weak);
    let map = WeakMap::from([(&object, 1_usize)]);
    assert!(ptr::Strong::get_mut(&mut object).is_none());
    drop(map);
    let clone = object.clone();
    assert!(ptr::Strong::get_mut(&mut object).is_none());
    drop(clone);
    *ptr::Strong::get_mut(&mut object).unwrap() += 1;
    assert_eq!(*object, 7);
}

/// I129: `try_unwrap` returns the value of the only strong handle; for its watches the object dies.
fn try_unwrap_ends_the_object_for_its_watchers<F: Own>() {
    let object = ptr::Strong::<_, F>::new(String::from("payload"));
    let weak = ptr::Strong::downgrade(&object);
    let mut map = WeakMap::from([(&object, 1_usize)]);
    let shared = object.clone();
    let object = ptr::Strong::try_unwrap(object).unwrap_err();
    assert!(map.contains_key(&object));
    drop(shared);
    assert_eq!(ptr::Strong::try_unwrap(object).unwrap(), "payload");
    assert!(weak.is_expired());
    assert_eq!((map.len(), map.drain_dead().next()), (0, Some(1)));
    let [a, b] = [1, 1].map(ptr::Strong::<usize, F>::new);
    assert_eq!(
        (
            ptr::Strong::into_inner(a.clone()),
            ptr::Strong::into_inner(a)
        ),
        (None, Some(1))
    );
    assert_eq!(
        ptr::Strong::unwrap_or_clone(b.clone()) + ptr::Strong::unwrap_or_clone(b),
        2
    );
}

/// I129: `make_mut` of a watched object moves the value out: weak handles and attributes stay behind.
fn make_mut_leaves_watchers_behind<F: Own>() {
    let mut object = ptr::Strong::<usize, F>::new(5);
    let addr = ptr::Strong::as_ptr(&object);
    *ptr::Strong::make_mut(&mut object) += 1;
    assert_eq!(ptr::Strong::as_ptr(&object), addr, "in place");

    let weak = ptr::Strong::downgrade(&object);
    let map = WeakMap::from([(&object, 1_usize)]);
    *ptr::Strong::make_mut(&mut object) += 1;
    assert_eq!((*object, weak.is_expired()), (7, true));
    assert_eq!((map.get(&object), map.len()), (None, 0));

    let shared = object.clone();
    *ptr::Strong::make_mut(&mut object) += 1;
    assert_eq!((*object, *shared), (8, 7));
}

/// I130: Looking up an object that is not behind a handle finds nothing.
fn an_object_that_is_no_key_is_only_not_found<F: Own>() {
    static NEVER_FREED: usize = 5;
    let object = ptr::Strong::<usize, F>::new(5);
    let mut map = WeakMap::from([(&object, 1_usize)]);
    for absent in [&5, &NEVER_FREED, &*Box::new(5)] {
        assert!(!map.contains_key(&weakly::Addr::of(absent)));
        assert_eq!(map.remove(&weakly::Addr::of(absent)), None);
    }
    assert!(map.contains_key(&weakly::Addr::of(&*object)));
}

/// I120: A default, a list of what an iterator yields, an error with its source: one handle, to a payload that all see.
fn handles_are_made_from_what_arcs_are<F: Own>() {
    let text = ptr::Strong::<str, F>::default();
    let list = ptr::Strong::<[usize], F>::default();
    assert_eq!((&*text, &*list), ("", &[][..]));
    assert_eq!(ptr::Strong::strong_count(&text), 1);
    let list: ptr::Strong<[usize], F> = (1..4).filter(|n| *n != 2).collect();
    assert_eq!(
        (list.as_ref(), ptr::Strong::strong_count(&list)),
        (&[1, 3][..], 1)
    );
    assert_eq!(
        format!("{list:p}"),
        format!("{:p}", ptr::Strong::as_ptr(&list))
    );

    #[derive(Debug)]
    struct Wrapped(std::fmt::Error);
    impl std::fmt::Display for Wrapped {
        fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
            f.write_str("wrapped")
        }
    }
    impl Error for Wrapped {
        fn source(&self) -> Option<&(dyn Error + 'static)> {
            Some(&self.0)
        }
    }
    let error = ptr::Strong::<Wrapped, F>::new(Wrapped(std::fmt::Error));
    assert!(
        error
            .source()
            .is_some_and(|source| source.is::<std::fmt::Error>())
    );
}
