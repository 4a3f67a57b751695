//! How a caller asks for a value: whether it waits for another maker, and what becomes of errors.

use core::marker::PhantomData;
use std::time::Instant;

use super::flight::Reservation;

/// How a caller waits for a value that another caller makes, and what both do with its error.
pub(crate) struct Way<Es> {
    /// Whether the caller does not wait, but makes a value, too.
    pub(super) races: bool,
    /// The end of the wait.
    pub(super) until: Option<Instant>,
    errors: PhantomData<Es>,
}

impl<Es> Way<Es> {
    const WAITS_ANYHOW: Self = Way {
        races: false,
        until: None,
        errors: PhantomData,
    };
}

impl Way<OwnErrors> {
    pub(crate) const WAITS: Self = Way::WAITS_ANYHOW;
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
    pub(crate) const SHARES: Self = Way::WAITS_ANYHOW;
}

/// What becomes of the error of a making, besides that its caller gets the error.
pub(crate) trait Errors<E> {
    /// Leaves the error to the callers that wait.
    fn leave(error: &E, to: &Reservation);
    /// The error that has been left to a caller.
    fn left(by: &Reservation) -> Option<E>;
}

/// The callers that wait do not get the error: one of them makes the value instead.
pub(crate) struct OwnErrors;

impl<E> Errors<E> for OwnErrors {
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
    fn leave(error: &E, to: &Reservation) {
        to.leave(Shared(error.clone()));
    }

    fn left(by: &Reservation) -> Option<E> {
        by.left().map(|Shared(error)| error)
    }
}
