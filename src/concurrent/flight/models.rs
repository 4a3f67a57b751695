//! The models of flights.

use core::any::Any;
use core::task::{Poll, Waker};
use std::boxed::Box;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::task::Wake;
use std::time::Instant;

use loom::thread;

use super::super::tasks::held::{Found, Held};
use super::standby::Standby;
use super::*;
use crate::sync::{Mutex, models};

fn wait(flight: &Arc<Making>) -> Result<(), WaitError> {
    Making::wait(flight, None)
}

/// What tasks make, which these models leave out.
struct Nothing;

impl AnyWork for Nothing {
    fn is_stale(&self) -> bool {
        unreachable!()
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        unreachable!()
    }
}

fn of_tasks() -> Arc<Making> {
    Making::of_work(Weak::<Nothing>::new())
}

/// Counts how often it was woken. (Not by an atomic of loom's: the models look at it when all
/// threads have ended.)
#[derive(Default)]
pub(in super::super) struct Woken(AtomicUsize);

impl Woken {
    pub(in super::super) fn new() -> std::sync::Arc<Self> {
        std::sync::Arc::default()
    }

    pub(in super::super) fn waker(self: &std::sync::Arc<Self>) -> Waker {
        std::sync::Arc::clone(self).into()
    }

    pub(in super::super) fn count(&self) -> usize {
        self.0.load(SeqCst)
    }
}

impl Wake for Woken {
    fn wake(self: std::sync::Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// Panics instead of waking.
struct Panics;

impl Wake for Panics {
    fn wake(self: std::sync::Arc<Self>) {
        resume_unwind(Box::new("a waker"));
    }
}

fn panics() -> Waker {
    std::sync::Arc::new(Panics).into()
}

fn catch<R>(run: impl FnOnce() -> R) -> Option<R> {
    catch_unwind(AssertUnwindSafe(run)).ok()
}

#[test]
fn a_waiter_wakes() {
    models::check(|| {
        let flight = Making::start();
        let other = thread::spawn({
            let flight = Arc::clone(&flight);
            move || wait(&flight).is_ok()
        });
        flight.complete();
        assert!(other.join().unwrap());
    });
}

#[test]
fn all_waiters_wake() {
    models::check(|| {
        let flight = Making::start();
        let others = [(), ()].map(|()| {
            let flight = Arc::clone(&flight);
            thread::spawn(move || wait(&flight).is_ok())
        });
        flight.complete();
        assert!(others.into_iter().all(|other| other.join().unwrap()));
    });
}

#[test]
fn no_thread_waits_for_itself() {
    models::check(|| {
        let flight = Making::start();
        assert!(wait(&flight).is_err());
        flight.complete();
        assert!(wait(&flight).is_ok());
    });
}

type Shown = Arc<Mutex<Option<Arc<Making>>>>;

/// Another thread, which starts a flight, shows it, waits for the first, and returns whether it
/// could.
fn another_that_waits_for(first: &Arc<Making>) -> (Shown, thread::JoinHandle<bool>) {
    let second = Arc::new(Mutex::new(None));
    let other = thread::spawn({
        let (first, second) = (Arc::clone(first), Arc::clone(&second));
        move || {
            let flight = Making::start();
            *second.lock() = Some(Arc::clone(&flight));
            let waited = wait(&first).is_ok();
            flight.complete();
            waited
        }
    });
    (second, other)
}

/// Each of two threads makes a value, and wants the other's: one of them or both get an error, and
/// neither waits for ever.
#[test]
fn a_cycle_of_two_is_seen() {
    models::check(|| {
        let mine = Making::start();
        let (theirs, other) = another_that_waits_for(&mine);
        let flight = theirs.lock().clone();
        let waited = flight.as_ref().is_some_and(|flight| wait(flight).is_ok());
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
        models::check(move || {
            let (first, second) = (Making::start(), Making::start());
            let mine = if through_first { &first } else { &second };
            let (theirs, other) = another_that_waits_for(mine);
            let flight = theirs.lock().clone();
            let waited = flight.as_ref().is_some_and(|flight| wait(flight).is_ok());
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

/// Two threads that each want something of the other, one after the other, are not in a cycle, even
/// if the first has not woken when the second begins to wait.
#[test]
fn a_complete_flight_closes_no_cycle() {
    models::check(|| {
        // By which this thread is known also when the first is complete.
        let outer = Making::start();
        let first = Making::start();
        // It waits for a flight that completes without it.
        let (second, other) = another_that_waits_for(&first);
        first.complete();
        if let Some(flight) = second.lock().clone() {
            assert!(wait(&flight).is_ok(), "no cycle");
        }
        outer.complete();
        assert!(other.join().unwrap(), "no cycle");
    });
}

/// F2: A wait whose time is up is over: it closes no cycle with a wait that begins afterwards. This
/// thread waits for another one, whose wait for a third is over when the third one waits for this
/// thread. (Shows nothing up to 4 preemptions.)
#[test]
fn a_wait_that_is_over_closes_no_cycle() {
    models::check_up_to(5, || {
        let mine = Making::start();
        let theirs: [Shown; 2] = [(), ()].map(|()| Arc::new(Mutex::new(None)));
        let over = Arc::new(Mutex::new(false));
        let other = thread::spawn({
            let (theirs, over) = (theirs.clone(), Arc::clone(&over));
            move || {
                let flight = Making::start();
                *theirs[0].lock() = Some(Arc::clone(&flight));
                if let Some(third) = theirs[1].lock().clone() {
                    _ = Making::wait(&third, Some(Instant::now()));
                    *over.lock() = true;
                }
                flight.complete();
            }
        });
        let third = thread::spawn({
            let (mine, third) = (Arc::clone(&mine), Arc::clone(&theirs[1]));
            move || {
                let flight = Making::start();
                *third.lock() = Some(Arc::clone(&flight));
                if *over.lock() {
                    assert!(wait(&mine).is_ok(), "no cycle");
                }
                flight.complete();
            }
        });
        if let Some(flight) = theirs[0].lock().clone() {
            assert!(wait(&flight).is_ok(), "no cycle");
        }
        mine.complete();
        other.join().unwrap();
        third.join().unwrap();
    });
}

/// F3: A thread with a flight on standby waits for another flight, whose leader waits for the
/// first.
#[test]
fn a_flight_on_standby_delays_no_thread() {
    models::check(|| {
        let first = Making::start();
        let standby = Making::stand_by(&first);
        let (second, other) = another_that_waits_for(&first);
        let flight = second.lock().clone();
        if let Some(flight) = &flight {
            assert!(wait(flight).is_ok(), "no cycle");
        }
        assert_eq!(standby.begin(), flight.is_none());
        first.complete();
        assert!(other.join().unwrap(), "no cycle");
    });
}

/// F3: A waker of the first flight that is called off panics, and its thread catches that, and
/// waits again: for another thread, which waits for the second.
#[test]
fn a_waker_that_panics_leaves_no_flight_on_standby() {
    models::check(|| {
        let (first, second) = (of_tasks(), of_tasks());
        // The flight that was put on standby last is called off first.
        let standby = [&second, &first].map(Making::stand_by);
        let mut seat = None;
        Seat::take(&mut seat, &first, &panics());
        let (third, other) = another_that_waits_for(&second);
        let flight = third.lock().clone();
        match &flight {
            Some(flight) => {
                assert_eq!(catch(|| wait(flight)), None, "a panic");
                assert!(wait(flight).is_ok(), "no cycle");
            }
            None => second.complete(),
        }
        drop(standby);
        assert!(other.join().unwrap(), "no cycle");
    });
}

/// F3: A waker of the first flight that is called off waits for another thread, which waits for the
/// second.
#[test]
fn a_waker_that_waits_finds_no_flight_on_standby() {
    /// Waits for a flight.
    struct Waits(Arc<Making>);
    impl Wake for Waits {
        fn wake(self: std::sync::Arc<Self>) {
            assert!(wait(&self.0).is_ok(), "no cycle");
        }
    }
    models::check(|| {
        let (first, second) = (of_tasks(), of_tasks());
        // The flight that was put on standby last is called off first.
        let standby = [&second, &first].map(Making::stand_by);
        let (third, other) = another_that_waits_for(&second);
        let flight = third.lock().clone();
        let mut seat = None;
        match &flight {
            Some(flight) => {
                let waits = std::sync::Arc::new(Waits(Arc::clone(flight)));
                Seat::take(&mut seat, &first, &waits.into());
                assert!(wait(flight).is_ok(), "no cycle");
            }
            None => second.complete(),
        }
        drop(standby);
        assert!(other.join().unwrap(), "no cycle");
    });
}

/// F3: Standbys end in any order, as those of coroutines do: a flight that has begun is not called
/// off, and the others are.
#[test]
fn standbys_end_in_any_order() {
    models::check(|| {
        for begins in 0..3 {
            let flights = [(); 3].map(|()| Making::start());
            let mut standbys = flights
                .each_ref()
                .map(|flight| Some(Making::stand_by(flight)));
            assert_eq!(standbys[begins].take().map(Standby::begin), Some(true));
            assert!(Making::call_off());
            for (at, flight) in flights.iter().enumerate() {
                assert_eq!(flight.is_complete(), at != begins);
            }
            for standby in standbys.into_iter().flatten() {
                assert!(!standby.begin());
            }
            assert!(!Making::call_off());
            flights[begins].complete();
        }
    });
}

/// F4: A thread waits within a poll for what another thread makes, which waits for what is polled.
#[test]
fn a_poll_that_waits_is_in_the_cycle() {
    models::check(|| {
        let polled = of_tasks();
        let (second, other) = another_that_waits_for(&polled);
        let flight = second.lock().clone();
        let waited = Making::poll(&polled, || {
            flight.as_ref().is_some_and(|flight| wait(flight).is_ok())
        });
        polled.complete();
        let they_waited = other.join().unwrap();
        assert!(
            flight.is_none() || !(waited && they_waited),
            "each has completed after the other"
        );
    });
}

/// F4: A waker that is called when a thread begins to wait within a poll may wait, too. After that
/// the poll is in the cycle as before.
#[test]
fn a_waker_that_waits_leaves_the_poll_in_the_cycle() {
    /// Waits for something else, and ends the flight.
    struct Waits(Arc<Making>);
    impl Wake for Waits {
        fn wake(self: std::sync::Arc<Self>) {
            let made = Making::start();
            made.complete();
            assert!(wait(&made).is_ok());
            self.0.complete();
        }
    }
    models::check(|| {
        let (polled, tasks) = (of_tasks(), of_tasks());
        let waits = std::sync::Arc::new(Waits(Arc::clone(&tasks)));
        let mut seat = None;
        Seat::take(&mut seat, &tasks, &waits.into());
        let shown = Arc::new(Mutex::new(None));
        let other = thread::spawn({
            let (shown, polled) = (Arc::clone(&shown), Arc::clone(&polled));
            move || {
                let flight = Making::start();
                *shown.lock() = Some(Arc::clone(&flight));
                // This calls the waker, unless the other thread has.
                let waited = wait(&tasks).is_ok() && wait(&polled).is_ok();
                flight.complete();
                waited
            }
        });
        let flight = shown.lock().clone();
        let waited = Making::poll(&polled, || {
            flight.as_ref().is_some_and(|flight| wait(flight).is_ok())
        });
        polled.complete();
        let they_waited = other.join().unwrap();
        assert!(
            flight.is_none() || !(waited && they_waited),
            "each has completed after the other"
        );
    });
}

/// F4, F2: A poll that has ended delays no thread.
#[test]
fn a_poll_that_has_ended_closes_no_cycle() {
    models::check(|| {
        let (outer, polled) = (Making::start(), of_tasks());
        let (first, other) = another_that_waits_for(&polled);
        let theirs = first.lock().clone();
        // It is polled while this thread waits for another flight, which completes without it.
        let third = Making::start();
        third.complete();
        Making::poll(&polled, || assert!(wait(&third).is_ok()));
        polled.complete();
        if let Some(theirs) = theirs {
            assert!(wait(&theirs).is_ok(), "no cycle");
        }
        outer.complete();
        assert!(other.join().unwrap(), "no cycle");
    });
}

/// A task waits for what a thread makes, which waits for what the task computes: the task finds it
/// at once, or is woken and finds it then. It may wait within its poll, after it has looked, for
/// something else that the thread has made by then.
fn task_in_a_cycle(waits: bool) {
    models::check(move || {
        let (tasks, woken) = (of_tasks(), Woken::new());
        let (shown, other) = {
            let (all, tasks) = (Arc::new(Mutex::new(None)), Arc::clone(&tasks));
            let shown = Arc::clone(&all);
            let other = thread::spawn(move || {
                let (made, flight) = (Making::start(), Making::start());
                *shown.lock() = Some((Arc::clone(&made), Arc::clone(&flight)));
                made.complete();
                _ = wait(&tasks);
                flight.complete();
            });
            (all, other)
        };
        let Some((made, flight)) = shown.lock().clone() else {
            tasks.complete();
            return other.join().unwrap();
        };
        let mut seat = None;
        Seat::take(&mut seat, &tasks, &woken.waker());
        let mut inner = None;
        let mut polled = Making::poll(&tasks, || {
            let polled = Seat::wait(&mut inner, &flight, Waker::noop());
            if waits && polled.is_pending() {
                _ = wait(&made);
            }
            polled
        });
        // What an executor does. loom's threads go on as long as they can.
        while polled.is_pending() && woken.count() == 0 {
            thread::yield_now();
        }
        if polled.is_pending() {
            polled = Making::poll(&tasks, || Seat::wait(&mut inner, &flight, Waker::noop()));
        }
        assert_eq!(
            polled,
            Poll::Ready(Err(WaitError::Cycle)),
            "nobody would go on"
        );
        drop((inner, seat));
        tasks.complete();
        other.join().unwrap();
    });
}

/// F5
#[test]
fn a_task_finds_the_cycle_when_it_is_woken() {
    task_in_a_cycle(false);
}

/// F5
#[test]
fn a_task_that_waits_in_its_poll_finds_the_cycle_when_it_is_woken() {
    task_in_a_cycle(true);
}

/// F5: A waker that is called when a thread begins to wait wakes its task, and waits itself. The
/// task may look meanwhile, when the thread waits for something else: then it is woken once more.
#[test]
fn a_task_that_looks_while_a_waker_waits_looks_again() {
    struct Waits(AtomicUsize, Arc<Making>);
    impl Wake for Waits {
        fn wake(self: std::sync::Arc<Self>) {
            self.0.fetch_add(1, SeqCst);
            assert!(wait(&self.1).is_ok(), "it is complete");
        }
    }
    models::check(|| {
        let (tasks, made) = (of_tasks(), Making::start());
        made.complete();
        let woken = std::sync::Arc::new(Waits(AtomicUsize::new(0), made));
        let waker = Waker::from(std::sync::Arc::clone(&woken));
        let (shown, other) = another_that_waits_for(&tasks);
        let Some(flight) = shown.lock().clone() else {
            tasks.complete();
            return assert!(other.join().unwrap());
        };
        let (mut seat, mut within) = (None, None);
        let mut poll = || {
            Seat::take(&mut seat, &tasks, &waker);
            Making::poll(&tasks, || Seat::wait(&mut within, &flight, Waker::noop()))
        };
        while poll().is_pending() {
            while woken.0.swap(0, SeqCst) == 0 {
                thread::yield_now();
            }
        }
        drop((within, seat));
        tasks.complete();
        assert!(other.join().unwrap());
    });
}

/// F5: A task that waits for what tasks make has nothing to look for. A thread waits for the same.
/// Then another task begins to wait for that thread, and makes what the first waits for: the first
/// is woken, and finds the cycle.
#[test]
fn a_task_that_begins_to_wait_has_the_others_look() {
    models::check(|| {
        let (first, second, woken) = (of_tasks(), of_tasks(), Woken::new());
        let mut seat = None;
        Seat::take(&mut seat, &first, &woken.waker());
        let (shown, other) = another_that_waits_for(&first);
        while woken.count() == 0 {
            thread::yield_now();
        }
        Seat::take(&mut seat, &first, &woken.waker());
        let flight = shown.lock().clone().unwrap();
        let mut within = None;
        let mut poll = || Making::poll(&second, || Seat::wait(&mut within, &flight, Waker::noop()));
        assert_eq!(poll(), Poll::Pending);
        assert_eq!(woken.count(), 2, "nobody would look");
        assert_eq!(
            Making::poll(&first, poll),
            Poll::Ready(Err(WaitError::Cycle))
        );
        drop((within, seat));
        first.complete();
        assert!(other.join().unwrap());
    });
}

/// F6: A task that leaves its waker, and finds the flight not complete, is woken.
#[test]
fn the_end_wakes_who_has_not_seen_it() {
    models::check(|| {
        let (flight, woken) = (Making::start(), Woken::new());
        let other = thread::spawn({
            let (flight, waker) = (Arc::clone(&flight), woken.waker());
            move || {
                let mut seat = None;
                let complete = Seat::take(&mut seat, &flight, &waker);
                (complete, seat)
            }
        });
        flight.complete();
        let (complete, seat) = other.join().unwrap();
        assert_eq!(woken.count(), usize::from(!complete));
        drop(seat);
    });
}

/// A2 of `work`: The computation wakes one of two tasks, one of which goes: the other one is woken,
/// or who goes was not.
#[test]
fn a_wake_is_not_lost_with_who_goes() {
    models::check(|| {
        let (flight, first, second) = (of_tasks(), Woken::new(), Woken::new());
        let (mut stays, mut goes) = (None, None);
        Seat::take(&mut stays, &flight, &first.waker());
        Seat::take(&mut goes, &flight, &second.waker());
        let other = thread::spawn({
            let flight = Arc::clone(&flight);
            move || flight.wake_next()
        });
        drop(goes);
        other.join().unwrap();
        assert_eq!(first.count(), 1);
        drop(stays);
    });
}

/// O1 of `held`: A task that was woken, found the computation taken, and goes, has another one
/// woken: the one that had taken it, or it has polled after the wake.
#[test]
fn a_wake_is_not_lost_with_who_was_refused() {
    models::check(|| {
        let (tasks, first) = (of_tasks(), Woken::new());
        let held = Arc::new(Held::<_, ()>::new());
        let mut seat = None;
        Seat::take(&mut seat, &tasks, &first.waker());
        let other = thread::spawn({
            let (tasks, held) = (Arc::clone(&tasks), Arc::clone(&held));
            move || {
                let (second, mut seat) = (Woken::new(), None);
                let mut polls = || {
                    Seat::take(&mut seat, &tasks, &second.waker());
                    loop {
                        match (held.take(), &seat) {
                            (Found::Taken(what), _) => {
                                Making::wake(&tasks, held.give_back(what));
                                return true;
                            }
                            (Found::Refused, Some(seat)) if held.wait(seat.at()) => {
                                seat.owe();
                                return false;
                            }
                            _ => {}
                        }
                    }
                };
                polls() || polls()
            }
        });
        // What is polled wakes itself.
        tasks.wake_next();
        Making::wake(&tasks, held.give_back(()));
        let polled = other.join().unwrap();
        assert!(polled || first.count() > 0, "nobody polls it");
        drop(seat);
        tasks.complete();
    });
}

/// A2 of `work`, O1 of `held`: A task whose waker panics was perhaps not woken, and is not polled
/// again. It was the one to wake, or had found the computation taken. The other task is woken.
#[test]
fn a_wake_is_not_lost_with_a_waker_that_panics() {
    models::check(|| {
        let (tasks, first) = (of_tasks(), Woken::new());
        let held = Arc::new(Held::<_, ()>::new());
        let mut seat = None;
        Seat::take(&mut seat, &tasks, &first.waker());
        let other = thread::spawn({
            let (tasks, held) = (Arc::clone(&tasks), Arc::clone(&held));
            move || {
                let mut seat = None;
                Seat::take(&mut seat, &tasks, &panics());
                let polled = loop {
                    match (held.take(), &seat) {
                        (Found::Taken(what), _) => {
                            catch(|| Making::wake(&tasks, held.give_back(what)));
                            break true;
                        }
                        (Found::Refused, Some(seat)) if held.wait(seat.at()) => {
                            seat.owe();
                            break false;
                        }
                        _ => {}
                    }
                };
                (polled, seat)
            }
        });
        // What is polled wakes itself, and then it is given back.
        catch(|| tasks.wake_next());
        catch(|| Making::wake(&tasks, held.give_back(())));
        let (polled, panicking) = other.join().unwrap();
        assert!(polled || first.count() > 0, "nobody polls it");
        catch(|| tasks.complete());
        drop((seat, panicking));
    });
}
