//! How a table evicts the entries beyond its limit.

use core::ptr;
use std::sync::Arc;

use super::bound::{Bound, BoundKind, Ceiling};
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

/// The end of an operation that may put an entry beyond the limit, or may unlink an entry: the
/// guard evicts the victims, also if the operation panics. The operation makes the guard first, and
/// drops the guard when it has left the table: destructors run then.
pub(super) struct Eviction<'t, S: Schema<Watch: Watches>>(pub(super) &'t Table<S>);

impl<S: Schema<Watch: Watches>> Drop for Eviction<'_, S> {
    #[inline]
    fn drop(&mut self) {
        if self.0.bound().is_some_and(Bound::has_victim) {
            self.0.evict_victims();
        }
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

    /// Whether the bound has to [admit](Self::admit_entry) a node that was found or inserted:
    /// usually not.
    #[inline]
    pub(super) fn needs_admission(&self, node: &Node<S>) -> bool {
        let bounded = self.bound().zip(node.bounded());
        bounded.is_some_and(|(bound, entry)| bound.needs_admission(&entry))
    }

    /// Tells the bound that the caller has found or inserted a node. The caller has pinned the
    /// node, and passes the [weight](Table::weigh) of the node, if the weight is known. Afterwards,
    /// the caller drops an [`Eviction`].
    ///
    /// The bound is not told of an entry that has an heir. The bound refuses an entry whose state
    /// has ended, but a plain change does not end the state of the entry that it replaces. If the
    /// ring got an item for this entry, the end of the entry would take the item out by the watch
    /// of the entry, which has no share of the object's block any more.
    #[cold]
    #[inline(never)]
    pub(super) fn admit_entry(&self, node: &Node<S>, weight: Option<usize>) {
        let bounded = self.bound().zip(node.bounded());
        if let Some((bound, entry)) = bounded.filter(|(_, entry)| !entry.watch.has_heir()) {
            bound.admit(&entry, weight);
        }
    }

    /// Sets the bound of the table. The bound admits the present entries at once.
    #[track_caller]
    pub(super) fn set_bound(&self, bound: Bound<S>) {
        // A ceiling counts dead entries until they are destroyed, and may tell a listener.
        if !bound.is_floor() {
            self.nodes.be_prompt();
        }
        let mut panics = FirstPanic::default();
        // E1 of `raw::plain`: a plain change has replaced its entry before a thread sees the bound:
        // see `admit_entry`.
        let context = self.nodes.begin_concern();
        if !self.nodes.is_new() {
            panics.catch(|| self.pin().pass_all());
        }
        context.set_bound(bound);
        // E1, once more: a change that does not see the bound has linked its entry before.
        self.nodes.begin_concern();
        if self.nodes.is_new() {
            return panics.resume();
        }
        let eviction = Eviction(self);
        panics.catch(|| self.pin().pass_all());
        let reader = self.nodes.read();
        for node in reader.entries() {
            panics.catch(|| {
                if !node.is_stale() && self.needs_admission(node) {
                    self.admit_entry(node, None);
                }
            });
        }
        panics.catch(|| drop(reader));
        panics.catch(|| drop(eviction));
        panics.resume();
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
        // A nested call leaves the victims to the outer call.
        NestedCall::with(&ceiling.ring, 1, |turn| {
            if turn.is_some() {
                self.unlink_in_turn(ceiling);
            }
        });
    }

    /// Unlinks the victims of the ceiling, one after the other, in the only turn of the thread.
    fn unlink_in_turn(&self, ceiling: &Ceiling<S>) {
        let mut panics = FirstPanic::default();
        let (mut idle, mut passed) = (0, 0);
        while passed < MOST_PASSED && ceiling.ring.has_victim() {
            self.destroy_dead(ceiling, Ring::exceeds_limit, &mut idle, &mut panics);
            // A node that is linked now is not freed before this thread leaves. But the death of
            // the victim may have unlinked the victim's node, and a drain that saw no thread inside
            // may have freed the node, before this thread entered. Then a new node may be at the
            // same address: so this thread asks the ring after it has found a node (S4 of
            // `keep::shared`).
            let pin = self.pin();
            let Some(victim) = ceiling.ring.next_victim() else {
                break;
            };
            let is_it = |node: &Node<S>| ptr::from_ref(node).addr() == victim.addr;
            // An entry that other entries depend on stays. If it fits, it becomes the newest
            // member, and may go later; otherwise it comes back to the ring with its next hit.
            let wanted = |node: &Node<S>| {
                let Some(entry) = node.bounded() else {
                    return false;
                };
                let is_evicted = ceiling.ring.is_evicted(victim.addr, entry.membership);
                let passes = is_evicted && entry.watch.has_dependents();
                if passes && ceiling.ring.take_back(&victim, entry.membership) {
                    passed += 1;
                }
                is_evicted && !passes
            };
            if let Some(node) = self.unlink_if(&pin, victim.what, is_it, wanted) {
                ceiling.ring.count_evicted();
                panics.catch(|| _ = self.end_as(node, victim.why));
            }
            panics.catch(|| drop(pin));
        }
        panics.resume();
    }

    /// Destroys dead entries, one after the other, while the members of the ring are beyond a
    /// limit. A dead entry counts until it is destroyed, and otherwise a live entry would be
    /// evicted in its place. Ends when 16 dead entries have made no room, because threads are
    /// looking at these entries, or the entries had died before the limit was set. Also ends when
    /// no dead entry can be taken.
    fn destroy_dead(
        &self,
        ceiling: &Ceiling<S>,
        exceeds: impl Fn(&Ring<HashValue>) -> bool,
        idle: &mut usize,
        panics: &mut FirstPanic,
    ) {
        let beyond = || {
            let len = |ring: &mut Ring<_>| exceeds(ring).then(|| ring.len());
            ceiling.ring.with(len)
        };
        while *idle < MOST_IDLE && self.nodes.dead() + self.nodes.waiting() != 0 {
            let Some(before) = beyond() else { return };
            if self.drain_dead(1, panics) == 0 {
                // No entry can be taken: the rest wait for threads inside (D2 of `raw`), or other
                // threads have taken them, or too many drains of this thread nest. A reader may
                // have left entries to the next thread that leaves (D3): leave once, and give up.
                self.enter_and_leave(panics);
                *idle = MOST_IDLE;
            }
            *idle += usize::from(beyond().is_some_and(|now| now >= before));
        }
    }

    fn ceiling(&self) -> Option<&Ceiling<S>> {
        match &self.bound()?.kind {
            BoundKind::Ceiling(ceiling) => Some(ceiling),
            BoundKind::Floor(_) => None,
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

    /// Sets another limit of the ceiling, and evicts the entries beyond the limit.
    ///
    /// # Panics
    /// If there is no ceiling.
    #[track_caller]
    pub(crate) fn set_limit(&self, limit: Limit) {
        let ceiling = self.known_ceiling();
        ceiling.ring.set_limit(limit);
        self.evict_victims();
    }

    /// Begins the next generation of the ceiling, if any, and evicts the entries that are too old.
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

    /// Evicts entries until the remaining entries weigh at most `weight`. Returns the number of
    /// entries that the ring has given up; 0 without a ceiling.
    pub(crate) fn shrink_weight_to(&self, weight: usize) -> usize {
        let Some(ceiling) = self.ceiling() else {
            return 0;
        };
        let mut panics = FirstPanic::default();
        let exceeds = |ring: &Ring<_>| ring.is_above(weight);
        self.destroy_dead(ceiling, exceeds, &mut 0, &mut panics);
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
