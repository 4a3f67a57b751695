//! The methods that several collections have, word for word. These are macros, since they are
//! inherent methods; each body is one call of [`Store`](crate::collections::store::Store).

/// The methods about size and memory. An entry is dead when its weak key or its weak value is.
macro_rules! housekeeping {
    () => {
        /// Returns how many entries fit without growing, including those that are stored now.
        #[must_use]
        #[inline]
        pub fn capacity(&self) -> usize {
            self.store.table.capacity()
        }

        /// Returns the number of entries. O(1) amortised, since each pending notice is counted
        /// once. But it is O(pending notices) while a notice is pending whose entry was removed
        /// before it came, or while notices of both keys and values are pending.
        ///
        /// For `Strong` and `local::Strong` the number is exact: dead entries do not count, and an
        /// entry whose key and value have both died counts once. (A key by identity still counts
        /// inside its own destructor, since a reference to it still finds its entry.) For `Arc` and
        /// `Rc` it is an upper bound: the dead count until a sweep finds them.
        #[must_use]
        #[inline]
        pub fn len(&self) -> usize {
            self.store.table.len()
        }

        /// Returns whether [`len`](Self::len) is zero. For `Arc` and `Rc` this can be false
        /// although all entries are dead. Use [`len_live`](Self::len_live), or
        /// [`purge`](Self::purge) first.
        ///
        /// Costs as much as [`len`](Self::len), but where that would count notices, this looks for
        /// a live entry instead, and stops at the first: O(capacity) if there is none.
        #[must_use]
        #[inline]
        pub fn is_empty(&self) -> bool {
            self.store.table.is_empty()
        }

        /// Returns the number of live entries, by checking each. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.store.len_live()
        }

        /// Returns the number of dead entries with a pending notice, plus those that have been
        /// removed but whose contents are kept until [asked for](crate::Reclaim::OnRequest). Costs
        /// as much as [`len`](Self::len). `Arc` and `Rc` send no notices: for them only the latter
        /// count.
        ///
        /// An entry counts once, though both its sides have died. The notice that comes late, when
        /// its entry has gone, does not count here, but is one of the 16 that an operation takes,
        /// and of the `n` of [`purge_some`](Self::purge_some).
        #[must_use]
        #[inline]
        pub fn pending_dead(&self) -> usize {
            self.store.table.pending()
        }

        /// Returns when this collection destroys what its dead entries own.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.store.table.reclaim()
        }

        /// Sets when this collection destroys what its dead entries own. The default is
        /// [`Reclaim::OnUse`](crate::Reclaim::OnUse). A clone of the collection has the same
        /// policy.
        ///
        /// Going back from [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) destroys what has been
        /// kept, and what the entries own that have died since: O(both). Dead entries of `Arc` and
        /// `Rc` that no sweep has found yet are destroyed by the next operations, as with `OnUse`
        /// always. (A collection that owns nothing has nothing to destroy: there the policy only
        /// affects [`pending_dead`](Self::pending_dead).)
        ///
        /// # Panics
        /// If a destructor panics. The policy then stays as it was, and the rest is kept, or still
        /// to be found.
        pub fn set_reclaim(&mut self, reclaim: $crate::table::Reclaim) {
            self.store.table.set_reclaim(reclaim);
        }

        /// Removes all dead entries and destroys what they own, then the entries that die of that,
        /// until none is left. Also destroys what is [kept](crate::Reclaim::OnRequest) of dead
        /// entries. O(deaths) for `Strong` and `local::Strong`.
        ///
        /// For `Arc` and `Rc` it sweeps the table until a full sweep finds nothing. One sweep is
        /// O(capacity). But where values own the next keys, each link that lies behind the sweep
        /// position costs another sweep, which is quadratic for a long chain.
        ///
        /// The table keeps its memory; [`shrink_to_fit`](Self::shrink_to_fit) frees it.
        ///
        /// Returns whether something is pending that another purge would destroy, as
        /// [`poll_pending`](Self::poll_pending) says: here, only objects that have died on other
        /// threads after the last look of this purge. (In a collection that threads share, a nested
        /// purge may leave more.)
        ///
        /// # Panics
        /// If a destructor panics. The next operation reclaims the rest of the dead.
        pub fn purge(&mut self) -> bool {
            self.store.table.purge()
        }

        /// Does a part of a [`purge`](Self::purge): takes at most `n` notices, removes their
        /// entries and destroys what these own; what is [kept](crate::Reclaim::OnRequest) of dead
        /// entries goes first, and counts, too. Returns how many it has taken: 0 if there is
        /// nothing left, or `n` is 0. O(n), besides the destructors. Call it once a frame, or until
        /// it returns 0, with other work in between. Entries that die of that are removed by the
        /// same call, if it has not had `n` yet, or by the next.
        ///
        /// An entry whose key and value have both died has two notices. The second comes late, and
        /// is one of the `n` as well: so this may return more than
        /// [`pending_dead`](Self::pending_dead) was.
        ///
        /// `Arc` and `Rc` send no notices: for them it sweeps on, over `16 * n` buckets, and at
        /// most once around the table. There 0 only means that these have no dead entry; a pass
        /// over the table takes about `capacity() / (16 * n)` such calls.
        ///
        /// # Panics
        /// If a destructor panics. The next operation reclaims the rest of the dead.
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

        /// Sets the waker, or removes it: it is called when something becomes pending that
        /// [`purge`](Self::purge) would reclaim. For an event loop or a task that purges when there
        /// is a reason to.
        ///
        /// The first death after nothing was pending calls it, once; the next call comes after a
        /// `purge`, or another operation, has left nothing pending. So answer each call by a
        /// `purge`, soon, or by calls of [`purge_some`](Self::purge_some) until one returns 0,
        /// whatever [`pending_dead`](Self::pending_dead) says: late notices, which are not counted
        /// there, may be left to the next operation. It is called on the thread on which the object
        /// dies, under no lock, at the end of the death: the notice has come by then. (The
        /// collection may be borrowed at that moment.) If it panics, the panic goes to whoever
        /// dropped the last handle; all others of that death are called. (A second panic while the
        /// first unwinds aborts the process, as with every destructor in Rust.)
        ///
        /// It is not called for what is pending when it is set (so purge after that), nor for what
        /// is [kept](crate::Reclaim::OnRequest), nor for `Arc` and `Rc`, which send no notices. A
        /// clone of the collection has none. Deaths that do not call it cost nothing more.
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

        /// Returns `Ready` if something is pending that [`purge`](Self::purge) would reclaim, what
        /// is [kept](crate::Reclaim::OnRequest) included. Otherwise the task is woken when
        /// something becomes pending. So a task that cleans up is
        ///
        /// ```text
        /// loop {
        ///     poll_fn(|context| map.borrow_mut().poll_pending(context)).await;
        ///     map.borrow_mut().purge();
        /// }
        /// ```
        ///
        /// It sets the [waker](Self::set_waker), of which the collection has one: of several tasks,
        /// the last to poll is woken, and a waker that was set is called no more. A task that gives
        /// up leaves its waker here; `set_waker(None)` takes it out. It may be woken for nothing,
        /// if other operations have reclaimed what was pending.
        ///
        /// O(1) amortised. The first poll allocates some 100 bytes, another task's a few; polls of
        /// the same task allocate nothing. `Arc` and `Rc` send no notices: they wake no task, and
        /// what is kept of their entries is all that can be pending.
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

        /// Removes all entries, live or dead, and what is [kept](crate::Reclaim::OnRequest) of
        /// those that have died, and keeps the table's memory. O(capacity).
        ///
        /// # Panics
        /// If a destructor of what the entries own panics, after all of them have run. The
        /// collection is then empty as well. (The same holds for dropping the collection.)
        pub fn clear(&mut self) {
            self.store.table.clear();
        }
    };
}

/// The methods that move entries, for which their hashes have to be known.
macro_rules! resizing {
    () => {
        /// Reserves room for `additional` more entries. If the table has to grow, the dead are
        /// removed first (what they own is [kept](crate::Reclaim::OnRequest) if the policy says
        /// so).
        ///
        /// # Panics
        /// If the new size exceeds the address space.
        #[track_caller]
        pub fn reserve(&mut self, additional: usize) {
            self.store.reserve(additional);
        }

        /// Reserves room for `additional` more entries. If the table has to grow, the dead are
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

        /// Frees memory that is not needed, after removing the dead as [`purge`](Self::purge) does,
        /// or, where what the dead own is [kept](crate::Reclaim::OnRequest), after unlinking their
        /// entries. O(capacity).
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

/// The methods over the values of a map, which need no strong keys.
macro_rules! values {
    () => {
        /// Iterates over the values of all live entries, in arbitrary order, without upgrading
        /// keys. Values that the map refers to weakly come as strong handles. O(capacity).
        pub fn values(&self) -> Values<'_, K, V> {
            self.store.values()
        }

        /// Turns the map into an iterator over the values of its live entries, as
        /// [`values`](Self::values) shows them.
        pub fn into_values(self) -> IntoValues<K, V> {
            self.store.into_values()
        }

        /// Iterates over all live entries, in arbitrary order, without upgrading: what the map
        /// refers to weakly comes as weak handles, what it owns by reference. Use it where not even
        /// for a moment an object may be kept alive, and where keys are [anchors](crate::Anchor).
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

        /// Keeps only the entries of live keys whose value `keep` returns true for, without
        /// upgrading. O(capacity).
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries not visited yet stay.
        pub fn retain_values(&mut self, keep: impl FnMut(&mut V) -> bool) {
            self.store.retain_values(keep);
        }
    };
}

/// The same, where the map refers to values weakly.
macro_rules! weak_values {
    () => {
        /// Keeps only the live entries whose value `keep` returns true for, without upgrading keys.
        /// O(capacity).
        ///
        /// `keep` gets a strong handle to each value. If that is the last one when the call
        /// returns, the value's destructor runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries not visited yet stay.
        pub fn retain_values(&mut self, mut keep: impl FnMut(&V) -> bool) {
            self.store.retain_values(|value| keep(value));
        }

        /// Removes the live entries with this value, and returns how many there were. Costs as much
        /// as `keys_of`: of a value that notifies O(n log n) for all n registrations of it, in
        /// whatever collections, and no scan of the map; of others O(capacity).
        ///
        /// # Panics
        /// If the destructor of a key that the map owns panics. Entries that were not removed yet
        /// stay.
        pub fn remove_value(&mut self, value: &V) -> usize {
            self.store.remove_value(value)
        }
    };
}

/// The keys of a value, where the map refers to values weakly.
macro_rules! keys_of {
    ($(#[$example:meta])*) => {
        /// Iterates over the keys of the live entries with this value, in arbitrary order, as
        /// [`keys`](Self::keys) shows them.
        ///
        /// O(n log n) for all n registrations of the value, in whatever collections: it knows where
        /// it is, and the map is not scanned. Only a value that does not notify, such as an `Arc`,
        /// knows nothing: then O(capacity).
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
        /// Iterates over all live entries, in arbitrary order. What the map refers to weakly comes
        /// as strong handles. O(capacity).
        pub fn iter(&self) -> Iter<'_, K, V> {
            self.store.iter()
        }

        /// Iterates over the keys of all live entries, in arbitrary order; weak keys come as strong
        /// handles. O(capacity).
        pub fn keys(&self) -> Keys<'_, K, V> {
            self.store.keys()
        }

        /// Turns the map into an iterator over the keys of its live entries, as
        /// [`keys`](Self::keys) shows them.
        pub fn into_keys(self) -> IntoKeys<K, V> {
            self.store.into_keys()
        }

        /// Removes all live entries, and returns them as an iterator. The map is empty and without
        /// memory at once, even if the iterator is forgotten. O(capacity).
        pub fn drain(&mut self) -> Drain<'_, K, V> {
            self.store.drain()
        }

        /// Removes some live entry, and returns it. Consecutive calls visit each bucket once: O(1)
        /// amortised over emptying the map. A call looks at most at each bucket; where a large map
        /// has none, later calls pass by.
        pub fn pop(&mut self) -> Option<(K, V)> {
            self.store.pop()
        }
    };
}

/// The methods that show owned values with their keys, and may change them.
macro_rules! owned_entries {
    () => {
        /// Iterates over all live entries, keys as strong handles and values mutable, in arbitrary
        /// order. O(capacity).
        pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
            self.store.iter_mut()
        }

        /// Keeps only the live entries for which `keep` returns true. Entries of dead keys are not
        /// shown. O(capacity).
        ///
        /// `keep` gets a strong handle to each key. If that is the last one when the call returns,
        /// the key's destructor runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries not visited yet stay.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Returns an iterator that removes and returns the live entries for which `take` returns
        /// true, one at a time. Entries that it has not reached stay. O(capacity). Otherwise like
        /// [`retain`](Self::retain).
        pub fn extract_if<F>(&mut self, take: F) -> ExtractIf<'_, K, V, F>
        where
            F: FnMut(&K, &mut V) -> bool,
        {
            self.store.extract_if(take)
        }
    };
}

/// The same, where the map refers to values weakly.
macro_rules! weak_entries {
    () => {
        /// Keeps only the live entries for which `keep` returns true. Dead entries are not shown.
        /// O(capacity).
        ///
        /// `keep` gets strong handles. If one is the last when the call returns, its object's
        /// destructor runs here.
        ///
        /// # Panics
        /// If `keep` or a destructor panics. Entries not visited yet stay.
        pub fn retain(&mut self, mut keep: impl FnMut(&K, &V) -> bool) {
            self.extract_if(|key, value| !keep(key, value))
                .for_each(drop);
        }

        /// Returns an iterator that removes and returns the live entries for which `take` returns
        /// true, one at a time. Entries that it has not reached stay. O(capacity). Otherwise like
        /// [`retain`](Self::retain).
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

/// How a map with weak keys and owned values sets the value of a key that has none.
macro_rules! filling {
    () => {
        /// Sets the value of a key that has none. O(1) amortised.
        ///
        /// # Errors
        /// If the same key, or one of equal content in a map by content, is live and has a value.
        /// The error contains its entry and the new value.
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

        /// Returns the value of a key, after inserting `value` if it has none. O(1) amortised.
        pub fn get_or_insert(&mut self, key: &K, value: V) -> &mut V {
            self.entry(key).or_insert(value)
        }
    };
}

/// The same, where the value is computed, and may refer to its key.
macro_rules! making {
    () => {
        /// Returns the value of a key, after inserting what `make` returns if it has none. O(1)
        /// amortised, one lookup. `make` gets the key as a weak handle, so that a value can refer
        /// to its key without keeping it alive.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> &mut V {
            self.entry(key).or_insert_with_key(make)
        }

        /// Returns the value of a key, after inserting what `make` returns if it has none. O(1)
        /// amortised, one lookup.
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
    entries, filling, housekeeping, keys_of, keys_weak, making, owned_entries, owned_values,
    resizing, values, weak_entries, weak_values,
};
