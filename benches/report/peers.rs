//! One trait for all pointers, one for all collections and one for all interners, so that each side runs the
//! same code.

use std::ops::Deref;
use std::{rc, sync};

use weakly::ptr::{self, Flavour};

/// What is inserted into a collection, and ends its entry by its death.
pub(crate) trait Object: 'static {
    type Payload;
    fn new(payload: Self::Payload) -> Self;
}

/// A reference-counted pointer.
pub(crate) trait Pointer:
    Object<Payload = <Self as Deref>::Target> + Deref<Target: Sized> + Clone
{
    type Weak: 'static;
    fn downgrade(this: &Self) -> Self::Weak;
    fn upgrade(weak: &Self::Weak) -> Option<Self>;
}

macro_rules! pointers {
    ($($strong:ty, $weak:ty $(, $flavour:ident)?);*) => {$(
        impl<T: 'static $(, $flavour: Flavour)?> Object for $strong {
            type Payload = T;
            #[inline]
            fn new(payload: T) -> Self {
                <$strong>::new(payload)
            }
        }

        impl<T: 'static $(, $flavour: Flavour)?> Pointer for $strong {
            type Weak = $weak;
            #[inline]
            fn downgrade(this: &Self) -> Self::Weak {
                <$strong>::downgrade(this)
            }
            #[inline]
            fn upgrade(weak: &Self::Weak) -> Option<Self> {
                weak.upgrade()
            }
        }
    )*};
}

pointers! {
    ptr::Strong<T, F>, ptr::Weak<T, F>, F;
    sync::Arc<T>, sync::Weak<T>;
    rc::Rc<T>, rc::Weak<T>
}

/// A collection that refers to objects weakly, as keys, as values or as both. To each belongs a number, which
/// takes the other side's place.
pub(crate) trait Collection: 'static {
    type Object: Object;
    fn with_capacity(capacity: usize) -> Self;
    fn insert(&mut self, object: &Self::Object, number: u64);
}

/// A collection that looks up a number.
pub(crate) trait Map: Collection {
    type Key: 'static;
    fn key(object: &Self::Object) -> Self::Key;
    fn get(&self, key: &Self::Key) -> Option<u64>;
}

/// One live handle for each word.
pub(crate) trait Interner: 'static {
    type Word: Deref<Target = str> + 'static;
    fn with_capacity(capacity: usize) -> Self;
    fn intern(&mut self, word: &str) -> Self::Word;
    /// Drops the last handle of a word.
    #[inline]
    fn forget(&mut self, word: Self::Word) {
        drop(word);
    }
}
