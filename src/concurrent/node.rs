//! The entries of a shared map.

use core::mem;
use core::sync::atomic::{AtomicBool, Ordering::*};
use std::boxed::Box;
use std::sync::Arc;

use super::flight::Flight;
use super::kept::Kept;
use super::key::KeyKind;
use super::raw::Entry;
use super::watch::{Deregister, Watches};
use crate::hash::HashValue;
use crate::queue::{HookId, SharedQueue};

/// An entry. Once it is in the table it does not change, except that its watches end. To change a value is to
/// replace the entry.
///
/// What a lookup reads comes first, so that it is on one cache line where it is small: the kind of entry and its
/// hash in one word, its key, and its value. (With `repr(u8)` the variants are laid out as two C structs that
/// begin with the same fields.)
#[repr(u8)]
pub(crate) enum Node<K: KeyKind, T, V> {
    Ready {
        /// Whether what it owns is to be kept at its end. Set by the thread that has unlinked it.
        kept: AtomicBool,
        /// Whether its watch [pins](Watches::pins) its key.
        pinned: bool,
        hash: HashValue,
        key: K::Key,
        value: V,
        watch: T,
    },
    /// A thread is making the value. It watches nothing: that thread keeps the inputs alive.
    InFlight {
        hash: HashValue,
        key: K::FlightKey,
        flight: Arc<Flight>,
    },
}

/// What a node needs at its end: no node of its table outlives it.
pub(crate) struct NodeContext<K, V> {
    pub(super) queue: SharedQueue,
    /// What dead entries leave, if that is to be kept.
    pub(super) kept: Kept<K, V>,
}

impl<K: KeyKind, T, V> Node<K, T, V> {
    #[inline]
    pub(super) fn hash(&self) -> HashValue {
        match self {
            Node::Ready { hash, .. } | Node::InFlight { hash, .. } => *hash,
        }
    }
}

impl<K: KeyKind, T: Deregister, V> Node<K, T, V> {
    /// Ends its watches, which are registered with this queue.
    #[inline]
    pub(super) fn deregister(&self, queue: &SharedQueue) {
        if let Node::Ready { watch, .. } = self {
            watch.end(queue);
        }
    }
}

impl<K: KeyKind, T: Watches, V> Node<K, T, V> {
    #[inline]
    pub(super) fn new(hash: HashValue, key: K::Key, value: V, watch: T) -> Self {
        Node::Ready {
            kept: AtomicBool::new(false),
            pinned: watch.pins(),
            hash,
            key,
            value,
            watch,
        }
    }

    /// Whether a lookup may find it stale, and what is shown of it would not tell.
    #[inline]
    pub(super) fn is_doubtful(&self) -> bool {
        matches!(self, Node::Ready { pinned: false, .. })
    }

    /// What it has, if it is ready; it may be stale.
    #[inline]
    pub(super) fn entry(&self) -> Option<(&K::Key, &T, &V)> {
        match self {
            Node::Ready {
                key, watch, value, ..
            } => Some((key, watch, value)),
            Node::InFlight { .. } => None,
        }
    }

    /// Its watch and its value, if it is ready; it may be stale.
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

    /// Whether two objects that it needs have sent their notices.
    pub(super) fn is_notified_twice(&self) -> bool {
        self.ready()
            .is_some_and(|(watch, _)| watch.is_notified_twice())
    }

    /// Whether an object that it needs is dead, even if its death is not notified yet.
    #[inline]
    pub(super) fn is_dead(&self) -> bool {
        self.ready().is_some_and(|(watch, _)| watch.is_dead())
    }

    /// Marks a node that the caller has unlinked: what it owns is to be kept when no thread looks at it any more.
    #[cold]
    pub(super) fn keep(&self) {
        // Relaxed: read at its end, which comes after the caller has left (D1, D2 of `raw`).
        if let Node::Ready { kept, .. } = self {
            kept.store(true, Relaxed);
        }
    }

    pub(super) fn is_led_by(&self, flight: &Arc<Flight>) -> bool {
        matches!(self, Node::InFlight { flight: there, .. } if Arc::ptr_eq(there, flight))
    }

    #[inline]
    pub(super) fn is_named_by(&self, hook: HookId) -> bool {
        self.ready()
            .is_some_and(|(watch, _)| watch.is_named_by(hook))
    }
}

/// A node that was found.
pub(super) struct Found<'g, N> {
    pub(super) node: &'g N,
    /// Whether it may be stale.
    pub(super) doubtful: bool,
}

impl<K: KeyKind, T: Watches, V> Found<'_, Node<K, T, V>> {
    #[inline]
    pub(super) fn is_stale(&self) -> bool {
        self.doubtful && self.node.is_stale()
    }
}

impl<K: KeyKind, T: Deregister, V> Entry for Node<K, T, V> {
    /// Memory and watches may wait for the next thread that leaves. (Users can notice a watch only where they count
    /// weak pointers.)
    const PROMPT: bool = mem::needs_drop::<(K::Key, V)>();
    type Context = NodeContext<K::Key, V>;

    #[inline]
    fn hash(&self) -> u64 {
        self.hash().bits()
    }

    /// A flight stands for no value.
    fn is_counted(&self) -> bool {
        matches!(self, Node::Ready { .. })
    }

    #[inline]
    fn end(self: Box<Self>, context: &NodeContext<K::Key, V>) {
        // If it was unlinked, its watches have ended; not if it was never linked, or if the table is dropped.
        self.deregister(&context.queue);
        // Relaxed: see `keep`.
        if matches!(&*self, Node::Ready { kept, .. } if kept.load(Relaxed)) {
            if let Node::Ready { key, value, .. } = *self {
                context.kept.put(key, value);
            }
        }
    }
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::super::content::ByContent;
    use super::super::key::ByKey;
    use super::super::watch::SharedWatchFor;
    use super::*;
    use crate::Strong;
    use crate::concurrent::Address;

    type Key = Strong<u64>;

    /// Of a set or an interner the watch is all that an entry owns: nobody notices when its memory goes.
    #[test]
    fn nobody_waits_for_an_entry_without_a_value() {
        type Name = Strong<str>;
        const {
            assert!(!Node::<ByContent<Name>, SharedWatchFor<Name>, ()>::PROMPT);
            assert!(Node::<ByContent<Name>, SharedWatchFor<Name>, Name>::PROMPT);
        }
    }

    /// N189: The size of an entry of a shared map, and what a lookup reads of it: five words, of which the first
    /// three, for a map with values of one word.
    #[test]
    fn a_node_is_small() {
        assert_eq!(
            size_of::<Node<ByKey<Address>, SharedWatchFor<Key>, u64>>(),
            40
        );
        assert_eq!(
            size_of::<Node<ByKey<Address>, SharedWatchFor<Key>, Arc<str>>>(),
            48
        );
        assert_eq!(
            size_of::<Node<ByKey<Address>, SharedWatchFor<Key>, ()>>(),
            32
        );
        let key = Key::new(1);
        let queue = SharedQueue::new();
        let (hash, address) = Address::of(Key::as_ptr(&key).cast());
        let watch = <SharedWatchFor<Key> as crate::concurrent::WatchesOne>::new(&key, hash, &queue);
        let node = Box::new(Node::<ByKey<_>, _, _>::new(
            hash,
            address,
            7_u64,
            watch.into_inner(),
        ));
        let Node::Ready {
            hash, key, value, ..
        } = &*node
        else {
            unreachable!()
        };
        let at = |field: *const ()| field.addr() - core::ptr::from_ref(&*node).addr();
        let fields = [
            at(core::ptr::from_ref(hash).cast()),
            at(core::ptr::from_ref(key).cast()),
            at(core::ptr::from_ref(value).cast()),
        ];
        assert_eq!(fields, [4, 8, 16]);
        node.deregister(&queue);
    }
}
