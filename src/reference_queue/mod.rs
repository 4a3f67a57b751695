//! Deaths that are delivered as messages: [`ReferenceQueue`] and its tickets. And payloads that
//! are, in `returning`: each is a message from when its object has died (G2 of `ptr::home`).
//!
//! Three invariants hold it together:
//!
//! * **M1** A message is in the slot of its ticket until the object dies or the ticket is
//!   cancelled. The finalizer that is registered with the object decides which: the thread that
//!   gets it, by the death or by [`detach`](crate::ptr::FinalizerToken::detach), takes the message.
//! * **M2** A message is in the queue before a waiter is woken, and a waiter looks at the queue
//!   once more after it has announced that it waits.
//! * **M3** A delivery has a handle to the queue. Whoever gives up the last handle takes out what
//!   is left, and has one meanwhile.

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
