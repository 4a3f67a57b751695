//! The work around each operation that changes a table: the operation destroys some of the dead
//! entries, enters, does its own work, leaves, evicts entries beyond a limit, and wakes the waiters
//! of a reservation whose node the operation has replaced.

use super::evict::Eviction;
use super::flight::Overtaken;
use super::inside::{self, Tries};
use super::node::{Compare, Node};
use super::raw::{Match, Put};
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::Watches;
use crate::hash::HashValue;
use crate::panics::FirstPanic;

/// The dead entries that a change destroys.
#[derive(Clone, Copy, PartialEq)]
pub(super) enum Upkeep {
    /// The change continues the sweep, and destroys some of the entries that deaths have unlinked,
    /// before the change enters.
    All,
    /// As `All`, but without the sweep. If a destructor makes the change, a sweep would take the
    /// entry of the dying object for dead. The caller sweeps afterwards.
    Unswept,
    /// As `All`, for a change that puts a reservation and leaves quietly: no user code runs between
    /// the insertion of the reservation and the computation. A reservation takes no room within a
    /// limit, so the change evicts nothing.
    Reserving,
    /// None: a destructor might ask for the value that the thread is about to publish.
    Nothing,
}

/// A change of a table, while its thread is inside.
// The fields are references, so that the compiler keeps the fields in registers.
pub(super) struct Change<'c, 't, S: Schema<Watch: Watches>> {
    table: &'t Table<S>,
    pub(super) pin: &'c Pin<'t, S>,
    tries: &'c Tries,
    eviction: Option<&'c Eviction<'t, S>>,
    /// The reservation whose waiters go on when the thread has left.
    overtaken: &'c Overtaken,
}

impl<S: Schema<Watch: Watches>> Table<S> {
    /// Changes the table. T5: `body` leaves the result in the place passed to it, and all that
    /// `body` owns is dropped before `change` returns the result.
    ///
    /// # Panics
    /// If user code sets the entry under question at each try.
    #[inline]
    #[track_caller]
    pub(super) fn change<'t, R>(
        &'t self,
        upkeep: Upkeep,
        body: impl FnOnce(&Change<'_, 't, S>, &mut Option<R>),
    ) -> Option<R> {
        if matches!(upkeep, Upkeep::All | Upkeep::Reserving) {
            self.sweep_some();
        }
        let eviction = (upkeep != Upkeep::Reserving)
            .then(|| self.eviction())
            .flatten();
        let (mut result, overtaken) = (None, Overtaken::default());
        // The end of the block drops the pin, and not a call of `drop`: the call would copy the
        // pin.
        {
            let taken = match upkeep {
                Upkeep::All | Upkeep::Reserving | Upkeep::Unswept => self.take_some(),
                Upkeep::Nothing => None,
            };
            let (pin, tries) = (self.pin(), Tries::new());
            if let Some(taken) = taken {
                self.reap(&pin, taken);
            }
            let change = Change {
                table: self,
                pin: &pin,
                tries: &tries,
                eviction: eviction.as_ref(),
                overtaken: &overtaken,
            };
            body(&change, &mut result);
            tries.end();
        }
        if let Some(eviction) = eviction {
            eviction.end();
        }
        overtaken.wake();
        result
    }
}

impl<'g, 't, S: Schema<Watch: Watches>> Change<'g, 't, S> {
    /// Whether the change may go on, after a try has found the given node.
    #[inline]
    fn may_go_on(&self, hash: HashValue, there: Option<&Node<S>>) -> bool {
        there.is_none_or(|there| self.tries.found(self.table, hash, there))
    }

    /// The `sought` entry. The error means that the change has to end: see [`Tries::found`].
    #[inline]
    pub(super) fn find(
        &self,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> Match,
    ) -> Result<Option<&'g Node<S>>, ()> {
        let there = self.pin.get(hash.bits(), sought);
        self.may_go_on(hash, there).then_some(there).ok_or(())
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
        mut wanted: impl FnMut(&Node<S>) -> bool,
    ) -> Option<&'g Node<S>> {
        let is_sought = |node: &Node<S>| sought(node).into().noted(dead);
        let is_wanted = |node: &_| self.may_go_on(hash, Some(node)) && wanted(node);
        self.table.unlink_if(self.pin, hash, is_sought, is_wanted)
    }

    /// Inserts a node, or replaces the node with its key, if the present node is `expected`, and
    /// returns the replaced node. Otherwise the new node stays with the caller. `linked` is called
    /// before user code that runs because of the insertion.
    ///
    /// # Panics
    /// If the end of the old node does, or the bound of the table, after both.
    #[inline]
    pub(super) fn put(
        &self,
        node: &mut NewNode<'_, S>,
        mut expected: impl FnMut(Option<&'g Node<S>>) -> bool,
        linked: impl FnOnce(Option<&'g Node<S>>),
    ) -> Option<Option<&'g Node<S>>>
    where
        S: Compare,
    {
        let (table, hash) = (self.table, node.hash());
        // A weight is user code, and may panic: so the weighing comes before the change.
        let weight = table.weigh(node);
        // No user code compares addresses.
        let is_expected = |there| (S::BY_ADDRESS || self.may_go_on(hash, there)) && expected(there);
        let (old, new) = match self.pin.put(node, S::are_same, is_expected) {
            Put::Added(new) => (None, new),
            Put::Replaced { old, new } => (Some(old), new),
            Put::Refused => return None,
        };
        inside::has_put(table, hash, new);
        linked(old);
        let mut panics = FirstPanic::default();
        if let Some(old) = old {
            panics.catch(|| _ = table.end(old));
        }
        // Also after a panic: otherwise the bound would not know of the new node.
        if let Some(admission) = table.admission_of(new) {
            let eviction = self.eviction;
            panics.catch(|| table.tell(eviction, admission, weight));
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
