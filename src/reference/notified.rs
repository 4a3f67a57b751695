//! Pointers that announce the deaths of their objects.

use core::marker::PhantomData;

use super::key::Watch;
use super::strong::{StrongRef, Upgrade};
use crate::hash::HashValue;
use crate::ptr::{Flavour, Strong, Weak};
use crate::queue::{DeadNotice, DeadQueue, Registered, Seen};

/// A [`StrongRef`] that wraps a [`Strong`](crate::Strong) or a [`local::Strong`](crate::local::Strong),
/// and passes its notices on.
///
/// # Safety
/// `handle` always returns the handle of the same object for one pointer and its clones, and its
/// address is what [`WeakKey::addr`](crate::WeakKey::addr) says.
pub unsafe trait Notify: StrongRef {
    /// What the wrapped handle points to.
    type Pointee: ?Sized;
    /// Its flavour.
    type Flavour: Flavour;
    /// The wrapped handle.
    fn handle(this: &Self) -> &Strong<Self::Pointee, Self::Flavour>;
    /// Wraps a handle.
    fn from_handle(handle: Strong<Self::Pointee, Self::Flavour>) -> Self;
    /// Wraps a weak handle.
    fn from_weak(weak: Weak<Self::Pointee, Self::Flavour>) -> Self::Weak;
}

/// For pointers that announce their deaths: a death is known at once, and costs what the dead cost.
pub struct Notified<K: Notify> {
    watch: Registered<K::Pointee, K::Flavour>,
    /// It makes pointers on any thread that it gets to: whether it may get there is for them to say, and
    /// not for the handles that they wrap.
    like: PhantomData<K::Weak>,
}

impl<K: Notify> Watch for Notified<K> {
    type Key = K;
    type Queue = DeadQueue<K::Flavour>;
    /// It is in the block of the object, beside the count.
    type Hash = ();

    #[inline]
    fn watch(key: &K, hash: HashValue, queue: &mut Self::Queue) -> Self {
        Notified {
            watch: queue.watch(K::handle(key), hash),
            like: PhantomData,
        }
    }

    #[inline]
    fn rewatch(&mut self, key: &K, hash: HashValue, queue: &mut Self::Queue) {
        // Code of the user's: before anything is ended.
        let handle = K::handle(key);
        if !self.watch.is_on(handle) {
            // The new one first: it may allocate, and that may fail.
            let mut old = core::mem::replace(&mut self.watch, queue.watch(handle, hash));
            queue.end(&mut old);
        }
    }

    #[inline]
    fn end(&mut self, queue: &mut Self::Queue) {
        queue.end(&mut self.watch);
    }

    #[inline]
    fn hash(&self) -> HashValue {
        HashValue::of_addr(self.watch.addr())
    }

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        self.watch.hash()
    }

    #[inline]
    fn keep(_: HashValue) {}

    #[inline]
    fn kept(&self, (): ()) -> HashValue {
        self.watch.hash().unwrap_or(HashValue::NONE)
    }

    #[inline(always)]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &DeadNotice<K::Flavour>) -> bool {
        self.watch.is_named_by(notice)
    }

    fn is_seen(&self, seen: &Seen) -> bool {
        self.watch.is_seen(seen)
    }
}

impl<K: Notify> Upgrade for Notified<K> {
    type Pointer = K;

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.watch.downgrade().map(K::from_weak)
    }
}
