//! How users see the slots of an entry: values and keys that the collection owns, by reference;
//! live objects that the collection refers to weakly, as strong handles.

use crate::hash::HashValue;
use crate::reference::{Owned, Slot, Upgrade, Watch, WeakKey};
use crate::table::Entry;

/// A slot that can be shown. Sealed.
pub trait Shown: Slot {
    /// The value that the collection owns, or a strong handle to the object that the collection
    /// watches.
    type Item;
    /// The handle that keeps the item alive while the item is shown.
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

    /// Keeps the item alive, or returns `None` if the item is dead.
    #[doc(hidden)]
    fn pin(this: &Self) -> Option<Self::Guard>;
    #[doc(hidden)]
    fn show(this: &Self, guard: Self::Guard) -> Self::Ref<'_>;
    #[doc(hidden)]
    fn show_mut(this: &mut Self, guard: Self::Guard) -> Self::Mut<'_>;
    #[doc(hidden)]
    fn peek<'a>(this: &'a Self, guard: &'a Self::Guard) -> &'a Self::Item;
    #[doc(hidden)]
    fn peek_mut<'a>(this: &'a mut Self, guard: &'a mut Self::Guard) -> &'a mut Self::Item;
    #[doc(hidden)]
    fn take(this: Self, guard: Self::Guard) -> Self::Item;
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
    fn pin(_: &Self) -> Option<()> {
        Some(())
    }

    #[inline]
    fn show(this: &Self, (): ()) -> &T {
        &this.0
    }

    #[inline]
    fn show_mut(this: &mut Self, (): ()) -> &mut T {
        &mut this.0
    }

    #[inline]
    fn peek<'a>(this: &'a Self, (): &'a ()) -> &'a T {
        &this.0
    }

    #[inline]
    fn peek_mut<'a>(this: &'a mut Self, (): &'a mut ()) -> &'a mut T {
        &mut this.0
    }

    #[inline]
    fn take(this: Self, (): ()) -> T {
        this.0
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
    fn pin(this: &Self) -> Option<W::Pointer> {
        this.upgrade()
    }

    #[inline]
    fn show(_: &Self, guard: W::Pointer) -> W::Pointer {
        guard
    }

    #[inline]
    fn show_mut(_: &mut Self, guard: W::Pointer) -> W::Pointer {
        guard
    }

    #[inline]
    fn peek<'a>(_: &'a Self, guard: &'a W::Pointer) -> &'a W::Pointer {
        guard
    }

    #[inline]
    fn peek_mut<'a>(_: &'a mut Self, guard: &'a mut W::Pointer) -> &'a mut W::Pointer {
        guard
    }

    #[inline]
    fn take(this: Self, guard: W::Pointer) -> W::Pointer {
        drop(this);
        guard
    }
}

/// A slot that can be copied into a clone of the collection.
pub(crate) trait Copied: Shown {
    /// Makes the slot of the copied entry: a clone of the owned value, or a new watch on the same
    /// object. `hash` is the hash of both entries, `queue` the queue of the new collection. The
    /// caller keeps `guard` until the new entry is in its place: dropping `guard` may run user
    /// code.
    fn copy_slot(
        this: &Self,
        guard: &Self::Guard,
        hash: HashValue,
        queue: &mut Self::Queue,
    ) -> Self;
}

impl<T: Clone> Copied for Owned<T> {
    fn copy_slot(this: &Self, (): &(), _: HashValue, (): &mut ()) -> Self {
        Owned(this.0.clone())
    }
}

impl<W: Upgrade> Copied for W {
    fn copy_slot(_: &Self, guard: &W::Pointer, hash: HashValue, queue: &mut W::Queue) -> Self {
        // A watch belongs to one queue.
        W::watch(guard, hash, queue)
    }
}

/// A slot as iteration without upgrading shows it: a value that the collection owns, by reference;
/// an object that the collection refers to weakly, as a weak handle. Sealed.
pub trait ShownWeakly: Slot {
    /// The reference or the weak handle.
    type Half<'a>
    where
        Self: 'a;
    #[doc(hidden)]
    fn half(this: &Self) -> Option<Self::Half<'_>>;
}

impl<T> ShownWeakly for Owned<T> {
    type Half<'a>
        = &'a T
    where
        T: 'a;

    #[inline]
    fn half(this: &Self) -> Option<&T> {
        Some(&this.0)
    }
}

impl<W: Watch> ShownWeakly for W {
    type Half<'a>
        = <W::Key as WeakKey>::Weak
    where
        W: 'a;

    #[inline]
    fn half(this: &Self) -> Option<<W::Key as WeakKey>::Weak> {
        this.downgrade()
    }
}

impl<K: Shown, V: Shown> Entry<K, V> {
    /// Pins both slots, or returns `None` if one slot is dead: a half-dead entry is never shown.
    #[inline]
    pub(crate) fn pin(&self) -> Option<(K::Guard, V::Guard)> {
        Some((K::pin(&self.key)?, V::pin(&self.value)?))
    }

    #[inline]
    pub(crate) fn take(self, (key, value): (K::Guard, V::Guard)) -> (K::Item, V::Item) {
        (K::take(self.key, key), V::take(self.value, value))
    }

    /// Takes the key out of an entry that is unlinked and deregistered, and drops the value.
    /// `guard` comes from [`pin`](Shown::pin).
    #[inline]
    pub(crate) fn take_key(self, guard: K::Guard) -> K::Item {
        // First: if the destructor panics, the caller has not got the key yet.
        drop(self.value);
        K::take(self.key, guard)
    }
}

impl<K: Slot, V: Shown> Entry<K, V> {
    /// Takes the value out of an entry that is unlinked and deregistered, and drops the key.
    /// `guard` comes from [`pin`](Shown::pin).
    #[inline]
    pub(crate) fn take_value(self, guard: V::Guard) -> V::Item {
        // First: if the destructor panics, the caller has not got the value yet.
        drop(self.key);
        V::take(self.value, guard)
    }
}

/// A key as it is passed to a collection: by reference if the collection refers to the key weakly,
/// otherwise by value. Sealed: no other crate can name the hash that the methods take.
pub trait Given<K: Slot>: Sized {
    /// The key itself.
    type Key;
    /// The part of the key that an entry in the caller's hand keeps: the whole key, unless the key
    /// was moved into the collection.
    #[doc(hidden)]
    type Kept;
    #[doc(hidden)]
    fn key(this: &Self) -> &Self::Key;
    /// Keeps the key, which stays out of the collection.
    #[doc(hidden)]
    fn keep(this: Self) -> Self::Kept;
    /// Returns the key for a new entry, and the part that is kept.
    #[doc(hidden)]
    fn split(this: Self) -> (Self, Self::Kept);
    /// Returns the kept key, if the key was not moved.
    #[doc(hidden)]
    fn kept(kept: &Self::Kept) -> Option<&Self>;
    /// Returns the key, which is kept or in the collection.
    #[doc(hidden)]
    fn find<'a>(kept: &'a Self::Kept, entered: &'a K) -> &'a Self;
    /// The same as `find`, for an entry that was removed.
    #[doc(hidden)]
    fn take(kept: Self::Kept, entered: K) -> Self;
    /// Creates the key's slot of an entry.
    #[doc(hidden)]
    fn enter(this: Self, hash: HashValue, queue: &mut K::Queue) -> K;
    /// Replaces the key of an entry, if the collection refers to the key weakly.
    #[doc(hidden)]
    fn replace(this: &Self, old: &mut K, hash: HashValue, queue: &mut K::Queue);
}

impl<W: Watch> Given<W> for &W::Key {
    type Key = W::Key;
    type Kept = Self;

    #[inline]
    fn key(this: &Self) -> &W::Key {
        this
    }

    #[inline]
    fn keep(this: Self) -> Self {
        this
    }

    #[inline]
    fn split(this: Self) -> (Self, Self) {
        (this, this)
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
    fn enter(this: Self, hash: HashValue, queue: &mut W::Queue) -> W {
        W::watch(this, hash, queue)
    }

    #[inline]
    fn replace(this: &Self, old: &mut W, hash: HashValue, queue: &mut W::Queue) {
        old.rewatch(this, hash, queue);
    }
}

impl<T> Given<Owned<T>> for T {
    type Key = T;
    type Kept = Option<T>;

    #[inline]
    fn key(this: &T) -> &T {
        this
    }

    #[inline]
    fn keep(this: Self) -> Option<T> {
        Some(this)
    }

    #[inline]
    fn split(this: Self) -> (T, Option<T>) {
        (this, None)
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
    fn enter(this: Self, _: HashValue, (): &mut ()) -> Owned<T> {
        Owned(this)
    }

    #[inline]
    fn replace(_: &Self, _: &mut Owned<T>, _: HashValue, (): &mut ()) {}
}
