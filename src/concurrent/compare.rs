//! How the entries of a shared table are compared.

use super::key::{ByKey, KeyKind};
use super::node::Node;

/// The comparisons of a [`KeyKind`], for a table with this watch. They are user code.
pub(crate) trait Compare<T>: KeyKind + Sized {
    /// The key of the entry that takes the place of a mark.
    fn key(by: &Self::FlightKey) -> Self::Key
    where
        Self::FlightKey: Clone;
    fn is_of<V>(by: &Self::FlightKey, node: &Node<Self, T, V>) -> bool;
    fn are_same<V>(node: &Node<Self, T, V>, there: &Node<Self, T, V>) -> bool;
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
    fn is_of<V>(by: &K, node: &Node<Self, T, V>) -> bool {
        *by == *node.key()
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
