//! The iterators of [`WeakMap`](super::WeakMap). All skip the dead; those that give out keys give
//! strong ones, each valid for as long as the caller keeps it. None keeps alive what it has not
//! given out yet.

use core::fmt;
use core::iter::FusedIterator;
use core::marker::PhantomData;
use hashbrown::hash_table;

use super::WeakMap;
use crate::reference::{StrongRef, Watching};
use crate::table::{Entry, IntoEntries, Owned, Remains, Search, Table, Walk};

type Raw<K, V> = Entry<<K as StrongRef>::Watch, Owned<V>>;
type RawTable<K, V> = Table<<K as StrongRef>::Watch, Owned<V>>;

/// A lower bound of zero: any number of what is left may be dead.
fn at_most(hint: (usize, Option<usize>)) -> (usize, Option<usize>) {
    (0, hint.1)
}

/// See [`WeakMap::iter`].
pub struct Iter<'a, K: StrongRef, V>(hash_table::Iter<'a, Raw<K, V>>);

impl<'a, K: StrongRef, V> Iter<'a, K, V> {
    pub(super) fn new(table: &'a RawTable<K, V>) -> Self {
        Iter(table.iter())
    }
}

impl<'a, K: StrongRef, V> Iterator for Iter<'a, K, V> {
    type Item = (K, &'a V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .find_map(|entry| Some((entry.key.upgrade()?, &entry.value.0)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

impl<K: StrongRef, V> Clone for Iter<'_, K, V> {
    fn clone(&self) -> Self {
        Iter(self.0.clone())
    }
}

/// See [`WeakMap::iter_mut`].
pub struct IterMut<'a, K: StrongRef, V>(hash_table::IterMut<'a, Raw<K, V>>);

impl<'a, K: StrongRef, V> IterMut<'a, K, V> {
    pub(super) fn new(table: &'a mut RawTable<K, V>) -> Self {
        IterMut(table.iter_mut())
    }
}

impl<'a, K: StrongRef, V> Iterator for IterMut<'a, K, V> {
    type Item = (K, &'a mut V);

    fn next(&mut self) -> Option<Self::Item> {
        self.0
            .find_map(|entry| Some((entry.key.upgrade()?, &mut entry.value.0)))
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

/// See [`WeakMap::keys`].
pub struct Keys<'a, K: StrongRef, V>(pub(super) Iter<'a, K, V>);

impl<K: StrongRef, V> Iterator for Keys<'_, K, V> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        self.0.next().map(|(key, _)| key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

impl<K: StrongRef, V> Clone for Keys<'_, K, V> {
    fn clone(&self) -> Self {
        Keys(self.0.clone())
    }
}

/// See [`WeakMap::weak_keys`].
pub struct WeakKeys<'a, K: StrongRef, V>(hash_table::Iter<'a, Raw<K, V>>);

impl<'a, K: StrongRef, V> WeakKeys<'a, K, V> {
    pub(super) fn new(table: &'a RawTable<K, V>) -> Self {
        WeakKeys(table.iter())
    }
}

impl<K: StrongRef, V> Iterator for WeakKeys<'_, K, V> {
    type Item = K::Weak;

    fn next(&mut self) -> Option<K::Weak> {
        self.0
            .find(|entry| !entry.key.is_expired())
            .map(|entry| entry.key.downgrade())
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

impl<K: StrongRef, V> Clone for WeakKeys<'_, K, V> {
    fn clone(&self) -> Self {
        WeakKeys(self.0.clone())
    }
}

/// See [`WeakMap::values`].
pub struct Values<'a, K: StrongRef, V>(hash_table::Iter<'a, Raw<K, V>>);

impl<'a, K: StrongRef, V> Values<'a, K, V> {
    pub(super) fn new(table: &'a RawTable<K, V>) -> Self {
        Values(table.iter())
    }
}

impl<'a, K: StrongRef, V> Iterator for Values<'a, K, V> {
    type Item = &'a V;

    fn next(&mut self) -> Option<&'a V> {
        self.0
            .find(|entry| !entry.key.is_expired())
            .map(|entry| &entry.value.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

impl<K: StrongRef, V> Clone for Values<'_, K, V> {
    fn clone(&self) -> Self {
        Values(self.0.clone())
    }
}

/// See [`WeakMap::values_mut`].
pub struct ValuesMut<'a, K: StrongRef, V>(hash_table::IterMut<'a, Raw<K, V>>);

impl<'a, K: StrongRef, V> ValuesMut<'a, K, V> {
    pub(super) fn new(table: &'a mut RawTable<K, V>) -> Self {
        ValuesMut(table.iter_mut())
    }
}

impl<'a, K: StrongRef, V> Iterator for ValuesMut<'a, K, V> {
    type Item = &'a mut V;

    fn next(&mut self) -> Option<&'a mut V> {
        self.0
            .find(|entry| !entry.key.is_expired())
            .map(|entry| &mut entry.value.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

/// The live entries of a map, by value.
pub struct IntoIter<K: StrongRef, V>(IntoEntries<K::Watch, Owned<V>>);

impl<K: StrongRef, V> Iterator for IntoIter<K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.0.find_map(|entry| {
            let key = entry.key.upgrade()?;
            Some((key, entry.value.0))
        })
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        at_most(self.0.size_hint())
    }
}

/// See [`WeakMap::into_keys`].
pub struct IntoKeys<K: StrongRef, V>(pub(super) IntoIter<K, V>);

impl<K: StrongRef, V> Iterator for IntoKeys<K, V> {
    type Item = K;

    fn next(&mut self) -> Option<K> {
        self.0.next().map(|(key, _)| key)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// See [`WeakMap::into_values`].
pub struct IntoValues<K: StrongRef, V>(pub(super) IntoIter<K, V>);

impl<K: StrongRef, V> Iterator for IntoValues<K, V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        self.0
            .0
            .find(|entry| !entry.key.is_expired())
            .map(|entry| entry.value.0)
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.0.size_hint()
    }
}

/// See [`WeakMap::drain`]. Entries that it has not given out are dropped with it.
pub struct Drain<'a, K: StrongRef, V> {
    entries: IntoIter<K, V>,
    /// The signature of std's, so that a later version may give the map its memory back.
    map: PhantomData<&'a mut WeakMap<K, V>>,
}

impl<K: StrongRef, V> Drain<'_, K, V> {
    pub(super) fn new(map: WeakMap<K, V>) -> Self {
        Drain {
            entries: map.into_iter(),
            map: PhantomData,
        }
    }
}

impl<K: StrongRef, V> Iterator for Drain<'_, K, V> {
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        self.entries.next()
    }

    fn size_hint(&self) -> (usize, Option<usize>) {
        self.entries.size_hint()
    }
}

/// See [`WeakMap::drain_dead`].
pub struct DrainDead<'a, K: StrongRef, V> {
    /// None once it has said so: from then on nobody is handed out who dies later.
    table: Option<&'a mut RawTable<K, V>>,
    search: Search,
}

impl<'a, K: StrongRef, V> DrainDead<'a, K, V> {
    pub(super) fn new(table: &'a mut RawTable<K, V>) -> Self {
        DrainDead {
            table: Some(table),
            search: Search::new(),
        }
    }
}

impl<K: StrongRef, V> Iterator for DrainDead<'_, K, V> {
    type Item = V;

    fn next(&mut self) -> Option<V> {
        let dead = self.table.as_mut()?.unlink_dead(&mut self.search);
        if dead.is_none() {
            self.table = None;
        }
        dead.and_then(Remains::into_value).map(|value| value.0)
    }
}

/// See [`WeakMap::extract_if`].
#[must_use = "iterators are lazy: this takes out nothing unless it is used"]
pub struct ExtractIf<'a, K: StrongRef, V, F> {
    table: &'a mut RawTable<K, V>,
    walk: Walk,
    take: F,
}

impl<'a, K: StrongRef, V, F> ExtractIf<'a, K, V, F> {
    pub(super) fn new(table: &'a mut RawTable<K, V>, take: F) -> Self {
        ExtractIf {
            table,
            walk: Walk::new(),
            take,
        }
    }
}

impl<K: StrongRef, V, F> Iterator for ExtractIf<'_, K, V, F>
where
    F: FnMut(&K, &mut V) -> bool,
{
    type Item = (K, V);

    fn next(&mut self) -> Option<(K, V)> {
        let (key, entry) = self.table.take_next(&mut self.walk, |entry| {
            let key = entry.key.upgrade()?;
            (self.take)(&key, &mut entry.value.0).then_some(key)
        })?;
        Some((key, entry.value.0))
    }
}

macro_rules! courtesies {
    ($($name:ident[$($life:lifetime)?])*) => {$(
        impl<K: StrongRef, V> FusedIterator for $name<$($life,)? K, V> {}

        impl<K: StrongRef, V> fmt::Debug for $name<$($life,)? K, V> {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.debug_struct(stringify!($name))
                    .field("at_most", &self.size_hint().1)
                    .finish()
            }
        }
    )*};
}

courtesies! {
    Iter['_] IterMut['_] Keys['_] WeakKeys['_] Values['_] ValuesMut['_] Drain['_] DrainDead['_]
    IntoIter[] IntoKeys[] IntoValues[]
}

impl<K: StrongRef, V, F> fmt::Debug for ExtractIf<'_, K, V, F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ExtractIf").finish_non_exhaustive()
    }
}

impl<K: StrongRef, V, F> FusedIterator for ExtractIf<'_, K, V, F> where F: FnMut(&K, &mut V) -> bool {}

impl<K: StrongRef, V> IntoIterator for WeakMap<K, V> {
    type Item = (K, V);
    type IntoIter = IntoIter<K, V>;

    fn into_iter(self) -> IntoIter<K, V> {
        IntoIter(self.table.into_iter())
    }
}

impl<'a, K: StrongRef, V> IntoIterator for &'a WeakMap<K, V> {
    type Item = (K, &'a V);
    type IntoIter = Iter<'a, K, V>;

    fn into_iter(self) -> Iter<'a, K, V> {
        self.iter()
    }
}

impl<'a, K: StrongRef, V> IntoIterator for &'a mut WeakMap<K, V> {
    type Item = (K, &'a mut V);
    type IntoIter = IterMut<'a, K, V>;

    fn into_iter(self) -> IterMut<'a, K, V> {
        self.iter_mut()
    }
}
