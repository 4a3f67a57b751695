//! Threads and tasks that wait for a message.
//!
//! A message is pushed without a lock, so that a death waits for no thread. A waiter first counts itself, then looks
//! at the queue once more, and then sleeps. The thread that has pushed looks at that count. There is a StoreLoad
//! barrier on both sides ([`store_load`]), so one of the two sees the other: the waiter the message, or the pusher the
//! waiter. The lock is taken before the second look and released by the sleep, so a pusher that sees the count cannot
//! wake a waiter before it sleeps.

#[cfg(all(test, weakly_loom))]
mod models;

use alloc::collections::BTreeMap;
use core::mem;
use core::task::Waker;
use std::time::Instant;
use std::vec::Vec;

use crate::panics::wake_all;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Condvar, Mutex, MutexGuard, store_load};

/// For how many wakers there is room at first. A task that is polled with a new waker each time leaves one each time.
/// When there is no room, all are woken, and the tasks that still wait come back: they find twice the room. (Were there
/// no more of it, more tasks than that would wake each other for ever.)
const WAKERS: usize = 64;
/// The most room. Each poll compares its waker with all of them.
const MOST_WAKERS: usize = 1 << 16;

/// The threads and tasks that wait.
pub(super) struct Waiters {
    /// How many there are. Written under the lock.
    waiting: AtomicUsize,
    /// What a pusher writes, for the barrier alone.
    pushed: AtomicUsize,
    asleep: Mutex<Asleep>,
    message: Condvar,
}

struct Asleep {
    threads: usize,
    /// Those that cannot say when they have given up.
    tasks: Vec<Waker>,
    /// For how many tasks.
    room: usize,
    /// Those that take their wakers back, by their numbers. Two futures of one task are two.
    futures: BTreeMap<u64, Waker>,
    /// The number of the latest future.
    latest: u64,
}

impl Asleep {
    fn count(&self) -> usize {
        self.threads + self.tasks.len() + self.futures.len()
    }

    /// Takes all wakers out, and leaves room for as many tasks.
    fn take_wakers(&mut self) -> Vec<Waker> {
        self.room = self.tasks.len().next_power_of_two().max(WAKERS);
        let mut wakers = mem::take(&mut self.tasks);
        wakers.extend(mem::take(&mut self.futures).into_values());
        wakers
    }

    /// Adds a waker, unless it is known. Returns those that have to go for it.
    fn add(&mut self, waker: &mut Option<Waker>) -> Vec<Waker> {
        let is_known = |new: &Waker| self.tasks.iter().any(|there| there.will_wake(new));
        let Some(new) = waker.take_if(|new| !is_known(new)) else {
            return Vec::new();
        };
        let mut stale = Vec::new();
        if self.tasks.len() == self.room {
            stale = mem::take(&mut self.tasks);
            self.room = (self.room * 2).min(MOST_WAKERS);
        }
        self.tasks.push(new);
        stale
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
                futures: BTreeMap::new(),
                latest: 0,
            }),
            message: Condvar::new(),
        }
    }

    fn lock(&self) -> MutexGuard<'_, Asleep> {
        // No code of a user runs under it, so a poisoned one is as good as another.
        let asleep = self.asleep.lock();
        asleep.unwrap_or_else(|poisoned| poisoned.into_inner())
    }

    /// A message has been pushed: wakes a thread, and all tasks. Without waiters one exchange and one load.
    #[inline]
    pub(super) fn wake(&self) {
        // The message first, then the count: see the chapter.
        store_load(&self.pushed, 1);
        // Relaxed: the barrier orders.
        if self.waiting.load(Relaxed) != 0 {
            self.wake_some();
        }
    }

    #[cold]
    fn wake_some(&self) {
        let mut asleep = self.lock();
        let wakers = asleep.take_wakers();
        // Relaxed: who comes now waits for a later message.
        self.waiting.store(asleep.count(), Relaxed);
        if asleep.threads != 0 {
            self.message.notify_one();
        }
        drop(asleep);
        wake_all(wakers);
    }

    /// Waits until `take` finds a message, or until a time.
    pub(super) fn wait<M>(
        &self,
        until: Option<Instant>,
        mut take: impl FnMut() -> Option<M>,
    ) -> Option<M> {
        let mut asleep = self.lock();
        asleep.threads += 1;
        store_load(&self.waiting, asleep.count());
        let message = loop {
            // Also after the time is up: the thread may have been woken for this message, and no other is.
            if let Some(message) = take() {
                break Some(message);
            }
            asleep = match until {
                None => self
                    .message
                    .wait(asleep)
                    .unwrap_or_else(|poisoned| poisoned.into_inner()),
                Some(until) => {
                    let left = until.saturating_duration_since(Instant::now());
                    if left.is_zero() {
                        break None;
                    }
                    let woken = self.message.wait_timeout(asleep, left);
                    woken.unwrap_or_else(|poisoned| poisoned.into_inner()).0
                }
            };
        };
        asleep.threads -= 1;
        // Relaxed: a waiter less is no news to a pusher that still sees it.
        self.waiting.store(asleep.count(), Relaxed);
        message
    }

    /// Has a task woken by the next message. The caller looks for one after this.
    pub(super) fn register(&self, waker: &Waker) {
        // Code of a user, also its destructor: not under the lock.
        let mut waker = Some(waker.clone());
        let mut asleep = self.lock();
        let stale = asleep.add(&mut waker);
        store_load(&self.waiting, asleep.count());
        drop(asleep);
        wake_all(stale);
    }

    /// Has a future woken by the next message. The caller looks for one after this, and [leaves](Self::leave) before it
    /// goes. The future keeps the number.
    pub(super) fn enter(&self, number: &mut Option<u64>, waker: &Waker) {
        // Code of a user, also the old one's destructor: not under the lock.
        let waker = waker.clone();
        let mut asleep = self.lock();
        let number = *number.get_or_insert_with(|| {
            asleep.latest += 1;
            asleep.latest
        });
        let old = asleep.futures.insert(number, waker);
        store_load(&self.waiting, asleep.count());
        drop(asleep);
        drop(old);
    }

    /// Takes a future's waker back, if it has not been woken. (If it has, so have all others: nobody else's message is
    /// lost with it.)
    pub(super) fn leave(&self, number: u64) {
        let mut asleep = self.lock();
        let waker = asleep.futures.remove(&number);
        // Relaxed: as in `wait`.
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

    /// Tasks that have given up leave no more wakers than there is room for at most.
    #[test]
    fn the_room_has_an_end() {
        let waiters = Waiters::new();
        let mut asleep = waiters.lock();
        asleep.tasks = std::vec![Waker::noop().clone(); MOST_WAKERS];
        asleep.room = MOST_WAKERS;
        let stale = asleep.add(&mut Some(Waker::from(Arc::new(Task))));
        assert_eq!(
            (stale.len(), asleep.tasks.len(), asleep.room),
            (MOST_WAKERS, 1, MOST_WAKERS)
        );
    }
}
