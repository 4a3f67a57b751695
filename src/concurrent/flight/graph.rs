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
//! * **F5** A task waiting for a thread is not in the graph of waits, since the task may give up.
//!   So the task looks for a cycle at each poll. A thread or task that begins to wait wakes tasks
//!   of each flight on which its wait depends through threads, and the woken tasks look then. Tasks
//!   of a flight in the middle of a poll are woken too, since the poll may have looked already. A
//!   waker may itself wait, and so change the published wait of the calling thread: then the thread
//!   begins once more.
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties
//! of Computer Systems", 1972.

use core::mem;
use std::sync::Arc;
use std::time::Instant;
use std::vec;
use std::vec::Vec;

use super::making::{Making, Wait, WaitError};
use super::polls::StandIn;
use crate::panics::FirstPanic;

impl Making {
    /// Waits until the flight is complete, or until a given time.
    pub(crate) fn wait(this: &Arc<Self>, until: Option<Instant>) -> Result<(), WaitError> {
        Self::call_off();
        // Both guards end even if a waker panics, the stand-in last.
        let stand_in = StandIn::for_polls();
        let Some(waiting) = Self::of_this_thread().map(Waiting) else {
            return this.sleep(until);
        };
        loop {
            let (number, cycle, way) = waiting.begin(this);
            if cycle {
                return Err(WaitError::Cycle);
            }
            // F5. A waker may do anything, including a wait.
            Self::have_looked(&way);
            if waiting.0.waits(number) {
                return this.sleep(until);
            }
            stand_in.iter().for_each(StandIn::show);
        }
    }

    /// Whether the flight cannot complete before a certain leader goes on; and the flights on which
    /// the given flight depends.
    fn leads_to(this: &Arc<Self>, is_end: impl Fn(&Arc<Self>) -> bool) -> (bool, Vec<Arc<Self>>) {
        let (mut way, mut waits) = (vec![Arc::clone(this)], Vec::new());
        while let Some(last) = way.last() {
            let leader = Self::leader(last);
            if is_end(leader) {
                // F2
                let is_over = way.iter().any(|flight| flight.is_complete())
                    || (waits.iter())
                        .any(|(leader, number): &(Arc<Self>, _)| !leader.waits(*number));
                return (!is_over, way);
            }
            let next = match &leader.joint {
                Some(joint) => joint.polled_by.lock().clone(),
                None => {
                    let wait = leader.waits_for.lock();
                    let (flight, number) = (wait.flight.clone(), wait.number);
                    drop(wait);
                    waits.push((Arc::clone(leader), number));
                    flight
                }
            };
            match next {
                // The threads of a cycle without the current thread find their cycle themselves.
                Some(next) if !way.iter().any(|flight| Arc::ptr_eq(flight, &next)) => {
                    way.push(next)
                }
                _ => break,
            }
        }
        (false, way)
    }

    /// Whether the thread represented by the flight is still at the wait with the given number.
    fn waits(&self, number: usize) -> bool {
        self.waits_for.lock().number == number
    }

    /// F5: wakes tasks waiting for the flights, so that the tasks look for a cycle.
    ///
    /// # Panics
    /// If a waker does.
    pub(super) fn have_looked(way: &[Arc<Self>]) {
        let mut panics = FirstPanic::default();
        for tasks in way.iter().filter(|flight| flight.is_of_tasks()) {
            panics.catch(|| tasks.wake_next());
        }
        panics.resume();
    }

    /// Whether a task polled on the current thread cannot wait for the flight, because the current
    /// thread leads the flight, or polls a flight on which the given flight depends. Also returns
    /// the flights on which the given flight depends.
    pub(super) fn delays_itself(this: &Arc<Self>) -> (bool, Vec<Arc<Self>>) {
        let me = Self::of_this_thread();
        let is_end = |leader: &Arc<Self>| {
            leader.is_polled_here() || me.as_ref().is_some_and(|me| Arc::ptr_eq(leader, me))
        };
        Self::leads_to(this, is_end)
    }
}

/// The flight that stands for the current thread, while the thread waits.
struct Waiting(Arc<Making>);

impl Waiting {
    /// Begins the wait. Returns the number of the wait, whether the wait closes a cycle, and the
    /// flights on which the wait depends.
    fn begin(&self, flight: &Arc<Making>) -> (usize, bool, Vec<Arc<Making>>) {
        // F1
        let number = self.set(Some(Arc::clone(flight)));
        let (cycle, way) = Making::leads_to(flight, |leader| Arc::ptr_eq(leader, &self.0));
        (number, cycle, way)
    }

    fn set(&self, flight: Option<Arc<Making>>) -> usize {
        let mut wait = self.0.waits_for.lock();
        let number = wait.number.wrapping_add(1);
        let old = mem::replace(&mut *wait, Wait { flight, number });
        drop(wait);
        drop(old);
        number
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.set(None);
    }
}
