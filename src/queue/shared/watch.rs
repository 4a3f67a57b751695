//! Watches: the registrations of shared collections with objects.

use core::marker::PhantomData;
use core::mem::ManuallyDrop;
use core::ptr::{self, NonNull};

use super::queue::SharedQueue;
use super::stripe::HookId;
use crate::hash::HashValue;
use crate::ptr::{Atomic, Block, ObjectRef, RecordRef, Strong, Weak};
use crate::sync::{AtomicPtr, Ordering::*, first_load};

/// A registration of a collection that threads share. It does not know its queue: the caller that has the
/// queue [ends](Self::end) it.
///
/// The place of the object's block leads to the block, and the block to the record: a look at the entry alone
/// reads neither. (The type of the place does not matter.)
pub struct SharedWatch<T: ?Sized = ()> {
    /// In a block whose record counts a reference for this watch (S3).
    place: NonNull<T>,
    /// Null once the registration has ended.
    hook: AtomicPtr<()>,
}

// SAFETY: a block, a record, its gate and a queue are made for many threads; the object is not touched.
unsafe impl<T: ?Sized> Send for SharedWatch<T> {}
// SAFETY: likewise; S3, one thread takes the hook.
unsafe impl<T: ?Sized> Sync for SharedWatch<T> {}

/// A watch that can be upgraded to a strong pointer.
pub(crate) struct SharedWatchOf<T: ?Sized> {
    watch: SharedWatch<T>,
    /// It crosses threads as a weak pointer does.
    marker: PhantomData<Weak<T, Atomic>>,
}

impl<T: ?Sized> SharedWatch<T> {
    /// Registers with an object: its death brings a notice with this hash. O(1).
    #[inline]
    pub(crate) fn new<'a>(
        object: impl Into<ObjectRef<'a, T, Atomic>>,
        hash: HashValue,
        queue: &SharedQueue,
    ) -> Self
    where
        T: 'a,
    {
        let object = object.into();
        let stack = queue.own_or_new().stack;
        // SAFETY: the caller keeps the object alive; the stack counts.
        let hook = unsafe { object.block().register_shared(stack, hash.short()) };
        // Relaxed: S4, only the drop of the queue reads it, when no other thread is left. (Not before the
        // registration, which may panic.)
        stack.get().registered.fetch_add(1, Relaxed);
        SharedWatch {
            place: object.place(),
            hook: AtomicPtr::new(hook.as_ptr().as_ptr()),
        }
    }

    /// The same registration, without its type.
    #[inline]
    pub(crate) fn untyped(self) -> SharedWatch {
        let this = ManuallyDrop::new(self);
        // Relaxed: we own it.
        let hook = AtomicPtr::new(this.hook.load(Relaxed));
        let place = this.place.cast();
        SharedWatch { place, hook }
    }

    #[inline]
    pub(super) fn block(&self) -> Block<Atomic> {
        // SAFETY: the place of a block, in which our reference is a share.
        unsafe { Block::of_place(self.place.cast()) }
    }

    #[inline]
    fn record(&self) -> RecordRef<Atomic> {
        // SAFETY: S3, our reference.
        unsafe { self.block().known_record() }
    }

    /// Whether all notices of the object's death have been pushed. From then on, never before, the address of
    /// a payload apart may be another object's.
    ///
    /// (That the object is dead is not enough: its notices may be still to come. A lookup that reports an
    /// entry as gone must not be contradicted by a later one that finds nothing pending. But an object that is
    /// not dead has pushed none, and to see that a look at the block will do.)
    #[inline]
    pub(crate) fn is_notified(&self) -> bool {
        self.block().is_dead() && self.record().is_closed()
    }

    /// Whether the death has begun to push notices, perhaps ours. If not, our notice is still to come, and is
    /// pushed after this call. (Otherwise it may have been drained already.)
    pub(crate) fn was_notified(&self) -> bool {
        // Relaxed: the hook is not dereferenced; it may be gone.
        self.hook.load(Relaxed).is_null() || self.record().is_dying()
    }

    /// Whether the object's address lies in its block. The watch keeps the block, so no other object gets the
    /// address meanwhile.
    #[inline]
    pub(crate) fn pins_address(&self) -> bool {
        !self.block().is_apart()
    }

    /// The address of the object, live or dead.
    pub(crate) fn addr(&self) -> *const () {
        self.block().payload().as_ptr().cast_const().cast()
    }

    /// Whether an upgrade would fail.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.block().is_expired()
    }

    /// Whether this is the watch with that hook.
    #[inline]
    pub(crate) fn is_named_by(&self, hook: HookId) -> bool {
        // Relaxed: only compared.
        ptr::eq(self.hook.load(Relaxed), hook.0)
    }

    /// Ends the registration by its notice, which frees the hook. S3: the caller has unlinked the entry.
    #[inline]
    pub(crate) fn complete(&self) {
        // Relaxed: S3; nothing is read through it.
        self.hook.store(ptr::null_mut(), Relaxed);
    }

    /// Ends the registration, unless it has ended. `queue` is the queue it was made with. O(1). S3: the caller has
    /// unlinked the entry, or is the only one that knows it.
    #[inline]
    pub(crate) fn end(&self, queue: &SharedQueue) {
        // Relaxed: S3; the hook was written before the watch was shared.
        let Some(hook) = NonNull::new(self.hook.load(Relaxed)) else {
            return;
        };
        self.hook.store(ptr::null_mut(), Relaxed);
        // SAFETY: S3, it is ours to end. If the object's death pushes no notices yet, the hook is in its list,
        // and no other thread uses it. If it does, the hook is not touched: it belongs to its notice.
        match unsafe { self.record().unregister_shared(hook) } {
            // Relaxed: as in `new`.
            Some(stack) => _ = stack.get().registered.fetch_sub(1, Relaxed),
            None => _ = queue.late.fetch_add(1, Relaxed),
        }
    }
}

impl<T: ?Sized> Drop for SharedWatch<T> {
    fn drop(&mut self) {
        // Otherwise its notice would come without being counted as late, and the queue would not be exact.
        debug_assert!(
            first_load(true, || self.hook.load(Relaxed).is_null()),
            "the watch is dropped before its registration has ended"
        );
        // SAFETY: S3, our reference.
        unsafe { self.record().release() };
    }
}

impl<T: ?Sized> SharedWatchOf<T> {
    #[inline]
    pub(crate) fn new<'a>(
        object: impl Into<ObjectRef<'a, T, Atomic>>,
        hash: HashValue,
        queue: &SharedQueue,
    ) -> Self
    where
        T: 'a,
    {
        SharedWatchOf {
            watch: SharedWatch::new(object, hash, queue),
            marker: PhantomData,
        }
    }

    #[inline]
    pub(crate) fn watch(&self) -> &SharedWatch<T> {
        &self.watch
    }

    #[inline]
    pub(crate) fn upgrade(&self) -> Option<Strong<T, Atomic>> {
        let block = self.watch.block();
        // SAFETY: counted.
        block
            .upgrade()
            .then(|| unsafe { Strong::from_place(self.watch.place, block) })
    }

    pub(crate) fn downgrade(&self) -> Weak<T, Atomic> {
        self.watch.record().add_ref();
        // SAFETY: one more share, for the weak pointer.
        unsafe { Weak::from_counted(self.watch.place) }
    }
}
