//! Models of deaths, which unlink their entries themselves, against other changes of the table. The
//! objects, their registrations and the table are the shipped code.

use core::mem;
use loom::sync::Arc;
use loom::thread::JoinHandle;

use super::super::batch::CROWD;
use super::super::{DeadList, Entry, Put, RawTable, Registered};
use super::{end_in_place, spawn};
use crate::Strong;
use crate::panics::FirstPanic;
use crate::ptr::models::Payload;
use crate::ptr::{CoreRef, Off, Promise, SharedWatch, SharedWatchOf};
use crate::sync::{Live, models};

pub(super) struct Node {
    hash: u64,
    kind: Vtable,
    live: Live,
}

pub(super) enum Vtable {
    /// Stands for a value in the making, and watches nothing.
    Reservation,
    /// The registration stores the hash.
    ByHash(SharedWatchOf<Payload>),
    /// The registration stores the hash, and is older than the entry.
    Early(SharedWatchOf<Payload>),
    /// The hash is computed from the address of the object.
    ByAddress(SharedWatchOf<Payload>),
}

/// Returns the stored form of a hash. Its lowest bit is not part of the hash, and zero stands for
/// no hash.
pub(super) fn short(hash: u64) -> u32 {
    (hash as u32 + 1) << 1
}

impl Entry for Node {
    const PROMPT: bool = false;
    type Context = ();
    type Watch = Vtable;

    fn hash(&self) -> u64 {
        self.hash
    }

    fn hash_of(addr: *const (), short: u32) -> u64 {
        match short >> 1 {
            // SAFETY: the payload's memory is not freed before the entry is unlinked, and the key
            // has no destructor.
            0 => unsafe { (*addr.cast::<Payload>()).key },
            stored => u64::from(stored - 1),
        }
    }

    fn watch(&self) -> Option<&Vtable> {
        self.live.check();
        Some(&self.kind)
    }

    fn stored_hash(&self) -> Option<u32> {
        (!matches!(self.kind, Vtable::ByAddress(_))).then(|| short(self.hash))
    }

    fn end(self, place: *const Self, (): &()) {
        end_in_place(self, place);
    }
}

impl Registered for Vtable {
    type Of = Payload;

    fn only(&self) -> Option<&SharedWatch<Payload>> {
        match self {
            Vtable::Reservation => None,
            Vtable::ByHash(of) | Vtable::Early(of) | Vtable::ByAddress(of) => Some(of.watch()),
        }
    }

    fn register_first(&self, core: CoreRef, kept: &Promise) -> bool {
        matches!(self, Vtable::ByAddress(of) if of.watch().register_first(core, kept))
    }

    fn may_be_linked(&self) -> bool {
        !matches!(self, Vtable::Early(of) if !of.watch().is_registered())
    }
}

impl Node {
    pub(super) fn new(hash: u64, kind: Vtable) -> Self {
        let live = Live::new();
        Node { hash, kind, live }
    }

    pub(super) fn is_an_object(&self) -> bool {
        self.kind.only().is_some()
    }

    /// Fails the model if the node has been destroyed.
    pub(super) fn check(&self) {
        self.live.check();
    }
}

impl Drop for Node {
    fn drop(&mut self) {
        self.live.end();
    }
}

pub(super) struct Table {
    pub(super) raw: RawTable<Node>,
}

/// The key is the hash.
impl Table {
    /// Inserts a node, or replaces the node with the same key, if `expected` accepts the presence
    /// of such a node.
    pub(super) fn put(&self, hash: u64, kind: Vtable, expected: impl Fn(bool) -> bool) -> bool {
        let node = || Node::new(hash, kind);
        let writer = self.raw.write();
        let put = writer.put(
            &mut self.raw.entry(node),
            |_, there| {
                there.live.check();
                true
            },
            |old| expected(old.is_some()),
        );
        !matches!(put, Put::Refused)
    }

    /// Inserts an object, or replaces an object.
    pub(super) fn insert(&self, key: u64, object: &Strong<Payload>) {
        assert!(self.put(key, by_hash(object), |_| true));
    }

    pub(super) fn remove(&self, key: u64) -> bool {
        let writer = self.raw.write();
        let removed = writer.remove_if(key, |_| true, |_| true);
        if let Some(watch) = removed.and_then(Node::watch) {
            watch.end(&mut Off::new());
        }
        removed.is_some()
    }

    /// Returns whether the key is there, and reads the object if it lives.
    pub(super) fn look(&self, key: u64) -> bool {
        let reader = self.raw.read();
        let node = reader.get(key, |node| {
            node.live.check();
            true
        });
        if let Some(Vtable::ByHash(of) | Vtable::ByAddress(of)) = node.map(|node| &node.kind) {
            of.upgrade().iter().for_each(|object| object.read());
        }
        node.is_some()
    }

    /// Lets each thread gather two entries, as if many threads had come (D7 of `batch`).
    pub(super) fn gather(&self) {
        self.raw.domain.participants.pretend(CROWD);
    }

    /// Empties the bags of all threads, and returns the number of entries.
    pub(super) fn empty_bags(&self) -> usize {
        let mut panics = FirstPanic::default();
        let emptied = self.raw.empty_bags(true, usize::MAX, &mut panics);
        panics.resume();
        emptied
    }

    /// Destroys the entries that deaths have unlinked, and returns their number.
    pub(super) fn drain(&self) -> usize {
        let mut count = 0;
        for stripe in 0..self.raw.core().map_or(0, CoreRef::stripes) {
            let place = DeadList::Stripe(stripe);
            if let Some(taken) = self.raw.take_dead(place, usize::MAX) {
                taken.each(|node| {
                    node.live.check();
                    count += 1;
                });
                self.raw.reap(taken);
            }
        }
        count
    }
}

/// Runs a model with a table made with this capacity, which has one object for each key.
pub(super) fn model<const N: usize>(
    capacity: usize,
    keys: [u64; N],
    model: impl Fn(Arc<Table>, [Strong<Payload>; N]) + Send + Sync + 'static,
) {
    models::check(run(capacity, keys, model));
}

/// Runs a model with many interleavings as [`model`] does, but only with two preemptions.
pub(super) fn some<const N: usize>(
    capacity: usize,
    keys: [u64; N],
    model: impl Fn(Arc<Table>, [Strong<Payload>; N]) + Send + Sync + 'static,
) {
    models::check_up_to(2, run(capacity, keys, model));
}

fn run<const N: usize>(
    capacity: usize,
    keys: [u64; N],
    model: impl Fn(Arc<Table>, [Strong<Payload>; N]) + Send + Sync + 'static,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let table = Table {
            raw: RawTable::new(),
        };
        table.raw.allocate_for(capacity);
        let objects = keys.map(|key| {
            let object = object();
            table.insert(key, &object);
            object
        });
        model(Arc::new(table), objects);
    }
}

pub(super) fn by_hash(object: &Strong<Payload>) -> Vtable {
    Vtable::ByHash(SharedWatchOf::of(SharedWatch::new(object)))
}

pub(super) fn object() -> Strong<Payload> {
    Strong::new(Payload::new(&std::sync::Arc::default()))
}

/// Drops an object on a thread that never enters the table, and that prefers the second stripe.
pub(super) fn death(object: Strong<Payload>) -> JoinHandle<()> {
    spawn(3, move || drop(object))
}

pub(super) fn with<T: 'static>(
    table: &Arc<Table>,
    run: impl FnOnce(&Table) -> T + 'static,
) -> JoinHandle<T> {
    let table = Arc::clone(table);
    spawn(1, move || run(&table))
}

/// Asserts that at the end the table has these keys, and `dead` entries unlinked by deaths.
pub(super) fn assert_end(table: &Table, keys: &[u64], dead: usize) {
    assert_eq!(table.raw.len(), keys.len());
    assert_eq!(table.raw.dead(), dead);
    assert_eq!(table.drain(), dead);
    let there = (0..16).filter(|key| table.look(*key));
    assert_eq!(std::vec::Vec::from_iter(there), keys);
}

/// The first entries die at once: deaths find the array before any thread enters.
#[test]
fn the_first_entries() {
    model(0, [], |table, []| {
        let other = with(&table, |table| {
            let a = object();
            table.insert(0, &a);
        });
        let b = object();
        table.insert(1, &b);
        drop(b);
        other.join().unwrap();
        assert_end(&table, &[], 2);
    });
}

#[test]
fn growth() {
    for at in [0, 1] {
        model(0, [0, 1], move |table, objects| {
            let mut objects = std::vec::Vec::from(objects);
            let death = death(objects.remove(at));
            let third = object();
            table.insert(2, &third);
            death.join().unwrap();
            assert_end(&table, &[1 - at as u64, 2], 1);
        });
    }
}

/// The moving thread locks both of the buckets that become one.
#[test]
fn shrinking() {
    for key in [0, 1] {
        model(2, [key], move |table, [a]| {
            let death = death(a);
            table.raw.write().shrink_to_fit();
            death.join().unwrap();
            assert_end(&table, &[], 1);
        });
    }
}

#[test]
fn shrinking_of_two() {
    model(2, [0, 1], move |table, [a, _b]| {
        let death = death(a);
        let writer = table.raw.write();
        writer.begin_to_shrink();
        writer.finish_to_move();
        drop(writer);
        death.join().unwrap();
        assert_end(&table, &[1], 1);
    });
}

/// The table is in the middle of a move, which another thread finishes. The dying entry has moved,
/// or is about to move.
#[test]
fn a_move_that_is_under_way() {
    for at in [0, 1] {
        model(4, [0, 1], move |table, objects| {
            table.raw.write().begin_to_shrink();
            assert!(!table.remove(2));
            let mut objects = std::vec::Vec::from(objects);
            let death = death(objects.remove(at));
            assert!(!table.remove(3));
            death.join().unwrap();
            assert_end(&table, &[1 - at as u64], 1);
        });
    }
}

/// The same, but two threads finish the move.
#[test]
fn a_move_that_two_finish() {
    let _long = models::long();
    some(4, [1], |table, [a]| {
        table.raw.write().begin_to_shrink();
        assert!(!table.remove(2));
        let death = death(a);
        let other = with(&table, |table| table.remove(3));
        assert!(!table.remove(3));
        death.join().unwrap();
        assert!(!other.join().unwrap());
        assert_end(&table, &[], 1);
    });
}

/// An entry of the same object inherits the registration.
#[test]
fn replacement() {
    model(0, [0], |table, [a]| {
        let death = death(a.clone());
        table.insert(0, &a);
        drop(a);
        death.join().unwrap();
        assert_end(&table, &[], 1);
    });
}

/// An entry of another object does not inherit the registration.
#[test]
fn replacement_by_another() {
    model(0, [0], |table, [a]| {
        let b = object();
        let death = death(a);
        table.insert(0, &b);
        death.join().unwrap();
        let dead = table.raw.dead();
        assert!(dead <= 1);
        assert_end(&table, &[0], dead);
    });
}

#[test]
fn replacement_against_growth() {
    model(0, [0, 1], |table, [a, _b]| {
        let death = death(a.clone());
        let third = object();
        table.insert(2, &third);
        table.insert(0, &a);
        drop(a);
        death.join().unwrap();
        assert_end(&table, &[1, 2], 1);
    });
}

/// The added entry may get the slot of the dying entry.
#[test]
fn an_insert_into_the_same_bucket() {
    model(4, [0, 4], |table, [a, _b]| {
        let death = death(a);
        let c = object();
        table.insert(8, &c);
        death.join().unwrap();
        assert_end(&table, &[4, 8], 1);
    });
}

/// The dying entry is in the second bucket of a chain.
#[test]
fn an_insert_into_the_same_chain() {
    model(4, [0, 4, 8], |table, [_a, _b, c]| {
        let death = death(c);
        let d = object();
        table.insert(12, &d);
        death.join().unwrap();
        assert_end(&table, &[0, 4, 12], 1);
    });
}

#[test]
fn two_in_the_same_bucket() {
    model(4, [0, 4], |table, [a, b]| {
        let death = death(a);
        drop(b);
        death.join().unwrap();
        assert_end(&table, &[], 2);
    });
}

#[test]
fn removal() {
    model(0, [0], |table, [a]| {
        let death = death(a);
        let removed = table.remove(0);
        death.join().unwrap();
        assert_end(&table, &[], usize::from(!removed));
    });
}

/// An entry unlinked by a death is destroyed when no reader looks at it any more.
#[test]
fn a_reader_and_a_drain() {
    model(0, [0], |table, [a]| {
        let reader = with(&table, |table| table.look(0));
        drop(a);
        // The reader may have the last handle.
        let drained = table.drain();
        reader.join().unwrap();
        assert_end(&table, &[], 1 - drained);
    });
}

/// The draining thread is neither the reader nor the thread on which the object dies.
#[test]
fn a_reader_and_the_drain_of_another() {
    some(0, [0], |table, [a]| {
        let death = death(a);
        let reader = with(&table, |table| table.look(0));
        let drained = table.drain();
        death.join().unwrap();
        reader.join().unwrap();
        assert_end(&table, &[], 1 - drained);
    });
}

#[test]
fn the_end_of_the_table() {
    model(0, [0, 1], |table, [a, _b]| {
        let death = death(a);
        drop(table);
        death.join().unwrap();
    });
}

/// The table has an array to which its entries are moving, and there are entries in both arrays.
#[test]
fn the_end_of_a_table_that_grows() {
    model(2, [0, 1], |table, [a, b]| {
        table.raw.write().begin_to_shrink();
        let death = death(a);
        assert!(!table.remove(2));
        drop(table);
        death.join().unwrap();
        drop(b);
    });
}

/// A deferred array waits for a reader that never leaves. The array ends with the table.
#[test]
fn the_end_of_a_table_with_a_deferred_array() {
    model(0, [0, 1], |table, [a, _b]| {
        mem::forget(table.raw.read());
        let third = object();
        table.insert(2, &third);
        let death = death(a);
        drop(table);
        death.join().unwrap();
    });
}

/// The array that deaths use never goes back to an earlier array, whichever threads move the last
/// buckets of two arrays: a later death finds its entry.
#[test]
fn one_move_after_the_other() {
    some(4, [0], |table, [a]| {
        table.raw.write().begin_to_shrink();
        assert!(!table.remove(2));
        let other = with(&table, |table| table.remove(3));
        table.raw.write().shrink_to_fit();
        assert!(!other.join().unwrap());
        drop(a);
        assert_end(&table, &[], 1);
    });
}

/// An entry whose registration is older than the entry is not linked if the death has already
/// searched for the entry.
#[test]
fn publication() {
    model(2, [1], |table, [_other]| {
        let a = object();
        let core = table.raw.core_or_new();
        let watch = SharedWatchOf::of(SharedWatch::registered(&a, core.count(), short(0)));
        let death = death(a);
        let linked = table.put(0, Vtable::Early(watch), |_| true);
        death.join().unwrap();
        assert_end(&table, &[1], usize::from(linked));
    });
}
