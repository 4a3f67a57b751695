//! Without the feature: nothing, in no bytes.

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

/// Nothing is known about who holds the object at this address.
pub(crate) fn describe(_: *const ()) -> String {
    String::new()
}
