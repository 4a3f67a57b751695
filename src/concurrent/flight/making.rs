//! A flight: its state, its leader, and the threads that sleep until the flight is complete.
//!
//! * **F6** A task leaves its waker first, and decides afterwards whether to wait. A thread that
//!   ends the wait ends it first, and takes the wakers afterwards, under the same lock.
//! * **F7** A caller may insert a value in the place of a flight's node. The flight is complete for
//!   its waiters then: the waiters find the inserted value. The leader goes on, and ends the
//!   flight. Tasks that make the value together go on like a leader: only the waiting threads find
//!   the inserted value.

use core::any::Any;
use core::cell::Cell;
use core::mem;
use std::sync::{Arc, Weak};
use std::time::Instant;
use std::vec::Vec;

use super::super::gathered::Gathered;
use super::seats::{Place, Seats};
use crate::panics::wake_all;
use crate::sync::{AtomicUsize, Condvar, Exclusive, Mutex, MutexGuard, Own, thread_local};

/// A value that is being made.
pub(crate) struct Making {
    /// The first flight of the leader, if the leader has an earlier flight (see [`FLIGHTS`]).
    first: Option<Arc<Making>>,
    /// In a first flight: the wait of its leader.
    pub(super) waits_for: Mutex<Wait>,
    pub(super) status: Mutex<Status>,
    completion: Condvar,
    /// In a flight of tasks.
    pub(super) joint: Option<Joint>,
}

/// F2
#[derive(Default)]
pub(super) struct Wait {
    /// Changes with each beginning and each end.
    pub(super) number: usize,
    pub(super) flight: Option<Arc<Making>>,
}

pub(super) struct Status {
    /// No thread sleeps for the flight any more.
    pub(super) complete: bool,
    /// The leader, or the tasks making the value, have ended the flight.
    ended: bool,
    /// While the flight is on standby: the flight put on standby before by the same thread (F3).
    pub(super) outer: Option<Arc<Making>>,
    /// The number of threads sleeping until the flight is complete. (A notification without
    /// sleepers would be a system call all the same.)
    sleepers: usize,
    pub(super) tasks: Seats,
}

/// The part of a flight that tasks make together. The table has a handle to the flight, and so has
/// the waker of the computation. Neither handle keeps the computation alive.
pub(crate) struct Joint {
    /// The stand-in of a thread that waits inside a poll of the flight (F4).
    pub(super) polled_by: Mutex<Option<Arc<Making>>>,
    /// The [mark](MARK) of the thread that polls the flight, or zero. A thread compares the mark
    /// with its own mark.
    pub(super) poller: AtomicUsize,
    pub(in super::super) work: Weak<dyn AnyWork>,
    /// The objects on which the value depends besides its key, until the flight's node has left the
    /// table: see [`Dependencies`](super::super::tasks::work::Dependencies).
    pub(in super::super) gathered: Mutex<Option<Gathered>>,
}

/// A computation of tasks (`tasks::work`), without its types.
pub(in super::super) trait AnyWork: Send + Sync {
    fn is_stale(&self) -> bool;
    /// For the collection, which knows the types.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
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
type Flights = Own<Option<(Arc<Making>, usize)>>;

thread_local! {
    /// The flights of the current thread. While there are some, the first flight stands for the
    /// thread in the graph. No thread can wait for a thread without flights. Without flights, the
    /// thread-local owns nothing.
    static FLIGHTS: Flights = const { Own::new(None) };
}

impl Making {
    fn new(joint: Option<Joint>) -> Self {
        Making {
            first: None,
            waits_for: Mutex::new(Wait::default()),
            status: Mutex::new(Status {
                complete: false,
                ended: false,
                outer: None,
                sleepers: 0,
                tasks: Seats::new(),
            }),
            completion: Condvar::new(),
            joint,
        }
    }

    /// Starts a flight of the current thread. The thread has to [`complete`](Self::complete) the
    /// flight whatever happens.
    pub(crate) fn start() -> Arc<Self> {
        let mut flight = Making::new(None);
        flight.first = Self::of_this_thread();
        let flight = Arc::new(flight);
        FLIGHTS.with(|flights| match &mut *flights.enter() {
            Some((_, count)) => *count += 1,
            none => *none = Some((Arc::clone(&flight), 1)),
        });
        flight
    }

    /// Starts a flight of tasks.
    pub(in super::super) fn of_work(work: Weak<dyn AnyWork>) -> Arc<Self> {
        Arc::new(Making::new(Some(Joint {
            polled_by: Mutex::new(None),
            poller: AtomicUsize::new(0),
            work,
            gathered: Mutex::new(Some(Gathered::default())),
        })))
    }

    pub(in super::super) fn joint(&self) -> Option<&Joint> {
        self.joint.as_ref()
    }

    /// The computation of tasks, while it is there.
    pub(in super::super) fn work(&self) -> Option<std::sync::Arc<dyn AnyWork>> {
        self.joint.as_ref()?.work.upgrade()
    }

    /// Whether a caller that wants the value has to wait for the flight: the flight is not
    /// complete, and its object is not dead.
    pub(in super::super) fn is_in_the_way(&self) -> bool {
        !self.is_complete() && !self.work().is_some_and(|work| work.is_stale())
    }

    #[inline]
    pub(in super::super) fn is_of_tasks(&self) -> bool {
        self.joint.is_some()
    }

    /// Takes the dependencies of the value out. No dependency is added from then on.
    #[cold]
    #[inline(never)]
    pub(in super::super) fn close(&self) -> Gathered {
        let joint = self.joint.as_ref();
        let gathered = joint.and_then(|joint| joint.gathered.replace(None));
        gathered.unwrap_or_default()
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
        wake_all(self.end().into_iter().filter_map(Place::into_waker));
    }

    /// Ends the flight like `complete`, but leaves the wakers of the tasks to the caller.
    #[must_use]
    pub(super) fn end(&self) -> Vec<Place> {
        let mut status = self.status.lock();
        let had_ended = mem::replace(&mut status.ended, true);
        let places = self.complete_with(status);
        if !had_ended && !self.is_of_tasks() {
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

    fn complete_with(&self, mut status: MutexGuard<'_, Status>) -> Vec<Place> {
        status.complete = true;
        // F6
        let places = match self.is_over(&status) {
            true => status.tasks.take(),
            false => Vec::new(),
        };
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
        wake_all(places.into_iter().filter_map(Place::into_waker));
    }

    pub(super) fn is_complete(&self) -> bool {
        self.status.lock().complete
    }

    /// F7: whether the flight is over for tasks: complete, or ended if tasks make the value.
    pub(super) fn is_over(&self, status: &Status) -> bool {
        match self.is_of_tasks() {
            true => status.ended,
            false => status.complete,
        }
    }

    /// Whether the flight is over for tasks.
    pub(in super::super) fn is_over_for_tasks(&self) -> bool {
        self.is_over(&self.status.lock())
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
pub(in super::super) struct Overtaken(Cell<Option<Arc<Making>>>);

impl Overtaken {
    /// Notes the flight of the replaced node.
    #[inline]
    pub(in super::super) fn set(&self, flight: Option<Arc<Making>>) {
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
