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
/// The interface is that of `Arc`: associated functions, so that they never hide a method of `T`.
///
/// A strong handle is one word (two for an unsized payload), and nothing weak keeps a payload
/// alive. What an object takes besides its payload is in the guide's [table of
/// memory](crate::guide::costs#memory).
///
/// # What happens at the death
///
/// When the last strong handle is dropped:
///
/// 1. every [`Weak`](crate::Weak) is expired, every upgrade fails;
/// 2. the payload's destructor runs; maps still find the object by reference (`map.get(&*self)`);
/// 3. each map with an entry for it gets a notice or, if threads share the map, loses that entry;
///    then its [finalizers](Strong::finalize) run, newest first;
/// 4. its memory is freed, except for what [remains](crate::guide::costs#memory) until no weak
///    handle and no entry is left.
///
/// The payload of an object made by [`new_returning`](Strong::new_returning) is not destroyed in
/// step 2, but moved into a queue after step 3.
///
/// Steps 3 and 4 also happen if the destructor or a finalizer panics; then the panic propagates to
/// the caller that dropped the handle. (A second panic while the first unwinds aborts the process,
/// as with every destructor in Rust.) A death costs O(entries for the object), never O(size of a
/// map). For maps that threads share, see [what a death does](crate::concurrent#what-a-death-does).
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
    /// Without the feature `holders`, nothing.
    pub(super) holder: Holder,
    pub(super) owns: PhantomData<(F, T)>,
}

// SAFETY: as for `Arc`: a strong pointer gives `&T` on any thread (`Sync`), and the last may drop
// the payload on any thread (`Send`). The counts are atomics.
unsafe impl<T: ?Sized + Send + Sync> Send for Strong<T, Atomic> {}
// SAFETY: likewise; a `&Strong` can be cloned.
unsafe impl<T: ?Sized + Send + Sync> Sync for Strong<T, Atomic> {}

impl<T, F: Flavour> Strong<T, F> {
    /// Makes an object and its first strong handle. One allocation.
    ///
    /// ```
    /// let five = weakly::Strong::new(5);
    /// assert_eq!(*five, 5);
    /// ```
    ///
    /// `let shown: Strong<dyn Display> = Strong::new(5)` does not compile: on stable Rust only the
    /// standard library's pointers coerce. Say it with [`unsize!`](crate::unsize):
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

    /// Makes an object that cannot be moved. One allocation.
    #[must_use]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: the payload never moves while a strong pointer exists (`make_mut` and
        // `try_unwrap` cannot be reached through a `Pin` of a payload that is not `Unpin`).
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// Takes the value out, if this is the only strong handle. The object is dead afterwards: weak
    /// handles are expired, no map finds an entry for it, finalizers have run; only the payload's
    /// destructor has not. Costs what a death costs. (Here, and in
    /// [`into_inner`](Self::into_inner), nothing [returns](Self::new_returning) to a queue.)
    ///
    /// # Errors
    /// The strong handle itself, if there are others or an upgrade is under way.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if this.claim() {
            // SAFETY: claimed.
            Ok(unsafe { this.take() })
        } else {
            Err(this)
        }
    }

    /// Drops the strong handle; takes the value out if it was the last. If this is called on all
    /// strong handles to an object, exactly one call gets the value (unless a weak handle is
    /// upgraded meanwhile).
    #[must_use = "this drops the value, if the handle was the last"]
    pub fn into_inner(this: Self) -> Option<T> {
        // Not `claim` first: of two calls that both find the other's pointer, neither would get the
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

    /// Returns the value, if this is the only strong handle; otherwise a clone of it.
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
        // SAFETY: no other pointer reaches the payload, and it is not used after this: it does not
        // return.
        let value = unsafe {
            drop(this.block().take_home());
            this.ptr.read()
        };
        // SAFETY: dead, and the payload is gone.
        drop(unsafe { this.reclaim() });
        value
    }

    /// Returns mutable access to the value, in a new object if this one is shared.
    ///
    /// * No other pointer and no entry: in place.
    /// * The only strong handle, but there are weak handles or entries: the value **moves to a new
    ///   object**, and the old one dies. Weak handles expire, and **the attributes that maps keep
    ///   for it are left behind**. Call [`get_mut`](Self::get_mut) first if that matters. (A pair
    ///   whose other side has died is an entry until its map next changes.)
    /// * Otherwise: in a clone, in a new object.
    ///
    /// A payload that [returns](Self::new_returning) never moves to a new object: `make_mut` clones
    /// the payload, also where the handle is the only one, and the clone does not return. The
    /// payload returns when the last handle to the old object goes: here, if this was the last one.
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        if !this.is_unique() {
            // Allocated before anything is given up: that may fail, and the failure unwind.
            let memory = Self::new_uninit();
            // SAFETY: a strong pointer.
            let returns = unsafe { this.block().returning() }.is_some();
            // G3: the payload of an object that returns keeps its type, so it stays where it is.
            let claimed = !returns && this.claim();
            // SAFETY: if claimed, the payload is ours to move. The memory is that of a `T`.
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
    /// Makes an object that returns: at its death `open` returns a function that puts the payload
    /// into the destination, or none; see [`home`](super::home).
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
    /// other handle can give any: as [`get_mut`](Self::get_mut).
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
    /// The pointer in a `Pin`. For `cycles`, where it is counted, cloned, and the clone dropped:
    /// none of that moves the payload, and no user code gets it.
    pub(crate) fn in_pin(pin: &Pin<Self>) -> &Self {
        // SAFETY: a `Pin` has the layout of its pointer, which lives as long.
        unsafe { &*ptr::from_ref(pin).cast::<Self>() }
    }

    /// Returns the number of strong handles. A snapshot, if other threads have some.
    #[must_use]
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        this.block().strong_count() as usize
    }

    /// Returns the number of weak handles and of entries in collections. Finalizers do not count,
    /// nor their tokens (of one object, 2^24 at a time). A snapshot, if other threads change it.
    ///
    /// An entry counts for the objects in it that live until it is destroyed: of a pair, also if
    /// the other side has died; in a collection that threads share, also if it was removed.
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
    /// there is no weak handle and no entry of a collection (they could be upgraded). Finalizers
    /// and their tokens do not count. Unlike with `Arc`, a concurrent downgrade that is over, or
    /// one that failed, does not make it fail. (A pair whose other side has died is an entry until
    /// its map next changes: `purge` the map first.)
    ///
    /// The payload of an object that [returns](Self::new_returning) has to keep its type, which
    /// this handle may not know: for such an object the result is always `None`, and
    /// [`ReferenceQueue::get_mut`](crate::ReferenceQueue::get_mut) returns the access.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if !this.is_unique() {
            return None;
        }
        // SAFETY: unique, and `this` is borrowed, so no other pointer can be made meanwhile.
        Some(unsafe { this.ptr.as_mut() })
    }

    #[inline(always)]
    fn layout(&self) -> Layout {
        // SAFETY: the payload is alive, or at least still there. (A constant if its type is sized.)
        Layout::for_value(unsafe { self.ptr.as_ref() })
    }

    #[inline(always)]
    pub(crate) fn block(&self) -> Block<F> {
        // SAFETY: a strong pointer keeps the block.
        unsafe { Block::of(self.ptr.cast(), self.layout()) }
    }

    /// What weak pointers and entries keep: the place of an inline payload in the block, with our
    /// metadata.
    #[inline(always)]
    pub(crate) fn place(&self) -> NonNull<T> {
        if is_apart(self.layout()) {
            with_address(self.ptr, self.block().place())
        } else {
            self.ptr
        }
    }

    /// Makes a strong pointer from what [`place`](Self::place) has returned.
    ///
    /// # Safety
    /// `block` is that of the place, its object is alive, and has counted this pointer.
    #[inline(always)]
    #[cfg_attr(feature = "holders", track_caller)]
    pub(crate) unsafe fn from_place(place: NonNull<T>, block: Block<F>) -> Self {
        let ptr = match block.payload_if_apart() {
            Some(payload) => with_address(place, payload),
            None => place,
        };
        // SAFETY: the caller's promise.
        unsafe { Self::from_counted(ptr) }
    }

    /// Ends the object if this is its only strong pointer. True means that no other exists or can
    /// come to exist.
    #[inline]
    fn claim(&self) -> bool {
        // Acquire: the release of every other strong pointer's drop, so that their uses of the
        // object happen before ours.
        let count = &self.block().header().count;
        count.compare_exchange(1, 0, Acquire, Relaxed).is_ok()
    }

    /// Whether no other pointer can reach the payload.
    fn is_unique(&self) -> bool {
        self.block().is_unique()
    }

    /// Gives up this pointer's count. True means that it was the last.
    #[inline(always)]
    fn release(&self) -> bool {
        let count = &self.block().header().count;
        // Release: our uses of the object happen before its end. (The result has no other use, so
        // this compiles to a decrement and a branch on the flags.)
        if count.fetch_sub(1, Release) != 1 {
            return false;
        }
        // Acquire: the releases of all other strong pointers; what they did to `state` is visible
        // too.
        count.load(Acquire);
        true
    }

    /// The guard that does everything after the payload's destructor.
    ///
    /// # Safety
    /// `claim` or `release` has returned true. The payload is dropped or moved before the guard is
    /// dropped.
    #[inline(always)]
    unsafe fn reclaim(&self) -> Disposal<F> {
        Disposal {
            block: self.block(),
            payload: self.ptr.cast(),
            layout: self.layout(),
        }
    }

    /// # Safety
    /// `release` has returned true; the pointer is not used afterwards.
    // Out of line, as `std` has it: a handle is dropped in many places, and in most of them it is
    // not the last.
    #[cold]
    #[inline(never)]
    unsafe fn die(&self) {
        debug_assert!(
            !sync::in_critical(),
            "a handle is dropped under a lock of a collection"
        );
        Holder::died(self.ptr.as_ptr().cast());
        let (block, layout) = (self.block(), self.layout());
        // Acquire: what is weak. `NONE` is final: only a strong pointer could change it, and the
        // last is gone.
        let state = block.header().state.load(Acquire);
        if state != state::NONE {
            // SAFETY: the caller's promise. (No object of one thread returns.)
            return unsafe {
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
        // SAFETY: the caller's promise. The memory is freed after the destructor, even if that
        // panics.
        unsafe { ptr::drop_in_place(self.ptr.as_ptr()) };
        free.run();
    }

    /// # Safety
    /// As for `die`, which needs no frame on the stack without this.
    // The pointer and not a reference to the handle, which would have to be in memory.
    #[cold]
    #[inline(never)]
    unsafe fn die_watched(ptr: NonNull<T>) {
        // SAFETY: the caller's promise. What follows the destructor happens even if that panics.
        unsafe {
            let this = ManuallyDrop::new(Self::unlisted(ptr));
            let reclaim = this.reclaim();
            ptr::drop_in_place(ptr.as_ptr());
            reclaim.run();
        }
    }

    /// As `die_watched`, in another [state](state::is_more) than one entry alone: so that such a
    /// death does not ask whether the object returns.
    ///
    /// # Safety
    /// As for `die`. The state was `now`.
    #[cold]
    #[inline(never)]
    unsafe fn die_recorded(ptr: NonNull<T>, now: *mut ()) {
        // SAFETY: the caller's promise. What follows the destructor happens even if that panics.
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
    /// Makes one more strong pointer to the same object. O(1).
    ///
    /// # Panics
    /// Aborts the process at about 2^31 strong pointers: only leaked ones get there.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    fn clone(&self) -> Self {
        // Relaxed: the new pointer is made from an existing one. (The sign of the new count is the
        // one test for which this compiles to an increment and a branch on the flags.)
        let before = self.block().header().count.fetch_add(1, Relaxed);
        if (before.wrapping_add(1) as i32) < 0 {
            self.block().cloned_marked();
        }
        // SAFETY: counted.
        unsafe { Self::from_counted(self.ptr) }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Strong<T, F> {
    /// O(1). The drop of the last strong pointer pays for the death: the payload's destructor,
    /// O(entries for the object), and the finalizers.
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

    /// The payload. (So with a reference to the pointer, `*reference` is the pointer and
    /// `**reference` the payload.)
    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: a strong pointer keeps the payload alive.
        unsafe { self.ptr.as_ref() }
    }
}
