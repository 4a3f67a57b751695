//! Keys by identity: an entry is found by the address of its object. Shared by the maps and the set of such keys.

use super::key::ByKey;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;
use crate::reference::{Identify, WeakKey};

/// A key by identity.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Address(usize);

impl Address {
    #[inline]
    pub(crate) fn of(addr: *const ()) -> (HashValue, Self) {
        (HashValue::of_addr(addr), Address::new(addr))
    }

    #[inline]
    pub(crate) fn new(addr: *const ()) -> Self {
        Address(addr.addr())
    }

    #[inline]
    pub(crate) fn is(self, addr: *const ()) -> bool {
        self == Self::new(addr)
    }

    /// Whether a key has this address, after an entry was found by it. A weak handle has no address once its object
    /// is dead. So if it still has one, the object has lived all the time, and the entry is not that of a later object
    /// at this address.
    #[inline]
    fn is_of<K: WeakKey, Q: ?Sized + Identify<K>>(self, key: &Q) -> bool {
        self.is(Q::addr(key))
    }
}

impl<T: Watches, V, const BY_ADDRESS: bool> Table<ByKey<Address, BY_ADDRESS>, T, V> {
    /// Shows the entry of an object to a closure, which returns `None` if that is of no use.
    #[inline]
    pub(super) fn look_at<K: WeakKey, Q: ?Sized + Identify<K>, R>(
        &self,
        key: &Q,
        look: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Option<R> {
        let (hash, address) = Address::of(Q::addr(key));
        let look = |_: &_, watch: &_, value: &_| {
            let is_it = address.is_of::<K, Q>(key);
            is_it.then(|| look(watch, value)).flatten()
        };
        self.read(hash, |there| *there == address, look)
    }

    /// Removes the entry of an object, if `wanted`, and shows it to a closure: see [`remove_where`](Self::remove_where).
    #[inline]
    pub(super) fn take<K: WeakKey, Q: ?Sized + Identify<K>, R>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(Option<(&T, &V)>) -> bool,
        show: impl FnOnce(&T, &V) -> R,
    ) -> Option<R> {
        let (hash, address) = Address::of(Q::addr(key));
        let is_wanted = |entry: Option<(&T, &V)>| address.is_of::<K, Q>(key) && wanted(entry);
        let show = |_: &_, watch: &_, value: &_| show(watch, value);
        let shown = self.remove(hash, |there| *there == address, is_wanted, show);
        // T5
        drop(wanted);
        shown
    }
}
