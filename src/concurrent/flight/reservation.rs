//! A flight: its state, its leader, and the threads that sleep until the flight is complete.
//!
//! * **F6** A task leaves its waker first, and decides afterwards whether to wait. A thread that
//!   ends the wait ends it first, and takes the wakers afterwards, under the same lock.
//! * **F7** A caller may insert a value in the place of a flight's node. The flight is complete for
//!   its waiters then: the waiters find the inserted value. The leader goes on, and ends the
//!   flight. Tasks that make the value together go on like a leader: only the waiting threads find
//!   the inserted value.

use core::cell::Cell;
use core::mem;
use core::task::Waker;
use std::sync::Arc;
use std::time::Instant;
use std::vec::Vec;

use crate::panics::wake_all;
use crate::sync::{Condvar, Exclusive, Mutex, MutexGuard, Own, thread_local};

/// A value that is being made.
pub(crate) struct Reservation {
    /// The first flight of the leader, if the leader has an earlier flight (see [`FLIGHTS`]).
    first: Option<Arc<Reservation>>,
    /// In a first flight: the wait of its leader.
    pub(super) waits_for: Mutex<Wait>,
    pub(super) status: Mutex<Status>,
    completion: Condvar,
    /// Whether a task makes the value: then no thread leads the flight.
    of_task: bool,
}

/// F2
#[derive(Default)]
pub(super) struct Wait {
    /// Changes with each beginning and each end.
    pub(super) number: usize,
    pub(super) flight: Option<Arc<Reservation>>,
}

pub(super) struct Status {
    /// No thread sleeps for the flight any more.
    pub(super) complete: bool,
    /// The leader, or the tasks making the value, have ended the flight.
    ended: bool,
    /// While the flight is on standby: the flight put on standby before by the same thread (F3).
    pub(super) outer: Option<Arc<Reservation>>,
    /// The number of threads sleeping until the flight is complete. (A notification without
    /// sleepers would be a system call all the same.)
    sleepers: usize,
    /// The wakers of the tasks that wait; `None` where a task has left.
    pub(super) wakers: Vec<Option<Waker>>,
}

/// Why a wait has ended before the flight is complete.
#[derive(Debug, PartialEq)]
pub(crate) enum WaitError {
    /// The thread would wait for itself.
    Cycle,
    /// The time is up.
    TimedOut,
}

/// The first flight of a thread, and the number of its flights that have not ended.
type Flights = Own<Option<(Arc<Reservation>, usize)>>;

thread_local! {
    /// The flights of the current thread. While there are some, the first flight stands for the
    /// thread in the graph. No thread can wait for a thread without flights. Without flights, the
    /// thread-local owns nothing.
    static FLIGHTS: Flights = const { Own::new(None) };
}

impl Reservation {
    fn new(of_task: bool) -> Self {
        Reservation {
            first: None,
            waits_for: Mutex::new(Wait::default()),
            status: Mutex::new(Status {
                complete: false,
                ended: false,
                outer: None,
                sleepers: 0,
                wakers: Vec::new(),
            }),
            completion: Condvar::new(),
            of_task,
        }
    }

    /// Starts a flight of the current thread. The thread has to [`complete`](Self::complete) the
    /// flight whatever happens.
    pub(crate) fn start() -> Arc<Self> {
        let mut flight = Reservation::new(false);
        flight.first = Self::of_this_thread();
        let flight = Arc::new(flight);
        FLIGHTS.with(|flights| match &mut *flights.enter() {
            Some((_, count)) => *count += 1,
            none => *none = Some((Arc::clone(&flight), 1)),
        });
        flight
    }

    /// Starts a flight whose value a task makes.
    pub(in super::super) fn of_task() -> Arc<Self> {
        Arc::new(Reservation::new(true))
    }

    /// The flight that stands for the leader.
    pub(super) fn leader(this: &Arc<Self>) -> &Arc<Self> {
        this.first.as_ref().unwrap_or(this)
    }

    /// The flight that stands for the current thread.
    pub(in super::super) fn of_this_thread() -> Option<Arc<Self>> {
        FLIGHTS.with(|flights| {
            let flights = flights.enter();
            flights.as_ref().map(|(first, _)| Arc::clone(first))
        })
    }

    /// Ends the flight: the value is there, or there will be none. All waiters go on.
    ///
    /// # Panics
    /// If a waker does.
    pub(crate) fn complete(&self) {
        wake_all(self.end().into_iter().flatten());
    }

    /// Ends the flight like `complete`, but leaves the wakers of the tasks to the caller.
    #[must_use]
    pub(super) fn end(&self) -> Vec<Option<Waker>> {
        let mut status = self.status.lock();
        let had_ended = mem::replace(&mut status.ended, true);
        let places = self.complete_with(status);
        if !had_ended && !self.of_task {
            let ended = FLIGHTS.with(|flights| {
                let mut flights = flights.enter();
                let (_, count) = flights.as_mut()?;
                *count -= 1;
                if *count == 0 { flights.take() } else { None }
            });
            drop(ended);
        }
        places
    }

    fn complete_with(&self, mut status: MutexGuard<'_, Status>) -> Vec<Option<Waker>> {
        status.complete = true;
        // F6
        let places = mem::take(&mut status.wakers);
        let sleepers = status.sleepers;
        drop(status);
        if sleepers != 0 {
            self.completion.notify_all();
        }
        places
    }

    /// Completes the flight for its waiters, not for its leader or the tasks making the value.
    ///
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    #[cold]
    fn wake_waiters(&self) {
        let places = self.complete_with(self.status.lock());
        wake_all(places.into_iter().flatten());
    }

    pub(in super::super) fn is_complete(&self) -> bool {
        self.status.lock().complete
    }

    pub(super) fn sleep(&self, until: Option<Instant>) -> Result<(), WaitError> {
        let mut status = self.status.lock();
        status.sleepers += 1;
        // A loop, since a wait may end spuriously. (Waits of loom never do.)
        while !status.complete {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            status = self.completion.wait(status, left);
        }
        status.sleepers -= 1;
        match status.complete {
            true => Ok(()),
            false => Err(WaitError::TimedOut),
        }
    }
}

/// F7: the flight whose node a value has replaced, if there is one. The drop of the guard lets the
/// waiters go on, also if the operation panics: then the panic of a waker is dropped.
#[derive(Default)]
pub(in super::super) struct Overtaken(Cell<Option<Arc<Reservation>>>);

impl Overtaken {
    /// Notes the flight of the replaced node.
    #[inline]
    pub(in super::super) fn set(&self, flight: Option<Arc<Reservation>>) {
        self.0.set(flight);
    }

    /// # Panics
    /// If a waker does.
    #[inline]
    pub(in super::super) fn wake(self) {
        let flight = self.0.take();
        mem::forget(self);
        if let Some(flight) = flight {
            flight.wake_waiters();
        }
    }
}

impl Drop for Overtaken {
    fn drop(&mut self) {
        if let Some(flight) = self.0.take() {
            flight.wake_waiters();
        }
    }
}
