//! loom models of reservations, without a table. A leader is a frame and a thread that completes
//! the reservation.

use core::future::Future;
use core::pin::pin;
use core::task::{Context, Poll};
use std::sync::Arc;

use loom::thread;

use super::*;
use crate::ptr::models::Woken;
use crate::sync::models;

fn wait(reservation: &Arc<Reservation>) -> Result<(), WaitError> {
    Reservation::wait(reservation, None).map(drop)
}

/// Polls once, by a waker that notes its calls.
fn poll(wait: &mut Wait<'_>, woken: &Arc<Woken>) -> Poll<Result<(), WaitError>> {
    let waker = woken.waker().expect("a model has its waker");
    pin!(wait).poll(&mut Context::from_waker(&waker))
}

/// F4: A thread and two tasks wait; one of the tasks goes meanwhile, woken or not. The end wakes
/// the others.
#[test]
fn the_end_wakes_all() {
    models::check_up_to(2, || {
        let reservation = Reservation::new();
        let sleeps = thread::spawn({
            let reservation = Arc::clone(&reservation);
            move || assert!(wait(&reservation).is_ok())
        });
        let (gone, woken) = (Woken::new(), Woken::new());
        let mut goes = Wait::new(&reservation);
        assert!(poll(&mut goes, &gone).is_pending());
        let ends = thread::spawn({
            let reservation = Arc::clone(&reservation);
            move || reservation.complete()
        });
        drop(goes);
        let mut stays = Wait::new(&reservation);
        let polled = poll(&mut stays, &woken);
        ends.join().unwrap();
        sleeps.join().unwrap();
        assert!(polled.is_ready() || woken.take(), "it sleeps on");
        assert!(poll(&mut stays, &woken).is_ready());
    });
}

/// F1: A thread leads one reservation, and a task another one, perhaps of a second memo. Each needs
/// the other's: one of them or both get an error, and neither waits for ever. The task waits in a
/// computation inside its own.
#[test]
fn a_cycle_of_a_thread_and_a_task_is_seen() {
    models::check(|| {
        let [of_thread, of_task, inside] = [(); 3].map(|()| Reservation::new());
        let leads = thread::spawn({
            let (of_thread, of_task) = (Arc::clone(&of_thread), Arc::clone(&of_task));
            move || {
                let _frame = Reservation::frame(&of_thread);
                let waited = wait(&of_task).is_ok();
                of_thread.complete();
                waited
            }
        });
        let woken = Woken::new();
        let frame = Reservation::frame(&of_task);
        let edge = Edge::of_leader(&inside);
        let inner = Reservation::frame(&inside);
        let mut waits = Wait::new(&of_thread);
        let mut polled = poll(&mut waits, &woken);
        drop((inner, frame));
        let pends = polled.is_pending();
        if pends {
            // The other thread ends with its error.
            assert!(!leads.join().unwrap(), "each has waited for the other");
            assert!(woken.take(), "it sleeps on");
            polled = poll(&mut waits, &woken);
            assert_eq!(polled, Poll::Ready(Ok(())));
            drop((waits, edge));
            of_task.complete();
            return;
        }
        let waited = polled == Poll::Ready(Ok(()));
        drop((waits, edge));
        of_task.complete();
        let they_waited = leads.join().unwrap();
        assert!(
            !(waited && they_waited),
            "each has completed after the other"
        );
    });
}

/// F1: A task that joins waits for two threads, of which either may need the task's.
#[test]
fn a_cycle_through_each_edge_is_seen() {
    for of in [0, 1] {
        models::check(move || {
            let joins = Reservation::new();
            let theirs = [(); 2].map(|()| Reservation::new());
            let other = thread::spawn({
                let (joins, theirs) = (Arc::clone(&joins), Arc::clone(&theirs[of]));
                move || {
                    let _frame = Reservation::frame(&theirs);
                    let waited = wait(&joins).is_ok();
                    theirs.complete();
                    waited
                }
            });
            let woken = Woken::new();
            let frame = Reservation::frame(&joins);
            let mut waits = theirs.each_ref().map(Wait::new);
            let errs = (waits.iter_mut())
                .any(|wait| poll(wait, &woken) == Poll::Ready(Err(WaitError::Cycle)));
            drop(frame);
            if errs {
                joins.complete();
                other.join().unwrap();
            } else {
                assert!(!other.join().unwrap(), "it has waited for this one");
                assert!(poll(&mut waits[of], &woken).is_ready());
                joins.complete();
            }
        });
    }
}

/// F2, F5: The leader of a reservation that is overtaken goes on, and waits for a caller that has
/// waited for the reservation, and may not have woken yet.
#[test]
fn a_wait_that_is_over_closes_no_cycle() {
    models::check(|| {
        let (mine, overtaken) = (Reservation::new(), Reservation::new());
        let other = thread::spawn({
            let (mine, overtaken) = (Arc::clone(&mine), Arc::clone(&overtaken));
            move || {
                let _frame = Reservation::frame(&overtaken);
                overtaken.complete();
                assert_eq!(wait(&mine), Ok(()), "no cycle");
            }
        });
        let frame = Reservation::frame(&mine);
        assert_eq!(wait(&overtaken), Ok(()), "no cycle");
        mine.complete();
        drop(frame);
        other.join().unwrap();
    });
}

/// F2: Two edges of which one ends before the other begins are in no cycle with a third.
#[test]
fn edges_that_were_not_there_at_once_close_no_cycle() {
    models::check(|| {
        let [one, two, three] = [(); 3].map(|()| Reservation::new());
        let waits = |of: &Arc<Reservation>, to| {
            let _frame = Reservation::frame(of);
            let mut wait = Wait::new(to);
            assert!(poll(&mut wait, &Woken::new()).is_pending(), "no cycle");
            wait
        };
        let first = waits(&one, &two);
        let looks = thread::spawn({
            let (one, three) = (Arc::clone(&one), Arc::clone(&three));
            move || {
                let _frame = Reservation::frame(&three);
                let polled = poll(&mut Wait::new(&one), &Woken::new());
                assert!(polled.is_pending(), "no cycle");
            }
        });
        drop(first);
        let frame = Reservation::frame(&two);
        // No wait, which would look itself.
        let second = Edge::of_leader(&three);
        drop(frame);
        looks.join().unwrap();
        drop(second);
    });
}

/// F2: A way that is over while a caller looks hides no other way: the caller looks again.
#[test]
fn a_way_that_is_over_hides_no_cycle() {
    models::check(|| {
        // `mine` waits for `one`, which waits for `two` and for `three`; both wait for `mine`.
        let [mine, one, two, three] = [(); 4].map(|()| Reservation::new());
        let woken = Woken::new();
        let pends = |of: &Arc<Reservation>, to| {
            let _frame = Reservation::frame(of);
            let mut wait = Wait::new(to);
            assert!(poll(&mut wait, &woken).is_pending());
            wait
        };
        let waits = [
            pends(&one, &two),
            pends(&one, &three),
            pends(&two, &mine),
            pends(&three, &mine),
        ];
        let ends = thread::spawn({
            let two = Arc::clone(&two);
            move || two.complete()
        });
        let frame = Reservation::frame(&mine);
        let mut last = Wait::new(&one);
        assert_eq!(poll(&mut last, &woken), Poll::Ready(Err(WaitError::Cycle)));
        drop((frame, waits));
        ends.join().unwrap();
    });
}
