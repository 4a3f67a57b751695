//! The strong handle, and the beginning of a death.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::pin::Pin;
use core::ptr::{self, NonNull};

use super::death::{Free, Reclaim};
use super::flavour::{Atomic, Counter, Flavour, Link, abort};
use super::header::{Block, is_apart, with_address};
use super::memory;
use super::state;
use crate::sync::Ordering::*;

/// A strong handle: shared ownership of a value that tells its watchers of its death.
///
/// Use it by its two names, [`Strong`](crate::Strong) (thread-safe, the counterpart of
/// [`Arc`](std::sync::Arc)) and [`local::Strong`](crate::local::Strong) (one thread, the counterpart
/// of [`Rc`](std::rc::Rc)). The interface is that of `Arc`: associated functions, so that they never
/// hide a method of `T`.
///
/// A handle is one word (two for an unsized payload). The object has a header of two words; weak handles,
/// and the first entry that holds it in a collection of one owner, need no more. More than that takes a
/// record of 64 bytes, and 32 for each further entry.
///
/// Nothing weak keeps a payload. An object of more than 256 bytes with its header has its payload apart, by
/// an allocation and 24 bytes more, and its memory is freed at the death. A smaller one waits, as with
/// `Arc`, for those who hold on weakly.
///
/// # What happens at the death
///
/// When the last strong handle goes:
///
/// 1. every [`Weak`](crate::Weak) reads expired, every upgrade fails;
/// 2. the payload's destructor runs; maps still find the object by reference (`map.get(&*self)`);
/// 3. the maps that hold it get a notice, then its [finalizers](Strong::finalize) run, newest first;
/// 4. its memory is freed, but for 256 bytes at most (and its record), which wait for those who still hold
///    on weakly.
///
/// 3 and 4 also happen if the destructor or a finalizer panics; the panic goes on to whoever dropped
/// the handle. (A second panic while the first unwinds aborts the process, as with every destructor
/// in Rust.) A death costs O(entries that hold the object), never O(size of a map).
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
    ptr: NonNull<T>,
    owns: PhantomData<(F, T)>,
}

// SAFETY: as for `Arc`: a handle gives `&T` on any thread (`Sync`), and the last may drop the payload
// on any thread (`Send`). The counts are atomics.
unsafe impl<T: ?Sized + Send + Sync> Send for Strong<T, Atomic> {}
// SAFETY: likewise; a `&Strong` can be cloned.
unsafe impl<T: ?Sized + Send + Sync> Sync for Strong<T, Atomic> {}

impl<T, F: Flavour> Strong<T, F> {
    /// Makes an object and its first handle. One allocation.
    ///
    /// ```
    /// let five = weakly::Strong::new(5);
    /// assert_eq!(*five, 5);
    /// ```
    #[must_use]
    #[inline]
    pub fn new(value: T) -> Self {
        let ptr = memory::allocate::<F>(Layout::new::<T>(), 1, state::NONE).cast::<T>();
        // SAFETY: fresh memory of this layout.
        unsafe { ptr.write(value) };
        // SAFETY: it holds a value, and is counted once.
        unsafe { Self::from_counted(ptr) }
    }

    /// Makes an object that cannot be moved.
    #[must_use]
    pub fn pin(value: T) -> Pin<Self> {
        // SAFETY: the payload of a handle never moves while the handle exists (`make_mut` and
        // `try_unwrap` cannot be reached through a `Pin` of a payload that is not `Unpin`).
        unsafe { Pin::new_unchecked(Self::new(value)) }
    }

    /// Takes the value out, if this is the only strong handle. The object is dead afterwards: weak
    /// handles are expired, maps have been told, finalizers have run; only the payload's destructor
    /// has not.
    ///
    /// # Errors
    /// The handle itself, if there are others or an upgrade is under way.
    pub fn try_unwrap(this: Self) -> Result<T, Self> {
        if this.claim() {
            // SAFETY: claimed.
            Ok(unsafe { this.take() })
        } else {
            Err(this)
        }
    }

    /// Gives up the handle; takes the value out if it was the last. Of the calls on all the handles
    /// of an object, exactly one gets the value (if no weak handle is upgraded meanwhile).
    #[must_use = "this drops the value, if the handle was the last"]
    pub fn into_inner(this: Self) -> Option<T> {
        // Not `claim` first: of two that both find the other there, neither would get the value.
        if this.leave() {
            // SAFETY: the last handle.
            Some(unsafe { this.take() })
        } else {
            mem::forget(this);
            None
        }
    }

    /// The value, if this is the only strong handle, else a clone of it.
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
    /// `claim` or `leave` has returned true.
    unsafe fn take(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the object is ours alone, and the payload is not used after this.
        let value = unsafe { this.ptr.read() };
        // SAFETY: dead, and the payload is gone.
        drop(unsafe { this.reclaim() });
        value
    }

    /// Mutable access to the value, in a new object if this one is shared.
    ///
    /// * The only handle, nobody watches: in place.
    /// * The only strong handle, but somebody watches: the value **moves to a new object**, and the
    ///   old one dies: weak handles expire, and **the attributes that maps hold for it are left
    ///   behind**. Ask [`get_mut`](Self::get_mut) first if that matters.
    /// * Otherwise: in a clone.
    pub fn make_mut(this: &mut Self) -> &mut T
    where
        T: Clone,
    {
        if !this.is_unique() {
            // Before anything is given up: it may fail, and the failure unwind.
            let fresh = Strong::<MaybeUninit<T>, F>::new(MaybeUninit::uninit());
            let claimed = this.claim();
            // SAFETY: if claimed, the payload is ours to move. The memory is that of a `T`. Finalizers may
            // panic, so the reclamation is last, when `this` is whole.
            unsafe {
                let new = fresh.ptr.cast::<T>();
                new.write(if claimed {
                    this.ptr.read()
                } else {
                    T::clone(this)
                });
                mem::forget(fresh);
                let old = ManuallyDrop::new(mem::replace(this, Self::from_counted(new)));
                match claimed {
                    true => drop(old.reclaim()),
                    false => drop(ManuallyDrop::into_inner(old)),
                }
            }
        }
        // SAFETY: unique, or new.
        unsafe { this.ptr.as_mut() }
    }
}

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// The number of strong handles. A moment's answer, if other threads have some.
    #[must_use]
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        this.block().strong_count() as usize
    }

    /// How many hold on weakly: weak handles, and entries of collections (an entry of a collection
    /// that threads share counts twice). Finalizers and their tokens do not count. A moment's answer, if
    /// other threads are at it.
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        this.block().weak_count()
    }

    /// Whether both handles are to the same object. Compares data addresses, never vtables.
    #[must_use]
    #[inline]
    pub fn ptr_eq(this: &Self, other: &Self) -> bool {
        ptr::addr_eq(this.ptr.as_ptr(), other.ptr.as_ptr())
    }

    /// The address of the payload.
    #[must_use]
    #[inline]
    pub fn as_ptr(this: &Self) -> *const T {
        this.ptr.as_ptr()
    }

    /// Gives up the handle without giving up its count: a pointer for [`from_raw`](Self::from_raw).
    #[must_use = "the handle is leaked unless it is made again"]
    #[inline]
    pub fn into_raw(this: Self) -> *const T {
        ManuallyDrop::new(this).ptr.as_ptr()
    }

    /// Makes a handle from a pointer.
    ///
    /// # Safety
    /// `ptr` is from [`into_raw`](Self::into_raw) of a handle of the same flavour, unchanged but for
    /// unsizing coercions of the compiler, and each such pointer makes one handle.
    #[must_use]
    #[inline]
    pub unsafe fn from_raw(ptr: *const T) -> Self {
        // SAFETY: the caller's promise.
        unsafe { Self::from_counted(NonNull::new_unchecked(ptr.cast_mut())) }
    }

    /// Mutable access, if nobody else can have any: this is the only strong handle, and there is no
    /// weak handle and no entry of a collection (they could be upgraded). Finalizers and their tokens
    /// do not hinder. Unlike with `Arc`, one *past* downgrade does not count, nor does one that
    /// failed.
    #[must_use]
    pub fn get_mut(this: &mut Self) -> Option<&mut T> {
        if !this.is_unique() {
            return None;
        }
        // SAFETY: unique, and `this` is borrowed, so nobody can make another handle meanwhile.
        Some(unsafe { this.ptr.as_mut() })
    }

    /// # Safety
    /// `ptr` is the payload of a live object that has counted this handle.
    #[inline]
    pub(crate) unsafe fn from_counted(ptr: NonNull<T>) -> Self {
        Strong {
            ptr,
            owns: PhantomData,
        }
    }

    #[inline(always)]
    fn layout(&self) -> Layout {
        // SAFETY: the payload lives, or is at least still there. (Constant if its type is sized.)
        Layout::for_value(unsafe { self.ptr.as_ref() })
    }

    #[inline(always)]
    pub(crate) fn block(&self) -> Block<F> {
        // SAFETY: we are a strong handle.
        unsafe { Block::of(self.ptr.cast(), self.layout()) }
    }

    /// What weak handles and entries keep: the place of an inline payload in the block, with our metadata.
    #[inline(always)]
    pub(crate) fn place(&self) -> NonNull<T> {
        if is_apart(self.layout()) {
            with_address(self.ptr, self.block().place())
        } else {
            self.ptr
        }
    }

    /// Makes a handle from what [`place`](Self::place) has returned.
    ///
    /// # Safety
    /// `block` is that of the place, lives, and has counted this handle.
    #[inline(always)]
    pub(crate) unsafe fn from_place(place: NonNull<T>, block: Block<F>) -> Self {
        let ptr = match block.payload_if_apart() {
            Some(payload) => with_address(place, payload),
            None => place,
        };
        // SAFETY: the caller's promise.
        unsafe { Self::from_counted(ptr) }
    }

    /// Ends the object if this is its only strong handle: true means that no other handle exists or
    /// can come to be.
    #[inline]
    fn claim(&self) -> bool {
        // Acquire: the release of every other handle's drop, so that their uses of the object happen
        // before what we do to it.
        let count = &self.block().header().count;
        count.compare_exchange(1, 0, Acquire, Relaxed).is_ok()
    }

    /// Whether nobody else can reach the payload.
    fn is_unique(&self) -> bool {
        self.block().is_unique()
    }

    /// Gives up this handle's count: true means that the object has ended.
    #[inline(always)]
    fn leave(&self) -> bool {
        let count = &self.block().header().count;
        // Release: our uses of the object happen before its end. (The result has no other use, so that this
        // compiles to a decrement and a branch on the flags.)
        if count.fetch_sub(1, Release) != 1 {
            return false;
        }
        // Acquire: the releases of all the other handles; what they did to `state` is visible too.
        count.load(Acquire);
        true
    }

    /// What comes after the payload's destructor.
    ///
    /// # Safety
    /// `claim` or `leave` has returned true. The payload is dropped or moved before this is.
    #[inline(always)]
    unsafe fn reclaim(&self) -> Reclaim<F> {
        Reclaim {
            block: self.block(),
            payload: self.ptr.cast(),
            layout: self.layout(),
        }
    }

    /// # Safety
    /// `leave` has returned true; the handle is not used afterwards.
    #[inline(always)]
    unsafe fn die(&self) {
        let (block, layout) = (self.block(), self.layout());
        // Acquire: who holds on weakly. Nobody is final: with the strong handles the last have gone who
        // could change that.
        if block.header().state.load(Acquire) != state::NONE {
            // SAFETY: the caller's promise.
            return unsafe { self.die_watched() };
        }
        let _free = Free {
            block,
            payload: self.ptr.cast(),
            layout,
        };
        // SAFETY: the caller's promise. The memory is freed after the destructor, even if that panics.
        unsafe { ptr::drop_in_place(self.ptr.as_ptr()) };
    }

    /// # Safety
    /// As for `die`. Kept out of line: the common drop is short.
    #[cold]
    #[inline(never)]
    unsafe fn die_watched(&self) {
        // SAFETY: the caller's promise. What follows the destructor happens even if that panics.
        unsafe {
            let reclaim = self.reclaim();
            ptr::drop_in_place(self.ptr.as_ptr());
            reclaim.run();
        }
    }
}

impl<T: ?Sized, F: Flavour> Clone for Strong<T, F> {
    /// One more handle to the same object. O(1).
    ///
    /// # Panics
    /// Aborts the process past 2^30 handles or so: only forgotten ones get there.
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: the new handle is made from an existing one. (The sign of the new count is the one test
        // for which this compiles to an increment and a branch on the flags.)
        let before = self.block().header().count.fetch_add(1, Relaxed);
        if (before.wrapping_add(1) as i32) < 0 {
            abort();
        }
        // SAFETY: counted.
        unsafe { Self::from_counted(self.ptr) }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Strong<T, F> {
    /// O(1); the last handle pays for the death: the payload's destructor, O(entries that hold it),
    /// and the finalizers.
    #[inline]
    fn drop(&mut self) {
        if self.leave() {
            // SAFETY: just so.
            unsafe { self.die() };
        }
    }
}

impl<T: ?Sized, F: Flavour> Deref for Strong<T, F> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: we keep it alive.
        unsafe { self.ptr.as_ref() }
    }
}
