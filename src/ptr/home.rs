//! The home of a *returning* object. At the object's death the home receives the payload, in place
//! of the payload's destructor.
//!
//! A last handle may know the payload by another type than the type with which the object was made:
//! of a `dyn Trait`, the handle knows only the destructor. So a function that moves the payload out
//! is stored with the object.
//!
//! * **G1** The gate of a returning object's record has a flag. With the flag, the record has the
//!   object's [`Home`] in place of its list of finalizers, and the list is in the home. Flag and
//!   home are set before the object's first handle is handed out, and are removed when the object's
//!   count is zero. So they do not change while the object lives, and a thread that has a strong
//!   pointer, or has dropped the last one, sees both.
//! * **G2** The death that finds the flag takes the home out, and destroys nothing. The payload
//!   stays whole until the finalizers have run. Then the home receives the payload, once, and after
//!   that the payload's memory is freed. A caller that moves the payload out instead takes the home
//!   out, too, and the home receives nothing.
//! * **G3** The payload of a returning object is always a valid value of the type `T` that the home
//!   was made for. A handle may know the object by a supertype of `T`, since handles are covariant;
//!   a value of the supertype, written by the handle, would be received as a `T`. So no handle
//!   gives mutable access to the payload on its own ([`is_unique`](super::header::Block::is_unique)
//!   refuses). The [`Destination`] gives the access: the destination knows `T` exactly, being
//!   invariant in `T`, and the home has the destination's address. A weak reference in the home
//!   keeps the address from being another destination's.

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

/// The part of a returning object that is beside its record. (In the record, the home would be an
/// eighth word, for all objects.)
pub(super) struct Home<F: Flavour> {
    /// The finalizers of the object, newest first.
    pub(super) finalizers: *mut FinalizerNode<F>,
    /// The address of the destination (G3).
    pub(super) destination: *const (),
    receive: Box<dyn FnOnce(NonNull<u8>) + Send>,
}

impl<F: Flavour> Home<F> {
    /// Makes the home of a `T`. At the death `open` returns a function that puts the payload into
    /// the destination, or `None`, if the destination has gone. Without a function the payload is
    /// destroyed in place.
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
                // SAFETY: G3: a `T`, which no other code uses, by the promise made to `receive`.
                Some(receive) => receive(unsafe { payload.read() }),
                // SAFETY: as above.
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
    /// G2: `payload` is the payload of the object for which the home was made. No other code uses
    /// the payload, now or later.
    unsafe fn receive(self, payload: NonNull<u8>) {
        (self.receive)(payload);
    }
}

/// A payload that its home receives when this guard is dropped.
pub(super) struct Returning<F: Flavour> {
    /// None if the gate had no home, and after the drop has taken the home out.
    home: Option<Box<Home<F>>>,
    payload: NonNull<u8>,
}

impl<F: Flavour> Returning<F> {
    /// `home` is the home that the gate had: each returning object has a home (G1). Without a home
    /// the drop of the guard does nothing.
    ///
    /// # Safety
    /// The promise of [`Home::receive`] holds from the drop of this guard on.
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
