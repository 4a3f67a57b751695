//! A computation with several tasks as owners, used by at most one task at a time.
//!
//! * **O1** A task takes the computation, polls the computation, and then gives it back or ends it.
//!   A task that finds the computation taken leaves its seat. Giving the computation back wakes all
//!   left seats, since each of their tasks has to look once more. (Two computations may need each
//!   other, and each may be taken by a thread that stopped because the thread found the second
//!   computation taken. And a task that was woken by the computation, and could not poll, still
//!   owes a poll.)
//! * **O2** Each task that may still use the computation is an owner. The last owner to leave takes
//!   the computation or its result out, and no task becomes an owner later.

#[cfg(all(test, weakly_loom))]
mod models;

use core::mem;
use std::vec::Vec;

use crate::sync::{Exclusive, Mutex, make_room};

/// A computation `T`, used until there is a result, or until the computation ends without a result.
pub(in super::super) struct Held<W, R>(Mutex<State<W, R>>);

struct State<W, R> {
    phase: Phase<W, R>,
    owners: usize,
    /// The seats of the tasks that found the computation taken. A seat may be there several times.
    refused: Vec<u32>,
}

enum Phase<W, R> {
    Here(W),
    Taken,
    Over(Option<R>),
}

/// The state in which a task finds a computation.
pub(in super::super) enum Found<W> {
    /// The task has taken the computation.
    Taken(W),
    /// A different task has taken the computation.
    Refused,
    Over,
}

impl<W, R: Clone> Held<W, R> {
    /// Begins with one owner. The owner has taken the computation, and [gives it
    /// back](Self::give_back) later.
    pub(in super::super) fn new() -> Self {
        Held(Mutex::new(State {
            phase: Phase::Taken,
            owners: 1,
            refused: Vec::new(),
        }))
    }

    /// Adds an owner. Returns false if there are no owners any more.
    pub(in super::super) fn join(&self) -> bool {
        let mut state = self.0.lock();
        let joins = state.owners != 0;
        state.owners += usize::from(joins);
        joins
    }

    /// Removes an owner. Returns the computation or the result to the last owner (O2).
    pub(in super::super) fn leave(&self) -> Option<W> {
        let mut state = self.0.lock();
        state.owners -= 1;
        if state.owners != 0 {
            return None;
        }
        match mem::replace(&mut state.phase, Phase::Over(None)) {
            Phase::Here(what) => Some(what),
            // The result belongs to the user: the caller drops the result.
            over => {
                state.phase = over;
                None
            }
        }
    }

    pub(in super::super) fn take(&self) -> Found<W> {
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
    pub(in super::super) fn result(&self) -> Option<R> {
        match &self.0.lock().phase {
            Phase::Over(result) => result.clone(),
            _ => None,
        }
    }

    /// O1: leaves the seat of a task that found the computation taken. Returns false if the
    /// computation is not taken any more.
    pub(in super::super) fn wait(&self, seat: u32) -> bool {
        self.0.with_room(
            |state, memory| {
                let refused = &mut state.refused;
                if refused.len() < refused.capacity() || !matches!(state.phase, Phase::Taken) {
                    return Ok(());
                }
                // A task that is polled again and again meanwhile takes no more room.
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

    /// Gives the computation back. Returns the seats, whose tasks the caller wakes.
    #[must_use]
    pub(in super::super) fn give_back(&self, what: W) -> Vec<u32> {
        let mut state = self.0.lock();
        state.phase = Phase::Here(what);
        mem::take(&mut state.refused)
    }

    /// Ends the computation with the given result. Without a result, returns false if owners
    /// besides the caller want a result.
    pub(in super::super) fn end(&self, result: Option<R>) -> bool {
        let mut state = self.0.lock();
        if result.is_none() && state.owners > 1 {
            return false;
        }
        state.phase = Phase::Over(result);
        true
    }

    /// Ends the computation without a result.
    pub(in super::super) fn fail(&self) {
        self.0.lock().phase = Phase::Over(None);
    }
}
