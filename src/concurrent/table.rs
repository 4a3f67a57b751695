//! The table under the shared collections: the table of [`raw`](crate::raw), whose entries have
//! keys, values and watches.
//!
//! * **T1** A lookup finds only entries whose object lives, or whose object's death has not
//!   finished yet: a death unlinks the entry before the memory of the payload is freed. The weak
//!   handle of a polled object pins the address of the object.
//! * **T2** A node is ended once, by the thread that has unlinked the node: the table hands a node
//!   to one thread only.
//! * **T3** A death unlinks the node with its registration and no other node.
//! * **T4** User code never runs under a lock of ours.
//! * **T5** Destructors of users run before a result is in its place: if a local dropped afterwards
//!   panics, the compiler leaks the result that a function is about to return.
//! * **T6** An operation that returns an object of a replaced or removed entry gets the handle
//!   before it unlinks the entry: so the object is alive when the entry is unlinked, or was dead
//!   before. (A handle that an operation asks for afterwards could come too late: a second thread
//!   sees that the entry is gone, and drops the last handle.) An operation that replaces an entry
//!   also holds the objects that have to be polled: otherwise an object could die unnoticed between
//!   the look at the entry and the replacement. The operation needs no handle where the caller has
//!   a handle, or where the death of the object unlinks the entry. A lookup that finds an object
//!   dead looks again if the entry is not linked any more (R5 of `raw`).

use core::panic::{RefUnwindSafe, UnwindSafe};
use core::ptr;
use core::sync::atomic::{AtomicUsize, Ordering::*};

use super::bound::{Bound, Counts};
use super::kept::KeptRemains;
use super::node::Node;
use super::schema::Schema;
use super::watch::{Unplaced, Watches};
use crate::hash::HashValue;
use crate::keep::Gone;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::raw::{Face, Match, RawTable, Registered, Unlinked, Writer};
use crate::statistics::{MemoryUsage, Statistics};
use crate::sync::const_fn;

/// Access to the nodes. Nodes unlinked with a pin are destroyed after the end of the pin, when no
/// thread looks at them any more.
pub(super) type Pin<'t, S> = Writer<'t, Node<S>>;

/// An entry that is about to be inserted.
pub(super) type NewNode<'t, S> = Unlinked<'t, Node<S>>;

pub(crate) struct Table<S: Schema> {
    /// The nodes; their context is the kept keys and values of dead entries, and the bound of the
    /// table.
    pub(super) nodes: RawTable<Node<S>>,
}

// A table is consistent between any two calls; a panic can leave only a value half changed.
impl<S: Schema<Value: RefUnwindSafe>> UnwindSafe for Table<S> {}
impl<S: Schema<Value: RefUnwindSafe>> RefUnwindSafe for Table<S> {}

impl<S: Schema<Watch: Watches>> Table<S> {
    const_fn! {
        /// Allocates nothing.
        pub(crate) fn new(face: Face) -> Self {
            Table {
                nodes: RawTable::of(face),
            }
        }
    }

    /// Makes room for the given number of entries in a new table.
    #[track_caller]
    pub(crate) fn with_room_for(self, capacity: usize) -> Self {
        self.nodes.allocate_for(capacity);
        self
    }

    /// The core for the registrations of watches.
    #[inline]
    pub(crate) fn core(&self) -> CoreRef {
        self.nodes.core_or_new()
    }

    /// The kept keys and values of dead entries, if an operation has made their list.
    #[inline]
    pub(super) fn kept(&self) -> Option<&KeptRemains<S::Key, S::Value>> {
        Some(&self.nodes.known_context()?.kept)
    }

    #[inline]
    pub(super) fn is_on_request(&self) -> bool {
        let context = self.nodes.concern();
        context.is_some_and(|context| context.kept.is_on_request())
    }

    /// Whether the keys and values of dead entries are kept now.
    #[inline]
    pub(super) fn is_keeping(&self) -> bool {
        let context = self.nodes.concern();
        context.is_some_and(|context| context.kept.is_keeping())
    }

    #[inline]
    pub(super) fn bound(&self) -> Option<&Bound<S>> {
        self.nodes.concern()?.bound()
    }

    #[inline]
    pub(super) fn pin(&self) -> Pin<'_, S> {
        self.nodes.write()
    }

    /// Whether there may be entries that have to be polled.
    #[inline]
    pub(super) fn is_swept(&self) -> bool {
        // Relaxed: a thread that misses the store sees the store at a later call.
        S::Watch::SWEPT.unwrap_or_else(|| {
            let context = self.nodes.known_context();
            context.is_some_and(|context| context.swept.load(Relaxed))
        })
    }

    /// The number of entries.
    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    /// The number of live entries. The call checks each entry.
    pub(crate) fn len_live(&self) -> usize {
        let mut live = 0;
        self.each(|_, watch, _| live += usize::from(!watch.is_expired()));
        live
    }

    /// The number of unlinked entries that are not destroyed: in the lists of the dead, waiting for
    /// a thread that may look at them, or with a kept key and value.
    pub(crate) fn pending_dead(&self) -> usize {
        self.nodes.dead() + self.nodes.waiting() + self.kept().map_or(0, KeptRemains::len)
    }

    /// Increments a count.
    pub(super) fn count(&self, which: impl FnOnce(&Counts) -> &AtomicUsize) {
        // Relaxed: a count.
        which(&self.nodes.context().counts).fetch_add(1, Relaxed);
    }

    pub(crate) fn statistics(&self) -> Statistics {
        let context = self.nodes.known_context();
        context.map_or_else(Statistics::default, |context| {
            context.statistics(&self.nodes.counts())
        })
    }

    #[cfg(feature = "holders")]
    pub(crate) fn set_name(&self, name: &str) {
        self.nodes.set_name(name);
    }

    pub(crate) fn memory_usage(&self) -> MemoryUsage {
        let mut usage = self.nodes.memory_usage();
        usage.entries += self.kept().map_or(0, KeptRemains::memory_usage);
        usage.rings = self.bound().map_or(0, |bound| bound.usage().bytes);
        usage
    }

    /// Visits all entries that are not stale, in no order.
    pub(crate) fn each(&self, mut look: impl FnMut(&S::Key, &S::Watch, &S::Value)) {
        if self.nodes.is_new() {
            return;
        }
        let reader = self.nodes.read();
        for node in reader.entries() {
            if let Some((key, watch, value)) = node.live_entry() {
                look(key, watch, value);
            }
        }
    }

    /// An entry that is about to be inserted.
    // Always: see `RawTable::entry`.
    #[inline(always)]
    pub(super) fn ready<'t>(
        &'t self,
        hash: HashValue,
        key: S::Key,
        watch: Unplaced<'t, S::Watch>,
        value: S::Value,
    ) -> NewNode<'t, S> {
        if S::Watch::SWEPT.is_none() && watch.is_swept() && !self.is_swept() {
            self.nodes.context().swept.store(true, Relaxed);
        }
        let make = || Node::new(hash, key, value, watch.into_inner());
        self.nodes.entry(make)
    }

    /// T2: ends a node that the current thread has unlinked. Returns whether the node was stale.
    #[inline]
    pub(super) fn end(&self, node: &Node<S>) -> bool {
        self.end_as(node, Gone::Removed)
    }

    /// Like [`end`](Self::end), with the removal cause of a live entry.
    #[inline]
    pub(super) fn end_as(&self, node: &Node<S>, why: Gone) -> bool {
        let is_keeping = self.is_keeping();
        let mut panics = FirstPanic::default();
        // If one of the questions below panics, the entry may be dead.
        let (mut stale, mut dead) = (false, true);
        panics.catch(|| {
            let is_stale = node.is_stale();
            dead = is_stale || is_keeping && node.is_expired();
            stale = is_stale;
        });
        if S::Watch::TIES && node.ready().is_some() {
            self.count(|counts| &counts.ended);
        }
        if let (Some(context), Some(entry)) = (self.nodes.concern(), node.bounded()) {
            let is_dead = stale || is_keeping && dead;
            let why = if is_dead { Gone::Died } else { why };
            // The object may die because its entry leaves the bound.
            panics.catch(|| context.leave(&entry, why));
        }
        node.deregister();
        panics.resume();
        stale
    }

    /// Unlinks the given node, if the node is still linked.
    pub(super) fn unlink(&self, pin: &Pin<'_, S>, node: &Node<S>) -> bool {
        self.unlink_as(pin, node, Gone::Removed)
    }

    /// Like [`unlink`](Self::unlink), with the removal cause of a live entry.
    pub(super) fn unlink_as(&self, pin: &Pin<'_, S>, node: &Node<S>, why: Gone) -> bool {
        self.unlink_if(pin, node.hash(), |now| ptr::eq(now, node), |_| true)
            .map(|node| self.end_as(node, why))
            .is_some()
    }

    /// Unlinks the first node of a hash for which `sought` is true, if the node is `wanted`.
    /// `wanted` is called once for each node. T2: the caller has to end the unlinked node.
    pub(super) fn unlink_if<'g, M: Into<Match>>(
        &self,
        pin: &'g Pin<'_, S>,
        hash: HashValue,
        sought: impl FnMut(&Node<S>) -> M,
        mut wanted: impl FnMut(&Node<S>) -> bool,
    ) -> Option<&'g Node<S>> {
        let mut asked = ptr::null();
        pin.remove_if(hash.bits(), sought, |node| {
            let yes = ptr::eq(asked, node) || wanted(node);
            asked = node;
            yes
        })
    }
}
