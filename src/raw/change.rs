//! Insertion and removal: an entry is searched without the lock, because comparing runs user code,
//! and then checked under the lock (R2). Most changes are [plain](super::plain) instead.

use core::ptr;
use std::vec::Vec;

use super::array::MIN_LEN;
use super::bucket::{Bucket, LockedBucket, Meta, Spares};
use super::dead::untie;
use super::entry::{Entry, Registered};
use super::table::{Located, Match, Writer, search_chain};
use super::unlinked::Unlinked;
use crate::sync::prefetch_to_write;

/// The outcome of an insertion.
pub(crate) enum Put<'g, N> {
    Added(&'g N),
    Replaced { old: &'g N, new: &'g N },
    Refused,
}

/// The outcome of a search.
pub(super) enum Searched<'g, N> {
    There(Located<'g, N>),
    /// All entries with this hash in the order of the chain; none of them is the same.
    Others(Vec<*mut N>),
    /// The search has to begin again: the home bucket has moved, or a dead entry has gone (R5).
    Again,
}

/// Searches a home bucket, and the buckets chained behind it.
#[inline]
pub(super) fn search<'g, N: Entry, M: Into<Match>>(
    home: &'g Bucket<N>,
    seen: Meta,
    hash: u64,
    same: impl FnMut(&N) -> M,
) -> Searched<'g, N> {
    if seen.has_moved() {
        return Searched::Again;
    }
    let mut others = Vec::new();
    match search_chain(home, seen, hash, same, |node| others.push(node)) {
        Ok(place) => Searched::There(place),
        Err(true) => Searched::Again,
        Err(false) => Searched::Others(others),
    }
}

/// Returns whether all entries with the hash `hash` are among `others`, in the same order (R2).
pub(super) fn are_all<N: Entry>(
    locked: &LockedBucket<'_, N>,
    hash: u64,
    others: &[*mut N],
) -> bool {
    let mut others = others.iter();
    locked.home().chain().all(|bucket| {
        locked.tags(bucket).candidates(hash).all(|slot| {
            let node = bucket.slot(slot);
            // SAFETY: as in `search_chain`.
            let other = unsafe { node.as_ref() }.is_none_or(|node| node.hash() != hash);
            other || others.any(|known| ptr::eq(*known, node))
        })
    })
}

impl<N: Entry> Writer<'_, N> {
    /// Inserts an entry, or replaces the entry with the same hash for which `same` is true, if
    /// `expected` accepts the present entry or its absence. Both closures may be called again when
    /// other threads change the same entry. If the entry is not inserted, the caller keeps the
    /// entry and decides when to destroy it. Reasons are a panic of a closure, and the [death of
    /// an object](Registered::may_be_linked).
    #[inline]
    pub(crate) fn put<'g>(
        &'g self,
        node: &mut Unlinked<'_, N>,
        mut same: impl FnMut(&N, &N) -> bool,
        mut expected: impl FnMut(Option<&'g N>) -> bool,
    ) -> Put<'g, N> {
        let hash = node.hash();
        let mut spares = Spares::new();
        loop {
            let Some(array) = self.array_for(hash) else {
                self.table.begin(MIN_LEN);
                continue;
            };
            let home = array.home(hash);
            prefetch_to_write(home);
            let seen = home.meta();
            let found = search(home, seen, hash, |there| same(node, there));
            let old = match &found {
                Searched::Again => continue,
                Searched::There(place) => Some(place.get()),
                Searched::Others(_) => None,
            };
            if !expected(old) {
                return Put::Refused;
            }
            if old.is_some() {
                self.inside.make_room_to_retire(1);
            }
            let (heirs, more) = node.inherit_or_register(old, array.core());
            self.inside.count_registered(more);
            let locked = match &found {
                Searched::There(place) => self.lock_untied(place, seen),
                _ => home.lock(seen),
            };
            let Some(mut locked) = locked else {
                continue;
            };
            match found {
                _ if !node.watch().is_none_or(Registered::may_be_linked) => return Put::Refused,
                Searched::There(place) if place.is_linked() => {
                    if let Some((watch, there)) = heirs {
                        watch.inherit(there);
                    }
                    let new = node.link();
                    locked.replace(place.bucket, place.slot, new);
                    drop(locked);
                    // SAFETY: unlinked by the calling thread, under the lock.
                    unsafe { self.retire(place.node) };
                    let old = place.get();
                    // SAFETY: as in `search_chain`.
                    let new = unsafe { &*new };
                    let (is, was) = (new.is_counted(), old.is_counted());
                    if is != was {
                        self.inside.count(is, 1);
                        self.inside.count(was, -1);
                    }
                    return Put::Replaced { old, new };
                }
                Searched::Others(others) if are_all(&locked, hash, &others) => {
                    if locked.add(node.as_ptr(), hash, &mut spares) {
                        let new = node.link();
                        drop(locked);
                        // SAFETY: as in `search_chain`.
                        let new = unsafe { &*new };
                        self.inside.count(new.is_counted(), 1);
                        return Put::Added(new);
                    }
                    drop(locked);
                    self.grow_or_extend(array, &mut spares);
                }
                _ => {}
            }
        }
    }

    /// Locks the home bucket of an entry that is to be unlinked, unless the bucket has moved. If
    /// the entry is still linked, its slot has ended, or its token is closed. The wake-ups of a
    /// closing are made when the thread has left, so no user code runs here.
    #[inline]
    fn lock_untied<'g>(&self, place: &Located<'g, N>, seen: Meta) -> Option<LockedBucket<'g, N>> {
        let mut locked = place.home.lock(seen)?;
        while place.is_linked() {
            let Err(token) = untie(place.get()) else {
                break;
            };
            drop(locked);
            self.inside.close(token);
            locked = place.home.lock(place.home.meta())?;
        }
        Some(locked)
    }

    /// Waits for the writer holding the lock of the bucket of `hash`. From now on the caller finds
    /// the entries linked by the writer, and a later writer sees the caller's earlier stores.
    pub(crate) fn pass(&self, hash: u64) {
        while let Some(array) = self.array_for(hash) {
            if array.home(hash).lock_unseen().is_some() {
                return;
            }
        }
    }

    /// Waits as [`pass`](Self::pass) does, for the writers at all buckets.
    pub(crate) fn pass_all(&self) {
        self.each_bucket(|hash| self.pass(hash));
    }

    /// Shows a hash of each bucket. Does not wait for threads that move the table.
    pub(super) fn each_bucket(&self, mut look: impl FnMut(u64)) {
        let mut arrays = self.array();
        while let Some(array) = arrays {
            (0..array.len() as u64).for_each(&mut look);
            // If there is a next array, a bucket may have become two buckets, of which only one was
            // shown.
            arrays = array.next();
        }
    }

    /// Unlinks the entry with this hash for which `same` is true, if the entry is `wanted`. Both
    /// closures may be called again when other threads change the same entry.
    #[inline]
    pub(crate) fn remove_if<M: Into<Match>>(
        &self,
        hash: u64,
        mut same: impl FnMut(&N) -> M,
        mut wanted: impl FnMut(&N) -> bool,
    ) -> Option<&N> {
        loop {
            let array = self.array_for(hash)?;
            let home = array.home(hash);
            prefetch_to_write(home);
            let seen = home.meta();
            let place = match search(home, seen, hash, &mut same) {
                Searched::There(place) => place,
                Searched::Others(_) => return None,
                Searched::Again => continue,
            };
            if !wanted(place.get()) {
                return None;
            }
            self.inside.make_room_to_retire(1);
            let Some(mut locked) = self.lock_untied(&place, seen) else {
                continue;
            };
            if place.is_linked() {
                locked.clear(place.bucket, place.slot);
                drop(locked);
                self.inside.count(place.get().is_counted(), -1);
                // SAFETY: unlinked by the calling thread, under the lock.
                unsafe { self.retire(place.node) };
                return Some(place.get());
            }
        }
    }
}
