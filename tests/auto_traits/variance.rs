//! Where a longer lifetime is a shorter one: in handles, as in `Arc`, in names of keys, and in what
//! borrows from a collection. What must not be covariant is in `src/compile_fail/variance.rs`. A
//! `Type<'m, 'x>` borrows from something that lives for `'m`, and `'x` is what may become shorter.

#![allow(dead_code)]

use weakly::concurrent;
use weakly::keep;
use weakly::local;
use weakly::reference::{self, Notified};
use weakly::{Strong, collections, cycles, memo, ptr, reference_queue};

type Owned<T> = collections::iter::Owned<T>;

/// Each compiles only if it is covariant in `'x`.
macro_rules! covariant {
    ($(<$m:lifetime, $x:lifetime> $type:ty;)*) => {$(
        const _: () = {
            type Type<$m, $x> = $type;
            fn shorter<'m, 'long: 'short, 'short: 'm>(it: Type<'m, 'long>) -> Type<'m, 'short> {
                it
            }
        };
    )*};
}

// Handles, and what names them.
covariant! {
    <'m, 'x> ptr::Strong<&'x str, ptr::Atomic>;
    <'m, 'x> ptr::Strong<&'x str, ptr::Local>;
    <'m, 'x> ptr::Strong<[&'x str], ptr::Atomic>;
    <'m, 'x> ptr::Strong<dyn Fn() + 'x, ptr::Atomic>;
    <'m, 'x> ptr::Weak<&'x str, ptr::Atomic>;
    <'m, 'x> ptr::Dying<&'x str, ptr::Atomic>;
    <'m, 'x> ptr::Dying<dyn Fn() + 'x, ptr::Local>;
    <'m, 'x> ptr::Weak<&'x str, ptr::Local>;
    <'m, 'x> ptr::Weak<dyn Fn() + 'x, ptr::Local>;
    <'m, 'x> reference::Addr<'x, i32>;
    <'m, 'x> reference::Addr<'m, &'x str>;
    <'m, 'x> reference::ByIdentity<Strong<&'x str>>;
    <'m, 'x> reference::Hashed<&'x str>;
    <'m, 'x> reference::Owned<&'x str>;
    <'m, 'x> Owned<&'x str>;
    <'m, 'x> keep::KeepAlive<Strong<&'x str>>;
    <'m, 'x> memo::Value<&'x str>;
    <'m, 'x> memo::Many<&'x str>;
}

// What borrows from a collection, for as long as it does; and what is only read there.
covariant! {
    <'m, 'x> collections::iter::Iter<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::Iter<'m, Notified<Strong<i32>>, Owned<&'x str>>;
    <'m, 'x> collections::iter::IterMut<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::IterWeak<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::IterWeak<'m, Notified<Strong<i32>>, Owned<&'x str>>;
    <'m, 'x> collections::iter::Keys<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::Keys<'m, Owned<&'x str>, Notified<Strong<i32>>>;
    <'m, 'x> collections::iter::KeysOf<'x, Owned<i32>, Notified<Strong<i32>>>;
    <'m, 'x> collections::iter::KeysOf<'m, Owned<&'x str>, Notified<Strong<i32>>>;
    <'m, 'x> collections::iter::KeysWeak<'x, Notified<Strong<i32>>, Owned<()>>;
    <'m, 'x> collections::iter::Values<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::Values<'m, Notified<Strong<i32>>, Owned<&'x str>>;
    <'m, 'x> collections::iter::ValuesMut<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::Drain<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::DrainKeys<'x, Notified<Strong<i32>>, Owned<()>>;
    <'m, 'x> collections::iter::DrainDead<'x, Notified<Strong<i32>>, Owned<i32>>;
    <'m, 'x> collections::iter::ExtractIf<'x, Notified<Strong<i32>>, Owned<i32>, fn()>;
    <'m, 'x> collections::iter::ExtractIf<'m, Notified<Strong<i32>>, Owned<i32>, &'x str>;
    <'m, 'x> collections::entry::Entry<'x, &'m Strong<i32>, Notified<Strong<i32>>, i32>;
    <'m, 'x> collections::entry::OccupiedEntry<'x, &'m Strong<i32>, Notified<Strong<i32>>, i32>;
    <'m, 'x> collections::entry::VacantEntry<'x, &'m Strong<i32>, Notified<Strong<i32>>, i32>;
    <'m, 'x> collections::entry::WeakEntry<'x, i32, Owned<i32>, Strong<i32>>;
    <'m, 'x> collections::entry::WeakOccupiedEntry<'x, i32, Owned<i32>, Strong<i32>>;
    <'m, 'x> collections::entry::WeakVacantEntry<'x, i32, Owned<i32>, Strong<i32>>;
    <'m, 'x> concurrent::Iter<'x, Strong<i32>, i32>;
    <'m, 'x> concurrent::Keys<'x, Strong<i32>, i32>;
    <'m, 'x> concurrent::ValueIter<'x, i32, Strong<i32>>;
    <'m, 'x> concurrent::PairIter<'x, Strong<i32>, Strong<i32>>;
    <'m, 'x> reference_queue::Drain<'x, i32>;
    <'m, 'x> reference_queue::Next<'x, i32>;
    <'m, 'x> memo::Computation<'x>;
    <'m, 'x> memo::Dependencies<'x>;
    <'m, 'x> cycles::Cycles<'x, 'm>;
    <'m, 'x> cycles::Drained<'x>;
    <'m, 'x> cycles::Tracer<'x>;
}

#[cfg(feature = "serde")]
covariant! {
    <'m, 'x> weakly::serde_impls::Each<&'x str>;
}

/// Where a longer lifetime is used as a shorter one.
#[test]
fn handles_are_covariant() {
    fn strong<'a>(long: Strong<&'static str>, _: &'a str) -> Strong<&'a str> {
        long
    }
    fn weak<'a>(long: local::Weak<&'static str>, _: &'a str) -> local::Weak<&'a str> {
        long
    }
    let short = String::from("short");
    assert_eq!(*strong(Strong::new("long"), &short), "long");
    let long = local::Strong::new("long");
    let short = weak(local::Strong::downgrade(&long), &short);
    assert_eq!(short.upgrade().as_deref(), Some(&"long"));
}
