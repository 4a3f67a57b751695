//! Models of an operation that reaps dead entries first, while other threads may look at the
//! entries.

use super::super::DeadList;
use super::dead::{Table, model, with};
use crate::sync::models;

/// Looks in two steps: the found entry is read again.
pub(super) fn look_twice(table: &Table, key: u64) {
    let reader = table.raw.read();
    if let Some(node) = reader.get(key, |_| true) {
        node.check();
        node.check();
    }
}

/// Takes one dead entry, and reaps it, as a change does first; then removes a key.
pub(super) fn reap_and_remove(table: &Table, key: u64) {
    let taken = (0..2).find_map(|stripe| table.raw.take_dead(DeadList::Stripe(stripe), 1));
    if let Some(taken) = taken {
        table.raw.gather_or_reap(taken);
    }
    table.raw.write().remove_if(key, |_| true, |_| true);
}

/// The reader came before the death, or between the death and the reaping.
#[test]
fn beside_a_reader() {
    model(0, [0], |table, [a]| {
        let reader = with(&table, |table| look_twice(table, 0));
        drop(a);
        reap_and_remove(&table, 7);
        reader.join().unwrap();
        assert_eq!((table.raw.len(), table.raw.dead()), (0, 0));
    });
}

/// The reaping thread is inside already: it has made no barrier since the death.
#[test]
fn beside_a_reader_and_inside() {
    model(0, [0], |table, [a]| {
        let reader = with(&table, |table| look_twice(table, 0));
        {
            let _outer = table.raw.read();
            drop(a);
            reap_and_remove(&table, 7);
        }
        reader.join().unwrap();
        drop(table.raw.write());
        assert_eq!(table.raw.waiting(), 0, "left behind");
    });
}

/// Two threads reap at once: each is inside when the other reads the participants.
#[test]
fn two_at_once() {
    model(0, [0, 1], |table, [a, b]| {
        drop((a, b));
        let other = with(&table, |table| {
            look_twice(table, 0);
            reap_and_remove(table, 7);
        });
        reap_and_remove(&table, 7);
        other.join().unwrap();
        table.drain();
        drop(table.raw.write());
        assert_eq!(table.raw.waiting(), 0, "left behind");
    });
}

/// D7: an entry unlinked by a death and an entry removed by the thread go into one bag, and another
/// thread takes both.
#[test]
fn in_one_bag_with_a_removal() {
    let _long = models::long();
    model(0, [0, 1], |table, [a, _b]| {
        table.gather();
        let other = with(&table, |table| {
            look_twice(table, 0);
            table.empty_bags();
            look_twice(table, 1);
        });
        drop(a);
        reap_and_remove(&table, 1);
        other.join().unwrap();
        table.empty_bags();
        drop(table.raw.write());
        assert_eq!(table.raw.waiting(), 0, "left behind");
    });
}

/// A thread that was never inside takes a dead entry, beside the only thread that was inside. A
/// thread has to read the participants even if the table has only one.
#[test]
fn by_a_thread_that_was_never_inside() {
    model(0, [0], |table, [a]| {
        table.raw.domain.participants.pretend(1);
        let other = with(&table, move |table| {
            drop(a);
            table.drain();
        });
        look_twice(&table, 0);
        look_twice(&table, 0);
        other.join().unwrap();
        drop(table.raw.write());
        assert_eq!((table.raw.len(), table.raw.waiting()), (0, 0));
    });
}

/// D7: the table ends while the bag of another thread has an entry.
#[test]
fn at_the_end_of_the_table() {
    model(0, [0, 1], |table, [_a, b]| {
        table.gather();
        let other = with(&table, |table| {
            look_twice(table, 0);
            reap_and_remove(table, 1);
        });
        drop(b);
        other.join().unwrap();
    });
}

/// The reaping thread has also removed an entry.
#[test]
fn with_a_removal() {
    let _long = models::long();
    model(0, [0, 1], |table, [a, _b]| {
        let reader = with(&table, |table| {
            look_twice(table, 0);
            look_twice(table, 1);
        });
        drop(a);
        reap_and_remove(&table, 1);
        reader.join().unwrap();
        drop(table.raw.write());
        assert_eq!(table.raw.waiting(), 0, "left behind");
    });
}
