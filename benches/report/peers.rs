//! One trait for all pointers, one for all collections and one for all interners, so that each side runs the
//! same code.

use std::ops::Deref;
use std::{array, rc, sync};

use weakly::ptr::{self, Flavour};

/// What is inserted into a collection, and ends its entry by its death.
pub(crate) trait Object: 'static {
    type Payload;
    /// How many objects it consists of.
    const OBJECTS: usize = 1;
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

/// A value without a handle, and a field beside it.
impl<T: Default + 'static> Object for (u64, T) {
    type Payload = u64;
    #[inline]
    fn new(payload: u64) -> Self {
        (payload, T::default())
    }
}

/// The same in a box.
impl<T: Default + 'static> Object for Box<(u64, T)> {
    type Payload = u64;
    #[inline]
    fn new(payload: u64) -> Self {
        Box::new((payload, T::default()))
    }
}

/// Two independent objects that die together, the key first.
pub(crate) struct Pair<P> {
    pub(crate) key: P,
    pub(crate) value: P,
}

impl<P: Object<Payload = u64>> Object for Pair<P> {
    type Payload = u64;
    const OBJECTS: usize = 2;
    #[inline]
    fn new(payload: u64) -> Self {
        Pair {
            key: P::new(payload),
            value: P::new(payload),
        }
    }
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

/// A collection that looks up a number by the object itself, where its owner keeps it.
pub(crate) trait Lookup: Collection {
    fn look_up(&self, object: &Self::Object) -> Option<u64>;
}

/// A collection that can be purged.
pub(crate) trait Purge: Collection {
    fn purge(&mut self);
}

/// A collection from which a live object can be removed.
pub(crate) trait Remove: Collection {
    fn remove(&mut self, object: &Self::Object);
}

/// A collection whose entries can be visited.
pub(crate) trait Walk: Collection {
    /// The sum of the numbers of all entries.
    fn walk(&self) -> u64;
}

/// Ten collections of the same objects.
pub(crate) struct Ten<C>([C; 10]);

impl<C: Collection> Collection for Ten<C> {
    type Object = C::Object;
    fn with_capacity(capacity: usize) -> Self {
        Ten(array::from_fn(|_| C::with_capacity(capacity)))
    }
    #[inline]
    fn insert(&mut self, object: &C::Object, number: u64) {
        for collection in &mut self.0 {
            collection.insert(object, number);
        }
    }
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
