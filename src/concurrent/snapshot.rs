//! A snapshot for an iterator: the names of the entries of a shared collection, and the lookup of
//! each entry at its turn.
//!
//! A snapshot contains the names of entries, and nothing else of the entries: it makes no weak
//! handles, for which each object would need a record, and does not stay inside the table. So a
//! name may belong to a new entry by its turn, and then the iterator shows the new entry. No two
//! names are equal, so no entry is shown twice.

use core::fmt;
use core::iter::FusedIterator;
use std::vec::{self, Vec};

use super::content::ByContent;
use super::identity::Address;
use super::key::ByKey;
use super::lookup::ask;
use super::node::{KeyKind, Node};
use super::raw::{Registered, by_hashes};
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, Watches};
use crate::hash::HashValue;

/// The name of an entry, beside its hash.
pub(crate) trait Named<T>: KeyKind + Sized {
    type Name: PartialEq;
    fn name(key: &Self::Key, watch: &T) -> Self::Name;
    fn is_named<V>(node: &Node<Self, T, V>, name: &Self::Name) -> bool;
}

/// Named by the key: an entry that is set anew is the same entry only by `Eq`.
impl<K: Eq + Clone, T, const BY_ADDRESS: bool> Named<T> for ByKey<K, BY_ADDRESS> {
    type Name = K;

    fn name(key: &K, _: &T) -> K {
        key.clone()
    }

    fn is_named<V>(node: &Node<Self, T, V>, name: &K) -> bool {
        name == node.key()
    }
}

/// Named by the object: comparing contents would require to keep the object alive.
impl<K: SharedRef> Named<SharedWatchFor<K>> for ByContent<K> {
    type Name = Address;

    fn name((): &(), watch: &SharedWatchFor<K>) -> Address {
        Address::of(watch.addr()).1
    }

    fn is_named<V>(node: &Node<Self, SharedWatchFor<K>, V>, name: &Address) -> bool {
        node.ready()
            .is_some_and(|(watch, _)| Self::name(&(), watch) == *name)
    }
}

/// The entries that were in the table at the time of the snapshot, and whose turn has not come, in
/// no order.
pub(crate) struct Snapshot<'m, K: KeyKind, T: Registered, V, N, R> {
    table: &'m Table<K, T, V>,
    names: vec::IntoIter<(HashValue, N)>,
    show: fn(&K::Key, &T, &V) -> Option<R>,
}

impl<K: Named<T>, T: Watches, V> Table<K, T, V> {
    /// Creates a snapshot of all entries. At its turn, each entry is passed to `show`, which
    /// returns `None` if its object has died. O(capacity).
    pub(crate) fn snapshot<R>(
        &self,
        show: fn(&K::Key, &T, &V) -> Option<R>,
    ) -> Snapshot<'_, K, T, V, K::Name, R> {
        self.snapshot_of(None, |_| true, show)
    }

    /// Creates a snapshot of the entries with the given hashes (of all entries, if the hashes are
    /// not known) whose watches are `wanted` now; at its turn, an entry may have new watches.
    /// O(entries of the given hashes), or O(capacity).
    pub(super) fn snapshot_of<R>(
        &self,
        hashes: Option<Vec<HashValue>>,
        wanted: impl Fn(&T) -> bool,
        show: fn(&K::Key, &T, &V) -> Option<R>,
    ) -> Snapshot<'_, K, T, V, K::Name, R> {
        let mut names = Vec::new();
        if !self.is_new() {
            let reader = self.nodes.read();
            let add = |names: &mut Vec<_>, first: usize, node: &Node<K, T, V>| {
                let live = node.live_entry().filter(|(_, watch, _)| wanted(watch));
                if let Some((key, watch, _)) = live {
                    let name = (node.hash(), K::name(key, watch));
                    // An entry that was removed meanwhile, and inserted again, may be among the
                    // nodes twice.
                    if !names[first..].contains(&name) {
                        names.push(name);
                    }
                }
            };
            if let Some(hashes) = hashes {
                for hash in hashes {
                    let first = names.len();
                    reader.get(hash.bits(), |node| {
                        add(&mut names, first, node);
                        false
                    });
                }
            } else {
                let nodes = reader.entries();
                names.reserve_exact(nodes.len());
                for nodes in by_hashes(&nodes) {
                    let first = names.len();
                    for node in nodes {
                        add(&mut names, first, node);
                    }
                }
            }
        }
        Snapshot {
            table: self,
            names: names.into_iter(),
            show,
        }
    }
}

/// Yields the names of the entries that are still in the table, each with the result of `show`.
impl<K: Named<T, Name = N>, T: Watches, V, N: PartialEq, R> Iterator
    for Snapshot<'_, K, T, V, N, R>
{
    type Item = (N, R);

    /// O(1) for each name. `show` runs under no lock and while the entry is pinned. Does not sweep.
    #[inline]
    fn next(&mut self) -> Option<(N, R)> {
        let (table, show) = (self.table, self.show);
        self.names.by_ref().find_map(|(hash, name)| {
            let reader = table.nodes.read();
            let is_named = |node: &Node<K, T, V>| K::is_named(node, &name);
            let shown = ask(&reader, hash, is_named, show, |_| false).map(|(_, _, shown)| shown);
            // T5 of the table.
            drop(reader);
            Some((name, shown.ok()?))
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        (0, Some(self.names.len()))
    }
}

impl<K: Named<T, Name = N>, T: Watches, V, N: PartialEq, R> FusedIterator
    for Snapshot<'_, K, T, V, N, R>
{
}

impl<K: KeyKind, T: Registered, V, N, R> fmt::Debug for Snapshot<'_, K, T, V, N, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("left", &self.names.len())
            .finish()
    }
}
