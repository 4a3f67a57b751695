//! How a caller asks for a value that a second caller may be making: whether the caller waits for
//! the second caller, and whether callers share an error.

use core::marker::PhantomData;
use core::mem;
use std::time::Instant;

use super::schema::Schema;
use super::table::Table;
use super::watch::Watches;
use crate::flight::{Reservation, WaitError};
use crate::raw::Tally;

/// The answer of a table to a caller that wants a value.
pub(crate) enum Claimed<R, L> {
    /// The value is there by now.
    There(R),
    /// The caller is to make the value.
    Yours(L),
}

/// How a caller asks for a value. `Es`: which callers get the error of a maker.
pub(crate) struct Way<Es> {
    /// Whether the caller does not wait, but makes a value, too.
    pub(crate) races: bool,
    /// The end of the wait.
    pub(super) until: Option<Instant>,
    errors: PhantomData<Es>,
}

impl Way<OwnErrors> {
    pub(crate) const WAITS: Self = Way {
        races: false,
        until: None,
        errors: PhantomData,
    };
    pub(crate) const RACES: Self = Way {
        races: true,
        ..Way::WAITS
    };

    pub(crate) fn until(until: Option<Instant>) -> Self {
        Way {
            until,
            ..Way::WAITS
        }
    }
}

impl Way<SharedErrors> {
    pub(crate) const SHARES: Self = Way {
        races: false,
        until: None,
        errors: PhantomData,
    };
}

/// Which callers get the error of a maker, besides the caller of the maker itself.
pub(crate) trait Errors<E> {
    /// Whether callers that wait may get the error.
    const SHARED: bool;
    /// Leaves the error to the callers that wait.
    fn leave(error: &E, to: &Reservation);
    /// The error that has been left to a caller.
    fn left(by: &Reservation) -> Option<E>;
}

/// The callers that wait do not get the error: one of them makes the value instead.
pub(crate) struct OwnErrors;

impl<E> Errors<E> for OwnErrors {
    const SHARED: bool = false;

    fn leave(_: &E, _: &Reservation) {}

    fn left(_: &Reservation) -> Option<E> {
        None
    }
}

/// The callers that wait get clones of the error, if they share errors of its type.
pub(crate) struct SharedErrors;

/// An error that is left. (The type of an error may be the type of a value.)
#[derive(Clone)]
struct Shared<E>(E);

impl<E: Clone + Send + Sync + 'static> Errors<E> for SharedErrors {
    const SHARED: bool = true;

    fn leave(error: &E, to: &Reservation) {
        to.leave(Shared(error.clone()));
    }

    fn left(by: &Reservation) -> Option<E> {
        by.left().map(|Shared(error)| error)
    }
}

/// A caller that has got no answer yet. The drop counts the caller.
pub(super) struct Unanswered<'t, S: Schema<Watch: Watches>>(pub(super) &'t Table<S>);

impl<S: Schema<Watch: Watches>> Unanswered<'_, S> {
    /// Counts the answer.
    pub(super) fn answered<R, L>(self, answer: Claimed<R, L>) -> Claimed<R, L> {
        self.0.nodes.tally(match &answer {
            Claimed::There(_) => Tally::Hit,
            Claimed::Yours(_) => Tally::Load,
        });
        mem::forget(self);
        answer
    }
}

impl<S: Schema<Watch: Watches>> Drop for Unanswered<'_, S> {
    fn drop(&mut self) {
        self.0.count(|counts| &counts.unanswered);
    }
}

/// Why there is no value.
pub(crate) enum Failed<E> {
    /// The caller makes the value itself, or would wait for a maker that waits for the caller; or
    /// the time is up.
    Wait(WaitError),
    /// The making has failed.
    Error(E),
}

impl<E> From<WaitError> for Failed<E> {
    fn from(error: WaitError) -> Self {
        Failed::Wait(error)
    }
}

/// The value, the error of its making, or a panic if the making asked for the value. No time was
/// set.
#[inline]
#[track_caller]
pub(crate) fn made_by<K, V, E>(made: Result<V, Failed<E>>) -> Result<V, E> {
    match made {
        Ok(made) => Ok(made),
        Err(Failed::Error(error)) => Err(error),
        Err(Failed::Wait(_)) => cycle::<K, V>(),
    }
}

/// Panics, because the making of a value asked for the same value.
#[track_caller]
#[cold]
pub(crate) fn cycle<K, V>() -> ! {
    panic!(
        "a cycle: making the value ({}) of a key ({}) requires that value itself. (If it waits for a pool of threads that \
         steals work, a thread may have got here by a stolen computation: `get_or_compute_racing` and \
         `get_or_insert_racing` do not wait, and make no cycle.)",
        core::any::type_name::<V>(),
        core::any::type_name::<K>()
    )
}
