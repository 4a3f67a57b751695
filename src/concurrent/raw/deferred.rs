//! What is deferred: what was unlinked while threads were inside that may look at it.
//!
//! It waits for one visit at a time (D3 of [`domain`](super::domain)): whoever changes the deferred list *names* a
//! thread for which the first waits, and then checks that this visit lasts.

use core::mem;
use std::collections::VecDeque;
use std::vec::Vec;

use super::retired::Retired;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Mutex, MutexGuard, const_fn};

/// No thread is named: the deferred list is empty.
pub(super) const NOBODY: usize = usize::MAX;

/// The stay of a thread inside.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Visit {
    /// Of the thread, and its participant.
    pub(super) number: usize,
    /// What its participant says during this visit. A participant that comes round to the same visit, after 2^31 others
    /// on a 32-bit processor, only delays.
    pub(super) visit: usize,
}

/// On cache lines of its own: threads that enter read what is beside it.
#[repr(align(128))]
pub(super) struct DeferredList<C> {
    queue: Mutex<Queue<C>>,
    /// How many entries are there. Written under the lock.
    entries: AtomicUsize,
}

struct Queue<C> {
    /// In the order in which they came. A visit for which one waits, and which still lasts, was seen by all that came
    /// later, and they wait for it too. So if the first has to wait, so have all.
    waiting: VecDeque<Awaiting<C>>,
    /// The thread that is named. To load the word would hide other threads' loads from loom; see `sync`.
    named: usize,
}

/// What was unlinked, and the visits that have to end before it is destroyed.
struct Awaiting<C> {
    unlinked: Vec<Retired<C>>,
    /// How many of them count.
    entries: usize,
    visits: Vec<Visit>,
}

/// The deferred list, which this thread has locked. No user code runs meanwhile.
pub(super) struct LockedDeferred<'l, C> {
    queue: MutexGuard<'l, Queue<C>>,
    entries: &'l AtomicUsize,
}

impl<C> DeferredList<C> {
    const_fn! {
        pub(super) fn new() -> DeferredList<C> {
            DeferredList {
                queue: Mutex::new(Queue {
                    waiting: VecDeque::new(),
                    named: NOBODY,
                }),
                entries: AtomicUsize::new(0),
            }
        }
    }

    /// How many entries are there.
    pub(super) fn entries(&self) -> usize {
        // Relaxed: a moment's answer.
        self.entries.load(Relaxed)
    }

    pub(super) fn lock(&self) -> LockedDeferred<'_, C> {
        // No user code runs under this lock, so poisoning means nothing.
        let queue = self.queue.lock();
        LockedDeferred {
            queue: queue.unwrap_or_else(|poisoned| poisoned.into_inner()),
            entries: &self.entries,
        }
    }
}

impl<C> LockedDeferred<'_, C> {
    /// Adds what waits for these visits, which have been seen under this lock.
    pub(super) fn add(
        &mut self,
        unlinked: Vec<Retired<C>>,
        visits: Vec<Visit>,
        lasts: impl Fn(Visit) -> bool,
    ) {
        let entries = unlinked.iter().filter(|one| one.is_counted()).count();
        let waiting = &mut self.queue.waiting;
        if let Some(last) = waiting.back_mut() {
            last.visits.retain(|visit| lasts(*visit));
            if last.visits == visits {
                last.unlinked.extend(unlinked);
                last.entries += entries;
                self.count(entries as isize);
                return;
            }
        }
        waiting.push_back(Awaiting {
            unlinked,
            entries,
            visits,
        });
        // Last: what there was no memory for does not wait.
        self.count(entries as isize);
    }

    /// Names a thread whose visit lasts, if none is named: if one is, the first waits for that.
    pub(super) fn name_if_none(&mut self, number: usize, name: impl FnOnce(usize)) {
        if self.queue.named == NOBODY {
            self.queue.named = number;
            name(number);
        }
    }

    /// Takes out what does not wait for any visit any more, and names a thread for which the rest waits.
    pub(super) fn take(
        &mut self,
        lasts: impl Fn(Visit) -> bool,
        name: impl Fn(usize),
    ) -> Vec<Retired<C>> {
        let mut taken = Vec::new();
        let mut named = self.queue.named;
        while let Some(first) = self.queue.waiting.front_mut() {
            while first.visits.last().is_some_and(|last| !lasts(*last)) {
                first.visits.pop();
            }
            if let Some(visit) = first.visits.last() {
                if visit.number == named {
                    break;
                }
                // D3: named, and then asked again.
                named = visit.number;
                name(named);
                continue;
            }
            let unlinked = mem::take(&mut first.unlinked);
            let entries = first.entries as isize;
            self.queue.waiting.pop_front();
            self.count(-entries);
            if taken.is_empty() {
                taken = unlinked;
            } else {
                taken.extend(unlinked);
            }
        }
        let len = self.queue.waiting.len();
        if len == 0 && named != NOBODY {
            named = NOBODY;
            name(named);
        }
        self.queue.named = named;
        // What is not needed any more is given back, in O(what goes).
        if self.queue.waiting.capacity() > 4 * len {
            self.queue.waiting.shrink_to(2 * len);
        }
        taken
    }

    /// Takes out everything.
    pub(super) fn take_all(&mut self) -> impl Iterator<Item = Retired<C>> + use<C> {
        let waiting = mem::take(&mut self.queue.waiting);
        waiting.into_iter().flat_map(|waiting| waiting.unlinked)
    }

    /// Counts entries that come or, if negative, go.
    fn count(&self, by: isize) {
        // Relaxed: written under the lock.
        let now = self.entries.load(Relaxed).wrapping_add_signed(by);
        self.entries.store(now, Relaxed);
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn len(&self) -> usize {
        self.queue.waiting.len()
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn capacity(&self) -> usize {
        self.queue.waiting.capacity()
    }
}
