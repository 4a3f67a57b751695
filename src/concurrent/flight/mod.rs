//! Single flight: when several threads and tasks want the same value, the first makes the value,
//! and the rest wait.
//!
//! A *flight* is the making of one value. A thread that makes a value is the *leader* of its
//! flight; threads and tasks waiting for the flight are its *waiters*. A wait that would never end
//! gets an error instead. An example is a thread asking for a value that the thread itself is
//! making. The same holds for a value whose leader waits, perhaps through further threads, for the
//! asking thread.
//!
//! No thread takes a lock while the thread holds a lock, and none runs user code under a lock,
//! wakers included. All shared state is under locks: no load could hide a second load from loom
//! (see `sync`).
//!
//! The files, in order: each uses only earlier files, and none knows the table.

mod reservation;

mod standby;

mod graph;

mod wait;

pub(super) use reservation::Overtaken;
pub(crate) use reservation::{Reservation, WaitError};
