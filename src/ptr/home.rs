//! Where the payload of a *returning* object goes at its death, in place of its destructor.
//!
//! The type that makes a last handle drop its payload need not be the one that the object was made
//! with, and knows of a `dyn Trait` only how to destroy it. So a function that moves the payload
//! out is stored with the object.
//!
//! * **G1** The gate of a returning object's record has a flag, and then the record has the
//!   object's [`Home`] in place of its list of finalizers, which is in the home. Flag and home come
//!   before the object's first handle is handed out, and go when its count is zero: so they do not
//!   change while it lives, and who has a strong pointer, or has dropped the last one, sees them.
//! * **G2** The death that finds the flag takes the home out, and destroys nothing. The payload
//!   stays whole until the finalizers have run. Then the home receives it, once, and after that its
//!   memory is freed. Who moves the payload out instead takes the home out, too, which then
//!   receives nothing.
//! * **G3** The payload of a returning object is always a valid value of the type `T` that the home
//!   was made for. A handle may know the object by a supertype of `T`, since handles are covariant;
//!   a value of the supertype, written by that handle, would be received as a `T`. So no handle
//!   gives mutable access to the payload on its own ([`is_unique`](super::header::Block::is_unique)
//!   refuses). The [`Destination`] gives the access: the destination knows `T` exactly, being
//!   invariant in `T`, and the home has its address, which a weak reference in the home keeps from
//!   being another destination's.

use alloc::boxed::Box;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr::{self, NonNull};

use super::callbacks::FinalizerNode;
use super::flavour::Flavour;
use crate::sync::{Arc, Weak};

/// A queue to which payloads of type `T` return. Invariant in `T` (G3).
pub(crate) struct Destination<T, Q> {
    queue: Q,
    payloads: PhantomData<fn(T) -> T>,
}

impl<T, Q> Destination<T, Q> {
    pub(crate) fn new(queue: Q) -> Arc<Self> {
        Arc::new(Destination {
            queue,
            payloads: PhantomData,
        })
    }

    /// The address by which a home knows its destination.
    pub(super) fn addr(this: &Arc<Self>) -> *const () {
        ptr::from_ref::<Self>(this).cast()
    }
}

impl<T, Q> Deref for Destination<T, Q> {
    type Target = Q;

    #[inline]
    fn deref(&self) -> &Q {
        &self.queue
    }
}

/// The part of a returning object that is beside its record. (In the record it would be an eighth
/// word, for all objects.)
pub(super) struct Home<F: Flavour> {
    /// Those of the object, newest first.
    pub(super) finalizers: *mut FinalizerNode<F>,
    /// The address of the destination (G3).
    pub(super) destination: *const (),
    receive: Box<dyn FnOnce(NonNull<u8>) + Send>,
}

impl<F: Flavour> Home<F> {
    /// The home of a `T`. At the death `open` returns a function that puts the payload into the
    /// destination, or none, if the destination has gone: then the payload is destroyed in place.
    pub(super) fn new<T, Q, R: FnOnce(T)>(
        destination: &Arc<Destination<T, Q>>,
        open: impl FnOnce(&Weak<Destination<T, Q>>) -> Option<R> + Send + 'static,
    ) -> Box<Self>
    where
        T: Send + 'static,
        Q: Send + Sync + 'static,
    {
        let weak = Arc::downgrade(destination);
        let receive = move |payload: NonNull<u8>| {
            let payload = payload.cast::<T>();
            match open(&weak) {
                // SAFETY: G3: a `T`, which nothing else uses, by the promise made to `receive`.
                Some(receive) => receive(unsafe { payload.read() }),
                // SAFETY: likewise.
                None => unsafe { payload.drop_in_place() },
            }
        };
        Box::new(Home {
            finalizers: ptr::null_mut(),
            destination: Destination::addr(destination),
            receive: Box::new(receive),
        })
    }

    /// Moves the payload to the destination.
    ///
    /// # Safety
    /// G2: this is the payload of the object that the home was made for. Nobody uses the payload,
    /// now or later.
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
