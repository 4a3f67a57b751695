//! The notices of a collection that threads share. The stacks and the push are those of a collection with
//! one owner; but any thread may drain, and any thread may end a registration.
//!
//! * **S1** A queue has several *stripes*, each with a stack. A thread registers with the stripe that its
//!   number selects, and drains that stripe first: a thread that inserts objects and lets them die touches no
//!   cache line of another thread. The thread that has a stripe's *lock* is the owner of its stack, for
//!   taking notices out. It has the lock for a few instructions and runs no code of a user. Only a purge
//!   waits for the lock, and where there is a waker, what arms it.
//! * **S2** `reclaimed` counts a notice *after* its entry is unlinked; the stack counts the same notice as
//!   pushed before the object's payload is freed. So a thread that finds the two counts equal *before* it
//!   looks at the table finds no entry of this stripe whose object died earlier. (An empty stack proves
//!   nothing: a drainer may have taken a notice.) `reclaimed` is loaded first: for each reclamation that the load
//!   sees, the push is seen too. The queue is idle if all stripes are, one asked after the other: an entry is
//!   registered with exactly one of them.
//! * **S3** A watch's registration ends once: by the one thread that has unlinked its entry, or knows it alone, or
//!   destroys it after that. The watch has a reference of its own to the record, since a reader may still look at
//!   an entry whose notice and hook are gone.
//! * **S4** `registered` counts the registrations with a stack that have not been ended. What it has more than
//!   `reclaimed` at the end is owed: these have not brought their notice yet. As with one owner, the stack is freed
//!   when the queue is dropped and these notices have come.
//! * **S5** The first thread that registers with a stripe, or keeps it busy, allocates it; of several threads
//!   one wins. A queue without stripes is idle: a thread that must see something pending has synchronised
//!   with a registration, or with the reclamation of a notice, and so with the allocation of the stripe.

#[cfg(all(test, weakly_loom))]
mod models;
mod queue;
mod stripe;
mod watch;

pub(crate) use queue::SharedQueue;
pub(crate) use stripe::Stripe;
#[cfg(not(weakly_loom))]
pub(crate) use stripe::{DrainGuard, HookId};
pub(crate) use watch::{SharedWatch, SharedWatchOf};
