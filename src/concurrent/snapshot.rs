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

use super::lookup::ask;
use super::node::Node;
use super::schema::Schema;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;
use crate::raw::by_hashes;

/// Shows an entry, unless its object has died.
type Show<S, R> =
    fn(&<S as Schema>::Key, &<S as Schema>::Watch, &<S as Schema>::Value) -> Option<R>;

/// The entries that were in the table at the time of the snapshot, and whose turn has not come, in
/// no order.
pub(crate) struct Snapshot<'m, S: Schema, R> {
    table: &'m Table<S>,
    names: vec::IntoIter<(HashValue, S::Name)>,
    show: Show<S, R>,
}

impl<S: Schema<Key: Clone, Watch: Watches, Name: PartialEq>> Table<S> {
    /// Creates a snapshot of all entries. At its turn, each entry is passed to `show`, which
    /// returns `None` if its object has died. O(capacity).
    pub(crate) fn snapshot<R>(&self, show: Show<S, R>) -> Snapshot<'_, S, R> {
        self.snapshot_of(None, |_| true, show)
    }

    /// Creates a snapshot of the entries with the given hashes (of all entries, if the hashes are
    /// not known) whose watches are `wanted` now; at its turn, an entry may have new watches.
    /// O(entries of the given hashes), or O(capacity).
    pub(super) fn snapshot_of<R>(
        &self,
        hashes: Option<Vec<HashValue>>,
        wanted: impl Fn(&S::Watch) -> bool,
        show: Show<S, R>,
    ) -> Snapshot<'_, S, R> {
        let mut names = Vec::new();
        if !self.nodes.is_new() {
            let reader = self.nodes.read();
            let add = |names: &mut Vec<_>, first: usize, node: &Node<S>| {
                let live = node.live_entry().filter(|(_, watch, _)| wanted(watch));
                if let Some((key, watch, _)) = live {
                    let name = (node.hash(), S::name(key, watch));
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
impl<S: Schema<Watch: Watches, Name: PartialEq>, R> Iterator for Snapshot<'_, S, R> {
    type Item = (S::Name, R);

    /// O(1) for each name. `show` runs under no lock and while the entry is pinned. Does not sweep.
    #[inline]
    fn next(&mut self) -> Option<(S::Name, R)> {
        let (table, show) = (self.table, self.show);
        self.names.by_ref().find_map(|(hash, name)| {
            let reader = table.nodes.read();
            let is_named = |node: &Node<S>| {
                let entry = node.entry();
                entry.is_some_and(|(key, watch, _)| S::is_named(key, watch, &name))
            };
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

impl<S: Schema<Watch: Watches, Name: PartialEq>, R> FusedIterator for Snapshot<'_, S, R> {}

impl<S: Schema, R> fmt::Debug for Snapshot<'_, S, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Snapshot")
            .field("left", &self.names.len())
            .finish()
    }
}
