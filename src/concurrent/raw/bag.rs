//! The bag of a participant: the objects that its thread has unlinked, and that nobody has
//! destroyed yet (D7 of [`batch`](super::batch)).

use core::mem;
use std::vec::Vec;

use super::retired::Retired;
use crate::sync::{self, AtomicUsize, Critical, Ordering::*, UnsafeCell};

/// Retired objects in a bag, at most.
pub(super) const ROOM: usize = if cfg!(weakly_loom) { 2 } else { 64 };

const FREE: usize = 0;
const LOCKED: usize = 1;

/// On cache lines of its own: its thread writes them, and other threads hardly ever look.
#[repr(C, align(128))]
pub(super) struct Bag<C> {
    /// A leaf: a thread that has this lock takes no other, and allocates and frees nothing. The
    /// thread of the bag takes the lock for a few instructions, and so does a thread that empties
    /// the bag of another.
    lock: AtomicUsize,
    /// How often its thread has put an object there, modulo 2^n. Written under the lock.
    puts: AtomicUsize,
    /// How many objects are there. Written under the lock.
    len: AtomicUsize,
    /// Under the lock. Its room is allocated with the bag.
    objects: UnsafeCell<Vec<Retired<C>>>,
}

/// A bag that this thread has locked, until this is dropped.
struct Locked<'b, C> {
    bag: &'b Bag<C>,
    _critical: Critical,
}

impl<C> Drop for Locked<'_, C> {
    #[inline]
    fn drop(&mut self) {
        // Release: with `lock`: what is in the bag, and that it was unlinked before.
        self.bag.lock.store(FREE, Release);
    }
}

impl<C> Bag<C> {
    pub(super) fn new() -> Self {
        Bag {
            lock: AtomicUsize::new(FREE),
            puts: AtomicUsize::new(0),
            len: AtomicUsize::new(0),
            objects: UnsafeCell::new(Vec::with_capacity(ROOM)),
        }
    }

    #[inline]
    fn lock(&self) -> Locked<'_, C> {
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

    /// Puts an object into the bag of this thread. Returns how many are there, or the object, if
    /// the bag is full.
    #[inline]
    pub(super) fn put(&self, object: Retired<C>) -> Result<usize, Retired<C>> {
        let locked = self.lock();
        let len = locked.with(|objects| {
            if objects.len() == ROOM {
                return Err(object);
            }
            objects.push(object);
            Ok(objects.len())
        })?;
        // Relaxed: no other thread writes it now.
        let puts = self.puts.load(Relaxed);
        self.puts.store(puts.wrapping_add(1), Relaxed);
        self.len.store(len, Relaxed);
        Ok(len)
    }

    /// Takes the newest objects out, so many that `most` of them count, and adds them to `taken`.
    /// For want of memory it takes none: before the lock there is room for all.
    pub(super) fn take(&self, most: usize, taken: &mut Vec<Retired<C>>) {
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

    /// Takes all objects, with their room: to end a table takes no memory for that.
    pub(super) fn end(&self) -> Vec<Retired<C>> {
        self.lock().with(mem::take)
    }

    /// How many entries are there: what the thread of the bag has done before it put an entry there
    /// that this does not see yet is done after this.
    pub(super) fn entries(&self) -> usize {
        let locked = self.lock();
        locked.with(|objects| objects.iter().filter(|object| object.is_counted()).count())
    }

    /// How often its thread has put an object there, modulo 2^n.
    #[inline]
    pub(super) fn puts(&self) -> usize {
        // Relaxed: a hint.
        self.puts.load(Relaxed)
    }

    #[inline]
    pub(super) fn is_empty(&self) -> bool {
        // Relaxed: a moment's answer; objects that were put before this call are seen.
        self.len.load(Relaxed) == 0
    }
}

impl<C> Locked<'_, C> {
    #[inline]
    fn with<R>(&self, change: impl FnOnce(&mut Vec<Retired<C>>) -> R) -> R {
        // SAFETY: we have the lock.
        self.bag
            .objects
            .with_mut(|objects| change(unsafe { &mut *objects }))
    }
}
