//! Where the payload of a *returning* object goes at its death, in place of its destructor.
//!
//! The type that makes a last handle drop its payload need not be the one that the object was made with, and knows of
//! a `dyn Trait` only how to destroy it. So what moves the payload out is stored with the object.
//!
//! * **G1** The gate of a returning object's record has a flag, and then the record has the object's [`Home`] in place
//!   of its list of finalizers, which is in the home. Flag and home come before the object's first handle is handed
//!   out, and go when its count is zero: so they do not change while it lives, and who has a strong pointer, or has
//!   dropped the last one, sees them.
//! * **G2** The death that finds the flag takes the home out, and destroys nothing. The payload stays whole until the
//!   finalizers have run. Then the home receives it, once, and after that its memory is freed. Who moves the payload
//!   out instead takes the home out, too, which then receives nothing.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::flavour::Flavour;

/// What a returning object has beside its record. (In the record it would be an eighth word, for all objects.)
pub(super) struct Home<F: Flavour> {
    /// Those of the object, newest first.
    pub(super) finalizers: *mut FinalizerNode<F>,
    receive: Box<dyn FnOnce(NonNull<u8>) + Send>,
}

impl<F: Flavour> Home<F> {
    /// The home of a `T`. At the death `open` returns what takes the payload, or none: then it is destroyed in place.
    pub(super) fn new<T, R: FnOnce(T)>(
        open: impl FnOnce() -> Option<R> + Send + 'static,
    ) -> Box<Self>
    where
        T: Send + 'static,
    {
        let receive = move |payload: NonNull<u8>| {
            let payload = payload.cast::<T>();
            match open() {
                // SAFETY: `receive` was promised a `T` that nothing else uses.
                Some(receive) => receive(unsafe { payload.read() }),
                // SAFETY: likewise.
                None => unsafe { payload.drop_in_place() },
            }
        };
        Box::new(Home {
            finalizers: ptr::null_mut(),
            receive: Box::new(receive),
        })
    }

    /// Moves the payload to where it goes.
    ///
    /// # Safety
    /// G2: this is the payload of the object, of the type that the home was made for, whatever its handles call it.
    /// Nobody uses it, now or later.
    unsafe fn receive(self, payload: NonNull<u8>) {
        (self.receive)(payload);
    }
}

/// A payload that goes home when this is dropped.
pub(super) struct Returning<F: Flavour> {
    home: Option<Box<Home<F>>>,
    payload: NonNull<u8>,
}

impl<F: Flavour> Returning<F> {
    /// # Safety
    /// As for [`Home::receive`], from when this is dropped on.
    pub(super) unsafe fn new(home: Option<Box<Home<F>>>, payload: NonNull<u8>) -> Self {
        Returning { home, payload }
    }
}

impl<F: Flavour> Drop for Returning<F> {
    fn drop(&mut self) {
        if let Some(home) = self.home.take() {
            // SAFETY: the promise made to `new`.
            unsafe { home.receive(self.payload) };
        }
    }
}
