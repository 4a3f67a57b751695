//! Single flight: of several threads that want the same thing made, one makes it and the others wait.
//!
//! Who would wait for itself is told so instead: a thread that asks for what it is making, and one that
//! asks for what another is making which waits, perhaps through more threads, for the first.
//!
//! * **F1** A thread says what it waits for *before* it looks whether that closes a cycle. So of the
//!   threads that close one, the last to say so sees it whole; perhaps another sees it too.
//! * **F2** What a thread waits for is a flight, and not a thread: one that has landed holds nobody up,
//!   though its waiters may not have woken yet, and its leader may wait for something else by now. So the
//!   cycle that was seen is one if *afterwards* none of its flights has landed: then each leader was at
//!   that flight all the time, and each, once it was seen to wait, waits still (or has been told).
//!
//! * **F3** A flight that is up, while nothing is made yet, holds nobody up: before its thread waits for
//!   anything, the flight is called off. It is landed then, and whoever finds it, takes it away.
//!
//! No lock is held while another is taken, nor while code of a user runs. All that is shared is under locks:
//! there is no load that could hide another one from loom (see `sync`).
//!
//! (Detecting deadlocks by the circles of who waits for whom: R. C. Holt, "Some Deadlock Properties of
//! Computer Systems", 1972.)

use core::cell::RefCell;
use core::mem::{self, ManuallyDrop};
use std::vec;
use std::vec::Vec;

use crate::sync::{Arc, Condvar, Mutex, MutexGuard, thread_local};

/// Something that is being made by one thread.
pub(crate) struct Flight {
    leader: Arc<Leader>,
    /// Whether it counts among those of [`LATE`].
    late: bool,
    landed: Mutex<bool>,
    landing: Condvar,
}

/// A thread, as flights know it.
struct Leader {
    waits_for: Mutex<Option<Arc<Flight>>>,
}

/// To wait would be to wait for oneself.
#[derive(Debug)]
pub(crate) struct Cycle;

/// Who it is, and how many flights it has.
type Late = RefCell<Option<(Arc<Leader>, usize)>>;

thread_local! {
    static PILOT: Arc<Leader> = Leader::new();
    /// This thread after its [`PILOT`] has gone, as long as it has flights. This, and the next, have no destructors,
    /// so that they can be used in those of all others: they own nothing as soon as there are no flights.
    static LATE: ManuallyDrop<Late> = ManuallyDrop::default();
    /// The flights of this thread that can be called off (F3).
    static STANDING_BY: ManuallyDrop<RefCell<Vec<Arc<Flight>>>> = ManuallyDrop::default();
}

/// A flight that is up, while this thread has yet to do something else.
pub(crate) struct Standby(Arc<Flight>);

impl Leader {
    fn new() -> Arc<Self> {
        Arc::new(Leader {
            waits_for: Mutex::new(None),
        })
    }
}

/// This thread, who is to have so many more flights, and whether it is late.
fn leader(flights: usize) -> (Arc<Leader>, bool) {
    match PILOT.try_with(Arc::clone) {
        Ok(leader) => (leader, false),
        Err(_) => (late_pilot(flights), true),
    }
}

#[cold]
fn late_pilot(flights: usize) -> Arc<Leader> {
    LATE.with(|late| {
        let mut late = late.borrow_mut();
        let (leader, before) = late.take().unwrap_or_else(|| (Leader::new(), 0));
        let count = before + flights;
        // (Who has no flights is nobody whom others could wait for: no matter who that is.)
        if count != 0 {
            *late = Some((Arc::clone(&leader), count));
        }
        leader
    })
}

/// A flight of a late leader is over.
#[cold]
fn late_landing() {
    LATE.with(|late| {
        let mut late = late.borrow_mut();
        *late = late
            .take()
            .and_then(|(leader, count)| (count > 1).then(|| (leader, count - 1)));
    });
}

/// No code of a user runs under these locks, so a poisoned one is as good as another.
fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(|poisoned| poisoned.into_inner())
}

impl Flight {
    /// A flight of this thread, which is to [`land`](Self::land) it whatever happens.
    pub(crate) fn start() -> Arc<Self> {
        let (leader, late) = leader(1);
        Arc::new(Flight {
            leader,
            late,
            landed: Mutex::new(false),
            landing: Condvar::new(),
        })
    }

    /// Until the making [begins](Standby::begin), whatever this thread does can call the flight off.
    pub(crate) fn stand_by(this: &Arc<Self>) -> Standby {
        STANDING_BY.with(|flights| flights.borrow_mut().push(Arc::clone(this)));
        Standby(Arc::clone(this))
    }

    /// It is over: the thing is there, or will not be. All who wait go on. By the thread that has started it.
    pub(crate) fn complete(&self) {
        let had_landed = mem::replace(&mut *lock(&self.landed), true);
        self.landing.notify_all();
        if self.late && !had_landed {
            late_landing();
        }
    }

    fn is_complete(&self) -> bool {
        *lock(&self.landed)
    }

    /// Waits until it has landed.
    pub(crate) fn wait(this: &Arc<Self>) -> Result<(), Cycle> {
        // F3
        let called_off = STANDING_BY.with(|flights| flights.take());
        called_off.iter().for_each(|flight| flight.complete());
        let (me, _) = leader(0);
        // F1
        *lock(&me.waits_for) = Some(Arc::clone(this));
        let cycle = Self::leads_to(this, &me);
        if !cycle {
            let mut landed = lock(&this.landed);
            // Not `if`: a wait may end for no reason. (loom's never does.)
            while !*landed {
                landed = this
                    .landing
                    .wait(landed)
                    .unwrap_or_else(|poisoned| poisoned.into_inner());
            }
        }
        *lock(&me.waits_for) = None;
        if cycle { Err(Cycle) } else { Ok(()) }
    }

    /// Whether this flight will not land before `me` does.
    fn leads_to(this: &Arc<Self>, me: &Arc<Leader>) -> bool {
        let mut way = vec![Arc::clone(this)];
        while let Some(last) = way.last() {
            if Arc::ptr_eq(&last.leader, me) {
                // F2
                return !way.iter().any(|flight| flight.is_complete());
            }
            let next = lock(&last.leader.waits_for).clone();
            match next {
                // (A cycle without us is not ours to see.)
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
    /// Whether it has not been called off; then the making begins.
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
    fn nobody_waits_for_itself() {
        loom::model(|| {
            let flight = Flight::start();
            assert!(Flight::wait(&flight).is_err());
            flight.complete();
            assert!(Flight::wait(&flight).is_ok());
        });
    }

    /// Each of two threads makes something, and wants what the other makes: one is told, or both are, and
    /// nobody waits for ever.
    #[test]
    fn a_circle_of_two_is_seen() {
        loom::model(|| {
            let mine = Flight::start();
            let theirs = Arc::new(Mutex::new(None::<Arc<Flight>>));
            let other = thread::spawn({
                let (mine, theirs) = (Arc::clone(&mine), Arc::clone(&theirs));
                move || {
                    let flight = Flight::start();
                    *theirs.lock().unwrap() = Some(Arc::clone(&flight));
                    let waited = Flight::wait(&mine).is_ok();
                    flight.complete();
                    waited
                }
            });
            let flight = theirs.lock().unwrap().clone();
            let waited = flight
                .as_ref()
                .is_some_and(|flight| Flight::wait(flight).is_ok());
            mine.complete();
            let they_waited = other.join().unwrap();
            assert!(
                flight.is_none() || !(waited && they_waited),
                "each has landed after the other"
            );
        });
    }

    /// Two who want something of each other one after the other are not in a cycle, even if the first
    /// has not woken when the second begins to wait.
    #[test]
    fn what_has_landed_closes_no_circle() {
        loom::model(|| {
            let first = Flight::start();
            let second = Arc::new(Mutex::new(None::<Arc<Flight>>));
            let other = thread::spawn({
                let (first, second) = (Arc::clone(&first), Arc::clone(&second));
                move || {
                    let flight = Flight::start();
                    *second.lock().unwrap() = Some(Arc::clone(&flight));
                    // Waits for a flight that lands without us.
                    assert!(Flight::wait(&first).is_ok(), "no cycle");
                    flight.complete();
                }
            });
            first.complete();
            if let Some(flight) = second.lock().unwrap().clone() {
                assert!(Flight::wait(&flight).is_ok(), "no cycle");
            }
            other.join().unwrap();
        });
    }

    /// F3: Who has a flight up, and makes nothing yet, waits for another, whose leader waits for the first.
    #[test]
    fn what_stands_by_holds_nobody_up() {
        loom::model(|| {
            let first = Flight::start();
            let standby = Flight::stand_by(&first);
            let second = Arc::new(Mutex::new(None::<Arc<Flight>>));
            let other = thread::spawn({
                let (first, second) = (Arc::clone(&first), Arc::clone(&second));
                move || {
                    let flight = Flight::start();
                    *second.lock().unwrap() = Some(Arc::clone(&flight));
                    assert!(Flight::wait(&first).is_ok(), "no cycle");
                    flight.complete();
                }
            });
            let flight = second.lock().unwrap().clone();
            if let Some(flight) = &flight {
                assert!(Flight::wait(flight).is_ok(), "no cycle");
            }
            assert_eq!(standby.begin(), flight.is_none());
            first.complete();
            other.join().unwrap();
        });
    }
}
