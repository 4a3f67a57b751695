//! Deaths delivered as messages: [`ReferenceQueue`] and its tickets. In `returning`, payloads
//! delivered as messages: each payload becomes a message when its object has died (G2 of
//! `ptr::home`).
//!
//! The three invariants of the room:
//!
//! * **M1** A message is in the slot of its ticket until the object dies or the ticket is
//!   cancelled. The finalizer registered with the object decides: the thread that gets the
//!   finalizer, by the death or by [`detach`](crate::ptr::FinalizerToken::detach), takes the
//!   message.
//! * **M2** A message is in the queue before a waiter is woken, and a waiter looks at the queue
//!   once more after it has counted itself among the waiters.
//! * **M3** A delivery has a handle to the queue. The thread that gives up the last handle takes
//!   out the remaining messages, and has a handle meanwhile.

mod handles;

#[cfg(feature = "std")]
mod waiters;

mod messages;

#[cfg(feature = "std")]
mod next;

mod returning;

pub use messages::{Drain, ReferenceQueue, Ticket};
#[cfg(feature = "std")]
pub use next::Next;
