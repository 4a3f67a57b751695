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
    /// Blocks the thread until the reservation is complete, or until a point in time. While the
    /// thread has the returned heir, what the owner has left lives.
    pub(crate) fn wait(
        this: &Arc<Self>,
        until: Option<Instant>,
    ) -> Result<Option<Heir>, WaitError> {
        let _edge = Edge::of_wait(this)?;
        let (over, counted) = this.0.sleep(until, |state| state.complete);
        let heir = counted.then(|| Heir(Arc::clone(this)));
        over.then_some(heir).ok_or(WaitError::TimedOut)
    }
}

/// A thread that has waited until the end.
pub(crate) struct Heir(Arc<Reservation>);

impl Drop for Heir {
    fn drop(&mut self) {
        self.0.disinherit();
    }
}

/// A future that is ready when the reservation is complete. Until its drop, what the owner has left
/// lives.
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
        if seat.is_some_and(|seat| self.reservation.0.leave(seat)) {
            self.reservation.disinherit();
        }
    }
}
