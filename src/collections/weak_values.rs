//! The methods of maps with weak values that return the live value of a key, or insert a value for
//! a key without a live value.

/// The macro's arguments: the lifetime and the type of a passed key, and the generics of a lookup.
macro_rules! weak_making {
    ([$($life:lifetime)?] $given:ty, [$($query:tt)*]) => {
        /// Returns the live value of a key, where the caller knows that the key has one. O(1).
        ///
        /// # Panics
        /// If the key has no live value. The panic has the message of
        /// [`Expired`](crate::ptr::Expired), and explains how to find the cause.
        #[must_use]
        #[track_caller]
        pub fn expect<$($query)*>(&self, key: &Q) -> V {
            $crate::ptr::Expired::expect::<V::Target, V>(self.get(key))
        }

        /// Sets the value of a key that has no live value. O(1) amortised.
        ///
        /// # Errors
        /// If the key has a live value. (If weak keys are found by content: if a live key of equal
        /// content has a live value.) The error contains the entry.
        pub fn try_insert<$($life)?>(
            &mut self,
            key: $given,
            value: &V,
        ) -> Result<(), OccupiedError<'_, $($life,)? K, V>> {
            match self.entry(key) {
                Entry::Occupied(entry) => Err(OccupiedError { entry }),
                Entry::Vacant(entry) => {
                    entry.insert(value);
                    Ok(())
                }
            }
        }

        /// Returns the live value of a key, or inserts and returns `value`. O(1) amortised.
        #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
        pub fn get_or_insert<$($life)?>(&mut self, key: $given, value: V) -> V {
            self.entry(key).or_insert(value)
        }

        /// Returns the live value of a key, or inserts and returns the result of `make`. O(1)
        /// amortised, with one lookup.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
        pub fn get_or_insert_with<$($life)?>(
            &mut self,
            key: $given,
            make: impl FnOnce(&K) -> V,
        ) -> V {
            self.entry(key).or_insert_with_key(make)
        }

        /// Returns the live value of a key, or inserts and returns the result of `make`. O(1)
        /// amortised, with one lookup.
        ///
        /// # Errors
        /// The error of `make`. The map is then unchanged.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        ///
        /// ```
        /// use weakly::{Strong, WeakValueMap};
        ///
        /// let mut numbers = WeakValueMap::new();
        /// let parse = |text: &&str| text.parse::<i32>().map(Strong::new);
        /// assert!(numbers.try_get_or_insert_with("x", parse).is_err());
        /// assert!(numbers.is_empty());
        /// assert_eq!(*numbers.try_get_or_insert_with("5", parse)?, 5);
        /// # Ok::<(), std::num::ParseIntError>(())
        /// ```
        pub fn try_get_or_insert_with<$($life,)? E>(
            &mut self,
            key: $given,
            make: impl FnOnce(&K) -> Result<V, E>,
        ) -> Result<V, E> {
            self.entry(key).or_try_insert_with_key(make)
        }
    };
}

pub(crate) use weak_making;
