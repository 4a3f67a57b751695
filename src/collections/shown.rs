//! What the slots of an entry show to users: what a collection owns, by reference; what it holds weakly,
//! as a strong pointer, if there still is one.

use core::hash::{BuildHasher, Hash};

use crate::hash::HashValue;
use crate::reference::{Upgrade, Watch};
use crate::table::{Entry, Owned, Slot};

/// A slot that can be shown. Sealed.
pub trait Shown: Slot {
    /// What it is: the value that the collection owns, or the pointer that it has no share in.
    type Item;
    /// What keeps it there while it is looked at.
    #[doc(hidden)]
    type Guard;
    /// How it is given out.
    type Ref<'a>
    where
        Self: 'a;
    /// How it is given out to be changed.
    type Mut<'a>
    where
        Self: 'a;

    /// None if it is dead.
    #[doc(hidden)]
    fn pin(&self) -> Option<Self::Guard>;
    #[doc(hidden)]
    fn show(&self, held: Self::Guard) -> Self::Ref<'_>;
    #[doc(hidden)]
    fn show_mut(&mut self, held: Self::Guard) -> Self::Mut<'_>;
    #[doc(hidden)]
    fn peek<'a>(&'a self, held: &'a Self::Guard) -> &'a Self::Item;
    #[doc(hidden)]
    fn peek_mut<'a>(&'a mut self, held: &'a mut Self::Guard) -> &'a mut Self::Item;
    #[doc(hidden)]
    fn take(self, held: Self::Guard) -> Self::Item;
}

impl<T> Shown for Owned<T> {
    type Item = T;
    type Guard = ();
    type Ref<'a>
        = &'a T
    where
        T: 'a;
    type Mut<'a>
        = &'a mut T
    where
        T: 'a;

    #[inline]
    fn pin(&self) -> Option<()> {
        Some(())
    }

    #[inline]
    fn show(&self, (): ()) -> &T {
        &self.0
    }

    #[inline]
    fn show_mut(&mut self, (): ()) -> &mut T {
        &mut self.0
    }

    #[inline]
    fn peek<'a>(&'a self, (): &'a ()) -> &'a T {
        &self.0
    }

    #[inline]
    fn peek_mut<'a>(&'a mut self, (): &'a mut ()) -> &'a mut T {
        &mut self.0
    }

    #[inline]
    fn take(self, (): ()) -> T {
        self.0
    }
}

impl<W: Upgrade> Shown for W {
    type Item = W::Pointer;
    type Guard = W::Pointer;
    type Ref<'a>
        = W::Pointer
    where
        W: 'a;
    type Mut<'a>
        = W::Pointer
    where
        W: 'a;

    #[inline]
    fn pin(&self) -> Option<W::Pointer> {
        self.upgrade()
    }

    #[inline]
    fn show(&self, held: W::Pointer) -> W::Pointer {
        held
    }

    #[inline]
    fn show_mut(&mut self, held: W::Pointer) -> W::Pointer {
        held
    }

    #[inline]
    fn peek<'a>(&'a self, held: &'a W::Pointer) -> &'a W::Pointer {
        held
    }

    #[inline]
    fn peek_mut<'a>(&'a mut self, held: &'a mut W::Pointer) -> &'a mut W::Pointer {
        held
    }

    #[inline]
    fn take(self, held: W::Pointer) -> W::Pointer {
        held
    }
}

impl<K: Slot, V: Slot> Entry<K, V> {
    /// Whether one slot is dead, announced or not.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.key.is_expired() || self.value.is_expired()
    }

    #[inline]
    pub(crate) fn hash<S>(&self, hasher: &S) -> HashValue
    where
        K: Keyed<S>,
    {
        self.key.hash(&self.value, hasher)
    }
}

impl<K: Shown, V: Shown> Entry<K, V> {
    /// Keeps both slots there; none if one is dead: a half-dead entry is never shown.
    #[inline]
    pub(crate) fn pin(&self) -> Option<(K::Guard, V::Guard)> {
        Some((self.key.pin()?, self.value.pin()?))
    }

    #[inline]
    pub(crate) fn take(self, (key, value): (K::Guard, V::Guard)) -> (K::Item, V::Item) {
        (self.key.take(key), self.value.take(value))
    }
}

/// A key's slot, which knows its hash, or how to make it again with the collection's hasher.
pub(crate) trait Keyed<S>: Slot {
    /// The hash by which its entry is found, now that the entry is to be moved.
    fn hash(&self, value: &impl Slot, hasher: &S) -> HashValue;
}

impl<W: Watch, S> Keyed<S> for W {
    #[inline]
    fn hash(&self, _: &impl Slot, _: &S) -> HashValue {
        Watch::hash(self)
    }
}

/// The key is not asked again where the value's notice has a hash: should the key say another by now, that
/// notice would miss its entry.
impl<K: Hash, S: BuildHasher> Keyed<S> for Owned<K> {
    #[inline]
    fn hash(&self, value: &impl Slot, hasher: &S) -> HashValue {
        value
            .hash_of_notice()
            .unwrap_or_else(|| HashValue::of(hasher, &self.0))
    }
}

/// A key as it is given to a collection: by reference if it will be held weakly, else by value.
pub trait Given<K: Slot> {
    /// Becomes the key's slot of an entry.
    #[doc(hidden)]
    fn enter(self, hash: HashValue, queue: &mut K::Queue) -> K;
    /// Takes the place of the key that is there, if that is held weakly.
    #[doc(hidden)]
    fn replace(&self, old: &mut K, hash: HashValue, queue: &mut K::Queue);
}

impl<W: Watch> Given<W> for &W::Key {
    #[inline]
    fn enter(self, hash: HashValue, queue: &mut W::Queue) -> W {
        W::watch(self, hash, queue)
    }

    #[inline]
    fn replace(&self, old: &mut W, hash: HashValue, queue: &mut W::Queue) {
        old.rewatch(self, hash, queue);
    }
}

impl<T> Given<Owned<T>> for T {
    #[inline]
    fn enter(self, _: HashValue, (): &mut ()) -> Owned<T> {
        Owned(self)
    }

    #[inline]
    fn replace(&self, _: &mut Owned<T>, _: HashValue, (): &mut ()) {}
}
