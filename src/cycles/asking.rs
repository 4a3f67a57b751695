//! Whether this thread is asking values what they own.

use core::marker::PhantomData;

#[cfg(feature = "std")]
std::thread_local! {
    static ASKING: core::cell::Cell<bool> = const { core::cell::Cell::new(false) };
}

/// This thread asks, until this is dropped.
pub(super) struct Asking(PhantomData<*mut ()>);

impl Asking {
    /// `None` if it does already: a trace that starts another search would be asked in that one too, and so on
    /// without end. (Without `std` there are only maps of one owner, which are borrowed by the search they are in.)
    pub(super) fn begin() -> Option<Self> {
        #[cfg(feature = "std")]
        if ASKING.replace(true) {
            return None;
        }
        Some(Asking(PhantomData))
    }
}

impl Drop for Asking {
    fn drop(&mut self) {
        #[cfg(feature = "std")]
        ASKING.set(false);
    }
}
