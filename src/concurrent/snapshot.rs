//! What an iterator notes of the entries of a shared collection, and how it finds each again at its turn.
//!
//! A snapshot names entries, and keeps nothing of them: it neither makes weak pointers, for which an object would need a
//! record, nor stays inside the table. So a name may be that of another entry by its turn, which is then shown; no two
//! names are equal, so none is shown twice.

use std::vec::{self, Vec};

use super::content::ByContent;
use super::key::{Address, ByKey, KeyKind};
use super::node::Node;
use super::raw::by_hashes;
use super::table::Table;
use super::watch::{Registered, SharedRef, SharedWatchFor, UpgradesOne, Watches};
use crate::hash::HashValue;

/// The entries that were there when it was made, and whose turn has not come, in no order.
pub(super) struct Snapshot<'m, K: KeyKind, T: Registered, V, N> {
    table: &'m Table<K, T, V>,
    names: vec::IntoIter<(HashValue, N)>,
}

impl<'m, K: KeyKind, T: Watches, V, N: PartialEq> Snapshot<'m, K, T, V, N> {
    /// O(capacity).
    fn of(table: &'m Table<K, T, V>, name: impl Fn(&K::Key, &T) -> N) -> Self {
        let mut names = Vec::new();
        if !table.nodes.is_new() {
            let reader = table.nodes.read();
            let nodes = reader.entries();
            names.reserve_exact(nodes.len());
            for nodes in by_hashes(&nodes) {
                let first = names.len();
                for node in nodes {
                    let Some((key, watch, _)) = node.live_entry() else {
                        continue;
                    };
                    let name = (node.hash(), name(key, watch));
                    // One that was removed meanwhile, and inserted again, may be among the nodes twice.
                    if !names[first..].contains(&name) {
                        names.push(name);
                    }
                }
            }
        }
        let names = names.into_iter();
        Snapshot { table, names }
    }

    /// Shows the next entry that is still there to a closure, which returns `None` if its object has died. O(1) for each
    /// name. The closure runs under no lock and while the entry is pinned. Does not sweep.
    #[inline]
    fn show_next<R>(
        &mut self,
        is_of: impl Fn(&N, &Node<K, T, V>) -> bool,
        show: impl Fn(&T, &V) -> Option<R>,
    ) -> Option<(N, R)> {
        let table = self.table;
        self.names.by_ref().find_map(|(hash, name)| {
            let reader = table.nodes.read();
            let found = reader.get(hash.bits(), |node| is_of(&name, node));
            let shown = found
                .and_then(Node::ready)
                .and_then(|(watch, value)| show(watch, value));
            // T5 of the table.
            drop(reader);
            Some((name, shown?))
        })
    }
}

impl<K: KeyKind, T: Registered, V, N> Snapshot<'_, K, T, V, N> {
    pub(super) fn left(&self) -> usize {
        self.names.len()
    }
}

/// Named by their keys.
impl<'m, K: Eq, T: Watches, V, const BY_ADDRESS: bool> Snapshot<'m, ByKey<K, BY_ADDRESS>, T, V, K> {
    pub(super) fn new(table: &'m Table<ByKey<K, BY_ADDRESS>, T, V>) -> Self
    where
        K: Clone,
    {
        Self::of(table, |key, _| key.clone())
    }

    pub(super) fn next<R>(&mut self, show: impl Fn(&T, &V) -> Option<R>) -> Option<(K, R)> {
        self.show_next(|key, node| key == node.key(), show)
    }
}

type Watch<K> = SharedWatchFor<K>;

/// Named by their objects: a content could be asked for only while its object is kept alive.
impl<'m, K: SharedRef, V> Snapshot<'m, ByContent<K>, Watch<K>, V, Address> {
    pub(super) fn new(table: &'m Table<ByContent<K>, Watch<K>, V>) -> Self {
        Self::of(table, |(), watch| object(watch))
    }

    pub(super) fn next<R>(&mut self, show: impl Fn(&Watch<K>, &V) -> Option<R>) -> Option<R> {
        let is_of = |name: &_, node: &Node<_, Watch<K>, V>| {
            node.ready()
                .is_some_and(|(watch, _)| object(watch) == *name)
        };
        self.show_next(is_of, show).map(|(_, shown)| shown)
    }
}

fn object<T: UpgradesOne>(watch: &T) -> Address {
    Address::of(watch.addr()).1
}
