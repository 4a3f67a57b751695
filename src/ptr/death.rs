//! What comes after the payload's destructor: notices, finalizers, and the end of the memory.

use core::alloc::Layout;
use core::ptr::NonNull;

use super::flavour::Flavour;
use super::header::Header;
use super::hook::Chain;
use super::side::Side;

/// Steps three and four of a death, done by its destructor.
pub(super) struct Burial<F: Flavour> {
    pub(super) payload: NonNull<u8>,
    pub(super) layout: Layout,
    pub(super) side: Option<NonNull<Side<F>>>,
}

impl<F: Flavour> Drop for Burial<F> {
    // Inline: with the layout known, what is left for an object that nobody watched is one `free`.
    #[inline(always)]
    fn drop(&mut self) {
        match self.side {
            // SAFETY: the last handle, and the payload is gone.
            None => unsafe { Header::<F>::deallocate(self.payload, self.layout) },
            Some(side) => self.tell(side),
        }
    }
}

impl<F: Flavour> Burial<F> {
    #[inline(never)]
    fn tell(&self, side: NonNull<Side<F>>) {
        /// Step four, also if a finalizer panics.
        struct Grave<'a, F: Flavour>(&'a Burial<F>, NonNull<Side<F>>);
        impl<F: Flavour> Drop for Grave<'_, F> {
            fn drop(&mut self) {
                // SAFETY: the payload is gone, no upgrade can succeed, and everybody has been told.
                // The object's own reference to its record ends here.
                unsafe {
                    Header::<F>::deallocate(self.0.payload, self.0.layout);
                    Side::release(self.1);
                }
            }
        }
        let _grave = Grave(self, side);
        // SAFETY: we took `strong` to zero, or the object was never born; and its reference is ours.
        let finalizers = unsafe { side.as_ref().close() };
        run(finalizers);
    }
}

/// Runs what is left of a list of finalizers, each also if those before it panicked.
fn run<F: Flavour>(mut finalizers: Chain<F>) {
    struct Rest<F: Flavour>(Option<Chain<F>>);
    impl<F: Flavour> Drop for Rest<F> {
        fn drop(&mut self) {
            if let Some(rest) = self.0.take() {
                run(rest);
            }
        }
    }
    while let Some(hook) = finalizers.next() {
        let mut rest = Rest(Some(finalizers));
        // SAFETY: from the closed list, once.
        unsafe { hook.fire() };
        match rest.0.take() {
            Some(chain) => finalizers = chain,
            None => return,
        }
    }
}
