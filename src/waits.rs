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

use crate::sync::{Condvar, Exclusive, Mutex, make_room};

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
    places: Vec<State>,
    /// The first free place.
    free: usize,
    /// The number of the wakers.
    waiting: usize,
    /// The number of times that all tasks have been woken.
    round: u64,
}

enum State {
    Waits(Waker),
    /// A free place, and the next free place.
    Free(usize),
}

/// The end of the list of free places.
const NONE: usize = usize::MAX;

/// The place of a waiting task, until all tasks are woken.
#[derive(Clone, Copy)]
pub(crate) struct Place {
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
pub(crate) struct Woken(vec::IntoIter<State>);

impl Tasks {
    /// The waker of a task, if the task has not been woken.
    fn get(&mut self, place: Option<Place>) -> Option<&mut State> {
        let place = place.filter(|place| place.round == self.round)?;
        self.places.get_mut(place.at)
    }

    /// Adds a waker, for which there is room.
    fn add(&mut self, waker: Waker) -> Place {
        let (at, new) = (self.free, State::Waits(waker));
        self.waiting += 1;
        let at = match self.places.get_mut(at) {
            Some(place) => {
                if let State::Free(next) = mem::replace(place, new) {
                    self.free = next;
                }
                at
            }
            None => {
                self.places.push(new);
                self.places.len() - 1
            }
        };
        let round = self.round;
        Place { round, at }
    }
}

impl<D> Waits<D> {
    pub(crate) fn new(data: D) -> Self {
        Waits {
            inside: Mutex::new(Inside {
                data,
                sleepers: 0,
                tasks: Tasks {
                    places: Vec::new(),
                    free: NONE,
                    waiting: 0,
                    round: 0,
                },
            }),
            wakeup: Condvar::new(),
        }
    }

    /// Uses the data. The closure allocates and frees nothing.
    pub(crate) fn with<R>(&self, run: impl FnOnce(&mut D) -> R) -> R {
        run(&mut self.inside.lock().data)
    }

    /// Uses the data, with memory that the closures may exchange: see [`Exclusive::with_room`].
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

    /// Leaves the waker of a task, in the place that the task has, or in a new place, unless
    /// `is_over`. Returns whether it is over. The task calls [`leave`](Self::leave) in the end.
    pub(crate) fn enter(
        &self,
        place: &mut Option<Place>,
        waker: &Waker,
        is_over: impl Fn(&mut D) -> bool,
    ) -> bool {
        let (known, mut waker) = (*place, Some(waker.clone()));
        let over = self.inside.with_room(
            |Inside { data, tasks, .. }, memory| match tasks.free != NONE
                || tasks.get(known).is_some()
                || is_over(data)
            {
                true => Ok(()),
                false => make_room(&mut tasks.places, 1, memory),
            },
            |Inside { data, tasks, .. }, _| {
                let over = is_over(data);
                if let Some(new) = waker.take_if(|_| !over) {
                    match tasks.get(known) {
                        Some(State::Waits(there)) => waker = Some(mem::replace(there, new)),
                        _ => *place = Some(tasks.add(new)),
                    }
                }
                over
            },
        );
        drop(waker);
        over
    }

    /// Takes the waker of a task out, unless the task has been woken; returns whether it has. (Then
    /// all other tasks have been woken, too: no wakeup is lost.)
    pub(crate) fn leave(&self, place: Place) -> bool {
        let mut inside = self.inside.lock();
        let tasks = &mut inside.tasks;
        let free = State::Free(tasks.free);
        let gone = tasks
            .get(Some(place))
            .map(|there| mem::replace(there, free));
        if gone.is_some() {
            tasks.free = place.at;
            tasks.waiting -= 1;
        }
        drop(inside);
        gone.is_none()
    }

    /// Changes the data, and wakes sleeping threads. The closure also gets the numbers of sleeping
    /// threads and of waiting tasks. The caller calls the wakers of all tasks, which are returned.
    pub(crate) fn wake<R>(
        &self,
        which: Sleepers,
        change: impl FnOnce(&mut D, (usize, usize)) -> R,
    ) -> (R, Woken) {
        let mut inside = self.inside.lock();
        let (sleepers, tasks) = (inside.sleepers, &mut inside.tasks);
        let waiting = (sleepers, tasks.waiting);
        (tasks.free, tasks.waiting, tasks.round) = (NONE, 0, tasks.round + 1);
        let woken = Woken(mem::take(&mut tasks.places).into_iter());
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
        self.0.find_map(|place| match place {
            State::Waits(waker) => Some(waker),
            State::Free(_) => None,
        })
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;

    /// A task that goes takes its own waker out, also if another task has the place by now.
    #[test]
    fn a_place_is_that_of_a_round() {
        let (waits, noop) = (Waits::new(()), Waker::noop());
        let mut places = [None; 3];
        let enter = |place: &mut Option<Place>| assert!(!waits.enter(place, noop, |()| false));
        places[..2].iter_mut().for_each(enter);
        let ((), woken) = waits.wake(Sleepers::All, |(), _| ());
        assert_eq!(woken.count(), 2);
        enter(&mut places[2]);
        places[..2]
            .iter()
            .flatten()
            .for_each(|place| assert!(waits.leave(*place)));
        assert!(waits.is_any());
        enter(&mut places[2]);
        let ((), woken) = waits.wake(Sleepers::All, |(), _| ());
        assert_eq!((woken.count(), waits.is_any()), (1, false));
    }
}
