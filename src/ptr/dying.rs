//! A death in two steps. The first step takes the count from one to zero, like
//! [`try_unwrap`](Strong::try_unwrap) (B2 of `header`): from here on the object is as it is inside
//! its own destructor, which may take as long as it likes. The second step is the rest of the
//! death.

use core::fmt;
use core::mem::ManuallyDrop;
use core::ops::Deref;

use super::flavour::Flavour;
use super::strong::Strong;

/// An object whose weak handles have expired, and whose destructor, entries, finalizers and wakers
/// wait for the drop of this value. See [`Strong::begin_death`].
#[must_use = "the object dies when this is dropped"]
pub struct Dying<T: ?Sized, F: Flavour>(ManuallyDrop<Strong<T, F>>);

impl<T: ?Sized, F: Flavour> Strong<T, F> {
    /// Begins the death of the object, if this is the only strong handle. From here on, weak
    /// handles do not upgrade, and collections find no entry by them, as inside the object's
    /// destructor. The drop of the returned value is the rest of the
    /// [death](Self#what-happens-at-the-death): the destructor runs, or the payload
    /// [returns](Self::new_returning), entries end, finalizers and wakers run. O(1).
    ///
    /// For a wrapper in another language whose memory is about to be freed: the first step decides
    /// whether the object dies or lives on with its other owners, while no code of that language
    /// may run. The second step comes when such code may run again.
    ///
    /// A `Dying` that is forgotten is a destructor that never ends: the entries of the object are
    /// not found, and stay.
    ///
    /// # Errors
    /// The strong handle itself, if there are other strong handles or an upgrade is under way.
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use weakly::Strong;
    ///
    /// let (sender, receiver) = channel();
    /// let object = Strong::new("native");
    /// let weak = Strong::downgrade(&object);
    /// Strong::finalize(&object, move || sender.send("python code").unwrap());
    /// drop(Strong::begin_death(object.clone()).unwrap_err()); // there is another handle
    /// let dying = Strong::begin_death(object).unwrap();
    /// assert!(weak.upgrade().is_none() && receiver.try_recv().is_err());
    /// assert_eq!(*dying, "native");
    /// drop(dying);
    /// assert_eq!(receiver.try_recv(), Ok("python code"));
    /// ```
    pub fn begin_death(this: Self) -> Result<Dying<T, F>, Self> {
        if this.claim() {
            this.holder.end(this.ptr.as_ptr().cast());
            Ok(Dying(ManuallyDrop::new(this)))
        } else {
            Err(this)
        }
    }
}

impl<T: ?Sized, F: Flavour> Drop for Dying<T, F> {
    /// The rest of the death.
    fn drop(&mut self) {
        // SAFETY: claimed, as if `release` had returned true; the pointer is not used afterwards.
        unsafe { self.0.die() };
    }
}

impl<T: ?Sized, F: Flavour> Deref for Dying<T, F> {
    type Target = T;

    fn deref(&self) -> &T {
        // The payload is there until the drop.
        &self.0
    }
}

impl<T: ?Sized + fmt::Debug, F: Flavour> fmt::Debug for Dying<T, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Dying").field(&&**self).finish()
    }
}
