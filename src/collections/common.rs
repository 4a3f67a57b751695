//! The methods that several collections have in the same words. Inherent methods can only be shared
//! by macros; each body is one call of [`Store`](crate::collections::store::Store).

/// The methods about size and memory. An entry is dead when its weak key or its weak value is dead.
macro_rules! housekeeping {
    () => {
        /// Returns the number of entries that fit without growing, including the entries stored
        /// now.
        #[must_use]
        #[inline]
        pub fn capacity(&self) -> usize {
            self.store.table.capacity()
        }

        /// Returns the number of entries. O(1) amortised, since each pending notice is counted
        /// once. If a pending notice has lost its entry to a removal, O(pending notices). If
        /// notices of both keys and values are pending, O(n log n) for n notices, and memory for
        /// their addresses.
        ///
        /// For `Strong` and `local::Strong` the number is exact: dead entries do not count, and an
        /// entry whose key and value have both died counts once. An object has died when its
        /// destructor has ended: inside the destructor of its key or value, an entry still counts.
        /// For `Arc` and `Rc` the number is an upper bound: a dead entry counts until a sweep finds
        /// it.
        #[must_use]
        #[inline]
        pub fn len(&self) -> usize {
            self.store.table.len()
        }

        /// Returns whether [`len`](Self::len) is zero. For `Arc` and `Rc`, may return false
        /// although all entries are dead: then use [`len_live`](Self::len_live), or
        /// [`purge`](Self::purge) first.
        ///
        /// Costs as much as [`len`](Self::len), with one difference: where `len` would count
        /// notices, `is_empty` looks for a live entry, and stops at the first. O(capacity) if there
        /// is no live entry.
        #[must_use]
        #[inline]
        pub fn is_empty(&self) -> bool {
            self.store.table.is_empty()
        }

        /// Returns the number of live entries, by checking each entry. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.store.len_live()
        }

        /// Returns the number of dead entries with a pending notice, plus the number of removed
        /// entries whose remains are [kept](crate::Reclaim::OnRequest). Costs as much as
        /// [`len`](Self::len). `Arc` and `Rc` send no notices: for them, only kept remains count.
        ///
        /// An entry counts once, even if both its key and its value have died. A late notice, whose
        /// entry was removed before, does not count here. But it is one of the 16 notices that an
        /// operation takes, and one of the `n` of [`purge_some`](Self::purge_some).
        #[must_use]
        #[inline]
        pub fn pending_dead(&self) -> usize {
            self.store.table.pending()
        }

        /// Returns the memory that the collection has allocated. O(1), and one step more for each
        /// 80 registrations that have memory of their own: those with objects that have two
        /// entries already. Dead entries count until they are destroyed.
        ///
        /// ```
        /// use weakly::{Strong, WeakMap};
        ///
        /// let key = Strong::new("key");
        /// let mut map = WeakMap::new();
        /// assert_eq!(map.memory_usage().total(), 0);
        /// map.insert(&key, 1);
        /// assert!(map.memory_usage().table > 0);
        /// ```
        #[must_use]
        pub fn memory_usage(&self) -> $crate::statistics::MemoryUsage {
            self.store.table.memory_usage()
        }

        /// Returns the policy for the remains of dead entries.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.store.table.reclaim()
        }

        /// Sets the policy that decides when this collection destroys the remains of dead entries.
        /// The default is [`Reclaim::OnUse`](crate::Reclaim::OnUse). A clone of the collection has
        /// the same policy.
        ///
        /// Returning from [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) to `OnUse` destroys the
        /// kept remains, and reclaims entries that have died since. O(both numbers). Dead entries
        /// of `Arc` and `Rc` that no sweep has found yet are reclaimed by the next operations, as
        /// always with `OnUse`. (If a collection owns neither keys nor values, there is nothing to
        /// destroy: then the policy only affects [`pending_dead`](Self::pending_dead).)
        ///
        /// # Panics
        /// If a destructor panics. The policy then stays as it was, and the rest is still kept or
        /// pending.
        pub fn set_reclaim(&mut self, reclaim: $crate::table::Reclaim) {
            self.store.table.set_reclaim(reclaim);
        }

        /// Removes all dead entries and destroys their remains, including entries that die
        /// meanwhile, until no dead entry is left. Also destroys [kept](crate::Reclaim::OnRequest)
        /// remains. O(deaths) for `Strong` and `local::Strong`.
        ///
        /// For `Arc` and `Rc`, sweeps the table until a full sweep finds nothing. One sweep is
        /// O(capacity). If values own the next keys, each link of such a chain that lies behind the
        /// sweep position costs another sweep: a long chain costs quadratic time.
        ///
        /// The table keeps its memory; [`shrink_to_fit`](Self::shrink_to_fit) frees the memory.
        ///
        /// Returns whether another purge would find something pending, as
        /// [`poll_pending`](Self::poll_pending) says. Here, only deaths on other threads after the
        /// last look of this purge can be pending. (In a collection that threads share, a nested
        /// purge may leave more.)
        ///
        /// # Panics
        /// If a destructor panics. The next operation reclaims the remaining dead entries.
        pub fn purge(&mut self) -> bool {
            self.store.table.purge()
        }

        /// Does a part of a [`purge`](Self::purge): takes at most `n` notices, removes their
        /// entries and destroys the remains. [Kept](crate::Reclaim::OnRequest) remains are
        /// destroyed first, and count, too. Returns the number of items taken: 0 if nothing is
        /// left, or if `n` is 0. O(n), besides the destructors. Call `purge_some` once for each
        /// frame, or until it returns 0, with other work in between. Entries that die meanwhile are
        /// removed by the same call as long as `n` permits, or else by the next call.
        ///
        /// An entry whose key and value have both died has two notices. The second notice is late.
        /// Unless the late notice is the only one that is left, it is also one of the `n`: so the
        /// sum of the results may be larger than [`pending_dead`](Self::pending_dead) was.
        ///
        /// `Arc` and `Rc` send no notices: for them, each call continues the sweep for `16 * n`
        /// buckets, and at most once around the table. A result of 0 only means that these buckets
        /// have no dead entry; a pass over the table takes about `capacity() / (16 * n)` calls.
        ///
        /// # Panics
        /// If a destructor panics. The next operation reclaims the remaining dead entries.
        ///
        /// ```
        /// use weakly::{Strong, WeakMap};
        ///
        /// let objects: Vec<_> = (0..100).map(Strong::new).collect();
        /// let mut map: WeakMap<_, _> = objects.iter().map(|object| (object, "something large")).collect();
        /// drop(objects);
        /// let mut frames = 0;
        /// while map.purge_some(30) != 0 {
        ///     frames += 1; // draw the next
        /// }
        /// assert_eq!((frames, map.pending_dead()), (4, 0));
        /// ```
        pub fn purge_some(&mut self, n: usize) -> usize {
            self.store.table.purge_some(n)
        }

        /// Sets or removes the waker, which is called when [`purge`](Self::purge) has something to
        /// reclaim. For an event loop or a task that purges only when there is a reason.
        ///
        /// The first death while nothing is pending calls the waker, once. The next call comes
        /// after a `purge`, or another operation, has left nothing pending. So answer each call by
        /// a `purge`, soon, or by calls of [`purge_some`](Self::purge_some) until one returns 0. Do
        /// not stop because [`pending_dead`](Self::pending_dead) is 0: it does not count late
        /// notices, which may still be pending.
        /// The waker is called on the thread on which the object dies, under no lock, at the end of
        /// the death: the notice has come by then. (The collection may be borrowed at that moment.)
        /// If the waker panics, the panic goes to the code that dropped the last handle; all other
        /// wakers of the same death are called. (A second panic while the first unwinds aborts the
        /// process, as with every destructor in Rust.)
        ///
        /// Setting the waker does not call it, even if something is pending (so purge afterwards).
        /// Nor do [kept](crate::Reclaim::OnRequest) remains call the waker, nor `Arc` and `Rc`,
        /// which send no notices. A clone of the collection has no waker. Deaths that do not call
        /// the waker have no extra cost.
        ///
        /// Any closure can be a waker, through [`Wake`](alloc::task::Wake):
        ///
        /// ```
        /// use std::sync::{Arc, mpsc};
        /// use std::task::Wake;
        /// use weakly::{Strong, WeakMap};
        ///
        /// struct Call<F>(F);
        ///
        /// impl<F: Fn() + Send + Sync + 'static> Wake for Call<F> {
        ///     fn wake(self: Arc<Self>) {
        ///         (self.0)();
        ///     }
        /// }
        ///
        /// let (events, loop_) = mpsc::channel();
        /// let mut map = WeakMap::new();
        /// let waker = Arc::new(Call(move || _ = events.send("purge")));
        /// map.set_waker(Some(waker.into()));
        ///
        /// let (one, other) = (Strong::new(1), Strong::new(2));
        /// map.insert(&one, "one");
        /// map.insert(&other, "other");
        /// drop((one, other));
        /// assert!(loop_.try_iter().eq(["purge"])); // once
        /// map.purge();
        /// ```
        pub fn set_waker(&mut self, waker: Option<core::task::Waker>) {
            self.store.table.set_waker(waker);
        }

        /// Returns `Ready` if [`purge`](Self::purge) has something to reclaim, including
        /// [kept](crate::Reclaim::OnRequest) remains. Otherwise the task is woken when something
        /// becomes pending. The loop of a cleaning task:
        ///
        /// ```text
        /// loop {
        ///     poll_fn(|context| map.borrow_mut().poll_pending(context)).await;
        ///     map.borrow_mut().purge();
        /// }
        /// ```
        ///
        /// The poll sets the [waker](Self::set_waker), and a collection has only one waker. So if
        /// several tasks poll, only the last one is woken; and a waker that was set before is
        /// called no more. A task that stops polling leaves its waker in the collection;
        /// `set_waker(None)` removes it. A task may be woken in vain, if other operations have
        /// reclaimed the dead entries already.
        ///
        /// O(1) amortised. The first poll allocates some 100 bytes, and the first poll of another
        /// task a few; further polls of the same task allocate nothing. `Arc` and `Rc` send no
        /// notices: they wake no task, and only the kept remains of their entries can be pending.
        ///
        /// ```
        /// use std::task::{Context, Poll, Waker};
        /// use weakly::{Strong, WeakMap};
        ///
        /// let object = Strong::new("object");
        /// let mut map = WeakMap::from([(&object, "what is known about it")]);
        /// let mut context = Context::from_waker(Waker::noop());
        /// assert_eq!(map.poll_pending(&mut context), Poll::Pending); // the death will wake it
        /// drop(object);
        /// assert_eq!(map.poll_pending(&mut context), Poll::Ready(()));
        /// map.purge();
        /// assert_eq!(map.poll_pending(&mut context), Poll::Pending);
        /// ```
        pub fn poll_pending(
            &mut self,
            context: &mut core::task::Context<'_>,
        ) -> core::task::Poll<()> {
            self.store.table.poll_pending(context)
        }

        /// Removes all entries, live or dead, destroys [kept](crate::Reclaim::OnRequest) remains,
        /// and keeps the memory of the table. O(capacity). Objects in use live on, without an entry
        /// here.
        ///
        /// # Panics
        /// If the destructor of a key or value panics, after all destructors have run. Even then
        /// the collection is empty. (The same holds for dropping the collection.)
        pub fn clear(&mut self) {
            self.store.table.clear();
        }
    };
}

/// The methods that move entries, and need the hashes of the entries.
macro_rules! resizing {
    () => {
        /// Reserves room for `additional` more entries. If the table must grow, dead entries are
        /// removed first (their remains are [kept](crate::Reclaim::OnRequest) if the policy says
        /// so).
        ///
        /// # Panics
        /// If the new size exceeds the address space.
        #[track_caller]
        pub fn reserve(&mut self, additional: usize) {
            self.store.reserve(additional);
        }

        /// Reserves room for `additional` more entries. If the table must grow, dead entries are
        /// removed first.
        ///
        /// # Errors
        /// If the new size exceeds the address space, or the allocator fails. The entries are then
        /// unchanged.
        pub fn try_reserve(
            &mut self,
            additional: usize,
        ) -> Result<(), alloc::collections::TryReserveError> {
            self.store.try_reserve(additional)
        }

        /// Frees memory that is not needed, after removing dead entries as [`purge`](Self::purge)
        /// does. With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest), their remains are kept.
        /// O(capacity).
        pub fn shrink_to_fit(&mut self) {
            self.shrink_to(0);
        }

        /// Frees memory that is not needed, but keeps room for `min_capacity` entries. Otherwise
        /// like [`shrink_to_fit`](Self::shrink_to_fit). O(capacity).
        pub fn shrink_to(&mut self, min_capacity: usize) {
            self.store.shrink_to(min_capacity);
        }
    };
}

/// The methods of a map that find entries by their keys, and are the same however the key is found.
/// The arguments are the generics of a lookup, the lookup, and a value as it is returned for
/// changing.
macro_rules! lookups {
    ([$($query:tt)*], |$key:ident| $lookup:expr, $mut:ty, $(#[$example:meta])*) => {
        /// Returns whether the key has a live value. O(1). If other threads own the value, or a key
        /// that is found by content, the answer may be outdated at once: to use the value, call
        /// [`get`](Self::get).
        #[must_use]
        #[inline]
        pub fn contains_key<$($query)*>(&self, $key: &Q) -> bool {
            self.store.contains_key($lookup)
        }

        /// Returns the values of several keys, in their order; `None` for a key without a live
        /// value. An owned value comes as a mutable reference. A weak value comes as a strong
        /// handle: [`get`](Self::get) returns the same. O(N). Drains no notices, so nothing of a
        /// dead entry is destroyed.
        ///
        /// # Panics
        /// If two of the keys have the same entry, and its value is live.
        ///
        $(#[$example])*
        #[track_caller]
        pub fn get_disjoint_mut<$($query)*, const N: usize>(
            &mut self,
            keys: [&Q; N],
        ) -> [Option<$mut>; N] {
            self.store.get_disjoint_mut(keys.map(|$key| $lookup))
        }

        /// Removes a key, and returns its value if the value is live. A map by content removes the
        /// live key with this content. O(1).
        ///
        /// (In the destructor of the payload of an `Arc` or `Rc`, the object is dead already. Then
        /// the sweep at the beginning of this method may have removed the entry.)
        #[inline]
        pub fn remove<$($query)*>(&mut self, $key: &Q) -> Option<V> {
            self.store.remove($lookup)
        }

        /// Removes a key if `wanted` returns true for its live value, and returns the value.
        /// Otherwise like [`remove`](Self::remove). O(1).
        ///
        /// # Panics
        /// If `wanted` panics. The entry then stays.
        ///
        /// ```
        /// use weakly::{Strong, WeakMap};
        ///
        /// let page = Strong::new("index");
        /// let mut visits = WeakMap::from([(&page, 3)]);
        /// assert_eq!(visits.remove_if(&page, |&visits| visits < 3), None);
        /// assert_eq!(visits.remove_if(&page, |&visits| visits == 3), Some(3));
        /// assert!(visits.is_empty());
        /// ```
        pub fn remove_if<$($query)*>(
            &mut self,
            $key: &Q,
            wanted: impl FnOnce(&V) -> bool,
        ) -> Option<V> {
            self.store.remove_if($lookup, wanted)
        }
    };
}

/// The method that moves a value from one weak key to another. The arguments are the generics of a
/// lookup, the value as `insert` takes it, and, where keys are compared, a lookup of the new key
/// before the first change.
macro_rules! transferring {
    ([$($query:tt)*], |$to:ident, $value:ident| $given:expr $(; $lookup:expr)?, $(#[$more:meta])*) => {
        /// Moves the value of `from` to `to`, for an object that takes the place of another, and
        /// returns the old value of `to`. O(1) amortised, as much as [`remove`](Self::remove) and
        /// [`insert`](Self::insert) together. From now on the entry lives as long as `to`. If
        /// `from` has no live value, nothing changes, and `to` keeps its value.
        $(#[$more])*
        pub fn transfer<$($query)*>(&mut self, from: &Q, $to: &K) -> Option<V> {
            $(_ = self.store.contains_key($lookup);)?
            let $value = self.remove(from)?;
            self.insert($to, $given)
        }
    };
}

/// The methods over the values of a map, which need no strong keys.
macro_rules! values {
    () => {
        /// Iterates over the values of all live entries, in arbitrary order, without upgrading
        /// keys. Weak values come as strong handles. O(capacity).
        pub fn values(&self) -> Values<'_, K, V> {
            self.store.values()
        }

        /// Turns the map into an iterator over the values of its live entries. Values come as in
        /// [`values`](Self::values).
        pub fn into_values(self) -> IntoValues<K, V> {
            self.store.into_values()
        }

        /// Iterates over all live entries, in arbitrary order, without upgrading. Weak keys and
        /// values come as weak handles, owned keys and values by reference. Use `iter_weak` if no
        /// object may be kept alive even for a moment, or if the keys are [anchors](crate::Anchor).
        /// O(capacity).
        pub fn iter_weak(&self) -> IterWeak<'_, K, V> {
            self.store.iter_weak()
        }
    };
}

/// The methods that change values which the map owns.
macro_rules! owned_values {
    () => {
        /// Iterates over the values of all live keys, mutably, in arbitrary order, without
        /// upgrading. O(capacity).
        pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
            self.store.values_mut()
        }

        /// Keeps only the entries of live keys for whose values `keep` returns true, without
        /// upgrading. O(capacity).
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries that were not visited yet stay.
        pub fn retain_values(&mut self, keep: impl FnMut(&mut V) -> bool) {
            self.store.retain_values(keep);
        }
    };
}

/// The methods that change entries by their values, in maps with weak values.
macro_rules! weak_values {
    () => {
        /// Keeps only the live entries for whose values `keep` returns true, without upgrading
        /// keys. O(capacity).
        ///
        /// `keep` gets a strong handle to each value. If this handle is the last when the call
        /// returns, the destructor of the value runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries that were not visited yet stay.
        pub fn retain_values(&mut self, mut keep: impl FnMut(&V) -> bool) {
            self.store.retain_values(|value| keep(value));
        }

        /// Removes the live entries with this value, and returns their number. Costs as much as
        /// `keys_of`. If the value sends notices: O(n log n) for all n registrations of the value,
        /// in whatever collections, without a scan of the map. Otherwise O(capacity).
        ///
        /// # Panics
        /// If the destructor of a key that the map owns panics. Entries that were not removed yet
        /// stay.
        pub fn remove_value(&mut self, value: &V) -> usize {
            self.store.remove_value(value)
        }
    };
}

/// The keys of a value, in maps with weak values.
macro_rules! keys_of {
    ($(#[$example:meta])*) => {
        /// Iterates over the keys of the live entries with this value, in arbitrary order. Keys
        /// come as in [`keys`](Self::keys).
        ///
        /// O(n log n) for all n registrations of the value, in whatever collections: the value
        /// knows its entries, and the map is not scanned. A value that sends no notices, such as an
        /// `Arc`, does not know its entries: then O(capacity).
        ///
        $(#[$example])*
        pub fn keys_of(&self, value: &V) -> KeysOf<'_, K, V> {
            self.store.keys_of(value)
        }
    };
}

/// Iteration without upgrading, over keys only.
macro_rules! keys_weak {
    () => {
        /// Iterates over all live elements as weak handles, in arbitrary order, without upgrading.
        /// O(capacity).
        pub fn iter_weak(&self) -> IterWeak<'_, K> {
            self.store.keys_weak()
        }
    };
}

/// The methods over all entries of a map.
macro_rules! entries {
    () => {
        /// Iterates over all live entries, in arbitrary order. Weak keys and values come as strong
        /// handles. O(capacity).
        pub fn iter(&self) -> Iter<'_, K, V> {
            self.store.iter()
        }

        /// Iterates over the keys of all live entries, in arbitrary order; weak keys come as strong
        /// handles. O(capacity).
        pub fn keys(&self) -> Keys<'_, K, V> {
            self.store.keys()
        }

        /// Turns the map into an iterator over the keys of its live entries. Keys come as in
        /// [`keys`](Self::keys).
        pub fn into_keys(self) -> IntoKeys<K, V> {
            self.store.into_keys()
        }

        /// Removes all live entries, and returns them as an iterator. The map is empty and without
        /// memory at once, even if the iterator is forgotten. O(capacity).
        pub fn drain(&mut self) -> Drain<'_, K, V> {
            self.store.drain()
        }

        /// Removes a live entry, and returns it. Consecutive calls visit each bucket once: O(1)
        /// amortised over emptying the map. A call visits each bucket at most once; later calls
        /// skip stretches of a large map that have no entry.
        pub fn pop(&mut self) -> Option<(K, V)> {
            self.store.pop()
        }
    };
}

/// The methods that show owned values with their keys, and may change the values.
macro_rules! owned_entries {
    () => {
        /// Iterates over all live entries, with keys as strong handles and mutable values, in
        /// arbitrary order. O(capacity).
        pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
            self.store.iter_mut()
        }

        /// Keeps only the live entries for which `keep` returns true. Entries of dead keys are not
        /// shown. O(capacity).
        ///
        /// `keep` gets a strong handle to each key. If this handle is the last when the call
        /// returns, the destructor of the key runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries that were not visited yet stay.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Returns an iterator that removes and returns the live entries for which `take` returns
        /// true, one at a time. If the iterator is dropped early, the remaining entries stay.
        /// O(capacity). Otherwise like [`retain`](Self::retain).
        pub fn extract_if<F>(&mut self, take: F) -> ExtractIf<'_, K, V, F>
        where
            F: FnMut(&K, &mut V) -> bool,
        {
            self.store.extract_if(take)
        }
    };
}

/// The methods over entries, in maps with weak values.
macro_rules! weak_entries {
    () => {
        /// Keeps only the live entries for which `keep` returns true. Dead entries are not shown.
        /// O(capacity).
        ///
        /// `keep` gets strong handles. If a handle is the last when the call returns, the
        /// destructor of its object runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries that were not visited yet stay.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Returns an iterator that removes and returns the live entries for which `take` returns
        /// true, one at a time. If the iterator is dropped early, the remaining entries stay.
        /// O(capacity). Otherwise like [`retain`](Self::retain).
        pub fn extract_if<F>(
            &mut self,
            mut take: F,
        ) -> ExtractIf<'_, K, V, impl FnMut(&K, &mut V) -> bool>
        where
            F: FnMut(&K, &V) -> bool,
        {
            self.store.extract_if(move |key, value| take(key, value))
        }
    };
}

/// The methods that set the value of a key without one, in maps with weak keys and owned values.
macro_rules! filling {
    () => {
        /// Sets the value of a key that has no value. O(1) amortised.
        ///
        /// # Errors
        /// If the key has a value. (In a map by content: if a live key of equal content has a
        /// value.) The error contains the entry and the new value.
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

        /// Returns the value of a key. Inserts `value` first if the key has no value. O(1)
        /// amortised.
        pub fn get_or_insert(&mut self, key: &K, value: V) -> &mut V {
            self.entry(key).or_insert(value)
        }
    };
}

/// The same, if the value is computed, and may refer to its key.
macro_rules! making {
    () => {
        /// Returns the value of a key. If the key has no value, inserts the result of `make` first.
        /// O(1) amortised, with one lookup. `make` gets the key as a weak handle, so that the value
        /// can refer to its key without keeping the key alive.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> &mut V {
            self.entry(key).or_insert_with_key(make)
        }

        /// Returns the value of a key. If the key has no value, inserts the result of `make` first.
        /// O(1) amortised, with one lookup.
        ///
        /// # Errors
        /// The error of `make`. The map is then unchanged.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        pub fn try_get_or_insert_with<E>(
            &mut self,
            key: &K,
            make: impl FnOnce(&K::Weak) -> Result<V, E>,
        ) -> Result<&mut V, E> {
            self.entry(key).or_try_insert_with_key(make)
        }
    };
}

pub(crate) use {
    entries, filling, housekeeping, keys_of, keys_weak, lookups, making, owned_entries,
    owned_values, resizing, transferring, values, weak_entries, weak_values,
};
