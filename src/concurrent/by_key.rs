//! Tables of entries that have keys.

use super::key::ByKey;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;

impl<K: Eq, T: Watches, V, const BY_ADDRESS: bool> Table<ByKey<K, BY_ADDRESS>, T, V> {
    /// Shows the entry of a key to a closure: see [`read_where`](Self::read_where).
    #[inline]
    pub(crate) fn read<R>(
        &self,
        hash: HashValue,
        is: impl Fn(&K) -> bool,
        read: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Option<R> {
        self.read_where(hash, |node| is(node.key()), read)
    }

    /// Removes the entry of a key, if `wanted`, and shows it.
    pub(crate) fn remove<R>(
        &self,
        hash: HashValue,
        is: impl Fn(&K) -> bool,
        wanted: impl FnMut(&T, &V) -> bool,
        show: impl FnOnce(&T, &V) -> R,
    ) -> Option<R> {
        self.remove_where(hash, |node| is(node.key()), wanted, show)
    }
}
