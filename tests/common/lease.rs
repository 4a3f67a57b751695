//! A pointer that is found by sweeping, and calls back each time it is asked whether its object is dead: an `Arc`, else.

#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use super::custom::{Custom, On, called_back};
use super::subject::Life;
use weakly::reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef};

#[derive(Clone, PartialEq)]
pub struct Lease(Arc<Custom>);
#[derive(Clone)]
pub struct WeakLease(Weak<Custom>);

impl From<Custom> for Lease {
    fn from(object: Custom) -> Self {
        Lease(Arc::new(object))
    }
}

impl Deref for Lease {
    type Target = Custom;

    fn deref(&self) -> &Custom {
        &self.0
    }
}

impl Borrow<Custom> for Lease {
    fn borrow(&self) -> &Custom {
        &self.0
    }
}

impl Life<Custom> for Lease {
    const NOTIFIES: bool = false;
    fn counts(&self) -> (usize, usize) {
        (Arc::strong_count(&self.0), Arc::weak_count(&self.0))
    }
}

// SAFETY: everything is passed on to `Arc`, which pins its address.
unsafe impl WeakKey for Lease {
    type Watch = Swept<Self>;
    type Weak = WeakLease;
    fn downgrade(this: &Self) -> WeakLease {
        WeakLease(Arc::downgrade(&this.0))
    }

    fn addr(this: &Self) -> *const () {
        Arc::as_ptr(&this.0).cast()
    }
}

// SAFETY: likewise.
unsafe impl StrongRef for Lease {
    type Target = Custom;
}

// SAFETY: likewise.
unsafe impl WeakRef for WeakLease {
    type Strong = Lease;

    fn upgrade(&self) -> Option<Lease> {
        self.0.upgrade().map(Lease)
    }
    fn addr(&self) -> *const () {
        self.0.as_ptr().cast()
    }
    fn is_expired(&self) -> bool {
        called_back(On::Asked, self.0.as_ptr());
        self.0.strong_count() == 0
    }
}

impl Identity for WeakLease {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl Identify<Lease> for WeakLease {
    fn addr(this: &Self) -> *const () {
        if this.is_expired() {
            std::ptr::null()
        } else {
            WeakRef::addr(this)
        }
    }
}
