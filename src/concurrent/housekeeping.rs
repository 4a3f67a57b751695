//! The methods that all shared collections have, word for word.

/// The methods about size and dead entries, as every shared collection has them: those of its field.
macro_rules! shared_housekeeping {
    ($entries:ident) => {
        /// The number of entries. O(threads).
        ///
        /// Exact while no thread changes the collection. Entries whose object has died, and values that are still
        /// being made, do not count. For `Arc` it is an upper bound: dead entries count until a sweep finds them.
        #[must_use]
        pub fn len(&self) -> usize {
            self.$entries.len()
        }

        /// Whether [`len`](Self::len) is zero.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// The number of live entries, found by checking each. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            self.$entries.len_live()
        }

        /// The number of entries that are gone and not yet destroyed, for whatever reason: those that a death has
        /// unlinked, and that wait for the next operation to destroy them; those that wait for threads that are
        /// [inside](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed), after a death, a removal
        /// or a replacement; and those of which something is kept until it is
        /// [asked for](crate::Reclaim::OnRequest). O(1).
        #[must_use]
        pub fn pending_dead(&self) -> usize {
            self.$entries.pending_dead()
        }

        /// When this collection destroys what its dead entries own.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.$entries.reclaim()
        }

        /// Chooses when this collection destroys what its dead entries own. The default is
        /// [`Reclaim::OnUse`](crate::Reclaim::OnUse).
        ///
        /// With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) it is kept until [`purge`](Self::purge),
        /// [`clear`](Self::clear), or the drop of the collection. An entry that other threads are looking at when
        /// it is unlinked is kept when the last of them leaves; a `purge` before that misses it. Switching back
        /// destroys what has been kept. [`pending_dead`](Self::pending_dead) counts both. Entries that die while another
        /// thread changes the policy may be treated either way. A collection that owns nothing in its entries has
        /// nothing to destroy.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn set_reclaim(&self, reclaim: $crate::table::Reclaim) {
            self.$entries.set_reclaim(reclaim);
        }

        /// Destroys all dead entries and what they own, then those that die of that, and so on until none
        /// is left. O(deaths) for `Strong`. For `Arc` it looks at all entries: O(capacity). If it has destroyed some, it looks
        /// once more, and twice more for each generation that dies of that. If other threads kill entries meanwhile, it
        /// stops; what has died since waits for a sweep or the next purge. What is
        /// [kept](crate::Reclaim::OnRequest) of dead entries goes too. What a thread is looking at, this one
        /// or another, is destroyed when that thread leaves, however long that takes; [`pending_dead`](Self::pending_dead)
        /// counts it.
        ///
        /// It waits only for deaths that are unlinking an entry at this moment. Nested 16 deep on this thread (a purge
        /// in a destructor that a purge runs, and so on, in any collections) it does nothing, because the stack is
        /// finite; purge once more afterwards.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn purge(&self) {
            self.$entries.purge();
        }

        /// Sets the waker, or removes it: it is called when something becomes pending that [`purge`](Self::purge)
        /// would reclaim. For an event loop, a thread or a task that purges when there is a reason to.
        ///
        /// The first death after nothing was pending calls it, once; the next call comes after a `purge`, or
        /// other operations, have left nothing pending. So answer each call by a `purge`, soon, whatever
        /// [`pending_dead`](Self::pending_dead) says. It is called on a thread on which an object dies, under no
        /// lock, at the end of the death: the entries are unlinked by then, and the waker may purge. But 16 deep in
        /// destructors that purges run, that [does nothing](Self::purge): where values own keys of further
        /// collections, let the waker wake something that purges later. If it panics, the panic goes to whoever dropped
        /// the last handle; all others of that death are called. A second panic while the first unwinds aborts the
        /// process, as with every destructor in Rust. One that is replaced may still be called by a death that has
        /// begun.
        ///
        /// It is not called for what is pending when it is set: purge once afterwards. Nor for what is
        /// [kept](crate::Reclaim::OnRequest), nor for `Arc`, which does not notify. Deaths that do not call it
        /// cost nothing more. The first waker allocates some 100 bytes, and in a collection that has never had an entry
        /// also the KiB that the first entry would.
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

        /// Gives back memory that is not needed, after unlinking the dead as [`purge`](Self::purge) does; what is
        /// [kept](crate::Reclaim::OnRequest) of them stays. O(capacity).
        ///
        /// Other threads may use the collection meanwhile, and help; a thread waits only at a bucket, for a few
        /// instructions. If the table has to grow, or another thread shrinks it at this moment, it may stay longer
        /// than it needs to be. The memory itself is freed when no thread looks at it any more. The room
        /// that waiting or kept entries took is freed when they go; two cache lines for each thread stay.
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

        /// Removes all entries, dead or alive, and what is [kept](crate::Reclaim::OnRequest) of those that are
        /// gone. O(capacity).
        ///
        /// What other threads insert meanwhile may stay. A value that is being made meanwhile goes to the callers
        /// that wait for it, and is not kept.
        ///
        /// # Panics
        /// If a destructor panics, after all of them have run.
        pub fn clear(&self) {
            self.$entries.clear();
        }
    };
}

pub(crate) use shared_housekeeping;
