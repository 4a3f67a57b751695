//! Tables of entries that have keys.

use core::marker::PhantomData;

use super::making::Absent;
use super::node::{Compare, KeyKind, Node};
use super::raw::Match;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;

/// By keys.
pub(crate) struct ByKey<K, const BY_ADDRESS: bool = false>(PhantomData<K>);

impl<K, const BY_ADDRESS: bool> KeyKind for ByKey<K, BY_ADDRESS> {
    const BY_ADDRESS: bool = BY_ADDRESS;
    type Key = K;
    type FlightKey = K;
}

impl<K: Eq, T, const BY_ADDRESS: bool> Compare<T> for ByKey<K, BY_ADDRESS> {
    #[inline]
    fn key(by: &K) -> K
    where
        K: Clone,
    {
        by.clone()
    }

    #[inline]
    fn is_of<V>(by: &K, node: &Node<Self, T, V>) -> Match {
        (*by == *node.key()).into()
    }

    #[inline]
    fn are_same<V>(node: &Node<Self, T, V>, there: &Node<Self, T, V>) -> bool {
        node.key() == there.key()
    }
}

impl<K, T, V, const BY_ADDRESS: bool> Node<ByKey<K, BY_ADDRESS>, T, V> {
    #[inline]
    pub(super) fn key(&self) -> &K {
        match self {
            Node::Ready { key, .. } | Node::InFlight { key, .. } => key,
        }
    }
}

impl<K, T: Watches, V, const BY_ADDRESS: bool> Table<ByKey<K, BY_ADDRESS>, T, V> {
    /// Shows the entry of a key to a closure: see [`read_where`](Self::read_where).
    #[inline]
    pub(crate) fn read<H, R>(
        &self,
        hash: HashValue,
        is: impl Fn(&K) -> bool,
        hold: impl FnMut(&K, &T, &V) -> Option<H>,
        lost: impl Fn(&T) -> bool,
        show: impl FnOnce(H, &K, &V) -> R,
    ) -> Option<R> {
        self.read_where(hash, |node| is(node.key()), hold, lost, show)
    }

    /// The value of a key: see [`find_where`](Self::find_where).
    #[inline]
    pub(crate) fn find<R>(
        &self,
        hash: HashValue,
        is: impl Fn(&K) -> bool,
        read: impl FnOnce(&T, &V) -> Option<R>,
    ) -> Result<R, Absent>
    where
        K: Eq,
    {
        self.find_where(hash, |node| is(node.key()), read)
    }

    /// Removes the entry of a key: see [`remove_where`](Self::remove_where).
    pub(crate) fn remove<H, R>(
        &self,
        hash: HashValue,
        is: impl Fn(&K) -> bool,
        hold: impl FnMut(Option<(&T, &V)>) -> Option<H>,
        show: impl FnOnce(H, &K, &V) -> R,
    ) -> Option<R> {
        self.remove_where(hash, |node| is(node.key()), hold, show)
    }
}
