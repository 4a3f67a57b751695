//! What a memo is keyed by.

use core::any::Any;

use super::ties::KeyTies;
use crate::concurrent::{Address, AnyTie, Loose, SharedRef, TieOf, TiedTo};
use crate::hash::HashValue;
use crate::queue::SharedQueue;
use crate::reference::WeakKey;

/// What a [`Memo`](crate::Memo) is keyed by: a pointer, or a tuple of up to four. Sealed.
pub trait MemoKey: sealed::Sealed {
    /// How it is given: the pointer, or the tuple of pointers, by reference.
    type Ref<'a>: Copy
    where
        Self: 'a;
    #[doc(hidden)]
    type Addresses: Copy + Eq;
    #[doc(hidden)]
    type Ties: AsRef<[AnyTie]> + Send + Sync;
    #[doc(hidden)]
    fn addresses(key: Self::Ref<'_>) -> (HashValue, Self::Addresses);
    #[doc(hidden)]
    fn tie<'q>(
        key: Self::Ref<'_>,
        hash: HashValue,
        queue: &'q SharedQueue,
    ) -> Loose<'q, KeyTies<Self::Ties>>;
    /// The pointers, each at its place, that are of this type.
    #[doc(hidden)]
    fn inputs<R: 'static>(key: Self::Ref<'_>) -> [Option<&R>; 4];
}

mod sealed {
    pub trait Sealed {}
}

impl<K: SharedRef + 'static> sealed::Sealed for K {}

impl<K: SharedRef + 'static> MemoKey for K {
    type Ref<'a> = &'a K;
    type Addresses = Address;
    type Ties = [AnyTie; 1];

    #[inline]
    fn addresses(key: &K) -> (HashValue, Address) {
        Address::of(WeakKey::addr(key))
    }

    fn tie<'q>(
        key: &K,
        hash: HashValue,
        queue: &'q SharedQueue,
    ) -> Loose<'q, KeyTies<[AnyTie; 1]>> {
        let tie = TieOf::<K>::of_any(key, hash, queue);
        Loose::new(KeyTies([tie.into_inner()]), queue)
    }

    #[inline]
    fn inputs<R: 'static>(key: Self::Ref<'_>) -> [Option<&R>; 4] {
        [<dyn Any>::downcast_ref(key), None, None, None]
    }
}

macro_rules! tuples {
    ($($count:literal: $($key:ident $at:tt),+;)+) => {$(
        impl<$($key: SharedRef + 'static),+> sealed::Sealed for ($($key,)+) {}

        impl<$($key: SharedRef + 'static),+> MemoKey for ($($key,)+) {
            type Ref<'a> = ($(&'a $key,)+);
            type Addresses = [Address; $count];
            type Ties = [AnyTie; $count];

            #[inline]
            fn addresses(key: Self::Ref<'_>) -> (HashValue, [Address; $count]) {
                Address::of_all([$(WeakKey::addr(key.$at)),+])
            }

            fn tie<'q>(
                key: Self::Ref<'_>,
                hash: HashValue,
                queue: &'q SharedQueue,
            ) -> Loose<'q, KeyTies<[AnyTie; $count]>> {
                let ties = [$(TieOf::<$key>::of_any(key.$at, hash, queue)),+];
                Loose::new(KeyTies(ties.map(Loose::into_inner)), queue)
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
