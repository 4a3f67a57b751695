//! Methods and trait impls that shared collections have in common. Each body is one call.

/// The methods about size and dead entries. `$entries` is a field of the collection: each method
/// calls the field's method of the same name.
macro_rules! shared_housekeeping {
    ($entries:ident) => {
        /// Returns the number of entries. O(threads).
        ///
        /// Exact while no thread changes the collection. Entries whose object has died, and values
        /// that are still being made, do not count. An object has died when its destructor has
        /// ended: inside the destructor of its key or value, an entry still counts. For `Arc` the
        /// number is an upper bound: dead entries count until a sweep finds them.
        #[must_use]
        pub fn len(&self) -> usize {
            self.$entries.len()
        }

        /// Returns whether [`len`](Self::len) is zero.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Returns the number of live entries, by checking each entry. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.$entries.len_live()
        }

        /// Returns the number of removed entries that are not destroyed yet. The number includes
        /// entries unlinked by a death, which wait for the next operation to destroy them; entries
        /// that wait for threads
        /// [inside](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) the
        /// collection, after a death, a removal or a replacement; entries gathered by threads,
        /// which [wait](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) until
        /// there are 16 for each thread that has used the collection, if eight threads have; and
        /// entries with remains kept until they are [asked
        /// for](crate::Reclaim::OnRequest). O(threads).
        #[must_use]
        pub fn pending_dead(&self) -> usize {
            self.$entries.pending_dead()
        }

        /// Returns the memory that the collection has allocated. O(capacity). Beside threads that
        /// use the collection, the result is no picture of a single moment. Each thread may keep up
        /// to a KiB for further entries, which does not count.
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakMap};
        ///
        /// let (map, key) = (WeakMap::new(), Strong::new("key"));
        /// assert_eq!(map.memory_usage().total(), 0);
        /// map.insert(&key, 1);
        /// assert_eq!(map.memory_usage().entries, 40);
        /// ```
        #[must_use]
        pub fn memory_usage(&self) -> $crate::statistics::MemoryUsage {
            self.$entries.memory_usage()
        }

        /// Sets the name of the collection in the [list of all
        /// collections](crate::concurrent::collections). O(1).
        #[cfg(feature = "holders")]
        pub fn set_name(&self, name: &str) {
            self.$entries.set_name(name);
        }

        /// Returns the policy for the remains of dead entries.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.$entries.reclaim()
        }

        /// Sets the policy that decides when this collection destroys the remains of dead entries:
        /// their values and keys. The default is [`Reclaim::OnUse`](crate::Reclaim::OnUse).
        ///
        /// With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) the remains are kept until
        /// [`purge`](Self::purge), [`purge_some`](Self::purge_some), [`clear`](Self::clear), or the
        /// drop of the collection. If other threads are looking at an entry when the entry is
        /// unlinked, its remains are kept when the last of these threads leaves; a `purge` before
        /// that misses the entry. [`pending_dead`](Self::pending_dead) counts both. Returning to
        /// `OnUse` destroys the kept remains, and the remains of entries that have died since:
        /// O(both). Dead entries of `Arc` that no sweep has found yet are destroyed by later
        /// operations, as always with `OnUse`. Entries that die while another thread changes the
        /// policy may be treated either way. If the entries of a collection own nothing, there is
        /// nothing to destroy.
        ///
        /// # Panics
        /// If a destructor panics, after all destructors have run.
        pub fn set_reclaim(&self, reclaim: $crate::table::Reclaim) {
            self.$entries.set_reclaim(reclaim);
        }

        /// Destroys the entries that are dead now with their remains, then the entries that die
        /// because of that, and so on. Other threads may kill entries all the time: the purge
        /// leaves most of these entries, and ends. O(deaths) for `Strong`. For `Arc` the
        /// purge looks at all entries: O(capacity). If the purge has destroyed entries of `Arc`, it
        /// looks once more, and twice more for each generation of entries that die because of that;
        /// what other threads have killed since waits for a sweep or the next purge.
        /// [Kept](crate::Reclaim::OnRequest) remains are destroyed, too. An entry at which a thread
        /// is looking, this thread or another, is destroyed when the thread leaves, however long
        /// that takes; if the thread misses the entry, the next operation destroys it.
        /// [`pending_dead`](Self::pending_dead) counts the entry until then. Entries gathered by
        /// threads are destroyed, too, once for each thread: entries that other threads remove
        /// meanwhile may be left.
        ///
        /// The purge waits only for deaths that are unlinking an entry at this moment.
        ///
        /// Returns whether another purge would destroy something pending, as
        /// [`poll_pending`](Self::poll_pending) says: other threads may have killed or removed
        /// entries meanwhile. Also, at most 16 purges of this collection nest on a thread, in
        /// destructors that purges run, because the stack is finite. A purge nested deeper destroys
        /// nothing, and the outer purges destroy its entries: a destructor that waited for these
        /// entries would wait for ever. Purges of other collections do not count: in their
        /// destructors, a purge takes all dead entries of its own collection. For `Arc`, whose
        /// deaths only a sweep finds, a purge also returns true if it was not allowed to sweep, or
        /// has seen that other threads kill entries; no purge knows of entries that other threads
        /// have killed behind its sweep.
        ///
        /// # Panics
        /// If a destructor panics, after all destructors have run.
        pub fn purge(&self) -> bool {
            self.$entries.purge()
        }

        /// Does a part of a [`purge`](Self::purge): destroys at most `n` dead entries with their
        /// remains. [Kept](crate::Reclaim::OnRequest) remains are destroyed first, and count, too.
        /// Returns the number of destroyed entries: 0 if nothing is left, or if `n` is 0. O(n)
        /// amortised, besides the destructors. Call `purge_some` once in a while, or until it
        /// returns 0, with other work in between. Entries that die meanwhile are destroyed by the
        /// same call as long as `n` permits, or else by the next call.
        ///
        /// `Arc` does not notify: for `Arc`, each call continues the sweep as far as `n` insertions
        /// would, and at most once around the table. A result of 0 then only means that the sweep
        /// has found no dead entry on its way.
        ///
        /// An entry at which a thread is looking counts, and is destroyed when the thread leaves.
        /// On request, its remains are kept then, and count once more when they are destroyed. Like
        /// a `purge`, the call waits only for deaths that are unlinking an entry at this moment.
        /// Nested in 16 purges of this collection on this thread, the call does nothing, and
        /// returns 0.
        ///
        /// # Panics
        /// If a destructor panics, after the destructors of all these entries have run.
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakMap};
        ///
        /// let objects: Vec<_> = (0..100).map(Strong::new).collect();
        /// let map: WeakMap<_, _> = objects.iter().map(|object| (object, "something large")).collect();
        /// drop(objects);
        /// let mut turns = 0;
        /// while map.purge_some(30) != 0 {
        ///     turns += 1; // handle the next event
        /// }
        /// assert_eq!((turns, map.pending_dead()), (4, 0));
        /// ```
        pub fn purge_some(&self, n: usize) -> usize {
            self.$entries.purge_some(n)
        }

        /// Sets or removes the waker, which is called when [`purge`](Self::purge) has something to
        /// reclaim. For an event loop, a thread or a task that purges only when there is a reason.
        ///
        /// The first death while nothing is pending calls the waker, once. The next call comes
        /// after a `purge`, or other operations, have left nothing pending. So answer each call by
        /// a `purge`, soon, or by calls of [`purge_some`](Self::purge_some) until one returns 0,
        /// whatever [`pending_dead`](Self::pending_dead) says. The waker is called on the thread on
        /// which the object dies, under no lock, at the end of the death: the entries are unlinked
        /// by then, and the waker may purge. A result of a [`Memo`](crate::Memo) may also end with
        /// a result from which it was computed: then the operation that ends the latter result
        /// calls the waker, on its own thread. But if values own keys of further collections, whose
        /// wakers also purge, the calls nest on the stack, one for each collection: there let the
        /// waker wake a thread or a task that purges later. If the waker panics, the panic goes to
        /// the code that dropped the last handle, or called the operation; all other wakers of the
        /// same death are called. A second panic while the first unwinds aborts the process, as
        /// with every destructor in Rust. A replaced waker may still be called by a death that has
        /// already begun.
        ///
        /// In a collection that has had a waker, threads
        /// [gather](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) nothing:
        /// each change that removes an entry looks at all threads. So no removed entry waits where
        /// it wakes nobody.
        ///
        /// On request, remains call the waker, too, when they are [kept](crate::Reclaim::OnRequest)
        /// and none were kept before: a thread that looks at a dead entry may leave long after the
        /// death. A purge that takes the remains out itself calls nobody for them.
        ///
        /// Setting the waker does not call it, even if something is pending: purge once afterwards.
        /// The death of an `Arc`, which does not notify, does not call the waker. Deaths that do
        /// not call the waker have no extra cost. The first waker allocates some 100 bytes, and in
        /// a collection that has never had an entry also the KiB that the first entry would
        /// allocate.
        ///
        /// A closure becomes a waker as in [`WeakMap::set_waker`](crate::WeakMap::set_waker).
        ///
        /// ```
        /// use std::sync::Arc;
        /// use std::task::Wake;
        /// use std::thread::{self, Thread};
        /// use weakly::{Strong, concurrent::WeakMap};
        ///
        /// struct Unpark(Thread);
        ///
        /// impl Wake for Unpark {
        ///     fn wake(self: Arc<Self>) {
        ///         self.0.unpark();
        ///     }
        /// }
        ///
        /// let map = WeakMap::new();
        /// map.set_waker(Some(Arc::new(Unpark(thread::current())).into()));
        /// let object = Strong::new("object");
        /// map.insert(&object, "what is known about it");
        /// thread::scope(|scope| {
        ///     scope.spawn(|| drop(object));
        ///     thread::park();
        ///     map.purge();
        /// });
        /// ```
        pub fn set_waker(&self, waker: Option<core::task::Waker>) {
            self.$entries.set_waker(waker);
        }

        /// Returns `Ready` if [`purge`](Self::purge) has something to destroy, including
        /// [kept](crate::Reclaim::OnRequest) remains. Otherwise the task is woken when something
        /// becomes pending. So the loop of a task that cleans up is:
        ///
        /// ```text
        /// loop {
        ///     poll_fn(|context| map.poll_pending(context)).await;
        ///     map.purge();
        /// }
        /// ```
        ///
        /// Entries that wait for threads inside the collection are not pending, though
        /// [`pending_dead`](Self::pending_dead) counts them: no purge can destroy them. If the
        /// remains of an entry are kept when the last of these threads leaves, this wakes the task.
        /// Other kept remains wake the task, too.
        ///
        /// Entries [gathered](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed)
        /// by threads are pending.
        ///
        /// The poll sets the [waker](Self::set_waker), and a collection has only one waker. So if
        /// several tasks poll, only the last task is woken; and a waker that was set before is
        /// called no more. A task that stops polling leaves its waker in the collection;
        /// `set_waker(None)` removes the waker. A task may be woken in vain, if other operations
        /// have destroyed the pending entries already. Like a purge, the poll waits only for deaths
        /// that are unlinking an entry at this moment.
        ///
        /// O(threads). The first poll allocates some 100 bytes, and in a collection that has never
        /// had an entry also the KiB that the first entry would allocate. The first poll of another
        /// task allocates a few bytes, further polls of the same task nothing. `Arc` does not
        /// notify: only the kept remains of its entries wake a task.
        ///
        /// ```
        /// use std::task::{Context, Poll, Waker};
        /// use weakly::{Strong, concurrent::WeakMap};
        ///
        /// let (map, object) = (WeakMap::new(), Strong::new("object"));
        /// map.insert(&object, "what is known about it");
        /// let mut context = Context::from_waker(Waker::noop());
        /// assert_eq!(map.poll_pending(&mut context), Poll::Pending); // the death will wake it
        /// drop(object);
        /// assert_eq!(map.poll_pending(&mut context), Poll::Ready(()));
        /// map.purge();
        /// assert_eq!(map.poll_pending(&mut context), Poll::Pending);
        /// ```
        pub fn poll_pending(&self, context: &mut core::task::Context<'_>) -> core::task::Poll<()> {
            self.$entries.poll_pending(context)
        }

        /// Frees memory that is not needed, after unlinking the dead entries as
        /// [`purge`](Self::purge) does; their [kept](crate::Reclaim::OnRequest) remains stay.
        /// O(capacity).
        ///
        /// Other threads may use the collection meanwhile, and help; a thread waits only at a
        /// bucket, for a few instructions. If the table has to grow, or another thread shrinks the
        /// table at this moment, the table may stay larger than necessary. The memory itself is
        /// freed when no thread looks at it any more. The memory taken by waiting or kept entries
        /// is freed with these entries; two cache lines for each thread stay.
        ///
        /// # Panics
        /// If a destructor panics.
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakSet};
        ///
        /// let seen = WeakSet::with_capacity(10_000);
        /// let object = Strong::new(1);
        /// seen.insert(&object);
        /// seen.shrink_to_fit();
        /// assert!(seen.contains(&object));
        /// ```
        pub fn shrink_to_fit(&self) {
            self.$entries.shrink_to_fit();
        }

        /// Removes all entries, dead or alive, and destroys the [kept](crate::Reclaim::OnRequest)
        /// remains of removed entries. O(capacity). Objects in use live on, without an entry here.
        ///
        /// Entries that other threads insert meanwhile may stay or go, also several entries of one
        /// key. A value that is being made meanwhile is not kept: only the making caller gets the
        /// value, and one of the waiting threads makes the value anew.
        ///
        /// # Panics
        /// If a destructor panics, after all destructors have run.
        pub fn clear(&self) {
            self.$entries.clear();
        }
    };
}

/// The constructors and common methods of a collection without a hasher.
macro_rules! without_hasher {
    ($(#[$example:meta])* [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $name {
            $crate::sync::const_fn! {
                /// Creates an empty collection, also for a `static`. Allocates nothing.
                $(#[$example])*
                #[must_use]
                pub fn new() -> Self {
                    Self { table: $crate::concurrent::table::Table::new(core::any::type_name::<Self>) }
                }
            }

            /// Creates an empty collection with room for `capacity` entries.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity(capacity: usize) -> Self {
                Self { table: $crate::concurrent::table::Table::new(core::any::type_name::<Self>).with_room_for(capacity) }
            }

            $crate::concurrent::common::shared_housekeeping!(table);
        }

        impl<$($generics)*> Default for $name {
            fn default() -> Self {
                Self::new()
            }
        }
    };
}

/// The constructors and common methods of a collection with a hasher.
macro_rules! with_hasher {
    ($(#[$example:meta])* [$($generics:tt)*] $name:ident<$($parameter:ident),*>) => {
        impl<$($generics)*> $name<$($parameter),*> {
            /// Creates an empty collection. Allocates nothing.
            ///
            /// Not `const`: each collection has its own seeds. For a `static`, pass
            /// [`with_hasher`](Self::with_hasher) a hasher that is made at compile time, or make
            /// the collection on first use with [`LazyLock`](std::sync::LazyLock).
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Creates an empty collection with room for `capacity` entries.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity(capacity: usize) -> Self {
                Self::with_capacity_and_hasher(capacity, Default::default())
            }
        }

        impl<$($generics)*, S> $name<$($parameter),*, S> {
            $crate::sync::const_fn! {
                /// Creates an empty collection with this hasher; for a `static` too, if the hasher
                /// is made at compile time. Allocates nothing.
                ///
                $(#[$example])*
                #[must_use]
                pub fn with_hasher(hasher: S) -> Self {
                    Self { table: $crate::concurrent::table::Table::new(core::any::type_name::<Self>), hasher }
                }
            }

            /// Creates an empty collection with this hasher and room for `capacity` entries.
            ///
            /// # Panics
            /// If the size exceeds the address space.
            #[must_use]
            #[track_caller]
            pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
                Self { table: $crate::concurrent::table::Table::new(core::any::type_name::<Self>).with_room_for(capacity), hasher }
            }

            /// Returns a reference to the hasher.
            #[must_use]
            pub fn hasher(&self) -> &S {
                &self.hasher
            }

            $crate::concurrent::common::shared_housekeeping!(table);
        }

        impl<$($generics)*, S: Default> Default for $name<$($parameter),*, S> {
            fn default() -> Self {
                Self::with_hasher(S::default())
            }
        }
    };
}

/// The method that returns the counts.
macro_rules! counting {
    () => {
        /// Returns the counts of calls, computations and entries so far:
        /// [`Statistics`](crate::Statistics) says which calls count. O(threads).
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakValueMap, keep::Limit};
        ///
        /// let tenants = WeakValueMap::new();
        /// tenants.set_keep_alive(Limit::entries(1), |_| 1);
        /// for name in ["one", "one", "other"] {
        ///     tenants.get_or_insert_with(name, |name| Strong::new(name.len()));
        /// }
        /// assert!(tenants.get("one").is_none());
        /// assert_eq!(
        ///     tenants.statistics().to_string(),
        ///     "1 hits, 2 misses, 2 loads, 0 failures, 1 evicted, 0 invalidated, 1 live, weight 1",
        /// );
        /// ```
        #[must_use]
        pub fn statistics(&self) -> $crate::statistics::Statistics {
            self.table.statistics()
        }
    };
}

/// The method that returns what dead entries own.
macro_rules! taking {
    ($entries:ident, $item:ty, |$left:pat_param| $get:expr, $owned:literal; $(#[$example:meta])*) => {
        #[doc = $owned]
        ///
        /// For a collection whose destructors must not run while the caller holds a lock: set
        /// [`Reclaim::OnRequest`](crate::Reclaim::OnRequest), so that the collection keeps what
        /// dead entries own; take it under the lock, and drop it after the lock. By default,
        /// operations destroy what dead entries own, and this method returns what they have left.
        ///
        /// Returns fewer than `n` items only if no more are there. So a loop that takes all ends
        /// with an empty answer, whatever [`pending_dead`](Self::pending_dead) says: that number
        /// has entries that cannot be taken yet. The remains of an entry at which another thread
        /// looks come when the thread has left; then the thread calls the
        /// [waker](Self::set_waker). By default, the thread that leaves destroys them. Without a
        /// waker, threads may have
        /// [gathered](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) dead
        /// entries, which come after a later operation; by default they are destroyed then. `Arc`
        /// does not notify: for it, this method sweeps on, as [`purge_some`](Self::purge_some)
        /// does. Values that were removed or replaced are not returned. This method, like any
        /// operation, may destroy such a value if
        /// another thread was looking at the value. O(n) amortised.
        ///
        /// # Panics
        /// If a listener or the destructor of a weak handle panics. Then nothing is taken out.
        ///
        $(#[$example])*
        #[must_use = "what is taken is destroyed when it is dropped"]
        pub fn take_dead(&self, n: usize) -> std::vec::Vec<$item> {
            self.$entries.take_kept(n).into_iter().map(|$left| $get).collect()
        }
    };
}

/// The methods over all entries of a map with weak keys and owned values.
macro_rules! owned_values {
    () => {
        /// Keeps the entries for which the closure returns true. O(capacity). The closure may miss
        /// entries that other threads insert meanwhile. The closure does not see a value that is
        /// [being made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
        ///
        /// Each key is kept alive while the closure sees the key; if no other strong handle is left
        /// afterwards, the object dies during the call.
        pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool)
        where
            K: SharedRef,
        {
            self.table
                .retain(|_, watch, value| watch.upgrade().is_none_or(|key| keep(&key, value)));
        }

        /// Keeps the entries for whose value the closure returns true. O(capacity). No key is kept
        /// alive meanwhile. The closure may miss entries that other threads insert. The closure
        /// does not see a value that is [being made](crate::concurrent#a-value-that-is-being-made):
        /// the value will be kept.
        pub fn retain_values(&self, mut keep: impl FnMut(&V) -> bool) {
            self.table.retain(|_, _, value| keep(value));
        }

        /// Iterates over the live keys, in no order, as a snapshot that keeps no key alive. A key
        /// that dies, is removed, or is replaced by another key of equal content before the
        /// iterator reaches it is left out. O(capacity), and O(1) for each key: no content is
        /// compared.
        pub fn keys(&self) -> Keys<'_, K, V>
        where
            K: SharedRef,
        {
            Keys(self.table.snapshot(|_, watch, _| watch.upgrade()).into())
        }

        /// Iterates over clones of the values of the live keys, in no order, as a snapshot: see
        /// [`iter`](Self::iter). No key is kept alive.
        pub fn values(&self) -> impl FusedIterator<Item = V> + fmt::Debug
        where
            V: Clone,
        {
            let values = self.table.snapshot(|_, _, value| Some(V::clone(value)));
            values.map(|(_, value)| value)
        }

        /// Iterates over the live entries, in no order, as a snapshot that keeps no key alive. An
        /// entry that is removed, or whose key dies, before the iterator reaches the entry is left
        /// out. O(capacity), and O(1) for each entry, whose present value is cloned.
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakMap};
        ///
        /// let key = Strong::new("key");
        /// let map = WeakMap::from_iter([(&key, 1)]);
        /// let mut iter = map.iter();
        /// map.insert(&key, 2);
        /// assert_eq!(iter.next().map(|(_, value)| value), Some(2));
        /// ```
        pub fn iter(&self) -> Iter<'_, K, V>
        where
            K: SharedRef,
            V: Clone,
        {
            let entry = |_: &_, watch: &SharedWatchFor<K>, value: &V| {
                Some((watch.upgrade()?, value.clone()))
            };
            Iter(self.table.snapshot(entry).into())
        }

        /// Iterates over the live entries as [`iter`](Self::iter) does, with weak handles to the
        /// keys, without upgrading a handle: use `iter_weak` where an object must not be kept alive
        /// even for a moment, and where keys are [anchors](crate::Anchor). The first weak handle to
        /// an object allocates a record for the object.
        ///
        /// ```
        /// use weakly::{Anchor, concurrent::WeakMap};
        ///
        /// struct Entity { anchor: Anchor }
        ///
        /// let entities = [(); 2].map(|()| Entity { anchor: Anchor::new() });
        /// let health = WeakMap::from([(&entities[0].anchor, 100), (&entities[1].anchor, 0)]);
        /// let dying: Vec<_> = health.iter_weak().filter(|(_, health)| *health == 0).collect();
        /// assert!(dying[0].0.is(&entities[1].anchor));
        /// ```
        pub fn iter_weak(&self) -> impl FusedIterator<Item = (K::Weak, V)> + fmt::Debug
        where
            V: Clone,
        {
            let entry = |_: &_, watch: &SharedWatchFor<K>, value: &V| {
                Some((watch.downgrade()?, value.clone()))
            };
            self.table.snapshot(entry).map(|(_, entry)| entry)
        }
    };
}

/// The methods over all elements of a set.
macro_rules! elements {
    () => {
        /// Iterates over the live elements, in no order, as a snapshot that keeps no element alive.
        /// An element that dies, is removed, or is replaced before the iterator reaches it is left
        /// out. O(capacity), and O(1) for each element: no content is compared.
        pub fn iter(&self) -> Keys<'_, K>
        where
            K: SharedRef,
        {
            Keys(self.table.snapshot(|_, watch, ()| watch.upgrade()).into())
        }

        /// Iterates over the live elements as weak handles, as [`iter`](Self::iter) does, without
        /// upgrading a handle. The first weak handle to an object allocates a record for the
        /// object.
        pub fn iter_weak(&self) -> impl FusedIterator<Item = K::Weak> + fmt::Debug {
            let weak = |_: &_, watch: &SharedWatchFor<K>, (): &()| watch.downgrade();
            self.table.snapshot(weak).map(|(_, weak)| weak)
        }
    };
}

/// `IntoIterator` of a shared reference.
macro_rules! iterating {
    ([$($generics:tt)*] $name:ty, $item:ty, $iter:ty) => {
        impl<'m, $($generics)*> IntoIterator for &'m $name {
            type Item = $item;
            type IntoIter = $iter;

            fn into_iter(self) -> $iter {
                self.iter()
            }
        }
    };
}

/// `Debug`, with the live entries.
macro_rules! showing {
    ($(#[$doc:meta])* [$($generics:tt)*] $name:ty,
     $debug:ident: |$shown:ident, $key:pat_param, $watch:pat_param, $value:pat_param| $show:expr) => {
        $(#[$doc])*
        impl<$($generics)*> fmt::Debug for $name {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                let mut $shown = f.$debug();
                self.table.each(|$key, $watch, $value| _ = $show);
                $shown.finish()
            }
        }
    };
}

pub(crate) use {counting, shared_housekeeping, taking};
pub(super) use {elements, iterating, owned_values, showing, with_hasher, without_hasher};
