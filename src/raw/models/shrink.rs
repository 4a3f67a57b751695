//! Models of shrinking: two buckets move into one.

use super::table::{Table, with};
use super::*;
use crate::sync::models::{self, check, check_up_to};
use loom::sync::Arc;

/// Makes a table of two buckets whose entries fit into one bucket.
fn long(keys: &[u64]) -> Arc<Table> {
    let table = Table::with_capacity(2, keys);
    assert_eq!(table.buckets(), 2);
    table
}

/// A reader finds the entries of either bucket.
#[test]
fn and_a_reader() {
    for key in [0, 1] {
        check(move || {
            let table = long(&[key]);
            let other = with(&table, 1, Table::shrink);
            assert_eq!(table.get(key), Some(0));
            assert_eq!(table.get(1 - key), None);
            other.join().unwrap();
            assert_eq!((table.get(key), table.buckets()), (Some(0), 1));
            assert_eq!((table.raw.len(), table.ends()), (1, 0));
        });
    }
}

/// An entry removed meanwhile does not come back, and a later lookup does not find it.
#[test]
fn and_unlink() {
    let _long = models::long();
    for key in [0, 1] {
        check(move || {
            let table = long(&[key]);
            let other = with(&table, 1, Table::shrink);
            assert_eq!(table.remove(key), Some(0));
            assert_eq!(table.get(key), None);
            other.join().unwrap();
            assert_eq!(
                (table.get(key), table.raw.len(), table.ends()),
                (None, 0, 1)
            );
        });
    }
}

/// An entry inserted meanwhile is found at once, and not lost.
#[test]
fn and_an_insert() {
    let _long = models::long();
    for key in [0, 1] {
        check(move || {
            let table = long(&[]);
            let other = with(&table, 1, Table::shrink);
            assert_eq!(table.insert(key, 5), None);
            assert_eq!(table.get(key), Some(5));
            other.join().unwrap();
            assert_eq!((table.get(key), table.raw.len()), (Some(5), 1));
        });
    }
}

/// A key replaced meanwhile has one entry, and the new entry is found at once.
#[test]
fn and_replace() {
    let _long = models::long();
    for key in [0, 1] {
        check(move || {
            let table = long(&[key]);
            let other = with(&table, 1, Table::shrink);
            assert_eq!(table.insert(key, 7), Some(0));
            assert_eq!(table.get(key), Some(7));
            other.join().unwrap();
            assert_eq!(table.remove(key), Some(7));
            assert_eq!(
                (table.get(key), table.raw.len(), table.ends()),
                (None, 0, 2)
            );
        });
    }
}

/// An iteration visits each entry once, whichever of the two buckets has moved.
#[test]
fn and_an_iteration() {
    check(|| {
        let table = long(&[0, 1]);
        // One bucket has no room for both entries, so the shrinking is forced.
        let other = with(&table, 1, Table::shrink_by_force);
        let reader = table.raw.read();
        let mut found: Vec<_> = reader.entries().iter().map(|node| node.hash()).collect();
        found.sort();
        assert_eq!(found, [0, 1]);
        drop(reader);
        other.join().unwrap();
    });
}

/// The entries do not fit into one bucket: the moving thread unlocks both buckets, and allocates
/// another. An entry inserted meanwhile needs one bucket more.
#[test]
fn of_long_chains_and_an_insert() {
    let _long = models::long();
    check(|| {
        let table = Table::with_capacity(4, &[0, 4, 8, 12]);
        assert_eq!(table.buckets(), 4);
        let other = with(&table, 1, Table::shrink_by_force);
        assert_eq!(table.insert(2, 1), None);
        assert_eq!(table.get(2), Some(1));
        other.join().unwrap();
        let found = [0, 4, 8, 12, 2].map(|key| table.get(key));
        assert_eq!(found, [Some(0), Some(0), Some(0), Some(0), Some(1)]);
        assert_eq!((table.raw.len(), table.ends()), (5, 0));
    });
}

/// An entry removed meanwhile does not come back, and a spare bucket is left over.
#[test]
fn of_long_chains_and_unlink() {
    let _long = models::long();
    check(|| {
        let table = Table::with_capacity(4, &[0, 4, 2]);
        let other = with(&table, 1, Table::shrink_by_force);
        assert_eq!(table.remove(4), Some(0));
        assert_eq!(table.get(4), None);
        other.join().unwrap();
        let found = [0, 4, 2].map(|key| table.get(key));
        assert_eq!(found, [Some(0), None, Some(0)]);
        assert_eq!((table.raw.len(), table.ends()), (2, 1));
    });
}

/// Two threads shrink at once, and one of them inserts more entries, for which the table has to
/// grow again.
#[test]
fn by_two_and_growth() {
    // With three preemptions the model took minutes.
    check_up_to(2, || {
        let table = long(&[1]);
        let other = with(&table, 1, Table::shrink);
        table.shrink();
        assert_eq!(table.insert(0, 1), None);
        assert_eq!(table.insert(2, 1), None);
        other.join().unwrap();
        let found = [0, 1, 2].map(|key| table.get(key));
        assert_eq!(found, [Some(1), Some(0), Some(1)]);
        assert_eq!((table.raw.len(), table.ends()), (3, 0));
    });
}

/// Two threads move one group each. The thread that moves the last group finds the entries moved by
/// the other thread in the next array, even before leaving. After that no thread moves buckets.
#[test]
fn by_two_that_share_the_work() {
    check(|| {
        let table = Table::with_capacity(4, &[0]);
        table.begin_to_shrink();
        let other = with(&table, 1, |table| table.remove(2));
        let writer = table.raw.write();
        assert!(writer.remove_if(3, |_| true, |_| true).is_none());
        assert!(writer.get(0, |_| true).is_some());
        drop(writer);
        assert_eq!(table.get(0), Some(0));
        assert_eq!(other.join().unwrap(), None);
        assert_eq!((table.get(0), table.buckets()), (Some(0), 2));
    });
}

/// A table is dropped before it has finished shrinking.
#[test]
fn and_drop() {
    check(|| {
        let table = long(&[0, 1]);
        table.begin_to_shrink();
        let other = with(&table, 1, |table| table.get(1));
        assert_eq!(table.insert(2, 0), None);
        assert_eq!(other.join().unwrap(), Some(0));
        let ends = std::sync::Arc::clone(&table.ends);
        drop(table);
        assert_eq!(ends.load(core::sync::atomic::Ordering::Relaxed), 3);
    });
}
