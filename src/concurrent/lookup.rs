//! Lookups in a table.

use super::evict::Eviction;
use super::node::Node;
use super::schema::{Parts, Schema};
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;
use crate::raw::{Match, Reader, Tally};

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Shows the `sought` entry. `hold` is asked about the entry, again when another thread has
    /// replaced the entry, and returns `None` if the entry is of no use; `show` gets the answer of
    /// `hold`. Both closures run under no lock and while the entry is pinned.
    ///
    /// Each n-th call of a thread sweeps, where a sweep may be of use. A call that finds only a
    /// dead entry evicts the entry, if the entry is `lost`: if no lookup finds the entry any more.
    /// Only a table with a bound counts hits, since a lookup asks for the bound anyway. No lookup
    /// counts misses.
    #[inline]
    pub(crate) fn read_where<M: Into<Match>, H, R>(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> M,
        hold: impl FnMut(&S::Key, &S::Watch, &S::Value) -> Option<H>,
        lost: impl Fn(&S::Watch) -> bool,
        show: impl FnOnce(H, &S::Key, &S::Value) -> R,
    ) -> Option<R> {
        if self.nodes.is_new() {
            return None;
        }
        let reader = self.nodes.read();
        let mut sweeps = S::Watch::SWEPT != Some(false) && reader.is_nth();
        let (node, (key, watch, value), held) = match ask(&reader, hash, sought, hold, lost) {
            Ok(found) => found,
            Err(evicts) => {
                drop(reader);
                if evicts {
                    self.evict(hash);
                }
                if sweeps {
                    self.sweep_some();
                }
                return None;
            }
        };
        let found = show(held, key, value);
        if self.bound().is_some() {
            reader.tally(Tally::Hit);
            // A separate end: most lookups admit nothing, and then need keep nothing for that.
            if self.needs_admission(node) {
                let eviction = Eviction(self);
                self.admit_entry(node, None);
                drop(reader);
                drop(eviction);
                return Some(found);
            }
        }
        // Not in the destructor of the object of the entry: the destructor may look the entry up
        // once more.
        sweeps = sweeps && !watch.is_stale();
        drop(reader);
        if sweeps {
            self.sweep_some();
        }
        Some(found)
    }
}

/// An entry that a lookup has found, its parts, and the answer of `hold` about the entry.
type Found<'g, S, H> = (&'g Node<S>, Parts<'g, S>, H);

/// Returns the `sought` entry, and the answer of `hold` about the entry: see
/// [`read_where`](Table::read_where). If there is no such entry, returns whether there is an entry
/// to evict.
#[inline]
pub(super) fn ask<'g, S: Schema<Watch: Watches>, M: Into<Match>, H>(
    reader: &'g Reader<'_, Node<S>>,
    hash: HashValue,
    mut sought: impl FnMut(&Node<S>) -> M,
    mut hold: impl FnMut(&S::Key, &S::Watch, &S::Value) -> Option<H>,
    lost: impl Fn(&S::Watch) -> bool,
) -> Result<Found<'g, S, H>, bool> {
    loop {
        let mut evicts = false;
        let there = reader.find(hash.bits(), |node| sought(node).into().noted(&mut evicts));
        let Some((entry, place)) = there.and_then(|place| Some((place.get().entry()?, place)))
        else {
            return Err(evicts);
        };
        if let Some(held) = hold(entry.0, entry.1, entry.2) {
            return Ok((place.get(), entry, held));
        }
        if !place.has_gone() {
            return Err(evicts || lost(entry.1));
        }
    }
}
