//! The bag of a participant: objects that the participant's thread has unlinked, and no thread has
//! destroyed or deferred yet (D7 of [`batch`](super::batch)).

use std::vec::Vec;

use super::retired::Retired;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering::*};

/// The number of objects in a full bag, which its thread empties: a batch.
pub(super) const ROOM: usize = if cfg!(weakly_loom) { 2 } else { 16 };

/// On separate cache lines: the thread of the bag writes them, and other threads rarely read them.
#[repr(C, align(128))]
pub(crate) struct Bag {
    /// The capacity is allocated with the bag: under the lock, nothing is allocated or freed. The
    /// thread of the bag, and a thread that empties the bag, hold the lock for a few instructions.
    objects: Mutex<Vec<Retired>>,
    /// Whether a thread has looked at the bag, and no object was added since.
    looked: AtomicBool,
    /// How many objects are in the bag. Written under the lock.
    len: AtomicUsize,
}

impl Bag {
    pub(super) fn new() -> Self {
        Bag {
            objects: Mutex::new(Vec::with_capacity(ROOM)),
            looked: AtomicBool::new(false),
            len: AtomicUsize::new(0),
        }
    }

    /// Puts an object into the bag of the calling thread. Returns the number of objects in the bag,
    /// or the object, if the bag is full.
    #[inline]
    pub(super) fn put(&self, object: Retired) -> Result<usize, Retired> {
        let mut objects = self.objects.lock();
        if objects.len() == ROOM {
            return Err(object);
        }
        objects.push(object);
        // Relaxed, both: hints.
        self.looked.store(false, Relaxed);
        self.len.store(objects.len(), Relaxed);
        Ok(objects.len())
    }

    /// Takes the newest objects out of the bag, until `most` counted objects are taken, and adds
    /// them to `taken`. Takes none if an allocation fails: `taken` gets room for all objects before
    /// the lock.
    pub(super) fn take(&self, most: usize, taken: &mut Vec<Retired>) {
        let mut objects = self.objects.lock();
        if taken.capacity() - taken.len() < objects.len() {
            drop(objects);
            if taken.try_reserve(ROOM).is_err() {
                return;
            }
            objects = self.objects.lock();
        }
        let mut from = 0;
        if most < ROOM {
            let mut count = 0;
            let enough = objects.iter().rposition(|object| {
                count += usize::from(object.is_counted());
                count == most
            });
            from = enough.unwrap_or(0);
        }
        taken.extend(objects.drain(from..));
        // Relaxed: as in `put`.
        self.len.store(from, Relaxed);
    }

    /// Takes all objects, with their vector, so that ending a table allocates nothing here.
    pub(super) fn end(&self) -> Vec<Retired> {
        self.objects.replace(Vec::new())
    }

    /// Returns how many counted entries are in the bag. An entry missing from the count is put into
    /// the bag after the call, by the lock. So the thread that puts the entry sees all stores made
    /// by the caller before.
    pub(super) fn entries(&self) -> usize {
        let objects = self.objects.lock();
        objects.iter().filter(|object| object.is_counted()).count()
    }

    /// Returns whether objects are in the bag, and none was added since the last call.
    pub(super) fn look_if_idle(&self) -> bool {
        // Relaxed: a hint.
        !self.is_empty() && self.looked.swap(true, Relaxed)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: a moment's answer, which includes every object put there before the call.
        self.len.load(Relaxed) == 0
    }
}
