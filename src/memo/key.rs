//! The keys of a memo.

use core::any::Any;

use crate::concurrent::{Address, AnyWatch, SharedKey, SharedWatchFor, WatchesOne};
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::reference::WeakKey;

/// The key of a [`Memo`](crate::Memo): a handle, or a tuple of up to four. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not the key of a memo",
    label = "a key is a handle that threads share, or a tuple of up to four",
    note = "threads share `Strong`, `Arc` and `Anchor`"
)]
pub trait MemoKey: sealed::Sealed {
    /// How it is passed: the handle, or the tuple of handles, by reference.
    type Ref<'a>: Copy
    where
        Self: 'a;
    #[doc(hidden)]
    type Addresses: Copy + Eq;
    #[doc(hidden)]
    type EntryWatches: AsRef<[AnyWatch]> + Send + Sync;
    #[doc(hidden)]
    fn addresses(key: Self::Ref<'_>) -> (HashValue, Self::Addresses);
    #[doc(hidden)]
    fn watch(key: Self::Ref<'_>, hash: HashValue, core: CoreRef) -> Self::EntryWatches;
    /// The handles that have this type, each at its place.
    #[doc(hidden)]
    fn inputs<R: 'static>(key: Self::Ref<'_>) -> [Option<&R>; 4];
}

mod sealed {
    pub trait Sealed {}
}

impl<K: SharedKey + 'static> sealed::Sealed for K {}

impl<K: SharedKey + 'static> MemoKey for K {
    type Ref<'a> = &'a K;
    type Addresses = Address;
    type EntryWatches = [AnyWatch; 1];

    #[inline]
    fn addresses(key: &K) -> (HashValue, Address) {
        Address::of(WeakKey::addr(key))
    }

    fn watch(key: &K, hash: HashValue, core: CoreRef) -> [AnyWatch; 1] {
        [SharedWatchFor::<K>::of_any(key, hash, core)]
    }

    #[inline]
    fn inputs<R: 'static>(key: Self::Ref<'_>) -> [Option<&R>; 4] {
        [<dyn Any>::downcast_ref(key), None, None, None]
    }
}

macro_rules! tuples {
    ($($count:literal: $($key:ident $at:tt),+;)+) => {$(
        impl<$($key: SharedKey + 'static),+> sealed::Sealed for ($($key,)+) {}

        impl<$($key: SharedKey + 'static),+> MemoKey for ($($key,)+) {
            type Ref<'a> = ($(&'a $key,)+);
            type Addresses = [Address; $count];
            type EntryWatches = [AnyWatch; $count];

            #[inline]
            fn addresses(key: Self::Ref<'_>) -> (HashValue, [Address; $count]) {
                Address::of_all([$(WeakKey::addr(key.$at)),+])
            }

            fn watch(key: Self::Ref<'_>, hash: HashValue, core: CoreRef) -> [AnyWatch; $count] {
                [$(SharedWatchFor::<$key>::of_any(key.$at, hash, core)),+]
            }

            #[inline]
            fn inputs<R: 'static>(key: Self::Ref<'_>) -> [Option<&R>; 4] {
                let mut inputs = [None; 4];
                $(inputs[$at] = <dyn Any>::downcast_ref(key.$at);)+
                inputs
            }
        }
    )+};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
}
