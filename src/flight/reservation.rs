//! A reservation: its state, and the threads and tasks that wait for its end.
//!
//! * **F3** A leader unlinks or replaces the node of its reservation first, and completes the
//!   reservation afterwards. So a waiter that goes on finds the value, or no node, or another
//!   reservation, or a reservation that only racers have (J1 of [`claim`](super::claim)).
//! * **F4** All waiters of a complete reservation are woken. One chosen waiter might have been
//!   dropped, or might never be polled again, and then nobody would make the value.
//! * **F5** A caller may insert a value in the place of a reservation's node. The reservation is
//!   complete for its waiters then: the waiters find the inserted value. The leader goes on, and
//!   only the leader gets its own value, unless the inserted value is a racer's.

use core::any::Any;
use core::cell::Cell;
use core::mem;
use std::sync::Arc;
use std::vec::Vec;

use crate::panics::wake_all;
use crate::sync::AtomicBool;
use crate::waits::{Sleepers, Waits, Woken};

/// A value that its leader makes, a thread or a task.
pub(crate) struct Reservation(
    pub(super) Waits<Progress>,
    /// Whether a racer has ever come.
    pub(super) AtomicBool,
);

#[derive(Default)]
pub(super) struct Progress {
    /// No caller waits for the reservation any more.
    pub(super) complete: bool,
    pub(super) makers: Makers,
    /// The value or the error that the leader leaves to the waiters, until the last waiter goes.
    /// (The reservation may live longer: the table may keep a node for its readers.)
    pub(super) left: Option<Left>,
    /// The number of callers that have waited until the end, and have not gone.
    pub(super) heirs: usize,
    /// The edges of the graph that lead from the computation to other reservations.
    pub(super) edges: Vec<Outgoing>,
    /// The number of edges so far.
    pub(super) begun: usize,
}

/// The makers of the value.
#[derive(Default)]
pub(super) struct Makers {
    /// Whether the first maker is the owner, and has not left.
    pub(super) owned: bool,
    /// The reservation of an owner that has joined.
    pub(super) joined: Option<Arc<Reservation>>,
    pub(super) racers: usize,
    /// J2 of [`claim`](super::claim)
    pub(super) closed: bool,
}

type Left = Arc<dyn Any + Send + Sync>;

impl Progress {
    /// The state of a reservation with its first maker.
    pub(super) fn of(races: bool) -> Self {
        Progress {
            complete: races,
            makers: Makers {
                owned: !races,
                racers: usize::from(races),
                ..Makers::default()
            },
            ..Progress::default()
        }
    }

    /// Completes the reservation for its waiters. Returns the value or error that the owner has
    /// left, if there is no heir.
    pub(super) fn complete(&mut self, (threads, tasks): (usize, usize)) -> Option<Left> {
        // The callers that still sleep after an earlier end are counted already.
        if !mem::replace(&mut self.complete, true) {
            self.heirs += threads + tasks;
        }
        self.left.take_if(|_| self.heirs == 0)
    }
}

/// An edge of the graph ([`graph`](super::graph)), in the computation from which the edge leads.
#[derive(Clone)]
pub(super) struct Outgoing {
    pub(super) number: usize,
    pub(super) to: Arc<Reservation>,
    /// Whether the computation waits for the reservation. Otherwise code of the computation leads
    /// the reservation.
    pub(super) waits: bool,
}

/// Why a wait has ended before the reservation is complete.
#[derive(Debug, PartialEq)]
pub(crate) enum WaitError {
    /// The caller would wait for itself.
    Cycle,
    /// The time is up.
    TimedOut,
}

impl Reservation {
    /// A reservation of an owner.
    pub(crate) fn new() -> Arc<Self> {
        Reservation::by(false)
    }

    /// A reservation of its first maker, which races or owns the reservation.
    pub(crate) fn by(races: bool) -> Arc<Self> {
        let (state, raced) = (Progress::of(races), AtomicBool::new(races));
        Arc::new(Reservation(Waits::new(state), raced))
    }

    /// Ends the reservation: its owner has left. All waiters go on.
    ///
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    pub(crate) fn complete(&self) {
        let (left, woken) = self.end();
        // Dropped last: its end may run user code.
        let _left = left;
        if !woken.is_empty() {
            wake_all(woken);
        }
    }

    /// As `complete`, but the caller calls the wakers, and drops the value or error without an
    /// heir.
    #[must_use]
    pub(super) fn end(&self) -> (Option<Left>, Woken) {
        (self.0).wake(Sleepers::All, |state, waiting| {
            state.makers.owned = false;
            state.complete(waiting)
        })
    }

    /// A caller that has waited until the end goes.
    pub(super) fn disinherit(&self) {
        let left = self.0.with(|state| {
            state.heirs -= 1;
            state.left.take_if(|_| state.heirs == 0)
        });
        drop(left);
    }

    /// Whether a caller waits.
    pub(crate) fn is_awaited(&self) -> bool {
        self.0.is_any()
    }

    /// Leaves something to the waiters, until the last of them goes, unless the reservation is
    /// complete: then the waiters find the value of another caller (F5). The owner completes the
    /// reservation afterwards.
    pub(crate) fn leave<T: Send + Sync + 'static>(&self, left: T) {
        let left: Arc<dyn Any + Send + Sync> = Arc::new(left);
        let needless = self.0.with(|state| match state.complete {
            true => Some(left),
            false => state.left.replace(left),
        });
        drop(needless);
    }

    /// A clone of the value or error that the owner has left, if the value or error has this type.
    pub(crate) fn left<T: Clone + 'static>(&self) -> Option<T> {
        let left = self.0.with(|state| state.left.clone())?;
        left.downcast_ref().cloned()
    }

    pub(crate) fn is_complete(&self) -> bool {
        self.0.with(|state| state.complete)
    }
}

/// F5: the reservation whose node a value has replaced, if there is one. The drop of the guard lets
/// the waiters go on, also if the operation panics: then the panic of a waker is dropped.
#[derive(Default)]
pub(crate) struct Overtaken(Cell<Option<Arc<Reservation>>>);

impl Overtaken {
    /// Notes the reservation of the replaced node.
    #[inline]
    pub(crate) fn set(&self, reservation: Option<Arc<Reservation>>) {
        self.0.set(reservation);
    }
}

impl Drop for Overtaken {
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    #[inline]
    fn drop(&mut self) {
        if let Some(reservation) = self.0.take() {
            reservation.land();
        }
    }
}
