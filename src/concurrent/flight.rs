//! Single flight: of several threads that want the same value made, one makes it and the others wait.
//!
//! A thread that would wait for itself gets an error instead: one that asks for what it is making, and one that
//! asks for what another thread is making that waits, perhaps through more threads, for the first.
//!
//! * **F1** A thread publishes what it waits for *before* it checks whether that closes a cycle. So of the threads
//!   that close one, the last to publish sees it whole; perhaps another sees it too.
//! * **F2** A thread waits for a flight, not for a thread. A flight that is complete delays no thread, though its
//!   waiters may not have woken yet, and its leader may wait for something else by now. So the cycle that was seen
//!   is a true one if *afterwards* none of its flights is complete: then each leader was at that flight all the
//!   time, and each that was seen to wait still waits (or has got its error).
//! * **F3** A flight on standby, whose value is not being made yet, delays no thread: before its leader waits for
//!   anything, the flight is called off. It is complete then, and a thread that finds it removes it.
//!
//! No lock is taken while another is locked, and none is locked while user code runs. All shared state is under
//! locks: there is no load that could hide another one from loom (see `sync`).
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties of Computer
//! Systems", 1972.

use core::cell::RefCell;
use core::mem::{self, ManuallyDrop};
use std::vec;
use std::vec::Vec;

use crate::sync::{Arc, Condvar, Mutex, MutexGuard, thread_local};

/// A value that one thread is making.
pub(crate) struct Flight {
    /// The first flight of its leader, if that is another (see [`FLIGHTS`]).
    first: Option<Arc<Flight>>,
    /// In a first flight: what its leader waits for.
    waits_for: Mutex<Option<Arc<Flight>>>,
    complete: Mutex<bool>,
    completion: Condvar,
}

/// The thread would wait for itself.
#[derive(Debug)]
pub(crate) struct Cycle;

/// The first of a thread's flights, and how many of them are not complete.
type Flights = RefCell<Option<(Arc<Flight>, usize)>>;

thread_local! {
    /// The flights of this thread: as long as it has some, the first stands for the thread. No thread can wait for
    /// one without flights. This, and the next, have no destructors, so the destructors of other thread-locals can
    /// use them, also when the process exits while a value is being made: they own nothing once there are no flights.
    static FLIGHTS: ManuallyDrop<Flights> = ManuallyDrop::default();
    /// The flights of this thread that can be called off (F3).
    static STANDING_BY: ManuallyDrop<RefCell<Vec<Arc<Flight>>>> = ManuallyDrop::default();
}

/// A flight that is started while its thread has yet to do something else.
pub(crate) struct Standby(Arc<Flight>);

/// No user code runs under these locks, so poisoning means nothing.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Flight {
    /// Starts a flight of this thread, which has to [`complete`](Self::complete) it whatever happens.
    pub(crate) fn start() -> Arc<Self> {
        FLIGHTS.with(|flights| {
            let mut flights = flights.borrow_mut();
            let (first, count) = match flights.take() {
                Some((first, count)) => (Some(first), count),
                None => (None, 0),
            };
            let flight = Arc::new(Flight {
                first: first.clone(),
                waits_for: Mutex::new(None),
                complete: Mutex::new(false),
                completion: Condvar::new(),
            });
            let first = first.unwrap_or_else(|| Arc::clone(&flight));
            *flights = Some((first, count + 1));
            flight
        })
    }

    /// What stands for its leader.
    fn leader(this: &Arc<Self>) -> &Arc<Self> {
        this.first.as_ref().unwrap_or(this)
    }

    /// Puts the flight on standby: until the making [begins](Standby::begin), whatever this thread does can call
    /// it off.
    pub(crate) fn stand_by(this: &Arc<Self>) -> Standby {
        STANDING_BY.with(|flights| flights.borrow_mut().push(Arc::clone(this)));
        Standby(Arc::clone(this))
    }

    /// Completes the flight, by the thread that has started it: the value is there, or will not be. All waiters go
    /// on.
    pub(crate) fn complete(&self) {
        let was_complete = mem::replace(&mut *lock(&self.complete), true);
        self.completion.notify_all();
        if !was_complete {
            FLIGHTS.with(|flights| {
                let mut flights = flights.borrow_mut();
                *flights = flights
                    .take()
                    .and_then(|(first, count)| (count > 1).then(|| (first, count - 1)));
            });
        }
    }

    fn is_complete(&self) -> bool {
        *lock(&self.complete)
    }

    /// Waits until the flight is complete.
    pub(crate) fn wait(this: &Arc<Self>) -> Result<(), Cycle> {
        // F3
        let called_off = STANDING_BY.with(|flights| flights.take());
        called_off.iter().for_each(|flight| flight.complete());
        let me = FLIGHTS.with(|flights| {
            flights
                .borrow()
                .as_ref()
                .map(|(first, _)| Arc::clone(first))
        });
        if let Some(me) = &me {
            // F1
            *lock(&me.waits_for) = Some(Arc::clone(this));
        }
        let cycle = me.as_ref().is_some_and(|me| Self::leads_to(this, me));
        if !cycle {
            let mut complete = lock(&this.complete);
            // A loop, since a wait may end spuriously. (loom's never does.)
            while !*complete {
                complete = this
                    .completion
                    .wait(complete)
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
        if let Some(me) = &me {
            *lock(&me.waits_for) = None;
        }
        if cycle { Err(Cycle) } else { Ok(()) }
    }

    /// Whether this flight cannot complete before one of the thread for which `me` stands.
    fn leads_to(this: &Arc<Self>, me: &Arc<Self>) -> bool {
        let mut way = vec![Arc::clone(this)];
        while let Some(last) = way.last() {
            let leader = Self::leader(last);
            if Arc::ptr_eq(leader, me) {
                // F2
                return !way.iter().any(|flight| flight.is_complete());
            }
            let next = lock(&leader.waits_for).clone();
            match next {
                // A cycle without us is left to its own threads.
                Some(next) if !way.iter().any(|flight| Arc::ptr_eq(flight, &next)) => {
                    way.push(next)
                }
                _ => break,
            }
        }
        false
    }
}

impl Standby {
    /// Begins the making. False if the flight has been called off.
    pub(crate) fn begin(self) -> bool {
        !self.0.is_complete()
    }
}

impl Drop for Standby {
    fn drop(&mut self) {
        let is_other = |flight: &Arc<Flight>| !Arc::ptr_eq(flight, &self.0);
        STANDING_BY.with(|flights| {
            let mut flights = flights.borrow_mut();
            flights.retain(is_other);
            if flights.is_empty() {
                *flights = Vec::new();
            }
        });
    }
}

#[cfg(all(test, weakly_loom))]
mod models {
    use super::*;
    use loom::thread;

    #[test]
    fn a_waiter_wakes() {
        loom::model(|| {
            let flight = Flight::start();
            let other = thread::spawn({
                let flight = Arc::clone(&flight);
                move || Flight::wait(&flight).is_ok()
            });
            flight.complete();
            assert!(other.join().unwrap());
        });
    }

    #[test]
    fn all_waiters_wake() {
        loom::model(|| {
            let flight = Flight::start();
            let others = [(), ()].map(|()| {
                let flight = Arc::clone(&flight);
                thread::spawn(move || Flight::wait(&flight).is_ok())
            });
            flight.complete();
            assert!(others.into_iter().all(|other| other.join().unwrap()));
        });
    }

    #[test]
    fn no_thread_waits_for_itself() {
        loom::model(|| {
            let flight = Flight::start();
            assert!(Flight::wait(&flight).is_err());
            flight.complete();
            assert!(Flight::wait(&flight).is_ok());
        });
    }

    type Shown = Arc<Mutex<Option<Arc<Flight>>>>;

    /// Another thread, which starts a flight, shows it, waits for the first, and returns whether it could.
    fn another_that_waits_for(first: &Arc<Flight>) -> (Shown, thread::JoinHandle<bool>) {
        let second = Arc::new(Mutex::new(None));
        let other = thread::spawn({
            let (first, second) = (Arc::clone(first), Arc::clone(&second));
            move || {
                let flight = Flight::start();
                *second.lock().unwrap() = Some(Arc::clone(&flight));
                let waited = Flight::wait(&first).is_ok();
                flight.complete();
                waited
            }
        });
        (second, other)
    }

    /// Each of two threads makes a value, and wants the other's: one of them or both get an error, and neither
    /// waits for ever.
    #[test]
    fn a_cycle_of_two_is_seen() {
        loom::model(|| {
            let mine = Flight::start();
            let (theirs, other) = another_that_waits_for(&mine);
            let flight = theirs.lock().unwrap().clone();
            let waited = flight
                .as_ref()
                .is_some_and(|flight| Flight::wait(flight).is_ok());
            mine.complete();
            let they_waited = other.join().unwrap();
            assert!(
                flight.is_none() || !(waited && they_waited),
                "each has completed after the other"
            );
        });
    }

    /// Likewise if a thread makes two values, whichever of them the other wants.
    #[test]
    fn a_cycle_through_either_flight_is_seen() {
        for through_first in [true, false] {
            loom::model(move || {
                let (first, second) = (Flight::start(), Flight::start());
                let mine = if through_first { &first } else { &second };
                let (theirs, other) = another_that_waits_for(mine);
                let flight = theirs.lock().unwrap().clone();
                let waited = flight
                    .as_ref()
                    .is_some_and(|flight| Flight::wait(flight).is_ok());
                second.complete();
                first.complete();
                let they_waited = other.join().unwrap();
                assert!(
                    flight.is_none() || !(waited && they_waited),
                    "each has completed after the other"
                );
            });
        }
    }

    /// Two threads that each want something of the other, one after the other, are not in a cycle, even if the
    /// first has not woken when the second begins to wait.
    #[test]
    fn a_complete_flight_closes_no_cycle() {
        loom::model(|| {
            let first = Flight::start();
            // It waits for a flight that completes without it.
            let (second, other) = another_that_waits_for(&first);
            first.complete();
            if let Some(flight) = second.lock().unwrap().clone() {
                assert!(Flight::wait(&flight).is_ok(), "no cycle");
            }
            assert!(other.join().unwrap(), "no cycle");
        });
    }

    /// F3: A thread with a flight on standby waits for another flight, whose leader waits for the first.
    #[test]
    fn a_flight_on_standby_delays_no_thread() {
        loom::model(|| {
            let first = Flight::start();
            let standby = Flight::stand_by(&first);
            let (second, other) = another_that_waits_for(&first);
            let flight = second.lock().unwrap().clone();
            if let Some(flight) = &flight {
                assert!(Flight::wait(flight).is_ok(), "no cycle");
            }
            assert_eq!(standby.begin(), flight.is_none());
            first.complete();
            assert!(other.join().unwrap(), "no cycle");
        });
    }
}
