//! The nodes of one hash: what `papaya` maps a hash to.
//!
//! `papaya` cannot hold many keys of equal hash: at the 32nd it grows for ever, or holds them in a chain of
//! tables over which it cannot iterate. So it is given each hash once. This also keeps code of users out of it:
//! what it compares are hashes, and what is decided beside it is put in place by a comparison of addresses.

use core::slice;
use std::sync::Arc;

use super::pin::Contained;

/// It does not change: another takes its place. Never empty.
pub(super) enum Bucket<N> {
    One(Arc<Contained<N>>),
    /// Equal hashes.
    Many(Arc<[Arc<Contained<N>>]>),
}

impl<N> Bucket<N> {
    #[inline]
    pub(super) fn nodes(&self) -> &[Arc<Contained<N>>] {
        match self {
            Bucket::One(node) => slice::from_ref(node),
            Bucket::Many(nodes) => nodes,
        }
    }

    #[inline]
    pub(super) fn find(&self, mut wanted: impl FnMut(&N) -> bool) -> Option<&Arc<Contained<N>>> {
        self.nodes().iter().find(|node| wanted(node))
    }

    /// With a node more, or in the place of another.
    #[inline]
    pub(super) fn with(
        this: Option<&Self>,
        node: &Arc<Contained<N>>,
        replaced: Option<&Arc<Contained<N>>>,
    ) -> Self {
        let others = this.map_or(&[][..], Self::nodes);
        match (others, replaced) {
            ([], _) | ([_], Some(_)) => Bucket::One(Arc::clone(node)),
            _ => {
                let others = others.iter().filter(|other| !is(other, replaced));
                Bucket::Many(others.chain([node]).cloned().collect())
            }
        }
    }

    /// Without a node; none if it was the only one.
    #[inline]
    pub(super) fn without(&self, node: &Arc<Contained<N>>) -> Option<Self> {
        let others = || self.nodes().iter().filter(|other| !is(other, Some(node)));
        match self.nodes().len() {
            1 => None,
            2 => others().next().cloned().map(Bucket::One),
            _ => Some(Bucket::Many(others().cloned().collect())),
        }
    }
}

fn is<N>(one: &Arc<Contained<N>>, other: Option<&Arc<Contained<N>>>) -> bool {
    other.is_some_and(|other| Arc::ptr_eq(one, other))
}

impl<N> Clone for Bucket<N> {
    fn clone(&self) -> Self {
        match self {
            Bucket::One(node) => Bucket::One(Arc::clone(node)),
            Bucket::Many(nodes) => Bucket::Many(Arc::clone(nodes)),
        }
    }
}
