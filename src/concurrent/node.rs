//! The entries of a shared table.

use core::{mem, ptr};
use std::sync::Arc;

use super::bound::{Bounded, TableContext};
use super::schema::{Parts, Schema};
use super::watch::Watches;
use crate::flight::Reservation;
use crate::hash::HashValue;
use crate::keep::shared::Membership;
use crate::ptr::Off;
use crate::raw::{Entry, Match, Registered};

/// The comparisons of a [`Schema`]. They are user code.
pub(crate) trait Compare: Schema<Watch: Watches> {
    /// The key of the entry that takes the place of a reservation.
    fn key(probe: &Self::Probe) -> Self::Key
    where
        Self::Probe: Clone;
    /// Whether the entry of `node` has the key `probe`. The caller has compared the hashes.
    fn is_of(probe: &Self::Probe, node: &Node<Self>) -> Match;
    /// Whether `new`, a node that is not linked yet, has the same key as the linked node `there`.
    /// The caller has compared the hashes. False if the key of a node is the content of a dead
    /// object.
    fn have_same_key(new: &Node<Self>, there: &Node<Self>) -> bool;
}

/// An entry. A linked entry does not change, except that its watches end. To change a value is to
/// replace the entry.
///
/// The fields that a lookup reads come first, so that small fields are on one cache line: the kind
/// of entry and its hash in one word, its key, and its value. With `repr(u8)` the variants are laid
/// out as two C structs that begin with the same fields.
///
/// Aligned for [`Dead`](crate::ptr::Dead): the default alignment is too small where 64 bits are
/// aligned to four bytes.
#[repr(u8, align(8))]
pub(crate) enum Node<S: Schema> {
    Ready {
        /// The state of the entry in the floor or ceiling of the table, and its removal cause.
        membership: Membership,
        hash: HashValue,
        key: S::Key,
        value: S::Value,
        watch: S::Watch,
    },
    /// A leader makes the value. The node watches nothing: the leader watches the inputs, or keeps
    /// them alive.
    Reserved {
        hash: HashValue,
        key: S::Probe,
        reservation: Arc<Reservation>,
    },
}

impl<S: Schema> Node<S> {
    /// The entry of a ready node, as the bound of the table sees it.
    #[inline]
    pub(super) fn bounded(&self) -> Option<Bounded<'_, S>> {
        match self {
            Node::Ready {
                membership,
                hash,
                value,
                watch,
                ..
            } => Some(Bounded {
                addr: ptr::from_ref(self).addr(),
                membership,
                hash: *hash,
                watch,
                value,
            }),
            Node::Reserved { .. } => None,
        }
    }

    #[inline]
    pub(super) fn hash(&self) -> HashValue {
        match self {
            Node::Ready { hash, .. } | Node::Reserved { hash, .. } => *hash,
        }
    }

    /// Ends the registrations of the node. Not under a lock: the end of a registration may free
    /// hooks.
    #[inline]
    pub(super) fn deregister(&self) {
        if let Some(watch) = self.watch() {
            watch.end(&mut Off::new());
        }
    }

    #[inline]
    pub(super) fn new(hash: HashValue, key: S::Key, value: S::Value, watch: S::Watch) -> Self {
        Node::Ready {
            membership: Membership::new(),
            hash,
            key,
            value,
            watch,
        }
    }

    /// The key, the watch and the value of a ready node, which may be stale.
    #[inline]
    pub(super) fn entry(&self) -> Option<Parts<'_, S>> {
        match self {
            Node::Ready {
                key, watch, value, ..
            } => Some((key, watch, value)),
            Node::Reserved { .. } => None,
        }
    }

    /// The watch and the value of a ready node, which may be stale.
    #[inline]
    pub(super) fn ready(&self) -> Option<(&S::Watch, &S::Value)> {
        self.entry().map(|(_, watch, value)| (watch, value))
    }

    /// Notes that an unlinked node was dead: if the table keeps dead entries, the key and the value
    /// are kept when no thread looks at the node any more.
    #[cold]
    pub(super) fn keep(&self) {
        if let Node::Ready { membership, .. } = self {
            membership.end_dead();
        }
    }

    /// The reservation of the value, if the value is being made.
    pub(super) fn reservation(&self) -> Option<Arc<Reservation>> {
        match self {
            Node::Reserved { reservation, .. } => Some(Arc::clone(reservation)),
            Node::Ready { .. } => None,
        }
    }

    #[inline]
    pub(super) fn is_reserved_by(&self, reservation: *const Reservation) -> bool {
        matches!(self, Node::Reserved { reservation: there, .. } if ptr::eq(Arc::as_ptr(there), reservation))
    }
}

impl<S: Schema<Watch: Watches>> Node<S> {
    /// The watch and the value, if the node is ready and not stale.
    #[inline]
    pub(super) fn live(&self) -> Option<(&S::Watch, &S::Value)> {
        self.live_entry().map(|(_, watch, value)| (watch, value))
    }

    /// The key, the watch and the value, if the node is ready and not stale.
    #[inline]
    pub(super) fn live_entry(&self) -> Option<Parts<'_, S>> {
        self.entry().filter(|(_, watch, _)| !watch.is_stale())
    }

    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.ready().is_some_and(|(watch, _)| watch.is_stale())
    }

    /// Whether an object needed by the entry is dead.
    #[inline]
    pub(super) fn is_expired(&self) -> bool {
        self.ready().is_some_and(|(watch, _)| watch.is_expired())
    }
}

impl<S: Schema> Entry for Node<S> {
    /// The end of memory and watches may wait for the next thread that leaves the table. Users can
    /// notice a watch only by counting weak handles.
    const PROMPT: bool = mem::needs_drop::<(S::Key, S::Value)>();
    /// The keys and values of dead entries that the table keeps, and the bound of the table.
    type Context = TableContext<S>;
    type Watch = S::Watch;

    #[inline]
    fn hash(&self) -> u64 {
        self.hash().bits()
    }

    #[inline]
    fn hash_of(addr: *const (), short: u32) -> u64 {
        if S::BY_ADDRESS {
            HashValue::of_addr(addr).bits()
        } else {
            HashValue::of_short(short).bits()
        }
    }

    #[inline]
    fn watch(&self) -> Option<&S::Watch> {
        match self {
            Node::Ready { watch, .. } => Some(watch),
            Node::Reserved { .. } => None,
        }
    }

    #[inline]
    fn stored_hash(&self) -> Option<u32> {
        (!S::BY_ADDRESS).then(|| self.hash().short())
    }

    /// A reservation has no value yet, so it is not counted.
    fn is_counted(&self) -> bool {
        matches!(self, Node::Ready { .. })
    }

    #[inline]
    fn only_drops(&self, context: &Self::Context) -> bool {
        match self {
            Node::Ready { membership, .. } => context.only_drops(membership),
            Node::Reserved { .. } => true,
        }
    }

    #[cfg(feature = "holders")]
    fn statistics(
        context: &Self::Context,
        counts: &crate::raw::RawCounts,
    ) -> crate::statistics::Statistics {
        context.statistics(counts)
    }

    fn end(self, place: *const Self, context: &Self::Context) {
        match self {
            Node::Ready {
                membership,
                key,
                value,
                watch,
                ..
            } => context.end(place.addr(), &membership, (watch, value, key)),
            Node::Reserved { .. } => {}
        }
    }
}
