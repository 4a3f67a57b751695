//! The bag of a participant: objects that the participant's thread has unlinked, and no thread has
//! destroyed or deferred yet (D7 of [`batch`](super::batch)).

use core::mem;
use std::vec::Vec;

use super::retired::Retired;
use crate::sync::{self, AtomicBool, AtomicUsize, Critical, Ordering::*, UnsafeCell};

/// The number of objects in a full bag, which its thread empties: a batch.
pub(super) const ROOM: usize = if cfg!(weakly_loom) { 2 } else { 16 };

const FREE: usize = 0;
const LOCKED: usize = 1;

/// On separate cache lines: the thread of the bag writes them, and other threads rarely read them.
#[repr(C, align(128))]
pub(crate) struct Bag {
    /// A leaf lock: the holder takes no second lock, and allocates and frees nothing. The thread of
    /// the bag, and a thread that empties the bag, hold the lock for a few instructions.
    lock: AtomicUsize,
    /// Whether a thread has looked at the bag, and no object was added since.
    looked: AtomicBool,
    /// How many objects are in the bag. Written under the lock.
    len: AtomicUsize,
    /// Accessed under the lock. The capacity is allocated with the bag.
    objects: UnsafeCell<Vec<Retired>>,
}

/// A locked bag. Dropping the guard unlocks the bag.
struct Locked<'b> {
    bag: &'b Bag,
    _critical: Critical,
}

impl Drop for Locked<'_> {
    #[inline]
    fn drop(&mut self) {
        // Release: with `lock`: the objects in the bag, and their unlinking.
        self.bag.lock.store(FREE, Release);
    }
}

impl Bag {
    pub(super) fn new() -> Self {
        Bag {
            lock: AtomicUsize::new(FREE),
            looked: AtomicBool::new(false),
            len: AtomicUsize::new(0),
            objects: UnsafeCell::new(Vec::with_capacity(ROOM)),
        }
    }

    #[inline]
    fn lock(&self) -> Locked<'_> {
        let mut turn = 0;
        // Acquire: with the unlocking.
        while (self.lock)
            .compare_exchange(FREE, LOCKED, Acquire, Relaxed)
            .is_err()
        {
            sync::relax(&mut turn);
        }
        Locked {
            bag: self,
            _critical: Critical::enter(),
        }
    }

    /// Puts an object into the bag of the calling thread. Returns the number of objects in the bag,
    /// or the object, if the bag is full.
    #[inline]
    pub(super) fn put(&self, object: Retired) -> Result<usize, Retired> {
        let locked = self.lock();
        let len = locked.with(|objects| {
            if objects.len() == ROOM {
                return Err(object);
            }
            objects.push(object);
            Ok(objects.len())
        })?;
        // Relaxed, both: hints.
        self.looked.store(false, Relaxed);
        self.len.store(len, Relaxed);
        Ok(len)
    }

    /// Takes the newest objects out of the bag, until `most` counted objects are taken, and adds
    /// them to `taken`. Takes none if an allocation fails: `taken` gets room for all objects before
    /// the lock.
    pub(super) fn take(&self, most: usize, taken: &mut Vec<Retired>) {
        let mut locked = self.lock();
        let is_room = locked.with(|objects| objects.len() <= taken.capacity() - taken.len());
        if !is_room {
            drop(locked);
            if taken.try_reserve(ROOM).is_err() {
                return;
            }
            locked = self.lock();
        }
        let len = locked.with(|objects| {
            let from = if most >= ROOM {
                0
            } else {
                let mut count = 0;
                let enough = objects.iter().rposition(|object| {
                    count += usize::from(object.is_counted());
                    count == most
                });
                enough.unwrap_or(0)
            };
            taken.extend(objects.drain(from..));
            from
        });
        // Relaxed: as in `put`.
        self.len.store(len, Relaxed);
    }

    /// Takes all objects, with their vector, so that ending a table allocates nothing here.
    pub(super) fn end(&self) -> Vec<Retired> {
        self.lock().with(mem::take)
    }

    /// Returns how many counted entries are in the bag. An entry missing from the count is put into
    /// the bag after the call, by the lock. So the thread that puts the entry sees all stores made
    /// by the caller before.
    pub(super) fn entries(&self) -> usize {
        let locked = self.lock();
        locked.with(|objects| objects.iter().filter(|object| object.is_counted()).count())
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

impl Locked<'_> {
    #[inline]
    fn with<R>(&self, change: impl FnOnce(&mut Vec<Retired>) -> R) -> R {
        // SAFETY: `self` holds the lock.
        self.bag
            .objects
            .with_mut(|objects| change(unsafe { &mut *objects }))
    }
}
