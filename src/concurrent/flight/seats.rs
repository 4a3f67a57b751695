//! The wakers of tasks waiting for the same flight.

use core::task::Waker;
use core::{iter, mem};
use std::vec::Vec;

use crate::list::{EMPTY, Ends, Linked, Links, NONE, UNLINKED};
use crate::sync;

/// The waiting tasks, each in a place of its own. Each operation is O(1), except
/// [`take`](Self::take).
pub(super) struct Seats {
    all: Vec<Place>,
    /// The places with a waker, in the order in which the tasks were polled.
    waiting: Ends,
    /// The places of tasks that were polled within a computation, in the same order.
    within: Ends,
    /// The free places, linked by `newer`.
    free: u32,
}

pub(super) struct Place {
    /// None if the task was woken after its last poll, or if the place is free.
    waker: Option<Waker>,
    /// Whether the task owes a poll, by itself or by a further task.
    owes: bool,
    /// Which list has the place, if a list has the place.
    within: bool,
    links: Links,
}

impl Linked for Place {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl Place {
    pub(super) fn into_waker(self) -> Option<Waker> {
        self.waker
    }
}

impl Seats {
    pub(super) fn new() -> Self {
        Seats {
            all: Vec::new(),
            waiting: EMPTY,
            within: EMPTY,
            free: NONE,
        }
    }

    /// Whether the given waker would wake the task at the place. If so, the task becomes the last
    /// polled task.
    pub(super) fn is_known(&mut self, at: u32, waker: &Waker, within: bool) -> bool {
        let there = &self.all[at as usize].waker;
        let known = there.as_ref().is_some_and(|there| there.will_wake(waker));
        if known {
            self.unlink(at);
            self.push(at, within);
        }
        known
    }

    /// Makes room for a task without a place; see [`make_room`](sync::make_room).
    pub(super) fn make_room(&mut self, memory: &mut Vec<Place>) -> Result<(), usize> {
        match self.free {
            NONE => sync::make_room(&mut self.all, 1, memory),
            _ => Ok(()),
        }
    }

    /// Notes the waker of a task that was polled now. The task has the given place, or none: then
    /// there is [room](Self::make_room). Returns the place, and the old waker at the place.
    pub(super) fn sit(
        &mut self,
        at: Option<u32>,
        waker: Waker,
        within: bool,
    ) -> (u32, Option<Waker>) {
        let at = at.unwrap_or_else(|| self.place());
        let old = self.empty(at);
        self.all[at as usize].waker = Some(waker);
        self.push(at, within);
        (at, old)
    }

    fn push(&mut self, at: u32, within: bool) {
        (self.all[at as usize].within, self.all[at as usize].owes) = (within, false);
        let list = if within {
            &mut self.within
        } else {
            &mut self.waiting
        };
        list.push(&mut self.all, at);
    }

    fn unlink(&mut self, at: u32) {
        let within = self.all[at as usize].within;
        let list = if within {
            &mut self.within
        } else {
            &mut self.waiting
        };
        list.unlink(&mut self.all, at);
    }

    fn place(&mut self) -> u32 {
        if self.free == NONE {
            let at = u32::try_from(self.all.len()).expect("fewer than 2^32 tasks wait");
            self.all.push(Place {
                waker: None,
                owes: false,
                within: false,
                links: UNLINKED,
            });
            return at;
        }
        let at = self.free;
        self.free = self.all[at as usize].links.newer;
        at
    }

    /// Takes the waker of the task at the place, unless the task was woken.
    pub(super) fn empty(&mut self, at: u32) -> Option<Waker> {
        let place = self.all.get_mut(at as usize)?;
        let waker = place.waker.take();
        if waker.is_some() {
            place.owes = true;
            self.unlink(at);
        }
        waker
    }

    /// Notes that the task at the place was polled and owes a further poll.
    pub(super) fn owe(&mut self, at: u32) {
        if let Some(place) = self.all.get_mut(at as usize) {
            place.owes = true;
        }
    }

    /// Frees a place. Returns the waker, unless the task was woken, and whether the task owes a
    /// poll.
    pub(super) fn leave(&mut self, at: u32) -> (Option<Waker>, bool) {
        let Some(owes) = self.all.get(at as usize).map(|place| place.owes) else {
            return (None, false);
        };
        let waker = self.empty(at);
        self.all[at as usize].links.newer = mem::replace(&mut self.free, at);
        (waker, owes)
    }

    /// Takes the waker of the task to wake for a wake of the computation (A2 of
    /// `tasks::work`): of the tasks that were not woken after their last poll, the last polled
    /// task. If there is no such task, all tasks polled within computations are woken: the
    /// wakers besides the first go into a list, which has room for [the number of
    /// others](Self::others).
    pub(super) fn next(&mut self, others: &mut Vec<Waker>) -> Option<Waker> {
        let first = match self.waiting.newest {
            NONE => self.newest_within(),
            at => return self.empty(at),
        };
        while let Some(other) = self.newest_within() {
            others.push(other);
        }
        first
    }

    /// The number of further tasks to wake for a wake of the computation.
    pub(super) fn others(&self) -> usize {
        match self.waiting.newest {
            NONE => self.len_of(self.within).saturating_sub(1),
            _ => 0,
        }
    }

    /// Puts the wakers of all tasks that were not woken after their last poll into a list, which
    /// has room for [all of them](Self::count). Each of the tasks owes a poll then.
    pub(super) fn all(&mut self, all: &mut Vec<Waker>) {
        while let Some(first) = self.next(all) {
            all.push(first);
        }
    }

    /// The number of tasks that were not woken after their last poll.
    pub(super) fn count(&self) -> usize {
        self.len_of(self.waiting) + self.len_of(self.within)
    }

    fn len_of(&self, list: Ends) -> usize {
        let known = |at: u32| (at != NONE).then_some(at);
        let older = |at: &u32| known(self.all[*at as usize].links.older);
        iter::successors(known(list.newest), older).count()
    }

    fn newest_within(&mut self) -> Option<Waker> {
        match self.within.newest {
            NONE => None,
            at => self.empty(at),
        }
    }

    /// Takes all places out, if some have a waker. No task takes a place later; a task with a place
    /// may still free its place.
    pub(super) fn take(&mut self) -> Vec<Place> {
        if self.waiting.newest == NONE && self.within.newest == NONE {
            return Vec::new();
        }
        mem::replace(self, Seats::new()).all
    }
}
