//! Single flight: of all threads and tasks that want the same value at once, one makes the value,
//! and the others wait. In a *race*, callers make the value besides, and wait for nobody.
//!
//! A *reservation* stands for a value that is being made. The reservation has one owner, its
//! *leader*: a thread or a task. Threads and tasks that wait for the end of the reservation are its
//! *waiters*. The code that makes the value is the *computation* of the reservation. A wait that
//! would never end gets an error instead: a computation that asks for its own value, or that waits,
//! perhaps through further computations, for a computation that waits for it.
//!
//! No thread takes a lock while the thread holds a lock, and none runs user code under a lock,
//! wakers included. All shared state is under locks: no load could hide a second load from loom
//! (see `sync`). None of the files knows the table.

mod claim;

mod reservation;

mod frame;

mod graph;

mod wait;

pub(crate) use claim::{Claim, Part};

#[cfg(all(test, weakly_loom))]
mod models;

pub(crate) use frame::Frame;
pub(crate) use frame::Running;
pub(crate) use graph::Edge;
pub(crate) use reservation::Overtaken;
pub(crate) use reservation::{Reservation, WaitError};
pub(crate) use wait::Wait;
