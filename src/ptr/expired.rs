//! The error of a weak pointer whose object is dead.

use core::any::type_name;
use core::error::Error;
use core::fmt;

use super::flavour::Flavour;
use super::strong::Strong;
use super::weak::Weak;

/// The error of an upgrade: the object of a weak handle is dead. The message names the type, and
/// tells where to look for the cause.
///
/// ```
/// use weakly::{Strong, Weak};
///
/// #[derive(Debug)]
/// struct Window;
/// let weak = Strong::downgrade(&Strong::new(Window)); // nothing keeps it alive
/// let expired = weak.try_upgrade().unwrap_err();
/// assert!(expired.to_string().contains("Window"));
/// ```
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Expired {
    type_name: &'static str,
}

impl Expired {
    pub(crate) fn of<T: ?Sized>() -> Self {
        Expired {
            type_name: type_name::<T>(),
        }
    }

    /// Returns the type of the object, as [`core::any::type_name`] names it.
    #[must_use]
    pub fn type_name(&self) -> &'static str {
        self.type_name
    }

    /// Returns the value found for a `T`, or panics.
    #[inline]
    #[track_caller]
    pub(crate) fn expect<T: ?Sized, R>(found: Option<R>) -> R {
        // Not in a closure: `#[track_caller]` would report the closure.
        match found {
            Some(found) => found,
            None => Self::of::<T>().panic(),
        }
    }

    #[cold]
    #[track_caller]
    fn panic(self) -> ! {
        panic!("{self}")
    }
}

impl fmt::Display for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(
            f,
            "no live `{0}`: its last strong handle is gone, or there never was one. Weak handles and \
             weak collections keep nothing alive: find the code that should have kept a strong handle to \
             this `{0}` until now, and where it dropped it",
            self.type_name
        )
    }
}

impl fmt::Debug for Expired {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `unwrap` prints this form.
        fmt::Display::fmt(self, f)
    }
}

impl Error for Expired {}

impl<T: ?Sized, F: Flavour> Weak<T, F> {
    /// Upgrades to a strong handle, or returns an error that explains itself. On success it costs
    /// as much as [`upgrade`](Self::upgrade).
    ///
    /// # Errors
    /// If the object is dead, in its destructor, or never existed.
    #[inline]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn try_upgrade(&self) -> Result<Strong<T, F>, Expired> {
        self.upgrade().ok_or_else(Expired::of::<T>)
    }

    /// Upgrades to a strong handle that has to exist: `reason` says why. On success it costs as
    /// much as [`upgrade`](Self::upgrade).
    ///
    /// # Panics
    /// If the object is dead, in its destructor, or never existed. The message has the reason, the
    /// type of the object, and where to look for the cause.
    ///
    /// ```should_panic
    /// use weakly::{Strong, Weak};
    ///
    /// struct Window;
    /// struct Button { window: Weak<Window> }
    ///
    /// let button = Button { window: Strong::downgrade(&Strong::new(Window)) };
    /// // "a window outlives its buttons: no live `Window`: its last strong handle is gone, …"
    /// button.window.expect("a window outlives its buttons");
    /// ```
    #[must_use]
    #[inline]
    #[track_caller]
    pub fn expect(&self, reason: &str) -> Strong<T, F> {
        self.try_upgrade().expect(reason)
    }
}
