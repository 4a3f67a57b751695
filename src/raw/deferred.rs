//! The deferred list: unlinked objects that threads inside may still look at.
//!
//! The list waits for one visit at a time (D3 of [`domain`](super::domain)): a thread that changes
//! the list *names* a thread for which the oldest batch waits, and then checks that the visit of
//! the named thread lasts.

use core::cell::Cell;
#[cfg(all(test, not(weakly_loom)))]
use core::iter;
use core::mem;
use std::boxed::Box;
use std::vec::Vec;

use super::retired::Retired;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Mutex, const_fn, make_room};

/// No thread is named, because the deferred list is empty.
pub(super) const NOBODY: usize = usize::MAX;

/// One stay of a thread inside the table.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Visit {
    /// The number of the thread and of its participant.
    pub(super) number: usize,
    /// The word of the participant during this visit. The numbers of visits repeat, on a 32-bit
    /// processor after 2^31 visits. A repeated number only delays destruction.
    pub(super) visit: usize,
}

/// The deferred list.
pub(super) struct DeferredList {
    queue: Mutex<Queue>,
    /// How many counted entries are deferred. Written under the lock.
    entries: AtomicUsize,
}

/// Batches in the order of their arrival. If an older batch waits for a lasting visit, each newer
/// batch was added after a look that saw the same visit, and waits for the visit too. So if the
/// oldest batch has to wait, all batches have to wait.
struct Queue {
    /// The older batches, oldest first.
    older: Chain,
    /// The newer batches, newest first.
    newer: Chain,
    /// The number of the named thread: a copy of `Domain::named`. Loading the atomic here would
    /// hide the loads of other threads from loom; see `sync`.
    named: usize,
}

/// Batches, each of which owns the next. Batches are dropped one by one, because dropping a long
/// chain would recurse.
type Chain = Option<Box<Batch>>;

/// Unlinked objects, and the visits that have to end before the objects are destroyed.
struct Batch {
    unlinked: Vec<Retired>,
    /// How many of the objects are counted.
    entries: usize,
    visits: Vec<Visit>,
    next: Chain,
}

/// Batches whose visits have ended.
pub(super) struct Destroyable(Chain);

/// The number of visits for which there is room at first.
const VISITS: usize = 4;

impl DeferredList {
    const_fn! {
        pub(super) fn new() -> DeferredList {
            DeferredList {
                queue: Mutex::new(Queue {
                    older: None,
                    newer: None,
                    named: NOBODY,
                }),
                entries: AtomicUsize::new(0),
            }
        }
    }

    /// Returns how many counted entries are deferred.
    pub(super) fn entries(&self) -> usize {
        // Relaxed: a moment's answer.
        self.entries.load(Relaxed)
    }

    /// Adds unlinked objects, which wait for the visits shown by `look`. `look` runs under the
    /// lock, so the batches are in the order of their looks. Then the batches whose visits have
    /// ended are [taken](Self::take_ended). A caller that is inside, under the number `inside`,
    /// takes none, and names itself if no thread is named. If a thread is named, the oldest batch
    /// already waits for that thread.
    pub(super) fn add(
        &self,
        unlinked: Vec<Retired>,
        look: impl Fn(&mut dyn FnMut(Visit)),
        lasts: impl Fn(Visit) -> bool,
        set_named: impl Fn(usize),
        inside: Option<usize>,
    ) -> Destroyable {
        let count = unlinked.len();
        let mut batch = Some(Box::new(Batch {
            entries: unlinked.iter().filter(|one| one.is_counted()).count(),
            unlinked,
            visits: Vec::new(),
            next: None,
        }));
        let joins = Cell::new(false);
        let taken = self.queue.with_memory(
            (Vec::with_capacity(VISITS), Vec::new()),
            |queue, (visits, more): &mut (Vec<Visit>, Vec<Retired>)| {
                visits.clear();
                let mut seen = 0;
                look(&mut |visit| {
                    if visits.len() < visits.capacity() {
                        visits.push(visit);
                    }
                    seen += 1;
                });
                if seen > visits.capacity() {
                    return Err((seen, 0));
                }
                let newest = queue
                    .newest(&lasts)
                    .filter(|newest| newest.visits == *visits);
                joins.set(newest.is_some());
                newest.map_or(Ok(()), |newest| {
                    let room = make_room(&mut newest.unlinked, count, more);
                    room.map_err(|wanted| (visits.capacity(), wanted))
                })
            },
            |queue, (visits, _)| {
                if let Some(batch) = &mut batch {
                    batch.visits = mem::take(visits);
                    self.count(batch.entries as isize);
                }
                queue.add(&mut batch, joins.get());
                match inside {
                    None => self.take_ended_from(queue, &lasts, set_named),
                    // D5: the caller is inside, and destroys nothing now. The batch waits for the
                    // caller's visit, and after the visit a leaving thread looks at the list.
                    Some(number) => {
                        if queue.named == NOBODY {
                            queue.named = number;
                            set_named(number);
                        }
                        None
                    }
                }
            },
        );
        Destroyable::new(taken)
    }

    /// Takes the batches whose visits have all ended; `lasts` returns whether a visit still lasts.
    /// If the named thread changes, calls `set_named` with the number of the newly named thread,
    /// for which the oldest remaining batch waits, or with [`NOBODY`] if no batch remains.
    pub(super) fn take_ended(
        &self,
        lasts: impl Fn(Visit) -> bool,
        set_named: impl Fn(usize),
    ) -> Destroyable {
        let taken = self.take_ended_from(&mut self.queue.lock(), lasts, set_named);
        Destroyable::new(taken)
    }

    /// Takes batches as [`take_ended`](Self::take_ended) does. The caller has the lock. Returns the
    /// batches newest first.
    fn take_ended_from(
        &self,
        queue: &mut Queue,
        lasts: impl Fn(Visit) -> bool,
        set_named: impl Fn(usize),
    ) -> Chain {
        let (mut taken, mut named) = (None, queue.named);
        while let Some(first) = queue.oldest() {
            while first.visits.last().is_some_and(|last| !lasts(*last)) {
                first.visits.pop();
            }
            if let Some(visit) = first.visits.last() {
                if visit.number == named {
                    break;
                }
                // D3: the thread is named first, and then its visit is checked again.
                named = visit.number;
                set_named(named);
                continue;
            }
            self.count(-(first.entries as isize));
            pass(&mut queue.older, &mut taken);
        }
        if queue.older.is_none() && named != NOBODY {
            named = NOBODY;
            set_named(named);
        }
        queue.named = named;
        taken
    }

    /// Takes all batches of objects.
    pub(super) fn take_all(&self) -> impl Iterator<Item = Vec<Retired>> {
        let mut queue = self.queue.lock();
        let (older, newer) = (queue.older.take(), queue.newer.take());
        drop(queue);
        Destroyable(older).chain(Destroyable::new(newer))
    }

    /// Counts entries that are added or, if `by` is negative, removed.
    fn count(&self, by: isize) {
        // Relaxed: written under the lock.
        let now = self.entries.load(Relaxed).wrapping_add_signed(by);
        self.entries.store(now, Relaxed);
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn lock(&self) -> impl Sized {
        self.queue.lock()
    }

    #[cfg(all(test, not(weakly_loom)))]
    pub(super) fn batches(&self) -> usize {
        let queue = self.queue.lock();
        let all = [&queue.older, &queue.newer]
            .into_iter()
            .map(|chain| iter::successors(chain.as_ref(), |batch| batch.next.as_ref()).count());
        all.sum()
    }
}

/// Moves the first batch of a chain to the front of another chain.
fn pass(from: &mut Chain, to: &mut Chain) {
    if let Some(mut batch) = from.take() {
        *from = mem::replace(&mut batch.next, to.take());
        *to = Some(batch);
    }
}

fn reversed(mut chain: Chain) -> Chain {
    let mut reversed = None;
    while chain.is_some() {
        pass(&mut chain, &mut reversed);
    }
    reversed
}

impl Queue {
    fn oldest(&mut self) -> Option<&mut Batch> {
        if self.older.is_none() {
            self.older = reversed(self.newer.take());
        }
        self.older.as_deref_mut()
    }

    /// Returns the newest batch without its ended visits, if the batch is found without a walk.
    /// Otherwise the caller makes a new batch, which only takes more room.
    fn newest(&mut self, lasts: impl Fn(Visit) -> bool) -> Option<&mut Batch> {
        let only = self.older.as_deref_mut().filter(|only| only.next.is_none());
        let newest = self.newer.as_deref_mut().or(only)?;
        newest.visits.retain(|visit| lasts(*visit));
        Some(newest)
    }

    /// Adds a batch to the queue, or its objects to the newest batch.
    fn add(&mut self, batch: &mut Chain, joins: bool) {
        match (self.newest(|_| true), batch) {
            (Some(newest), Some(batch)) if joins => {
                newest.unlinked.append(&mut batch.unlinked);
                newest.entries += batch.entries;
            }
            (_, batch) => pass(batch, &mut self.newer),
        }
    }
}

impl Destroyable {
    /// Takes batches that are in the order newest first.
    fn new(batches: Chain) -> Self {
        Destroyable(reversed(batches))
    }
}

impl Iterator for Destroyable {
    type Item = Vec<Retired>;

    fn next(&mut self) -> Option<Vec<Retired>> {
        let batch = self.0.take()?;
        self.0 = batch.next;
        Some(batch.unlinked)
    }
}
