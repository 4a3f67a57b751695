//! loom models of the reclamation and of the table. What is destroyed is marked, and its memory kept, so
//! that a late look is seen in every interleaving.
//!
//! Buckets have two slots here, the first array one bucket, and an operation moves two buckets at most.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

use core::ptr;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering::*};
use loom::thread::{self, JoinHandle};
use std::boxed::Box;

use super::domain::{Domain, Reading, Writing};
use super::retired::Retired;
use super::thread::ThreadNumber;
use super::{Entry, Put, RawTable};
use crate::sync::{Live, UnsafeCell};

fn spawn<T: 'static>(number: usize, run: impl FnOnce() -> T + 'static) -> JoinHandle<T> {
    thread::spawn(move || {
        ThreadNumber::set(number);
        run()
    })
}

// === The reclamation, with one word instead of a table ===

/// Things to be looked at, one of which can be found.
struct World<const PROMPT: bool> {
    domain: Domain,
    found: AtomicUsize,
    things: [Thing; 3],
}

struct Thing {
    live: Live,
    ends: AtomicUsize,
}

impl<const PROMPT: bool> World<PROMPT> {
    fn new() -> Arc<Self> {
        Arc::new(World {
            domain: Domain::new(),
            found: AtomicUsize::new(0),
            things: [(); 3].map(|()| Thing {
                live: Live::new(),
                ends: AtomicUsize::new(0),
            }),
        })
    }

    fn look(&self) {
        let _inside = Reading::new(&self.domain, PROMPT);
        self.things[self.found.load(Acquire)].live.check();
    }

    /// As a writer: what has been found is retired.
    fn replace(&self, new: usize) {
        let inside = Writing::new(&self.domain, PROMPT);
        // Relaxed on the loading side: a lock stands between two writers of a table.
        let old = self.found.swap(new, AcqRel);
        self.things[old].live.check();
        let old = ptr::from_ref(&self.things[old]).cast_mut();
        // SAFETY: unlinked by us.
        inside.retire(unsafe { Retired::new(old, end) });
    }

    fn ended(&self) -> usize {
        self.things
            .iter()
            .map(|thing| thing.ends.load(Relaxed))
            .sum()
    }
}

unsafe fn end(thing: *mut ()) {
    // SAFETY: a thing of a world that is there.
    let thing = unsafe { &*thing.cast::<Thing>() };
    thing.live.end();
    thing.ends.fetch_add(1, Relaxed);
}

/// D1, D2: nobody looks at what has ended. D3: when all have left, all that was retired has ended.
#[test]
fn models_reader_and_writer() {
    loom::model(|| {
        let world = World::<true>::new();
        let other = spawn(1, {
            let world = Arc::clone(&world);
            move || world.replace(1)
        });
        world.look();
        world.look();
        other.join().unwrap();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

#[test]
fn models_reader_and_two_writes() {
    loom::model(|| {
        let world = World::<true>::new();
        let other = spawn(1, {
            let world = Arc::clone(&world);
            move || {
                world.replace(1);
                world.replace(2);
            }
        });
        world.look();
        other.join().unwrap();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

#[test]
fn models_reader_and_two_writers() {
    let mut builder = loom::model::Builder::new();
    // Three took minutes.
    builder.preemption_bound = Some(2);
    builder.check(|| {
        let world = World::<true>::new();
        let writers = [1, 2].map(|number| {
            let world = Arc::clone(&world);
            spawn(number, move || world.replace(number))
        });
        world.look();
        for writer in writers {
            writer.join().unwrap();
        }
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// Two readers leave at once: the last of them finds what the writer has left.
#[test]
fn models_two_readers_and_a_writer() {
    loom::model(|| {
        let world = World::<true>::new();
        let readers = [1, 2].map(|number| {
            let world = Arc::clone(&world);
            spawn(number, move || world.look())
        });
        world.replace(1);
        for reader in readers {
            reader.join().unwrap();
        }
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// Who is inside twice holds up what it found until it has left twice.
#[test]
fn models_nested() {
    loom::model(|| {
        let world = World::<true>::new();
        let other = spawn(1, {
            let world = Arc::clone(&world);
            move || world.replace(1)
        });
        {
            let _outer = Reading::new(&world.domain, true);
            let found = world.found.load(Acquire);
            world.replace(2);
            world.things[found].live.check();
        }
        other.join().unwrap();
        assert_eq!(world.ended(), 2, "left behind");
    });
}

/// Who enters in the next era does not find what was put into limbo in the last.
#[test]
fn models_nested_and_a_reader() {
    loom::model(|| {
        let world = World::<true>::new();
        let other = spawn(1, {
            let world = Arc::clone(&world);
            move || world.look()
        });
        {
            let _outer = Reading::new(&world.domain, true);
            world.replace(1);
        }
        other.join().unwrap();
        assert_eq!(world.ended(), 1, "left behind");
    });
}

/// Without destructors, readers leave without a barrier: what they leave behind goes with the next.
#[test]
fn models_without_destructors() {
    loom::model(|| {
        let world = World::<false>::new();
        let other = spawn(1, {
            let world = Arc::clone(&world);
            move || world.replace(1)
        });
        world.look();
        other.join().unwrap();
        world.look();
        assert_eq!(world.ended(), 1, "left behind for good");
    });
}

// === The table ===

struct Node {
    hash: u64,
    /// Written after it was made, so that loom sees a look that is not ordered after that.
    value: UnsafeCell<u64>,
    live: Live,
    ends: std::sync::Arc<core::sync::atomic::AtomicUsize>,
}

impl Node {
    /// Its value, if this look is allowed.
    fn value(&self) -> u64 {
        self.live.check();
        // SAFETY: loom fails the model if this is not after the node was made.
        self.value.with(|value| unsafe { *value })
    }
}

impl Entry for Node {
    const PROMPT: bool = true;

    fn hash(&self) -> u64 {
        self.hash
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.live.end();
        self.ends.fetch_add(1, Relaxed);
    }
}

struct Table {
    raw: RawTable<Node>,
    ends: std::sync::Arc<core::sync::atomic::AtomicUsize>,
}

/// The key is the hash.
impl Table {
    fn with(keys: &[u64]) -> Arc<Self> {
        Self::with_capacity(0, keys)
    }

    fn with_capacity(capacity: usize, keys: &[u64]) -> Arc<Self> {
        let table = Table {
            raw: RawTable::with_capacity(capacity),
            ends: std::sync::Arc::default(),
        };
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
        // SAFETY: nobody else has seen it.
        node.value.with_mut(|own| unsafe { *own = value });
        node
    }

    fn get(&self, key: u64) -> Option<u64> {
        let reader = self.raw.read();
        let node = reader.get(key, |node| {
            node.value();
            true
        })?;
        Some(node.value())
    }

    fn insert(&self, key: u64, value: u64) -> Option<u64> {
        let writer = self.raw.write();
        match writer.put(self.node(key, value), |_, _| true, |_| true) {
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
        let put = writer.put(self.node(key, value), |_, _| true, |old| old.is_none());
        matches!(put, Put::Added(_))
    }

    fn remove(&self, key: u64) -> Option<u64> {
        let writer = self.raw.write();
        let node = writer.remove_if(key, |_| true, |_| true)?;
        Some(node.value())
    }

    fn ends(&self) -> usize {
        self.ends.load(Relaxed)
    }
}

fn with<T: 'static>(
    table: &Arc<Table>,
    number: usize,
    run: impl FnOnce(&Table) -> T + 'static,
) -> JoinHandle<T> {
    let table = Arc::clone(table);
    spawn(number, move || run(&table))
}

/// Two threads put the same key in: one adds, one replaces.
#[test]
fn models_claim() {
    loom::model(|| {
        let table = Table::with(&[]);
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

/// Of two who put in what is not there, one does, also of two in the same bucket.
#[test]
fn models_claim_if_new() {
    loom::model(|| {
        let table = Table::with(&[]);
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

/// A reader of a key that is replaced always finds it, and never goes back.
#[test]
fn models_replace() {
    loom::model(|| {
        let table = Table::with(&[0]);
        let other = with(&table, 1, |table| table.insert(0, 1));
        let first = table.get(0).expect("it is there all the time");
        let second = table.get(0).expect("it is there all the time");
        assert!(first <= second);
        assert_eq!(other.join().unwrap(), Some(0));
        assert_eq!((table.get(0), table.ends()), (Some(1), 1));
    });
}

/// Two replace the same: the one replaces what the other has put in.
#[test]
fn models_replace_by_two() {
    loom::model(|| {
        let table = Table::with(&[0]);
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

/// Two take the same out: one has it.
#[test]
fn models_unlink() {
    loom::model(|| {
        let table = Table::with(&[0]);
        let other = with(&table, 1, |table| table.remove(0));
        let found = table.get(0);
        let mine = table.remove(0);
        let theirs = other.join().unwrap();
        assert!(mine.is_some() != theirs.is_some());
        assert!(found.is_some() || theirs.is_some());
        assert_eq!((table.get(0), table.raw.len(), table.ends()), (None, 0, 1));
    });
}

/// A slot is taken again, by an entry of another tag: who looks for the old one, or a neighbour, is not misled.
#[test]
fn models_slot_taken_again() {
    const OTHER: u64 = 1 << 56;
    loom::model(|| {
        let table = Table::with(&[0, 1 << 57]);
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

/// A chain becomes longer, by two at once: what is there is found, and what comes in.
#[test]
fn models_chain() {
    loom::model(|| {
        // Four buckets: the third in the same one makes a chain.
        let table = Table::with_capacity(4, &[0, 4]);
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

/// In the second bucket of a chain a slot is taken again.
#[test]
fn models_chain_taken_again() {
    const OTHER: u64 = 12 | 1 << 56;
    loom::model(|| {
        let table = Table::with_capacity(4, &[0, 4, 8]);
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

/// The first entries come from two threads, and a third looks.
#[test]
fn models_first_array() {
    loom::model(|| {
        let table = Table::with(&[]);
        let other = with(&table, 1, |table| table.insert(0, 1));
        let reader = with(&table, 2, |table| table.get(0));
        table.insert(1, 1);
        other.join().unwrap();
        assert!(matches!(reader.join().unwrap(), None | Some(1)));
        assert_eq!((table.get(0), table.get(1)), (Some(1), Some(1)));
    });
}

/// A key goes and comes back into the same slot, under a reader that has seen its tag.
#[test]
fn models_back_again() {
    loom::model(|| {
        let table = Table::with(&[0]);
        let other = with(&table, 1, |table| {
            assert_eq!(table.remove(0), Some(0));
            assert_eq!(table.insert(0, 5), None);
        });
        assert!(matches!(table.get(0), None | Some(0 | 5)));
        other.join().unwrap();
        assert_eq!((table.get(0), table.ends()), (Some(5), 1));
    });
}

/// A reader finds what is there while the table grows.
#[test]
fn models_growth_and_a_reader() {
    loom::model(|| {
        let table = Table::with(&[0, 1]);
        // The third needs a second bucket.
        let other = with(&table, 1, |table| table.insert(2, 0));
        assert_eq!(table.get(0), Some(0));
        assert_eq!(table.get(1), Some(0));
        other.join().unwrap();
        assert_eq!([0, 1, 2].map(|key| table.get(key)), [Some(0); 3]);
        assert_eq!((table.raw.len(), table.ends()), (3, 0));
    });
}

/// Two grow at once, by what they put in; nothing is lost.
#[test]
fn models_growth_by_two() {
    loom::model(|| {
        let table = Table::with(&[0, 1]);
        let other = with(&table, 1, |table| table.insert(2, 0));
        table.insert(3, 0);
        other.join().unwrap();
        assert_eq!([0, 1, 2, 3].map(|key| table.get(key)), [Some(0); 4]);
        assert_eq!((table.raw.len(), table.ends()), (4, 0));
    });
}

/// What is taken out while the table grows does not come back with the next array.
#[test]
fn models_growth_and_unlink() {
    loom::model(|| {
        let table = Table::with(&[0, 1]);
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

/// What is replaced while the table grows is not there twice, and the new one is found at once.
#[test]
fn models_growth_and_replace() {
    loom::model(|| {
        let table = Table::with(&[0, 1]);
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

/// There are so many entries that the next array is too short as soon as it is there: it does not grow before
/// the first has moved.
#[test]
fn models_one_growth_after_the_other() {
    let mut builder = loom::model::Builder::new();
    // It takes long to fill.
    builder.max_branches = 10_000;
    builder.preemption_bound = Some(2);
    builder.check(|| {
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

/// A table that has not finished to grow ends.
#[test]
fn models_end_while_it_grows() {
    loom::model(|| {
        let table = Table::with(&[0, 2, 4]);
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
