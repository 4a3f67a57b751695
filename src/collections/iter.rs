//! The iterators of all collections, generic over the slots of their entries: [`Owned`] or weak.
//! Use the names in the module of the collection, such as
//! [`weak_map::Iter`](crate::collections::weak_map::Iter).
//!
//! All iterators skip dead entries. Weak keys and values come as strong handles, which stay valid
//! as long as the caller keeps them. An iterator does not keep an object alive before returning it.
//! The lower bound of every `size_hint` is zero, since any of the remaining entries may be dead.

use alloc::vec;
use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use hashbrown::hash_table;

use crate::reference::Watch;
use crate::table::{Entry, Remains, Walk};
use crate::table::{IntoEntries, Table};

pub use super::shown::{Shown, ShownWeakly};
pub use crate::reference::{ByContent, Owned, Slot};

/// Implements the traits that all iterators over live entries have. Each iterator is a tuple whose
/// first field knows the number of remaining entries.
macro_rules! live {
    ($([$($generics:tt)*] $name:ident<$($arg:tt),*> -> $item:ty: |$this:ident| $next:expr;)*) => {$(
        impl<$($generics)*> Iterator for $name<$($arg),*> {
            type Item = $item;

            fn next(&mut self) -> Option<Self::Item> {
                let $this = self;
                $next
            }

            fn size_hint(&self) -> (usize, Option<usize>) {
                (0, self.0.size_hint().1)
            }
        }

        impl<$($generics)*> core::iter::FusedIterator for $name<$($arg),*> {}

        impl<$($generics)*> core::fmt::Debug for $name<$($arg),*> {
            fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("at_most", &self.0.size_hint().1)
                    .finish()
            }
        }
    )*};
}

/// Defines iterators that borrow the table.
macro_rules! borrowing {
    ($($(#[$doc:meta])* $name:ident<$key:ident, $value:ident>($inner:ident) -> $item:ty: |$entry:ident| $show:expr;)*) => {$(
        $(#[$doc])*
        #[must_use = "iterators are lazy and do nothing unless consumed"]
        pub struct $name<'a, K, V>(pub(super) hash_table::$inner<'a, Entry<K, V>>);

        live! { ['a, K: $key, V: $value] $name<'a, K, V> -> $item: |this| this.0.find_map(|$entry| $show); }
    )*};
}

borrowing! {
    /// An iterator over the live entries of a collection.
    Iter<Shown, Shown>(Iter) -> (K::Ref<'a>, V::Ref<'a>): |entry| {
        let (key, value) = entry.pin()?;
        Some((K::show(&entry.key, key), V::show(&entry.value, value)))
    };
    /// An iterator over the live entries of a collection, with mutable values.
    IterMut<Shown, Shown>(IterMut) -> (K::Ref<'a>, V::Mut<'a>): |entry| {
        let (key, value) = entry.pin()?;
        Some((K::show(&entry.key, key), V::show_mut(&mut entry.value, value)))
    };
    /// An iterator over the keys of the live entries.
    Keys<Shown, Slot>(Iter) -> K::Ref<'a>: |entry| {
        (!entry.value.is_expired()).then_some(())?;
        Some(K::show(&entry.key, K::pin(&entry.key)?))
    };
    /// An iterator over the values of the live entries.
    Values<Slot, Shown>(Iter) -> V::Ref<'a>: |entry| {
        (!entry.key.is_expired()).then_some(())?;
        Some(V::show(&entry.value, V::pin(&entry.value)?))
    };
    /// An iterator over the values of the live entries, mutably.
    ValuesMut<Slot, Shown>(IterMut) -> V::Mut<'a>: |entry| {
        (!entry.key.is_expired()).then_some(())?;
        let guard = V::pin(&entry.value)?;
        Some(V::show_mut(&mut entry.value, guard))
    };
    /// An iterator over the live entries. Weak keys and values come as weak handles, owned keys and
    /// values by reference.
    IterWeak<ShownWeakly, ShownWeakly>(Iter) -> (K::Half<'a>, V::Half<'a>): |entry| {
        (!entry.is_expired()).then_some(())?;
        Some((K::half(&entry.key)?, V::half(&entry.value)?))
    };
    /// An iterator over the keys of the live entries, as weak handles.
    KeysWeak<ShownWeakly, Slot>(Iter) -> K::Half<'a>: |entry| {
        (!entry.is_expired()).then_some(())?;
        K::half(&entry.key)
    };
}

macro_rules! cloned {
    ($($name:ident)*) => {$(
        impl<K, V> Clone for $name<'_, K, V> {
            fn clone(&self) -> Self {
                $name(self.0.clone())
            }
        }
    )*};
}

cloned! { Iter Keys Values IterWeak KeysWeak }

/// An iterator over the keys of the live entries that have a certain value.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct KeysOf<'a, K, V>(pub(super) vec::IntoIter<&'a Entry<K, V>>);

cloned! { KeysOf }

/// An iterator over the live entries of a collection, by value.
pub struct IntoIter<K: Shown, V: Shown>(pub(super) IntoEntries<K, V>);

/// An iterator over the keys of the live entries, by value.
pub struct IntoKeys<K: Shown, V: Shown>(pub(super) IntoEntries<K, V>);

/// An iterator over the values of the live entries, by value.
pub struct IntoValues<K: Slot, V: Shown>(pub(super) IntoEntries<K, V>);

/// An iterator over the live entries of a collection that was emptied. Dropping the iterator drops
/// the remaining entries.
///
/// `Drain` has the signature of std's `Drain`, so that a later version may return the memory to the
/// collection.
pub struct Drain<'a, K: Shown, V: Shown>(
    pub(super) IntoIter<K, V>,
    pub(super) PhantomData<&'a mut Table<K, V>>,
);

/// Like [`Drain`], but returns only keys.
pub struct DrainKeys<'a, K: Shown, V: Shown>(pub(super) Drain<'a, K, V>);

live! {
    ['a, K: Shown, V: Slot] KeysOf<'a, K, V> -> K::Ref<'a>: |this| this.0.find_map(|entry| {
        (!entry.value.is_expired()).then_some(())?;
        Some(K::show(&entry.key, K::pin(&entry.key)?))
    });
    [K: Shown, V: Shown] IntoIter<K, V> -> (K::Item, V::Item): |this| {
        let (guard, entry) = this.0.next(|entry| entry.pin())?;
        Some(entry.take(guard))
    };
    [K: Shown, V: Shown] IntoKeys<K, V> -> K::Item: |this| {
        let live = |entry: &mut Entry<K, V>| (!entry.value.is_expired()).then(|| K::pin(&entry.key));
        let (guard, entry) = this.0.next(|entry| live(entry)?)?;
        Some(entry.take_key(guard))
    };
    [K: Slot, V: Shown] IntoValues<K, V> -> V::Item: |this| {
        let live = |entry: &mut Entry<K, V>| (!entry.key.is_expired()).then(|| V::pin(&entry.value));
        let (guard, entry) = this.0.next(|entry| live(entry)?)?;
        Some(entry.take_value(guard))
    };
    ['a, K: Shown, V: Shown] Drain<'a, K, V> -> (K::Item, V::Item): |this| this.0.next();
    ['a, K: Shown, V: Shown] DrainKeys<'a, K, V> -> K::Item: |this| Some(this.0.next()?.0);
}

/// An iterator over the remains of dead entries: the values of dead keys, or the keys of dead
/// values.
#[must_use = "iterators are lazy and do nothing unless consumed"]
pub struct DrainDead<'a, K: Slot, V: Slot> {
    /// `None` once the iterator has returned `None`: the remains of entries that die later are not
    /// returned.
    table: Option<&'a mut Table<K, V>>,
}

impl<'a, K: Slot, V: Slot> DrainDead<'a, K, V> {
    pub(crate) fn new(table: &'a mut Table<K, V>) -> Self {
        DrainDead { table: Some(table) }
    }

    fn take_dead(&mut self) -> Option<Remains<K, V>> {
        let dead = self.table.as_mut()?.take_dead();
        if dead.is_none() {
            self.table = None;
        }
        dead
    }
}

impl<K: Watch, T> Iterator for DrainDead<'_, K, Owned<T>> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.take_dead().map(|(_, value)| value)
    }
}

impl<T, V: Watch> Iterator for DrainDead<'_, Owned<T>, V> {
    type Item = T;

    fn next(&mut self) -> Option<T> {
        self.take_dead().map(|(key, _)| key)
    }
}

impl<K: Watch, T> FusedIterator for DrainDead<'_, K, Owned<T>> {}

impl<T, V: Watch> FusedIterator for DrainDead<'_, Owned<T>, V> {}

impl<K: Slot, V: Slot> fmt::Debug for DrainDead<'_, K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("DrainDead").finish_non_exhaustive()
    }
}

/// An iterator over the live entries for which a predicate returns true. Each step removes one
/// entry.
#[must_use = "iterators are lazy: this takes out nothing unless it is used"]
pub struct ExtractIf<'a, K: Shown, V: Shown, F> {
    table: &'a mut Table<K, V>,
    walk: Walk,
    take: F,
}

impl<'a, K: Shown, V: Shown, F> ExtractIf<'a, K, V, F> {
    pub(crate) fn new(table: &'a mut Table<K, V>, take: F) -> Self {
        ExtractIf {
            table,
            walk: Walk::default(),
            take,
        }
    }
}

impl<K: Shown, V: Shown, F> Iterator for ExtractIf<'_, K, V, F>
where
    F: FnMut(&K::Item, &mut V::Item) -> bool,
{
    type Item = (K::Item, V::Item);

    fn next(&mut self) -> Option<Self::Item> {
        let (guard, entry) = self.table.take_next(&mut self.walk, |entry| {
            let (key, mut value) = entry.pin()?;
            let wanted = (self.take)(
                K::peek(&entry.key, &key),
                V::peek_mut(&mut entry.value, &mut value),
            );
            wanted.then_some((key, value))
        })?;
        Some(entry.take(guard))
    }
}

impl<K: Shown, V: Shown, F> fmt::Debug for ExtractIf<'_, K, V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").finish_non_exhaustive()
    }
}

impl<K: Shown, V: Shown, F> FusedIterator for ExtractIf<'_, K, V, F> where
    F: FnMut(&K::Item, &mut V::Item) -> bool
{
}
