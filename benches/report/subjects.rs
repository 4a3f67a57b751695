//! Sides that several rows measure.

use std::cell::{OnceCell, RefCell};
use std::rc::Rc;

use crate::duel::Scale;

/// A side of some rows.
pub(crate) type Share<T> = Rc<RefCell<T>>;

/// Both sides of some rows, of one size. Making a million objects takes longer than measuring them, so rows
/// share sides where they can: the first row that runs makes them, and the last one drops them.
pub(crate) struct Subjects<A, B> {
    size: usize,
    make: fn(usize) -> (A, B),
    made: Rc<OnceCell<(Share<A>, Share<B>)>>,
}

impl<A, B> Clone for Subjects<A, B> {
    fn clone(&self) -> Self {
        Subjects {
            made: self.made.clone(),
            ..*self
        }
    }
}

impl<A, B> Subjects<A, B> {
    pub(crate) fn new(size: usize, make: fn(usize) -> (A, B)) -> Self {
        Subjects {
            size,
            make,
            made: Rc::default(),
        }
    }

    pub(crate) fn size(&self) -> usize {
        self.size
    }

    /// Ours, and theirs.
    pub(crate) fn sides(&self, scale: Scale) -> (Share<A>, Share<B>) {
        let made = self.made.get_or_init(|| {
            let (ours, theirs) = (self.make)(scale.of(self.size));
            (Rc::new(RefCell::new(ours)), Rc::new(RefCell::new(theirs)))
        });
        made.clone()
    }
}
