//! The module without the feature `holders`: a zero-sized type, and functions that do nothing.

use alloc::vec::Vec;
use core::fmt;
use core::panic::Location;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Holder;

impl Holder {
    pub(crate) const NONE: Self = Holder;

    #[inline(always)]
    pub(crate) fn first<T: ?Sized>(_: *const T, _: usize) -> Self {
        Holder
    }

    #[inline(always)]
    pub(crate) fn another(_: *const ()) -> Self {
        Holder
    }

    #[inline(always)]
    pub(crate) fn of_raw(_: *const ()) -> Self {
        Holder
    }

    #[inline(always)]
    pub(crate) fn into_raw(self, _: *const ()) {}

    #[inline(always)]
    pub(crate) fn end(self, _: *const ()) {}

    #[inline(always)]
    pub(crate) fn died(_: *const ()) {}
}

/// The place where a strong handle, or an object, was made: without the feature `holders`, no
/// handle knows its origin.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
#[non_exhaustive]
pub enum Origin {}

impl Origin {
    pub(crate) fn location(&self) -> Location<'static> {
        match *self {}
    }
}

impl fmt::Display for Origin {
    fn fmt(&self, _: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {}
    }
}

/// The registry's knowledge about a live object.
pub(crate) struct Known {
    pub(crate) addr: usize,
    pub(crate) birth: Origin,
    pub(crate) holders: Vec<(Holder, Origin)>,
}

/// Returns nothing: no object is known.
pub(crate) fn known_at(_: &[usize]) -> Vec<Known> {
    Vec::new()
}

/// Returns nothing: no object is known.
pub(crate) fn birth_of(_: usize) -> Option<Origin> {
    None
}
