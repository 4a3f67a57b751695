//! The entries of a shared map, and how they are found.

use core::hash::{BuildHasher, Hash, Hasher};
use core::mem::ManuallyDrop;
use core::ptr;
use equivalent::Equivalent;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::tie::Tied;
use crate::dead::HookId;
use crate::flight::Flight;
use crate::hash::HashValue;

/// What a lookup reads comes first, so that it is on one cache line where it is small.
#[repr(C)]
pub(super) struct Ready<T, V> {
    pub(super) value: V,
    pub(super) tie: T,
}

/// An entry. Once it is in the table it does not change, but for the end of its ties: to change a value is
/// to put another entry in its place.
#[repr(C)]
pub(crate) struct Node<K, T, V> {
    pub(super) hash: HashValue,
    // Both are taken out at the node's end.
    pub(super) key: ManuallyDrop<K>,
    pub(super) state: ManuallyDrop<State<T, V>>,
    /// Where what it owns goes at its end, if that is to be kept.
    pub(super) kept: OnceLock<Arc<Kept<K, V>>>,
}

pub(super) enum State<T, V> {
    Ready(Ready<T, V>),
    /// Somebody is making the value. Not tied to anything: who makes it holds the inputs.
    Flying(Arc<Flight>),
}

impl<K, T, V> Node<K, T, V> {
    #[inline]
    pub(super) fn new(hash: HashValue, key: K, state: State<T, V>) -> Self {
        let (key, state) = (ManuallyDrop::new(key), ManuallyDrop::new(state));
        Node {
            hash,
            key,
            state,
            kept: OnceLock::new(),
        }
    }
}

impl<K, T: Tied, V> Node<K, T, V> {
    /// What it says, if it is ready; it may be stale.
    #[inline]
    pub(super) fn ready(&self) -> Option<(&T, &V)> {
        match &*self.state {
            State::Ready(Ready { value, tie }) => Some((tie, value)),
            State::Flying(_) => None,
        }
    }

    /// The same, unless it is stale.
    #[inline]
    pub(super) fn fresh(&self) -> Option<(&T, &V)> {
        self.ready().filter(|(tie, _)| !tie.is_stale())
    }

    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.ready().is_some_and(|(tie, _)| tie.is_stale())
    }

    /// Whether an object that it needs is dead, even if its death is not yet announced.
    #[inline]
    pub(super) fn is_dead(&self) -> bool {
        self.ready().is_some_and(|(tie, _)| tie.is_dead())
    }

    /// It is unlinked.
    #[inline]
    pub(super) fn end(&self) {
        if let Some((tie, _)) = self.ready() {
            tie.end();
        }
    }

    pub(super) fn is_flown_by(&self, flight: &Arc<Flight>) -> bool {
        matches!(&*self.state, State::Flying(there) if Arc::ptr_eq(there, flight))
    }

    #[inline]
    pub(super) fn is_named_by(&self, hook: HookId) -> bool {
        self.ready().is_some_and(|(tie, _)| tie.is_named_by(hook))
    }
}

impl<K, T, V> Hash for Node<K, T, V> {
    #[inline]
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.hash.get());
    }
}

impl<K: Eq, T, V> PartialEq for Node<K, T, V> {
    #[inline]
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.key == other.key
    }
}

impl<K: Eq, T, V> Eq for Node<K, T, V> {}

macro_rules! hashes_to {
    ([$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> Hash for $name {
            #[inline]
            fn hash<H: Hasher>(&self, state: &mut H) {
                state.write_u64(self.0.get());
            }
        }
    };
}

/// The node of this key.
pub(super) struct ByKey<'a, Q: ?Sized>(pub(super) HashValue, pub(super) &'a Q);

hashes_to!(['a, Q: ?Sized] ByKey<'a, Q>);

impl<K, T, V, Q: ?Sized + Equivalent<K>> Equivalent<Node<K, T, V>> for ByKey<'_, Q> {
    #[inline]
    fn equivalent(&self, node: &Node<K, T, V>) -> bool {
        self.0 == node.hash && self.1.equivalent(&node.key)
    }
}

/// The node that this notice is about.
pub(super) struct ByHook(pub(super) HashValue, pub(super) HookId);

hashes_to!([] ByHook);

impl<K, T: Tied, V> Equivalent<Node<K, T, V>> for ByHook {
    #[inline]
    fn equivalent(&self, node: &Node<K, T, V>) -> bool {
        node.is_named_by(self.1)
    }
}

/// This very node.
pub(super) struct Itself<'a, N>(pub(super) HashValue, pub(super) &'a N);

hashes_to!(['a, N] Itself<'a, N>);

impl<N> Equivalent<N> for Itself<'_, N> {
    #[inline]
    fn equivalent(&self, node: &N) -> bool {
        ptr::eq(self.1, node)
    }
}

/// The node of this flight.
pub(super) struct ByFlight<'a>(pub(super) HashValue, pub(super) &'a Arc<Flight>);

hashes_to!(['a] ByFlight<'a>);

impl<K, T: Tied, V> Equivalent<Node<K, T, V>> for ByFlight<'_> {
    fn equivalent(&self, node: &Node<K, T, V>) -> bool {
        node.is_flown_by(self.1)
    }
}

/// Passes on the hash that the node has.
#[derive(Clone, Copy, Default)]
pub(super) struct Told;

pub(super) struct Teller(u64);

impl BuildHasher for Told {
    type Hasher = Teller;

    #[inline]
    fn build_hasher(&self) -> Teller {
        Teller(0)
    }
}

impl Hasher for Teller {
    #[inline]
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, _: &[u8]) {
        unreachable!("nodes and queries write one word")
    }

    #[inline]
    fn write_u64(&mut self, hash: u64) {
        self.0 = hash;
    }
}
