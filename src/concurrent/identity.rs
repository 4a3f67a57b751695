//! Keys by identity: a lookup finds an entry by the address of its object. Shared by the maps and
//! the set of such keys.

use super::key::ByKey;
use super::node::Node;
use super::table::Table;
use super::watch::{SharedWatchFor, Unplaced, Watches};
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

    /// Whether a key has the address, after a lookup has found an entry by the address. A weak
    /// handle has no address once its object is dead. So if the handle still has the address, the
    /// object has lived all the time, and the entry does not belong to a later object at the same
    /// address.
    #[inline]
    fn is_of<K: WeakKey, Q: ?Sized + Identify<K>>(self, key: &Q) -> bool {
        self.is(Q::addr(key))
    }
}

/// No entry by identity alone is [lost](Table::read_where): the destructor of its key may look the
/// entry up.
#[inline]
pub(super) fn stays<T>(_: &T) -> bool {
    false
}

/// A table by the addresses of the objects that entries watch.
pub(super) type ByAddress<K, V> = ByKey<Address, SharedWatchFor<K>, V, true>;

impl<T: Watches, V, const BY_ADDRESS: bool> Table<ByKey<Address, T, V, BY_ADDRESS>> {
    /// Shows the entry of an object: see [`read_where`](Self::read_where).
    #[inline]
    pub(super) fn look_at<K: WeakKey, Q: ?Sized + Identify<K>, H, R>(
        &self,
        key: &Q,
        mut hold: impl FnMut(&T, &V) -> Option<H>,
        lost: impl Fn(&T) -> bool,
        show: impl FnOnce(H, &V) -> R,
    ) -> Option<R> {
        let (hash, address) = Address::of(Q::addr(key));
        let hold = |_: &_, watch: &_, value: &_| {
            let is_it = address.is_of::<K, Q>(key);
            is_it.then(|| hold(watch, value)).flatten()
        };
        let show = |held, _: &_, value: &_| show(held, value);
        self.read_where(hash, |node| *node.key() == address, hold, lost, show)
    }

    /// Removes the entry of an object: see [`remove_where`](Self::remove_where).
    #[inline]
    pub(super) fn take<K: WeakKey, Q: ?Sized + Identify<K>, H, R>(
        &self,
        key: &Q,
        mut hold: impl FnMut(Option<(&T, &V)>) -> Option<H>,
        show: impl FnOnce(H, &V) -> R,
    ) -> Option<R> {
        let (hash, address) = Address::of(Q::addr(key));
        let hold_it = |entry: Option<(&T, &V)>| {
            let is_it = address.is_of::<K, Q>(key);
            is_it.then(|| hold(entry)).flatten()
        };
        let show = |held, _: &_, value: &_| show(held, value);
        let shown = self.remove_where(hash, |node| *node.key() == address, hold_it, show);
        // T5
        drop(hold);
        shown
    }

    /// Moves the entry of an object to another object: see [`transfer`](Self::transfer).
    #[inline]
    pub(super) fn transfer_between<'t, K: WeakKey, Q: ?Sized + Identify<K>, H>(
        &'t self,
        (from, to): (&Q, &K),
        copy: impl FnMut(&T, &V) -> Option<(Unplaced<'t, T>, V)>,
        hold: impl Fn(&T, &V) -> Option<H>,
    ) -> Option<H> {
        let (hash, address) = Address::of(Q::addr(from));
        let new = Address::of(WeakKey::addr(to));
        let sought = |node: &Node<_>| *node.key() == address && address.is_of::<K, Q>(from);
        (address != new.1).then(|| self.transfer((hash, sought), new, copy, hold))?
    }
}
