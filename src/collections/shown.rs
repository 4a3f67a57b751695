//! How the slots of an entry are shown to users: what a collection owns, by reference; what it refers to
//! weakly, as a strong pointer, if it is live.

use core::hash::{BuildHasher, Hash};

use crate::hash::HashValue;
use crate::reference::{Owned, Slot, Upgrade, Watch};
use crate::table::Entry;

/// A slot that can be shown. Sealed.
pub trait Shown: Slot {
    /// What is shown: the value that the collection owns, or a strong pointer to the object it watches.
    type Item;
    /// What keeps the item alive while it is shown.
    #[doc(hidden)]
    type Guard;
    /// The item as a lookup returns it.
    type Ref<'a>
    where
        Self: 'a;
    /// The item as a lookup returns it for changing.
    type Mut<'a>
    where
        Self: 'a;

    /// Keeps the item alive, or returns `None` if it is dead.
    #[doc(hidden)]
    fn pin(&self) -> Option<Self::Guard>;
    #[doc(hidden)]
    fn show(&self, guard: Self::Guard) -> Self::Ref<'_>;
    #[doc(hidden)]
    fn show_mut(&mut self, guard: Self::Guard) -> Self::Mut<'_>;
    #[doc(hidden)]
    fn peek<'a>(&'a self, guard: &'a Self::Guard) -> &'a Self::Item;
    #[doc(hidden)]
    fn peek_mut<'a>(&'a mut self, guard: &'a mut Self::Guard) -> &'a mut Self::Item;
    #[doc(hidden)]
    fn take(self, guard: Self::Guard) -> Self::Item;
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
    fn show(&self, guard: W::Pointer) -> W::Pointer {
        guard
    }

    #[inline]
    fn show_mut(&mut self, guard: W::Pointer) -> W::Pointer {
        guard
    }

    #[inline]
    fn peek<'a>(&'a self, guard: &'a W::Pointer) -> &'a W::Pointer {
        guard
    }

    #[inline]
    fn peek_mut<'a>(&'a mut self, guard: &'a mut W::Pointer) -> &'a mut W::Pointer {
        guard
    }

    #[inline]
    fn take(self, guard: W::Pointer) -> W::Pointer {
        drop(self);
        guard
    }
}

impl<K: Slot, V: Slot> Entry<K, V> {
    /// Whether one slot is dead, notified or not.
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
    /// Pins both slots, or returns `None` if one is dead: a half-dead entry is never shown.
    #[inline]
    pub(crate) fn pin(&self) -> Option<(K::Guard, V::Guard)> {
        Some((self.key.pin()?, self.value.pin()?))
    }

    #[inline]
    pub(crate) fn take(self, (key, value): (K::Guard, V::Guard)) -> (K::Item, V::Item) {
        (self.key.take(key), self.value.take(value))
    }

    /// Only the key.
    #[inline]
    pub(crate) fn take_key(self, guard: K::Guard) -> K::Item {
        drop(self.value);
        self.key.take(guard)
    }
}

impl<K: Slot, V: Shown> Entry<K, V> {
    /// Only the value.
    #[inline]
    pub(crate) fn take_value(self, guard: V::Guard) -> V::Item {
        drop(self.key);
        self.value.take(guard)
    }
}

/// The slot of a key. It stores its hash, or can compute it again with the collection's hasher.
pub(crate) trait Keyed<S>: Slot {
    /// The hash under which the entry is stored, for moving it.
    fn hash(&self, value: &impl Slot, hasher: &S) -> HashValue;
}

impl<W: Watch, S> Keyed<S> for W {
    #[inline]
    fn hash(&self, _: &impl Slot, _: &S) -> HashValue {
        Watch::hash(self)
    }
}

/// Where the value's notice carries a hash, that hash is taken, and the key's `Hash` is not called again: if it
/// returned another hash by now, the notice would miss its entry.
impl<K: Hash, S: BuildHasher> Keyed<S> for Owned<K> {
    #[inline]
    fn hash(&self, value: &impl Slot, hasher: &S) -> HashValue {
        value
            .hash_of_notice()
            .unwrap_or_else(|| HashValue::of(hasher, &self.0))
    }
}

/// A key as it is passed to a collection: by reference if the collection refers to it weakly, else by value.
pub trait Given<K: Slot>: Sized {
    /// What an entry that the caller has in hand keeps of the key: all of it, unless it was moved into the
    /// collection.
    #[doc(hidden)]
    type Kept;
    /// Keeps the key, which stays out of the collection.
    #[doc(hidden)]
    fn keep(self) -> Self::Kept;
    /// The key for a new entry, and what is kept.
    #[doc(hidden)]
    fn split(self) -> (Self, Self::Kept);
    /// The key that is kept, if it was not moved.
    #[doc(hidden)]
    fn kept(kept: &Self::Kept) -> Option<&Self>;
    /// The key, which is kept or in the collection.
    #[doc(hidden)]
    fn find<'a>(kept: &'a Self::Kept, entered: &'a K) -> &'a Self;
    /// The same, of an entry that was removed.
    #[doc(hidden)]
    fn take(kept: Self::Kept, entered: K) -> Self;
    /// Creates the key's slot of an entry.
    #[doc(hidden)]
    fn enter(self, hash: HashValue, queue: &mut K::Queue) -> K;
    /// Replaces the key of an entry, if the collection refers to it weakly.
    #[doc(hidden)]
    fn replace(&self, old: &mut K, hash: HashValue, queue: &mut K::Queue);
}

impl<W: Watch> Given<W> for &W::Key {
    type Kept = Self;

    #[inline]
    fn keep(self) -> Self {
        self
    }

    #[inline]
    fn split(self) -> (Self, Self) {
        (self, self)
    }

    #[inline]
    fn kept(kept: &Self) -> Option<&Self> {
        Some(kept)
    }

    #[inline]
    fn find<'a>(kept: &'a Self, _: &'a W) -> &'a Self {
        kept
    }

    #[inline]
    fn take(kept: Self, _: W) -> Self {
        kept
    }

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
    type Kept = Option<T>;

    #[inline]
    fn keep(self) -> Option<T> {
        Some(self)
    }

    #[inline]
    fn split(self) -> (T, Option<T>) {
        (self, None)
    }

    #[inline]
    fn kept(kept: &Option<T>) -> Option<&T> {
        kept.as_ref()
    }

    #[inline]
    fn find<'a>(kept: &'a Option<T>, entered: &'a Owned<T>) -> &'a T {
        kept.as_ref().unwrap_or(&entered.0)
    }

    #[inline]
    fn take(kept: Option<T>, entered: Owned<T>) -> T {
        match kept {
            Some(kept) => {
                drop(entered);
                kept
            }
            None => entered.0,
        }
    }

    #[inline]
    fn enter(self, _: HashValue, (): &mut ()) -> Owned<T> {
        Owned(self)
    }

    #[inline]
    fn replace(&self, _: &mut Owned<T>, _: HashValue, (): &mut ()) {}
}
