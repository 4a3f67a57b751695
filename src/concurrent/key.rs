//! How the entries of a shared table are told apart.

use core::marker::PhantomData;
use equivalent::Equivalent;

use super::node::Node;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;

/// How the entries of a table are told apart: by [a key](ByKey) that each has, or by
/// [the content](super::content::ByContent) of the object that each watches.
pub(crate) trait KeyKind {
    /// What an entry has for that, beside its watch.
    type Key;
    /// What the mark has that a value is being made: it watches nothing.
    type FlightKey;
}

/// The comparisons of a [`KeyKind`], for a table with this watch. They are user code.
pub(crate) trait Compare<T>: KeyKind + Sized {
    /// The key of the entry that takes the place of a mark.
    fn key(by: &Self::FlightKey) -> Self::Key
    where
        Self::FlightKey: Clone;
    fn is_of<V>(by: &Self::FlightKey, node: &Node<Self, T, V>) -> bool;
    fn are_same<V>(node: &Node<Self, T, V>, there: &Node<Self, T, V>) -> bool;
}

/// By keys.
pub(crate) struct ByKey<K>(PhantomData<K>);

impl<K> KeyKind for ByKey<K> {
    type Key = K;
    type FlightKey = K;
}

impl<K: Eq, T> Compare<T> for ByKey<K> {
    #[inline]
    fn key(by: &K) -> K
    where
        K: Clone,
    {
        by.clone()
    }

    #[inline]
    fn is_of<V>(by: &K, node: &Node<Self, T, V>) -> bool {
        *by == *node.key()
    }

    #[inline]
    fn are_same<V>(node: &Node<Self, T, V>, there: &Node<Self, T, V>) -> bool {
        node.key() == there.key()
    }
}

impl<K, T, V> Node<ByKey<K>, T, V> {
    #[inline]
    pub(super) fn key(&self) -> &K {
        match self {
            Node::Ready { key, .. } | Node::InFlight { key, .. } => key,
        }
    }
}

impl<K: Eq, T: Watches, V> Table<ByKey<K>, T, V> {
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
