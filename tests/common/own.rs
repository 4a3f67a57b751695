//! A user's own pointer, as the documentation of `StrongRef` describes it: it wraps one of this crate's, may be
//! marked as staying on its thread, and panics where it can.

#![allow(unsafe_code)]

use std::cell::Cell;
use std::marker::PhantomData;

use weakly::{Atomic, Identify, Notified, Notify, Strong, StrongRef, Weak, WeakKey, WeakRef};

use super::quiet_panic;

/// `Mark` decides whether it may cross threads.
pub struct Own<Mark>(Strong<usize>, PhantomData<Mark>);
pub struct WeakOwn<Mark>(Weak<usize>, PhantomData<Mark>);

thread_local! {
    static REQUESTS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// How many requests for a handle are left before one panics, if one is to.
pub fn set_requests_left(requests: Option<u32>) {
    REQUESTS_LEFT.set(requests);
}

impl<Mark> Own<Mark> {
    pub fn new(number: usize) -> Self {
        Own(Strong::new(number), PhantomData)
    }
}

impl<Mark> Clone for WeakOwn<Mark> {
    fn clone(&self) -> Self {
        WeakOwn(self.0.clone(), PhantomData)
    }
}

// SAFETY: everything is passed on.
unsafe impl<Mark> WeakKey for Own<Mark> {
    type Watch = Notified<Self>;
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
}

// SAFETY: likewise.
unsafe impl<Mark> StrongRef for Own<Mark> {
    type Target = usize;
    type Weak = WeakOwn<Mark>;

    fn downgrade(this: &Self) -> WeakOwn<Mark> {
        WeakOwn(Strong::downgrade(&this.0), PhantomData)
    }
}

// SAFETY: likewise.
unsafe impl<Mark> WeakRef for WeakOwn<Mark> {
    type Strong = Own<Mark>;

    fn upgrade(&self) -> Option<Own<Mark>> {
        self.0.upgrade().map(|strong| Own(strong, PhantomData))
    }

    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }
}

// SAFETY: the only handle there is, if any.
unsafe impl<Mark> Notify for Own<Mark> {
    type Pointee = usize;
    type Flavour = Atomic;

    fn handle(this: &Self) -> &Strong<usize> {
        match REQUESTS_LEFT.take() {
            Some(0) => quiet_panic(),
            requests => REQUESTS_LEFT.set(requests.map(|left| left - 1)),
        }
        &this.0
    }

    fn from_handle(handle: Strong<usize>) -> Self {
        Own(handle, PhantomData)
    }

    fn from_weak(weak: Weak<usize>) -> WeakOwn<Mark> {
        WeakOwn(weak, PhantomData)
    }
}

impl<Mark> Identify<Own<Mark>> for WeakOwn<Mark> {
    fn addr(&self) -> *const () {
        Identify::<Strong<usize>>::addr(&self.0)
    }
}
