//! The bound of a table: a floor, which keeps the objects of the table alive for a while, or a
//! ceiling, which evicts entries though their keys live.
//!
//! Both kinds admit an entry when a thread has inserted the entry, and when a thread has found the
//! entry and the ring [asks for that](Bound::needs_admission): the thread then tells the ring of
//! the hit, or puts the entry into the ring. So an object that has left its floor comes back when a
//! thread finds the object.
//!
//! A weight is user code, which may panic. A thread weighs a new entry before it links the entry:
//! then the table has not changed yet. If the weight of a linked entry panics, the ring of a
//! ceiling [refuses](Ring::refuse) the entry as too heavy: otherwise the ceiling would not bound
//! the entry. The ring of a floor is not told.
//!
//! The victims of an admission are evicted when the operation has left the table: see
//! [`evict`](super::evict).

use core::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;
use std::sync::{Arc, OnceLock};

use super::kept::KeptRemains;
use super::schema::Schema;
use super::table::Table;
use crate::hash::HashValue;
use crate::keep::ring::Ring;
use crate::keep::shared::{Listener, Membership, Published, RingUsage, SharedRing};
use crate::keep::{Gone, Limit};
use crate::panics::{FirstPanic, apart};
use crate::raw::{RawCounts, Registered, SweepPosition};
use crate::statistics::Statistics;

/// All that a table has besides its entries: the kept keys and values of dead entries, and the
/// bound, which the ends of nodes use; counts; and the sweep position. It is made at its first use:
/// an empty table is small.
pub(crate) struct TableContext<S: Schema> {
    pub(super) kept: KeptRemains<S::Key, S::Value>,
    bound: OnceLock<Box<Bound<S>>>,
    pub(super) counts: Counts,
    /// Whether there have been entries that have to be polled, if the type does not tell (see
    /// [`is_swept`](super::table::Table::is_swept)).
    pub(super) swept: AtomicBool,
    /// The sweep position.
    pub(super) position: SweepPosition,
}

/// The counts of a table.
#[derive(Default)]
pub(crate) struct Counts {
    /// The number of callers that have waited, and got no value.
    pub(super) unanswered: AtomicUsize,
    /// The number of makings that failed, panicked or were dropped.
    pub(super) failures: AtomicUsize,
    /// In a memo, the number of entries that have ended, without entries that a death has unlinked;
    /// and of made values that an entry would have had, if no object had died and no call had
    /// removed the key meanwhile.
    pub(super) ended: AtomicUsize,
}

impl<S: Schema> Default for TableContext<S> {
    fn default() -> Self {
        TableContext {
            kept: KeptRemains::new(),
            bound: OnceLock::new(),
            counts: Counts::default(),
            swept: AtomicBool::new(false),
            position: SweepPosition::new(),
        }
    }
}

impl<S: Schema> TableContext<S> {
    #[inline]
    pub(super) fn bound(&self) -> Option<&Bound<S>> {
        self.bound.get().map(|bound| &**bound)
    }

    /// Whether the end of an entry may call the waker or the listener.
    #[inline]
    pub(super) fn ends_run_users(&self) -> bool {
        self.kept.is_keeping() || self.bound().is_some_and(|bound| !bound.is_floor())
    }

    /// # Panics
    /// If there is a bound already.
    #[track_caller]
    pub(super) fn set_bound(&self, bound: Bound<S>) {
        assert!(
            self.bound.set(Box::new(bound)).is_ok(),
            "this collection has a floor or a ceiling already: `set_limit` of the collection changes the limit of a ceiling, \
             and `set_limit` of the `KeepAlive` that of a floor"
        );
    }
}

impl<S: Schema> TableContext<S> {
    pub(super) fn statistics(&self, raw: &RawCounts) -> Statistics {
        let ring = self.bound().map(Bound::usage).unwrap_or_default();
        let [hits, misses, loads] = raw.tallies.map(|count| count as u64);
        let evicted = ring.evicted as u64;
        // Relaxed: a count.
        let counted = |count: &AtomicUsize| count.load(Relaxed) as u64;
        // Of the entries that have ended, the evicted entries are not invalidated.
        let ended = counted(&self.counts.ended) + raw.unlinked as u64;
        Statistics {
            hits,
            misses: misses + loads + counted(&self.counts.unanswered),
            loads,
            failures: counted(&self.counts.failures),
            evicted,
            invalidated: ended.saturating_sub(evicted) * u64::from(S::Watch::TIES),
            live: raw.entries as u64,
            retained_weight: ring.weight as u64,
        }
    }

    /// Drops the listener of a ceiling: the table ends, and no listener is told of the entries.
    pub(super) fn end_listener(&self) {
        if let Some(BoundKind::Ceiling(ceiling)) = self.bound().map(|bound| &bound.kind) {
            ceiling.listener.set(None);
        }
    }

    /// Whether the end of an entry is no more than the drop of its node.
    #[inline]
    pub(super) fn only_drops(&self, membership: &Membership) -> bool {
        self.bound().is_none() && !membership.is_dead()
    }

    /// Notes that the calling thread has unlinked the entry.
    pub(super) fn leave(&self, entry: &Bounded<'_, S>, why: Gone) {
        let membership = entry.membership;
        let is_early = self.bound().is_none() && membership.end_untold(why == Gone::Died);
        let has_item = !is_early && membership.end(why);
        if let Some(bound) = self.bound().filter(|_| has_item) {
            bound.take_out(entry.addr, entry.watch);
        }
    }

    /// Ends an entry whose node was at the given address. A bound gets the watch first, and calls
    /// the listener. Then the key and the value are kept or destroyed: the key first, as in the
    /// drop of a node, but no promise depends on the order. The listener and the destructors are
    /// user code.
    #[cold]
    pub(super) fn end(
        &self,
        addr: usize,
        membership: &Membership,
        (watch, value, key): (S::Watch, S::Value, S::Key),
    ) {
        let mut panics = FirstPanic::default();
        if let Some((bound, why)) = self.bound().zip(membership.cause()) {
            panics.catch(|| bound.end(addr, why, (&key, watch, &value)));
        }
        panics.catch(|| {
            if membership.is_dead() && self.kept.is_keeping() {
                self.kept.put(key, value);
            }
        });
        panics.resume();
    }
}

/// The weight of an object or a value.
pub(super) type Weigh<X> = dyn Fn(&X) -> usize + Send + Sync;
/// A listener. The arguments are the key of an ended entry, its watch and its value, and the
/// removal cause.
type Hears<S> =
    dyn Fn(&<S as Schema>::Key, <S as Schema>::Watch, &<S as Schema>::Value, Gone) + Send + Sync;

pub(super) struct Bound<S: Schema> {
    published: Arc<Published>,
    pub(super) kind: BoundKind<S>,
}

#[expect(clippy::large_enum_variant, reason = "one for each table, in a box")]
pub(super) enum BoundKind<S: Schema> {
    Floor(Box<dyn Floor<S::Watch>>),
    Ceiling(Ceiling<S>),
}

/// An entry, as the bound of its table sees the entry.
pub(super) struct Bounded<'n, S: Schema> {
    /// The address of the node.
    pub(super) addr: usize,
    pub(super) membership: &'n Membership,
    pub(super) hash: HashValue,
    pub(super) watch: &'n S::Watch,
    pub(super) value: &'n S::Value,
}

/// A floor, which keeps the watched objects of entries alive.
pub(super) trait Floor<T>: Send + Sync {
    /// The weight of the object of an entry that is about to be linked; `None` if the object is
    /// dead.
    fn weigh(&self, watch: &T) -> Option<usize>;
    /// As [`Bound::admit`].
    fn admit(&self, watch: &T, membership: &Membership, weight: Option<usize>);
    /// Stops keeping the object of an entry, if the object is alive.
    fn leave(&self, watch: &T);
    /// Releases the victims. The drop of a floor, with its table, releases the victims, too.
    fn evict_victims(&self);
    fn usage(&self) -> RingUsage;
}

/// The bound of the entries of a table, by the addresses of their nodes: a node in the ring is not
/// freed.
pub(super) struct Ceiling<S: Schema> {
    pub(super) ring: SharedRing<HashValue>,
    pub(super) weigh: Box<Weigh<S::Value>>,
    pub(super) listener: Listener<Hears<S>>,
    pub(super) calls: Calls<S>,
}

/// The calls by which a table reaches its ceiling. The calls are pointers, so that a program that
/// sets no ceiling does not contain their code. (No trait object: the values of a table with a
/// ceiling may borrow.)
pub(super) struct Calls<S: Schema> {
    admit: fn(&Ceiling<S>, &Bounded<'_, S>, Option<usize>),
    leave: fn(&Ceiling<S>, usize),
    evict: fn(&Table<S>),
    pub(super) shrink: fn(&Ceiling<S>),
}

impl<S: Schema> Bound<S> {
    pub(super) fn floor(published: &Arc<Published>, floor: impl Floor<S::Watch> + 'static) -> Self {
        Bound {
            published: Arc::clone(published),
            kind: BoundKind::Floor(Box::new(floor)),
        }
    }

    /// Makes a ceiling, whose victims `evict` evicts.
    pub(super) fn ceiling(
        limit: Limit,
        weigh: impl Fn(&S::Value) -> usize + Send + Sync + 'static,
        evict: fn(&Table<S>),
    ) -> Self {
        let ring = SharedRing::new(limit);
        Bound {
            published: Arc::clone(ring.published()),
            kind: BoundKind::Ceiling(Ceiling {
                ring,
                weigh: Box::new(weigh),
                listener: Listener::new(),
                calls: Calls {
                    admit: Ceiling::admit,
                    leave: |ceiling, addr| _ = ceiling.ring.with(|ring| ring.remove(addr)),
                    evict,
                    shrink: |ceiling| ceiling.ring.shrink_to_fit(),
                },
            }),
        }
    }

    /// Whether the bound has to be told of a hit of the entry.
    #[inline]
    pub(super) fn needs_admission(&self, entry: &Bounded<'_, S>) -> bool {
        self.published.needs_admission(entry.membership)
    }

    /// The weight of an entry that is about to be linked, if the weight is known. User code.
    #[cold]
    #[inline(never)]
    pub(super) fn weigh(&self, entry: &Bounded<'_, S>) -> Option<usize> {
        apart(|| match &self.kind {
            BoundKind::Floor(floor) => floor.weigh(entry.watch),
            BoundKind::Ceiling(ceiling) => Some((ceiling.weigh)(entry.value)),
        })
    }

    /// Notes that the caller has found the entry, or has inserted the entry with the given weight;
    /// the caller has the entry pinned.
    ///
    /// # Panics
    /// If a weight does, after the entry was refused.
    pub(super) fn admit(&self, entry: &Bounded<'_, S>, weight: Option<usize>) {
        match &self.kind {
            BoundKind::Floor(floor) => floor.admit(entry.watch, entry.membership, weight),
            BoundKind::Ceiling(ceiling) => (ceiling.calls.admit)(ceiling, entry, weight),
        }
    }

    /// Whether there are victims.
    #[inline]
    pub(super) fn has_victim(&self) -> bool {
        self.published.has_victim()
    }

    /// Evicts the victims. The caller has left the table: destructors run here.
    pub(super) fn evict_victims(&self, table: &Table<S>) {
        match &self.kind {
            BoundKind::Floor(floor) => floor.evict_victims(),
            BoundKind::Ceiling(ceiling) => (ceiling.calls.evict)(table),
        }
    }

    /// Takes the item of an entry out of the ring.
    fn take_out(&self, addr: usize, watch: &S::Watch) {
        match &self.kind {
            BoundKind::Floor(floor) => floor.leave(watch),
            BoundKind::Ceiling(ceiling) => (ceiling.calls.leave)(ceiling, addr),
        }
    }

    pub(super) fn usage(&self) -> RingUsage {
        match &self.kind {
            BoundKind::Floor(floor) => floor.usage(),
            BoundKind::Ceiling(ceiling) => ceiling.ring.usage(),
        }
    }

    pub(super) fn is_floor(&self) -> bool {
        matches!(self.kind, BoundKind::Floor(_))
    }

    /// Whether a listener is told of evictions.
    pub(super) fn is_heard(&self) -> bool {
        matches!(&self.kind, BoundKind::Ceiling(ceiling) if ceiling.listener.is_set())
    }

    /// Ends an entry whose node was at the given address: passes the watch to the listener, or
    /// destroys the watch. Both are user code.
    fn end(&self, addr: usize, why: Gone, (key, watch, value): (&S::Key, S::Watch, &S::Value)) {
        // No thread has taken the item of such an entry out of the ring. (`Died` is also the cause
        // of an entry that is linked when its table ends. Its object may live.)
        if why == Gone::Died {
            self.take_out(addr, &watch);
        }
        if let BoundKind::Ceiling(ceiling) = &self.kind {
            if let Some(listener) = ceiling.listener.get() {
                listener(key, watch, value, why);
            }
        }
    }
}

impl<S: Schema> Drop for Ceiling<S> {
    /// The listener and the weight are values of a user.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.listener.set(None));
        panics.catch(|| self.weigh = Box::new(|_| 0));
        panics.resume();
    }
}

impl<S: Schema> Ceiling<S> {
    /// As [`Bound::admit`].
    fn admit(&self, entry: &Bounded<'_, S>, weight: Option<usize>) {
        let (addr, membership) = (entry.addr, entry.membership);
        let item = (entry.hash, |_: &HashValue| (self.weigh)(entry.value));
        let refused = |ring: &mut Ring<HashValue>, _, hash| {
            ring.refuse(addr, hash);
            None
        };
        (self.ring).admit(addr, membership, weight, item, refused);
    }
}
