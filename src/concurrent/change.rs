//! The work around each operation that changes a table: the operation destroys some of the dead
//! entries, enters, does its own work, leaves, evicts entries beyond a limit, and wakes the waiters
//! of a reservation whose node the operation has replaced.

use super::evict::Eviction;
use super::node::{Compare, Node};
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::Watches;
use crate::flight::Overtaken;
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::raw::{Match, Plain, Put};

/// The dead entries that a change destroys.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Upkeep {
    /// The change continues the sweep, and destroys some of the entries that deaths have unlinked,
    /// before the change enters.
    All,
    /// As `All`, but without the sweep. If a destructor makes the change, a sweep would take the
    /// entry of the dying object for dead. The caller sweeps afterwards.
    Unswept,
    /// None, for a change that puts a reservation and leaves quietly: no user code runs between the
    /// insertion of the reservation and the computation. The [end](super::leader::Leader) of the
    /// reservation does the upkeep. A reservation takes no room within a limit, so the change
    /// evicts nothing.
    Reserving,
    /// None: a destructor might ask for the value that the thread is about to publish.
    Nothing,
}

/// A change of a table, while its thread is inside.
// The fields are references, so that the compiler keeps the fields in registers.
pub(super) struct Change<'c, 't, S: Schema<Watch: Watches>> {
    table: &'t Table<S>,
    pub(super) pin: &'c Pin<'t, S>,
    /// The reservation whose waiters go on when the thread has left.
    overtaken: &'c Overtaken,
}

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Enters for a plain change, if the table has plain changes. Before, the thread destroys dead
    /// entries that are due.
    #[inline(always)]
    pub(super) fn plain(&self) -> Option<Plain<'_, Node<S>>> {
        if S::Watch::SWEPT != Some(false) {
            return None;
        }
        self.nodes
            .plain(|due| self.take_due(due), |taken| self.reap_taken(taken))
    }

    /// Changes the table. T5: `body` leaves the result in the place passed to it, and all that
    /// `body` owns is dropped before `change` returns the result.
    #[inline]
    pub(super) fn change<'t, R>(
        &'t self,
        upkeep: Upkeep,
        body: impl FnOnce(&Change<'_, 't, S>, &mut Option<R>),
    ) -> Option<R> {
        if upkeep == Upkeep::All {
            self.sweep_some();
        }
        let eviction = (upkeep != Upkeep::Reserving).then(|| Eviction(self));
        let (mut result, overtaken) = (None, Overtaken::default());
        // The end of the block drops the pin, and not a call of `drop`: the call would copy the
        // pin.
        {
            if matches!(upkeep, Upkeep::All | Upkeep::Unswept) {
                self.reap_some();
            }
            let pin = self.pin();
            let change = Change {
                table: self,
                pin: &pin,
                overtaken: &overtaken,
            };
            body(&change, &mut result);
        }
        // Before the waiters go on: they would evict in the place of this thread.
        drop(eviction);
        drop(overtaken);
        result
    }
}

impl<'g, 't, S: Schema<Watch: Watches>> Change<'g, 't, S> {
    /// The `sought` entry.
    #[inline]
    pub(super) fn find(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> Match,
    ) -> Option<&'g Node<S>> {
        self.pin.get(hash.bits(), sought)
    }

    /// Unlinks the `sought` entry, if the entry is `wanted`. `wanted` is called once for each
    /// entry. `dead` becomes true if a dead entry may have been the sought entry. T2: the caller
    /// has to end the unlinked node.
    #[inline]
    pub(super) fn unlink<M: Into<Match>>(
        &self,
        hash: HashValue,
        mut sought: impl FnMut(&Node<S>) -> M,
        dead: &mut bool,
        wanted: impl FnMut(&Node<S>) -> bool,
    ) -> Option<&'g Node<S>> {
        let is_sought = |node: &Node<S>| sought(node).into().noted(dead);
        self.table.unlink_if(self.pin, hash, is_sought, wanted)
    }

    /// Inserts a node, or replaces the node with its key, if the present node is `expected`, and
    /// returns the replaced node. Otherwise the new node stays with the caller. `linked` is called
    /// with the replaced and the new node, before user code that runs because of the insertion.
    ///
    /// # Panics
    /// If the end of the old node does, or the bound of the table, after both.
    #[inline]
    pub(super) fn put(
        &self,
        node: &mut NewNode<'_, S>,
        expected: impl FnMut(Option<&'g Node<S>>) -> bool,
        linked: impl FnOnce(Option<&'g Node<S>>, &'g Node<S>),
    ) -> Option<Option<&'g Node<S>>>
    where
        S: Compare,
    {
        let table = self.table;
        // A weight is user code, and may panic: so the weighing comes before the change.
        let weight = table.weigh(node);
        let (old, new) = match self.pin.put(node, S::have_same_key, expected) {
            Put::Added(new) => (None, new),
            Put::Replaced { old, new } => (Some(old), new),
            Put::Refused => return None,
        };
        linked(old, new);
        let mut panics = FirstPanic::default();
        if let Some(old) = old {
            panics.catch(|| _ = table.end(old));
        }
        // Also after a panic: otherwise the bound would not know of the new node.
        if table.needs_admission(new) {
            panics.catch(|| table.admit_entry(new, weight));
        }
        panics.resume();
        Some(old)
    }

    /// Notes the reservation of a replaced node. The waiters of the reservation go on when the
    /// calling thread has left the table.
    #[inline]
    pub(super) fn overtake(&self, old: Option<&Node<S>>) {
        self.overtaken.set(old.and_then(Node::reservation));
    }
}
