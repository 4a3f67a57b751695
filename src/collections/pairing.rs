//! How the maps with weak keys and weak values, by identity or by content, set the value of a key that has none.

macro_rules! pair_making {
    () => {
        /// Sets the value of a key that has no live one. O(1) amortised.
        ///
        /// # Errors
        /// If the key (or, if they are found by content, a live one of equal content) has a live value. The error contains
        /// its entry.
        pub fn try_insert<'k>(
            &mut self,
            key: &'k K,
            value: &V,
        ) -> Result<(), OccupiedError<'_, 'k, K, V>> {
            match self.entry(key) {
                Entry::Occupied(entry) => Err(OccupiedError { entry }),
                Entry::Vacant(entry) => {
                    entry.insert(value);
                    Ok(())
                }
            }
        }

        /// Returns the live value of a key, or inserts and returns `value`. O(1) amortised.
        pub fn get_or_insert(&mut self, key: &K, value: V) -> V {
            self.entry(key).or_insert(value)
        }

        /// Returns the live value of a key, or inserts and returns what `make` returns. O(1) amortised, one lookup.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce(&K) -> V) -> V {
            self.entry(key).or_insert_with_key(make)
        }

        /// Returns the live value of a key, or inserts and returns what `make` returns. O(1) amortised, one lookup.
        ///
        /// # Errors
        /// The error of `make`. The map is then unchanged.
        ///
        /// # Panics
        /// If `make` panics. The map is then unchanged.
        pub fn try_get_or_insert_with<E>(
            &mut self,
            key: &K,
            make: impl FnOnce(&K) -> Result<V, E>,
        ) -> Result<V, E> {
            self.entry(key).or_try_insert_with_key(make)
        }
    };
}

pub(crate) use pair_making;
