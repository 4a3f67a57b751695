//! Tables of entries that have keys.

use equivalent::Equivalent;

use super::key::ByKey;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;

impl<K: Eq, T: Watches, V, const BY_ADDRESS: bool> Table<ByKey<K, BY_ADDRESS>, T, V> {
    /// Shows the entry of a key to a closure: see [`read_where`](Self::read_where).
    #[inline]
    pub(crate) fn read<Q, R>(
        &self,
        hash: HashValue,
        key: &Q,
        read: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Option<R>
    where
        Q: ?Sized + Equivalent<K>,
    {
        self.read_where(hash, |node| key.equivalent(node.key()), read)
    }

    /// Removes the entry of a key, if `wanted`, and shows it.
    pub(crate) fn remove<Q, R>(
        &self,
        hash: HashValue,
        key: &Q,
        wanted: impl FnMut(&T, &V) -> bool,
        show: impl FnOnce(&T, &V) -> R,
    ) -> Option<R>
    where
        Q: ?Sized + Equivalent<K>,
    {
        self.remove_where(hash, |node| key.equivalent(node.key()), wanted, show)
    }
}
