//! Single flight: of all threads and tasks that want the same value at once, one makes the value,
//! and the others wait. In a *race*, callers make the value besides, and wait for nobody.
//!
//! A *reservation* stands for a value that is being made. The reservation has one owner, its
//! *leader*: a thread or a task. Threads and tasks that wait for the end of the reservation are its
//! *waiters*. The code that makes the value is the *computation* of the reservation. A wait that
//! would never end gets an error instead: a computation that asks for its own value, or that waits,
//! perhaps through further computations, for a computation that waits for it.
//!
//! The files, in the order of reading:
//!
//! | file | contents |
//! |---|---|
//! | [`reservation`] | a reservation: its state, and its waiters |
//! | [`claim`] | which callers make the value: an owner, racers, or both |
//! | [`wait`] | the wait of a thread or a task for a reservation |
//! | [`graph`] | which computation waits for which reservation, and the search for a cycle |
//! | [`frame`] | which computation a thread runs now |
//! | `models` | loom models, without a table |
//!
//! No thread takes a lock while the thread holds a lock, and none runs user code under a lock,
//! wakers included. All shared state is under locks: no load could hide a second load from loom
//! (see `sync`). None of the files knows the table: `concurrent/{making, leader}` link and replace
//! the node of a reservation.

mod claim;
mod frame;
mod graph;
#[cfg(all(test, weakly_loom))]
mod models;
mod reservation;
mod wait;

pub(crate) use claim::{Claim, Role};
pub(crate) use frame::{Frame, Running};
pub(crate) use graph::Edge;
pub(crate) use reservation::{Overtaken, Reservation, WaitError};
pub(crate) use wait::Wait;
