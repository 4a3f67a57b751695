//! Handles whose strong handles can be counted.

use alloc::rc::Rc;
use alloc::sync::Arc;
use core::any::type_name;

use crate::ptr::{Flavour, Strong};
use crate::reference::{StrongRef, WeakKey};

/// Who may change the count of an object.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Owners {
    /// This thread only.
    OneThread,
    /// Any thread; a [mark](crate::ptr) tells whether one has made a handle meanwhile.
    Marked,
    /// Any thread, and nothing tells.
    Unmarked,
}

/// A strong handle that can say how many there are.
pub(super) trait Counted: Clone + StrongRef + 'static {
    const OWNERS: Owners;
    /// The address of the payload. No two objects have the same, whatever their handles' types:
    /// none of these handles has its payload at the beginning of an allocation, so even one without
    /// a size is at no other's.
    fn addr(&self) -> usize {
        <Self as WeakKey>::addr(self).addr()
    }
    /// The type of the object.
    fn name() -> &'static str {
        type_name::<Self::Target>()
    }
    /// The number of strong handles, this one included.
    fn count(&self) -> usize;
    /// Marks the object, if that is possible.
    fn mark(&self) -> bool {
        true
    }
    /// [`count`](Self::count), of an object that may be marked.
    fn count_marked(&self) -> usize {
        self.count()
    }
    /// Takes the mark away. The count, if it was still there.
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
