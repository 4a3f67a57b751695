//! What collections with a limit have in common, word for word: the methods of a floor, and those
//! of a ceiling.

/// The methods of a collection that can keep its objects alive for a while.
macro_rules! floor {
    ($value:ident) => {
        /// Keeps what is inserted and found alive for a while, though nobody uses it, within a
        /// limit; returns what does so, to [advance](super::KeepAlive::advance) it, or look at it.
        /// The closure says what an object weighs: it is called for each that comes, or comes back,
        /// and for each entry before that is inserted, under no lock, and must not look up what it
        /// weighs, which would be weighed again, until the stack ends. If it panics, the entry is
        /// not inserted, or the object that was found is not kept. Only the
        /// [`KeepAlive`](super::KeepAlive) that this returns changes the limit later. What is there
        /// already is kept, too; what other threads insert at this moment may be so only when it is
        /// found next.
        ///
        /// An object that is in use is always found, whatever the limit: what goes is only kept no
        /// more, and who finds it again keeps it again. A hit costs a load more, and takes a lock
        /// about eight times while as many objects go as are kept. A removed entry's object is kept
        /// no more, nor is what is there when the collection is dropped; if it has another name
        /// here, the next hit by that keeps it again. A closure that has a handle to the limit or
        /// the collection keeps that alive for ever.
        ///
        /// # Panics
        /// If there is a limit already: change [that](super::KeepAlive::set_limit).
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
            let budget = $crate::concurrent::keep_alive::KeepAlive::weighing(limit, weigh);
            self.keep_in(&budget);
            budget
        }

        /// As [`set_keep_alive`](Self::set_keep_alive), with a limit that several collections
        /// share. What is removed from one of them is kept no more, until another finds it.
        ///
        /// # Panics
        /// If there is a limit already.
        #[track_caller]
        pub fn keep_in(&self, budget: &$crate::concurrent::keep_alive::KeepAlive<$value>)
        where
            $value: 'static,
        {
            self.table.keep_in(budget);
        }
    };
}

/// The methods of a collection whose entries can be bounded.
macro_rules! ceiling {
    ($key:ident, $value:ident, |$stored:pat_param, $watch:ident| $weak:expr) => {
        /// Bounds the entries: those beyond the limit go, though their keys live. The closure says
        /// what a value weighs: it is called once for each, before that is inserted, under no lock,
        /// and must not look up what it weighs, which would be weighed again, until the stack ends.
        /// What is there already counts, too; what other threads insert at this moment, perhaps
        /// only when it is found next. If the closure panics, the value is not inserted; one that
        /// is there already goes, as one that is too heavy.
        ///
        /// When there are too many, the one goes that SIEVE chooses: of those that were not found
        /// since it looked last, the oldest from where it looked last. An entry that alone is
        /// heavier than the limit goes at once. What dies makes room: no entry goes for one that is
        /// dead, unless a thread is looking at that, or the key is a handle that does not notify,
        /// such as `Arc`, and no sweep has found it yet. A hit costs a load more, and takes a lock
        /// about eight times while as many entries go as are there. An insertion, a removal and a
        /// death take it once.
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
        /// does. The entries beyond the limit go at once: O(entries that go); and O(entries) if
        /// generations come to count.
        ///
        /// # Panics
        /// If there is no [ceiling](Self::set_ceiling).
        #[track_caller]
        pub fn set_limit(&self, limit: $crate::keep::Limit) {
            self.table.set_limit(limit);
        }

        /// Sets the listener: it is told the key and the value of each entry that goes, and why,
        /// right before the value is destroyed, or kept for
        /// [`Reclaim::OnRequest`](crate::Reclaim::OnRequest). The key is weak, and its object may
        /// be dead: after [`Gone::Died`](crate::keep::Gone::Died) one is. The listener may use the
        /// collection, as a destructor may; one that puts back what goes never ends. What is there
        /// when the collection is dropped is not told, nor what another thread replaces at the
        /// moment when the listener is set.
        ///
        /// # Panics
        /// If there is no [ceiling](Self::set_ceiling). A collection that only listens has
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

        /// Begins the next [generation](crate::keep::Limit::generations): what was neither inserted
        /// nor found in the last ones goes. O(what goes).
        pub fn advance(&self) {
            self.table.advance();
        }

        /// Lets entries go until the others weigh no more than this; returns how many went. O(what
        /// goes) amortised. The limit stays. Without a limit nothing goes.
        pub fn shrink_to(&self, weight: usize) -> usize {
            self.table.shrink_weight_to(weight)
        }

        /// Returns the sum of the weights of what is there; `usize::MAX` if it is larger. 0 without
        /// a limit. What has died and is not destroyed yet counts.
        #[must_use]
        pub fn retained_weight(&self) -> usize {
            self.table.retained_weight()
        }
    };
}

pub(crate) use ceiling;
pub(super) use floor;
