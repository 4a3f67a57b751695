//! Models of the table.

use core::sync::atomic::Ordering::{Relaxed, Release};
use loom::sync::Arc;
use loom::thread::JoinHandle;
use std::boxed::Box;

use super::super::{Entry, Match, Put, RawTable, SweepPosition};
use super::{end_in_place, spawn};
use crate::sync::{AtomicUsize, Live, UnsafeCell, models};

pub(super) struct Node {
    hash: u64,
    /// Written after the node was made, so that loom detects a look that is not ordered after the
    /// write.
    value: UnsafeCell<u64>,
    live: Live,
    ends: std::sync::Arc<core::sync::atomic::AtomicUsize>,
}

impl Node {
    /// Returns the value, or fails the model if the look is not allowed.
    fn value(&self) -> u64 {
        self.live.check();
        // SAFETY: loom fails the model if the read is not ordered after the write in `node`.
        self.value.with(|value| unsafe { *value })
    }
}

impl Entry for Node {
    const PROMPT: bool = true;
    type Context = ();
    type Watch = ();

    fn hash(&self) -> u64 {
        self.hash
    }

    fn end(self, place: *const Self, (): &()) {
        end_in_place(self, place);
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.live.end();
        self.ends.fetch_add(1, Relaxed);
    }
}

pub(super) struct Table {
    pub(super) raw: RawTable<Node>,
    pub(super) ends: std::sync::Arc<core::sync::atomic::AtomicUsize>,
}

/// The key is the hash.
impl Table {
    pub(super) fn with_capacity(capacity: usize, keys: &[u64]) -> Arc<Self> {
        let table = Table {
            raw: RawTable::new(),
            ends: std::sync::Arc::default(),
        };
        table.raw.allocate_for(capacity);
        for key in keys {
            table.insert(*key, 0);
        }
        Arc::new(table)
    }

    fn node(&self, hash: u64, value: u64) -> Box<Node> {
        let node = Box::new(Node {
            hash,
            value: UnsafeCell::new(0),
            live: Live::new(),
            ends: std::sync::Arc::clone(&self.ends),
        });
        // SAFETY: no other thread has seen the node.
        node.value.with_mut(|own| unsafe { *own = value });
        node
    }

    pub(super) fn get(&self, key: u64) -> Option<u64> {
        let reader = self.raw.read();
        let node = reader.get(key, |node| {
            node.value();
            true
        })?;
        Some(node.value())
    }

    pub(super) fn insert(&self, key: u64, value: u64) -> Option<u64> {
        let writer = self.raw.write();
        match writer.put(
            &mut self.raw.entry(|| *self.node(key, value)),
            |_, _| true,
            |_| true,
        ) {
            Put::Added(_) => None,
            Put::Replaced { old, new } => {
                new.value();
                Some(old.value())
            }
            Put::Refused => unreachable!(),
        }
    }

    fn insert_new(&self, key: u64, value: u64) -> bool {
        let writer = self.raw.write();
        let put = writer.put(
            &mut self.raw.entry(|| *self.node(key, value)),
            |_, _| true,
            |old| old.is_none(),
        );
        matches!(put, Put::Added(_))
    }

    /// Replaces an entry that has the value `from`.
    fn replace(&self, key: u64, from: u64, to: u64) -> bool {
        let writer = self.raw.write();
        let put = writer.put(
            &mut self.raw.entry(|| *self.node(key, to)),
            |_, _| true,
            |old| old.is_some_and(|old| old.value() == from),
        );
        matches!(put, Put::Replaced { .. })
    }

    pub(super) fn remove(&self, key: u64) -> Option<u64> {
        let writer = self.raw.write();
        let node = writer.remove_if(key, |_| true, |_| true)?;
        Some(node.value())
    }

    /// Removes all entries of a hash, and returns their number.
    fn remove_all(&self, key: u64) -> usize {
        let mut removed = 0;
        let all = |node: &Node| removed += usize::from(node.value() < 9);
        self.raw.write().remove_all(key, true, |_| true, all);
        removed
    }

    pub(super) fn shrink(&self) {
        self.raw.write().shrink_to_fit();
    }

    pub(super) fn begin_to_shrink(&self) {
        self.raw.write().begin_to_shrink();
    }

    pub(super) fn shrink_by_force(&self) {
        let writer = self.raw.write();
        writer.begin_to_shrink();
        writer.finish_to_move();
    }

    pub(super) fn buckets(&self) -> usize {
        self.raw.write().buckets()
    }

    /// Removes all entries with a value below 9, and returns their number.
    fn remove_everywhere(&self) -> usize {
        let mut removed = 0;
        let old = |node: &Node| node.value() < 9;
        self.raw
            .write()
            .remove_everywhere(true, old, |_| removed += 1);
        removed
    }

    pub(super) fn ends(&self) -> usize {
        self.ends.load(Relaxed)
    }
}

pub(super) fn with<T: 'static>(
    table: &Arc<Table>,
    number: usize,
    run: impl FnOnce(&Table) -> T + 'static,
) -> JoinHandle<T> {
    let table = Arc::clone(table);
    spawn(number, move || run(&table))
}

/// Runs `model` with a table that has these keys, and was made with this capacity.
fn model(
    capacity: usize,
    keys: &'static [u64],
    model: impl Fn(Arc<Table>) + Send + Sync + 'static,
) {
    models::check(move || model(Table::with_capacity(capacity, keys)));
}

/// Two threads insert the same key: one adds, one replaces.
#[test]
fn claim() {
    model(0, &[], |table| {
        let other = with(&table, 1, |table| table.insert(0, 1));
        let old = table.insert(0, 2);
        let theirs = other.join().unwrap();
        match (old, theirs) {
            (None, Some(2)) => assert_eq!(table.get(0), Some(1)),
            (Some(1), None) => assert_eq!(table.get(0), Some(2)),
            wrong => panic!("{wrong:?}"),
        }
        assert_eq!((table.raw.len(), table.ends()), (1, 1));
    });
}

/// Two threads insert a key if it is new: one succeeds, also with two keys in the same bucket.
#[test]
fn claim_if_new() {
    model(0, &[], |table| {
        let other = with(&table, 1, |table| {
            let won = table.insert_new(0, 1);
            table.insert_new(1, 1);
            won
        });
        let won = table.insert_new(0, 2);
        assert!(won != other.join().unwrap());
        assert_eq!(table.get(0), Some(if won { 2 } else { 1 }));
        assert_eq!(table.get(1), Some(1));
    });
}

/// A reader always finds a key whose entry is replaced, and never finds an older value after a
/// newer value.
#[test]
fn replace() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| table.insert(0, 1));
        let first = table.get(0).expect("it is there all the time");
        let second = table.get(0).expect("it is there all the time");
        assert!(first <= second);
        assert_eq!(other.join().unwrap(), Some(0));
        assert_eq!((table.get(0), table.ends()), (Some(1), 1));
    });
}

/// Two threads replace the same entry: one of them replaces the other thread's entry.
#[test]
fn replace_by_two() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| table.insert(0, 1));
        let mine = table.insert(0, 2);
        match (mine, other.join().unwrap()) {
            (Some(0), Some(2)) => assert_eq!(table.get(0), Some(1)),
            (Some(1), Some(0)) => assert_eq!(table.get(0), Some(2)),
            wrong => panic!("{wrong:?}"),
        }
        assert_eq!((table.raw.len(), table.ends()), (1, 2));
    });
}

/// Two threads remove the same entry: one gets the entry.
#[test]
fn unlink() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| table.remove(0));
        let found = table.get(0);
        let mine = table.remove(0);
        let theirs = other.join().unwrap();
        assert!(mine.is_some() != theirs.is_some());
        assert!(found.is_some() || theirs.is_some());
        assert_eq!((table.get(0), table.raw.len(), table.ends()), (None, 0, 1));
    });
}

/// Two threads remove the same entry, one of them with all entries of its hash: one gets the entry.
#[test]
fn unlink_all() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| table.remove(0));
        let mine = table.remove_all(0);
        let theirs = usize::from(other.join().unwrap().is_some());
        assert_eq!(mine + theirs, 1);
        assert_eq!((table.get(0), table.raw.len(), table.ends()), (None, 0, 1));
    });
}

/// A value replaces its mark while a thread removes both: the value does not stay.
#[test]
fn unlink_all_of_what_is_replaced() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| table.replace(0, 0, 1));
        assert_eq!(table.remove_all(0), 1);
        assert_eq!((table.get(0), table.raw.len()), (None, 0));
        let ends = 1 + usize::from(other.join().unwrap());
        // Each thread may have missed that the other waits for it.
        drop(table.raw.write());
        assert!(table.ends() >= ends, "one that is refused ends too");
    });
}

/// An entry with another tag reuses a slot: a lookup of the old entry, or of a neighbour, is not
/// misled.
#[test]
fn slot_reuse() {
    const OTHER: u64 = 1 << 56;
    model(0, &[0, 1 << 57], |table| {
        let other = with(&table, 1, |table| {
            assert_eq!(table.remove(0), Some(0));
            assert_eq!(table.insert(OTHER, 5), None);
        });
        assert_eq!(table.get(1 << 57), Some(0));
        assert!(matches!(table.get(OTHER), None | Some(5)));
        assert!(matches!(table.get(0), None | Some(0)));
        other.join().unwrap();
        assert_eq!((table.get(OTHER), table.get(0)), (Some(5), None));
        assert_eq!(table.ends(), 1);
    });
}

/// Two threads lengthen a chain at once: old and new entries are found.
#[test]
fn chain() {
    // Four buckets: the third entry in the same bucket makes a chain.
    model(4, &[0, 4], |table| {
        let other = with(&table, 1, |table| {
            assert_eq!(table.insert(8, 1), None);
            assert_eq!(table.get(8), Some(1));
        });
        assert_eq!(table.insert(12, 2), None);
        assert_eq!(table.get(4), Some(0));
        other.join().unwrap();
        let found = [0, 4, 8, 12].map(|key| table.get(key));
        assert_eq!(found, [Some(0), Some(0), Some(1), Some(2)]);
    });
}

/// A slot in the second bucket of a chain is reused.
#[test]
fn slot_reuse_in_a_chain() {
    let _long = models::long();
    const OTHER: u64 = 12 | 1 << 56;
    model(4, &[0, 4, 8], |table| {
        let other = with(&table, 1, |table| {
            assert_eq!(table.insert(8, 1), Some(0));
            assert_eq!(table.remove(8), Some(1));
            assert_eq!(table.insert(OTHER, 2), None);
        });
        assert!(matches!(table.get(OTHER), None | Some(2)));
        assert!(matches!(table.get(8), None | Some(0 | 1)));
        assert_eq!(table.get(4), Some(0));
        other.join().unwrap();
        assert_eq!((table.get(OTHER), table.get(8)), (Some(2), None));
        assert_eq!(table.ends(), 2);
    });
}

/// Two threads insert the first entries, and a third thread looks.
#[test]
fn first_array() {
    // With three preemptions the model took most of a minute.
    models::check_up_to(2, || {
        let table = Table::with_capacity(0, &[]);
        let other = with(&table, 1, |table| table.insert(0, 1));
        let reader = with(&table, 2, |table| table.get(0));
        table.insert(1, 1);
        other.join().unwrap();
        assert!(matches!(reader.join().unwrap(), None | Some(1)));
        assert_eq!((table.get(0), table.get(1)), (Some(1), Some(1)));
    });
}

/// A key is removed and inserted again into the same slot, while a reader has seen its tag.
#[test]
fn back_again() {
    model(0, &[0], |table| {
        let other = with(&table, 1, |table| {
            assert_eq!(table.remove(0), Some(0));
            assert_eq!(table.insert(0, 5), None);
        });
        assert!(matches!(table.get(0), None | Some(0 | 5)));
        other.join().unwrap();
        assert_eq!((table.get(0), table.ends()), (Some(5), 1));
    });
}

/// A reader finds the present entries while the table grows.
#[test]
fn growth_and_a_reader() {
    model(0, &[0, 1], |table| {
        // The third key needs a second bucket.
        let other = with(&table, 1, |table| table.insert(2, 0));
        assert_eq!(table.get(0), Some(0));
        assert_eq!(table.get(1), Some(0));
        other.join().unwrap();
        assert_eq!([0, 1, 2].map(|key| table.get(key)), [Some(0); 3]);
        assert_eq!((table.raw.len(), table.ends()), (3, 0));
    });
}

/// A sweep of a table in the middle of a move, while an entry is removed from the next array, and
/// other entries move there. R4: the visited entries are initialised and not destroyed, and the
/// entries that stay are visited.
#[test]
fn growth_and_a_sweep() {
    let _long = models::long();
    model(4, &[0, 4, 1, 2, 3], |table| {
        // The first of four buckets moves. It is the home of the keys 0, 4 and 8.
        table.insert(8, 0);
        let other = with(&table, 1, |table| table.remove(0));
        let position = SweepPosition::new();
        let mut shown = 0;
        table.raw.write().sweep(&position, |node| {
            assert_eq!(node.value(), 0);
            shown += usize::from([1, 4, 8].contains(&node.hash));
        });
        // The entries of the first two buckets that stay.
        assert_eq!(shown, 3);
        assert_eq!(other.join().unwrap(), Some(0));
        // The sweep may have delayed the destruction of the removed entry, and missed its name. The
        // next leaving thread destroys the entry.
        drop(table.raw.write());
        assert_eq!((table.raw.len(), table.ends()), (5, 1));
    });
}

/// Two threads insert, and grow the table at once; no entry is lost.
#[test]
fn growth_by_two() {
    let _long = models::long();
    model(0, &[0, 1], |table| {
        let other = with(&table, 1, |table| table.insert(2, 0));
        table.insert(3, 0);
        other.join().unwrap();
        assert_eq!([0, 1, 2, 3].map(|key| table.get(key)), [Some(0); 4]);
        assert_eq!((table.raw.len(), table.ends()), (4, 0));
    });
}

/// An entry removed while the table grows does not come back with the next array.
#[test]
fn growth_and_unlink() {
    model(0, &[0, 1], |table| {
        let other = with(&table, 1, |table| table.insert(2, 0));
        assert_eq!(table.remove(1), Some(0));
        assert_eq!(table.get(1), None);
        other.join().unwrap();
        assert_eq!(
            [0, 1, 2].map(|key| table.get(key)),
            [Some(0), None, Some(0)]
        );
        assert_eq!((table.raw.len(), table.ends()), (2, 1));
    });
}

/// The same with the removal of all entries of a hash.
#[test]
fn growth_and_unlink_all() {
    let _long = models::long();
    model(0, &[0, 1], |table| {
        let other = with(&table, 1, |table| table.insert(2, 0));
        assert_eq!(table.remove_all(1), 1);
        assert_eq!(table.get(1), None);
        other.join().unwrap();
        assert_eq!(
            [0, 1, 2].map(|key| table.get(key)),
            [Some(0), None, Some(0)]
        );
        assert_eq!((table.raw.len(), table.ends()), (2, 1));
    });
}

/// The same with the removal from all buckets.
#[test]
fn growth_and_unlink_everywhere() {
    let _long = models::long();
    model(0, &[0, 1], |table| {
        let other = with(&table, 1, |table| table.insert(2, 9));
        assert_eq!(table.remove_everywhere(), 2);
        other.join().unwrap();
        assert_eq!([0, 1, 2].map(|key| table.get(key)), [None, None, Some(9)]);
        assert_eq!((table.raw.len(), table.ends()), (1, 2));
    });
}

/// An entry replaced while the table grows does not stay beside the new entry, which is found at
/// once.
#[test]
fn growth_and_replace() {
    let _long = models::long();
    model(0, &[0, 1], |table| {
        let other = with(&table, 1, |table| table.insert(2, 0));
        assert_eq!(table.insert(1, 7), Some(0));
        assert_eq!(table.get(1), Some(7));
        other.join().unwrap();
        assert_eq!(table.remove(1), Some(7));
        assert_eq!(
            [0, 1, 2].map(|key| table.get(key)),
            [Some(0), None, Some(0)]
        );
        assert_eq!((table.raw.len(), table.ends()), (2, 2));
    });
}

/// A search that finds an entry dead in a bucket that has moved finds the entry that has replaced
/// the dead entry behind the move (R5).
#[test]
fn growth_and_a_dead_entry() {
    let _long = models::long();
    model(0, &[0, 1], |table| {
        let dies = Arc::new(AtomicUsize::new(0));
        let dead = Arc::clone(&dies);
        let other = with(&table, 1, move |table| {
            table.insert(2, 0);
            table.insert(1, 7);
            dies.store(1, Release);
        });
        let reader = table.raw.read();
        let is_it = |node: &Node| match node.value() {
            0 if dead.load(Relaxed) == 1 => Match::Dead,
            _ => Match::Yes,
        };
        let found = reader.find(1, is_it).is_some();
        assert!(found, "there is one all the time");
        drop(reader);
        other.join().unwrap();
    });
}

/// A long chain is unlocked in the middle of its move. An entry removed meanwhile does not come
/// back.
#[test]
fn growth_of_a_long_chain_and_unlink() {
    let _long = models::long();
    model(4, &[0, 8, 16, 24, 1], |table| {
        let other = with(&table, 1, |table| table.insert(32, 0));
        assert_eq!(table.remove(8), Some(0));
        assert_eq!(table.get(8), None);
        other.join().unwrap();
        let found = [0, 8, 16, 24, 1, 32].map(|key| table.get(key));
        let there = Some(0);
        assert_eq!(found, [there, None, there, there, there, there]);
        assert_eq!((table.raw.len(), table.ends()), (5, 1));
    });
}

/// The table has so many entries that the next array is too short from the beginning. The next
/// array does not grow before the first array has moved.
#[test]
fn one_growth_after_the_other() {
    let _long = models::long();
    models::check_up_to(2, || {
        let keys = [0, 8, 16, 24, 32, 40, 1, 5, 2, 6, 3, 7];
        let table = Table::with_capacity(4, &keys);
        let other = with(&table, 1, |table| table.insert(48, 0));
        table.insert(56, 0);
        other.join().unwrap();
        for key in keys.into_iter().chain([48, 56]) {
            assert_eq!(table.get(key), Some(0), "{key}");
        }
        assert_eq!((table.raw.len(), table.ends()), (14, 0));
    });
}

/// A table is dropped before it has finished growing.
#[test]
fn drop_while_it_grows() {
    model(0, &[0, 2, 4], |table| {
        let other = with(&table, 1, |table| {
            table.insert(1, 0);
            table.insert(3, 0);
        });
        assert_eq!(table.get(4), Some(0));
        other.join().unwrap();
        let ends = std::sync::Arc::clone(&table.ends);
        drop(table);
        assert_eq!(ends.load(Relaxed), 5);
    });
}
