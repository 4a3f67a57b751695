//! Tables of entries that have keys.

use core::marker::PhantomData;

use super::node::{Compare, Node};
use super::schema::Schema;
use super::watch::Watches;
use crate::raw::{Match, Registered};

/// Tables by keys.
pub(crate) struct ByKey<K, T, V, const BY_ADDRESS: bool = false>(PhantomData<(K, T, V)>);

impl<K, T: Registered, V, const BY_ADDRESS: bool> Schema for ByKey<K, T, V, BY_ADDRESS> {
    const BY_ADDRESS: bool = BY_ADDRESS;
    type Key = K;
    type Probe = K;
    type Watch = T;
    type Value = V;
    /// The key: an entry that is set anew is the same entry only by `Eq`.
    type Name = K;

    fn name(key: &K, _: &T) -> K
    where
        K: Clone,
    {
        key.clone()
    }

    fn is_named(key: &K, _: &T, name: &K) -> bool
    where
        K: PartialEq,
    {
        name == key
    }
}

impl<K: Eq, T: Watches, V, const BY_ADDRESS: bool> Compare for ByKey<K, T, V, BY_ADDRESS> {
    #[inline]
    fn key(probe: &K) -> K
    where
        K: Clone,
    {
        probe.clone()
    }

    #[inline]
    fn is_of(probe: &K, node: &Node<Self>) -> Match {
        (*probe == *node.key()).into()
    }

    #[inline]
    fn have_same_key(new: &Node<Self>, there: &Node<Self>) -> bool {
        new.key() == there.key()
    }
}

impl<K, T: Registered, V, const BY_ADDRESS: bool> Node<ByKey<K, T, V, BY_ADDRESS>> {
    #[inline]
    pub(crate) fn key(&self) -> &K {
        match self {
            Node::Ready { key, .. } | Node::Reserved { key, .. } => key,
        }
    }
}
