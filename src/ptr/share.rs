//! The shares of weak pointers in a block: making, counting and giving up shares; and the check
//! whether a strong pointer is unique.

use super::flavour::{Flavour, Variable, abort};
use super::header::Block;
use super::state::{MAX_WEAK, NONE, State, locked, weak};
use crate::sync::{Critical, Ordering::*};

impl<F: Flavour> Block<F> {
    /// Counts one more weak pointer, made from a strong pointer. O(1).
    ///
    /// # Safety
    /// The caller has a strong pointer.
    #[inline]
    pub(super) unsafe fn downgrade(self) {
        let mut new = None;
        let mut turn = 0;
        let mut now = self.header().state.first_load(NONE);
        loop {
            let state = State::decode(now);
            let done = match state {
                State::None => self.transition(now, weak(2)).map(drop),
                State::Weak(n) if n < MAX_WEAK => self.transition(now, weak(n + 1)).map(drop),
                State::Thin(_) | State::Shared(_) => {
                    self.prepare(&state, 1, &mut new);
                    self.inflate(now, &mut new).map(drop)
                }
                State::Record(record) => {
                    record.add_ref_by_strong();
                    Ok(())
                }
                State::Locked => Err(self.wait(&mut turn)),
                State::Weak(_) | State::Dead => abort(),
            };
            match done {
                Ok(()) => return,
                Err(other) => now = other,
            }
        }
    }

    /// Counts one more weak pointer, made from another weak pointer.
    ///
    /// # Safety
    /// The caller has a weak pointer; so the state is `WEAK` or `RECORD`, and stays so during the
    /// call.
    #[inline]
    pub(super) unsafe fn clone_weak(self) {
        let mut now = self.header().state.first_load(weak(2));
        loop {
            match State::<F>::decode(now) {
                State::Record(record) => return record.add_ref(),
                State::Weak(n) if n < MAX_WEAK => {
                    // Relaxed: the caller has a weak pointer.
                    // Acquire on failure: the publication of a record.
                    match self
                        .header()
                        .state
                        .compare_exchange(now, weak(n + 1), Relaxed, Acquire)
                    {
                        Ok(_) => return,
                        Err(other) => now = other,
                    }
                }
                // Too many weak pointers. (The other states are impossible: see the promise.)
                _ => abort(),
            }
        }
    }

    /// Gives up the share of a weak pointer, or of an object at the end of its death.
    ///
    /// # Safety
    /// B1: the caller owns the share, and gives it up. The state is `WEAK` or `RECORD`.
    #[inline]
    pub(super) unsafe fn release_weak(self) {
        let mut now = self.header().state.first_load(weak(2));
        loop {
            match State::<F>::decode(now) {
                // SAFETY: R1, the caller's promise.
                State::Record(record) => return unsafe { record.release() },
                // The object has given its share up, and no other share is left from which a
                // further share could be made. (Loaded with acquire: the uses by all other threads
                // happen before the end.)
                // SAFETY: B1, the caller's share is the last.
                State::Weak(1) => return unsafe { self.free() },
                // Release: with the Acquire of the last share's owner.
                State::Weak(n) => {
                    match self
                        .header()
                        .state
                        .compare_exchange(now, weak(n - 1), Release, Acquire)
                    {
                        Ok(_) => return,
                        Err(other) => now = other,
                    }
                }
                _ => unreachable!("a weak pointer has a share"),
            }
        }
    }

    /// Returns whether the caller's strong pointer may give mutable access to the payload: the
    /// pointer is the only one, weak or strong, there is no entry, and the object does not return
    /// (G3).
    pub(super) fn is_unique(self) -> bool {
        let alone = || self.has_one_pointer();
        let state = &self.header().state;
        let mut now = state.first_load(NONE);
        loop {
            match State::<F>::decode(now) {
                State::None | State::Weak(1) => {
                    // Acquire: the end of former weak pointers.
                    match state.compare_exchange(now, locked(), Acquire, Acquire) {
                        Ok(_) => {
                            let _critical = Critical::enter();
                            // No weak pointer can come while the state is locked, so a count of one
                            // stays one. (A strong pointer whose drop we see cannot have waited for
                            // the store below.)
                            let alone = alone();
                            // Release: passes on all that the lock acquired, since a store does not
                            // pass it on by itself.
                            state.store(now, Release);
                            return alone;
                        }
                        Err(other) => now = other,
                    }
                }
                // Relaxed, in `is_returning`: G1.
                State::Record(record) => {
                    return !record.is_returning() && record.is_unwatched(alone);
                }
                // (A locked state: another strong pointer has locked it.)
                State::Weak(_)
                | State::Thin(_)
                | State::Shared(_)
                | State::Locked
                | State::Dead => {
                    return false;
                }
            }
        }
    }

    /// Returns whether the caller's strong pointer is the only one.
    #[inline(always)]
    fn has_one_pointer(self) -> bool {
        // Acquire: the Release of every other strong pointer's drop, so that their uses of the
        // object happen before the caller's.
        self.header().count.load(Acquire) == 1
    }

    /// Returns whether the object returns to the [destination](super::home::Destination) at this
    /// address, the caller's strong pointer is the only pointer, weak or strong, and there is no
    /// entry.
    pub(super) fn is_unique_of(self, destination: *const ()) -> bool {
        // Acquire: the publication of a record.
        match State::<F>::decode(self.header().state.load(Acquire)) {
            State::Record(record) => {
                let alone = || self.has_one_pointer();
                record.returns_to(destination) && record.is_unwatched(alone)
            }
            // (A returning object has a record.)
            _ => false,
        }
    }

    /// Returns the number of weak pointers and entries. A snapshot.
    pub(super) fn weak_count(self) -> usize {
        match State::<F>::decode(self.header().state.load(Acquire)) {
            State::None | State::Dead | State::Locked => 0,
            State::Weak(n) => n - 1,
            State::Thin(_) | State::Shared(_) => 1,
            State::Record(record) => record.weak_count(),
        }
    }
}
