//! The place of a task among the waiters of a flight.

use core::task::{Poll, Waker};
use std::sync::Arc;
use std::vec::Vec;

use super::making::{Making, WaitError};
use super::seats::Place;
use crate::panics::FirstPanic;
use crate::sync::Exclusive;

/// The place of a task among the waiters of a flight, until the seat is dropped.
pub(crate) struct Seat {
    flight: Arc<Making>,
    at: u32,
}

impl Seat {
    pub(in super::super) fn at(&self) -> u32 {
        self.at
    }

    /// Notes that the task could not poll, and still has to: O1 of `tasks::held`.
    pub(in super::super) fn owe(&self) {
        self.flight.status.lock().tasks.owe(self.at);
    }

    /// Takes the waker of the task out: the flight is about to end, and its end is not to wake the
    /// task. The caller drops the waker.
    pub(in super::super) fn silence(&self) -> Option<Waker> {
        self.flight.status.lock().tasks.empty(self.at)
    }

    /// Lets the flight wake the task, in the place that the task has, or in a new place. Returns
    /// whether the flight is [over](Making::is_over): then the flight does not wake the task.
    pub(in super::super) fn take(
        seat: &mut Option<Self>,
        flight: &Arc<Making>,
        waker: &Waker,
    ) -> bool {
        let (known, within) = (seat.as_ref().map(|seat| seat.at), Making::is_polling());
        debug_assert!((seat.iter()).all(|seat| Arc::ptr_eq(&seat.flight, flight)));
        let mut status = flight.status.lock();
        if flight.is_over(&status) {
            return true;
        }
        if known.is_some_and(|at| status.tasks.is_known(at, waker, within)) {
            return false;
        }
        drop(status);
        // Cloning a waker runs user code, as dropping the old waker does.
        let mut waker = Some(waker.clone());
        let sat = flight.status.with_room(
            |status, memory: &mut Vec<Place>| match flight.is_over(status) || known.is_some() {
                true => Ok(()),
                false => status.tasks.make_room(memory),
            },
            |status, _| {
                let waker = waker.take_if(|_| !flight.is_over(status))?;
                Some(status.tasks.sit(known, waker, within))
            },
        );
        let Some((at, old)) = sat else { return true };
        let seat = seat.get_or_insert_with(|| Seat {
            flight: Arc::clone(flight),
            at,
        });
        let mut panics = FirstPanic::default();
        panics.catch(|| drop(old));
        if panics.is_some() {
            // The task does not poll now, because of the panic.
            seat.owe();
        }
        panics.resume();
        false
    }

    /// Waits until the flight is complete. Before the task goes back to its executor, which may
    /// wait, the thread [calls off](Making::call_off) its flights on standby.
    pub(in super::super) fn wait(
        seat: &mut Option<Self>,
        flight: &Arc<Making>,
        waker: &Waker,
    ) -> Poll<Result<(), WaitError>> {
        let begins = seat.is_none();
        if Self::take(seat, flight, waker) {
            return Poll::Ready(Ok(()));
        }
        let (cycle, way) = Making::delays_itself(flight);
        if cycle {
            return Poll::Ready(Err(WaitError::Cycle));
        }
        if begins {
            Making::have_looked(&way);
        }
        Poll::Pending
    }
}

impl Drop for Seat {
    /// If the task owes a poll, wakes a task in its stead.
    fn drop(&mut self) {
        let mut status = self.flight.status.lock();
        let (own, owes) = status.tasks.leave(self.at);
        let owes = owes && !self.flight.is_over(&status);
        drop(status);
        let mut panics = FirstPanic::default();
        panics.catch(|| drop(own));
        if owes {
            panics.catch(|| self.flight.wake_next());
        }
        panics.resume();
    }
}
