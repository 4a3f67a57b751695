//! What shared collections have in common, word for word: methods and trait impls. Each body is one
//! call.

/// The methods about size and dead entries, as every shared collection has them: those of its
/// field.
macro_rules! shared_housekeeping {
    ($entries:ident) => {
        /// Returns the number of entries. O(threads).
        ///
        /// Exact while no thread changes the collection. Entries whose object has died, and values
        /// that are still being made, do not count. For `Arc` it is an upper bound: dead entries
        /// count until a sweep finds them.
        #[must_use]
        pub fn len(&self) -> usize {
            self.$entries.len()
        }

        /// Returns whether [`len`](Self::len) is zero.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// Returns the number of live entries, by checking each. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.$entries.len_live()
        }

        /// Returns the number of entries that are gone and not yet destroyed, for whatever reason:
        /// those that a death has unlinked, and that wait for the next operation to destroy them;
        /// those that wait for threads that are
        /// [inside](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed), after a
        /// death, a removal or a replacement; those that threads have gathered, which
        /// [wait](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) until there
        /// are up to 64 for each thread that has used the collection, if several have; and those of
        /// which something is kept until it is [asked for](crate::Reclaim::OnRequest). O(threads).
        #[must_use]
        pub fn pending_dead(&self) -> usize {
            self.$entries.pending_dead()
        }

        /// Returns the policy by which this collection destroys the values and keys of dead
        /// entries.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.$entries.reclaim()
        }

        /// Sets the policy by which this collection destroys the values and keys of dead entries.
        /// The default is [`Reclaim::OnUse`](crate::Reclaim::OnUse).
        ///
        /// With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) it is kept until
        /// [`purge`](Self::purge), [`purge_some`](Self::purge_some), [`clear`](Self::clear), or the
        /// drop of the collection. An entry that other threads are looking at when it is unlinked
        /// is kept when the last of them leaves; a `purge` before that misses it.
        /// [`pending_dead`](Self::pending_dead) counts both. Switching back destroys what has been
        /// kept, and what the entries own that have died since: O(both). Dead entries of `Arc` that
        /// no sweep has found yet are destroyed by later operations, as with `OnUse` always.
        /// Entries that die while another thread changes the policy may be treated either way. A
        /// collection that owns nothing in its entries has nothing to destroy.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn set_reclaim(&self, reclaim: $crate::table::Reclaim) {
            self.$entries.set_reclaim(reclaim);
        }

        /// Destroys all dead entries and what they own, then those that die of that, and so on
        /// until none is left. O(deaths) for `Strong`. For `Arc` it looks at all entries:
        /// O(capacity). If it has destroyed some, it looks once more, and twice more for each
        /// generation that dies of that. If other threads kill entries meanwhile, it stops; what
        /// has died since waits for a sweep or the next purge. What is
        /// [kept](crate::Reclaim::OnRequest) of dead entries goes too. What a thread is looking at,
        /// this one or another, is destroyed when that thread leaves, however long that takes, or
        /// by the next operation, if that thread misses it; [`pending_dead`](Self::pending_dead)
        /// counts it. What threads have gathered goes too, once for each thread: what other threads
        /// remove meanwhile may be left.
        ///
        /// It waits only for deaths that are unlinking an entry at this moment.
        ///
        /// Returns whether something is pending that another purge would destroy, as
        /// [`poll_pending`](Self::poll_pending) says: other threads may have killed or removed
        /// entries meanwhile, and of this collection only 16 purges nest on a thread, in
        /// destructors that purges run, since the stack is finite. A purge within these destroys
        /// nothing, and the outer purges destroy its entries: a destructor that waited for that
        /// would wait for ever. Purges of other collections do not count: in their destructors, a
        /// purge takes all dead entries of its own collection. For `Arc`, whose deaths only a sweep
        /// finds, a purge also returns true if it was not allowed to sweep, or has seen that other
        /// threads kill; no purge knows of entries that other threads have killed behind its sweep.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn purge(&self) -> bool {
            self.$entries.purge()
        }

        /// Does a part of a [`purge`](Self::purge): destroys at most `n` dead entries and what they
        /// own; what is [kept](crate::Reclaim::OnRequest) of dead entries goes first, and counts,
        /// too. Returns how many there were: 0 if there is nothing left, or `n` is 0. O(n)
        /// amortised, besides the destructors. Call it once in a while, or until it returns 0, with
        /// other work in between. Entries that die of that are destroyed by the same call, if it
        /// has not had `n` yet, or by the next.
        ///
        /// `Arc` does not notify: for it, this sweeps on, as far as `n` insertions would, and at
        /// most once around the table. There 0 only means that it has found no dead entry on the
        /// way.
        ///
        /// What a thread is looking at counts, and is destroyed when that thread leaves; on
        /// request, it is kept then, and counts once more when it is destroyed. As a `purge`, it
        /// waits only for deaths that are unlinking an entry at this moment. Within 16 purges of
        /// this collection on this thread it does nothing, and returns 0.
        ///
        /// # Panics
        /// If a destructor panics, after those of all these entries have run.
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

        /// Sets the waker, or removes it: it is called when something becomes pending that
        /// [`purge`](Self::purge) would reclaim. For an event loop, a thread or a task that purges
        /// when there is a reason to.
        ///
        /// The first death after nothing was pending calls it, once; the next call comes after a
        /// `purge`, or other operations, have left nothing pending. So answer each call by a
        /// `purge`, soon, or by calls of [`purge_some`](Self::purge_some) until one returns 0,
        /// whatever [`pending_dead`](Self::pending_dead) says. It is called on a thread on which an
        /// object dies, under no lock, at the end of the death: the entries are unlinked by then,
        /// and the waker may purge. But where values own keys of further collections, whose wakers
        /// purge too, that takes as much stack as there are collections: there let the waker wake
        /// something that purges later. If it panics, the panic goes to whoever dropped the last
        /// handle; all others of that death are called. A second panic while the first unwinds
        /// aborts the process, as with every destructor in Rust. One that is replaced may still be
        /// called by a death that has begun.
        ///
        /// In a collection that has had a waker, threads
        /// [gather](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) nothing:
        /// each change that removes something looks at all threads. So no entry waits in a place
        /// from which nobody is woken.
        ///
        /// It is not called for what is pending when it is set: purge once afterwards. Nor for what
        /// is [kept](crate::Reclaim::OnRequest), nor for `Arc`, which does not notify. Deaths that
        /// do not call it cost nothing more. The first waker allocates some 100 bytes, and in a
        /// collection that has never had an entry also the KiB that the first entry would.
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

        /// Returns `Ready` if something is pending that [`purge`](Self::purge) would destroy, what
        /// is [kept](crate::Reclaim::OnRequest) included. Otherwise the task is woken when
        /// something becomes pending. So a task that cleans up is
        ///
        /// ```text
        /// loop {
        ///     poll_fn(|context| map.poll_pending(context)).await;
        ///     map.purge();
        /// }
        /// ```
        ///
        /// What waits for threads that are inside is not pending, though
        /// [`pending_dead`](Self::pending_dead) counts it: no purge can destroy it. If it is kept
        /// when the last of them leaves, that wakes the task, as does all that is kept while it
        /// waits: a waker that is only [set](Self::set_waker) is not called for that.
        ///
        /// What threads have
        /// [gathered](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed) is
        /// pending.
        ///
        /// It sets the [waker](Self::set_waker), of which the collection has one: of several tasks,
        /// the last to poll is woken, and a waker that was set is called no more. A task that gives
        /// up leaves its waker here; `set_waker(None)` takes it out. It may be woken for nothing,
        /// if other operations have destroyed what was pending. As a purge, it waits only for
        /// deaths that are unlinking an entry at this moment.
        ///
        /// O(threads). The first poll allocates some 100 bytes, and in a collection that has never
        /// had an entry also the KiB that the first entry would; another task's allocates a few
        /// bytes, polls of the same task nothing. `Arc` does not notify: it wakes a task only by
        /// what is kept of its entries.
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

        /// Gives back memory that is not needed, after unlinking the dead as [`purge`](Self::purge)
        /// does; what is [kept](crate::Reclaim::OnRequest) of them stays. O(capacity).
        ///
        /// Other threads may use the collection meanwhile, and help; a thread waits only at a
        /// bucket, for a few instructions. If the table has to grow, or another thread shrinks it
        /// at this moment, it may stay longer than it needs to be. The memory itself is freed when
        /// no thread looks at it any more. The room that waiting or kept entries took is freed when
        /// they go; two cache lines for each thread stay.
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

        /// Removes all entries, dead or alive, and what is [kept](crate::Reclaim::OnRequest) of
        /// those that are gone. O(capacity).
        ///
        /// What other threads insert meanwhile may stay. A value that is being made meanwhile goes
        /// only to the caller that makes it, and is not kept: of those that wait for it, one makes
        /// it anew.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn clear(&self) {
            self.$entries.clear();
        }
    };
}

/// The constructors, and what all have, of a collection without a hasher.
macro_rules! without_hasher {
    ($(#[$example:meta])* [$($generics:tt)*] $name:ty) => {
        impl<$($generics)*> $name {
            $crate::sync::const_fn! {
                /// Creates an empty collection, also for a `static`. Allocates nothing before the
                /// first insertion.
                $(#[$example])*
                #[must_use]
                pub fn new() -> Self {
                    Self { table: $crate::concurrent::table::Table::new() }
                }
            }

            /// Creates an empty collection with room for `capacity` entries.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                Self { table: $crate::concurrent::table::Table::new().with_room_for(capacity) }
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

/// The same, of a collection with a hasher.
macro_rules! with_hasher {
    ($(#[$example:meta])* [$($generics:tt)*] $name:ident<$($parameter:ident),*>) => {
        impl<$($generics)*> $name<$($parameter),*> {
            /// Creates an empty collection. Allocates nothing before the first insertion.
            ///
            /// Not `const`: each collection has seeds of its own. For a `static`, pass
            /// [`with_hasher`](Self::with_hasher) a hasher that is made at compile time, or make
            /// the collection on first use with [`LazyLock`](std::sync::LazyLock).
            #[must_use]
            pub fn new() -> Self {
                Self::default()
            }

            /// Creates an empty collection with room for `capacity` entries.
            #[must_use]
            pub fn with_capacity(capacity: usize) -> Self {
                Self::with_capacity_and_hasher(capacity, Default::default())
            }
        }

        impl<$($generics)*, S> $name<$($parameter),*, S> {
            $crate::sync::const_fn! {
                /// Creates an empty collection with this hasher; for a `static` too, if the hasher
                /// is made at compile time. Allocates nothing before the first insertion.
                ///
                $(#[$example])*
                #[must_use]
                pub fn with_hasher(hasher: S) -> Self {
                    Self { table: $crate::concurrent::table::Table::new(), hasher }
                }
            }

            /// Creates an empty collection with this hasher and room for `capacity` entries.
            #[must_use]
            pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
                Self { table: $crate::concurrent::table::Table::new().with_room_for(capacity), hasher }
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

/// The methods over all entries of a map with weak keys and owned values.
macro_rules! owned_values {
    () => {
        /// Keeps the entries for which the closure returns true. O(capacity). The closure may not
        /// see those that other threads insert meanwhile, and it sees no value that is [being
        /// made](crate::concurrent#a-value-that-is-being-made), which will be kept.
        ///
        /// Each key is kept alive while the closure sees it; if no other strong handle is left
        /// then, it dies here.
        pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool)
        where
            K: SharedRef,
        {
            self.table
                .retain(|_, watch, value| watch.upgrade().is_none_or(|key| keep(&key, value)));
        }

        /// Keeps the entries whose value the closure returns true for. O(capacity). No key is kept
        /// alive meanwhile; the closure may not see the entries that other threads insert, and it
        /// sees no value that is [being made](crate::concurrent#a-value-that-is-being-made), which
        /// will be kept.
        pub fn retain_values(&self, mut keep: impl FnMut(&V) -> bool) {
            self.table.retain(|_, _, value| keep(value));
        }

        /// Iterates over the live keys, in no order, as a snapshot that keeps none of them alive:
        /// those that die, are removed, or are replaced by others of equal content before the
        /// iterator reaches them are left out. O(capacity), and O(1) for each: no content is
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

        /// Iterates over the live entries, in no order, as a snapshot that keeps no key alive:
        /// those whose key dies, or which are removed, before the iterator reaches them are left
        /// out. O(capacity), and O(1) for each: the value that it has then is cloned.
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
        /// keys, and without upgrading any: use it where not even for a moment an object may be
        /// kept alive, and where keys are [anchors](crate::Anchor). A handle costs an object the
        /// record that its first handle does.
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
        /// Iterates over the live elements, in no order, as a snapshot that keeps none of them
        /// alive: those that die, are removed, or are replaced before the iterator reaches them are
        /// left out. O(capacity), and O(1) for each: no content is compared.
        pub fn iter(&self) -> Keys<'_, K>
        where
            K: SharedRef,
        {
            Keys(self.table.snapshot(|_, watch, ()| watch.upgrade()).into())
        }

        /// Iterates over the live elements as weak handles, as [`iter`](Self::iter) does, and
        /// without upgrading any. A handle costs an object the record that its first handle does.
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

/// `Debug`, with what is live.
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

pub(crate) use shared_housekeeping;
pub(super) use {elements, iterating, owned_values, showing, with_hasher, without_hasher};
