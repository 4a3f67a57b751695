//! What is deferred: what was unlinked while threads were inside that may look at it.
//!
//! It waits for one visit at a time (D3 of [`domain`](super::domain)): whoever changes the deferred
//! list *names* a thread for which the first waits, and then checks that this visit lasts.

use core::cell::Cell;
#[cfg(all(test, not(weakly_loom)))]
use core::iter;
use core::mem;
use std::boxed::Box;
use std::vec::Vec;

use super::retired::Retired;
use crate::sync::Ordering::*;
use crate::sync::{AtomicUsize, Exclusive, Mutex, const_fn, make_room};

/// No thread is named: the deferred list is empty.
pub(super) const NOBODY: usize = usize::MAX;

/// The stay of a thread inside.
#[derive(Clone, Copy, PartialEq)]
pub(super) struct Visit {
    /// Of the thread, and its participant.
    pub(super) number: usize,
    /// What its participant says during this visit. A participant that comes round to the same
    /// visit, after 2^31 others on a 32-bit processor, only delays.
    pub(super) visit: usize,
}

/// On cache lines of its own: threads that enter read what is beside it.
#[repr(align(128))]
pub(super) struct DeferredList<C> {
    queue: Mutex<Queue<C>>,
    /// How many entries are there. Written under the lock.
    entries: AtomicUsize,
}

/// In the order in which they came. A visit for which one waits, and which still lasts, was seen by
/// all that came later, and they wait for it too. So if the first has to wait, so have all.
struct Queue<C> {
    /// The first of them, oldest first.
    older: Chain<C>,
    /// The others, newest first.
    newer: Chain<C>,
    /// The thread that is named. To load the word would hide other threads' loads from loom; see
    /// `sync`.
    named: usize,
}

/// Batches, each of which owns the next. They are taken apart one by one: to drop a long chain
/// would recurse.
type Chain<C> = Option<Box<Batch<C>>>;

/// What was unlinked, and the visits that have to end before it is destroyed.
struct Batch<C> {
    unlinked: Vec<Retired<C>>,
    /// How many of them count.
    entries: usize,
    visits: Vec<Visit>,
    next: Chain<C>,
}

/// What does not wait any more.
pub(super) struct Destroyable<C>(Chain<C>);

/// For how many visits there is room at first.
const VISITS: usize = 4;

impl<C> DeferredList<C> {
    const_fn! {
        pub(super) fn new() -> DeferredList<C> {
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

    /// How many entries are there.
    pub(super) fn entries(&self) -> usize {
        // Relaxed: a moment's answer.
        self.entries.load(Relaxed)
    }

    /// Adds what waits for the visits that `look` shows, under the lock, for the order in the list.
    /// Then this [takes](Self::take) what does not wait any more; but if the caller is a thread
    /// inside, which has this number, it only names that thread, if none is named: if one is, the
    /// first waits for that.
    pub(super) fn add(
        &self,
        unlinked: Vec<Retired<C>>,
        look: impl Fn(&mut dyn FnMut(Visit)),
        lasts: impl Fn(Visit) -> bool,
        name: impl Fn(usize),
        inside: Option<usize>,
    ) -> Destroyable<C> {
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
            |queue, (visits, more): &mut (Vec<Visit>, Vec<Retired<C>>)| {
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
                    None => self.take_from(queue, &lasts, name),
                    // D5. It sees itself inside, and looks when it leaves.
                    Some(number) => {
                        if queue.named == NOBODY {
                            queue.named = number;
                            name(number);
                        }
                        None
                    }
                }
            },
        );
        Destroyable::new(taken)
    }

    /// Takes out what does not wait for any visit any more, and names a thread for which the rest
    /// waits.
    pub(super) fn take(
        &self,
        lasts: impl Fn(Visit) -> bool,
        name: impl Fn(usize),
    ) -> Destroyable<C> {
        let taken = self.take_from(&mut self.queue.lock(), lasts, name);
        Destroyable::new(taken)
    }

    /// The same. Newest first.
    fn take_from(
        &self,
        queue: &mut Queue<C>,
        lasts: impl Fn(Visit) -> bool,
        name: impl Fn(usize),
    ) -> Chain<C> {
        let (mut taken, mut named) = (None, queue.named);
        while let Some(first) = queue.oldest() {
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
            self.count(-(first.entries as isize));
            pass(&mut queue.older, &mut taken);
        }
        if queue.older.is_none() && named != NOBODY {
            named = NOBODY;
            name(named);
        }
        queue.named = named;
        taken
    }

    /// Takes out everything.
    pub(super) fn take_all(&self) -> impl Iterator<Item = Retired<C>> + use<C> {
        let mut queue = self.queue.lock();
        let (older, newer) = (queue.older.take(), queue.newer.take());
        drop(queue);
        Destroyable(older).chain(Destroyable::new(newer)).flatten()
    }

    /// Counts entries that come or, if negative, go.
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

/// Passes the first batch of a chain to another.
fn pass<C>(from: &mut Chain<C>, to: &mut Chain<C>) {
    if let Some(mut batch) = from.take() {
        *from = mem::replace(&mut batch.next, to.take());
        *to = Some(batch);
    }
}

fn reversed<C>(mut chain: Chain<C>) -> Chain<C> {
    let mut reversed = None;
    while chain.is_some() {
        pass(&mut chain, &mut reversed);
    }
    reversed
}

impl<C> Queue<C> {
    fn oldest(&mut self) -> Option<&mut Batch<C>> {
        if self.older.is_none() {
            self.older = reversed(self.newer.take());
        }
        self.older.as_deref_mut()
    }

    /// The newest, without the visits that have ended, where that is known: others only take more
    /// room.
    fn newest(&mut self, lasts: impl Fn(Visit) -> bool) -> Option<&mut Batch<C>> {
        let only = self.older.as_deref_mut().filter(|only| only.next.is_none());
        let newest = self.newer.as_deref_mut().or(only)?;
        newest.visits.retain(|visit| lasts(*visit));
        Some(newest)
    }

    /// Adds a batch, or what is in it to the newest.
    fn add(&mut self, batch: &mut Chain<C>, joins: bool) {
        match (self.newest(|_| true), batch) {
            (Some(newest), Some(batch)) if joins => {
                newest.unlinked.append(&mut batch.unlinked);
                newest.entries += batch.entries;
            }
            (_, batch) => pass(batch, &mut self.newer),
        }
    }
}

impl<C> Destroyable<C> {
    /// Of batches, newest first.
    fn new(batches: Chain<C>) -> Self {
        Destroyable(reversed(batches))
    }
}

impl<C> Iterator for Destroyable<C> {
    type Item = Vec<Retired<C>>;

    fn next(&mut self) -> Option<Vec<Retired<C>>> {
        let batch = self.0.take()?;
        self.0 = batch.next;
        Some(batch.unlinked)
    }
}
