//! The bound of a table: a floor, which keeps the objects of the table alive for a while, or a
//! ceiling, which evicts entries though their keys live.
//!
//! Both kinds meet an entry when a thread has inserted the entry, and when a thread has found the
//! entry and the ring has [news](Bound::is_news) about it: the thread then tells the ring of the
//! hit, or puts the entry into the ring. So a thread that finds an object which has left its floor
//! puts the object back.
//!
//! A weight is user code, which may panic. A thread weighs a new entry before it links the entry:
//! then the table has not changed yet. If the weight of a linked entry panics, the ring
//! [refuses](Ring::refuse) the entry as too heavy: otherwise a ceiling would not bound the entry.
//!
//! The victims of a meeting are evicted when the operation has left the table: see
//! [`settle`](super::settle).

use core::sync::atomic::{AtomicBool, AtomicUsize};
use std::boxed::Box;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::raw::SweepPosition;
use crate::hash::HashValue;
use crate::keep::ring::{Outcome, Ring, Told};
use crate::keep::shared::{Listener, Round, SharedRing, Stamp, weight_of};
use crate::keep::{Gone, Limit};
use crate::panics::FirstPanic;
use crate::sync;

/// What a table has besides its entries: what the ends of nodes use, which is what dead entries
/// leave, if that is to be kept, and what bounds the table; counts; and where its sweep is. It is
/// made when it is first used: an empty table is small.
pub(crate) struct Ends<K, T, V, N> {
    pub(super) kept: Kept<K, V>,
    bound: OnceLock<Box<Bound<K, T, V, N>>>,
    pub(super) counts: Counts,
    /// Whether there have been entries that have to be polled, if the type does not tell (see
    /// [`is_swept`](super::table::Table::is_swept)).
    pub(super) swept: AtomicBool,
    /// The sweep position.
    pub(super) position: SweepPosition,
}

/// The counts of a table.
#[derive(Default)]
pub(super) struct Counts {
    /// The number of invalidations.
    pub(super) invalidations: sync::AtomicUsize,
    /// The number of removed entries whose object had died, without entries that a death has
    /// unlinked.
    pub(super) dead: AtomicUsize,
    /// The number of entries that were removed although no object had died, and of values that were
    /// made and not kept.
    pub(super) discarded: AtomicUsize,
    /// The number of inserted entries.
    pub(super) inserted: AtomicUsize,
}

impl<K, T, V, N> Default for Ends<K, T, V, N> {
    fn default() -> Self {
        Ends {
            kept: Kept::new(),
            bound: OnceLock::new(),
            counts: Counts::default(),
            swept: AtomicBool::new(false),
            position: SweepPosition::new(),
        }
    }
}

impl<K, T, V, N> Ends<K, T, V, N> {
    #[inline]
    pub(super) fn bound(&self) -> Option<&Bound<K, T, V, N>> {
        self.bound.get().map(|bound| &**bound)
    }

    /// # Panics
    /// If there is a bound already.
    #[track_caller]
    pub(super) fn set_bound(&self, bound: Bound<K, T, V, N>) {
        assert!(
            self.bound.set(Box::new(bound)).is_ok(),
            "this collection has a floor or a ceiling already: `set_limit` of the collection changes the limit of a ceiling, \
             and `set_limit` of the `KeepAlive` that of a floor"
        );
    }
}

/// Says what something weighs.
pub(super) type Weigh<X> = dyn Fn(&X) -> usize + Send + Sync;
/// Is told what is left of an entry: its key, its watch and its value; and why it goes.
pub(super) type Hears<K, T, V> = dyn Fn(&K, T, &V, Gone) + Send + Sync;

pub(super) struct Bound<K, T, V, N> {
    round: Arc<Round>,
    pub(super) kind: Kind<K, T, V, N>,
}

#[expect(clippy::large_enum_variant, reason = "one for each table, in a box")]
pub(super) enum Kind<K, T, V, N> {
    Floor(Box<dyn Floor<N>>),
    Ceiling(Ceiling<K, T, V>),
}

/// Keeps the objects of nodes alive.
pub(super) trait Floor<N>: Send + Sync {
    /// What the object of a node weighs that is about to be linked; `None` if it is dead.
    fn weigh(&self, node: &N) -> Option<usize>;
    /// The node has been found, or inserted with this weight, and the caller has it pinned. Returns
    /// whether something has to go.
    ///
    /// # Panics
    /// If a weight does, after the object was refused.
    fn meet(&self, node: &N, weight: Option<usize>) -> bool;
    /// The node is unlinked, and its object need not be kept for it.
    fn leave(&self, node: &N);
    /// Lets go what has to.
    fn settle(&self);
}

/// Bounds the entries of a table, by the places of their nodes: a node in the ring is not freed.
pub(super) struct Ceiling<K, T, V> {
    pub(super) ring: SharedRing<HashValue>,
    pub(super) weigh: Box<Weigh<V>>,
    pub(super) listener: Listener<Hears<K, T, V>>,
}

impl<K, T, V, N> Bound<K, T, V, N> {
    pub(super) fn floor(round: &Arc<Round>, floor: impl Floor<N> + 'static) -> Self {
        Bound {
            round: Arc::clone(round),
            kind: Kind::Floor(Box::new(floor)),
        }
    }

    pub(super) fn ceiling(
        limit: Limit,
        weigh: impl Fn(&V) -> usize + Send + Sync + 'static,
    ) -> Self {
        let ring = SharedRing::new(Ring::new(limit));
        Bound {
            round: Arc::clone(ring.round()),
            kind: Kind::Ceiling(Ceiling {
                ring,
                weigh: Box::new(weigh),
                listener: Listener::new(),
            }),
        }
    }

    /// Whether a hit of a node has to be told.
    #[inline]
    pub(super) fn is_news(&self, stamp: &Stamp) -> bool {
        self.round.is_news(stamp)
    }

    /// Whether a thread has to take victims out of the ring.
    #[inline]
    pub(super) fn is_leaving(&self) -> bool {
        self.round.is_leaving()
    }

    /// The node is unlinked by a removal.
    pub(super) fn leave(&self, node: &N, stamp: &Stamp) {
        if !stamp.end() {
            return;
        }
        match &self.kind {
            Kind::Floor(floor) => floor.leave(node),
            Kind::Ceiling(ceiling) => ceiling.leave(node),
        }
    }

    pub(super) fn is_floor(&self) -> bool {
        matches!(self.kind, Kind::Floor(_))
    }

    /// Whether a listener is told of evictions.
    pub(super) fn is_heard(&self) -> bool {
        matches!(&self.kind, Kind::Ceiling(ceiling) if ceiling.listener.is_set())
    }

    /// The end of what was a node at this place. Listeners are called here, as destructors are.
    pub(super) fn end(
        &self,
        node: *const N,
        stamp: &Stamp,
        (key, watch, value): (&K, T, &V),
        why: Gone,
    ) {
        if let Kind::Ceiling(ceiling) = &self.kind {
            if stamp.is_known() {
                ceiling.leave(node);
            }
            if let Some(listener) = stamp.was_known().then(|| ceiling.listener.get()).flatten() {
                listener(key, watch, value, why);
            }
        }
    }
}

impl<K, T, V> Drop for Ceiling<K, T, V> {
    /// Both are a user's.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.listener.set(None));
        panics.catch(|| self.weigh = Box::new(|_| 0));
        panics.resume();
    }
}

impl<K, T, V> Ceiling<K, T, V> {
    /// As [`Floor::meet`].
    pub(super) fn meet<N>(
        &self,
        node: *const N,
        stamp: &Stamp,
        hash: HashValue,
        value: &V,
        weight: Option<usize>,
    ) -> bool {
        let addr = node.addr();
        if self.ring.tell(addr, stamp) {
            return false;
        }
        let (weight, panics) = weight_of(weight, || (self.weigh)(value));
        let due = self.ring.with_room(addr, |ring| {
            if stamp.set(None) {
                match ring.tell_or_keep(addr, weight, hash) {
                    Told::Yes(_) => _ = stamp.set(Some(ring.tell_round())),
                    Told::No(Outcome::Refused(hash)) => ring.refuse(addr, hash),
                    Told::No(_) => {}
                }
            }
            ring.is_due()
        });
        panics.resume();
        due
    }

    fn leave<N>(&self, node: *const N) {
        self.ring.with(|ring| ring.remove(node.addr()));
    }
}
