//! Whether this thread is searching: tracing the values of maps.

use core::marker::PhantomData;

#[cfg(feature = "std")]
crate::sync::thread_local! {
    static SEARCHING: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// Marks this thread as searching. The drop ends the search.
pub(super) struct Searching(PhantomData<*mut ()>);

impl Searching {
    /// Returns `None` if this thread is searching already: a `trace` that starts a search would be
    /// called by the inner search too, and so on without end. (Without `std` there are only maps of
    /// one owner, and the outer search borrows its maps.)
    pub(super) fn begin() -> Option<Self> {
        #[cfg(feature = "std")]
        if SEARCHING.with(|there| there.replace(true)) {
            return None;
        }
        Some(Searching(PhantomData))
    }
}

impl Drop for Searching {
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        SEARCHING.with(|there| there.set(false));
    }
}
