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
use std::vec::Vec;

use crate::panics::{FirstPanic, wake_all};
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, make_room, store_load};
use crate::waits::{SeatNumber, Sleepers, Waits};

/// The initial room for wakers. A task that is polled with a new waker each time leaves a waker at
/// each poll. When the room is full, all wakers are called, and the tasks that still wait come back
/// and find twice the room. (If the room did not grow, more than 64 waiting tasks would wake each
/// other for ever.)
const WAKERS: usize = 64;
/// The largest room. Each poll compares its waker with all wakers there.
const MOST_WAKERS: usize = 1 << 16;

/// The waiting threads and tasks.
pub(super) struct Waiters {
    /// Whether there may be waiters. Written under the lock.
    waiting: AtomicUsize,
    /// Written by a pusher, for the barrier alone.
    pushed: AtomicUsize,
    list: Waits<Others>,
}

/// The wakers that are not those of futures.
struct Others {
    /// The wakers of tasks that cannot report when they give up.
    tasks: Vec<Waker>,
    /// The room in `tasks`.
    room: usize,
    /// The waker that each message calls. It is in an `Arc` of ours, which the lock may clone.
    armed: Option<Arc<Waker>>,
}

impl Others {
    /// Takes the wakers of all tasks out, and leaves room for as many tasks.
    fn take_tasks(&mut self) -> Vec<Waker> {
        self.room = self.tasks.len().next_power_of_two().max(WAKERS);
        mem::take(&mut self.tasks)
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
}

impl Waiters {
    pub(super) fn new() -> Self {
        Waiters {
            waiting: AtomicUsize::new(0),
            pushed: AtomicUsize::new(0),
            list: Waits::new(Others {
                tasks: Vec::new(),
                room: WAKERS,
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

    #[cold]
    fn wake_some(&self) {
        let ((tasks, armed), futures) = self.list.wake(Sleepers::One, |others, (sleepers, _)| {
            // Relaxed: a waiter that comes now waits for a later message.
            let stays = sleepers != 0 || others.armed.is_some();
            self.waiting.store(usize::from(stays), Relaxed);
            (others.take_tasks(), others.armed.clone())
        });
        let mut panics = FirstPanic::default();
        panics.wake_each(tasks);
        panics.wake_each(futures);
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
        // User code, also its destructor: not under the lock.
        let mut own = Some(waker.clone());
        let stale = self.list.with_room(
            |others, memory| others.make_room(waker, memory),
            |others, memory| {
                self.announce();
                others.add(&mut own, memory)
            },
        );
        wake_all(stale);
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
        let mut new = Some(new);
        let stale = waiters.list.with(|others| {
            (others.tasks, others.room) = (many, MOST_WAKERS);
            assert!(others.make_room(new.as_ref().unwrap(), &mut memory).is_ok());
            others.add(&mut new, &mut memory)
        });
        let left = (waiters.list).with(|others| (others.tasks.len(), others.room));
        assert_eq!((stale.len(), left), (MOST_WAKERS, (1, MOST_WAKERS)));
    }
}
