//! What one of several tasks uses at a time, and all of them own.
//!
//! * **O1** Whoever takes it gives it back, or says that it is over. Those that find it taken meanwhile leave their seats, and
//!   are woken when it is given back: each of them has to find once that it is there, or over. (Of two computations that need
//!   each other, each may find the other taken, by a thread that does not go on because it found the first taken. And who was
//!   woken by the computation, and could not poll it, owes that still.)
//! * **O2** It has owners as long as somebody may get it. The last to leave takes what is there; nobody joins after that.

#[cfg(all(test, weakly_loom))]
mod models;

use core::mem;
use std::vec::Vec;

use crate::sync::{Exclusive, Mutex, make_room};

/// Something that is used, and then has a result, or none.
pub(super) struct Held<W, R>(Mutex<State<W, R>>);

struct State<W, R> {
    phase: Phase<W, R>,
    owners: usize,
    /// The seats of those that found it taken, perhaps several times.
    refused: Vec<u32>,
}

enum Phase<W, R> {
    Here(W),
    Taken,
    Over(Option<R>),
}

/// What a task finds.
pub(super) enum Found<W> {
    /// It is the task's now.
    Taken(W),
    /// Another one has it.
    Refused,
    Over,
}

impl<W, R: Clone> Held<W, R> {
    /// With one owner, who has yet to [give](Self::give_back) it.
    pub(super) fn new() -> Self {
        Held(Mutex::new(State {
            phase: Phase::Taken,
            owners: 1,
            refused: Vec::new(),
        }))
    }

    /// One owner more. False if there is none any more.
    pub(super) fn join(&self) -> bool {
        let mut state = self.0.lock();
        let joins = state.owners != 0;
        state.owners += usize::from(joins);
        joins
    }

    /// One owner less. The last one gets what is there (O2).
    pub(super) fn leave(&self) -> Option<W> {
        let mut state = self.0.lock();
        state.owners -= 1;
        if state.owners != 0 {
            return None;
        }
        match mem::replace(&mut state.phase, Phase::Over(None)) {
            Phase::Here(what) => Some(what),
            // The result is a user's: it goes with this.
            over => {
                state.phase = over;
                None
            }
        }
    }

    pub(super) fn take(&self) -> Found<W> {
        let mut state = self.0.lock();
        match mem::replace(&mut state.phase, Phase::Taken) {
            Phase::Here(what) => Found::Taken(what),
            Phase::Taken => Found::Refused,
            over @ Phase::Over(_) => {
                state.phase = over;
                Found::Over
            }
        }
    }

    /// The result, if there is one.
    pub(super) fn result(&self) -> Option<R> {
        match &self.0.lock().phase {
            Phase::Over(result) => result.clone(),
            _ => None,
        }
    }

    /// O1: a task that found it taken is to be woken, by its seat. False if it is not taken any more.
    pub(super) fn wait(&self, seat: u32) -> bool {
        self.0.with_room(
            |state, memory| {
                let refused = &mut state.refused;
                if refused.len() < refused.capacity() || !matches!(state.phase, Phase::Taken) {
                    return Ok(());
                }
                // Tasks that are polled again and again meanwhile take no more room.
                refused.sort_unstable();
                refused.dedup();
                make_room(refused, refused.len() + 1, memory)
            },
            |state, _| {
                let waits = matches!(state.phase, Phase::Taken);
                if waits {
                    state.refused.push(seat);
                }
                waits
            },
        )
    }

    /// Gives it back. The caller wakes those in these seats.
    #[must_use]
    pub(super) fn give_back(&self, what: W) -> Vec<u32> {
        let mut state = self.0.lock();
        state.phase = Phase::Here(what);
        mem::take(&mut state.refused)
    }

    /// It has ended, with this result. Without one, false if others than the caller are to have one.
    pub(super) fn end(&self, result: Option<R>) -> bool {
        let mut state = self.0.lock();
        if result.is_none() && state.owners > 1 {
            return false;
        }
        state.phase = Phase::Over(result);
        true
    }

    /// It has ended without a result.
    pub(super) fn fail(&self) {
        self.0.lock().phase = Phase::Over(None);
    }
}
