//! What a collection owns of an entry: the value of a weak key, or the key of a weak value.

use std::borrow::Borrow;
use std::hash::{Hash, Hasher};
use std::rc::Rc;
use std::sync::Arc;

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

/// Equal by its number.
#[derive(Clone)]
pub struct Owned<E: Ends> {
    pub number: usize,
    ends: E,
}

impl<E: Ends> Owned<E> {
    pub fn new(number: usize, ends: &E) -> Self {
        let ends = ends.clone();
        Owned { number, ends }
    }
}

impl<E: Ends> Drop for Owned<E> {
    fn drop(&mut self) {
        self.ends.end(self.number);
    }
}

impl<E: Ends> PartialEq for Owned<E> {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl<E: Ends> Eq for Owned<E> {}

impl<E: Ends> Hash for Owned<E> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}

impl<E: Ends> Borrow<usize> for Owned<E> {
    fn borrow(&self) -> &usize {
        &self.number
    }
}
