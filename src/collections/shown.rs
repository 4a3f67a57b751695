//! The sides of an entry as users see them: what a collection owns, by reference; what it holds weakly,
//! as a strong pointer, if there still is one.

use core::hash::{BuildHasher, Hash};

use crate::hash::HashValue;
use crate::reference::StrongRef;
use crate::reference::{ByContent, Notified, Swept, Watching};
use crate::table::{Entry, Owned, Slot};

/// A side that can be shown. Sealed.
pub trait Side: Slot {
    /// What it is: the value that the collection owns, or the pointer that it has no share in.
    type Item;
    /// What keeps it there while it is looked at.
    #[doc(hidden)]
    type Held;
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
    fn hold(&self) -> Option<Self::Held>;
    #[doc(hidden)]
    fn is_gone(&self) -> bool;
    #[doc(hidden)]
    fn show(&self, held: Self::Held) -> Self::Ref<'_>;
    #[doc(hidden)]
    fn show_mut(&mut self, held: Self::Held) -> Self::Mut<'_>;
    #[doc(hidden)]
    fn peek<'a>(&'a self, held: &'a Self::Held) -> &'a Self::Item;
    #[doc(hidden)]
    fn peek_mut<'a>(&'a mut self, held: &'a mut Self::Held) -> &'a mut Self::Item;
    #[doc(hidden)]
    fn take(self, held: Self::Held) -> Self::Item;
}

impl<T> Side for Owned<T> {
    type Item = T;
    type Held = ();
    type Ref<'a>
        = &'a T
    where
        T: 'a;
    type Mut<'a>
        = &'a mut T
    where
        T: 'a;

    #[inline]
    fn hold(&self) -> Option<()> {
        Some(())
    }

    #[inline]
    fn is_gone(&self) -> bool {
        false
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

impl<W: Watching> Side for W {
    type Item = W::Pointer;
    type Held = W::Pointer;
    type Ref<'a>
        = W::Pointer
    where
        W: 'a;
    type Mut<'a>
        = W::Pointer
    where
        W: 'a;

    #[inline]
    fn hold(&self) -> Option<W::Pointer> {
        self.upgrade()
    }

    #[inline]
    fn is_gone(&self) -> bool {
        self.is_expired()
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
    #[inline]
    pub(crate) fn hash<S>(&self, hasher: &S) -> HashValue
    where
        K: Keyed<S>,
    {
        self.key.hash(&self.value, hasher)
    }
}

impl<K: Side, V: Side> Entry<K, V> {
    /// Keeps both sides there; none if one is dead: a half-dead entry is never shown.
    #[inline]
    pub(crate) fn hold(&self) -> Option<(K::Held, V::Held)> {
        Some((self.key.hold()?, self.value.hold()?))
    }

    #[inline]
    pub(crate) fn is_gone(&self) -> bool {
        self.key.is_gone() || self.value.is_gone()
    }

    #[inline]
    pub(crate) fn take(self, (key, value): (K::Held, V::Held)) -> (K::Item, V::Item) {
        (self.key.take(key), self.value.take(value))
    }
}

/// A key's side, which knows its hash, or how to make it again with the collection's hasher.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Keyed<S>: Slot {
    /// The hash by which its entry is found, now that the entry is to be moved.
    #[doc(hidden)]
    fn hash(&self, value: &impl Slot, hasher: &S) -> HashValue;
}

impl<K: crate::reference::Notify> Keyed<()> for Notified<K> {
    #[inline]
    fn hash(&self, _: &impl Slot, (): &()) -> HashValue {
        HashValue::of_addr(self.target())
    }
}

impl<K: StrongRef> Keyed<()> for Swept<K> {
    #[inline]
    fn hash(&self, _: &impl Slot, (): &()) -> HashValue {
        HashValue::of_addr(self.target())
    }
}

impl<K: StrongRef, S> Keyed<S> for ByContent<K> {
    #[inline]
    fn hash(&self, _: &impl Slot, _: &S) -> HashValue {
        self.hash()
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
    /// Becomes the key's side of an entry.
    #[doc(hidden)]
    fn enter(self, hash: HashValue, deaths: &mut K::Deaths) -> K;
    /// Takes the place of the key that is there, if that is held weakly.
    #[doc(hidden)]
    fn replace(&self, old: &mut K, hash: HashValue, deaths: &mut K::Deaths);
}

impl<W: Watching> Given<W> for &W::Pointer {
    #[inline]
    fn enter(self, hash: HashValue, deaths: &mut W::Deaths) -> W {
        W::watch(self, hash, deaths)
    }

    #[inline]
    fn replace(&self, old: &mut W, hash: HashValue, deaths: &mut W::Deaths) {
        old.rewatch(self, hash, deaths);
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
