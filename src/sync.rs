//! Atomics and cells, from `core` or from loom.
//!
//! Under `cfg(weakly_loom)` the same protocol code runs on loom's types, so that the models beside
//! the protocols check the code that ships.
//!
//! loom does not see a use after free of heap memory. Records that are shared by pointer therefore
//! carry a [`Live`] mark: nothing at all in a normal build; under loom, a tracked cell that every
//! access reads and the free writes, so that an access that is not ordered before the free is an
//! error in *every* interleaving, not only in the unlucky one. A record that is never ended is a leak, which
//! loom reports at the end of an execution.
//!
//! loom 0.7 tries the other order of two accesses only for the *last* access to an atomic before this
//! one. If a thread loads an atomic and then changes it, that last access is its own load, which hides an
//! earlier load by another thread: the interleaving where the other's load comes after the change is
//! never tried. A load that only spares a read-modify-write, or prepares one, is therefore made by
//! [`first_load`], and left out under loom.

pub(crate) use imp::*;

/// A function that is `const`, but for loom, whose types are made at run time.
#[cfg(feature = "std")]
macro_rules! const_fn {
    ($(#[$attr:meta])* $vis:vis fn $name:ident($($arg:ident: $ty:ty),*) -> $out:ty $body:block) => {
        $(#[$attr])*
        #[cfg(not(weakly_loom))]
        $vis const fn $name($($arg: $ty),*) -> $out $body

        $(#[$attr])*
        #[cfg(weakly_loom)]
        $vis fn $name($($arg: $ty),*) -> $out $body
    };
}

#[cfg(feature = "std")]
pub(crate) use const_fn;

#[cfg(not(weakly_loom))]
mod imp {
    use alloc::boxed::Box;
    use core::ptr::NonNull;

    pub(crate) use core::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    #[cfg(feature = "std")]
    pub(crate) use std::sync::{Arc, Condvar, Mutex, MutexGuard};
    #[cfg(feature = "std")]
    pub(crate) use std::thread_local;

    /// `core`'s cell behind loom's closure interface.
    #[derive(Debug)]
    #[repr(transparent)]
    pub(crate) struct UnsafeCell<T>(core::cell::UnsafeCell<T>);

    impl<T> UnsafeCell<T> {
        #[inline(always)]
        pub(crate) const fn new(value: T) -> Self {
            UnsafeCell(core::cell::UnsafeCell::new(value))
        }

        #[inline(always)]
        pub(crate) fn with<R>(&self, f: impl FnOnce(*const T) -> R) -> R {
            f(self.0.get())
        }

        #[inline(always)]
        pub(crate) fn with_mut<R>(&self, f: impl FnOnce(*mut T) -> R) -> R {
            f(self.0.get())
        }
    }

    /// The mark of a record that may still be used; see the module's chapter.
    #[derive(Debug)]
    pub(crate) struct Live;

    impl Live {
        #[inline(always)]
        pub(crate) const fn new() -> Self {
            Live
        }

        #[inline(always)]
        pub(crate) fn check(&self) {}

        #[inline(always)]
        pub(crate) fn end(&self) {}

        /// The record is used again.
        #[inline(always)]
        pub(crate) fn begin(&self) {}
    }

    /// Stores, and lets no later load of this thread overtake that store: the StoreLoad barrier.
    ///
    /// Of two threads that each store, by this, and then load what the other has stored, one at least sees
    /// the other's store. The same holds for all that happens before either call.
    ///
    /// By the language that is a store and a `SeqCst` fence: the two fences have an order, and who comes
    /// second sees what was stored before the first. On x86 an exchange is the same in one instruction,
    /// which costs half of a fence: it is never reordered with an earlier store nor a later load, in the
    /// processor (it is locked) or by the compiler (it releases and acquires). Miri and loom check the
    /// language's way. ThreadSanitizer, which does not know fences, checks the exchange; nor does anything
    /// here take its happens-before from the fence, only the order of a store and a load.
    #[cfg(feature = "std")]
    #[inline(always)]
    pub(crate) fn store_load(word: &AtomicUsize, value: usize) {
        #[cfg(all(any(target_arch = "x86", target_arch = "x86_64"), not(miri)))]
        word.swap(value, Ordering::SeqCst);
        #[cfg(not(all(any(target_arch = "x86", target_arch = "x86_64"), not(miri))))]
        {
            word.store(value, Ordering::Release);
            core::sync::atomic::fence(Ordering::SeqCst);
        }
    }

    /// A load right before a read-modify-write of the same atomic, which finds out the truth anyhow.
    /// Under loom, a guess instead; see the module's chapter.
    #[inline(always)]
    pub(crate) fn first_load<T>(_guess: T, load: impl FnOnce() -> T) -> T {
        load()
    }

    /// One turn of a wait for a lock that is held for a few instructions.
    #[cold]
    pub(crate) fn relax(turn: &mut u32) {
        core::hint::spin_loop();
        *turn += 1;
        // The holder has lost its processor: give it ours. Without `std` there is nobody to ask.
        #[cfg(feature = "std")]
        if *turn > 100 {
            std::thread::yield_now();
        }
    }

    /// Tells the processor that the line of this address will be wanted soon. Any address will do.
    #[allow(unsafe_code)]
    #[inline(always)]
    pub(crate) fn prefetch(address: *const u8) {
        #[cfg(all(target_arch = "x86_64", not(miri)))]
        // SAFETY: whatever the address, nothing is read that the program could see.
        unsafe {
            use core::arch::x86_64::{_MM_HINT_T0, _mm_prefetch};
            _mm_prefetch::<_MM_HINT_T0>(address.cast());
        }
        let _ = address;
    }

    /// Lets those go first who wait for a lock that its holder takes again and again.
    #[cold]
    pub(crate) fn give_way() {
        #[cfg(feature = "std")]
        std::thread::yield_now();
        #[cfg(not(feature = "std"))]
        core::hint::spin_loop();
    }

    /// Frees a record made by `Box`, whose [`Live`] mark has been ended.
    ///
    /// # Safety
    /// `record` comes from `Box::into_raw` and nobody uses it any more.
    #[allow(unsafe_code)]
    #[inline]
    pub(crate) unsafe fn free<T>(record: NonNull<T>) {
        // SAFETY: the caller's promise.
        drop(unsafe { Box::from_raw(record.as_ptr()) });
    }
}

#[cfg(weakly_loom)]
mod imp {
    use core::ptr::NonNull;

    use loom::alloc::Track;
    pub(crate) use loom::cell::UnsafeCell;
    pub(crate) use loom::sync::atomic::{AtomicPtr, AtomicU32, AtomicUsize, Ordering};
    pub(crate) use loom::sync::{Arc, Condvar, Mutex, MutexGuard};
    pub(crate) use loom::thread_local;

    #[derive(Debug)]
    pub(crate) struct Live {
        /// Leaked, unless it is ended.
        live: UnsafeCell<Option<Track<()>>>,
        /// For a model that plays the next owner of the memory.
        ended: AtomicUsize,
    }

    impl Live {
        pub(crate) fn new() -> Self {
            Live {
                live: UnsafeCell::new(Some(Track::new(()))),
                ended: AtomicUsize::new(0),
            }
        }

        #[allow(unsafe_code)]
        pub(crate) fn check(&self) {
            // SAFETY: loom fails the model when this read races with `end`.
            assert!(
                self.live.with(|live| unsafe { (*live).is_some() }),
                "used after its end"
            );
        }

        #[allow(unsafe_code)]
        pub(crate) fn end(&self) {
            // SAFETY: loom fails the model when this write races with anything.
            self.live.with_mut(|live| unsafe {
                assert!((*live).take().is_some(), "ended twice");
            });
            // Release: as the allocator's, when it hands the memory on.
            self.ended.store(1, Ordering::Release);
        }

        #[allow(unsafe_code)]
        pub(crate) fn begin(&self) {
            // SAFETY: as in `end`.
            self.live
                .with_mut(|live| unsafe { *live = Some(Track::new(())) });
        }

        /// Whether an allocator could have given this memory to somebody else.
        pub(crate) fn has_ended(&self) -> bool {
            self.ended.load(Ordering::Acquire) == 1
        }
    }

    pub(crate) fn store_load(word: &AtomicUsize, value: usize) {
        word.store(value, Ordering::Release);
        loom::sync::atomic::fence(Ordering::SeqCst);
    }

    /// See the module's chapter: such a load would hide those of other threads.
    pub(crate) fn first_load<T>(guess: T, _load: impl FnOnce() -> T) -> T {
        guess
    }

    /// The first turn only looks again: a thread that has yielded is shown the newest values, as if
    /// what it waited for had been acquired whatever the ordering. Another turn after that finds nothing
    /// that the one before has not: loom may stop looking for other ways to go on from there, or two
    /// waiters would keep it busy for ever.
    pub(crate) fn relax(turn: &mut u32) {
        *turn += 1;
        if *turn > 2 {
            loom::skip_branch();
        }
        if *turn > 1 {
            loom::thread::yield_now();
        }
    }

    pub(crate) fn prefetch(_: *const u8) {}

    pub(crate) fn give_way() {
        loom::thread::yield_now();
    }

    /// Keeps the memory, so that a late access finds the ended [`Live`] mark and not chaos.
    #[allow(unsafe_code)]
    pub(crate) unsafe fn free<T>(_record: NonNull<T>) {}
}
