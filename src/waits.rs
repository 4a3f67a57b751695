//! A list of threads that sleep and of tasks that left their wakers, under one lock with the data
//! for which they wait.
//!
//! No user code runs under the lock. A waker is user code, also its clone and its drop: a waker is
//! cloned before the lock is taken, and called or dropped after the lock is released.
//!
//! A task leaves its waker and looks at the data under the same lock. So a change of the data that
//! the task has missed finds the waker.

use core::mem;
use core::task::Waker;
use std::time::Instant;
use std::vec::{self, Vec};

use crate::sync::{Condvar, Mutex, make_room};

/// Data, and the threads and tasks that wait for a change of the data.
pub(crate) struct Waits<D> {
    inside: Mutex<Inside<D>>,
    wakeup: Condvar,
}

struct Inside<D> {
    data: D,
    /// The number of sleeping threads. (A notification without sleepers would be a system call all
    /// the same.)
    sleepers: usize,
    tasks: Tasks,
}

/// The wakers of the waiting tasks. Each operation is O(1).
struct Tasks {
    seats: Vec<Seat>,
    /// The first free seat.
    free: usize,
    /// The number of the wakers.
    waiting: usize,
    /// The number of times that all tasks have been woken.
    round: u64,
}

enum Seat {
    Waits(Waker),
    /// A free seat, and the next free seat.
    Free(usize),
}

/// The end of the list of free seats.
const NONE: usize = usize::MAX;

/// The seat of a waiting task, until all tasks are woken.
#[derive(Clone, Copy)]
pub(crate) struct SeatNumber {
    round: u64,
    at: usize,
}

/// How many of the sleeping threads wake up.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Sleepers {
    One,
    All,
}

/// The wakers of woken tasks, which the caller has to call.
pub(crate) struct Woken(vec::IntoIter<Seat>);

impl Tasks {
    /// The waker of a task, if the task has not been woken.
    fn get(&mut self, seat: Option<SeatNumber>) -> Option<&mut Seat> {
        let seat = seat.filter(|seat| seat.round == self.round)?;
        self.seats.get_mut(seat.at)
    }

    /// Adds a waker, for which there is room.
    fn add(&mut self, waker: Waker) -> SeatNumber {
        let (at, new) = (self.free, Seat::Waits(waker));
        self.waiting += 1;
        let at = match self.seats.get_mut(at) {
            Some(seat) => {
                if let Seat::Free(next) = mem::replace(seat, new) {
                    self.free = next;
                }
                at
            }
            None => {
                self.seats.push(new);
                self.seats.len() - 1
            }
        };
        let round = self.round;
        SeatNumber { round, at }
    }
}

impl<D> Waits<D> {
    pub(crate) fn new(data: D) -> Self {
        Waits {
            inside: Mutex::new(Inside {
                data,
                sleepers: 0,
                tasks: Tasks {
                    seats: Vec::new(),
                    free: NONE,
                    waiting: 0,
                    round: 0,
                },
            }),
            wakeup: Condvar::new(),
        }
    }

    /// Uses the data under the lock. The closure runs no user code, and allocates and frees
    /// nothing.
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut D) -> R) -> R {
        run(&mut self.inside.lock().data)
    }

    /// Uses the data, with memory that the closures may exchange: see [`Mutex::with_room`].
    pub(crate) fn with_room<T, R>(
        &self,
        ready: impl Fn(&mut D, &mut Vec<T>) -> Result<(), usize>,
        run: impl FnOnce(&mut D, &mut Vec<T>) -> R,
    ) -> R {
        self.inside.with_room(
            |inside, memory| ready(&mut inside.data, memory),
            |inside, memory| run(&mut inside.data, memory),
        )
    }

    /// Whether a thread or a task waits.
    pub(crate) fn is_any(&self) -> bool {
        let inside = self.inside.lock();
        inside.sleepers != 0 || inside.tasks.waiting != 0
    }

    /// Sleeps until `is_over`, or until a point in time. Returns whether it is over, and whether a
    /// [wake](Self::wake) has counted the thread.
    pub(crate) fn sleep(
        &self,
        until: Option<Instant>,
        mut is_over: impl FnMut(&mut D) -> bool,
    ) -> (bool, bool) {
        let mut inside = self.inside.lock();
        let round = inside.tasks.round;
        inside.sleepers += 1;
        // A loop, since a wait may end spuriously. (Waits of loom never do.)
        let over = loop {
            // Also after the time is up: the change may have woken this thread, and no other.
            if is_over(&mut inside.data) {
                break true;
            }
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break false;
            }
            inside = self.wakeup.wait(inside, left);
        };
        inside.sleepers -= 1;
        (over, inside.tasks.round != round)
    }

    /// Leaves the waker of a task, in the seat that the task has, or in a new seat, unless
    /// `is_over` returns true. Returns what `is_over` returned. A task with a seat calls
    /// [`leave`](Self::leave) in the end.
    pub(crate) fn enter(
        &self,
        seat: &mut Option<SeatNumber>,
        waker: &Waker,
        is_over: impl Fn(&mut D) -> bool,
    ) -> bool {
        let (known, mut waker) = (*seat, Some(waker.clone()));
        let over = self.inside.with_room(
            |Inside { data, tasks, .. }, memory| match tasks.free != NONE
                || tasks.get(known).is_some()
                || is_over(data)
            {
                true => Ok(()),
                false => make_room(&mut tasks.seats, 1, memory),
            },
            |Inside { data, tasks, .. }, _| {
                let over = is_over(data);
                if let Some(new) = waker.take_if(|_| !over) {
                    match tasks.get(known) {
                        Some(Seat::Waits(there)) => waker = Some(mem::replace(there, new)),
                        _ => *seat = Some(tasks.add(new)),
                    }
                }
                over
            },
        );
        drop(waker);
        over
    }

    /// Takes the waker of a task out. Returns true if the task has been woken: then the waker is
    /// gone already, and all other tasks have been woken, too, so no wakeup is lost.
    pub(crate) fn leave(&self, seat: SeatNumber) -> bool {
        let mut inside = self.inside.lock();
        let tasks = &mut inside.tasks;
        let free = Seat::Free(tasks.free);
        let gone = tasks.get(Some(seat)).map(|there| mem::replace(there, free));
        if gone.is_some() {
            tasks.free = seat.at;
            tasks.waiting -= 1;
        }
        drop(inside);
        gone.is_none()
    }

    /// Changes the data, and wakes sleeping threads. `change` also gets the numbers of sleeping
    /// threads and of waiting tasks; it runs no user code, and does not panic. Returns the wakers
    /// of all waiting tasks, which the caller calls.
    pub(crate) fn wake<R>(
        &self,
        which: Sleepers,
        change: impl FnOnce(&mut D, (usize, usize)) -> R,
    ) -> (R, Woken) {
        let mut inside = self.inside.lock();
        let (sleepers, tasks) = (inside.sleepers, &mut inside.tasks);
        let waiting = (sleepers, tasks.waiting);
        (tasks.free, tasks.waiting, tasks.round) = (NONE, 0, tasks.round + 1);
        let woken = Woken(mem::take(&mut tasks.seats).into_iter());
        let changed = change(&mut inside.data, waiting);
        drop(inside);
        match which {
            _ if sleepers == 0 => {}
            Sleepers::One => self.wakeup.notify_one(),
            Sleepers::All => self.wakeup.notify_all(),
        }
        (changed, woken)
    }
}

impl Woken {
    /// Whether no task has waited.
    #[inline]
    pub(crate) fn is_empty(&self) -> bool {
        self.0.as_slice().is_empty()
    }
}

impl Iterator for Woken {
    type Item = Waker;

    fn next(&mut self) -> Option<Waker> {
        self.0.find_map(|seat| match seat {
            Seat::Waits(waker) => Some(waker),
            Seat::Free(_) => None,
        })
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;

    /// A task that goes takes its own waker out, also if another task has the seat by now.
    #[test]
    fn a_seat_is_that_of_a_round() {
        let (waits, noop) = (Waits::new(()), Waker::noop());
        let mut seats = [None; 3];
        let enter = |seat: &mut Option<SeatNumber>| assert!(!waits.enter(seat, noop, |()| false));
        seats[..2].iter_mut().for_each(enter);
        let ((), woken) = waits.wake(Sleepers::All, |(), _| ());
        assert_eq!(woken.count(), 2);
        enter(&mut seats[2]);
        seats[..2]
            .iter()
            .flatten()
            .for_each(|seat| assert!(waits.leave(*seat)));
        assert!(waits.is_any());
        enter(&mut seats[2]);
        let ((), woken) = waits.wake(Sleepers::All, |(), _| ());
        assert_eq!((woken.count(), waits.is_any()), (1, false));
    }
}
