//! Whether this thread is asking values what they own.

use core::marker::PhantomData;

#[cfg(feature = "std")]
crate::sync::thread_local! {
    static SEARCHING: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// This thread searches, until this is dropped.
pub(super) struct Searching(PhantomData<*mut ()>);

impl Searching {
    /// `None` if it does already: a trace that starts another search would be asked in that one
    /// too, and so on without end. (Without `std` there are only maps of one owner, which are
    /// borrowed by the search they are in.)
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
