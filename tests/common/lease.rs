//! A pointer that is found by sweeping, and reports each time it is asked whether its object is dead.

#![allow(unsafe_code)]

use std::borrow::Borrow;
use std::ops::Deref;
use std::sync::{Arc, Weak};

use super::subject::{Content, Life};
use weakly::reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef};

/// What a lease may point to.
pub trait Asked: 'static {
    /// Called when a collection asks whether this is dead, which it may be.
    fn asked(this: *const Self);
}

pub struct Lease<K>(Arc<K>);
pub struct WeakLease<K>(Weak<K>);

impl<K> From<K> for Lease<K> {
    fn from(key: K) -> Self {
        Lease(Arc::new(key))
    }
}

impl<K> Clone for Lease<K> {
    fn clone(&self) -> Self {
        Lease(self.0.clone())
    }
}

impl<K> Clone for WeakLease<K> {
    fn clone(&self) -> Self {
        WeakLease(self.0.clone())
    }
}

impl<K> Deref for Lease<K> {
    type Target = K;

    fn deref(&self) -> &K {
        &self.0
    }
}

impl<K> Borrow<K> for Lease<K> {
    fn borrow(&self) -> &K {
        &self.0
    }
}

impl<K: PartialEq> PartialEq for Lease<K> {
    fn eq(&self, other: &Self) -> bool {
        self.0 == other.0
    }
}

impl<K: Asked + Content> Life<K> for Lease<K> {
    const NOTIFIES: bool = false;
    fn counts(&self) -> (usize, usize) {
        (Arc::strong_count(&self.0), Arc::weak_count(&self.0))
    }
}

// SAFETY: everything is passed on to `Arc`, which pins its address.
unsafe impl<K: Asked> WeakKey for Lease<K> {
    type Watch = Swept<Self>;
    type Weak = WeakLease<K>;
    fn downgrade(this: &Self) -> WeakLease<K> {
        WeakLease(Arc::downgrade(&this.0))
    }

    fn addr(this: &Self) -> *const () {
        Arc::as_ptr(&this.0).cast()
    }
}

// SAFETY: likewise.
unsafe impl<K: Asked> StrongRef for Lease<K> {
    type Target = K;
}

// SAFETY: likewise.
unsafe impl<K: Asked> WeakRef for WeakLease<K> {
    type Strong = Lease<K>;

    fn upgrade(&self) -> Option<Lease<K>> {
        self.0.upgrade().map(Lease)
    }
    fn addr(&self) -> *const () {
        self.0.as_ptr().cast()
    }
    fn is_expired(&self) -> bool {
        K::asked(self.0.as_ptr());
        self.0.strong_count() == 0
    }
}

impl<K: Asked> Identity for WeakLease<K> {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl<K: Asked> Identify<Lease<K>> for WeakLease<K> {
    fn addr(this: &Self) -> *const () {
        if this.is_expired() {
            std::ptr::null()
        } else {
            WeakRef::addr(this)
        }
    }
}
