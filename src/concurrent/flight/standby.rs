//! Flights on standby: the flight of a thread is in the table, and the thread has yet to run user
//! code before the thread makes the value.
//!
//! * **F3** A flight on standby is linked, but its leader has yet to run further user code before
//!   the leader makes the value. A flight on standby delays no thread: before the leader waits for
//!   anything, the leader calls the flight off. A flight that is called off is complete, and the
//!   next thread that finds its node unlinks the node.

use core::mem;
use std::sync::Arc;
use std::vec::Vec;

use super::reservation::Reservation;
use crate::panics::wake_all;
use crate::sync::{Exclusive, Own, thread_local};

thread_local! {
    /// The last flight that the current thread has put on standby. It leads to the earlier flights
    /// on standby (F3).
    static STANDING_BY: Own<Option<Arc<Reservation>>> = const { Own::new(None) };
}

/// The guard of a flight on standby. Its thread has yet to run destructors before it makes the
/// value.
pub(crate) struct Standby<'f>(&'f Arc<Reservation>);

impl Reservation {
    /// Puts the flight on standby: until the making [begins](Standby::begin), any operation of the
    /// current thread can call the flight off.
    #[inline]
    pub(crate) fn stand_by(this: &Arc<Self>) -> Standby<'_> {
        let outer = STANDING_BY.with(|flights| flights.replace(Some(Arc::clone(this))));
        if outer.is_some() {
            this.status.lock().outer = outer;
        }
        Standby(this)
    }

    /// F3: calls off all flights of the current thread on standby, before the thread waits for
    /// anything. Returns whether there were any.
    pub(in super::super) fn call_off() -> bool {
        let mut next = STANDING_BY.with(|flights| flights.replace(None));
        let is_any = next.is_some();
        // All flights end before the first waker is called: a waker may wait itself, or panic.
        let mut places = Vec::new();
        while let Some(flight) = next {
            places.extend(flight.end());
            next = flight.status.lock().outer.take();
        }
        wake_all(places.into_iter().flatten());
        is_any
    }
}

impl Standby<'_> {
    /// Begins the making. False if the flight has been called off.
    #[inline]
    pub(crate) fn begin(self) -> bool {
        let has_begun = self.leave();
        mem::forget(self);
        has_begun
    }

    /// Ends the standby. Returns whether the flight may begin.
    #[inline]
    fn leave(&self) -> bool {
        let mut status = self.0.status.lock();
        let (mut outer, complete) = (status.outer.take(), status.complete);
        drop(status);
        let is_found = STANDING_BY.with(|flights| {
            let mut innermost = flights.enter();
            let is_own = |flight: &Arc<Reservation>| Arc::ptr_eq(flight, self.0);
            let is_found = innermost.as_ref().is_none_or(is_own);
            if is_found {
                mem::swap(&mut *innermost, &mut outer);
            }
            is_found
        });
        if !is_found {
            self.leave_the_middle(outer);
        }
        !complete
    }

    /// Takes a flight out that is not the innermost: coroutines end their standbys in any order.
    #[cold]
    fn leave_the_middle(&self, outer: Option<Arc<Reservation>>) {
        let mut inner = STANDING_BY.with(|flights| flights.enter().clone());
        while let Some(flight) = inner {
            let mut status = flight.status.lock();
            if status
                .outer
                .as_ref()
                .is_some_and(|next| Arc::ptr_eq(next, self.0))
            {
                let own = mem::replace(&mut status.outer, outer);
                drop((status, own));
                return;
            }
            inner = status.outer.clone();
        }
    }
}

impl Drop for Standby<'_> {
    fn drop(&mut self) {
        self.leave();
    }
}
