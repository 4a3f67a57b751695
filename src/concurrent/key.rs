//! How the entries of a shared table are told apart.

use core::marker::PhantomData;

use crate::hash::HashValue;

/// How the entries of a table are told apart: by [a key](ByKey) that each has, or by
/// [the content](super::content::ByContent) of the object that each watches.
pub(crate) trait KeyKind {
    /// Whether the hash of an entry is that of the address of the one object that it watches: then no registration stores
    /// it.
    const BY_ADDRESS: bool = false;
    /// What an entry has for that, beside its watch.
    type Key;
    /// What the mark has that a value is being made: it watches nothing.
    type FlightKey;
}

/// By keys.
pub(crate) struct ByKey<K, const BY_ADDRESS: bool = false>(PhantomData<K>);

impl<K, const BY_ADDRESS: bool> KeyKind for ByKey<K, BY_ADDRESS> {
    const BY_ADDRESS: bool = BY_ADDRESS;
    type Key = K;
    type FlightKey = K;
}

/// A key by identity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Address(usize);

impl Address {
    #[inline]
    pub(crate) fn of(addr: *const ()) -> (HashValue, Self) {
        (HashValue::of_addr(addr), Address(addr.addr()))
    }

    #[inline]
    pub(crate) fn of_all<const N: usize>(addrs: [*const (); N]) -> (HashValue, [Self; N]) {
        (
            HashValue::of_addrs(&addrs),
            addrs.map(|addr| Address(addr.addr())),
        )
    }
}
