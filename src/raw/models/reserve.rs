//! Models of the two visits of a thread that makes a value. A reservation is a reservation.

use core::ptr;

use super::super::Entry;
use super::dead::{Node, Table, Vtable, assert_end, by_hash, death, model, object, with};
use crate::ptr::{SharedWatch, SharedWatchOf};

impl Table {
    /// Links a reservation, after a lookup that has found nothing.
    fn reserve(&self, key: u64) -> bool {
        let reader = self.raw.read();
        let make = || Node::new(key, Vtable::Reservation);
        reader.get(key, |_| true).is_none() && self.raw.reserve(reader, make).is_ok()
    }

    /// Returns the place of the entry of a key.
    fn place(&self, key: u64) -> *const Node {
        self.raw.read().get(key, |_| true).unwrap()
    }

    /// Replaces a reservation by an object. Returns whether the object is there.
    fn publish(&self, reservation: *const Node, key: u64, kind: Vtable) -> bool {
        let make = || Node::new(key, kind);
        let is_own = |node: &Node| ptr::eq(node, reservation);
        let end = |old: Option<Node>| old.into_iter().for_each(|old| old.end(reservation, &()));
        self.raw.publish(make, is_own, |_| (), end).is_ok()
    }
}

/// V1: Of two threads that reserve a value, one does.
#[test]
fn a_reservation_by_two() {
    model(1, [], |table, []| {
        let other = with(&table, |table| table.reserve(1));
        let here = table.reserve(1);
        assert!(here != other.join().unwrap());
        assert_eq!(table.raw.linked(), 1);
    });
}

/// V2: A thread that looks at a reservation, while a value takes its place, looks at no destroyed
/// entry.
#[test]
fn a_publication_beside_a_reader() {
    for gathers in [false, true] {
        model(1, [], move |table, []| {
            if gathers {
                table.gather();
            }
            assert!(table.reserve(1));
            let reader = with(&table, |table| assert!(table.look(1)));
            let a = object();
            assert!(table.publish(table.place(1), 1, by_hash(&a)));
            reader.join().unwrap();
            drop(a);
            assert_end(&table, &[], 1);
        });
    }
}

/// The reservation is removed meanwhile: then no value takes its place.
#[test]
fn a_publication_beside_a_removal() {
    model(1, [], |table, []| {
        assert!(table.reserve(1));
        let (reservation, a) = (table.place(1), object());
        let other = with(&table, |table| assert!(table.remove(1)));
        let there = table.publish(reservation, 1, by_hash(&a));
        other.join().unwrap();
        assert!(!table.look(1), "{there}");
        drop(a);
        assert_eq!((table.raw.linked(), table.drain()), (0, 0));
    });
}

/// The object dies before the value takes the place, or afterwards.
#[test]
fn a_publication_beside_a_death() {
    model(1, [], |table, []| {
        assert!(table.reserve(1));
        let (reservation, a) = (table.place(1), object());
        let (core, hash) = (table.raw.core_or_new(), super::dead::short(1));
        let watch = SharedWatch::registered(&a, core.count(), hash);
        let death = death(a);
        let there = table.publish(reservation, 1, Vtable::Early(SharedWatchOf::of(watch)));
        death.join().unwrap();
        // Otherwise the reservation stays.
        assert_eq!(table.look(1), !there);
        assert_eq!(table.drain(), usize::from(there));
    });
}

/// E1 of `plain`: A concern that comes meanwhile sees the value, or a writer links the value.
#[test]
fn a_concern() {
    model(1, [], |table, []| {
        assert!(table.reserve(1));
        let other = with(&table, |table| {
            table.raw.begin_concern();
            let writer = table.raw.write();
            writer.pass_all();
            writer.entries().iter().any(|node| node.is_an_object())
        });
        let a = object();
        let there = table.publish(table.place(1), 1, by_hash(&a));
        let seen = other.join().unwrap();
        assert!(!there || seen, "the bound does not know of the value");
        drop(a);
        assert_eq!(table.drain(), usize::from(there));
    });
}
