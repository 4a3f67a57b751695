//! What a collection owns of an entry: the value of a weak key, or the key of a weak value.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

/// What an object contains; entries are told apart by it, where they are not by identity.
pub trait Content: Clone + Eq + Hash + 'static {
    fn number(&self) -> usize;
}

impl Content for usize {
    fn number(&self) -> usize {
        *self
    }
}

/// Called with the number when something that a collection owns is dropped.
pub trait Ends: Clone {
    fn end(&self, number: usize);
}

impl<F: Fn(usize) + ?Sized> Ends for Rc<F> {
    fn end(&self, number: usize) {
        self(number);
    }
}

impl<F: Fn(usize) + ?Sized> Ends for Arc<F> {
    fn end(&self, number: usize) {
        self(number);
    }
}

/// Equal by its content.
#[derive(Clone)]
pub struct Owned<E: Ends, T: Content = usize> {
    pub number: T,
    ends: E,
}

impl<E: Ends, T: Content> Owned<E, T> {
    pub fn new(number: T, ends: &E) -> Self {
        let ends = ends.clone();
        Owned { number, ends }
    }
}

impl<E: Ends, T: Content> Drop for Owned<E, T> {
    fn drop(&mut self) {
        self.ends.end(self.number.number());
    }
}

impl<E: Ends, T: Content> PartialEq for Owned<E, T> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E: Ends, T: Content> Eq for Owned<E, T> {}

impl<E: Ends, T: Content> Hash for Owned<E, T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<E: Ends, T: Content> Borrow<T> for Owned<E, T> {
    fn borrow(&self) -> &T {
        &self.number
    }
}

// It owns no handle.
weakly::impl_trace!([E: Ends, T: Content] Owned<E, T>);
