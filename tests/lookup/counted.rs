//! A user's own pointer that counts like `Rc`, and notes each time it is dereferenced.

#![allow(unsafe_code)]

use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::rc::{Rc, Weak};

use weakly::reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef};

pub(crate) struct Counted<T>(Rc<T>);
pub(crate) struct WeakCounted<T>(Weak<T>);

thread_local! {
    /// The targets that were looked at.
    static SEEN: RefCell<Vec<*const ()>> = const { RefCell::new(Vec::new()) };
    /// How often the address of a weak pointer was asked for.
    static ADDRESSES: Cell<usize> = const { Cell::new(0) };
}

/// How often the address of a weak pointer was asked for since the last call.
pub(crate) fn addresses() -> usize {
    ADDRESSES.take()
}

impl<T> Counted<T> {
    pub(crate) fn new(value: T) -> Self {
        Counted(Rc::new(value))
    }

    /// How often this target was looked at since the last call.
    pub(crate) fn seen(&self) -> usize {
        let own = |seen: &*const ()| *seen == Rc::as_ptr(&self.0).cast();
        SEEN.take().iter().filter(|seen| own(seen)).count()
    }
}

impl<T> Clone for Counted<T> {
    fn clone(&self) -> Self {
        Counted(self.0.clone())
    }
}

impl<T> Clone for WeakCounted<T> {
    fn clone(&self) -> Self {
        WeakCounted(self.0.clone())
    }
}

impl<T> Deref for Counted<T> {
    type Target = T;

    fn deref(&self) -> &T {
        SEEN.with_borrow_mut(|seen| seen.push(Rc::as_ptr(&self.0).cast()));
        &self.0
    }
}

// SAFETY: everything is passed on to `Rc`, which pins its address.
unsafe impl<T> WeakKey for Counted<T> {
    type Watch = Swept<Self>;
    type Weak = WeakCounted<T>;
    fn downgrade(this: &Self) -> WeakCounted<T> {
        WeakCounted(Rc::downgrade(&this.0))
    }

    fn addr(this: &Self) -> *const () {
        Rc::as_ptr(&this.0).cast()
    }
}

// SAFETY: likewise.
unsafe impl<T> StrongRef for Counted<T> {
    type Target = T;
}

// SAFETY: likewise.
unsafe impl<T> WeakRef for WeakCounted<T> {
    type Strong = Counted<T>;

    fn upgrade(&self) -> Option<Counted<T>> {
        self.0.upgrade().map(Counted)
    }

    fn addr(&self) -> *const () {
        ADDRESSES.set(ADDRESSES.get() + 1);
        self.0.as_ptr().cast()
    }
}

impl<T> Identity for WeakCounted<T> {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl<T> Identify<Counted<T>> for WeakCounted<T> {
    fn addr(this: &Self) -> *const () {
        Identify::<Rc<T>>::addr(&this.0)
    }
}
