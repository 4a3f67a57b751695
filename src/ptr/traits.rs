//! The standard traits of [`Strong`], through the payload, as for `Arc`.

use core::borrow::Borrow;
use core::cmp::Ordering;
use core::error::Error;
use core::fmt;
use core::hash::{Hash, Hasher};
use core::panic::{RefUnwindSafe, UnwindSafe};

use super::flavour::Flavour;
use super::strong::Strong;
use super::weak::Weak;

impl<T: ?Sized + fmt::Debug, F: Flavour> fmt::Debug for Strong<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized + fmt::Display, F: Flavour> fmt::Display for Strong<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        (**self).fmt(f)
    }
}

impl<T: ?Sized, F: Flavour> fmt::Pointer for Strong<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&Strong::as_ptr(self), f)
    }
}

impl<T: ?Sized + Error, F: Flavour> Error for Strong<T, F> {
    fn source(&self) -> Option<&(dyn Error + 'static)> {
        (**self).source()
    }
}

/// Compares payloads. (Collections are keyed by identity, as is [`Strong::ptr_eq`].)
impl<T: ?Sized + PartialEq, F: Flavour> PartialEq for Strong<T, F> {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl<T: ?Sized + Eq, F: Flavour> Eq for Strong<T, F> {}

impl<T: ?Sized + PartialOrd, F: Flavour> PartialOrd for Strong<T, F> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        (**self).partial_cmp(&**other)
    }
}

impl<T: ?Sized + Ord, F: Flavour> Ord for Strong<T, F> {
    fn cmp(&self, other: &Self) -> Ordering {
        (**self).cmp(&**other)
    }
}

impl<T: ?Sized + Hash, F: Flavour> Hash for Strong<T, F> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

impl<T: ?Sized, F: Flavour> Borrow<T> for Strong<T, F> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<T: ?Sized, F: Flavour> AsRef<T> for Strong<T, F> {
    fn as_ref(&self) -> &T {
        self
    }
}

impl<T: Default, F: Flavour> Default for Strong<T, F> {
    #[cfg_attr(feature = "holders", track_caller)]
    fn default() -> Self {
        Strong::new(T::default())
    }
}

// As for `Arc`: after a panic a shared payload can be broken only if its type allows it.
impl<T: ?Sized + RefUnwindSafe, F: Flavour> UnwindSafe for Strong<T, F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> RefUnwindSafe for Strong<T, F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> UnwindSafe for Weak<T, F> {}
impl<T: ?Sized + RefUnwindSafe, F: Flavour> RefUnwindSafe for Weak<T, F> {}

// The payload does not move when its pointer does.
impl<T: ?Sized, F: Flavour> Unpin for Strong<T, F> {}
