//! Tables of entries that have keys.

use core::marker::PhantomData;

use super::node::{Compare, KeyKind, Node};
use super::raw::Match;

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
    pub(crate) fn key(&self) -> &K {
        match self {
            Node::Ready { key, .. } | Node::InFlight { key, .. } => key,
        }
    }
}
