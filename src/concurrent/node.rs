//! The entries of a shared table, and how they are told apart.

use core::mem;
use core::sync::atomic::{AtomicU8, Ordering::*};
use std::sync::Arc;

use super::bound::{Bound, Ends};
use super::flight::Making;
use super::raw::{Entry, Match, Registered};
use super::watch::Watches;
use crate::hash::HashValue;
use crate::keep::Gone;
use crate::keep::shared::Stamp;
use crate::panics::FirstPanic;
use crate::ptr::Off;

/// How the entries of a table are told apart: by [keys](super::key), which each has, or by the
/// [content](super::content) of the object that each watches.
pub(crate) trait KeyKind {
    /// Whether the hash of an entry is that of the address of the one object that it watches: then
    /// no registration stores it.
    const BY_ADDRESS: bool = false;
    /// The key of an entry, beside its watch.
    type Key;
    /// The key of a mark, which says that a thread makes the value. A mark watches no object.
    type FlightKey;
}

/// The comparisons of a [`KeyKind`], for a table with this watch. They are user code.
pub(crate) trait Compare<T>: KeyKind + Sized {
    /// The key of the entry that takes the place of a mark.
    fn key(by: &Self::FlightKey) -> Self::Key
    where
        Self::FlightKey: Clone;
    fn is_of<V>(by: &Self::FlightKey, node: &Node<Self, T, V>) -> Match;
    fn are_same<V>(node: &Node<Self, T, V>, there: &Node<Self, T, V>) -> bool;
}

/// An entry. Once it is in the table it does not change, except that its watches end. To change a
/// value is to replace the entry.
///
/// What a lookup reads comes first, so that it is on one cache line where it is small: the kind of
/// entry and its hash in one word, its key, and its value. With `repr(u8)` the variants are laid
/// out as two C structs that begin with the same fields.
///
/// Aligned for [`Dead`](crate::ptr::Dead), as it would not be where 64 bits are aligned to four
/// bytes.
#[repr(u8, align(8))]
pub(crate) enum Node<K: KeyKind, T, V> {
    Ready {
        /// What becomes of it. Set by the thread that has unlinked it.
        fate: AtomicU8,
        /// The place of the entry in the ring that bounds the table.
        stamp: Stamp,
        hash: HashValue,
        key: K::Key,
        value: V,
        watch: T,
    },
    /// A thread or tasks make the value. The node watches nothing: the thread or the tasks watch,
    /// or keep the inputs alive.
    InFlight {
        hash: HashValue,
        key: K::FlightKey,
        flight: Arc<Making>,
    },
}

/// What a node owns is to be kept at its end.
const KEPT: u8 = 1 << 7;
/// Why it has gone: nobody says so of a death.
const GONE: [Gone; 5] = [
    Gone::Died,
    Gone::Removed,
    Gone::Entries,
    Gone::Weight,
    Gone::Generation,
];

impl<K: KeyKind, T, V> Node<K, T, V> {
    pub(super) fn stamp(&self) -> Option<&Stamp> {
        match self {
            Node::Ready { stamp, .. } => Some(stamp),
            Node::InFlight { .. } => None,
        }
    }

    /// Why it is unlinked.
    fn gone(&self) -> Gone {
        match self {
            // Relaxed: see `mark`.
            Node::Ready { fate, .. } => GONE[usize::from(fate.load(Relaxed) & !KEPT)],
            Node::InFlight { .. } => Gone::Removed,
        }
    }

    #[inline]
    pub(super) fn hash(&self) -> HashValue {
        match self {
            Node::Ready { hash, .. } | Node::InFlight { hash, .. } => *hash,
        }
    }
}

/// What bounds a table.
pub(super) type BoundOf<K, T, V> = Bound<<K as KeyKind>::Key, T, V, Node<K, T, V>>;

impl<K: KeyKind, T: Registered, V> Node<K, T, V> {
    /// Ends its registrations. Not under a lock: that may free hooks.
    #[inline]
    pub(super) fn deregister(&self) {
        if let Some(watch) = self.watch() {
            watch.end(&mut Off::new());
        }
    }
}

impl<K: KeyKind, T: Watches, V> Node<K, T, V> {
    #[inline]
    pub(super) fn new(hash: HashValue, key: K::Key, value: V, watch: T) -> Self {
        Node::Ready {
            fate: AtomicU8::new(0),
            stamp: Stamp::new(),
            hash,
            key,
            value,
            watch,
        }
    }

    /// The key, the watch and the value of a ready node, which may be stale.
    #[inline]
    pub(super) fn entry(&self) -> Option<(&K::Key, &T, &V)> {
        match self {
            Node::Ready {
                key, watch, value, ..
            } => Some((key, watch, value)),
            Node::InFlight { .. } => None,
        }
    }

    /// The watch and the value of a ready node, which may be stale.
    #[inline]
    pub(super) fn ready(&self) -> Option<(&T, &V)> {
        self.entry().map(|(_, watch, value)| (watch, value))
    }

    /// Its watch and its value, if it is ready and not stale.
    #[inline]
    pub(super) fn live(&self) -> Option<(&T, &V)> {
        self.live_entry().map(|(_, watch, value)| (watch, value))
    }

    /// The same, with its key.
    #[inline]
    pub(super) fn live_entry(&self) -> Option<(&K::Key, &T, &V)> {
        self.entry().filter(|(_, watch, _)| !watch.is_stale())
    }

    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.ready().is_some_and(|(watch, _)| watch.is_stale())
    }

    /// Whether an object that it needs is dead.
    #[inline]
    pub(super) fn is_expired(&self) -> bool {
        self.ready().is_some_and(|(watch, _)| watch.is_expired())
    }

    /// Marks a node that the caller has unlinked: what it owns is to be kept when no thread looks
    /// at it any more.
    #[cold]
    pub(super) fn keep(&self) {
        self.mark(KEPT);
    }

    /// Marks a node that the caller has unlinked: this is why, unless it is marked already.
    #[cold]
    pub(super) fn set_gone(&self, why: Gone) {
        if self.gone() == Gone::Died {
            self.mark(GONE.iter().position(|gone| *gone == why).unwrap_or(0) as u8);
        }
    }

    fn mark(&self, fate: u8) {
        // Relaxed: read at its end, which comes after the caller has left (D1, D2 of `raw`).
        if let Node::Ready { fate: now, .. } = self {
            now.fetch_or(fate, Relaxed);
        }
    }

    /// The flight that makes the value of the node, if a flight does.
    pub(super) fn flight(&self) -> Option<Arc<Making>> {
        match self {
            Node::InFlight { flight, .. } => Some(Arc::clone(flight)),
            Node::Ready { .. } => None,
        }
    }

    pub(super) fn is_led_by(&self, flight: &Arc<Making>) -> bool {
        matches!(self, Node::InFlight { flight: there, .. } if Arc::ptr_eq(there, flight))
    }
}

impl<K: KeyKind, T: Registered, V> Entry for Node<K, T, V> {
    /// Memory and watches may wait for the next thread that leaves. Users can notice a watch only
    /// where they count weak handles.
    const PROMPT: bool = mem::needs_drop::<(K::Key, V)>();
    const BY_ADDRESS: bool = K::BY_ADDRESS;
    /// The list of values that the table keeps of dead entries, and the bound of the table.
    type Context = Ends<K::Key, T, V, Self>;
    type Watch = T;

    #[inline]
    fn hash(&self) -> u64 {
        self.hash().bits()
    }

    #[inline]
    fn hash_of(addr: *const (), short: u32) -> u64 {
        if K::BY_ADDRESS {
            HashValue::of_addr(addr).bits()
        } else {
            HashValue::of_short(short).bits()
        }
    }

    #[inline]
    fn watch(&self) -> Option<&T> {
        match self {
            Node::Ready { watch, .. } => Some(watch),
            Node::InFlight { .. } => None,
        }
    }

    #[inline]
    fn stored_hash(&self) -> Option<u32> {
        (!K::BY_ADDRESS).then(|| self.hash().short())
    }

    /// A flight has no value yet, so it is not counted.
    fn is_counted(&self) -> bool {
        matches!(self, Node::Ready { .. })
    }

    #[inline]
    fn end(self, place: *const Self, all: &Self::Context) {
        if let Node::InFlight { flight, .. } = &self {
            if flight.is_of_tasks() {
                // A4 of `work`.
                drop(flight.close());
            }
        }
        match all.bound() {
            None => self.leave(all),
            Some(bound) => self.leave_bound(place, bound, all),
        }
    }
}

impl<K: KeyKind, T: Registered, V> Node<K, T, V> {
    /// What it owns is kept, or destroyed.
    #[inline]
    fn leave(self, all: &<Self as Entry>::Context) {
        // Relaxed: see `mark`.
        if matches!(&self, Node::Ready { fate, .. } if fate.load(Relaxed) & KEPT != 0) {
            if let Node::Ready { key, value, .. } = self {
                all.kept.put(key, value);
            }
        }
    }

    /// The same, after the listener was told. Both are users' code.
    #[cold]
    fn leave_bound(
        self,
        place: *const Self,
        bound: &Bound<K::Key, T, V, Self>,
        all: &<Self as Entry>::Context,
    ) {
        let why = self.gone();
        let Node::Ready {
            fate,
            stamp,
            key,
            value,
            watch,
            ..
        } = self
        else {
            return;
        };
        let mut panics = FirstPanic::default();
        panics.catch(|| bound.end(place, &stamp, (&key, watch, &value), why));
        panics.catch(|| {
            if fate.into_inner() & KEPT != 0 {
                all.kept.put(key, value);
            }
        });
        panics.resume();
    }
}
