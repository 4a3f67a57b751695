//! Data for one thread at a time, under a lock, in a [`Critical`] section.
//!
//! The allocator is user code, and may use a collection. So a thread allocates and frees nothing in
//! the section: new memory is allocated before the section ([`Mutex::with_room`]), and old memory
//! is freed after it.

use core::mem;
use core::ops::{Deref, DerefMut};
use std::sync::PoisonError;
use std::time::Duration;
use std::vec::Vec;

use super::{Critical, Memory, const_fn, locks};

/// Makes room in a list for `more` elements, if need be by moving the list into `memory`. The error
/// is the size that `memory` needs.
pub(crate) fn make_room<T>(
    list: &mut Vec<T>,
    more: usize,
    memory: &mut Vec<T>,
) -> Result<(), usize> {
    let wanted = list.len() + more;
    if list.capacity() >= wanted {
        return Ok(());
    }
    if memory.capacity() < wanted {
        return Err(wanted.max(2 * list.len()).max(4));
    }
    memory.append(list);
    mem::swap(list, memory);
    Ok(())
}

/// A lock under which no user code runs. So a poisoned lock does not matter.
#[derive(Debug)]
pub(crate) struct Mutex<T>(locks::Mutex<T>);

/// The guard of a lock held by this thread.
pub(crate) struct MutexGuard<'l, T> {
    guard: locks::MutexGuard<'l, T>,
    critical: Critical,
}

impl<T> Mutex<T> {
    const_fn! {
        pub(crate) fn new(value: T) -> Mutex<T> {
            Mutex(locks::Mutex::new(value))
        }
    }

    /// Returns the data, without the lock.
    pub(crate) fn into_inner(self) -> T {
        self.0.into_inner().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes the lock. Nothing is allocated or freed before the guard is dropped.
    pub(crate) fn lock(&self) -> MutexGuard<'_, T> {
        MutexGuard::new(self.0.lock().unwrap_or_else(PoisonError::into_inner))
    }

    /// Replaces the data. The caller drops the old data outside of the section.
    pub(crate) fn replace(&self, new: T) -> T {
        mem::replace(&mut *self.lock(), new)
    }

    /// Runs `ready` and then `run` in one section. If `ready` returns an error, the size of the
    /// memory that it needs, the section ends, this function allocates the memory, and starts
    /// again. `ready` may exchange the memory for memory of the data, which is freed after the
    /// section.
    pub(crate) fn with_room<M: Memory, R>(
        &self,
        ready: impl Fn(&mut T, &mut M) -> Result<(), M::Size>,
        run: impl FnOnce(&mut T, &mut M) -> R,
    ) -> R {
        self.with_memory(M::default(), ready, run)
    }

    /// Like [`with_room`](Self::with_room), with some memory at the start.
    pub(crate) fn with_memory<M: Memory, R>(
        &self,
        // Dropped after the section.
        mut memory: M,
        ready: impl Fn(&mut T, &mut M) -> Result<(), M::Size>,
        run: impl FnOnce(&mut T, &mut M) -> R,
    ) -> R {
        loop {
            let mut inside = self.lock();
            match ready(&mut inside, &mut memory) {
                Ok(()) => return run(&mut inside, &mut memory),
                Err(size) => {
                    drop(inside);
                    memory = M::allocate(size);
                }
            }
        }
    }
}

impl<'l, T> MutexGuard<'l, T> {
    fn new(guard: locks::MutexGuard<'l, T>) -> Self {
        let critical = Critical::enter();
        MutexGuard { guard, critical }
    }
}

impl<T> Deref for MutexGuard<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.guard
    }
}

impl<T> DerefMut for MutexGuard<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        &mut self.guard
    }
}

/// A condition variable. A waiting thread releases its lock meanwhile.
#[derive(Debug)]
pub(crate) struct Condvar(locks::Condvar);

impl Condvar {
    pub(crate) fn new() -> Self {
        Condvar(locks::Condvar::new())
    }

    pub(crate) fn notify_one(&self) {
        self.0.notify_one();
    }

    pub(crate) fn notify_all(&self) {
        self.0.notify_all();
    }

    /// Waits for a notification, or for at most the given time. A wait may also end for no reason.
    pub(crate) fn wait<'l, T>(
        &self,
        guard: MutexGuard<'l, T>,
        most: Option<Duration>,
    ) -> MutexGuard<'l, T> {
        let MutexGuard { guard, critical } = guard;
        drop(critical);
        MutexGuard::new(match most {
            None => self.0.wait(guard).unwrap_or_else(PoisonError::into_inner),
            Some(most) => {
                let woken = self.0.wait_timeout(guard, most);
                woken.unwrap_or_else(PoisonError::into_inner).0
            }
        })
    }
}
