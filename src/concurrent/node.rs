//! The entries of a shared map.

use core::mem::{self, ManuallyDrop};
use std::boxed::Box;
use std::sync::{Arc, OnceLock};

use super::kept::Kept;
use super::raw::Entry;
use super::tie::Tied;
use crate::flight::Flight;
use crate::hash::HashValue;
use crate::queue::HookId;

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
    pub(super) fn new(hash: HashValue, key: K, state: State<T, V>) -> Box<Self> {
        let (key, state) = (ManuallyDrop::new(key), ManuallyDrop::new(state));
        Box::new(Node {
            hash,
            key,
            state,
            kept: OnceLock::new(),
        })
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

    /// Whether two objects that it needs have announced their deaths.
    pub(super) fn is_told_twice(&self) -> bool {
        self.ready().is_some_and(|(tie, _)| tie.is_told_twice())
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

impl<K, T, V> Entry for Node<K, T, V> {
    /// What nobody can notice, memory and ties, may wait for the next thread that leaves.
    const PROMPT: bool = mem::needs_drop::<(K, V)>();

    #[inline]
    fn hash(&self) -> u64 {
        self.hash.get()
    }
}
