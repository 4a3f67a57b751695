//! How a table evicts the entries beyond its limit.

use core::cell::Cell;
use core::mem;
use core::ptr;
use std::sync::Arc;

use super::bound::{Bound, Bounded, Ceiling, Kind};
use super::node::Node;
use super::schema::Schema;
use super::table::Table;
use super::watch::Watches;
use crate::hash::HashValue;
use crate::keep::ring::Ring;
use crate::keep::{Gone, Limit};
use crate::panics::FirstPanic;
use crate::raw::NestedCall;
use crate::raw::Registered;

/// The number of dead entries that an eviction destroys although their end makes no room.
const MOST_IDLE: usize = 16;

/// The number of members that an eviction passes over because other entries depend on them.
const MOST_PASSED: usize = 16;

/// A node that was found or inserted, and the bound of its table. The bound has to admit the node.
pub(super) struct Admission<'g, S: Schema> {
    bound: &'g Bound<S>,
    entry: Bounded<'g, S>,
}

/// The end of an operation that may put an entry beyond the limit, or may unlink an entry. If the
/// operation panics, the guard evicts all the same: otherwise the victims would stay. A second
/// panic is dropped.
pub(super) struct Eviction<'t, S: Schema<Watch: Watches>> {
    table: &'t Table<S>,
    /// Whether an entry has to be evicted.
    due: Cell<bool>,
}

impl<S: Schema<Watch: Watches>> Eviction<'_, S> {
    /// Tells the bound of a node that the caller has pinned, with the [weight](Table::weigh) of the
    /// node, if the weight is known.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(&self, Admission { bound, entry }: Admission<'_, S>, weight: Option<usize>) {
        let due = bound.admit(&entry, weight);
        self.due.set(self.due.get() | due);
    }

    /// Evicts after an operation without a panic. The caller has left the table: destructors run
    /// here.
    #[inline]
    pub(super) fn end(self) {
        let (table, due) = (self.table, self.due.get());
        mem::forget(self);
        if due || table.bound().is_some_and(Bound::is_leaving) {
            table.evict_victims();
        }
    }
}

impl<S: Schema<Watch: Watches>> Drop for Eviction<'_, S> {
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.table.evict_victims());
        panics.forget();
    }
}

impl<S: Schema<Watch: Watches>> Table<S> {
    /// The weight of an entry that is about to be linked, if there is a limit. The weight is user
    /// code, and may panic: so the caller weighs the entry before the table changes.
    #[inline]
    pub(super) fn weigh(&self, node: &Node<S>) -> Option<usize> {
        let bound = self.bound()?;
        bound.weigh(&node.bounded()?)
    }

    /// The admission of a node that was found or inserted, and that the caller has pinned. Usually
    /// there is none.
    #[inline]
    pub(super) fn admission_of<'g>(&'g self, node: &'g Node<S>) -> Option<Admission<'g, S>> {
        let bound = self.bound()?;
        let entry = node
            .bounded()
            .filter(|entry| bound.needs_admission(entry))?;
        Some(Admission { bound, entry })
    }

    /// Tells the bound of the table of a node that a change has linked. The bound may be younger
    /// than the change: user code that the change runs may set the bound.
    #[cold]
    #[inline(never)]
    pub(super) fn tell(
        &self,
        eviction: Option<&Eviction<'_, S>>,
        admission: Admission<'_, S>,
        weight: Option<usize>,
    ) {
        match eviction {
            Some(eviction) => eviction.tell(admission, weight),
            None => self.hit(admission).end(),
        }
    }

    /// Tells the bound of the table of a node that a lookup has found. The caller ends the eviction
    /// after the caller has left the table.
    pub(super) fn hit(&self, admission: Admission<'_, S>) -> Eviction<'_, S> {
        let (table, due) = (self, Cell::new(false));
        let eviction = Eviction { table, due };
        eviction.tell(admission, None);
        eviction
    }

    /// Sets the bound of the table. The bound admits the present entries at once.
    #[track_caller]
    pub(super) fn set_bound(&self, bound: Bound<S>) {
        // A ceiling counts dead entries until they are destroyed, and may tell a listener.
        if !bound.is_floor() {
            self.nodes.be_prompt();
        }
        self.nodes.begin_concern().set_bound(bound);
        if self.is_new() {
            return;
        }
        let Some(eviction) = self.eviction() else {
            return;
        };
        let mut panics = FirstPanic::default();
        // E1 of `raw::plain`: a change that does not see the bound has linked its entry before.
        panics.catch(|| self.pin().pass_all());
        let reader = self.nodes.read();
        for node in reader.entries() {
            panics.catch(|| {
                let admission = (!node.is_stale())
                    .then(|| self.admission_of(node))
                    .flatten();
                admission
                    .into_iter()
                    .for_each(|admission| eviction.tell(admission, None));
            });
        }
        panics.catch(|| drop(reader));
        panics.catch(|| eviction.end());
        panics.resume();
    }

    /// Returns the guard for an operation that may put an entry beyond the limit, or may unlink an
    /// entry: see [`Eviction`]. The operation makes the guard first, so that the guard is dropped
    /// last.
    #[inline]
    pub(super) fn eviction(&self) -> Option<Eviction<'_, S>> {
        self.bound().map(|_| Eviction {
            table: self,
            due: Cell::new(false),
        })
    }

    /// Evicts the entries beyond the limit. The caller has left the table: destructors run here.
    ///
    /// The destructors may insert further entries beyond the limit: their eviction is left to this
    /// call.
    #[cold]
    #[inline(never)]
    pub(crate) fn evict_victims(&self) {
        if let Some(bound) = self.bound() {
            bound.evict_victims(self);
        }
    }

    /// Unlinks the victims of a ceiling.
    fn unlink_victims(&self) {
        let ceiling = self.known_ceiling();
        NestedCall::with(&ceiling.ring, 1, |turn| {
            if let Some(turn) = turn {
                self.unlink_in_turn(ceiling, turn);
            }
        });
    }

    fn unlink_in_turn(&self, ceiling: &Ceiling<S>, turn: &NestedCall) {
        let (mut more, mut panics) = (true, FirstPanic::default());
        let (mut idle, mut passed) = (0, 0);
        while more && passed < MOST_PASSED {
            self.make_room(ceiling, Ring::is_beyond, &mut idle, &mut panics);
            let pin = self.pin();
            let Some(going) = ceiling.ring.with(Ring::next_going) else {
                break;
            };
            // A node that is linked now is not freed before this thread leaves. But the death of
            // the victim may have unlinked the victim's node, and a drain that saw no thread inside
            // may have freed the node, before this thread entered. Then a new node may be at the
            // same address, with the same hash. The drain takes the victim out of the ring before
            // it frees the node, and the ring says so (Q5 of the ring): so this thread asks the
            // ring after it has found a node at the address.
            let mut answer = None;
            let mut is_gone = || {
                let end = || ceiling.ring.with(|ring| ring.end_going(&going));
                *answer.get_or_insert_with(end)
            };
            let is_it = |node: &Node<S>| ptr::from_ref(node).addr() == going.addr;
            // An entry that other entries depend on stays. If it fits, it becomes the newest
            // member, and may go later; otherwise it comes back to the ring with its next hit.
            let mut kept = false;
            let mut passes = |node: &Node<S>| {
                let entry = node.bounded().filter(|entry| entry.watch.has_dependents());
                if let Some((weight, entry)) = going.chosen.zip(entry.as_ref()) {
                    kept = ceiling.keep_on(entry, weight);
                }
                entry.is_some()
            };
            let wanted = |node: &Node<S>| is_gone() && !passes(node);
            let unlinked = self.unlink_if(&pin, going.what, is_it, wanted);
            is_gone();
            if let Some(node) = unlinked {
                self.count(|counts| &counts.evicted);
                if let Some(entry) = node.bounded() {
                    entry.fate.set_gone(going.why);
                }
                panics.catch(|| _ = self.end(node));
            }
            panics.catch(|| drop(pin));
            passed += usize::from(kept);
            more = turn.is_wanted_again() || going.more || kept;
        }
        panics.resume();
    }

    /// Destroys dead entries, one after the other, while the members of the ring are beyond a
    /// limit. A dead entry counts until it is destroyed, and otherwise a live entry would be
    /// evicted in its place. Ends when 16 dead entries have made no room: threads are looking at
    /// these entries, or the entries had died before the limit was set.
    fn make_room(
        &self,
        ceiling: &Ceiling<S>,
        is_beyond: impl Fn(&Ring<HashValue>) -> bool,
        idle: &mut usize,
        panics: &mut FirstPanic,
    ) {
        let beyond = || {
            let len = |ring: &mut Ring<_>| is_beyond(ring).then(|| ring.len());
            ceiling.ring.with(len)
        };
        while *idle < MOST_IDLE && self.nodes.dead() + self.nodes.waiting() != 0 {
            let Some(before) = beyond() else { return };
            if self.drain_dead(1, panics) == 0 {
                self.take_back(panics);
                *idle = MOST_IDLE;
            }
            *idle += usize::from(beyond().is_some_and(|now| now >= before));
        }
    }

    fn ceiling(&self) -> Option<&Ceiling<S>> {
        match &self.bound()?.kind {
            Kind::Ceiling(ceiling) => Some(ceiling),
            Kind::Floor(_) => None,
        }
    }

    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    fn known_ceiling(&self) -> &Ceiling<S> {
        self.ceiling()
            .expect("this collection has no ceiling: `set_ceiling` first")
    }

    #[track_caller]
    pub(crate) fn set_ceiling(
        &self,
        limit: Limit,
        weigh: impl Fn(&S::Value) -> usize + Send + Sync + 'static,
    ) {
        self.set_bound(Bound::ceiling(limit, weigh, Table::unlink_victims));
    }

    /// Sets the listener, which is told the key of an entry, its watch and its value.
    ///
    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    pub(crate) fn set_listener(
        &self,
        listener: impl Fn(&S::Key, S::Watch, &S::Value, Gone) + Send + Sync + 'static,
    ) {
        self.known_ceiling().listener.set(Some(Arc::new(listener)));
    }

    /// Whether a listener is told of evictions.
    pub(super) fn is_heard(&self) -> bool {
        self.bound().is_some_and(Bound::is_heard)
    }

    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    pub(crate) fn set_limit(&self, limit: Limit) {
        let ceiling = self.known_ceiling();
        ceiling.ring.set_limit(limit);
        self.evict_victims();
    }

    pub(crate) fn advance(&self) {
        if let Some(ceiling) = self.ceiling() {
            ceiling.ring.with(Ring::advance);
            self.evict_victims();
        }
    }

    /// Frees the memory of a ceiling that the present entries do not need.
    pub(super) fn shrink_ceiling(&self) {
        if let Some(ceiling) = self.ceiling() {
            (ceiling.calls.shrink)(ceiling);
        }
    }

    pub(crate) fn shrink_weight_to(&self, weight: usize) -> usize {
        let Some(ceiling) = self.ceiling() else {
            return 0;
        };
        let mut panics = FirstPanic::default();
        let is_beyond = |ring: &Ring<_>| ring.is_above(weight);
        self.make_room(ceiling, is_beyond, &mut 0, &mut panics);
        let gone = ceiling.ring.with(|ring| ring.let_go_above(weight));
        panics.catch(|| self.evict_victims());
        panics.resume();
        gone
    }

    pub(crate) fn retained_weight(&self) -> usize {
        self.ceiling()
            .map_or(0, |ceiling| ceiling.ring.with(|ring| ring.weight()))
    }
}
