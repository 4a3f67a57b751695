//! Handles whose strong handles can be counted.

use alloc::rc::Rc;
use alloc::sync::Arc;

use crate::holders::Holder;
use crate::ptr::{Flavour, Strong};
use crate::reference::{StrongRef, WeakKey};

/// The threads that may change the count of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// The current thread only.
    OneThread,
    /// Any thread; a [mark](crate::ptr) tells whether a thread has made a handle meanwhile.
    Marked,
    /// Any thread, and no mark tells.
    Unmarked,
    /// Any thread with a lock that the caller of the search holds.
    Locked,
}

/// A strong handle with access to the number of strong handles.
pub(super) trait Counted: Clone + StrongRef + 'static {
    const OWNERS: Owners;
    /// Returns the address of the payload. No two objects have the same address, whatever the types
    /// of their handles: none of these handles has its payload at the beginning of an allocation,
    /// so even a payload of size zero shares its address with no other payload.
    fn addr(&self) -> usize {
        <Self as WeakKey>::addr(self).addr()
    }
    /// Returns the handle's entry in the registry of handles.
    fn holder(&self) -> Holder {
        Holder::NONE
    }
    /// Returns the number of strong handles, this handle included.
    fn count(&self) -> usize;
    /// Marks the object, if its kind of handle has marks. Returns false if the object cannot be
    /// marked.
    fn mark(&self) -> bool {
        true
    }
    /// Returns [`count`](Self::count), for an object that may be marked.
    fn count_marked(&self) -> usize {
        self.count()
    }
    /// Removes the mark. Returns the count if the mark was still there.
    fn unmark(&self) -> Option<usize> {
        Some(self.count())
    }
}

impl<T: ?Sized + 'static, F: Flavour> Counted for Strong<T, F> {
    const OWNERS: Owners = if F::SHARED {
        Owners::Marked
    } else {
        Owners::OneThread
    };

    fn holder(&self) -> Holder {
        Strong::holder(self)
    }

    fn count(&self) -> usize {
        Strong::strong_count(self)
    }

    fn mark(&self) -> bool {
        self.block().mark()
    }

    fn count_marked(&self) -> usize {
        self.block().count_marked() as usize
    }

    fn unmark(&self) -> Option<usize> {
        self.block().unmark().map(|count| count as usize)
    }
}

impl<T: ?Sized + 'static> Counted for Rc<T> {
    const OWNERS: Owners = Owners::OneThread;

    fn count(&self) -> usize {
        Rc::strong_count(self)
    }
}

impl<T: ?Sized + 'static> Counted for Arc<T> {
    const OWNERS: Owners = Owners::Unmarked;

    fn count(&self) -> usize {
        Arc::strong_count(self)
    }
}
