//! Plain changes: a thread that was outside changes one entry, while nothing
//! [concerns](super::domain::Domain::concerns) the changes of the table. Entries that are compared
//! by the addresses of their objects are [searched](Plain::put) under the lock of the bucket; where
//! a comparison is user code, the thread [searches](Plain::put_found) before it locks the bucket. A
//! change that needs anything else is left to a [`Writer`](super::table::Writer), before the plain
//! change has changed the table.
//!
//! * **E1** A plain change reads the word [`concerns`](super::domain::Domain::concerns) under the
//!   lock of the bucket. A thread that sets the word [passes](super::table::Writer::pass_all) the
//!   lock of each bucket, and only then visits the entries. So the change sees the word, or the
//!   visiting thread finds the entry of the change. A bound is published only after the locks were
//!   passed, so a thread that sees the bound also sees each replacement by a plain change that has
//!   missed the word.
//! * **E2** A *parked* entry is an entry that a plain change of this thread has replaced. The
//!   registration has passed to the new entry, and key and value have no destructor, so only
//!   the memory is left. A thread parks at most [`PARKED`](super::parked) entries. When so many
//!   entries are parked, a later plain change of the thread looks, after the thread has entered,
//!   whether a second thread is inside. If not, no thread looks at a parked entry: all of them were
//!   unlinked before the barrier of this entering (D1). From then on their memory is *spare*.
//!   Memory of removed and dead entries that the thread has destroyed is spare at once.
//! * **E3** A plain change takes the dead entries that are due, and then enters: the barrier of
//!   entering is the barrier of D1 for the taken entries. If the thread sees no second thread
//!   inside, it destroys the entries, which own nothing with a destructor, within its visit.
//!   Otherwise the thread leaves, makes a barrier and looks anew, and enters again.

use core::cell::Cell;
use core::mem::{self, MaybeUninit};
use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::array::Array;
use super::bucket::{Bucket, LockedBucket, Spares};
use super::change::{Searched, are_all, search};
use super::dead::untie;
use super::entry::{Entry, Registered, end};
use super::guards::Inside;
use super::parked::Parked;
use super::participants::Participant;
use super::reap::{Due, Taken};
use super::retired::Retired;
use super::table::{Located, Match, RawTable, find};
use super::unlinked::Unlinked;
use crate::panics::FirstPanic;
use crate::ptr::{Off, Promise};
use crate::sync::Ordering::*;
use crate::sync::prefetch_to_write;
use crate::thread::ThreadNumber;

/// A thread inside, for a plain change. The drop leaves the table, and parks or destroys the entry
/// that the change has unlinked.
pub(crate) struct Plain<'t, N: Entry> {
    table: &'t RawTable<N>,
    inside: Inside<'t>,
    /// The entry that the change has unlinked, or null.
    unlinked: Cell<*mut N>,
    /// Whether no new entry has the registration of the unlinked entry.
    removed: Cell<bool>,
    /// D7: whether the thread gathers the unlinked entry.
    gathers: Cell<bool>,
}

/// Why a plain change has changed nothing.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum NotPlain {
    /// Another entry than the expected one is there.
    Changed,
    /// Something unusual: a [`Writer`](super::table::Writer) has to make the change.
    Unusual,
}

impl<N: Entry> RawTable<N> {
    /// Enters the table for a plain change, unless the thread is inside already, or there is no
    /// array yet, or a [concern](Self::concern). Before, `take` is called, if dead entries are due.
    /// The change destroys the entries that `take` returns, or `reap` does, if a second thread is
    /// inside, or something is unusual.
    #[inline(always)]
    pub(crate) fn plain<'t>(
        &'t self,
        take: impl FnOnce(Due) -> Option<Taken<'t, N>>,
        reap: impl FnOnce(Taken<'t, N>),
    ) -> Option<Plain<'t, N>> {
        let number = ThreadNumber::current();
        let participant = self.domain.participant(number.get(), Self::REST);
        // Relaxed: E1: the change asks again.
        let is_plain = !self.domain.concerns.load(Relaxed) && !self.is_new();
        if participant.depth.get() != 0 || !is_plain {
            return None;
        }
        match self.begin_change(participant) {
            false => participant.sit_down(),
            true => self.enter_with(participant, take, reap),
        }
        Some(Plain {
            table: self,
            inside: Inside::new(&self.domain, participant, number),
            unlinked: Cell::new(ptr::null_mut()),
            removed: Cell::new(false),
            gathers: Cell::new(false),
        })
    }

    /// Returns memory for an entry.
    #[inline(always)]
    pub(super) fn spare_memory(&self) -> Box<MaybeUninit<N>> {
        let number = ThreadNumber::current();
        let participant = self.domain.participants.at_home(number.get());
        participant.map_or_else(Box::new_uninit, |participant| self.memory_of(participant))
    }

    /// Returns memory for an entry, for the thread of this participant, the calling thread.
    #[inline(always)]
    pub(super) fn memory_of(&self, participant: &Participant) -> Box<MaybeUninit<N>> {
        let parked = participant.parked.get();
        let memory = parked.and_then(|parked| parked.take(|| false));
        memory.map_or_else(Box::new_uninit, |memory| self.reuse(memory))
    }

    /// Returns spare memory, or a parked entry at which no thread looks, as memory for an entry.
    #[cfg(not(any(miri, weakly_loom, weakly_sanitize)))]
    #[inline(always)]
    fn reuse(&self, memory: *mut N) -> Box<MaybeUninit<N>> {
        // SAFETY: E2: from `Box::into_raw`, and no thread looks at the memory. A parked entry has
        // nothing to drop.
        unsafe { Box::from_raw(memory.cast()) }
    }

    /// Frees the memory, and allocates anew: in reused memory, a check would not see an access that
    /// comes too late.
    #[cfg(any(miri, weakly_loom, weakly_sanitize))]
    fn reuse(&self, memory: *mut N) -> Box<MaybeUninit<N>> {
        // SAFETY: E2, as above. In models all memory here is of parked entries.
        unsafe {
            #[cfg(not(weakly_loom))]
            drop(Box::<MaybeUninit<N>>::from_raw(memory.cast()));
            #[cfg(weakly_loom)]
            drop(end(memory, self.context()));
        }
        Box::new_uninit()
    }

    /// Returns the array, if no entries are moving.
    #[inline(always)]
    pub(super) fn array_at_rest<'g, G>(&self, inside: &'g G) -> Option<&'g Array<N>> {
        let array = self.array(inside)?;
        array.next().is_none().then_some(array)
    }

    /// Locks a home bucket, if the table has no [concern](Self::concern).
    #[inline(always)]
    pub(super) fn lock_plain<'b>(&self, home: &'b Bucket<N>) -> Option<LockedBucket<'b, N>> {
        prefetch_to_write(home);
        let locked = home.lock_unseen()?;
        // E1
        // Relaxed: the lock of the bucket.
        (!self.domain.concerns.load(Relaxed)).then_some(locked)
    }

    /// Ends an entry. The thread of the participant keeps the memory, if there is room.
    ///
    /// # Safety
    /// The entry comes from `Box::into_raw`, and no thread looks at it. The participant is the
    /// calling thread's.
    #[inline(always)]
    pub(super) unsafe fn end(&self, participant: Option<&Participant>, node: *mut N) {
        // SAFETY: the caller's promise.
        if let Some(memory) = unsafe { end(node, self.context()) } {
            if let Some(participant) = participant {
                self.keep(participant, memory);
            }
        }
    }

    /// Keeps memory for the thread of the participant, which is the calling thread, if there is
    /// room.
    #[inline(always)]
    pub(super) fn keep(&self, participant: &Participant, memory: Box<MaybeUninit<N>>) {
        let parked = participant.parked.get();
        // Under these checks memory is never used again: see `reuse`. (Under loom no spare memory
        // comes here: `end` keeps it.)
        if let Some(parked) = parked.filter(|_| cfg!(not(any(miri, weakly_sanitize)))) {
            parked.keep(memory);
        }
    }
}

impl<N: Entry> Plain<'_, N> {
    /// Whether a replaced entry is parked: there is nothing to drop, and the entry is not large.
    const PARKS: bool = !N::PROMPT && Parked::most::<N>() != 0;
}

impl<'t, N: Entry> Plain<'t, N> {
    /// Makes an entry as [`RawTable::entry`] does.
    #[inline(always)]
    pub(crate) fn entry(&self, make: impl FnOnce() -> N) -> Unlinked<'t, N> {
        let parked = self.inside.participant.parked.get();
        let is_unseen = || self.table.domain.is_alone(self.inside.participant);
        let memory = parked.and_then(|parked| parked.take::<N>(is_unseen));
        let place = memory.map_or_else(Box::new_uninit, |memory| self.table.reuse(memory));
        Unlinked::new(place, make, self.table.context())
    }

    /// Returns the entry with this hash for which `same` is true. Lock-free.
    #[inline]
    pub(crate) fn find<M: Into<Match>>(
        &self,
        hash: u64,
        same: impl FnMut(&N) -> M,
    ) -> Option<Located<'_, N>> {
        find(self.table.array(self)?, hash, same)
    }

    /// Inserts an entry, or replaces the entry for which `same` is true, if the present entry, or
    /// its absence, is `expected`. Returns the replaced entry. `same` and `expected` run no user
    /// code.
    #[inline(always)]
    pub(crate) fn put(
        &self,
        node: &mut Unlinked<'_, N>,
        same: impl Fn(&N, &N) -> bool,
        expected: impl Fn(Option<&N>) -> bool,
    ) -> Result<Option<&N>, NotPlain> {
        let (hash, unusual) = (node.hash(), Err(NotPlain::Unusual));
        loop {
            let (Some(array), Some(watch)) = (self.table.array_at_rest(self), node.watch()) else {
                return unusual;
            };
            let Some(mut locked) = self.table.lock_plain(array.home(hash)) else {
                return unusual;
            };
            if let Some((bucket, slot)) = array.find_in(&locked, hash, |there| same(node, there)) {
                let place = bucket.slot(slot);
                // SAFETY: R3, R4: linked, and not destroyed while the thread is inside.
                let there = unsafe { &*place };
                if !expected(Some(there)) {
                    return Err(NotPlain::Changed);
                }
                let Some(old) = there.watch().filter(|there| watch.may_inherit(there)) else {
                    return unusual;
                };
                if !self.may_unlink(Self::PARKS) {
                    drop(locked);
                    match self.make_room_to_retire(Self::PARKS) {
                        true => continue,
                        false => return unusual,
                    }
                }
                if old.untie().is_err() {
                    return unusual;
                }
                watch.inherit(old);
                locked.replace(bucket, slot, node.link());
                drop(locked);
                self.unlinked.set(place);
                return Ok(Some(there));
            }
            if !expected(None) {
                return Err(NotPlain::Changed);
            }
            let Some(free) = locked.free_slot() else {
                return unusual;
            };
            // SAFETY: an entry that is not linked yet does not outlive the handles to its objects
            // (`RawTable::entry`), and no other thread knows the entry.
            if !watch.register_first(array.core(), &unsafe { Promise::given() }) {
                return unusual;
            }
            locked.put_at(free, node.link(), hash);
            drop(locked);
            self.inside.count(true, 1);
            self.inside.count_registered(1);
            return Ok(None);
        }
    }

    /// As [`put`](Self::put). `same` and `expected` may be user code: the thread calls both under
    /// no lock, and calls both again when other threads change the same entry (R2). `GUESSES`: the
    /// first search is left out, and the entry is inserted if no entry has the hash (as V1 of
    /// [`reserve`](super::reserve)).
    #[inline]
    pub(crate) fn put_found<'g, const GUESSES: bool>(
        &'g self,
        node: &mut Unlinked<'_, N>,
        mut same: impl FnMut(&N, &N) -> bool,
        mut expected: impl FnMut(Option<&'g N>) -> bool,
    ) -> Result<Option<&'g N>, NotPlain> {
        let (hash, unusual) = (node.hash(), Err(NotPlain::Unusual));
        let mut guesses = GUESSES;
        loop {
            let Some(array) = self.table.array_at_rest(self) else {
                return unusual;
            };
            let home = array.home(hash);
            prefetch_to_write(home);
            let found = match mem::take(&mut guesses) {
                true => Searched::Others(Vec::new()),
                false => search(home, home.meta(), hash, |there| same(node, there)),
            };
            let old = match &found {
                Searched::Again => continue,
                Searched::There(place) => Some(place.get()),
                Searched::Others(_) => None,
            };
            if !expected(old) {
                return Err(NotPlain::Changed);
            }
            let (heirs, more) = node.inherit_or_register(old, array.core());
            self.inside.count_registered(more);
            let inherits = heirs.is_some();
            if let Some(old) = old {
                let parks = Self::PARKS && inherits;
                if old.watch().is_none()
                    || !self.may_unlink(parks) && !self.make_room_to_retire(parks)
                {
                    return unusual;
                }
            }
            let Some(mut locked) = self.table.lock_plain(home) else {
                return unusual;
            };
            if !node.watch().is_some_and(Registered::may_be_linked) {
                return unusual;
            }
            match &found {
                Searched::There(place) if place.is_linked() => {
                    if untie(place.get()).is_err() {
                        return unusual;
                    }
                    if let Some((watch, there)) = heirs {
                        watch.inherit(there);
                    }
                    locked.replace(place.bucket, place.slot, node.link());
                    drop(locked);
                    self.unlinked.set(place.node);
                    self.removed.set(!inherits);
                    return Ok(old);
                }
                Searched::Others(others) if are_all(&locked, hash, others) => {
                    if !locked.add(node.as_ptr(), hash, &mut Spares::new()) {
                        return unusual;
                    }
                    node.link();
                    drop(locked);
                    self.inside.count(true, 1);
                    return Ok(None);
                }
                _ => {}
            }
        }
    }

    /// Unlinks an entry, if the entry is still linked.
    #[inline(always)]
    pub(crate) fn remove(&self, entry: &Located<'_, N>) -> Result<(), NotPlain> {
        let unusual = Err(NotPlain::Unusual);
        if entry.get().watch().is_none()
            || !self.may_unlink(false) && !self.make_room_to_retire(false)
        {
            return unusual;
        }
        let (Some(_), Some(mut locked)) = (
            self.table.array_at_rest(self),
            self.table.lock_plain(entry.home),
        ) else {
            return unusual;
        };
        if !entry.is_linked() {
            return Err(NotPlain::Changed);
        }
        if untie(entry.get()).is_err() {
            return unusual;
        }
        locked.clear(entry.bucket, entry.slot);
        drop(locked);
        self.inside.count(true, -1);
        self.unlinked.set(entry.node);
        self.removed.set(true);
        Ok(())
    }

    /// Returns whether an entry may be unlinked now: whether the drop of `self` can park the entry,
    /// gather the entry, or keep the memory of the entry without an allocation. (If another thread
    /// looks at the entry, the drop allocates nevertheless.) `parks`: whether the drop parks the
    /// entry; otherwise this call decides whether the thread gathers the entry (D7).
    #[inline(always)]
    fn may_unlink(&self, parks: bool) -> bool {
        let participant = self.inside.participant;
        // A removal needs it, too: the thread then keeps the memory of entries that it destroys.
        let Some(parked) = participant.parked.get() else {
            return false;
        };
        if parks {
            return parked.has_room::<N>();
        }
        let gathers = self.table.domain.gathers();
        self.gathers.set(gathers);
        !gathers || participant.bag().is_some()
    }

    /// Makes the room that [`may_unlink`](Self::may_unlink) has missed, under no lock. Returns
    /// whether an entry may be unlinked now.
    #[cold]
    #[inline(never)]
    fn make_room_to_retire(&self, parks: bool) -> bool {
        self.inside.participant.begin_parking();
        if self.table.domain.gathers() {
            self.inside.participant.bag_or_new();
        }
        self.may_unlink(parks)
    }

    /// Leaves, and destroys an unlinked entry, or defers its destruction.
    #[inline(never)]
    fn end(&self, old: *mut N, removed: bool) {
        let (domain, participant) = (&self.table.domain, self.inside.participant);
        let mut panics = FirstPanic::default();
        let gathers = self.gathers.get();
        let out = self.inside.leave(!gathers);
        debug_assert!(out, "the thread entered for this change");
        if self.inside.must_look() {
            panics.catch(|| domain.look_back());
        }
        // SAFETY: unlinked by the calling thread, under the lock.
        let watch = unsafe { &*old }.watch().filter(|_| removed);
        if !gathers && (domain.is_of_one() || domain.is_unseen()) {
            // Usually the object has no second registration. A bound that has come meanwhile may
            // need the share of the watch.
            // Relaxed: the look at the word comes after the look at the threads: a reader that has
            // seen a bound and told the bound of the entry has left, and the word is set.
            let is_usual = !domain.concerns.load(Relaxed);
            let both = watch.zip(self.table.core()).filter(|_| is_usual);
            let finished = both.is_some_and(|(watch, core)| watch.finish(core));
            if finished {
                let registered = &participant.registered;
                registered.set(registered.get().wrapping_sub(1));
            }
            if finished && !N::PROMPT && cfg!(not(weakly_loom)) {
                // SAFETY: D1, D2: as above, and no thread looks at the entry. As in E2, only the
                // memory is left.
                let memory = unsafe { Box::from_raw(old.cast()) };
                self.table.keep(participant, memory);
            } else {
                panics.catch(|| {
                    // SAFETY: D1, D2: as above, and no thread looks at the entry.
                    unsafe { self.table.end(Some(participant), old) };
                });
            }
        } else {
            if let Some(watch) = watch {
                watch.end(&mut Off::new());
            }
            // SAFETY: R3. `Sync` of the table demands `Send` of the entries.
            let old = core::iter::once(unsafe { Retired::new(old) });
            match gathers {
                true => domain.gather(participant, old, None, &mut panics),
                false => domain.to_deferred(old.collect(), None, &mut panics),
            }
        }
        if !gathers {
            domain.empty_own(participant, None, &mut panics);
        }
        panics.resume();
    }
}

impl<N: Entry> Drop for Plain<'_, N> {
    #[inline(always)]
    fn drop(&mut self) {
        let (old, removed) = (self.unlinked.get(), self.removed.get());
        if !old.is_null() {
            if removed || !Self::PARKS {
                return self.end(old, removed);
            }
            if let Some(parked) = self.inside.participant.parked.get() {
                parked.park(old);
            }
        }
        self.inside.leave(false);
        if self.inside.must_look() {
            self.table.domain.look_back();
        }
    }
}
