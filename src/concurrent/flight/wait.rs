//! The wait of a thread or a task for a reservation.

use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::sync::Arc;
use std::time::Instant;

use super::graph::Edge;
use super::reservation::{Reservation, WaitError};
use crate::waits::Place;

impl Reservation {
    /// Blocks the thread until the reservation is complete, or until a point in time.
    pub(in super::super) fn wait(
        this: &Arc<Self>,
        until: Option<Instant>,
    ) -> Result<(), WaitError> {
        let _edge = Edge::of_wait(this)?;
        match this.0.sleep(until, |state| state.complete) {
            true => Ok(()),
            false => Err(WaitError::TimedOut),
        }
    }
}

/// A future that is ready when the reservation is complete.
pub(in super::super) struct Wait<'r> {
    reservation: &'r Arc<Reservation>,
    place: Option<Place>,
    edge: Option<Edge>,
}

impl<'r> Wait<'r> {
    pub(in super::super) fn new(reservation: &'r Arc<Reservation>) -> Self {
        Wait {
            reservation,
            place: None,
            edge: None,
        }
    }
}

impl Future for Wait<'_> {
    type Output = Result<(), WaitError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), WaitError>> {
        let this = self.get_mut();
        let waits = &this.reservation.0;
        if waits.enter(&mut this.place, context.waker(), |state| state.complete) {
            return Poll::Ready(Ok(()));
        }
        Edge::renew_of_wait(&mut this.edge, this.reservation)?;
        Poll::Pending
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        if let Some(place) = self.place {
            self.reservation.0.leave(place);
        }
    }
}
