//! I. Handles that are raw pointers for a while, that are downcast, and whose payload comes after them, for both flavours
//! of this crate's own.

#![allow(unsafe_code)]

use std::any::Any;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::sync::atomic::{AtomicPtr, Ordering::SeqCst};
use std::thread;

use weakly::{
    Strong, Weak, WeakMap,
    ptr::{self, Flavour},
    unsize,
};

use crate::common::{Count, Counter, OnDrop, Own, panics, scaled};
use crate::{for_each_flavour, heap};

for_each_flavour!(
    raw_pointers_are_counted,
    a_raw_weak_handle_comes_back_alive_dead_or_empty,
    a_raw_weak_handle_is_coerced,
    a_downcast_keeps_identity_and_counts,
    a_failed_downcast_returns_the_handle,
    a_payload_may_come_after_its_object,
    what_is_not_initialised_is_not_dropped,
    watches_of_an_uninitialised_object_stay,
    slices_are_initialised_in_place,
    a_slice_that_is_too_long_panics,
);

#[repr(align(64))]
#[derive(Debug)]
struct Aligned(#[allow(dead_code, reason = "it is shown")] u8);

fn counts<T: ?Sized, F: Flavour>(handle: &ptr::Strong<T, F>) -> (usize, usize) {
    (
        ptr::Strong::strong_count(handle),
        ptr::Strong::weak_count(handle),
    )
}

/// I120: `increment_strong_count` and `decrement_strong_count` count as handles do, also by a pointer of `as_ptr`, and by
/// one that was coerced.
fn raw_pointers_are_counted<F: Own>() {
    let object = ptr::Strong::<[usize; 3], F>::new([1, 2, 3]);
    let weak = ptr::Strong::downgrade(&object);
    let map = WeakMap::from([(&object, 1_usize)]);
    let raw = ptr::Strong::into_raw(object.clone());
    // SAFETY: the object lives, and each count is given up once.
    unsafe {
        ptr::Strong::<_, F>::increment_strong_count(raw);
        assert_eq!(counts(&object), (3, 2));
        ptr::Strong::<[usize], F>::increment_strong_count(raw);
        assert_eq!((counts(&object), weak.strong_count()), ((4, 2), 4));
        let back = ptr::Strong::<[usize; 3], F>::from_raw(raw);
        assert!(counts(&back) == (4, 2) && ptr::Strong::ptr_eq(&back, &object));
        ptr::Strong::<dyn Debug, F>::decrement_strong_count(raw);
        assert_eq!(counts(&back), (3, 2));
        drop(object);
        ptr::Strong::<_, F>::decrement_strong_count(raw);
        assert_eq!((counts(&back), map.get(&back)), ((1, 2), Some(&1)));

        let borrowed = ptr::Strong::as_ptr(&back);
        ptr::Strong::<_, F>::increment_strong_count(borrowed);
        ptr::Strong::<_, F>::increment_strong_count(weak.as_ptr());
        assert_eq!((counts(&back), *back), ((3, 2), [1, 2, 3]));
        ptr::Strong::<_, F>::decrement_strong_count(borrowed);
        drop(back);
        assert_eq!((weak.strong_count(), map.len()), (1, 1));
        ptr::Strong::<_, F>::decrement_strong_count(borrowed);
    }
    assert!(weak.is_expired() && map.is_empty());
}

/// I191: A weak handle's share is in the raw pointer, wherever the payload is: while it lives, when it is dead, and where
/// there never was one.
fn a_raw_weak_handle_comes_back_alive_dead_or_empty<F: Own>() {
    fn check<T: ?Sized + Debug, F: Own>(new: impl Fn() -> ptr::Strong<T, F>) {
        let base = heap::bytes();
        for entries in 0..3 {
            let object = new();
            let maps = vec![WeakMap::from([(&object, 1_usize)]); entries];
            let raw = ptr::Strong::downgrade(&object).into_raw();
            assert_eq!(counts(&object), (1, 1 + entries));
            // SAFETY: from `into_raw`, once.
            let weak = unsafe { ptr::Weak::<T, F>::from_raw(raw) };
            assert_eq!(weak, ptr::Strong::downgrade(&object));
            assert_eq!(
                weak.as_ptr().cast::<()>(),
                ptr::Strong::as_ptr(&object).cast()
            );
            let upgraded = weak.upgrade().unwrap();
            assert!(ptr::Strong::ptr_eq(&upgraded, &object));
            assert_eq!(format!("{upgraded:?}"), format!("{object:?}"));
            drop(upgraded);

            let raw = (weak.clone().into_raw(), weak.into_raw());
            drop(object);
            assert!(maps.iter().all(|map| map.is_empty()));
            // SAFETY: likewise.
            let weak = unsafe { ptr::Weak::<T, F>::from_raw(raw.0) };
            assert!(weak.is_expired() && weak.upgrade().is_none());
            // SAFETY: likewise; once more, since it is dead.
            let (weak, other) = unsafe {
                (
                    ptr::Weak::<T, F>::from_raw(weak.into_raw()),
                    ptr::Weak::<T, F>::from_raw(raw.1),
                )
            };
            assert!(weak == other && weak.strong_count() == 0);
            drop((maps, weak));
            drop(other);
            assert_eq!(heap::bytes(), base);
        }
    }
    check::<_, F>(|| ptr::Strong::new(()));
    check::<_, F>(|| ptr::Strong::new([7_u64; 40]));
    check::<str, F>(|| "text".into());
    check::<[u8], F>(|| vec![7; 1000].into());
    check::<dyn Debug, F>(|| unsize!(ptr::Strong::<_, F>::new([7_u64; 40]) => dyn Debug));
    check::<dyn Debug, F>(|| unsize!(ptr::Strong::<_, F>::new(Aligned(7)) => dyn Debug));

    let base = heap::bytes();
    let none = ptr::Weak::<Aligned, F>::new();
    // SAFETY: from `into_raw`, once.
    let back = unsafe { ptr::Weak::<Aligned, F>::from_raw(none.clone().into_raw()) };
    assert!(back == none && back.is_expired() && back.upgrade().is_none());
    let none = unsize!(none => dyn Debug);
    // SAFETY: likewise.
    let back = unsafe { ptr::Weak::<dyn Debug, F>::from_raw(none.clone().into_raw()) };
    assert!(back == none && back.is_expired() && back.upgrade().is_none());
    assert_eq!((back.strong_count(), back.weak_count()), (0, 0));
    assert_eq!(heap::bytes(), base);
}

/// I127, I191: The compiler coerces a raw weak handle, too.
fn a_raw_weak_handle_is_coerced<F: Own>() {
    fn check<T: Debug + 'static, F: Own>(value: T) {
        let object = ptr::Strong::<_, F>::new(value);
        let weak = unsize!(ptr::Strong::downgrade(&object) => dyn Debug);
        let alive = ptr::Strong::downgrade(&object).into_raw();
        let late = ptr::Strong::downgrade(&object).into_raw();
        // SAFETY: from `into_raw`, once each, and coerced.
        unsafe {
            let alive = ptr::Weak::<dyn Debug, F>::from_raw(alive);
            assert_eq!(
                format!("{:?}", alive.upgrade().unwrap()),
                format!("{object:?}")
            );
            drop(object);
            let late = ptr::Weak::<dyn Debug, F>::from_raw(late);
            assert!(late == alive && late == weak && late.upgrade().is_none());
            let none = ptr::Weak::<T, F>::new().into_raw();
            assert!(ptr::Weak::<dyn Debug, F>::from_raw(none).is_expired());
        }
    }
    let base = heap::bytes();
    check::<_, F>(());
    check::<_, F>(Aligned(7));
    check::<_, F>([7_u64; 40]);
    assert_eq!(heap::bytes(), base);
}

/// I191, 123: A raw weak handle may go to another thread, and come back to a handle there while the object dies.
#[test]
fn a_raw_weak_handle_crosses_threads() {
    for _ in 0..scaled(500, 10) {
        let object = Strong::new([7; 100]);
        let raw = AtomicPtr::new(Strong::downgrade(&object).into_raw().cast_mut());
        thread::scope(|scope| {
            scope.spawn(|| {
                // SAFETY: from `into_raw`, once.
                let weak = unsafe { Weak::from_raw(raw.load(SeqCst).cast_const()) };
                assert!(weak.upgrade().is_none_or(|object| object[99] == 7));
            });
            drop(object);
        });
    }
}

/// I127: A downcast handle is to the same object: same address, counts, weak handles and entries, and the payload is
/// dropped once.
fn a_downcast_keeps_identity_and_counts<F: Own>() {
    fn check<T: Any + Send + Sync, F: Own>(value: impl Fn() -> T) {
        let base = heap::bytes();
        let object = ptr::Strong::<_, F>::new(value());
        let addr = ptr::Strong::as_ptr(&object);
        let any = unsize!(object.clone() => dyn Any);
        let (weak, map) = (
            ptr::Strong::downgrade(&any),
            WeakMap::from([(&any, 1_usize)]),
        );
        let shared = unsize!(object.clone() => dyn Any + Send + Sync);
        drop(object);
        let (back, other) = (
            any.downcast::<T>().ok().unwrap(),
            shared.downcast::<T>().ok().unwrap(),
        );
        assert!(ptr::Strong::ptr_eq(&back, &other));
        assert_eq!((counts(&back), ptr::Strong::as_ptr(&back)), ((2, 2), addr));
        assert!(unsize!(ptr::Strong::downgrade(&back) => dyn Any) == weak);
        assert_eq!(map.get(&unsize!(other => dyn Any)), Some(&1));
        assert_eq!(ptr::Strong::strong_count(&back), 1);
        drop(back);
        assert!(weak.is_expired() && map.is_empty());
        drop((map, weak));
        assert_eq!(heap::bytes(), base);
    }
    check::<_, F>(|| ());
    check::<_, F>(|| [7_u64; 40]);
    #[repr(align(64))]
    struct Wide(#[allow(dead_code, reason = "it is dropped")] String);
    check::<_, F>(|| Wide("text".into()));
    let counter = Counter::default();
    let any = unsize!(ptr::Strong::<_, F>::new((counter.witness(), [0_u64; 40])) => dyn Any);
    drop(any.downcast::<(OnDrop, [u64; 40])>().ok().unwrap());
    assert_eq!(counter.get(), 1);
}

/// I127: One to another type returns the handle itself.
fn a_failed_downcast_returns_the_handle<F: Own>() {
    let object = ptr::Strong::<usize, F>::new(5);
    let any = unsize!(object.clone() => dyn Any);
    let any = any.downcast::<u32>().unwrap_err();
    let any = any.downcast::<ptr::Strong<usize, F>>().err().unwrap();
    let shared = unsize!(object.clone() => dyn Any + Send + Sync);
    let shared = shared.downcast::<String>().unwrap_err();
    assert_eq!(counts(&object), (3, 0));
    assert!(ptr::Strong::as_ptr(&any).cast() == ptr::Strong::as_ptr(&object));
    drop(object);
    assert_eq!(*shared.downcast::<usize>().unwrap(), 5);
    assert_eq!(*any.downcast::<usize>().unwrap(), 5);
}

/// I192: A payload that is written afterwards is that of the object, and dropped once.
fn a_payload_may_come_after_its_object<F: Own>() {
    fn check<const N: usize, F: Own>() {
        let counter = Counter::default();
        let base = heap::bytes();
        let mut object = ptr::Strong::<(OnDrop, [u64; N]), F>::new_uninit();
        let addr = ptr::Strong::as_ptr(&object);
        let place = ptr::Strong::get_mut(&mut object).unwrap();
        place.write((counter.witness(), [7; N]));
        // SAFETY: written just now.
        let object = unsafe { object.assume_init() };
        assert_eq!(ptr::Strong::as_ptr(&object), addr.cast());
        assert_eq!((counts(&object), object.1), ((1, 0), [7; N]));
        let again = object.clone();
        drop(object);
        assert_eq!(counter.get(), 0);
        drop(again);
        assert_eq!((counter.get(), heap::bytes()), (1, base));
    }
    check::<0, F>();
    check::<3, F>();
    check::<50, F>();
    let mut wide = ptr::Strong::<Aligned, F>::new_uninit();
    assert_eq!(ptr::Strong::as_ptr(&wide).addr() % 64, 0);
    ptr::Strong::get_mut(&mut wide).unwrap().write(Aligned(7));
    // SAFETY: written just now.
    assert_eq!(unsafe { wide.assume_init() }.0, 7);
}

/// I192: An object without a payload is freed without a destructor, written or not.
fn what_is_not_initialised_is_not_dropped<F: Own>() {
    let counter = Counter::default();
    let base = heap::bytes();
    drop(ptr::Strong::<OnDrop, F>::new_uninit());
    drop(ptr::Strong::<[OnDrop; 100], F>::new_uninit());
    drop(ptr::Strong::<[OnDrop], F>::new_uninit_slice(100));
    let mut half = ptr::Strong::<[OnDrop], F>::new_uninit_slice(2);
    let written = ptr::Strong::get_mut(&mut half).unwrap()[1].write(counter.witness());
    let written: *mut OnDrop = written;
    // SAFETY: the element is written, and dropped once.
    unsafe { written.drop_in_place() };
    drop(half);
    assert_eq!((counter.get(), heap::bytes()), (1, base));
}

/// I192: Weak handles and entries from before are of the same object: they see its death.
fn watches_of_an_uninitialised_object_stay<F: Own>() {
    let (counter, finalized) = (Counter::default(), Count::default());
    let mut object = ptr::Strong::<OnDrop, F>::new_uninit();
    let place = ptr::Strong::get_mut(&mut object).unwrap();
    place.write(counter.witness());
    let weak: ptr::Weak<MaybeUninit<OnDrop>, F> = ptr::Strong::downgrade(&object);
    let map = WeakMap::from([(&object, 1_usize)]);
    let count = finalized.clone();
    F::finalize(&object, move || _ = count.add());
    let shared = object.clone();
    // SAFETY: written above.
    let object = unsafe { object.assume_init() };
    assert_eq!((counts(&object), map.get(&shared)), ((2, 2), Some(&1)));
    let later = ptr::Strong::downgrade(&object);
    assert_eq!(weak.as_ptr().cast(), later.as_ptr());
    drop(shared);
    assert_eq!(map.get(&weak.upgrade().unwrap()), Some(&1));
    drop(object);
    assert_eq!((counter.get(), finalized.get(), map.len()), (1, 1, 0));
    assert!(weak.is_expired() && later.is_expired());
}

/// I192: A slice has its length before its elements.
fn slices_are_initialised_in_place<F: Own>() {
    for len in [0, 1, 5, 1000] {
        let counter = Counter::default();
        let base = heap::bytes();
        let mut slice = ptr::Strong::<[(OnDrop, usize)], F>::new_uninit_slice(len);
        let places = ptr::Strong::get_mut(&mut slice).unwrap();
        assert_eq!(places.len(), len);
        for (n, place) in places.iter_mut().enumerate() {
            place.write((counter.witness(), n));
        }
        // SAFETY: all are written.
        let slice = unsafe { slice.assume_init() };
        assert!(slice.iter().map(|element| element.1).eq(0..len));
        drop(slice);
        assert_eq!((counter.get(), heap::bytes()), (len, base));
    }
    let none = ptr::Strong::<[Aligned], F>::new_uninit_slice(0);
    // SAFETY: there is none.
    let (none, units) = unsafe {
        let units = ptr::Strong::<[()], F>::new_uninit_slice(usize::MAX);
        (none.assume_init(), units.assume_init())
    };
    assert_eq!((none.len(), units.len()), (0, usize::MAX));
}

/// I192: A length that no memory has panics, on every target.
fn a_slice_that_is_too_long_panics<F: Own>() {
    // The last would fit, but for the word before it.
    for len in [usize::MAX, isize::MAX as usize + 1, isize::MAX as usize] {
        let made = || ptr::Strong::<[u8], F>::new_uninit_slice(len);
        assert!(panics(|| drop(made())), "{len}");
    }
}
