//! The strong pointer, and the beginning of a death.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop};
use core::ops::Deref;
use core::pin::Pin;
use core::ptr::{self, NonNull};

use super::death::{Disposal, Free};
use super::flavour::{Atomic, Counter, Flavour, Variable};
use super::header::{Block, is_apart, with_address};
use super::home::{Destination, Home};
use super::memory;
use super::state;
use crate::holders::Holder;
use crate::sync::{self, Arc, Ordering::*, Weak};

/// A strong handle: shared ownership of a value whose death is reported to weak collections and
/// finalizers.
///
/// Use it as [`Strong`](crate::Strong) (thread-safe, the counterpart of [`Arc`](std::sync::Arc)) or
/// [`local::Strong`](crate::local::Strong) (one thread, the counterpart of [`Rc`](std::rc::Rc)).
/// The interface is `Arc`'s: associated functions, so that no function hides a method of `T`.
///
/// A strong handle is one word (two for an unsized payload), and nothing weak keeps a payload
/// alive. The guide's [table of memory](crate::guide::costs#memory) lists the memory of an object
/// besides its payload.
///
/// # What happens at the death
///
/// When the last strong handle is dropped:
///
/// 1. every [`Weak`](crate::Weak) is expired, every upgrade fails;
/// 2. the payload's destructor runs; maps still find the object by reference (`map.get(&*self)`);
/// 3. each map with an entry for the object gets a notice or, if threads share the map, loses the
///    entry; then the object's [finalizers](Strong::finalize) run, newest first;
/// 4. the object's memory is freed, except for the part that [remains](crate::guide::costs#memory)
///    until no weak handle and no entry is left.
///
/// The payload of an object made by [`new_returning`](Strong::new_returning) is not destroyed in
/// step 2, but moved into a queue after step 3.
///
/// Steps 3 and 4 also happen if the destructor or a finalizer panics; then the panic propagates to
/// the caller that dropped the handle. (A second panic while the first unwinds aborts the process,
/// as with every destructor in Rust.) A death costs O(entries for the object), never O(size of a
/// map). For maps that threads share, see [the steps of a
/// death](crate::concurrent#what-a-death-does).
///
/// ```
/// use weakly::Strong;
///
/// let shared = Strong::new([1, 2, 3]);
/// let again = Strong::clone(&shared);
/// let weak = Strong::downgrade(&shared);
/// drop((shared, again));
/// assert!(weak.upgrade().is_none());
/// ```
pub struct Strong<T: ?Sized, F: Flavour> {
    /// The payload, with the provenance of the whole allocation.
    pub(super) ptr: NonNull<T>,
    /// Zero-sized without the feature `holders`.
    pub(super) holder: Holder,
    pub(super) owns: PhantomData<(F, T)>,
}

// SAFETY: as for `Arc`: a strong pointer gives `&T` on any thread (`Sync`), and the last one may
// drop the payload on any thread (`Send`). The counts are atomics.
unsafe impl<T: ?Sized + Send + Sync> Send for Strong<T, Atomic> {}
// SAFETY: as for `Send`; a `&Strong` can be cloned.
unsafe impl<T: ?Sized + Send + Sync> Sync for Strong<T, Atomic> {}

impl<T, F: Flavour> Strong<T, F> {
    /// Creates an object and its first strong handle. One allocation.
    ///
    /// ```
    /// let five = weakly::Strong::new(5);
    /// assert_eq!(*five, 5);
    /// ```
    ///
    /// `let shown: Strong<dyn Display> = Strong::new(5)` does not compile: on stable Rust only the
    /// standard library's pointers coerce. The macro [`unsize!`](crate::unsize) does the same:
    ///
    /// ```
    /// # use std::fmt::Display;
    /// # use weakly::{Strong, unsize};
    /// let shown: Strong<dyn Display> = unsize!(Strong::new(5) => dyn Display);
    /// ```
    #[must_use]
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn new(value: T) -> Self {
        let ptr = memory::allocate::<F>(Layout::new::<T>(), 1, state::NONE).cast::<T>();
        // SAFETY: new memory of this layout.
        unsafe { ptr.write(value) };
        // SAFETY: the memory is initialised, and the pointer counted once.
        unsafe { Self::first(ptr) }
    }

    /// Creates an object that cannot be moved. One allocation.
    #[must_use]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: the payload never moves while a strong pointer exists (`make_mut` and
        // `try_unwrap` cannot be reached through a `Pin` of a payload that is not `Unpin`).
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// Takes the value out, if this is the only strong handle. The object is dead afterwards: weak
    /// handles are expired, no map finds an entry for the object, finalizers have run; only the
    /// payload's destructor has not run. Costs as much as a death. (Here, and in
    /// [`into_inner`](Self::into_inner), nothing [returns](Self::new_returning) to a queue.)
    ///
    /// # Errors
    /// The strong handle itself, if there are other strong handles or an upgrade is under way.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if this.claim() {
            // SAFETY: claimed.
            Ok(unsafe { this.take() })
        } else {
            Err(this)
        }
    }

    /// Drops the strong handle, and returns the value if the handle was the last. If this is called
    /// on all strong handles to an object, exactly one call gets the value (unless a weak handle is
    /// upgraded meanwhile).
    #[must_use = "this drops the value, if the handle was the last"]
    pub fn into_inner(this: Self) -> Option<T> {
        // Not `claim` first: if two calls both found the other's pointer, neither would get the
        // value.
        this.holder.end(this.ptr.as_ptr().cast());
        if this.release() {
            // SAFETY: it was the last strong pointer.
            Some(unsafe { this.take() })
        } else {
            mem::forget(this);
            None
        }
    }

    /// Returns the value, if this is the only strong handle; otherwise a clone of the value.
    #[must_use]
    pub fn unwrap_or_clone(this: Self) -> T
    where
        T: Clone,
    {
        Self::try_unwrap(this).unwrap_or_else(|this| (*this).clone())
    }

    /// Moves the payload out of a dead object, and reclaims the rest.
    ///
    /// # Safety
    /// `claim` or `release` has returned true.
    unsafe fn take(self) -> T {
        let this = ManuallyDrop::new(self);
        Holder::died(this.ptr.as_ptr().cast());
        // SAFETY: no other pointer reaches the payload, and the payload is not used after this:
        // without its home the object does not return.
        let value = unsafe {
            drop(this.block().take_home());
            this.ptr.read()
        };
        // SAFETY: the object is dead, and the payload is gone.
        drop(unsafe { this.reclaim() });
        value
    }

    /// Returns mutable access to the value, in a new object if this one is shared.
    ///
    /// * If there is no other handle and no entry: in place.
    /// * If this is the only strong handle, but there are weak handles or entries: the value
    ///   **moves to a new object**, and the old one dies. Weak handles expire, and **the attributes
    ///   that maps keep for the old object are left behind**. If that matters, call
    ///   [`get_mut`](Self::get_mut) first; or keep a clone of the handle during the call, so that
    ///   the old object lives on, and then move the attributes from the clone to this handle:
    ///   [`WeakMap::transfer`](crate::WeakMap::transfer),
    ///   [`local::Attributes::transfer`](crate::local::Attributes::transfer). (A pair whose other
    ///   side has died is an entry until its map next changes.)
    /// * Otherwise: in a clone, in a new object.
    ///
    /// A payload that [returns](Self::new_returning) never moves to a new object: `make_mut` clones
    /// the payload, also where the handle is the only one, and the clone does not return. The old
    /// payload returns when the last handle to the old object is dropped: in this call, if this was
    /// the last handle.
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        if !this.is_unique() {
            // Allocated before anything is given up: the allocation may fail, and the failure
            // unwind.
            let memory = Self::new_uninit();
            // SAFETY: a strong pointer.
            let returns = unsafe { this.block().returning() }.is_some();
            // G3: the payload of an object that returns keeps its type, so the payload stays in its
            // place.
            let claimed = !returns && this.claim();
            // SAFETY: if claimed, the payload is ours to move. The memory has the layout of a `T`.
            // Finalizers may panic, so the reclamation is last, when `this` is whole.
            unsafe {
                memory.ptr.cast::<T>().write(if claimed {
                    this.ptr.read()
                } else {
                    T::clone(this)
                });
                let old = ManuallyDrop::new(mem::replace(this, memory.assume_init()));
                match claimed {
                    true => {
                        Holder::died(old.ptr.as_ptr().cast());
                        drop(old.reclaim());
                    }
                    false => drop(ManuallyDrop::into_inner(old)),
                }
            }
        }
        // SAFETY: unique, or new.
        unsafe { this.ptr.as_mut() }
    }
}

impl<T: Send + 'static> Strong<T, Atomic> {
    /// Creates an object that returns: at the death `open` returns a function that puts the payload
    /// into the destination, or `None`; see [`home`](super::home).
    #[cfg_attr(feature = "holders", track_caller)]
    pub(crate) fn returning<Q: Send + Sync + 'static, R: FnOnce(T)>(
        value: T,
        destination: &Arc<Destination<T, Q>>,
        open: impl FnOnce(&Weak<Destination<T, Q>>) -> Option<R> + Send + 'static,
    ) -> Self {
        let this = Self::new(value);
        // SAFETY: the only handle, to a `T`.
        unsafe { this.block().set_home(Home::new(destination, open)) };
        this
    }
}

impl<T> Strong<T, Atomic> {
    /// Returns mutable access to the payload of an object that returns to this destination, if no
    /// other handle can give any. See [`get_mut`](Self::get_mut).
    pub(crate) fn get_mut_of<'a, Q>(
        this: &'a mut Self,
        destination: &Arc<Destination<T, Q>>,
    ) -> Option<&'a mut T> {
        if !this.block().is_unique_of(Destination::addr(destination)) {
            return None;
        }
        // SAFETY: unique, and `this` is borrowed, so no other pointer can be made meanwhile. G3:
        // the home was made for a `T`, and no supertype, since the destination is the one at this
        // address, and names its `T` exactly.
        Some(unsafe { this.ptr.as_mut() })
    }
}

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// Returns the pointer in a `Pin`. For `cycles`, which counts the pointer, clones it, and drops
    /// the clone: no step moves the payload, and no user code gets the pointer.
    pub(crate) fn in_pin(pin: &Pin<Self>) -> &Self {
        // SAFETY: a `Pin` has the layout of its pointer, and the reference lives as long as `pin`.
        unsafe { &*ptr::from_ref(pin).cast::<Self>() }
    }

    /// Returns the number of strong handles. A snapshot, if other threads have handles.
    #[must_use]
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        this.block().strong_count() as usize
    }

    /// Returns the number of weak handles and of entries in collections. Finalizers do not count,
    /// nor do their tokens (of one object, up to 2^24 at a time). A snapshot, if other threads
    /// change the number.
    ///
    /// An entry counts for each object in it that lives, until the entry is destroyed. So a pair
    /// counts even if the other side has died, and a removed entry counts in a collection that
    /// threads share.
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        this.block().weak_count()
    }

    /// Returns whether both point to the same object. Compares data addresses, never vtables.
    #[must_use]
    #[inline]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.ptr.as_ptr(), other.ptr.as_ptr())
    }

    /// Returns the address of the payload.
    #[must_use]
    #[inline]
    pub fn as_ptr(this: &Self) -> *const T {
        this.ptr.as_ptr()
    }

    /// Returns mutable access, if no other handle can give any: this is the only strong handle, and
    /// there is no weak handle and no entry of a collection (both could be upgraded). Finalizers
    /// and their tokens do not count. Unlike with `Arc`, a concurrent downgrade that is over, or
    /// has failed, does not make `get_mut` fail. (A pair whose other side has died is an entry
    /// until its map next changes: `purge` the map first.)
    ///
    /// The payload of an object that [returns](Self::new_returning) has to keep its type, which
    /// this handle may not know. For such an object the result is always `None`, and
    /// [`ReferenceQueue::get_mut`](crate::ReferenceQueue::get_mut) returns the access.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if !this.is_unique() {
            return None;
        }
        // SAFETY: unique, and `this` is borrowed, so no other pointer can be made meanwhile.
        Some(unsafe { this.ptr.as_mut() })
    }

    #[inline]
    fn layout(&self) -> Layout {
        // SAFETY: the payload is alive, or at least still in its memory. (A constant if its type is
        // sized.)
        Layout::for_value(unsafe { self.ptr.as_ref() })
    }

    #[inline]
    pub(crate) fn block(&self) -> Block<F> {
        // SAFETY: a strong pointer keeps the block.
        unsafe { Block::of(self.ptr.cast(), self.layout()) }
    }

    /// Returns the pointer that weak pointers and entries keep: the place of an inline payload in
    /// the block, with our metadata.
    #[inline]
    pub(crate) fn place(&self) -> NonNull<T> {
        if is_apart(self.layout()) {
            with_address(self.ptr, self.block().place())
        } else {
            self.ptr
        }
    }

    /// Makes a strong pointer from a pointer returned by [`place`](Self::place).
    ///
    /// # Safety
    /// `block` is the block of `place`, its object is alive, and has counted this pointer.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub(crate) unsafe fn from_place(place: NonNull<T>, block: Block<F>) -> Self {
        let ptr = match block.payload_if_apart() {
            Some(payload) => with_address(place, payload),
            None => place,
        };
        // SAFETY: the caller's promise.
        unsafe { Self::from_counted(ptr) }
    }

    /// Ends the object if this is its only strong pointer. Returns true if no other strong pointer
    /// exists or can come to exist.
    #[inline]
    pub(super) fn claim(&self) -> bool {
        // Acquire: the Release of every other strong pointer's drop, so that their uses of the
        // object happen before ours.
        let count = &self.block().header().count;
        count.compare_exchange(1, 0, Acquire, Relaxed).is_ok()
    }

    /// Returns whether no other pointer can reach the payload.
    fn is_unique(&self) -> bool {
        self.block().is_unique()
    }

    /// Gives up this pointer's count. Returns true if the pointer was the last.
    #[inline]
    fn release(&self) -> bool {
        let count = &self.block().header().count;
        // Release: our uses of the object happen before its end. (The result has no other use, so
        // this compiles to a decrement and a branch on the flags.)
        if count.fetch_sub(1, Release) != 1 {
            return false;
        }
        // Acquire: the releases of all other strong pointers; their changes of `state` are visible,
        // too.
        count.load(Acquire);
        true
    }

    /// Returns the guard whose drop does everything after the payload's destructor.
    ///
    /// # Safety
    /// `claim` or `release` has returned true. The payload is dropped or moved before the guard is
    /// dropped.
    #[inline]
    unsafe fn reclaim(&self) -> Disposal<F> {
        Disposal {
            block: self.block(),
            payload: self.ptr.cast(),
            layout: self.layout(),
        }
    }

    /// # Safety
    /// `release` has returned true; the pointer is not used afterwards.
    // Out of line, as in `std`: a handle is dropped in many places, and in most of them the handle
    // is not the last.
    #[cold]
    #[inline(never)]
    pub(super) unsafe fn die(&self) {
        debug_assert!(
            !sync::in_critical(),
            "a handle is dropped under a lock of a collection"
        );
        Holder::died(self.ptr.as_ptr().cast());
        let (block, layout) = (self.block(), self.layout());
        // Acquire: the Release of a collection, which holds no strong pointer: the collection has
        // ended its entry, and its uses of the block come before the free; or the collection has
        // published a record, to make a weak pointer. `NONE` is final: only a strong pointer could
        // change the state, and the last one is gone.
        let state = block.header().state.load(Acquire);
        if state != state::NONE {
            // SAFETY: the caller's promise.
            return unsafe {
                // (No object of one thread returns.)
                match F::SHARED && state::is_more(state) {
                    true => Self::die_recorded(self.ptr, state),
                    false => Self::die_watched(self.ptr),
                }
            };
        }
        let free = Free {
            block,
            payload: self.ptr.cast(),
            layout,
        };
        // SAFETY: the caller's promise. The memory is freed after the destructor, even if the
        // destructor panics.
        unsafe { ptr::drop_in_place(self.ptr.as_ptr()) };
        free.run();
    }

    /// # Safety
    /// As for `die`. (A separate function, so that `die` needs no frame on the stack.)
    // A pointer, since a reference to the handle would need the handle in memory.
    #[cold]
    #[inline(never)]
    unsafe fn die_watched(ptr: NonNull<T>) {
        // SAFETY: the caller's promise. The steps after the destructor happen even if the
        // destructor panics.
        unsafe {
            let this = ManuallyDrop::new(Self::unlisted(ptr));
            let reclaim = this.reclaim();
            ptr::drop_in_place(ptr.as_ptr());
            reclaim.run();
        }
    }

    /// Does the same as `die_watched`, in a [state](state::is_more) other than one entry alone. So
    /// a death with one entry alone does not ask whether the object returns.
    ///
    /// # Safety
    /// As for `die`. The state was `now`.
    #[cold]
    #[inline(never)]
    unsafe fn die_recorded(ptr: NonNull<T>, now: *mut ()) {
        // SAFETY: the caller's promise. The steps after the destructor happen even if the
        // destructor panics.
        unsafe {
            let this = ManuallyDrop::new(Self::unlisted(ptr));
            let reclaim = this.reclaim();
            if let Some(record) = state::returning(now) {
                return reclaim.run_returning(record);
            }
            ptr::drop_in_place(ptr.as_ptr());
            reclaim.run_from(now);
        }
    }
}

impl<T: ?Sized, F: Flavour> Clone for Strong<T, F> {
    /// Creates one more strong handle to the same object. O(1).
    ///
    /// # Panics
    /// Aborts the process at about 2^31 strong handles: only leaked handles get there.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    fn clone(&self) -> Self {
        // Relaxed: the new pointer is made from an existing pointer.
        let before = self.block().header().count.fetch_add(1, Relaxed);
        // Negative: a check has marked the count (P1 of `mark`: the mark is taken away before the
        // new pointer is used), or there are about 2^31 pointers. (The sign is the one test for
        // which this compiles to an increment and a branch on the flags.)
        if (before.wrapping_add(1) as i32) < 0 {
            self.block().cloned_marked();
        }
        // SAFETY: counted.
        unsafe { Self::from_counted(self.ptr) }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Strong<T, F> {
    /// Drops the handle. O(1). The drop of the last strong handle pays for the death: the payload's
    /// destructor, O(entries for the object), and the finalizers.
    #[inline]
    fn drop(&mut self) {
        self.holder.end(self.ptr.as_ptr().cast());
        if self.release() {
            // SAFETY: `release` has returned true.
            unsafe { self.die() };
        }
    }
}

impl<T: ?Sized, F: Flavour> Deref for Strong<T, F> {
    type Target = T;

    /// Returns the payload. (So with a reference to the handle, `*reference` is the handle and
    /// `**reference` the payload.)
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a strong pointer keeps the payload alive.
        unsafe { self.ptr.as_ref() }
    }
}
