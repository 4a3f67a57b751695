//! loom models of the pointers: every interleaving, and every value that a load may return in the
//! C11 model, of a few pointers, entries and finalizers on two or three threads. This file has the
//! set-up of all models.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`
//!
//! Each model runs the code that ships, and was seen red by a mutation of the code. A model fails
//! if a record, hook, block, payload or stack is leaked, or has a use that is not ordered before
//! its end.

mod anchors;
mod marks;
mod pointers;
mod records;
mod returning;
mod shared;
mod wakers;

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use loom::cell::UnsafeCell;
use loom::thread;
use std::sync::Arc;
use std::vec::Vec;

use super::{Atomic, ObjectRef};
pub(crate) use wakers::{Waits, Woken};

use crate::hash::HashValue;
use crate::queue::{DeadNotice, DeadQueue, NoticeQueue, OwnedWatch};
use crate::sync::models;
use crate::{Strong, Weak};

const ALIVE: usize = 7;

/// A payload; loom orders every use of the payload against its destruction.
pub(crate) struct Payload {
    /// The number that a model takes for the hash of the payload's address, which differs between
    /// executions.
    pub(crate) key: u64,
    value: UnsafeCell<usize>,
    /// (From `std`: loom need not order a count that only the model reads.)
    drops: Arc<AtomicUsize>,
}

// SAFETY: loom checks every access.
unsafe impl Send for Payload {}
// SAFETY: as for `Send`.
unsafe impl Sync for Payload {}

impl Payload {
    pub(crate) fn new(drops: &Arc<AtomicUsize>) -> Self {
        Payload {
            key: 0,
            value: UnsafeCell::new(ALIVE),
            drops: drops.clone(),
        }
    }

    pub(crate) fn read(&self) {
        // SAFETY: loom fails the model if a write is not ordered with this read.
        assert_eq!(self.value.with(|value| unsafe { *value }), ALIVE);
    }

    pub(crate) fn write(&mut self) {
        // SAFETY: as in `read`.
        self.value.with_mut(|value| unsafe {
            assert_eq!(*value, ALIVE);
            *value = ALIVE;
        });
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.write();
        // SAFETY: as in `read`.
        self.value.with_mut(|value| unsafe { *value = 0 });
        self.drops.fetch_add(1, Relaxed);
    }
}

/// A payload apart from the block of its object.
pub(crate) struct Large {
    payload: Payload,
    _size: [u8; super::header::INLINE],
}

/// A payload of a model.
pub(crate) trait Thing: 'static {
    fn payload(&self) -> &Payload;
}

impl Thing for Payload {
    fn payload(&self) -> &Payload {
        self
    }
}

impl Thing for Large {
    fn payload(&self) -> &Payload {
        &self.payload
    }
}

/// Makes the objects of a model.
#[derive(Clone)]
pub(crate) struct Maker(Arc<AtomicUsize>);

impl Maker {
    pub(crate) fn payload(&self) -> Payload {
        Payload::new(&self.0)
    }

    pub(crate) fn object(&self) -> Strong<Payload> {
        Strong::new(self.payload())
    }

    pub(crate) fn large(&self) -> Strong<Large> {
        Strong::new(Large {
            payload: self.payload(),
            _size: [0; super::header::INLINE],
        })
    }
}

/// Runs `model` in every interleaving. When all threads are done, `deaths` payloads must have been
/// dropped.
pub(crate) fn check(deaths: usize, model: impl Fn(&Maker) + Send + Sync + 'static) {
    models::check(run(deaths, model));
}

/// Does the same as [`check`], but runs only interleavings of up to two preemptions, for a model
/// with many interleavings.
pub(crate) fn check_some(deaths: usize, model: impl Fn(&Maker) + Send + Sync + 'static) {
    models::check_up_to(2, run(deaths, model));
}

/// Does the same as [`check`], but runs only interleavings of up to one preemption.
pub(crate) fn check_few(deaths: usize, model: impl Fn(&Maker) + Send + Sync + 'static) {
    models::check_up_to(1, run(deaths, model));
}

fn run(
    deaths: usize,
    model: impl Fn(&Maker) + Send + Sync + 'static,
) -> impl Fn() + Send + Sync + 'static {
    move || {
        let maker = Maker(Arc::new(AtomicUsize::new(0)));
        model(&maker);
        assert_eq!(maker.0.load(Relaxed), deaths);
    }
}

/// A model of one object with two strong pointers.
fn check_shared(model: impl Fn(Strong<Payload>, Strong<Payload>) + Send + Sync + 'static) {
    check(1, move |maker| {
        let a = maker.object();
        let b = a.clone();
        model(a, b);
    });
}

/// A model of one object and a weak pointer to it.
fn check_weak(model: impl Fn(Strong<Payload>, Weak<Payload>) + Send + Sync + 'static) {
    check(1, move |maker| {
        let a = maker.object();
        let weak = Strong::downgrade(&a);
        model(a, weak);
    });
}

/// Runs both closures concurrently, and joins them.
pub(crate) fn both<A: 'static, B>(
    other: impl FnOnce() -> A + 'static,
    here: impl FnOnce() -> B,
) -> (A, B) {
    let other = thread::spawn(other);
    let here = here();
    (other.join().unwrap(), here)
}

/// Runs the three closures concurrently, and joins them.
pub(crate) fn all_three<A: 'static, B: 'static, C>(
    one: impl FnOnce() -> A + 'static,
    two: impl FnOnce() -> B + 'static,
    here: impl FnOnce() -> C,
) -> (A, B, C) {
    let one = thread::spawn(one);
    let two = thread::spawn(two);
    let here = here();
    (one.join().unwrap(), two.join().unwrap(), here)
}

/// Reads a last time, then drops the pointer.
fn read_and_drop(a: Strong<Payload>) {
    a.read();
    drop(a);
}

/// Makes a weak pointer that outlives the strong pointer `a`.
pub(crate) fn downgrade_and_drop(a: Strong<Payload>) {
    let weak = Strong::downgrade(&a);
    drop(a);
    peek(&weak);
}

/// Makes a weak pointer that outlives the weak pointer from which it was cloned.
pub(crate) fn clone_and_drop(weak: Weak<Payload>) {
    let again = weak.clone();
    drop(weak);
    peek(&again);
}

/// Writes, if `a` is the only pointer.
pub(crate) fn write_if_alone(a: &mut Strong<Payload>) -> bool {
    let payload = Strong::get_mut(a);
    payload.map(Payload::write).is_some()
}

/// Reads through an upgraded pointer; returns false if the upgrade failed.
pub(crate) fn peek<T: Thing>(weak: &Weak<T>) -> bool {
    weak.upgrade()
        .map(|strong| strong.payload().read())
        .is_some()
}

/// A map with one owner, as its queue sees the map: a row of entries, each with a hash of its own.
pub(crate) struct Map<T = Payload> {
    pub(crate) queue: DeadQueue<Atomic>,
    pub(crate) entries: Vec<Option<OwnedWatch<T, Atomic>>>,
    first_hash: u32,
}

impl<T> Map<T> {
    pub(crate) fn new() -> Self {
        Self::hashing_from(1)
    }

    pub(crate) fn hashing_from(hash: u32) -> Self {
        Map {
            queue: DeadQueue::NONE,
            entries: Vec::new(),
            first_hash: hash,
        }
    }

    pub(crate) fn of(keys: &[&Strong<T>]) -> Self {
        let mut map = Self::new();
        for key in keys {
            map.put(*key);
        }
        map
    }

    fn hash(&self, index: usize) -> HashValue {
        HashValue::of_short((self.first_hash + index as u32) << 1)
    }

    pub(crate) fn put<'a>(&mut self, key: impl Into<ObjectRef<'a, T, Atomic>>) -> usize
    where
        T: 'a,
    {
        let key = key.into();
        let index = self.entries.len();
        let hash = self.hash(index);
        let watch = self.queue.watch(key, hash);
        assert!(watch.is_on(key));
        self.entries.push(Some(watch));
        index
    }

    pub(crate) fn entry(&self, index: usize) -> &OwnedWatch<T, Atomic> {
        self.entries[index].as_ref().unwrap()
    }

    /// Removes an entry. Returns false if the entry has been removed with its notice.
    pub(crate) fn remove(&mut self, index: usize) -> bool {
        match self.entries[index].take() {
            Some(mut watch) => {
                assert_eq!(watch.cookie().unwrap().short(), self.hash(index).short());
                self.queue.end(&mut watch);
                true
            }
            None => false,
        }
    }

    /// Returns the index of the entry that a notice names; none if the notice is late.
    fn named(&self, notice: &DeadNotice<Atomic>) -> Option<usize> {
        let named = |watch: &OwnedWatch<T, Atomic>| watch.is_named_by(notice);
        let mut entries = self.entries.iter();
        let index = entries.position(|watch| watch.as_ref().is_some_and(named))?;
        assert_eq!(DeadQueue::cookie(notice).short(), self.hash(index).short());
        Some(index)
    }

    /// Takes the notices up to the first that is not late, and unlinks its entry. Returns false if
    /// there is no such notice.
    pub(crate) fn drain_one(&mut self) -> bool {
        while let Some(notice) = self.queue.next() {
            let index = self.named(&notice);
            if let Some(index) = index {
                let watch = self.entries[index].take().unwrap();
                assert!(watch.is_expired() && watch.upgrade().is_none());
            }
            self.queue.finish(notice);
            if index.is_some() {
                return true;
            }
            self.queue.was_late();
        }
        false
    }

    /// Returns the number of entries with a notice.
    pub(crate) fn pending(&self) -> usize {
        let entries = self.queue.iter().filter_map(|notice| self.named(&notice));
        entries.count()
    }

    /// Finishes a late notice that is alone, and arms the stack.
    pub(crate) fn settle(&mut self) {
        let alone = self.queue.alone();
        if alone.is_some_and(|alone| self.named(&alone).is_none()) {
            let late = self.queue.next().unwrap();
            self.queue.finish(late);
            self.queue.was_late();
        }
        self.queue.arm();
    }

    /// Drains the notices that have come; returns how many entries were unlinked.
    pub(crate) fn drain(&mut self) -> usize {
        let mut count = 0;
        while self.drain_one() {
            count += 1;
        }
        count
    }
}

impl<T: Thing> Map<T> {
    /// Reads through an upgraded entry; returns false if the upgrade failed.
    pub(crate) fn peek(&self, index: usize) -> bool {
        let strong = self.entry(index).upgrade();
        strong.map(|strong| strong.payload().read()).is_some()
    }
}

impl<T> Drop for Map<T> {
    fn drop(&mut self) {
        for index in 0..self.entries.len() {
            self.remove(index);
        }
    }
}
