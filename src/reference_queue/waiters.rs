//! Threads and tasks that wait for a message.
//!
//! A message is pushed without a lock, so that a death waits for no thread. A waiter first counts
//! itself, then looks at the queue once more, and then sleeps. The pushing thread looks at the
//! count after the push. There is a StoreLoad barrier on both sides ([`store_load`]), so at least
//! one side sees the other: the waiter sees the message, or the pusher sees the waiter. The waiter
//! takes the lock before the second look, and the sleep releases the lock: so a pusher that sees
//! the count cannot call the wakeup before the waiter sleeps. Taking a message out may free memory
//! of the queue, so a waiter does that after releasing the lock; if the message is gone by then,
//! the waiter begins again.
//!
//! A waker that stays armed counts as one waiter, for as long as it is set.

#[cfg(all(test, weakly_loom))]
mod models;

use core::mem;
use core::task::Waker;
use std::sync::Arc;
use std::time::Instant;
use std::vec::Vec;

use crate::panics::{FirstPanic, wake_all};
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Condvar, Exclusive, Mutex, make_room, store_load};

/// The initial room for wakers. A task that is polled with a new waker each time leaves a waker at
/// each poll. When the room is full, all wakers are called, and the tasks that still wait come back
/// and find twice the room. (If the room did not grow, more than 64 waiting tasks would wake each
/// other for ever.)
const WAKERS: usize = 64;
/// The largest room. Each poll compares its waker with all wakers there.
const MOST_WAKERS: usize = 1 << 16;

/// The waiting threads and tasks.
pub(super) struct Waiters {
    /// The number of waiters. Written under the lock.
    waiting: AtomicUsize,
    /// Written by a pusher, for the barrier alone.
    pushed: AtomicUsize,
    asleep: Mutex<Asleep>,
    message: Condvar,
}

struct Asleep {
    threads: usize,
    /// The wakers of tasks that cannot report when they give up.
    tasks: Vec<Waker>,
    /// The room in `tasks`.
    room: usize,
    /// The wakers of futures, which remove their wakers when they give up. Two futures of one task
    /// have two places.
    futures: Vec<Future>,
    /// The number of waiting futures.
    waiting: usize,
    /// The first free place among the futures.
    free: usize,
    /// The number of times that all waiters have been woken.
    round: u64,
    /// The waker that each message calls. It is in an `Arc` of ours, which the lock may clone.
    armed: Option<Arc<Waker>>,
}

enum Future {
    Waits(Waker),
    /// A free place, and the next free place.
    Free(usize),
}

/// The end of the list of free places.
const NONE: usize = usize::MAX;

/// The place of a waiting future, until all futures are woken.
#[derive(Clone, Copy)]
pub(super) struct Place {
    round: u64,
    at: usize,
}

impl Future {
    fn into_waker(self) -> Option<Waker> {
        match self {
            Future::Waits(waker) => Some(waker),
            Future::Free(_) => None,
        }
    }
}

impl Asleep {
    fn count(&self) -> usize {
        self.threads + self.tasks.len() + self.waiting + usize::from(self.armed.is_some())
    }

    /// Takes all wakers out, and leaves room for as many tasks.
    fn take_wakers(&mut self) -> (Vec<Waker>, Vec<Future>) {
        self.room = self.tasks.len().next_power_of_two().max(WAKERS);
        (self.waiting, self.free, self.round) = (0, NONE, self.round + 1);
        (mem::take(&mut self.tasks), mem::take(&mut self.futures))
    }

    fn is_known(&self, new: &Waker) -> bool {
        self.tasks.iter().any(|there| there.will_wake(new))
    }

    /// Makes room for a waker, unless the waker is there already. If the room is full, the other
    /// wakers have to go, and the memory is for the wakers after them.
    fn make_room(&mut self, new: &Waker, memory: &mut Vec<Waker>) -> Result<(), usize> {
        let is_full = self.tasks.len() == self.room;
        if !is_full && self.tasks.len() < self.tasks.capacity() || self.is_known(new) {
            return Ok(());
        }
        match is_full {
            true => make_room(&mut Vec::new(), 1, memory),
            false => make_room(&mut self.tasks, 1, memory),
        }
    }

    /// Adds a waker, for which there is [room](Self::make_room), unless the waker is there already.
    /// Returns the wakers that had to go.
    fn add(&mut self, waker: &mut Option<Waker>, memory: &mut Vec<Waker>) -> Vec<Waker> {
        let Some(new) = waker.take_if(|new| !self.is_known(new)) else {
            return Vec::new();
        };
        let mut stale = Vec::new();
        if self.tasks.len() == self.room {
            stale = mem::replace(&mut self.tasks, mem::take(memory));
            self.room = (self.room * 2).min(MOST_WAKERS);
        }
        self.tasks.push(new);
        stale
    }

    /// Returns the waker of a future, if the future has not been woken.
    fn future(&mut self, place: Option<Place>) -> Option<&mut Waker> {
        let place = place.filter(|place| place.round == self.round)?;
        match self.futures.get_mut(place.at)? {
            Future::Waits(waker) => Some(waker),
            Future::Free(_) => None,
        }
    }

    /// Adds the waker of a new future, for which there is room.
    fn add_future(&mut self, waker: Waker) -> Place {
        let new = Future::Waits(waker);
        let at = self.free;
        self.waiting += 1;
        let at = match self.futures.get_mut(at) {
            Some(place) => {
                if let Future::Free(next) = mem::replace(place, new) {
                    self.free = next;
                }
                at
            }
            None => {
                self.futures.push(new);
                self.futures.len() - 1
            }
        };
        let round = self.round;
        Place { round, at }
    }

    /// Takes out the waker of a future, if the future has not been woken.
    fn remove_future(&mut self, place: Place) -> Option<Waker> {
        self.future(Some(place))?;
        self.waiting -= 1;
        let free = Future::Free(mem::replace(&mut self.free, place.at));
        mem::replace(&mut self.futures[place.at], free).into_waker()
    }
}

impl Waiters {
    pub(super) fn new() -> Self {
        Waiters {
            waiting: AtomicUsize::new(0),
            pushed: AtomicUsize::new(0),
            asleep: Mutex::new(Asleep {
                threads: 0,
                tasks: Vec::new(),
                room: WAKERS,
                futures: Vec::new(),
                waiting: 0,
                free: NONE,
                round: 0,
                armed: None,
            }),
            message: Condvar::new(),
        }
    }

    /// Wakes one thread and all tasks, after a message has been pushed. Without waiters a single
    /// exchange and a single load.
    #[inline]
    pub(super) fn wake(&self) {
        // The message first, then the count: see the head of the file.
        store_load(&self.pushed, 1);
        // Relaxed: the barrier orders the load.
        if self.waiting.load(Relaxed) != 0 {
            self.wake_some();
        }
    }

    #[cold]
    fn wake_some(&self) {
        let mut asleep = self.asleep.lock();
        let (tasks, futures) = asleep.take_wakers();
        // Relaxed: a waiter that comes now waits for a later message.
        self.waiting.store(asleep.count(), Relaxed);
        if asleep.threads != 0 {
            self.message.notify_one();
        }
        let armed = asleep.armed.clone();
        drop(asleep);
        let mut panics = FirstPanic::default();
        panics.wake_each(tasks);
        panics.wake_each(futures.into_iter().filter_map(Future::into_waker));
        if let Some(waker) = armed {
            panics.catch(move || waker.wake_by_ref());
        }
        panics.resume();
    }

    /// Has every message call this waker from now on, or none. Returns the waker that was there:
    /// the caller drops it under no lock. A message that has not called the new waker is in the
    /// queue when this returns.
    pub(super) fn arm(&self, waker: Option<Arc<Waker>>) -> Option<Arc<Waker>> {
        let mut asleep = self.asleep.lock();
        let old = mem::replace(&mut asleep.armed, waker);
        store_load(&self.waiting, asleep.count());
        old
    }

    /// Waits until `take` finds a message, or until a point in time. `is_there` returns whether
    /// there is a message.
    pub(super) fn wait<M>(
        &self,
        until: Option<Instant>,
        is_there: impl Fn() -> bool,
        take: impl Fn() -> Option<M>,
    ) -> Option<M> {
        loop {
            let there = self.sleep(until, &is_there);
            let message = take();
            if message.is_some() || !there {
                return message;
            }
        }
    }

    /// Sleeps until there is a message, or until a point in time. Returns whether there was a
    /// message.
    fn sleep(&self, until: Option<Instant>, is_there: impl Fn() -> bool) -> bool {
        let mut asleep = self.asleep.lock();
        asleep.threads += 1;
        store_load(&self.waiting, asleep.count());
        let there = loop {
            // Also after the time is up: the pusher may have woken this thread for the message, and
            // no other thread.
            if is_there() {
                break true;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break false;
            }
            asleep = self.message.wait(asleep, left);
        };
        asleep.threads -= 1;
        // Relaxed: a pusher that still reads the larger count takes the lock for nothing.
        self.waiting.store(asleep.count(), Relaxed);
        there
    }

    /// Registers a task to be woken by the next message. The caller looks for a message afterwards.
    pub(super) fn register(&self, waker: &Waker) {
        // User code, also its destructor: not under the lock.
        let mut own = Some(waker.clone());
        let stale = self.asleep.with_room(
            |asleep, memory| asleep.make_room(waker, memory),
            |asleep, memory| {
                let stale = asleep.add(&mut own, memory);
                store_load(&self.waiting, asleep.count());
                stale
            },
        );
        wake_all(stale);
    }

    /// Registers a future to be woken by the next message. The caller looks for a message
    /// afterwards, and calls [`leave`](Self::leave) before the future is dropped. The future keeps
    /// its place.
    pub(super) fn enter(&self, place: &mut Option<Place>, waker: &Waker) {
        // User code, also the old waker's destructor: not under the lock.
        let (known, mut waker) = (*place, Some(waker.clone()));
        self.asleep.with_room(
            |asleep, memory| match asleep.free != NONE || asleep.future(known).is_some() {
                true => Ok(()),
                false => make_room(&mut asleep.futures, 1, memory),
            },
            |asleep, _| {
                match asleep.future(known) {
                    Some(there) => waker = waker.take().map(|new| mem::replace(there, new)),
                    None => *place = waker.take().map(|new| asleep.add_future(new)),
                }
                store_load(&self.waiting, asleep.count());
            },
        );
        drop(waker);
    }

    /// Removes a future's waker, if the future has not been woken. (If the future has been woken,
    /// so have all other waiters: no waiter misses a message.)
    pub(super) fn leave(&self, place: Place) {
        let mut asleep = self.asleep.lock();
        let waker = asleep.remove_future(place);
        // Relaxed: as in `sleep`.
        self.waiting.store(asleep.count(), Relaxed);
        drop(asleep);
        drop(waker);
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;
    use alloc::sync::Arc;
    use alloc::task::Wake;

    struct Task;

    impl Wake for Task {
        fn wake(self: Arc<Self>) {}
    }

    /// Tasks that have given up leave at most as many wakers as the largest room.
    #[test]
    fn the_room_has_an_end() {
        let waiters = Waiters::new();
        let many = std::vec![Waker::noop().clone(); MOST_WAKERS];
        let (new, mut memory) = (Waker::from(Arc::new(Task)), Vec::with_capacity(1));
        let mut asleep = waiters.asleep.lock();
        (asleep.tasks, asleep.room) = (many, MOST_WAKERS);
        assert!(asleep.make_room(&new, &mut memory).is_ok());
        let stale = asleep.add(&mut Some(new), &mut memory);
        assert_eq!(
            (stale.len(), asleep.tasks.len(), asleep.room),
            (MOST_WAKERS, 1, MOST_WAKERS)
        );
    }
}
