//! The two flavours of each pointer: thread-safe, and for one thread.
//!
//! The protocol is written once, over [`Variable`] and [`Counter`]. [`Atomic`] maps them to
//! atomics, [`Local`] to plain cells, which compile to plain increments. In cells the orderings are
//! ignored, and a compare-exchange fails only if the protocol itself has changed the word.

#![allow(
    clippy::declare_interior_mutable_const,
    reason = "each use of `Flavour::NULL` is another word"
)]

use core::cell::Cell;
use core::fmt;
use core::hash::Hash;
use core::marker::PhantomData;

use crate::sync::{self, AtomicPtr, AtomicU32, AtomicUsize, Ordering, atomic};

/// Whether a pointer may cross threads: [`Atomic`] or [`Local`]. Sealed.
pub trait Flavour: sealed::Sealed + Copy + Eq + Hash + fmt::Debug + 'static {
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
    type Link: Variable<*mut ()>;
    /// The null pointer, for the first value of a constant. (loom's types are made at run time.)
    #[cfg(not(weakly_loom))]
    #[doc(hidden)]
    const NULL: Self::Link;
    /// The type of a finalizer.
    #[doc(hidden)]
    type Callback: ?Sized;
    /// Calls a finalizer.
    #[doc(hidden)]
    fn call(callback: alloc::boxed::Box<Self::Callback>);
}

mod sealed {
    pub trait Sealed {}
}
impl sealed::Sealed for Atomic {}
impl sealed::Sealed for Local {}

/// The thread-safe flavour: [`Strong`](crate::Strong), [`Weak`](crate::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Atomic(());

/// The single-threaded flavour: [`local::Strong`](crate::local::Strong),
/// [`local::Weak`](crate::local::Weak).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Local(PhantomData<*mut ()>);

impl Flavour for Atomic {
    const SHARED: bool = true;

    type Half = AtomicU32;
    type Word = AtomicUsize;
    type Link = AtomicPtr<()>;
    #[cfg(not(weakly_loom))]
    const NULL: Self::Link = AtomicPtr::new(core::ptr::null_mut());
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
    #[cfg(not(weakly_loom))]
    const NULL: Self::Link = Cell::new(core::ptr::null_mut());
    type Callback = dyn FnOnce();

    fn call(callback: alloc::boxed::Box<Self::Callback>) {
        callback();
    }
}

/// The operations of the protocol on a word: a counter, or a tagged pointer.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Variable<N> {
    fn new(value: N) -> Self;
    fn load(&self, order: Ordering) -> N;
    fn store(&self, value: N, order: Ordering);
    fn swap(&self, new: N, order: Ordering) -> N;
    fn compare_exchange(
        &self,
        old: N,
        new: N,
        success: Ordering,
        failure: Ordering,
    ) -> Result<N, N>;
    /// Loads the word before a loop of compare-exchanges. The load of a counter is relaxed. The
    /// load of a pointer is an acquire, because the caller may follow the pointer. Under loom the
    /// method loads nothing, and returns `guess`, a value that the word often has: see
    /// [`sync::first_load`].
    fn first_load(&self, guess: N) -> N;
}

/// The operations on a counter only.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Counter<N>: Variable<N> {
    fn fetch_add(&self, value: N, order: Ordering) -> N;
    fn fetch_sub(&self, value: N, order: Ordering) -> N;
}

// The methods are those of `atomic`: in the scripts under shuttle, `AtomicU32` is a type around the
// atomic, with a step before each use.
macro_rules! atomics {
    ($($value:ty: $atomic:ident$(<$target:ty>)?, $first:ident;)*) => {$(
        impl Variable<$value> for $atomic$(<$target>)? {
            #[inline(always)]
            fn new(value: $value) -> Self {
                <$atomic$(<$target>)?>::new(value)
            }
            #[inline(always)]
            fn load(&self, order: Ordering) -> $value {
                <atomic::$atomic$(<$target>)?>::load(self, order)
            }
            #[inline(always)]
            fn store(&self, value: $value, order: Ordering) {
                <atomic::$atomic$(<$target>)?>::store(self, value, order);
            }
            #[inline(always)]
            fn swap(&self, new: $value, order: Ordering) -> $value {
                <atomic::$atomic$(<$target>)?>::swap(self, new, order)
            }
            #[inline(always)]
            fn compare_exchange(
                &self,
                old: $value,
                new: $value,
                success: Ordering,
                failure: Ordering,
            ) -> Result<$value, $value> {
                <atomic::$atomic$(<$target>)?>::compare_exchange(self, old, new, success, failure)
            }
            #[inline(always)]
            fn first_load(&self, guess: $value) -> $value {
                sync::first_load(guess, || Self::load(self, Ordering::$first))
            }
        }
    )*};
}

// Relaxed for the counters: the compare-exchange decides.
atomics! {
    u32: AtomicU32, Relaxed;
    usize: AtomicUsize, Relaxed;
    *mut (): AtomicPtr<()>, Acquire;
}

impl<N: Copy + PartialEq> Variable<N> for Cell<N> {
    #[inline(always)]
    fn new(value: N) -> Self {
        Cell::new(value)
    }
    #[inline(always)]
    fn load(&self, _: Ordering) -> N {
        self.get()
    }
    #[inline(always)]
    fn store(&self, value: N, _: Ordering) {
        self.set(value);
    }
    #[inline(always)]
    fn swap(&self, new: N, _: Ordering) -> N {
        self.replace(new)
    }
    #[inline(always)]
    fn compare_exchange(&self, old: N, new: N, _: Ordering, _: Ordering) -> Result<N, N> {
        match self.get() {
            now if now == old => Ok(self.replace(new)),
            now => Err(now),
        }
    }
    #[inline(always)]
    fn first_load(&self, _: N) -> N {
        self.get()
    }
}

macro_rules! counters {
    ($($number:ty: $atomic:ident;)*) => {$(
        impl Counter<$number> for $atomic {
            #[inline(always)]
            fn fetch_add(&self, value: $number, order: Ordering) -> $number {
                <atomic::$atomic>::fetch_add(self, value, order)
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $number, order: Ordering) -> $number {
                <atomic::$atomic>::fetch_sub(self, value, order)
            }
        }

        impl Counter<$number> for Cell<$number> {
            #[inline(always)]
            fn fetch_add(&self, value: $number, _: Ordering) -> $number {
                self.replace(self.get().wrapping_add(value))
            }
            #[inline(always)]
            fn fetch_sub(&self, value: $number, _: Ordering) -> $number {
                self.replace(self.get().wrapping_sub(value))
            }
        }
    )*};
}

counters! {
    u32: AtomicU32;
    usize: AtomicUsize;
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
