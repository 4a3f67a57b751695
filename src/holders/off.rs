//! The module without the feature `holders`: a zero-sized type, and functions that do nothing.

use alloc::string::String;

#[derive(Clone, Copy)]
pub(crate) struct Holder;

impl Holder {
    pub(crate) const NONE: Self = Holder;

    #[inline(always)]
    pub(crate) fn first<T: ?Sized>(_: *const T) -> Self {
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

/// Returns an empty string: the holders of the object are not known.
pub(crate) fn describe(_: *const ()) -> String {
    String::new()
}
