//! The place of a task among those that wait for a flight.

use core::task::{Poll, Waker};
use std::sync::Arc;
use std::vec::Vec;

use super::super::seats::Place;
use super::{Making, Unmet};
use crate::panics::FirstPanic;
use crate::sync::Exclusive;

/// The place of a task among those that wait for a flight, until this is dropped.
pub(crate) struct Seat {
    flight: Arc<Making>,
    at: u32,
}

impl Seat {
    pub(in super::super) fn at(&self) -> u32 {
        self.at
    }

    /// The task could not poll, and still has to: O1 of [`held`](super::super::held).
    pub(in super::super) fn owe(&self) {
        self.flight.status.lock().tasks.owe(self.at);
    }

    /// The flight is about to end, and the task not to be woken by that. The caller drops the
    /// waker.
    pub(in super::super) fn silence(&self) -> Option<Waker> {
        self.flight.status.lock().tasks.empty(self.at)
    }

    /// Has the task woken: in its place among those that wait for the flight, which it takes or
    /// has. Returns whether the flight is complete: then it is not woken.
    pub(in super::super) fn take(
        seat: &mut Option<Self>,
        flight: &Arc<Making>,
        waker: &Waker,
    ) -> bool {
        let (known, within) = (seat.as_ref().map(|seat| seat.at), Making::is_polling());
        debug_assert!((seat.iter()).all(|seat| Arc::ptr_eq(&seat.flight, flight)));
        let mut status = flight.status.lock();
        if status.complete {
            return true;
        }
        if known.is_some_and(|at| status.tasks.is_known(at, waker, within)) {
            return false;
        }
        drop(status);
        // Code of users, as the end of the old one.
        let mut waker = Some(waker.clone());
        let sat = flight.status.with_room(
            |status, memory: &mut Vec<Place>| match status.complete || known.is_some() {
                true => Ok(()),
                false => status.tasks.make_room(memory),
            },
            |status, _| {
                let waker = waker.take_if(|_| !status.complete)?;
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
            // The task does not poll now.
            seat.owe();
        }
        panics.resume();
        false
    }

    /// Waits until the flight is complete. Before the task is left to its executor, which may wait,
    /// the thread [calls off](Making::call_off) what stands by.
    pub(in super::super) fn wait(
        seat: &mut Option<Self>,
        flight: &Arc<Making>,
        waker: &Waker,
    ) -> Poll<Result<(), Unmet>> {
        let begins = seat.is_none();
        if Self::take(seat, flight, waker) {
            return Poll::Ready(Ok(()));
        }
        let (cycle, way) = Making::delays_itself(flight);
        if cycle {
            return Poll::Ready(Err(Unmet::Cycle));
        }
        if begins {
            Making::have_looked(&way);
        }
        Poll::Pending
    }
}

impl Drop for Seat {
    /// If the task owes a poll, another one is woken.
    fn drop(&mut self) {
        let mut status = self.flight.status.lock();
        let (own, owes) = status.tasks.leave(self.at);
        let owes = owes && !status.complete;
        drop(status);
        let mut panics = FirstPanic::default();
        panics.catch(|| drop(own));
        if owes {
            panics.catch(|| self.flight.wake_next());
        }
        panics.resume();
    }
}
