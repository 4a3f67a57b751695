//! I. Pointers (items 122–130), for both flavours of this crate's own. The scripts of `pointers` state the others.
//!
//! 123 (an upgrade races with the last drop) is a loom model, beside the code; here it runs on real threads. 125
//! (overflow of a count) takes 2^63 handles, or access to the internals: it is a unit test. 130 (objects on the
//! stack or in a `static` as keys) does not compile: only a strong handle can be inserted (see
//! `src/compile_fail`); looking one up is harmless.

use std::cell::OnceCell;
use std::collections::HashSet;
use std::fmt::Debug;
use std::rc::Rc;
use std::thread;

use weakly::{Strong, WeakMap, ptr, unsize};

use crate::common::{Own, sized};
use crate::{for_each_flavour, heap};

for_each_flavour!(
    handles_compare_by_payload_and_weak_ones_by_identity,
    a_handle_without_an_object_is_expired,
    a_weak_handle_is_coerced_alive_dead_or_empty,
    a_weak_handle_of_a_dying_object_is_dead,
    try_unwrap_ends_the_object_for_its_watchers,
    make_mut_leaves_watchers_behind,
    an_object_that_is_no_key_is_only_not_found,
    handles_are_made_from_what_arcs_are,
);

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
    check::<_, F>(Aligned(7));
    check::<_, F>([7_u64; 40]);

    let none = unsize!(ptr::Weak::<Aligned, F>::new() => dyn Debug);
    assert!(none.is_expired() && none.upgrade().is_none() && none == none.clone());
    assert_eq!((none.strong_count(), none.weak_count()), (0, 0));
    assert_eq!(none, unsize!(ptr::Weak::<usize, F>::new() => dyn Debug));
    let shown = unsize!(ptr::Strong::<_, F>::new(7) => dyn Debug);
    assert!(none != ptr::Strong::downgrade(&shown));
    assert_eq!(WeakMap::from([(&shown, 1_usize)]).get(&none), None);
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

/// I120: A default, a list of what an iterator yields: one handle, to a payload that all see.
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
}
