//! Models of plain changes.

use core::sync::atomic::Ordering::*;

use loom::sync::Arc;
use loom::sync::atomic::AtomicBool;
use loom::thread::JoinHandle;

use super::super::{Due, NotPlain, Plain};
use super::dead::{Node, Table, Vtable, assert_end, by_hash, death, model, some, with};
use super::reap::look_twice;
use super::spawn;
use crate::Strong;
use crate::ptr::models::{Payload, peek};
use crate::ptr::{SharedWatch, SharedWatchOf};
use crate::sync::models;

/// An identity map: the key is the hash of the object's address.
impl Table {
    fn plain(&self) -> Option<Plain<'_, Node>> {
        let take = |due: Due| self.raw.take_dead(due.list?, usize::MAX);
        self.raw.plain(take, |taken| self.raw.gather_or_reap(taken))
    }

    /// Inserts an object by a plain change, or replaces the present entry, if `expected` accepts
    /// it. `None` if the change is not plain.
    fn put_plain(&self, object: &Strong<Payload>, expected: impl Fn(bool) -> bool) -> Option<bool> {
        let plain = self.plain()?;
        let kind = Vtable::ByAddress(SharedWatchOf::of(SharedWatch::new(object)));
        let mut node = plain.entry(|| Node::new(object.key, kind));
        let same = |_: &Node, there: &Node| {
            there.check();
            true
        };
        let put = plain.put(&mut node, same, |old| expected(old.is_some()));
        match put {
            Ok(_) => Some(true),
            Err(NotPlain::Changed) => Some(false),
            Err(NotPlain::Unusual) => None,
        }
    }

    /// Sets the object of key 1 by a plain change, which searches outside of the lock. `None` if
    /// the change is not plain.
    fn set_plain<const GUESSES: bool>(&self, object: &Strong<Payload>) -> Option<()> {
        let plain = self.plain()?;
        let mut node = plain.entry(|| Node::new(1, by_hash(object)));
        let same = |_: &Node, there: &Node| {
            there.check();
            true
        };
        let put = plain.put_found::<GUESSES>(&mut node, same, |_| true);
        put.ok().map(drop)
    }

    /// Sets the object of key 1.
    fn set<const GUESSES: bool>(&self, object: &Strong<Payload>) {
        if self.set_plain::<GUESSES>(object).is_none() {
            self.insert(1, object);
        }
    }

    /// Inserts an object, or replaces the present entry, if `expected` accepts it.
    fn put_first(&self, object: &Strong<Payload>, expected: impl Fn(bool) -> bool) -> bool {
        let plain = self.put_plain(object, &expected);
        plain.unwrap_or_else(|| {
            let watch = SharedWatchOf::of(SharedWatch::new(object));
            self.put(object.key, Vtable::ByAddress(watch), expected)
        })
    }

    /// Removes an entry by a plain change, if the change is plain.
    fn remove_first(&self, key: u64) -> bool {
        let Some(plain) = self.plain() else {
            return self.remove(key);
        };
        let Some(place) = plain.find(key, |_| true) else {
            return false;
        };
        match plain.remove(&place) {
            Ok(()) => true,
            Err(NotPlain::Changed) => false,
            Err(NotPlain::Unusual) => {
                drop(plain);
                self.remove(key)
            }
        }
    }

    fn first(&self, object: &Strong<Payload>) {
        assert!(self.put_first(object, |_| true));
    }

    fn mark(&self, key: u64) {
        assert!(self.put(key, Vtable::Reservation, |_| true));
    }
}

/// Makes an object whose address has this hash.
fn object(key: u64) -> Strong<Payload> {
    let mut payload = Payload::new(&std::sync::Arc::default());
    payload.key = key;
    Strong::new(payload)
}

/// Runs a thread that uses the table, and drops the object. Either of the two threads may drop the
/// object last.
fn with_object(
    table: &Arc<Table>,
    object: &Strong<Payload>,
    run: impl FnOnce(&Table, &Strong<Payload>) + 'static,
) -> JoinHandle<()> {
    let (table, object) = (Arc::clone(table), object.clone());
    spawn(2, move || {
        run(&table, &object);
        drop(object);
    })
}

/// Either thread may register first, and either thread may insert first.
#[test]
fn by_two() {
    let _long = models::long();
    for capacity in [0, 1] {
        model(capacity, [], |table, []| {
            let a = object(1);
            let other = with_object(&table, &a, Table::first);
            table.first(&a);
            assert!(table.look(1));
            other.join().unwrap();
            assert_eq!(table.raw.len(), 1);
            drop(a);
            assert_end(&table, &[], 1);
        });
    }
}

/// The last of two threads ends the object, or the table ends first.
#[test]
fn by_two_and_the_end() {
    model(1, [], |table, []| {
        let a = object(1);
        let other = with_object(&table, &a, Table::first);
        table.first(&a);
        drop(a);
        drop(table);
        other.join().unwrap();
    });
}

/// Two threads insert only if the object is new: one of them succeeds.
#[test]
fn by_two_if_new() {
    model(1, [], |table, []| {
        let a = object(1);
        let b = a.clone();
        let other = with(&table, move |table| table.put_first(&b, |there| !there));
        let mine = table.put_first(&a, |there| !there);
        assert_ne!(mine, other.join().unwrap());
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// One thread is refused unless the other thread has inserted. The registration of a refused entry
/// ends with the entry, or is inherited by no entry.
#[test]
fn a_refusal() {
    model(1, [], |table, []| {
        let a = object(1);
        let other = with_object(&table, &a, Table::first);
        table.put_first(&a, |there| there);
        other.join().unwrap();
        assert_eq!(table.raw.len(), 1);
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// No other thread inserts the object.
#[test]
fn a_refusal_and_the_end() {
    model(1, [], |table, []| {
        let a = object(1);
        assert!(!table.put_first(&a, |there| there));
        assert_eq!(table.raw.len(), 0);
        let death = death(a);
        drop(table);
        death.join().unwrap();
    });
}

/// A removed object may come back, before or after the registration of its former entry has ended.
#[test]
fn against_a_removal() {
    for was_there in [false, true] {
        model(1, [], move |table, []| {
            let a = object(1);
            if was_there {
                table.first(&a);
            }
            let other = with_object(&table, &a, Table::first);
            let removed = table.remove_first(1);
            other.join().unwrap();
            let is_there = table.look(1);
            assert!(is_there || removed);
            assert_eq!(table.raw.len(), usize::from(is_there));
            drop(a);
            assert_end(&table, &[], is_there.into());
        });
    }
}

/// One thread inserts the object, and drops it, while another thread removes the entry.
#[test]
fn against_a_removal_and_its_death() {
    some(1, [], |table, []| {
        let a = object(1);
        let other = with_object(&table, &a, Table::first);
        let remover = with(&table, |table| table.remove_first(1));
        drop(a);
        let removed = remover.join().unwrap();
        other.join().unwrap();
        assert_end(&table, &[], usize::from(!removed));
    });
}

/// The object was removed, and comes back, before or after its former entry is destroyed.
#[test]
fn back_again() {
    model(1, [], |table, []| {
        let a = object(1);
        table.first(&a);
        let reader = with(&table, |table| table.look(1));
        assert!(table.remove_first(1));
        table.first(&a);
        reader.join().unwrap();
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// The bucket of the object, which has room, moves: into the lower or the higher of two buckets.
#[test]
fn growth() {
    for key in [5, 3] {
        some(2, [0, 2, 1], move |table, _others| {
            let a = object(key);
            let other = with(&table, |table| {
                table.insert(4, &object(4));
                // The other bucket moves as well.
                table.remove(7);
            });
            table.first(&a);
            assert!(table.look(key));
            other.join().unwrap();
            assert!(table.look(key));
            drop(a);
            assert_end(&table, &[0, 1, 2], 2);
        });
    }
}

/// The bucket of the object has no room, so the array grows.
#[test]
fn growth_by_two() {
    some(0, [0, 1], |table, _others| {
        let (a, b) = (object(2), object(3));
        let other = with_object(&table, &b, Table::first);
        table.first(&a);
        other.join().unwrap();
        assert_eq!(table.raw.len(), 4);
        drop((a, b));
        assert_end(&table, &[0, 1], 2);
    });
}

/// Two buckets become one.
#[test]
fn shrinking() {
    let _long = models::long();
    for key in [0, 1] {
        model(2, [], move |table, []| {
            let a = object(key);
            let other = with(&table, |table| table.raw.write().shrink_to_fit());
            table.first(&a);
            assert!(table.look(key));
            other.join().unwrap();
            assert!(table.look(key));
            drop(a);
            assert_end(&table, &[], 1);
        });
    }
}

/// A mark has no registration. The mark is removed or replaced while the insertion searches, or
/// comes after the search.
#[test]
fn a_mark() {
    model(1, [], |table, []| {
        table.mark(1);
        let a = object(1);
        let other = with(&table, |table| table.remove_first(1));
        table.first(&a);
        other.join().unwrap();
        let is_there = table.look(1);
        assert_eq!(table.raw.len(), usize::from(is_there));
        drop(a);
        assert_end(&table, &[], is_there.into());
    });
    model(1, [], |table, []| {
        let a = object(1);
        let other = with(&table, |table| {
            table.put(1, Vtable::Reservation, |there| !there)
        });
        table.first(&a);
        other.join().unwrap();
        assert_eq!(table.raw.len(), 1);
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// The mark is in the second bucket of a chain whose first bucket has room.
#[test]
fn a_mark_in_a_chain() {
    model(4, [0, 4], |table, [b, _c]| {
        table.mark(8);
        let death = death(b);
        let a = object(8);
        table.first(&a);
        death.join().unwrap();
        assert_eq!(table.raw.len(), 2);
        drop(a);
        assert_end(&table, &[4], 2);
    });
}

/// Another object claims the same address: the entry inserted last stays.
#[test]
fn the_same_address() {
    model(1, [], |table, []| {
        let (a, b) = (object(1), object(1));
        let other = with_object(&table, &b, Table::first);
        table.first(&a);
        other.join().unwrap();
        assert_eq!(table.raw.len(), 1);
        drop((a, b));
        assert_end(&table, &[], 1);
    });
}

/// Another object claims the same address, and the present object dies.
#[test]
fn the_same_address_and_a_death() {
    model(1, [], |table, []| {
        let b = object(1);
        table.first(&b);
        let death = death(b);
        let a = object(1);
        table.first(&a);
        death.join().unwrap();
        let dead = table.raw.dead();
        assert!(dead <= 1);
        assert_end(&table, &[1], dead);
        drop(a);
    });
}

/// A neighbour in the bucket dies, and the new entry may get its slot.
#[test]
fn a_death_and_a_reader() {
    some(4, [0, 4], |table, [b, _c]| {
        let a = object(8);
        let death = death(b);
        let reader = with(&table, |table| {
            assert!(table.look(4));
            table.look(8)
        });
        table.first(&a);
        assert!(table.look(8));
        death.join().unwrap();
        reader.join().unwrap();
        drop(a);
        assert_end(&table, &[4], 2);
    });
}

fn make_record(a: &Strong<Payload>) {
    drop(Strong::finalize(a, || {}).detach());
}

/// A weak pointer or a record is made and dropped meanwhile, with an earlier record and without.
#[test]
fn beside_something_weak() {
    let pointer = |a: &Strong<Payload>| drop(Strong::downgrade(a));
    for (had_record, other) in [
        (false, pointer as fn(&_)),
        (true, pointer),
        (false, make_record),
    ] {
        model(1, [], move |table, []| {
            let a = object(1);
            if had_record {
                make_record(&a);
            }
            let other = with_object(&table, &a, move |_, a| other(a));
            table.first(&a);
            drop(a);
            other.join().unwrap();
            assert_end(&table, &[], 1);
        });
    }
}

/// An earlier weak pointer is dropped meanwhile, also if the entry is removed first.
#[test]
fn beside_a_weak_pointer_that_goes() {
    for removed in [false, true] {
        model(1, [], move |table, []| {
            let a = object(1);
            let weak = Strong::downgrade(&a);
            let other = spawn(2, move || peek(&weak));
            table.first(&a);
            assert!(!removed || table.remove_first(1));
            drop(a);
            other.join().unwrap();
            assert_end(&table, &[], usize::from(!removed));
        });
    }
}

/// E2: a thread that replaces an entry again and again reuses the memory, beside a reader.
#[test]
fn parked_beside_a_reader() {
    some(1, [], |table, []| {
        let a = object(1);
        table.first(&a);
        let reader = with(&table, |table| look_twice(table, 1));
        (0..4).for_each(|_| table.first(&a));
        reader.join().unwrap();
        assert_eq!(table.raw.len(), 1);
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// E2: the parked entries are of entries that two threads have replaced, each for the other.
#[test]
fn parked_by_two() {
    some(1, [], |table, []| {
        let a = object(1);
        table.first(&a);
        let replaces = |table: &Table, a: &Strong<Payload>| {
            for _ in 0..3 {
                table.first(a);
                look_twice(table, 1);
            }
        };
        let other = with_object(&table, &a, replaces);
        replaces(&table, &a);
        other.join().unwrap();
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// E2: the end of a table with parked entries, and a death.
#[test]
fn parked_at_the_end() {
    model(1, [], |table, []| {
        let a = object(1);
        (0..3).for_each(|_| table.first(&a));
        let death = death(a);
        drop(table);
        death.join().unwrap();
    });
}

/// E1: a concern that comes meanwhile sees the entry, or the change is not plain.
#[test]
fn a_concern() {
    for (was_there, searches) in [(false, false), (true, false), (false, true), (true, true)] {
        model(1, [], move |table, []| {
            let (a, b) = (object(1), object(1));
            if was_there {
                table.first(&b);
            }
            let other = with(&table, |table| {
                table.raw.begin_concern();
                table.raw.write().pass_all();
                table.raw.read().entries().len()
            });
            let object = if was_there { &b } else { &a };
            let is_plain = match searches {
                false => table.put_plain(object, |_| true).is_some(),
                true => table.set_plain::<false>(object).is_some(),
            };
            let seen = other.join().unwrap();
            assert!(!is_plain || seen == 1);
        });
    }
}

/// A writer that links an entry, and then finds no bound: the thread that sets the bound sees the
/// entry, as that thread passes the buckets.
#[test]
fn a_bound_beside_a_writer() {
    model(1, [], move |table, []| {
        let (a, bound) = (object(1), Arc::new(AtomicBool::new(false)));
        table.raw.begin_concern();
        let sets = Arc::clone(&bound);
        let other = with(&table, move |table| {
            sets.store(true, Release);
            table.raw.begin_concern();
            table.raw.write().pass_all();
            table.raw.read().entries().len()
        });
        table.first(&a);
        let finds = bound.load(Acquire);
        assert!(finds || other.join().unwrap() == 1);
    });
}

/// R2: two threads set the same object or two objects. One thread searches outside of the lock,
/// the other thread guesses.
#[test]
fn a_search_by_two() {
    for same in [false, true] {
        model(1, [], move |table, []| {
            let a = object(1);
            let b = if same { a.clone() } else { object(1) };
            let other = with_object(&table, &b, Table::set::<true>);
            table.set::<false>(&a);
            other.join().unwrap();
            assert!(table.look(1));
            assert_eq!(table.raw.len(), 1);
            drop((a, b));
            assert_end(&table, &[], 1);
        });
    }
}

/// R2: the found entry is removed, or replaced by a writer, between the search and the lock.
#[test]
fn a_search_beside_a_writer() {
    for removes in [false, true] {
        model(1, [], move |table, []| {
            let (a, b) = (object(1), object(1));
            table.set::<false>(&a);
            let other = with_object(&table, &a, move |table, a| {
                if removes {
                    table.remove(1);
                } else {
                    table.insert(1, a);
                }
            });
            table.set::<false>(&b);
            other.join().unwrap();
            let is_there = table.look(1);
            assert!(is_there || removes);
            assert_eq!(table.raw.len(), usize::from(is_there));
            drop((a, b));
            assert_end(&table, &[], is_there.into());
        });
    }
}

/// R2: the found entry dies between the search and the lock.
#[test]
fn a_search_beside_a_death() {
    model(1, [], |table, []| {
        let (a, b) = (object(1), object(1));
        table.set::<false>(&b);
        let death = death(b);
        table.set::<false>(&a);
        death.join().unwrap();
        assert!(table.look(1));
        let dead = table.raw.dead();
        assert!(dead <= 1);
        assert_end(&table, &[1], dead);
        drop(a);
    });
}

/// E2, D1: a replaced entry, whose registration ends or passes on, beside a reader.
#[test]
fn a_search_beside_a_reader() {
    some(1, [], |table, []| {
        let (a, b) = (object(1), object(1));
        table.set::<false>(&a);
        let reader = with(&table, |table| look_twice(table, 1));
        _ = [&b, &b, &a].map(|object| table.set::<false>(object));
        reader.join().unwrap();
        drop((a, b));
        assert_end(&table, &[], 1);
    });
}

/// D1: a change takes the dead entries before it enters, beside a reader that may have found them.
#[test]
fn the_dead_beside_a_reader() {
    some(1, [0], |table, [a]| {
        let b = object(1);
        let reader = with(&table, |table| look_twice(table, 0));
        drop(a);
        table.first(&b);
        reader.join().unwrap();
        drop(b);
        table.drain();
        drop(table.raw.write());
        assert_eq!((table.raw.len(), table.raw.waiting()), (0, 0));
    });
}

/// The same, where two threads change the table, and each kills an entry.
#[test]
fn the_dead_of_two() {
    some(1, [0, 1], |table, [a, b]| {
        let change = |table: &Table, key, dying: Strong<Payload>| {
            drop(dying);
            look_twice(table, 1 - key);
            table.remove_first(key);
        };
        let other = with(&table, move |table| change(table, 0, b));
        change(&table, 1, a);
        other.join().unwrap();
        table.drain();
        drop(table.raw.write());
        assert_eq!((table.raw.len(), table.raw.waiting()), (0, 0));
    });
}
