//! A user's own pointer, as the documentation of `StrongRef` describes it: it wraps one of this crate's, may be
//! marked as staying on its thread, and panics where it can.

#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::cell::Cell;
use std::marker::PhantomData;
use std::ops::Deref;

use weakly::{
    Strong, Weak,
    ptr::Atomic,
    reference::{Identify, Identity, Notified, Notify, Permit, StrongRef, WeakKey, WeakRef},
};

use super::quiet_panic;

/// `Mark` decides whether it may cross threads; the payload is followed by `PAD` words, and so apart from the block if
/// these are many.
pub struct Own<Mark, T = usize, const PAD: usize = 0>(Strong<Padded<T, PAD>>, PhantomData<Mark>);
pub struct WeakOwn<Mark, T = usize, const PAD: usize = 0>(Weak<Padded<T, PAD>>, PhantomData<Mark>);

/// So many words that the payload is not in the block.
pub const APART: usize = 32;

/// At its own address is the payload.
#[repr(C)]
pub struct Padded<T, const PAD: usize>(T, [usize; PAD]);

thread_local! {
    static REQUESTS_LEFT: Cell<Option<u32>> = const { Cell::new(None) };
}

/// How many requests for a handle are left before one panics, if one is to.
pub fn set_requests_left(requests: Option<u32>) {
    REQUESTS_LEFT.set(requests);
}

impl<Mark, T, const PAD: usize> Own<Mark, T, PAD> {
    pub fn new(payload: T) -> Self {
        Own(Strong::new(Padded(payload, [0; PAD])), PhantomData)
    }

    pub fn strong_count(this: &Self) -> usize {
        Strong::strong_count(&this.0)
    }

    pub fn weak_count(this: &Self) -> usize {
        Strong::weak_count(&this.0)
    }
}

impl<Mark, T, const PAD: usize> From<T> for Own<Mark, T, PAD> {
    fn from(payload: T) -> Self {
        Own::new(payload)
    }
}

impl<Mark, T, const PAD: usize> Clone for Own<Mark, T, PAD> {
    fn clone(&self) -> Self {
        Own(self.0.clone(), PhantomData)
    }
}

impl<Mark, T, const PAD: usize> Deref for Own<Mark, T, PAD> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.0.0
    }
}

impl<Mark, T, const PAD: usize> Borrow<T> for Own<Mark, T, PAD> {
    fn borrow(&self) -> &T {
        self
    }
}

impl<Mark, T, const PAD: usize> Clone for WeakOwn<Mark, T, PAD> {
    fn clone(&self) -> Self {
        WeakOwn(self.0.clone(), PhantomData)
    }
}

// SAFETY: everything is passed on.
unsafe impl<Mark, T, const PAD: usize> WeakKey for Own<Mark, T, PAD> {
    type Watch = Notified<Self>;
    type Weak = WeakOwn<Mark, T, PAD>;
    fn downgrade(this: &Self) -> Self::Weak {
        WeakOwn(Strong::downgrade(&this.0), PhantomData)
    }
    fn addr(this: &Self) -> *const () {
        WeakKey::addr(&this.0)
    }
}

// SAFETY: likewise.
unsafe impl<Mark, T, const PAD: usize> StrongRef for Own<Mark, T, PAD> {
    type Target = T;
}

// SAFETY: likewise.
unsafe impl<Mark, T, const PAD: usize> WeakRef for WeakOwn<Mark, T, PAD> {
    type Strong = Own<Mark, T, PAD>;

    fn upgrade(&self) -> Option<Self::Strong> {
        self.0.upgrade().map(|strong| Own(strong, PhantomData))
    }

    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }
}

// SAFETY: the only handle there is, if any.
unsafe impl<Mark, T, const PAD: usize> Notify for Own<Mark, T, PAD> {
    type Pointee = Padded<T, PAD>;
    type Flavour = Atomic;

    fn handle(this: &Self) -> &Strong<Self::Pointee> {
        match REQUESTS_LEFT.take() {
            Some(0) => quiet_panic(),
            requests => REQUESTS_LEFT.set(requests.map(|left| left - 1)),
        }
        &this.0
    }

    fn from_handle(handle: Strong<Self::Pointee>, _: Permit<Self>) -> Self {
        Own(handle, PhantomData)
    }

    fn from_weak(weak: Weak<Self::Pointee>, _: Permit<Self>) -> Self::Weak {
        WeakOwn(weak, PhantomData)
    }
}

impl<Mark, T, const PAD: usize> Identity for WeakOwn<Mark, T, PAD> {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl<Mark, T, const PAD: usize> Identify<Own<Mark, T, PAD>> for WeakOwn<Mark, T, PAD> {
    fn addr(this: &Self) -> *const () {
        Identify::<Strong<Padded<T, PAD>>>::addr(&this.0)
    }
}
