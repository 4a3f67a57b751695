//! Thread-safe or not: the two flavours of one pointer.
//!
//! The count protocol is written once, over [`Word`] and [`Link`]. [`Atomic`] maps them to atomics,
//! [`Local`] to plain cells, which compile to plain increments; there the orderings are ignored and
//! a compare-exchange never fails for a reason that the protocol did not cause itself.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;
use core::ptr;

use super::hook::Hook;
use super::side::Side;
use crate::sync::{AtomicPtr, AtomicUsize, Ordering};

/// Whether a pointer may cross threads: [`Atomic`] or [`Local`]. Sealed.
pub trait Flavour: sealed::Sealed + Sized + fmt::Debug + 'static {
    /// Whether another thread may come between two steps.
    #[doc(hidden)]
    const SHARED: bool;
    /// A unit on loan, as it is counted above the handles in an object's count; zero if there are no
    /// loans.
    #[doc(hidden)]
    const LOAN: usize;
    /// A counter or a small state machine.
    #[doc(hidden)]
    type Word: Word;
    /// The pointer to the side table, written once.
    #[doc(hidden)]
    type Link: Link<Side<Self>>;
    /// The newest notice on its way to a map.
    #[doc(hidden)]
    type Top: Link<Hook<Self>>;
    /// What a finalizer is.
    #[doc(hidden)]
    type Callback: ?Sized;
    /// Calls it.
    #[doc(hidden)]
    fn call(callback: alloc::boxed::Box<Self::Callback>);
}

mod sealed {
    pub trait Sealed {}
    impl Sealed for super::Atomic {}
    impl Sealed for super::Local {}
}

/// The thread-safe flavour: [`Strong`](crate::Strong), [`Weak`](crate::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic(());

/// The flavour of one thread: [`local::Strong`](crate::local::Strong), [`local::Weak`](crate::local::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local(PhantomData<*mut ()>);

impl Flavour for Atomic {
    const SHARED: bool = true;
    // (The cfg is for the models: the protocol of 32 bits on this machine.)
    const LOAN: usize = if cfg!(weakly_no_loans) {
        0
    } else {
        (1_u64 << 48) as usize
    };
    type Word = AtomicUsize;
    type Link = AtomicPtr<Side<Self>>;
    type Top = AtomicPtr<Hook<Self>>;
    type Callback = dyn FnOnce() + Send;

    fn call(callback: alloc::boxed::Box<Self::Callback>) {
        callback();
    }
}

impl Flavour for Local {
    const SHARED: bool = false;
    const LOAN: usize = 0;
    type Word = Cell<usize>;
    type Link = Cell<*mut Side<Self>>;
    type Top = Cell<*mut Hook<Self>>;
    type Callback = dyn FnOnce();

    fn call(callback: alloc::boxed::Box<Self::Callback>) {
        callback();
    }
}

/// The operations that the protocols use on a counter.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Word {
    fn new(value: usize) -> Self;
    fn load(&self, order: Ordering) -> usize;
    fn store(&self, value: usize, order: Ordering);
    fn fetch_add(&self, value: usize, order: Ordering) -> usize;
    fn fetch_sub(&self, value: usize, order: Ordering) -> usize;
    fn compare_exchange(
        &self,
        old: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize>;
}

impl Word for AtomicUsize {
    #[inline(always)]
    fn new(value: usize) -> Self {
        AtomicUsize::new(value)
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> usize {
        AtomicUsize::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: usize, order: Ordering) {
        AtomicUsize::store(self, value, order);
    }
    #[inline(always)]
    fn fetch_add(&self, value: usize, order: Ordering) -> usize {
        AtomicUsize::fetch_add(self, value, order)
    }
    #[inline(always)]
    fn fetch_sub(&self, value: usize, order: Ordering) -> usize {
        AtomicUsize::fetch_sub(self, value, order)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: usize,
        new: usize,
        success: Ordering,
        failure: Ordering,
    ) -> Result<usize, usize> {
        AtomicUsize::compare_exchange(self, old, new, success, failure)
    }
}

impl Word for Cell<usize> {
    #[inline(always)]
    fn new(value: usize) -> Self {
        Cell::new(value)
    }
    #[inline(always)]
    fn load(&self, _: Ordering) -> usize {
        self.get()
    }
    #[inline(always)]
    fn store(&self, value: usize, _: Ordering) {
        self.set(value);
    }
    #[inline(always)]
    fn fetch_add(&self, value: usize, _: Ordering) -> usize {
        self.replace(self.get().wrapping_add(value))
    }
    #[inline(always)]
    fn fetch_sub(&self, value: usize, _: Ordering) -> usize {
        self.replace(self.get().wrapping_sub(value))
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: usize,
        new: usize,
        _: Ordering,
        _: Ordering,
    ) -> Result<usize, usize> {
        match self.get() {
            now if now == old => Ok(self.replace(new)),
            now => Err(now),
        }
    }
}

/// A shared pointer.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Link<T> {
    fn null() -> Self;
    fn load(&self, order: Ordering) -> *mut T;
    fn swap(&self, new: *mut T, order: Ordering) -> *mut T;
    fn compare_exchange(
        &self,
        old: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T>;
}

impl<T> Link<T> for AtomicPtr<T> {
    #[inline(always)]
    fn null() -> Self {
        AtomicPtr::new(ptr::null_mut())
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> *mut T {
        AtomicPtr::load(self, order)
    }
    #[inline(always)]
    fn swap(&self, new: *mut T, order: Ordering) -> *mut T {
        AtomicPtr::swap(self, new, order)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: *mut T,
        new: *mut T,
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut T, *mut T> {
        AtomicPtr::compare_exchange(self, old, new, success, failure)
    }
}

impl<T> Link<T> for Cell<*mut T> {
    #[inline(always)]
    fn null() -> Self {
        Cell::new(ptr::null_mut())
    }
    #[inline(always)]
    fn load(&self, _: Ordering) -> *mut T {
        self.get()
    }
    #[inline(always)]
    fn swap(&self, new: *mut T, _: Ordering) -> *mut T {
        self.replace(new)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: *mut T,
        new: *mut T,
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut T, *mut T> {
        match self.get() {
            now if now == old => Ok(self.replace(new)),
            now => Err(now),
        }
    }
}
