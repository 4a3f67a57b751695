//! The wait of a thread or a task for a reservation.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;
use std::time::Instant;

use super::graph::Edge;
use super::reservation::{Reservation, WaitError};
use crate::waits::SeatNumber;

impl Reservation {
    /// Blocks the thread until the reservation is complete, or until the time `until`. Returns an
    /// heir if the thread slept when the reservation was completed: the value or the error of the
    /// owner stays in the reservation until the last heir is dropped.
    pub(crate) fn wait(
        this: &Arc<Self>,
        until: Option<Instant>,
    ) -> Result<Option<Heir>, WaitError> {
        // The graph of waits has the edge until the wait ends.
        let mut edge = None;
        Edge::renew_of_wait(&mut edge, this)?;
        // Only a completion counts sleepers: a counted thread is never timed out.
        let (complete, counted) = this.0.sleep(until, |state| state.complete);
        let heir = counted.then(|| Heir(Arc::clone(this)));
        if complete {
            Ok(heir)
        } else {
            Err(WaitError::TimedOut)
        }
    }
}

/// The right of a thread to the value or the error that the owner has left: the completion of the
/// reservation has counted the thread.
pub(crate) struct Heir(Arc<Reservation>);

impl Drop for Heir {
    fn drop(&mut self) {
        self.0.disinherit();
    }
}

/// A future that is ready when the reservation is complete. The reservation keeps the value or the
/// error of the owner until the drop of the future.
pub(crate) struct Wait<'r> {
    reservation: &'r Arc<Reservation>,
    seat: Option<SeatNumber>,
    edge: Option<Edge>,
}

impl<'r> Wait<'r> {
    pub(crate) fn new(reservation: &'r Arc<Reservation>) -> Self {
        Wait {
            reservation,
            seat: None,
            edge: None,
        }
    }
}

impl Future for Wait<'_> {
    type Output = Result<(), WaitError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), WaitError>> {
        let this = self.get_mut();
        let waits = &this.reservation.0;
        if waits.enter(&mut this.seat, context.waker(), |state| state.complete) {
            return Poll::Ready(Ok(()));
        }
        Edge::renew_of_wait(&mut this.edge, this.reservation)?;
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let seat = self.seat.take();
        // The completion that has woken the task has counted the task as an heir.
        if seat.is_some_and(|seat| self.reservation.0.leave(seat)) {
            self.reservation.disinherit();
        }
    }
}
