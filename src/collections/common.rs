//! What is said, word for word, of every collection: about its size and memory, and how it is made from
//! and turned into its entries. Macros, since these are inherent methods and foreign traits; each body
//! is one call of [`Store`](crate::collections::store::Store).

/// The methods about size and memory. An entry is dead when a side that is held weakly is.
macro_rules! housekeeping {
    () => {
        /// How many entries fit without growing, those that are there included.
        #[must_use]
        #[inline]
        pub fn capacity(&self) -> usize {
            self.store.table.capacity()
        }

        /// The number of entries. O(1) amortised: each notice that waits is counted once; but while one waits
        /// whose entry has gone before it, or notices of both sides of entries do, O(notices that wait).
        ///
        /// For `Strong` and `local::Strong` it is exact: what has announced its death does not count,
        /// and an entry both of whose sides have died counts once. (A key that is told apart by
        /// identity still counts inside its own destructor: its entry can still be found by
        /// reference.) For `Arc` and `Rc` it is an upper bound: the dead count until a sweep finds
        /// them.
        #[must_use]
        #[inline]
        pub fn len(&self) -> usize {
            self.store.table.len()
        }

        /// Whether [`len`](Self::len) is zero. For `Arc` and `Rc` this can be false when all are
        /// dead; ask [`len_live`](Self::len_live), or [`purge`](Self::purge) first.
        #[must_use]
        #[inline]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// The number of live entries, by asking each. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.store.len_live()
        }

        /// The number of entries that have announced their death and wait to be reclaimed, and of those
        /// that have gone and of which something is kept until it is
        /// [asked for](crate::Reclaim::OnRequest). It costs what [`len`](Self::len) does. For `Arc` and `Rc`, which announce nothing, only
        /// the latter.
        #[must_use]
        #[inline]
        pub fn pending_dead(&self) -> usize {
            self.store.table.pending()
        }

        /// When this collection destroys what its dead entries own.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.store.table.reclaim()
        }

        /// Chooses when this collection destroys what its dead entries own. The default is
        /// [`Reclaim::OnUse`](crate::Reclaim::OnUse). Clones of the collection have the same policy.
        ///
        /// To go back from [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) destroys what has been kept:
        /// O(what has been kept). (A collection that owns nothing of its entries has nothing to destroy:
        /// there the policy makes no difference but to [`pending_dead`](Self::pending_dead).)
        ///
        /// # Panics
        /// If a destructor does; the policy is then as before, and the rest is still kept.
        pub fn set_reclaim(&mut self, reclaim: $crate::table::Reclaim) {
            self.store.table.set_reclaim(reclaim);
        }

        /// Buries all the dead, destroying what their entries own, and those that die of that, and so
        /// on until nobody is left. O(deaths) for `Strong` and `local::Strong`. What is
        /// [kept](crate::Reclaim::OnRequest) of the dead goes too.
        ///
        /// For `Arc` and `Rc` it goes round the table until a round finds nobody: O(capacity), but
        /// where values own the next keys, each link that lies behind costs a round, which is
        /// quadratic for a long chain.
        ///
        /// The memory of the table stays; [`shrink_to_fit`](Self::shrink_to_fit) gives it back.
        ///
        /// # Panics
        /// If a destructor does; the rest of the dead are left to the next operation.
        pub fn purge(&mut self) {
            self.store.table.purge();
        }

        /// Makes room for `additional` more entries; if it has to grow, the dead go first (what they own is
        /// [kept](crate::Reclaim::OnRequest) where it is asked for).
        ///
        /// # Panics
        /// If the new size is more than an address space holds.
        #[track_caller]
        pub fn reserve(&mut self, additional: usize) {
            self.store.reserve(additional);
        }

        /// Makes room for `additional` more entries; if it has to grow, the dead go first.
        ///
        /// # Errors
        /// If the new size is more than an address space holds, or more than the allocator gives. The
        /// entries are as before.
        pub fn try_reserve(
            &mut self,
            additional: usize,
        ) -> Result<(), alloc::collections::TryReserveError> {
            self.store.try_reserve(additional)
        }

        /// Gives back memory that is not needed, after a [`purge`](Self::purge), or where what the dead
        /// own is [kept](crate::Reclaim::OnRequest), after unlinking their entries. O(capacity).
        pub fn shrink_to_fit(&mut self) {
            self.shrink_to(0);
        }

        /// Gives back memory, but keeps room for `min_capacity` entries. The rest is as for
        /// [`shrink_to_fit`](Self::shrink_to_fit). O(capacity).
        pub fn shrink_to(&mut self, min_capacity: usize) {
            self.store.shrink_to(min_capacity);
        }

        /// Removes all entries, dead or alive, with what is [kept](crate::Reclaim::OnRequest) of those that
        /// have gone, and keeps the memory. O(capacity).
        ///
        /// # Panics
        /// If a destructor of what the entries own does; the collection is empty then too, and the
        /// rest may be leaked, or still be kept. (The same goes for dropping the collection.)
        pub fn clear(&mut self) {
            self.store.table.clear();
        }
    };
}

/// What maps with owned values say alike of all their entries.
macro_rules! owned_values {
    () => {
        /// Removes some entry whose key lives, and returns it. In a row, the calls visit each bucket once:
        /// O(1) amortised over emptying the map.
        pub fn pop(&mut self) -> Option<(K, V)> {
            self.store.pop()
        }

        /// Keeps the live entries for which `keep` is true. O(capacity). Entries of dead keys are not
        /// shown.
        ///
        /// `keep` gets a strong pointer to each key: should it be the last when the call returns, the
        /// key's destructor runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor does; what was not visited stays.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Takes out the live entries for which `take` is true, one at a time as the iterator goes on;
        /// those it has not come to stay. O(capacity). The rest is as for [`retain`](Self::retain).
        pub fn extract_if<F>(&mut self, take: F) -> ExtractIf<'_, K, V, F>
        where
            F: FnMut(&K, &mut V) -> bool,
        {
            self.store.extract_if(take)
        }

        /// Takes all live entries out. The map is empty, and without its memory, at once, even if the
        /// iterator is forgotten. O(capacity).
        pub fn drain(&mut self) -> Drain<'_, K, V> {
            self.store.drain()
        }

        /// All live entries, keys as strong pointers, in no order. O(capacity).
        pub fn iter(&self) -> Iter<'_, K, V> {
            self.store.iter()
        }

        /// All live entries, keys as strong pointers, in no order. O(capacity).
        pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
            self.store.iter_mut()
        }

        /// All live keys, as strong pointers, in no order. O(capacity).
        pub fn keys(&self) -> Keys<'_, K, V> {
            self.store.keys()
        }

        /// All keys as weak handles, in no order, without an upgrade: for a look that must not keep
        /// anybody alive, not even for a moment. Handles that are expired by now are skipped. O(capacity).
        pub fn weak_keys(&self) -> WeakKeys<'_, K, V> {
            self.store.weak_keys()
        }

        /// The values of all live keys, in no order. O(capacity); upgrades nobody.
        pub fn values(&self) -> Values<'_, K, V> {
            self.store.values()
        }

        /// The values of all live keys, in no order. O(capacity); upgrades nobody.
        pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
            self.store.values_mut()
        }

        /// The keys of the map, as strong pointers.
        pub fn into_keys(self) -> IntoKeys<K, V> {
            self.store.into_keys()
        }

        /// The values of the map's live keys.
        pub fn into_values(self) -> IntoValues<K, V> {
            self.store.into_values()
        }
    };
}

/// How a map with weak keys and owned values sets the value of a key that has none.
macro_rules! filling {
    () => {
        /// Sets the value of a key that has none. O(1) amortised.
        ///
        /// # Errors
        /// If a live key that is the same for the map has a value, the error holds its entry and hands back
        /// the new value.
        pub fn try_insert<'k>(
            &mut self,
            key: &'k K,
            value: V,
        ) -> Result<&mut V, OccupiedError<'_, 'k, K, V>> {
            match self.entry(key) {
                Entry::Occupied(entry) => Err(OccupiedError { entry, value }),
                Entry::Vacant(entry) => Ok(entry.insert(value)),
            }
        }

        /// The value of a key, which becomes `value` if it has none. O(1) amortised.
        pub fn get_or_insert(&mut self, key: &K, value: V) -> &mut V {
            self.entry(key).or_insert(value)
        }
    };
}

/// The same, where the value is made, and may refer to its key.
macro_rules! making {
    () => {
        /// The value of a key, made by `make` if it has none. O(1) amortised, one lookup. `make` gets the
        /// key as a weak handle, so that a value can refer to its key without keeping it alive.
        ///
        /// # Panics
        /// If `make` does; the map is then as before.
        pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> &mut V {
            self.entry(key).or_insert_with_key(make)
        }

        /// The value of a key, made by `make` if it has none. O(1) amortised, one lookup.
        ///
        /// # Errors
        /// That of `make`; the map is then as before.
        ///
        /// # Panics
        /// If `make` does; the map is then as before.
        pub fn try_get_or_insert_with<E>(
            &mut self,
            key: &K,
            make: impl FnOnce(&K::Weak) -> Result<V, E>,
        ) -> Result<&mut V, E> {
            self.entry(key).or_try_insert_with_key(make)
        }
    };
}

/// What maps with weak values say alike of all their entries.
macro_rules! weak_values {
    () => {
        /// Removes some live entry, and returns it. In a row, the calls visit each bucket once: O(1)
        /// amortised over emptying the map.
        pub fn pop(&mut self) -> Option<(K, V)> {
            self.store.pop()
        }

        /// Keeps the live entries for which `keep` is true. O(capacity). Dead ones are not shown.
        ///
        /// `keep` gets strong pointers: should one be the last when the call returns, its object's
        /// destructor runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor does; what was not visited stays.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Takes out the live entries for which `take` is true, one at a time as the iterator goes on;
        /// those it has not come to stay. O(capacity). The rest is as for [`retain`](Self::retain).
        pub fn extract_if<F>(
            &mut self,
            mut take: F,
        ) -> ExtractIf<'_, K, V, impl FnMut(&K, &mut V) -> bool>
        where
            F: FnMut(&K, &V) -> bool,
        {
            self.store.extract_if(move |key, value| take(key, value))
        }

        /// Takes all live entries out. The map is empty, and without its memory, at once, even if the
        /// iterator is forgotten. O(capacity).
        pub fn drain(&mut self) -> Drain<'_, K, V> {
            self.store.drain()
        }

        /// The values of all live entries, as strong pointers, in no order. O(capacity).
        pub fn values(&self) -> Values<'_, K, V> {
            self.store.values()
        }

        /// The values of all entries that are not dead by now, as weak handles, without an upgrade.
        /// O(capacity).
        pub fn weak_values(&self) -> WeakValues<'_, K, V> {
            self.store.weak_values()
        }

        /// The keys of the map's live entries.
        pub fn into_keys(self) -> IntoKeys<K, V> {
            self.store.into_keys()
        }

        /// The values of the map's live entries, as strong pointers.
        pub fn into_values(self) -> IntoValues<K, V> {
            self.store.into_values()
        }
    };
}

/// `Extend`, `FromIterator` and `From` of an array, from one kind of item. (The array's collection has the
/// default hasher, as with std, for nothing else would say which.)
macro_rules! collecting {
    ([$($generics:tt)*] $name:ty, from [$($from_generics:tt)*] $from:ty, where [$($clause:tt)*], [$($hasher:tt)*],
     $item:ty: |$this:ident, $pattern:pat_param| $insert:expr) => {
        impl<$($generics)*> Extend<$item> for $name where $($clause)* $($hasher)* {
            fn extend<Items: IntoIterator<Item = $item>>(&mut self, items: Items) {
                let $this = self;
                for $pattern in items {
                    $insert;
                }
            }
        }

        impl<$($generics)*> FromIterator<$item> for $name where Self: Default, $($clause)* $($hasher)* {
            fn from_iter<Items: IntoIterator<Item = $item>>(items: Items) -> Self {
                let mut collected = Self::default();
                collected.extend(items);
                collected
            }
        }

        impl<$($from_generics)*, const N: usize> From<[$item; N]> for $from where $($clause)* {
            fn from(items: [$item; N]) -> Self {
                Self::from_iter(items)
            }
        }
    };
}

/// The iterators of a map, by their usual names.
macro_rules! iterator_names {
    ($key:ty, $value:ty) => {
        /// See `iter`.
        pub type Iter<'a, K, V> = $crate::collections::iter::Iter<'a, $key, $value>;
        /// See `keys`.
        pub type Keys<'a, K, V> = $crate::collections::iter::Keys<'a, $key, $value>;
        /// See `values`.
        pub type Values<'a, K, V> = $crate::collections::iter::Values<'a, $key, $value>;
        /// The live entries of a map, by value.
        pub type IntoIter<K, V> = $crate::collections::iter::IntoIter<$key, $value>;
        /// See `into_keys`.
        pub type IntoKeys<K, V> = $crate::collections::iter::IntoKeys<$key, $value>;
        /// See `into_values`.
        pub type IntoValues<K, V> = $crate::collections::iter::IntoValues<$key, $value>;
        /// See `drain`.
        pub type Drain<'a, K, V> = $crate::collections::iter::Drain<'a, $key, $value>;
        /// See `extract_if`.
        pub type ExtractIf<'a, K, V, F> = $crate::collections::iter::ExtractIf<'a, $key, $value, F>;
    };
}

pub(crate) use {
    collecting, filling, housekeeping, iterator_names, making, owned_values, weak_values,
};
