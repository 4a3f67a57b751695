//! The methods that all shared collections have, word for word.

/// The methods about size and the dead, word for word those of every shared collection.
macro_rules! shared_housekeeping {
    () => {
        /// The number of entries. O(threads); of pairs O(capacity), while several deaths wait to be reclaimed.
        /// Exact while nobody changes the collection; what has announced its death, and what is still
        /// being made, do not count. For `Arc` it is an upper bound: the dead count until a sweep finds
        /// them.
        #[must_use]
        pub fn len(&self) -> usize {
            self.table.len()
        }

        /// Whether [`len`](Self::len) is zero.
        #[must_use]
        pub fn is_empty(&self) -> bool {
            self.len() == 0
        }

        /// The number of live entries, by asking each. O(capacity).
        #[must_use]
        pub fn len_live(&self) -> usize {
            let mut live = 0;
            self.table.each(|_, watch, _| {
                live += usize::from(!$crate::concurrent::watch::Watches::is_dead(watch))
            });
            live
        }

        /// The number of entries that have announced their death and wait to be reclaimed, and of those that
        /// have gone and of which something is kept until it is [asked for](crate::Reclaim::OnRequest).
        /// O(1); of pairs O(capacity), while several wait. For `Arc`, which announces nothing, only the
        /// latter.
        #[must_use]
        pub fn pending_dead(&self) -> usize {
            self.table.pending()
        }

        /// When this collection destroys what its dead entries own.
        #[must_use]
        pub fn reclaim(&self) -> $crate::table::Reclaim {
            self.table.reclaim()
        }

        /// Chooses when this collection destroys what its dead entries own. The default is
        /// [`Reclaim::OnUse`](crate::Reclaim::OnUse).
        ///
        /// With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest) it is kept until [`purge`](Self::purge),
        /// [`clear`](Self::clear), or the end of the collection. An entry that others are looking at when
        /// it is unlinked is kept when the last of them leaves; a `purge` before that misses it. To go back
        /// destroys what has been kept. (Entries that die while another thread changes the policy may be
        /// treated either way. A collection that owns nothing of its entries has nothing to destroy.)
        ///
        /// # Panics
        /// If a destructor does, when all have run.
        pub fn set_reclaim(&self, reclaim: $crate::table::Reclaim) {
            self.table.set_reclaim(reclaim);
        }

        /// Buries all the dead, destroying what their entries own, and those that die of that, and so
        /// on until nobody is left. O(deaths) for `Strong`, O(capacity) for each round for `Arc`. What is
        /// [kept](crate::Reclaim::OnRequest) of the dead goes too.
        ///
        /// It waits for nobody but for another thread that is burying, and for that only until it has
        /// unlinked what it has taken. In a destructor that is run by a purge in a destructor, and so on, 16 deep
        /// on this thread, of whatever collections, it does nothing: the stack has an end. Who purges then purges
        /// once more, later.
        ///
        /// # Panics
        /// If a destructor does, when all have run.
        pub fn purge(&self) {
            self.table.purge();
        }

        /// Gives back memory that is not needed, after the dead have been unlinked, as by [`purge`](Self::purge);
        /// what is [kept](crate::Reclaim::OnRequest) of them stays. O(capacity). Others may use the
        /// collection meanwhile, and help; nobody waits but, for some instructions, at a bucket. If it has to
        /// grow or shrinks for another thread at this moment, it may stay longer than it needs to be. The memory
        /// itself is free when nobody looks at it any more.
        ///
        /// # Panics
        /// If a destructor does.
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
            self.table.shrink_to_fit();
        }

        /// Removes all entries that are there, dead or alive, with what is
        /// [kept](crate::Reclaim::OnRequest) of those that have gone. O(capacity). What other threads put in
        /// meanwhile may stay; what is being made meanwhile goes to those who have asked for it, and is
        /// not kept.
        ///
        /// # Panics
        /// If a destructor does, when all have run.
        pub fn clear(&self) {
            self.table.clear();
        }
    };
}

pub(super) use shared_housekeeping;
