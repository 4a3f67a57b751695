//! The strong handle: the group's side of the count protocol, and the death.

use core::alloc::Layout;
use core::marker::PhantomData;
use core::mem::{self, ManuallyDrop, MaybeUninit};
use core::ops::Deref;
use core::pin::Pin;
use core::ptr::{self, NonNull};

use super::count;
use super::death::Burial;
use super::flavour::{Flavour, Link, Word};
use super::header::Header;
use super::side::{ASKED, Side, abort};
use super::weak::WeakHandle;
use crate::sync::Ordering::*;

/// A strong handle: shared ownership of a value that tells its watchers of its death.
///
/// Use it by its two names, [`Strong`](crate::Strong) (thread-safe, the counterpart of
/// [`Arc`](std::sync::Arc)) and [`local::Strong`](crate::local::Strong) (one thread, the counterpart
/// of [`Rc`](std::rc::Rc)). The interface is that of `Arc`: associated functions, so that they never
/// hide a method of `T`.
///
/// A handle is one word (two for an unsized payload). The object has a header of two words. The
/// first weak handle or map entry makes a side table of about a hundred bytes, which outlives the
/// object for as long as anybody holds on to it weakly; the object's own memory is freed at its last
/// strong handle, always.
///
/// # What happens at the death
///
/// When the last strong handle goes:
///
/// 1. every [`Weak`](crate::Weak) reads expired, every upgrade fails;
/// 2. the payload's destructor runs; maps still find the object by reference (`map.get(&*self)`);
/// 3. the maps that hold it get a notice, then its [finalizers](Handle::finalize) run, newest first;
/// 4. its memory is freed.
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
pub struct Handle<T: ?Sized, F: Flavour> {
    /// The payload, with the provenance of the whole allocation.
    ptr: NonNull<T>,
    owns: PhantomData<(F, T)>,
}

// SAFETY: as for `Arc`: a handle gives `&T` on any thread (`Sync`), and the last may drop the payload
// on any thread (`Send`). The counts are atomics.
unsafe impl<T: ?Sized + Send + Sync> Send for Handle<T, super::Atomic> {}
// SAFETY: likewise; a `&Handle` can be cloned.
unsafe impl<T: ?Sized + Send + Sync> Sync for Handle<T, super::Atomic> {}

impl<T, F: Flavour> Handle<T, F> {
    /// Makes an object and its first handle. One allocation.
    ///
    /// ```
    /// let five = weakly::Strong::new(5);
    /// assert_eq!(*five, 5);
    /// ```
    #[must_use]
    #[inline]
    pub fn new(value: T) -> Self {
        let ptr = Header::<F>::allocate(Layout::new::<T>(), 1).cast::<T>();
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

    /// Makes an object that holds a weak handle to itself. The handle is expired until `f` returns.
    ///
    /// # Panics
    /// If `f` does; the weak handle then stays expired for ever.
    ///
    /// ```
    /// use weakly::{Strong, Weak};
    ///
    /// struct Node { me: Weak<Node> }
    /// let node = Strong::new_cyclic(|me| {
    ///     assert!(me.upgrade().is_none());
    ///     Node { me: me.clone() }
    /// });
    /// assert!(Strong::ptr_eq(&node.me.upgrade().unwrap(), &node));
    /// ```
    #[must_use]
    pub fn new_cyclic(f: impl FnOnce(&WeakHandle<T, F>) -> T) -> Self {
        let layout = Layout::new::<T>();
        let ptr = Header::<F>::allocate(layout, 0).cast::<T>();
        let side = Side::unborn();
        // SAFETY: just allocated.
        let header = unsafe { Header::<F>::of(ptr) };
        // Relaxed: nobody else knows the header.
        header.side.swap(side.as_ptr(), Relaxed);
        // SAFETY: `unborn` made a reference for this handle.
        let weak = unsafe { WeakHandle::from_counted(ptr, side) };
        // If `f` panics: no destructor, but everything after it.
        let stillborn = Burial::<F> {
            payload: ptr.cast(),
            layout,
            side: Some(side),
        };
        let value = f(&weak);
        mem::forget(stillborn);
        // SAFETY: memory of this layout, not written before.
        unsafe { ptr.write(value) };
        // Relaxed: the next store publishes it.
        header.count.store(1, Relaxed);
        // Release: whoever upgrades from now on (acquire) sees payload and count.
        // SAFETY: the object holds a reference to its record.
        unsafe { side.as_ref() }.strong.store(1, Release);
        // SAFETY: it holds a value, and is counted once.
        unsafe { Self::from_counted(ptr) }
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
        if this.claim() || this.leave() {
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

    /// Moves the payload out of a dead object and buries it.
    ///
    /// # Safety
    /// `claim` or `leave` has returned true.
    unsafe fn take(self) -> T {
        let this = ManuallyDrop::new(self);
        // SAFETY: the object is ours alone, and the payload is not used after this.
        let value = unsafe { this.ptr.read() };
        // SAFETY: dead, and the payload is gone.
        drop(unsafe { this.burial() });
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
            let fresh = Handle::<MaybeUninit<T>, F>::new(MaybeUninit::uninit());
            let (claimed, old, new) = (this.claim(), this.ptr, fresh.ptr.cast::<T>());
            // SAFETY: if claimed, the payload is ours to move. Finalizers may panic, so the burial is last.
            unsafe {
                new.write(if claimed { old.read() } else { T::clone(this) });
                mem::forget(fresh);
                let old = ManuallyDrop::new(mem::replace(this, Self::from_counted(new)));
                match claimed {
                    true => drop(old.burial()),
                    false => drop(ManuallyDrop::into_inner(old)),
                }
            }
        }
        // SAFETY: unique, or new.
        unsafe { this.ptr.as_mut() }
    }
}

impl<T: ?Sized, F: Flavour> Handle<T, F> {
    /// A weak handle to the same object. O(1); the first makes the side table.
    #[must_use]
    #[inline]
    pub fn downgrade(this: &Self) -> WeakHandle<T, F> {
        let side = Side::referenced(&this.header().side);
        // SAFETY: the reference is the weak handle's.
        unsafe { WeakHandle::from_counted(this.ptr, side) }
    }

    /// The number of strong handles. A moment's answer, if other threads have some.
    #[must_use]
    #[inline]
    pub fn strong_count(this: &Self) -> usize {
        count::handles::<F>(this.header().count.load(Relaxed))
    }

    /// How many hold on weakly: weak handles, and entries of collections (an entry of a collection
    /// that threads share counts twice). Finalizers and their tokens do not count. A moment's answer, if other threads are at it.
    #[must_use]
    pub fn weak_count(this: &Self) -> usize {
        // SAFETY: the object is alive and holds a reference to its record.
        this.side()
            .map_or(0, |side| unsafe { side.as_ref() }.weak_count())
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
    pub(super) unsafe fn from_counted(ptr: NonNull<T>) -> Self {
        Handle {
            ptr,
            owns: PhantomData,
        }
    }

    #[inline(always)]
    pub(crate) fn header(&self) -> &Header<F> {
        // SAFETY: we are a strong handle.
        unsafe { Header::of(self.ptr) }
    }

    /// The payload, with the provenance of the allocation.
    #[inline]
    pub(crate) fn payload(&self) -> NonNull<T> {
        self.ptr
    }

    /// The record of the object, if anybody ever watched it.
    #[inline]
    pub(crate) fn side(&self) -> Option<NonNull<Side<F>>> {
        // Acquire: the release of whoever installed it.
        NonNull::new(self.header().side.load(Acquire))
    }

    /// Ends the object if this is its only strong handle: true means that no other handle exists or
    /// can come to be. (No `fetch_sub` for an object that nobody watches: with a count of one, ours,
    /// and no record from which a weak handle could be upgraded, nobody can interfere.)
    #[inline]
    fn claim(&self) -> bool {
        self.is_alone(|_| true, true)
    }

    /// Whether nobody else can reach the payload.
    fn is_unique(&self) -> bool {
        self.is_alone(Side::is_unwatched, false)
    }

    /// Whether this is the only handle and, if somebody has ever watched, `more` holds; if so, and
    /// if that is wanted, the `end` of the object.
    #[inline]
    fn is_alone(&self, more: impl FnOnce(&Side<F>) -> bool, end: bool) -> bool {
        // Acquire: the release of every other handle's drop, so that their uses of the object happen
        // before what we do to it, and so that we see the record if one of them made it.
        let count = self.header().count.load(Acquire);
        count::handles::<F>(count) == 1
            && self
                .side()
                .is_none_or(|side| self.ask(side, count, more, end))
    }

    /// Keeps upgraders out while it looks whether this is the only handle and `more` holds.
    ///
    /// `strong` is the units of groups, of loans and of upgrades under way. If it is what our group
    /// has and, by `count`, has been lent, then there is no other group that still ends and no upgrade
    /// between taking its unit and joining; and no new one can begin. So `count` now changes only by
    /// existing handles, and if it is still the same, with one handle, the handle is ours. Two plain
    /// loads could not tell: an upgraded handle can come between them and go.
    ///
    /// (The first look at `count` may be late. Then the second, which sees every payment of units
    /// that has lowered `strong` before our mark, finds it changed; or it was not late in any way that
    /// matters. docs/DESIGN.md has the argument at length.)
    fn ask(
        &self,
        side: NonNull<Side<F>>,
        count: usize,
        more: impl FnOnce(&Side<F>) -> bool,
        end: bool,
    ) -> bool {
        // SAFETY: the object is alive (we are a handle) and holds a reference.
        let side = unsafe { side.as_ref() };
        let units = 1 + count::lent::<F>(count);
        // Acquire: the releases of all who gave units back: their counts are visible below.
        if side
            .strong
            .compare_exchange(units, units | ASKED, Acquire, Relaxed)
            .is_err()
        {
            return false;
        }
        // Acquire: as in `is_alone`.
        let yes = self.header().count.load(Acquire) == count && more(side);
        // Release: pairs with the acquire of the next upgrade, which sees the count as we did.
        if yes && end {
            side.strong.store(0, Release);
        } else {
            // Not a store: if we are not alone, others may be giving units back.
            side.strong.fetch_sub(ASKED, Release);
        }
        yes
    }

    /// Gives up this handle's count: true means that the object has ended.
    #[inline]
    fn leave(&self) -> bool {
        // Release: our uses of the object happen before its end.
        let before = self.header().count.fetch_sub(1, Release);
        count::handles::<F>(before) == 1 && self.end_group(before - 1)
    }

    /// Our group of handles has ended, and left this count. The record may have made a new group since.
    fn end_group(&self, left: usize) -> bool {
        // The memory is still there: the group's unit, or our having been the last, holds it.
        let header = self.header();
        // Acquire: the releases of all the group's handles; we see the record if one of them made it.
        header.count.load(Acquire);
        let Some(side) = self.side() else {
            return true;
        };
        // SAFETY: the object holds a reference to its record, and we hold a unit of the object.
        let side = unsafe { side.as_ref() };
        // The group's own unit, and what it has been lent; unless a new group has been made, which
        // then owes the loans, or its end has paid them. Relaxed: the release below.
        let lent = count::lent::<F>(left);
        let paid = lent != 0
            && header
                .count
                .compare_exchange(left, 0, Relaxed, Relaxed)
                .is_ok();
        let units = if paid { 1 + lent } else { 1 };
        // Release: the group's uses happen before the end. Acquire: so do those of other groups.
        side.strong.fetch_sub(units, Release) == units && {
            side.strong.load(Acquire);
            true
        }
    }

    /// What comes after the payload's destructor.
    ///
    /// # Safety
    /// `claim` or `leave` has returned true. The payload is dropped or moved before the burial is.
    #[inline(always)]
    unsafe fn burial(&self) -> Burial<F> {
        // SAFETY: the payload is still there.
        let layout = Layout::for_value(unsafe { self.ptr.as_ref() });
        Burial {
            payload: self.ptr.cast(),
            layout,
            side: self.side(),
        }
    }

    /// # Safety
    /// `claim` or `leave` has returned true; the handle is not used afterwards.
    #[inline(always)]
    unsafe fn die(&self) {
        // SAFETY: the caller's promise. The burial happens after the destructor, even if that panics.
        unsafe {
            let _burial = self.burial();
            ptr::drop_in_place(self.ptr.as_ptr());
        }
    }

    /// # Safety
    /// As for `die`. Kept out of line: the common drop is short.
    #[cold]
    #[inline(never)]
    unsafe fn die_watched(&self) {
        // SAFETY: the caller's promise.
        unsafe { self.die() };
    }
}

impl<T: ?Sized, F: Flavour> Clone for Handle<T, F> {
    /// One more handle to the same object. O(1).
    ///
    /// # Panics
    /// Aborts the process past `isize::MAX` handles.
    #[inline]
    fn clone(&self) -> Self {
        // Relaxed: the new handle is made from an existing one.
        let before = self.header().count.fetch_add(1, Relaxed);
        if count::handles::<F>(before) > count::max_handles::<F>() {
            abort();
        }
        // SAFETY: counted.
        unsafe { Self::from_counted(self.ptr) }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Handle<T, F> {
    /// O(1); the last handle pays for the death: the payload's destructor, O(entries that hold it),
    /// and the finalizers.
    #[inline]
    fn drop(&mut self) {
        // Not `claim` first: a load between the read-modify-writes of a clone and its drop costs a
        // third of both, and what it saves is one of them at the death.
        if self.leave() {
            // SAFETY: just so.
            unsafe {
                if self.side().is_none() {
                    self.die();
                } else {
                    self.die_watched();
                }
            }
        }
    }
}

impl<T: ?Sized, F: Flavour> Deref for Handle<T, F> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        // SAFETY: we keep it alive.
        unsafe { self.ptr.as_ref() }
    }
}
