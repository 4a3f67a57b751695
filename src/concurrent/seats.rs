//! The wakers of tasks that wait for the same thing.

use core::mem;
use core::task::Waker;
use std::vec::Vec;

use crate::keep::list::{EMPTY, Ends, Linked, Links, NONE, UNLINKED};

/// The tasks that wait, each in a place of its own. Each operation is O(1), but for [`take`](Self::take).
pub(super) struct Seats {
    all: Vec<Place>,
    /// Those that have a waker, in the order in which they were polled.
    waiting: Ends,
    /// A list by `newer`.
    free: u32,
}

struct Place {
    /// None if the task has been woken and was not polled since, or if the place is free.
    waker: Option<Waker>,
    links: Links,
}

impl Linked for Place {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl Seats {
    pub(super) fn new() -> Self {
        Seats {
            all: Vec::new(),
            waiting: EMPTY,
            free: NONE,
        }
    }

    /// Whether the task at this place would be woken by this waker. If so, it is the one that was polled last.
    pub(super) fn is_known(&mut self, at: u32, waker: &Waker) -> bool {
        let there = &self.all[at as usize].waker;
        let known = there.as_ref().is_some_and(|there| there.will_wake(waker));
        if known {
            self.waiting.unlink(&mut self.all, at);
            self.waiting.push(&mut self.all, at);
        }
        known
    }

    /// Has a task woken, which was polled now, and has this place or none. Returns its place, and the waker that was there.
    pub(super) fn sit(&mut self, at: Option<u32>, waker: Waker) -> (u32, Option<Waker>) {
        let at = at.unwrap_or_else(|| self.place());
        let old = self.empty(at);
        self.all[at as usize].waker = Some(waker);
        self.waiting.push(&mut self.all, at);
        (at, old)
    }

    fn place(&mut self) -> u32 {
        if self.free == NONE {
            let at = u32::try_from(self.all.len()).expect("fewer than 2^32 tasks wait");
            self.all.push(Place {
                waker: None,
                links: UNLINKED,
            });
            return at;
        }
        let at = self.free;
        self.free = self.all[at as usize].links.newer;
        at
    }

    /// The waker of the task at this place, if there is one that has not been woken.
    pub(super) fn empty(&mut self, at: u32) -> Option<Waker> {
        let waker = self.all.get_mut(at as usize)?.waker.take();
        if waker.is_some() {
            self.waiting.unlink(&mut self.all, at);
        }
        waker
    }

    /// Gives a place up. Returns the waker, unless the task has been woken.
    pub(super) fn leave(&mut self, at: u32) -> Option<Waker> {
        let waker = self.empty(at);
        self.all[at as usize].links.newer = mem::replace(&mut self.free, at);
        waker
    }

    /// The waker of the task that was polled last, of those that were not woken since.
    pub(super) fn next(&mut self) -> Option<Waker> {
        match self.waiting.newest {
            NONE => None,
            at => self.empty(at),
        }
    }

    /// All wakers.
    pub(super) fn take(&mut self) -> Vec<Waker> {
        if self.waiting.newest == NONE {
            return Vec::new();
        }
        self.waiting = EMPTY;
        self.all
            .iter_mut()
            .filter_map(|place| place.waker.take())
            .collect()
    }
}
