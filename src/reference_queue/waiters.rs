//! Threads and tasks that wait for a message.
//!
//! A message is pushed without a lock, so that a death waits for no thread. A waiter first enters
//! the [list](crate::waits) and sets a flag, then looks at the queue once more, and then sleeps.
//! The pushing thread looks at the flag after the push. There is a StoreLoad barrier on both sides
//! ([`store_load`]), so at least one side sees the other: the waiter sees the message, or the
//! pusher sees the flag. The waiter sets the flag under the lock of the list, and the sleep
//! releases the lock: so a pusher that sees the flag cannot call the wakeup before the waiter
//! sleeps. Only a pusher clears the flag, under the lock, when no thread sleeps and no waker is
//! armed: a waiter that gives up costs the next pusher a lock. Taking a message out may free memory
//! of the queue, so a waiter does that after releasing the lock; if the message is gone by then,
//! the waiter begins again.

#[cfg(all(test, weakly_loom))]
mod models;

use core::mem;
use core::task::Waker;
use std::sync::Arc;
use std::time::Instant;

use crate::panics::{FirstPanic, wake_all};
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, store_load};
use crate::waits::{SeatNumber, Sleepers, Waits};

/// The initial room for tasks that cannot report when they give up. Each of their polls leaves a
/// waker. When the room is full, all tasks are woken, and the tasks that still wait come back and
/// find twice the room. (If the room did not grow, more than 64 waiting tasks would wake each other
/// for ever.)
const ROOM: usize = 64;
const MOST_ROOM: usize = 1 << 16;

/// The waiting threads and tasks.
pub(super) struct Waiters {
    /// Whether there may be waiters. Written under the lock.
    waiting: AtomicUsize,
    /// Written by a pusher, for the barrier alone.
    pushed: AtomicUsize,
    list: Waits<Others>,
}

struct Others {
    /// The number of the seats of tasks that cannot report when they give up.
    strangers: usize,
    /// The largest number of these seats.
    room: usize,
    /// The waker that each message calls. It is in an `Arc` of ours, which the lock may clone.
    armed: Option<Arc<Waker>>,
}

impl Waiters {
    pub(super) fn new() -> Self {
        Waiters {
            waiting: AtomicUsize::new(0),
            pushed: AtomicUsize::new(0),
            list: Waits::new(Others {
                strangers: 0,
                room: ROOM,
                armed: None,
            }),
        }
    }

    /// Wakes one thread and all tasks, after a message has been pushed. Without waiters a single
    /// exchange and a single load.
    #[inline]
    pub(super) fn wake(&self) {
        // The message first, then the flag: see the head of the file.
        store_load(&self.pushed, 1);
        // Relaxed: the barrier orders the load.
        if self.waiting.load(Relaxed) != 0 {
            self.wake_some();
        }
    }

    /// Does what [`wake`](Self::wake) does, where there may be waiters.
    #[cold]
    fn wake_some(&self) {
        let (armed, tasks) = self.list.wake(Sleepers::One, |others, (sleepers, _)| {
            // Relaxed: a waiter that comes now waits for a later message.
            let stays = sleepers != 0 || others.armed.is_some();
            self.waiting.store(usize::from(stays), Relaxed);
            // All tasks leave the list. The next strangers get room for as many tasks.
            let strangers = mem::take(&mut others.strangers);
            others.room = strangers.next_power_of_two().max(ROOM);
            others.armed.clone()
        });
        let mut panics = FirstPanic::default();
        panics.wake_each(tasks);
        if let Some(waker) = armed {
            panics.catch(move || waker.wake_by_ref());
        }
        panics.resume();
    }

    /// Tells the pushers of a waiter. The caller has the lock.
    fn announce(&self) {
        store_load(&self.waiting, 1);
    }

    /// Has every message call this waker from now on, or none. Returns the waker that was there:
    /// the caller drops it under no lock. A message that has not called the new waker is in the
    /// queue when this returns.
    pub(super) fn arm(&self, waker: Option<Arc<Waker>>) -> Option<Arc<Waker>> {
        self.list.with(|others| {
            self.announce();
            mem::replace(&mut others.armed, waker)
        })
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
            let (there, _) = self.list.sleep(until, |_| {
                self.announce();
                is_there()
            });
            let message = take();
            if message.is_some() || !there {
                return message;
            }
        }
    }

    /// Registers a task to be woken by the next message. The caller looks for a message afterwards.
    pub(super) fn register(&self, waker: &Waker) {
        self.enter(&mut None, waker);
        let is_full = self.list.with(|others| {
            others.strangers += 1;
            others.strangers > others.room
        });
        if is_full {
            let ((), woken) = self.list.wake(Sleepers::One, |others, _| {
                (others.strangers, others.room) = (0, (2 * others.room).min(MOST_ROOM));
            });
            wake_all(woken);
        }
    }

    /// Registers a future to be woken by the next message. The caller looks for a message
    /// afterwards, and calls [`leave`](Self::leave) before the future is dropped. The future keeps
    /// its seat.
    pub(super) fn enter(&self, seat: &mut Option<SeatNumber>, waker: &Waker) {
        self.list.enter(seat, waker, |_| {
            self.announce();
            false
        });
    }

    /// Removes a future's waker, if the future has not been woken.
    pub(super) fn leave(&self, seat: SeatNumber) {
        _ = self.list.leave(seat);
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;

    /// Tasks that have given up leave at most as many wakers as the largest room.
    #[test]
    fn the_room_has_an_end() {
        let waiters = Waiters::new();
        let state = || (waiters.list).with(|others| (others.strangers, others.room));
        for room in [ROOM, 2 * ROOM, 4 * ROOM] {
            (0..room).for_each(|_| waiters.register(Waker::noop()));
            assert_eq!(state(), (room, room));
            waiters.register(Waker::noop());
            assert_eq!(state(), (0, 2 * room));
        }
        (waiters.list).with(|others| (others.strangers, others.room) = (MOST_ROOM, MOST_ROOM));
        waiters.register(Waker::noop());
        assert_eq!(state(), (0, MOST_ROOM));
        (0..ROOM + 1).for_each(|_| waiters.register(Waker::noop()));
        waiters.wake();
        assert_eq!(state(), (0, 2 * ROOM));
    }
}
