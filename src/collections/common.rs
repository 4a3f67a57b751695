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

        /// The number of entries that have announced their death and wait to be buried, and of those
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

pub(crate) use {collecting, housekeeping, iterator_names};
