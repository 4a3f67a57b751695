//! The methods that set a limit: of floors, which keep unused objects alive, and of ceilings, which
//! bound the entries of a collection.

/// The methods of a collection that can have a floor.
macro_rules! floor {
    ($value:ident) => {
        /// Sets a floor: within a limit, the floor keeps the objects that are inserted and found
        /// alive for a while, although nobody uses them. Objects that are in the collection already
        /// are kept, too. O(entries), once.
        ///
        /// Returns the [`KeepAlive`](super::KeepAlive) that has the strong handles to the kept
        /// objects. Only the `KeepAlive` changes the limit later
        /// ([`set_limit`](super::KeepAlive::set_limit)), and begins a generation
        /// ([`advance`](super::KeepAlive::advance)). The closure returns the weight of an object:
        /// [`keep`](crate::guide::keep#limits-and-weights) says when the closure is called, and
        /// what a panic of the closure does.
        ///
        /// An object that is in use is always found, whatever the limit: an evicted object only
        /// loses the strong handle of the floor, and a lookup that finds the object keeps it again.
        /// A hit costs one more load, and the hits of an object take the floor's lock about eight
        /// times while as many objects are evicted as are kept. [`keep`](crate::guide::keep) says
        /// which objects are no longer kept.
        ///
        /// # Panics
        /// If there is a limit already: change [that limit](super::KeepAlive::set_limit).
        ///
        /// ```
        /// use weakly::{Strong, concurrent::WeakValueMap, keep::Limit};
        ///
        /// let tenants = WeakValueMap::new();
        /// let kept = tenants.set_keep_alive(Limit::entries(100).generations(60), |_| 1);
        /// let load = |name: &&str| Strong::new(format!("the tenant {name}"));
        /// drop(tenants.get_or_insert_with("one", load));
        /// assert!(tenants.get("one").is_some()); // nobody used it meanwhile
        /// for _ in 0..=60 {
        ///     kept.advance(); // once a second, say
        /// }
        /// assert!(tenants.get("one").is_none());
        /// ```
        #[track_caller]
        pub fn set_keep_alive(
            &self,
            limit: $crate::keep::Limit,
            weigh: impl Fn(&$value) -> usize + Send + Sync + 'static,
        ) -> $crate::concurrent::keep_alive::KeepAlive<$value>
        where
            $value: 'static,
        {
            let keep_alive = $crate::concurrent::keep_alive::KeepAlive::weighing(limit, weigh);
            self.keep_in(&keep_alive);
            keep_alive
        }

        /// Sets a floor as [`set_keep_alive`](Self::set_keep_alive) does, with a limit that several
        /// collections share.
        ///
        /// # Panics
        /// If there is a limit already.
        #[track_caller]
        pub fn keep_in(&self, keep_alive: &$crate::concurrent::keep_alive::KeepAlive<$value>)
        where
            $value: 'static,
        {
            self.table.keep_in(keep_alive);
        }
    };
}

/// The methods of a collection whose entries can be bounded.
macro_rules! ceiling {
    ($key:ident, $value:ident, |$stored:pat_param, $watch:ident| $weak:expr) => {
        /// Sets a ceiling: entries beyond the limit are evicted, though their keys live. The
        /// closure returns the weight of a value: [`keep`](crate::guide::keep#limits-and-weights)
        /// says when the closure is called, and what a panic of the closure does. Entries that are
        /// in the collection already count, too. O(entries), once.
        ///
        /// When the limit is exceeded, SIEVE chooses the victim among the entries that were not
        /// found for a while, as in a [`KeepAlive`](crate::keep::KeepAlive). An entry that alone is
        /// heavier than the limit is evicted at once. A dead entry makes room: no live entry is
        /// evicted in its place, except while a thread is looking at the dead entry, or if the
        /// key's handle does not notify, such as `Arc`, and no sweep has found the dead entry yet.
        /// An operation that needs room destroys one dead entry after the other until there is
        /// room: beyond the dead entries that each change destroys, at most 16 that make no room. A
        /// hit costs one more load, and the hits of an entry take the ceiling's lock about eight
        /// times while as many entries are evicted as are in the collection. An insertion, a
        /// removal and a death take the lock once. While results with dependents exceed the
        /// limit, each change, also a removal, passes over at most 16 of them.
        ///
        /// # Panics
        /// If there is a ceiling already: [`set_limit`](Self::set_limit) changes its limit.
        ///
        /// ```
        /// use weakly::{Memo, Strong, keep::Limit, memo::Value};
        ///
        /// let rendered = Memo::<(Strong<str>, Value<u32>), String>::new();
        /// rendered.set_ceiling(Limit::none().weight(1000), String::len);
        /// let page = Strong::from("a page");
        /// for width in 0..1000 {
        ///     rendered.get_or_compute((&page, &width), |_| format!("{page:>100}"));
        /// }
        /// assert_eq!((rendered.len(), rendered.retained_weight()), (10, 1000));
        /// ```
        #[track_caller]
        pub fn set_ceiling(
            &self,
            limit: $crate::keep::Limit,
            weigh: impl Fn(&$value) -> usize + Send + Sync + 'static,
        ) {
            self.table.set_ceiling(limit, weigh);
        }

        /// Sets another limit, as [`KeepAlive::set_limit`](crate::concurrent::KeepAlive::set_limit)
        /// does, and evicts the entries beyond the limit at once: O(evicted entries).
        ///
        /// # Panics
        /// If there is no [ceiling](Self::set_ceiling).
        #[track_caller]
        pub fn set_limit(&self, limit: $crate::keep::Limit) {
            self.table.set_limit(limit);
        }

        /// Sets the listener, which is called for each removed entry with the key, the value and
        /// the cause of the removal, right before the value is destroyed, or kept for
        /// [`Reclaim::OnRequest`](crate::Reclaim::OnRequest). The key is weak, and its object may
        /// be dead: after [`Gone::Died`](crate::keep::Gone::Died) an object of the key is dead, or
        /// another input of a result of a memo has ended. The listener may use the collection, as a
        /// destructor may; a listener that puts removed entries back never ends. The listener is
        /// not called for the entries in the collection when it is dropped, nor for an entry that
        /// another thread replaces at the moment when the listener is set.
        ///
        /// # Panics
        /// If there is no [ceiling](Self::set_ceiling). For a listener without a bound, set
        /// [`Limit::none`](crate::keep::Limit::none).
        ///
        /// ```
        /// use std::sync::Mutex;
        /// use weakly::{Memo, Strong, keep::{Gone, Limit}, memo::Value};
        ///
        /// static GONE: Mutex<Vec<(u32, bool, Gone)>> = Mutex::new(Vec::new());
        ///
        /// let rendered = Memo::<(Strong<str>, Value<u32>), String>::new();
        /// rendered.set_ceiling(Limit::entries(1), |_| 1);
        /// rendered.set_listener(|(page, width), _, why| {
        ///     GONE.lock().unwrap().push((**width, page.is_expired(), why));
        /// });
        /// let page = Strong::from("a page");
        /// rendered.insert((&page, &80), "a page, drawn".into());
        /// rendered.insert((&page, &120), "a page, drawn wide".into());
        /// drop(page);
        /// rendered.purge();
        /// assert_eq!(*GONE.lock().unwrap(), [(80, false, Gone::Entries), (120, true, Gone::Died)]);
        /// ```
        #[track_caller]
        pub fn set_listener(
            &self,
            listener: impl Fn(&$key::Weak, &$value, $crate::keep::Gone) + Send + Sync + 'static,
        ) {
            self.table.set_listener(move |$stored, $watch, value, why| {
                if let Some(key) = $weak {
                    listener(&key, value, why);
                }
            });
        }

        /// Begins the next [generation](crate::keep::Limit::generations): evicts the entries that
        /// were neither inserted nor found in the last generations. O(evicted entries).
        pub fn advance(&self) {
            self.table.advance();
        }

        /// Evicts entries until the remaining entries weigh at most `weight`; returns the number of
        /// evicted entries. O(evicted entries) amortised. The limit stays as it is. Without a limit
        /// nothing is evicted.
        pub fn shrink_to(&self, weight: usize) -> usize {
            self.table.shrink_weight_to(weight)
        }

        /// Returns the sum of the weights of the entries, or `usize::MAX` if the sum is larger. 0
        /// without a limit. A dead entry counts until it is destroyed.
        #[must_use]
        pub fn retained_weight(&self) -> usize {
            self.table.retained_weight()
        }
    };
}

pub(crate) use ceiling;
pub(super) use floor;
