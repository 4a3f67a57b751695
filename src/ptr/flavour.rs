//! Thread-safe or not: the two flavours of each pointer.
//!
//! The protocol is written once, over [`Counter`] and [`Link`]. [`Atomic`] maps them to atomics, [`Local`]
//! to plain cells, which compile to plain increments. In cells the orderings are ignored, and a
//! compare-exchange fails only if the protocol itself has changed the word.

use core::cell::Cell;
use core::fmt;
use core::marker::PhantomData;

use crate::sync::{self, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

/// Whether a pointer may cross threads: [`Atomic`] or [`Local`]. Sealed.
pub trait Flavour: sealed::Sealed + Sized + fmt::Debug + 'static {
    /// Whether threads share the objects.
    #[doc(hidden)]
    const SHARED: bool;
    /// Half a word: a count of strong pointers, a hash, a gate.
    #[doc(hidden)]
    type Half: Counter<u32>;
    /// A counter of one word.
    #[doc(hidden)]
    type Word: Counter<usize>;
    /// A tagged pointer.
    #[doc(hidden)]
    type Link: Link;
    /// The type of a finalizer.
    #[doc(hidden)]
    type Callback: ?Sized;
    /// Calls it.
    #[doc(hidden)]
    fn call(callback: alloc::boxed::Box<Self::Callback>);
}

mod sealed {
    pub trait Sealed {}
}
impl sealed::Sealed for Atomic {}
impl sealed::Sealed for Local {}

/// The thread-safe flavour: [`Strong`](crate::Strong), [`Weak`](crate::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Atomic(());

/// The single-threaded flavour: [`local::Strong`](crate::local::Strong), [`local::Weak`](crate::local::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Local(PhantomData<*mut ()>);

impl Flavour for Atomic {
    const SHARED: bool = true;

    type Half = AtomicU32;
    type Word = AtomicUsize;
    type Link = AtomicPtr<()>;
    type Callback = dyn FnOnce() + Send;

    fn call(callback: alloc::boxed::Box<Self::Callback>) {
        callback();
    }
}

impl Flavour for Local {
    const SHARED: bool = false;

    type Half = Cell<u32>;
    type Word = Cell<usize>;
    type Link = Cell<*mut ()>;
    type Callback = dyn FnOnce();

    fn call(callback: alloc::boxed::Box<Self::Callback>) {
        callback();
    }
}

/// The operations that the protocol uses on a counter.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Counter<N> {
    fn new(value: N) -> Self;
    fn load(&self, order: Ordering) -> N;
    fn store(&self, value: N, order: Ordering);
    fn fetch_add(&self, value: N, order: Ordering) -> N;
    fn fetch_sub(&self, value: N, order: Ordering) -> N;
    fn compare_exchange(
        &self,
        old: N,
        new: N,
        success: Ordering,
        failure: Ordering,
    ) -> Result<N, N>;
    /// The load before a loop of compare-exchanges, relaxed; see [`sync::first_load`].
    fn first_load(&self, guess: N) -> N;
}

/// The operations that the protocol uses on a tagged pointer.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Link: Sized {
    /// What a constant begins with. (loom's types are made at run time.)
    #[cfg(not(weakly_loom))]
    const NULL: Self;
    fn new(value: *mut ()) -> Self;
    fn load(&self, order: Ordering) -> *mut ();
    fn store(&self, value: *mut (), order: Ordering);
    fn swap(&self, new: *mut (), order: Ordering) -> *mut ();
    fn compare_exchange(
        &self,
        old: *mut (),
        new: *mut (),
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut (), *mut ()>;
    /// As [`Counter::first_load`], but an acquire.
    fn first_load(&self, guess: *mut ()) -> *mut ();
}

macro_rules! counters {
    ($($number:ty: $atomic:ty;)*) => {$(
        impl Counter<$number> for $atomic {
            #[inline(always)]
            fn new(value: $number) -> Self {
                <$atomic>::new(value)
            }
            #[inline(always)]
            fn load(&self, order: Ordering) -> $number {
                <$atomic>::load(self, order)
            }
            #[inline(always)]
            fn store(&self, value: $number, order: Ordering) {
                <$atomic>::store(self, value, order);
            }
            #[inline(always)]
            fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                <$atomic>::fetch_add(self, value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                <$atomic>::fetch_sub(self, value, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                old: $number,
                new: $number,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$number, $number> {
                <$atomic>::compare_exchange(self, old, new, success, failure)
            }
            #[inline(always)]
            fn first_load(&self, guess: $number) -> $number {
                // Relaxed: the compare-exchange decides.
                sync::first_load(guess, || <$atomic>::load(self, Ordering::Relaxed))
            }
        }

        impl Counter<$number> for Cell<$number> {
            #[inline(always)]
            fn new(value: $number) -> Self {
                Cell::new(value)
            }
            #[inline(always)]
            fn load(&self, _: Ordering) -> $number {
                self.get()
            }
            #[inline(always)]
            fn store(&self, value: $number, _: Ordering) {
                self.set(value);
            }
            #[inline(always)]
            fn fetch_add(&self, value: $number, _: Ordering) -> $number {
                self.replace(self.get().wrapping_add(value))
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $number, _: Ordering) -> $number {
                self.replace(self.get().wrapping_sub(value))
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                old: $number,
                new: $number,
                _: Ordering,
                _: Ordering,
            ) -> Result<$number, $number> {
                match self.get() {
                    now if now == old => Ok(self.replace(new)),
                    now => Err(now),
                }
            }
            #[inline(always)]
            fn first_load(&self, _: $number) -> $number {
                self.get()
            }
        }
    )*};
}

counters! {
    u32: AtomicU32;
    usize: AtomicUsize;
}

impl Link for AtomicPtr<()> {
    #[cfg(not(weakly_loom))]
    const NULL: Self = AtomicPtr::new(core::ptr::null_mut());
    #[inline(always)]
    fn new(value: *mut ()) -> Self {
        AtomicPtr::new(value)
    }
    #[inline(always)]
    fn load(&self, order: Ordering) -> *mut () {
        AtomicPtr::load(self, order)
    }
    #[inline(always)]
    fn store(&self, value: *mut (), order: Ordering) {
        AtomicPtr::store(self, value, order);
    }
    #[inline(always)]
    fn swap(&self, new: *mut (), order: Ordering) -> *mut () {
        AtomicPtr::swap(self, new, order)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: *mut (),
        new: *mut (),
        success: Ordering,
        failure: Ordering,
    ) -> Result<*mut (), *mut ()> {
        AtomicPtr::compare_exchange(self, old, new, success, failure)
    }
    #[inline(always)]
    fn first_load(&self, guess: *mut ()) -> *mut () {
        sync::first_load(guess, || AtomicPtr::load(self, Ordering::Acquire))
    }
}

impl Link for Cell<*mut ()> {
    #[cfg(not(weakly_loom))]
    const NULL: Self = Cell::new(core::ptr::null_mut());
    #[inline(always)]
    fn new(value: *mut ()) -> Self {
        Cell::new(value)
    }
    #[inline(always)]
    fn load(&self, _: Ordering) -> *mut () {
        self.get()
    }
    #[inline(always)]
    fn store(&self, value: *mut (), _: Ordering) {
        self.set(value);
    }
    #[inline(always)]
    fn swap(&self, new: *mut (), _: Ordering) -> *mut () {
        self.replace(new)
    }
    #[inline(always)]
    fn compare_exchange(
        &self,
        old: *mut (),
        new: *mut (),
        _: Ordering,
        _: Ordering,
    ) -> Result<*mut (), *mut ()> {
        match self.get() {
            now if now == old => Ok(self.replace(new)),
            now => Err(now),
        }
    }
    #[inline(always)]
    fn first_load(&self, _: *mut ()) -> *mut () {
        self.get()
    }
}

/// Ends the process, without unwinding: a count is about to wrap around.
#[cold]
#[inline(never)]
pub(super) fn abort() -> ! {
    #[cfg(feature = "std")]
    std::process::abort();
    // A panic while panicking aborts, and needs no std.
    #[cfg(not(feature = "std"))]
    {
        struct Twice;
        impl Drop for Twice {
            fn drop(&mut self) {
                panic!("too many pointers to one object");
            }
        }
        let _twice = Twice;
        panic!("too many pointers to one object");
    }
}
