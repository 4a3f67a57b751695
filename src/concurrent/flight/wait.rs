//! The wait of a task for a flight.

use core::future::Future;
use core::mem;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::sync::Arc;
use std::vec::Vec;

use super::graph::Waiting;
use super::reservation::{Reservation, WaitError};
use crate::sync::{Exclusive, make_room};

/// A future that is ready when the flight is complete.
pub(in super::super) struct Wait<'f> {
    flight: &'f Arc<Reservation>,
    /// The place of the waker in the flight.
    at: Option<usize>,
    /// The wait of the computation within which the task waits.
    waiting: Option<Waiting>,
}

impl Reservation {
    pub(in super::super) fn wait_in_task(this: &Arc<Self>) -> Wait<'_> {
        Wait {
            flight: this,
            at: None,
            waiting: None,
        }
    }
}

impl Wait<'_> {
    /// Leaves the waker with the flight. Returns whether the flight is complete.
    fn is_complete(&mut self, waker: &Waker) -> bool {
        // The waker is user code: cloned and dropped under no lock.
        let (known, mut waker) = (self.at, Some(waker.clone()));
        let complete = self.flight.status.with_room(
            |status, memory: &mut Vec<Option<Waker>>| match status.complete || known.is_some() {
                true => Ok(()),
                false => make_room(&mut status.wakers, 1, memory),
            },
            |status, _| {
                if !status.complete {
                    let free = || status.wakers.iter().position(Option::is_none);
                    let at = known.or_else(free).unwrap_or(status.wakers.len());
                    match status.wakers.get_mut(at) {
                        Some(there) => mem::swap(there, &mut waker),
                        None => status.wakers.push(waker.take()),
                    }
                    self.at = Some(at);
                }
                status.complete
            },
        );
        drop(waker);
        complete
    }
}

impl Future for Wait<'_> {
    type Output = Result<(), WaitError>;

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Result<(), WaitError>> {
        let this = self.get_mut();
        loop {
            if this.is_complete(context.waker()) {
                return Poll::Ready(Ok(()));
            }
            if this.waiting.is_none() {
                this.waiting = Waiting::of_caller();
                if this
                    .waiting
                    .as_ref()
                    .is_some_and(|own| own.closes_a_cycle(this.flight))
                {
                    return Poll::Ready(Err(WaitError::Cycle));
                }
            }
            match Reservation::call_off() {
                // F3: the executor may wait, also for a value that this thread is about to make.
                true => {}
                false => return Poll::Pending,
            }
        }
    }
}

impl Drop for Wait<'_> {
    fn drop(&mut self) {
        let mut status = self.flight.status.lock();
        let own = self.at.and_then(|at| status.wakers.get_mut(at)?.take());
        drop(status);
        drop(own);
    }
}
