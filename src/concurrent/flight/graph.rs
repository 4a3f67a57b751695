//! The graph of waits, in which a thread that is about to wait looks for a cycle.
//!
//! * **F1** A thread publishes its wait *before* the search for a cycle. So of the threads closing
//!   a cycle, the last thread to publish its wait sees the whole cycle. More threads may see the
//!   cycle too.
//! * **F2** A thread waits for a flight, not for a thread. A complete flight delays no thread,
//!   though its waiters may not have woken yet, and its leader may wait for a second flight by now.
//!   The time of a wait may be up, so each wait has a number. A thread that has seen a cycle looks
//!   again: the cycle is a true one if *afterwards* no flight of the cycle is complete, and no
//!   number has changed. Then, when the thread saw the last of the waits, each leader was at its
//!   flight, and each leader still waited (or was about to get its error).
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties
//! of Computer Systems", 1972.

use core::mem;
use std::sync::Arc;
use std::time::Instant;
use std::vec;
use std::vec::Vec;

use super::reservation::{Reservation, Wait, WaitError};
use crate::sync::{Exclusive, Own, thread_local};

thread_local! {
    /// The flight whose computation the current thread polls.
    static POLLED: Own<Option<Arc<Reservation>>> = const { Own::new(None) };
}

impl Reservation {
    /// Runs a poll of the computation of a flight that a task leads: meanwhile the flight stands
    /// for the current thread in the graph.
    pub(in super::super) fn poll<R>(this: &Arc<Self>, poll: impl FnOnce() -> R) -> R {
        struct Before(Option<Arc<Reservation>>);
        impl Drop for Before {
            fn drop(&mut self) {
                let before = self.0.take();
                drop(POLLED.with(|polled| polled.replace(before)));
            }
        }
        let _before = Before(POLLED.with(|polled| polled.replace(Some(Arc::clone(this)))));
        poll()
    }

    /// Waits until the flight is complete, or until a given time.
    pub(crate) fn wait(this: &Arc<Self>, until: Option<Instant>) -> Result<(), WaitError> {
        Self::call_off();
        let waiting = Waiting::of_caller();
        if waiting
            .as_ref()
            .is_some_and(|waiting| waiting.closes_a_cycle(this))
        {
            return Err(WaitError::Cycle);
        }
        this.sleep(until)
    }

    /// Whether the thread represented by the flight is still at the wait with the given number.
    fn waits(&self, number: usize) -> bool {
        self.waits_for.lock().number == number
    }
}

/// The flight that stands for the current thread, while the thread waits.
pub(super) struct Waiting(Arc<Reservation>);

impl Waiting {
    /// `None` if the caller leads no flight: nobody waits for the caller.
    pub(super) fn of_caller() -> Option<Self> {
        let polled = POLLED.with(|polled| polled.enter().clone());
        polled.or_else(Reservation::of_this_thread).map(Waiting)
    }

    /// Begins the wait. Returns whether the wait closes a cycle.
    pub(super) fn closes_a_cycle(&self, flight: &Arc<Reservation>) -> bool {
        // F1
        self.set(Some(Arc::clone(flight)));
        let (mut way, mut waits) = (vec![Arc::clone(flight)], Vec::new());
        while let Some(last) = way.last() {
            let leader = Arc::clone(Reservation::leader(last));
            if Arc::ptr_eq(&leader, &self.0) {
                // F2
                let is_over = way.iter().any(|flight| flight.is_complete())
                    || (waits.iter())
                        .any(|(leader, number): &(Arc<Reservation>, _)| !leader.waits(*number));
                return !is_over;
            }
            let wait = leader.waits_for.lock();
            let (next, number) = (wait.flight.clone(), wait.number);
            drop(wait);
            waits.push((leader, number));
            match next {
                // The threads of a cycle without the current thread find their cycle themselves.
                Some(next) if !way.iter().any(|flight| Arc::ptr_eq(flight, &next)) => {
                    way.push(next)
                }
                _ => break,
            }
        }
        false
    }

    fn set(&self, flight: Option<Arc<Reservation>>) {
        let mut wait = self.0.waits_for.lock();
        let number = wait.number.wrapping_add(1);
        let old = mem::replace(&mut *wait, Wait { flight, number });
        drop(wait);
        drop(old);
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.set(None);
    }
}
