//! The polls of flights of tasks: which thread polls which flight, and which tasks a wake reaches.
//!
//! * **F4** A flight of tasks (`tasks::work`) has no leader. A thread that waits inside a poll of
//!   the flight starts a flight of its own, a *stand-in*, and completes the stand-in when the wait
//!   is over. So F2 holds for the flight of tasks, too.

use core::mem;
use core::ptr;
use core::task::Waker;
use std::sync::Arc;
use std::task::Wake;
use std::vec::Vec;

use super::making::{Joint, Making};
use crate::panics::FirstPanic;
use crate::sync::{Exclusive, Ordering::Relaxed, Own, make_room, thread_local};

thread_local! {
    /// The address of this mark stands for the thread.
    static MARK: u8 = const { 0 };
    /// The flights that the current thread polls: each poll is within the poll before it in the
    /// list.
    static POLLING: Own<Vec<Arc<Making>>> = const { Own::new(Vec::new()) };
}

fn push(flights: &Own<Vec<Arc<Making>>>, flight: &Arc<Making>) {
    let flight = Arc::clone(flight);
    flights.with_room(
        |all, memory| make_room(all, 1, memory),
        |all, _| all.push(flight),
    );
}

/// Whether a list has room for the given number of wakers.
fn has_room(list: &mut Vec<Waker>, count: usize) -> Result<(), usize> {
    match list.capacity() < count {
        true => Err(count),
        false => Ok(()),
    }
}

/// Takes the memory of an empty list out. The caller frees the memory.
fn take_if_empty(flights: &mut Vec<Arc<Making>>) -> Vec<Arc<Making>> {
    match flights.is_empty() {
        true => mem::take(flights),
        false => Vec::new(),
    }
}

/// A number that differs from the number of every other living thread.
fn mark() -> usize {
    MARK.with(|mark| ptr::from_ref(mark).addr())
}

impl Making {
    /// Whether the current thread polls a flight.
    pub(super) fn is_polling() -> bool {
        POLLING.with(|all| !all.enter().is_empty())
    }

    /// Whether the current thread polls the flight.
    pub(in super::super) fn is_polled_here(&self) -> bool {
        // Relaxed: the current thread has written its own mark; any different value is the mark of
        // a different thread.
        let poller = |joint: &Joint| joint.poller.load(Relaxed);
        self.joint.as_ref().map(poller) == Some(mark())
    }

    /// Runs a poll of the flight.
    pub(in super::super) fn poll<R>(this: &Arc<Self>, poll: impl FnOnce() -> R) -> R {
        struct Polled;
        impl Drop for Polled {
            fn drop(&mut self) {
                let ended = POLLING.with(|all| {
                    let mut all = all.enter();
                    (all.pop(), take_if_empty(&mut all))
                });
                drop(ended);
            }
        }
        POLLING.with(|all| push(all, this));
        let _polled = Polled;
        let _poller = this.joint.as_ref().map(Poller::begin);
        poll()
    }

    /// Wakes the tasks in the given seats; the woken tasks owe a poll. (A seat may have a new owner
    /// by now, or belong to a flight that was called off: then the wake is for nothing, or wakes no
    /// task.)
    pub(in super::super) fn wake(&self, seats: Vec<u32>) {
        if seats.is_empty() {
            return;
        }
        let mut wakers = Vec::with_capacity(seats.len());
        let mut status = self.status.lock();
        wakers.extend(seats.iter().filter_map(|at| status.tasks.empty(*at)));
        drop(status);
        self.have_polled(wakers);
    }

    /// Wakes a task for a wake of the computation.
    pub(super) fn wake_next(&self) {
        let (first, others) = self.status.with_room(
            |status, others| has_room(others, status.tasks.others()),
            |status, others| (status.tasks.next(others), mem::take(others)),
        );
        self.have_polled(first.into_iter().chain(others));
    }

    /// Wakes tasks, at least one of which has to poll. If a waker panics, its task may not poll:
    /// then all remaining tasks are woken, too.
    fn have_polled(&self, wakers: impl IntoIterator<Item = Waker>) {
        let mut panics = FirstPanic::default();
        panics.wake_each(wakers);
        if panics.is_some() {
            let others = self.status.with_room(
                |status, others| has_room(others, status.tasks.count()),
                |status, others| {
                    status.tasks.all(others);
                    mem::take(others)
                },
            );
            panics.wake_each(others);
        }
        panics.resume();
    }
}

/// The waker of the computation: it wakes a task, and the task polls the computation (A2).
impl Wake for Making {
    fn wake(self: Arc<Self>) {
        self.wake_next();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_next();
    }
}

/// The guard of a thread that polls a flight. At most one thread polls a flight at a time.
struct Poller<'f> {
    joint: &'f Joint,
    before: usize,
}

impl<'f> Poller<'f> {
    fn begin(joint: &'f Joint) -> Self {
        // Relaxed: the caller has taken the computation after the last thread gave it back.
        let before = joint.poller.swap(mark(), Relaxed);
        Poller { joint, before }
    }
}

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.joint.poller.store(self.before, Relaxed);
    }
}

/// The stand-in of the current thread, while the thread waits within polls (F4).
pub(super) struct StandIn(Arc<Making>);

impl StandIn {
    pub(super) fn for_polls() -> Option<Self> {
        Making::is_polling().then(|| {
            let this = StandIn(Making::start());
            this.show();
            this
        })
    }

    pub(super) fn show(&self) {
        self.set(Some(&self.0));
    }

    fn set(&self, stand_in: Option<&Arc<Making>>) {
        POLLING.with(|all| {
            for joint in all.enter().iter().filter_map(|one| one.joint.as_ref()) {
                // (The old stand-in has a second owner: nothing is freed here.)
                drop(joint.polled_by.replace(stand_in.cloned()));
            }
        });
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.set(None);
        self.0.complete();
    }
}
