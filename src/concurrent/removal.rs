//! The removal of many entries: of the entries for an object, of the entries that a closure
//! rejects, or of all entries.

use std::vec::Vec;

use super::change::Upkeep;
use super::node::Node;
use super::schema::Schema;
use super::table::Table;
use super::watch::{Watches, WatchesOne};
use crate::hash::HashValue;
use crate::panics::FirstPanic;

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Removes the entries that are not `wanted`; the sweep removes stale entries.
    pub(crate) fn retain(&self, mut wanted: impl FnMut(&S::Key, &S::Watch, &S::Value) -> bool) {
        if self.nodes.is_new() {
            return;
        }
        _ = self.change(Upkeep::All, |change, _: &mut Option<()>| {
            for node in change.pin.entries() {
                let unwanted = |(key, watch, value)| !wanted(key, watch, value);
                if node.live_entry().is_some_and(unwanted) {
                    self.unlink(change.pin, node);
                }
            }
        });
    }

    /// The hashes of the entries for an object: see [`WatchesOne::hashes_of`].
    pub(crate) fn hashes_of<W: WatchesOne>(&self, object: &W::Key) -> Option<Vec<HashValue>> {
        match self.nodes.core() {
            Some(core) => W::hashes_of(object, core),
            None => Some(Vec::new()),
        }
    }

    /// Removes the entries with the given hashes and `unwanted` watches, and returns their number.
    /// If the hashes are not known, removes the entries of the whole table with `unwanted` watches.
    /// The sweep removes stale entries. The table will not keep values in the making for
    /// `unwanted_keys`, but their makers return them; they do not count. O(entries of the given
    /// hashes), or O(capacity). Entries that other threads insert meanwhile may stay. The closures
    /// may be called again when other threads change the table.
    ///
    /// The keys and values of the entries are destroyed when all entries are unlinked.
    pub(crate) fn remove_each(
        &self,
        hashes: Option<&[HashValue]>,
        mut unwanted: impl FnMut(&S::Watch) -> bool,
        mut unwanted_keys: impl FnMut(&S::Probe) -> bool,
    ) -> usize {
        self.unlink_each(Upkeep::All, hashes, |node| match node {
            Node::Ready { watch, .. } => !watch.is_stale() && unwanted(watch),
            Node::Reserved { key, .. } => unwanted_keys(key),
        })
    }

    /// Removes the `unwanted` nodes with the given hashes, or of the whole table, and returns the
    /// number of removed nodes with values. If a new node takes the place of a removed node
    /// meanwhile, the new node is removed too, if it is unwanted.
    fn unlink_each(
        &self,
        upkeep: Upkeep,
        hashes: Option<&[HashValue]>,
        mut unwanted: impl FnMut(&Node<S>) -> bool,
    ) -> usize {
        if self.nodes.is_new() {
            return 0;
        }
        let mut removed = 0;
        _ = self.change(upkeep, |change, _: &mut Option<()>| {
            let (pin, mut panics) = (change.pin, FirstPanic::default());
            let again = true;
            let mut end = |node: &Node<S>| {
                removed += usize::from(node.ready().is_some());
                panics.catch(|| _ = self.end(node));
            };
            if let Some(hashes) = hashes {
                // Buckets and entries are usually not cached, and each miss takes longer than the
                // rest of a removal.
                for (at, hash) in hashes.iter().enumerate() {
                    if let Some(later) = hashes.get(at + 8) {
                        pin.prefetch(later.bits());
                    }
                    if let Some(soon) = hashes.get(at + 4) {
                        pin.prefetch_entries(soon.bits());
                    }
                    pin.remove_all(hash.bits(), again, &mut unwanted, &mut end);
                }
            } else {
                pin.remove_everywhere(again, unwanted, end);
            }
            panics.resume();
        });
        removed
    }

    /// Removes all entries, dead or alive. The table will not keep a value in the making.
    pub(crate) fn clear(&self) {
        if self.nodes.is_new() {
            return;
        }
        let mut panics = FirstPanic::default();
        panics.catch(|| _ = self.unlink_each(Upkeep::Nothing, None, |_| true));
        panics.catch(|| _ = self.purge());
        panics.resume();
    }
}
