//! Models of the waker of a table: no wake-up is lost.

use loom::sync::Arc;

use super::dead::{Table, death, model, some, with};
use super::reap::reap_and_remove;
use super::spawn;
use crate::Strong;
use crate::ptr::models::{Payload, Woken};
use crate::sync::models;

/// The code of a table's users, in short.
impl Table {
    fn wake(&self, woken: &std::sync::Arc<Woken>) {
        self.raw.set_waker(woken.waker());
    }

    /// Drains the dead as an operation does.
    fn tidy(&self) {
        if self.raw.any_due().is_some() {
            self.drain();
            self.raw.arm_if_idle();
        }
    }

    fn purge(&self) {
        loop {
            if self.raw.any_due().is_some() {
                self.drain();
                self.raw.arm_if_idle();
            } else if self.raw.arm() && self.empty_bags() == 0 {
                return;
            }
        }
    }

    /// Polls as a task does. Returns whether the task sleeps until it is woken.
    fn poll(&self, woken: &std::sync::Arc<Woken>) -> bool {
        self.raw.renew_waker(&woken.waker().unwrap());
        self.raw.dead() == 0 && self.raw.bagged() == 0 && self.raw.arm()
    }
}

/// Asserts, at the end, that entries not destroyed yet were announced. A purge then finds the
/// entries, and the waker is removed before the table ends.
fn assert_announced(table: &Table, woken: &Woken) {
    assert!(table.raw.dead() == 0 || woken.take(), "it sleeps on");
    table.purge();
    assert_eq!((table.raw.dead(), table.raw.len()), (0, 0));
    table.raw.set_waker(None);
}

/// Sets a waker, which a first death calls.
fn called(table: &Table, first: Strong<Payload>) -> std::sync::Arc<Woken> {
    let woken = Woken::new();
    table.wake(&woken);
    drop(first);
    assert!(woken.take());
    woken
}

#[test]
fn a_purge_against_a_death() {
    model(0, [0, 1], |table: Arc<Table>, [a, b]| {
        let woken = called(&table, a);
        let death = death(b);
        table.purge();
        death.join().unwrap();
        assert_announced(&table, &woken);
    });
}

/// An operation on another thread has taken the first entry, and not armed the waker yet.
#[test]
fn a_purge_that_finds_nothing_against_a_death() {
    model(0, [0, 1], |table: Arc<Table>, [a, b]| {
        let woken = called(&table, a);
        assert_eq!(table.drain(), 1);
        let death = death(b);
        table.purge();
        death.join().unwrap();
        assert_announced(&table, &woken);
    });
}

/// An operation drains the dead, too, and arms the waker without passing the stripes.
#[test]
fn a_purge_and_an_operation_against_a_death() {
    let _long = models::long();
    some(0, [0, 1], |table: Arc<Table>, [a, b]| {
        let woken = called(&table, a);
        let other = with(&table, Table::tidy);
        let death = death(b);
        table.purge();
        other.join().unwrap();
        death.join().unwrap();
        assert_announced(&table, &woken);
    });
}

/// The thread that sets the waker purges once afterwards.
#[test]
fn a_waker_that_is_set_at_a_death() {
    model(0, [0], |table: Arc<Table>, [a]| {
        let woken = Woken::new();
        let death = death(a);
        table.wake(&woken);
        table.purge();
        death.join().unwrap();
        assert_announced(&table, &woken);
    });
}

#[test]
fn two_threads_set_a_waker() {
    model(0, [0], |table: Arc<Table>, [a]| {
        let woken = Woken::new();
        let its = std::sync::Arc::clone(&woken);
        let other = with(&table, move |table| table.wake(&its));
        table.wake(&woken);
        drop(a);
        other.join().unwrap();
        assert_announced(&table, &woken);
    });
}

/// Asserts that a task sleeps only if it is woken for a later death, or no death comes.
fn assert_sleep(table: &Table, sleeps: bool, woken: &Woken) {
    assert!(
        table.raw.dead() == 0 || !sleeps || woken.take(),
        "it sleeps on"
    );
    table.purge();
    assert_eq!(table.raw.bagged(), 0);
    table.raw.set_waker(None);
}

#[test]
fn a_task_polls_at_a_death() {
    model(0, [0], |table: Arc<Table>, [a]| {
        let woken = Woken::new();
        let death = death(a);
        let sleeps = table.poll(&woken);
        death.join().unwrap();
        assert_sleep(&table, sleeps, &woken);
    });
}

/// D8 of `batch`: the task sleeps only if no entry is in a bag, or gets there. The bag may be the
/// first bag of its thread.
#[test]
fn a_task_polls_while_a_thread_gathers() {
    model(0, [0, 1], |table: Arc<Table>, [_a, _b]| {
        table.gather();
        let woken = Woken::new();
        let other = with(&table, |table| {
            // The thread is already inside, so it makes its bag without the barrier of entering.
            let _outer = table.raw.read();
            table.remove(0);
        });
        let sleeps = table.poll(&woken);
        other.join().unwrap();
        assert!(!sleeps || table.raw.bagged() == 0, "it sleeps on");
        assert_sleep(&table, sleeps, &woken);
    });
}

/// The same with a dead entry.
#[test]
fn a_task_polls_while_a_thread_gathers_the_dead() {
    model(0, [0, 1], |table: Arc<Table>, [a, _b]| {
        table.gather();
        drop(a);
        let woken = Woken::new();
        let other = with(&table, |table| {
            table.look(1);
            reap_and_remove(table, 7);
        });
        let sleeps = table.poll(&woken);
        other.join().unwrap();
        assert!(!sleeps || table.raw.bagged() == 0, "it sleeps on");
        assert_sleep(&table, sleeps, &woken);
    });
}

/// D7: a third thread has emptied the bag, and holds the batch. The task may sleep, because the
/// third thread destroys the batch.
#[test]
fn a_task_polls_and_purges_while_a_thread_takes_a_bag() {
    some(0, [0, 1], |table: Arc<Table>, [_a, _b]| {
        table.gather();
        with(&table, |table| table.remove(0)).join().unwrap();
        assert_eq!(table.raw.bagged(), 1);
        let woken = Woken::new();
        let taker = spawn_taker(&table);
        let reader = with(&table, |table| table.look(1));
        if !table.poll(&woken) {
            table.purge();
            assert!(table.poll(&woken), "nothing is left to be purged");
        }
        taker.join().unwrap();
        reader.join().unwrap();
        drop(table.raw.write());
        assert_eq!(table.raw.waiting(), 0, "left behind");
        table.raw.set_waker(None);
    });
}

/// Runs a thread that empties the bags.
fn spawn_taker(table: &Arc<Table>) -> loom::thread::JoinHandle<()> {
    let table = Arc::clone(table);
    spawn(2, move || _ = table.empty_bags())
}

/// The task was woken before. An operation destroys the announced entry, and arms the waker without
/// passing the stripes.
#[test]
fn a_task_and_an_operation_against_a_death() {
    some(0, [0, 1], |table: Arc<Table>, [a, b]| {
        let woken = Woken::new();
        assert!(table.poll(&woken));
        drop(a);
        assert!(woken.take());
        let other = with(&table, Table::tidy);
        let death = death(b);
        let sleeps = table.poll(&woken);
        other.join().unwrap();
        death.join().unwrap();
        assert_sleep(&table, sleeps, &woken);
    });
}

/// The task that polled last is woken.
#[test]
fn two_tasks_poll_one_after_the_other_at_a_death() {
    model(0, [0], |table: Arc<Table>, [a]| {
        let (first, last) = (Woken::new(), Woken::new());
        assert!(table.poll(&first));
        let death = death(a);
        let sleeps = table.poll(&last);
        death.join().unwrap();
        assert_sleep(&table, sleeps, &last);
    });
}

/// The first array comes after the waker.
#[test]
fn two_threads_make_the_core() {
    model(0, [], |table: Arc<Table>, []| {
        let woken = Woken::new();
        let other = with(&table, |table| {
            let a = super::dead::object();
            table.insert(0, &a);
        });
        table.wake(&woken);
        table.purge();
        other.join().unwrap();
        assert_announced(&table, &woken);
    });
}

#[test]
fn the_end_of_the_table() {
    model(0, [0], |table: Arc<Table>, [a]| {
        let woken = Woken::new();
        table.wake(&woken);
        let death = death(a);
        table.raw.set_waker(None);
        drop(table);
        death.join().unwrap();
        assert_eq!(std::sync::Arc::strong_count(&woken), 1);
    });
}
