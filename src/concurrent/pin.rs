//! Access to the nodes of a table, and when those that are unlinked are destroyed.
//!
//! A node is destroyed when no thread is inside the table that was there when it was unlinked: at once if
//! nobody is, else by the last of them. The reclamation of `seize` wants, to see to that, as many retired
//! nodes as there are threads inside, and lets fewer wait for others to come. So that a single one does not
//! wait, it is given company.

use core::any::Any;
use core::cell::Cell;
use core::mem::{self, ManuallyDrop};
use core::num::NonZero;
use core::ops::Deref;
use core::ptr;
use papaya::{Guard, LocalGuard};
use seize::Collector;
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, OnceLock};
use std::thread;

use super::table::Table;

/// How many are retired together: twice as many as there can be threads at work at once. If more than that are
/// inside at that moment, nodes wait for the next that this thread retires.
pub(super) fn company() -> usize {
    static COMPANY: OnceLock<usize> = OnceLock::new();
    *COMPANY.get_or_init(|| {
        let parallel = thread::available_parallelism().map_or(MANY, NonZero::get);
        (2 * parallel).next_power_of_two()
    })
}

/// Some.
pub(super) const MANY: usize = 16;

pub(super) fn collector() -> Collector {
    Collector::new().batch_size(company())
}

std::thread_local! {
    /// Whether there is a panic of a destructor that [`Contained`] has caught.
    static HAS_CAUGHT: Cell<bool> = const { Cell::new(false) };
    static CAUGHT: Cell<Option<Panic>> = const { Cell::new(None) };
}

type Panic = Box<dyn Any + Send>;

fn take_caught() -> Option<Panic> {
    HAS_CAUGHT
        .replace(false)
        .then(|| CAUGHT.try_with(Cell::take).ok()?)?
}

/// What a table owns. If its destructor panics, that does not unwind through the reclamation, or a list, which would
/// leak what else it has at hand, and could not go on: it goes on when [`Resumes`] ends, for a pin or the table.
#[repr(transparent)]
pub(super) struct Contained<N>(ManuallyDrop<N>);

impl<N> Contained<N> {
    #[inline]
    pub(super) fn new(owned: N) -> Self {
        Contained(ManuallyDrop::new(owned))
    }

    #[inline]
    pub(super) fn counted(owned: N) -> Arc<Self> {
        Arc::new(Self::new(owned))
    }
}

impl<N> Deref for Contained<N> {
    type Target = N;

    #[inline]
    fn deref(&self) -> &N {
        &self.0
    }
}

impl<N> Drop for Contained<N> {
    #[inline]
    fn drop(&mut self) {
        // Not for what this destructor does.
        let before = take_caught();
        // SAFETY: it is not used after this.
        let end = || unsafe { ManuallyDrop::drop(&mut self.0) };
        let now = catch_unwind(AssertUnwindSafe(end)).err();
        // The first is told. Another is forgotten, for its destructor might panic as well.
        let (first, other) = if before.is_some() {
            (before, now)
        } else {
            (now, None)
        };
        mem::forget(other);
        if first.is_some() {
            HAS_CAUGHT.set(CAUGHT.try_with(|caught| caught.set(first)).is_ok());
        }
    }
}

// SAFETY: the nodes are counted, but all who count are in the table, or borrow it: they go along.
unsafe impl<K: Send, T: Send, V: Send> Send for Table<K, T, V> {}

/// Lets a panic that was caught go on at its end.
#[derive(Default)]
pub(super) struct Resumes(());

impl Drop for Resumes {
    #[inline]
    fn drop(&mut self) {
        if HAS_CAUGHT.get() && !thread::panicking() {
            if let Some(panic) = take_caught() {
                resume_unwind(panic);
            }
        }
    }
}

/// Access to the nodes. What is unlinked with it is destroyed after it, when nobody looks at it any more.
pub(super) struct Pin<'a> {
    guard: LocalGuard<'a>,
    unlinked: Cell<bool>,
    // Dropped after the guard.
    _resumes: Resumes,
}

impl<'a> Pin<'a> {
    #[inline]
    pub(super) fn new(guard: LocalGuard<'a>) -> Self {
        Pin {
            guard,
            unlinked: Cell::new(false),
            _resumes: Resumes::default(),
        }
    }

    #[inline]
    pub(super) fn guard(&self) -> &LocalGuard<'a> {
        &self.guard
    }

    /// Something has been unlinked.
    #[inline]
    pub(super) fn has_unlinked(&self) {
        self.unlinked.set(true);
    }
}

impl Drop for Pin<'_> {
    /// After this the guard is dropped, and then the nodes are.
    #[inline]
    fn drop(&mut self) {
        if self.unlinked.get() {
            for _ in 1..company() {
                // SAFETY: nothing is done with the pointer.
                unsafe {
                    self.guard
                        .defer_retire(ptr::dangling_mut::<u8>(), |_, _| {})
                };
            }
        }
    }
}
