//! The part of a [`Domain`](super::domain::Domain) that is allocated when the first thread comes.

use core::{mem, ptr};
use std::boxed::Box;

use super::deferred::DeferredList;
use super::directory::{Last, Participants};
use crate::ptr::CoreRef;
use crate::sync::Mutex;
use crate::sync::Ordering::Relaxed;

/// The rest of a domain. The context of the table's destructors follows in the same allocation: the
/// domain does not know the type of the context, so its code is compiled once for all tables.
#[repr(C)]
pub(super) struct Rest {
    pub(super) deferred: DeferredList,
    /// The fields below, and the context, are on other cache lines than the deferred list, because
    /// entering threads read them.
    apart: [u8; APART],
    /// See [`Participants`](super::directory::Participants).
    pub(super) last: Mutex<Last>,
    /// The offset of the context in the allocation.
    context: usize,
    /// Frees the allocation.
    free: unsafe fn(*mut Rest),
}

/// What the threads of a table have counted.
#[derive(Default)]
pub(crate) struct RawCounts {
    /// Hits, misses and loads.
    pub(crate) tallies: [usize; 3],
    /// The number of entries.
    pub(crate) entries: usize,
    /// The number of entries that deaths have unlinked.
    pub(crate) unlinked: usize,
}

/// A function that makes a rest with a context of one type. A table passes one such function to all
/// operations of its domain.
#[derive(Clone, Copy)]
pub(super) struct MakeRest(fn() -> *mut Rest);

impl MakeRest {
    pub(super) const fn with_context<C: Default>() -> Self {
        MakeRest(Rest::new::<C>)
    }

    /// Returns a rest, which the caller frees.
    #[inline]
    pub(super) fn make(self) -> *mut Rest {
        (self.0)()
    }
}

const LINES: usize = 128;
/// Under loom, whose types are larger, the places do not matter.
const APART: usize = LINES.saturating_sub(size_of::<DeferredList>());

/// The allocation.
#[repr(C, align(128))]
pub(super) struct WithContext<C> {
    rest: Rest,
    context: C,
}

const _: () = assert!(align_of::<WithContext<()>>() == LINES);

impl Rest {
    fn new<C: Default>() -> *mut Rest {
        Box::into_raw(Box::new(WithContext {
            rest: Rest {
                deferred: DeferredList::new(),
                apart: [0; APART],
                last: Mutex::new(Last::new(ptr::null_mut())),
                context: mem::offset_of!(WithContext<C>, context),
                free: |rest| {
                    // SAFETY: the caller of `free` passes the pointer made above.
                    drop(unsafe { Box::from_raw(rest.cast::<WithContext<C>>()) });
                },
            },
            context: C::default(),
        }))
        .cast()
    }

    /// Returns what the threads of the table have counted. The core is the table's.
    pub(super) fn counts(&self, core: Option<CoreRef>) -> RawCounts {
        let unlinked = core.map_or(0, CoreRef::unlinked);
        let (mut all, mut entries) = (RawCounts::default(), 0_usize.wrapping_sub(unlinked));
        Participants::each_of(&mut self.last.lock(), |one| {
            // Relaxed: counts.
            for (sum, tally) in all.tallies.iter_mut().zip(&one.tallies) {
                *sum = sum.wrapping_add(tally.load(Relaxed));
            }
            entries = entries.wrapping_add(one.entries.load(Relaxed));
        });
        // Negative: the sum may include a removal, and not the insertion.
        all.entries = usize::try_from(entries as isize).unwrap_or(0);
        all.unlinked = unlinked;
        all
    }

    /// Returns the context.
    ///
    /// # Safety
    /// `rest` was made [with](MakeRest::with_context) the same `C`, and lasts as long as the reference.
    #[inline]
    pub(super) unsafe fn context<'r, C>(rest: *const Rest) -> &'r C {
        // SAFETY: the caller's promise.
        unsafe { &(*rest.cast::<WithContext<C>>()).context }
    }

    /// Returns a pointer to the context, whose type the caller does not know.
    ///
    /// # Safety
    /// `rest` was made by a [`MakeRest`], and has not been freed.
    pub(super) unsafe fn context_ptr(rest: *const Rest) -> *const () {
        // SAFETY: the caller's promise, and `new` stores the offset.
        unsafe { rest.byte_add((*rest).context).cast() }
    }

    /// Drops the rest and its context.
    ///
    /// # Safety
    /// `rest` was made by a [`MakeRest`], and no thread uses it any more.
    pub(super) unsafe fn free(rest: *mut Rest) {
        // SAFETY: the caller's promise.
        unsafe { ((*rest).free)(rest) }
    }
}
