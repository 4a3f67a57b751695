//! The shared map with weak keys, by content.

use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;

use super::common::{counting, iterating, owned_values, showing, taking, with_hasher};
use super::content::{Contents, without_key};
use super::iter::{Iter, Keys};
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use super::way::{Errors, Way};
use crate::collections::traits::collecting;
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::raw::Tally;
use crate::reference::{Content, Query, hash_of};

/// A hash map with owned values and weak keys, by content (`Eq + Hash`), shared between threads
/// behind `&self`: data about a content, for as long as an object with the content lives.
///
/// See [the module](crate::concurrent) for the common properties of all shared collections, and
/// [`weakly::WeakHashMap`](crate::WeakHashMap) for the map of a single owner.
///
/// Any object with equal content finds an entry, through a handle of any kind, and so does any
/// [`Equivalent`](crate::Equivalent) borrowed content: `&str` for `Strong<str>`. See [`Query`]. But
/// the entry lives as long as one object: **the key with which its value was set**. A method that
/// sets a value ([`insert`](Self::insert), [`swap`](Self::swap), [`compute`](Self::compute))
/// replaces a key of equal content, also a dead key that is not reclaimed yet;
/// [`get_or_insert_with`](Self::get_or_insert_with) leaves an existing entry with its key. If
/// several keys of equal content are inserted at once, the last key stays. A content whose key has
/// died has no entry, even if other objects with the content live.
///
/// Reads are lock-free, except that they upgrade the key, which is a read-modify-write on the
/// object's own count. `Hash` is called once for each operation, and `Eq` only on live contents,
/// under no lock. The key is kept alive while its content is compared and while a closure looks at
/// its value. If the lookup's handle turns out to be the last strong handle, the key dies at the
/// end of the operation, on this thread. Inside a key's own destructor its content finds nothing.
/// If the `Hash` or `Eq` of a content change while the content is in the map, or contradict each
/// other, lookups may miss; nothing worse happens.
///
/// ```
/// use weakly::{Strong, concurrent::WeakHashMap};
///
/// let uses = WeakHashMap::new();
/// let word: Strong<str> = "word".into();
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             uses.compute(&word, |count: Option<&u32>| Some(count.copied().unwrap_or(0) + 1));
///         });
///     }
/// });
/// assert_eq!(uses.get("word"), Some(2));
/// drop(word);
/// assert_eq!(uses.get("word"), None);
/// ```
pub struct WeakHashMap<K: SharedRef, V, S = DefaultHashBuilder> {
    pub(super) table: Table<Contents<K, V>>,
    hasher: S,
}

with_hasher! {
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use weakly::{Strong, concurrent::WeakHashMap};
    ///
    /// type Hasher = BuildHasherDefault<DefaultHasher>;
    /// static USES: WeakHashMap<Strong<str>, u32, Hasher> = WeakHashMap::with_hasher(Hasher::new());
    /// assert!(USES.get("word").is_none());
    /// ```
    [K: SharedRef, V] WeakHashMap<K, V>
}

/// Methods over all entries.
impl<K: SharedRef, V, S> WeakHashMap<K, V, S> {
    owned_values!();
    counting!();
    taking! {
        table, V, |(_, value)| value,
        "Takes out the values of at most `n` dead keys, instead of destroying them.";
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V, S: BuildHasher> WeakHashMap<K, V, S> {
    /// Returns whether a live key has this content. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> bool {
        self.with(key, |_| ()).is_some()
    }

    /// Passes the value of the live key with this content to a closure. O(1), lock-free.
    ///
    /// The closure may use the map, this entry included; an entry removed while the closure runs is
    /// destroyed afterwards. The key is kept alive meanwhile.
    #[inline]
    pub fn with<Q: ?Sized + Query<K::Target, M>, M, R>(
        &self,
        key: &Q,
        look: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.look_up(hash, sought, look).map(without_key)
    }

    /// Sets the value of a key; returns true if no live key of equal content had a value. O(1)
    /// amortised. The previous value is destroyed like a removed value; from now on the entry lives
    /// as long as this key. A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) is not kept. For `Clone` values,
    /// [`swap`](Self::swap) returns a clone of the previous value.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1), …)` the only handle is
    /// dropped at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&self, key: &K, value: V) -> bool {
        self.insert_hashed(self.hasher.hash_one(K::content(key)), key, value)
    }

    /// Sets the value of a key whose content has the given hash, as [`insert`](Self::insert) does.
    /// The hash must come from the [hasher](Self::hasher). O(1) amortised. The content is not
    /// hashed: see [`Hashed`](crate::Hashed).
    #[inline]
    #[doc(alias = "insert_hashed_nocheck")]
    pub fn insert_hashed(&self, hash: u64, key: &K, value: V) -> bool {
        self.put(HashValue::fold(hash), key, value, |_| ())
            .is_none()
    }

    /// Sets the value of a key. Returns the result of `old` for the replaced value, if its key was
    /// alive.
    #[inline]
    fn put<R>(&self, hash: HashValue, key: &K, value: V, old: impl FnOnce(&V) -> R) -> Option<R> {
        let hold = |watch: &SharedWatchFor<K>, _: &V| watch.hold();
        self.table
            .set(hash, key, value, hold, |key, value| (key, old(value)))
            .map(without_key)
    }

    /// Removes the live key with this content if the closure returns true for its value; returns
    /// whether the key was removed. O(1) for each call of the closure. If another thread has
    /// changed the entry meanwhile, the closure is called again; as for [`compute`](Self::compute),
    /// nothing bounds the number of calls. As in [`WeakMap::remove_if`](super::WeakMap::remove_if),
    /// the value is not returned, and the closure is not called for a value that is being made: the
    /// value will be kept.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn remove_if<Q: ?Sized + Query<K::Target, M>, M>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> bool {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        let wanted = |value: Option<&V>| value.is_some_and(&mut wanted);
        self.table.take(hash, sought, wanted, |_| ()).is_some()
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V: Clone, S: BuildHasher> WeakHashMap<K, V, S> {
    /// Returns a clone of the value of the live key with this content. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<V> {
        self.with(key, V::clone)
    }

    /// Returns the live key with this content, and a clone of its value. O(1), lock-free.
    pub fn get_key_value<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, V)> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.look_up(hash, sought, V::clone)
    }

    /// Sets the value of a key, and returns a clone of the content's previous value. O(1)
    /// amortised. From now on the entry lives as long as this key. A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) is not kept.
    pub fn swap(&self, key: &K, value: V) -> Option<V> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.put(hash, key, value, V::clone)
    }

    /// Returns the value of the live key with equal content; if there is none, makes a value for
    /// this key. O(1) amortised.
    ///
    /// Only one thread makes the value, as for
    /// [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with), even if other threads
    /// ask with other objects of equal content. The entry lives as long as the key of the making
    /// caller.
    ///
    /// A waiting call blocks its thread: do not make the call on the only thread of an executor.
    /// See [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it is making, or for a value whose making waits for
    /// it, on any thread.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakHashMap};
    ///
    /// let lengths = WeakHashMap::new();
    /// let [one, other] = ["text", "text"].map(Strong::<str>::from);
    /// assert_eq!(lengths.get_or_insert_with(&one, |_| one.len()), 4);
    /// assert_eq!(lengths.get_or_insert_with(&other, |_| unreachable!()), 4);
    /// drop(one);
    /// assert!(lengths.is_empty());
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> V {
        self.get_or_insert_with_hashed(self.hasher.hash_one(K::content(key)), key, make)
    }

    /// Returns the value of a key whose content has the given hash, as
    /// [`get_or_insert_with`](Self::get_or_insert_with) does. The hash must come from the
    /// [hasher](Self::hasher). O(1) amortised. The content is compared, and not hashed: see
    /// [`Hashed`](crate::Hashed).
    ///
    /// # Panics
    /// As `get_or_insert_with`.
    #[inline]
    #[track_caller]
    #[doc(alias = "from_key_hashed_nocheck")]
    pub fn get_or_insert_with_hashed(
        &self,
        hash: u64,
        key: &K,
        make: impl FnOnce(&K::Weak) -> V,
    ) -> V {
        let make = |key: &K::Weak| Ok::<_, Infallible>(make(key));
        let Ok(value) = self.value_or_make(HashValue::fold(hash), key, Way::WAITS, make);
        value
    }

    /// Returns the value of the live key with equal content; if there is none, makes a value for
    /// this key, and may fail. O(1) amortised. See
    /// [`get_or_insert_with`](Self::get_or_insert_with), and
    /// [`WeakMap::try_get_or_insert_with`](super::WeakMap::try_get_or_insert_with) for an example.
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and one of the waiting threads makes the
    /// value instead: n threads that wait for a value which cannot be made try n times, one after
    /// the other. [`try_get_or_insert_shared`](Self::try_get_or_insert_shared) tries once.
    ///
    /// # Panics
    /// As [`get_or_insert_with`](Self::get_or_insert_with).
    #[inline]
    #[track_caller]
    pub fn try_get_or_insert_with<E>(
        &self,
        key: &K,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.value_or_make(hash, key, Way::WAITS, make)
    }

    /// Returns the value of the live key with equal content; if there is none, makes a value for
    /// this key, and may fail. The threads that wait share the error. O(1) amortised. See
    /// [`WeakMap::try_get_or_insert_shared`](super::WeakMap::try_get_or_insert_shared).
    ///
    /// # Errors
    /// The error of the closure, or a clone of the error of the making for which the call has
    /// waited. Then nothing is kept.
    ///
    /// # Panics
    /// As [`get_or_insert_with`](Self::get_or_insert_with).
    #[inline]
    #[track_caller]
    pub fn try_get_or_insert_shared<E: Clone + Send + Sync + 'static>(
        &self,
        key: &K,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.value_or_make(hash, key, Way::SHARES, make)
    }

    /// Returns a clone of the value of a key; `make` makes a missing value.
    #[inline]
    #[track_caller]
    fn value_or_make<E, Es: Errors<E>>(
        &self,
        hash: HashValue,
        key: &K,
        way: Way<Es>,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let found = self.table.look_up(hash, K::content(key), V::clone);
        if let Some(value) = found.map(without_key) {
            self.table.nodes.tally(Tally::Hit);
            drop(make);
            return Ok(value);
        }
        // Dead entries are swept before the value is reserved: a destructor of a dead entry may ask
        // for the same content, and would wait for the value that this thread has to make.
        self.table.sweep_hash(hash);
        let weak = K::downgrade(key);
        let made = self.table.value_or_make((hash, &weak), key, way, make);
        // T5
        drop(weak);
        made
    }

    /// Returns the value of the live key with equal content; if there is none, makes a value for
    /// this key, and never waits. O(1) amortised. See
    /// [`WeakMap::get_or_insert_racing`](super::WeakMap::get_or_insert_racing).
    #[track_caller]
    pub fn get_or_insert_racing(&self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> V {
        let Ok(value) = self.try_get_or_insert_racing(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the value of a key; makes the value if there is none, may fail, and never waits.
    /// O(1) amortised. See [`get_or_insert_racing`](Self::get_or_insert_racing).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept.
    #[track_caller]
    pub fn try_get_or_insert_racing<E>(
        &self,
        key: &K,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.value_or_make(hash, key, Way::RACES, make)
    }

    /// Changes the value of a key: the closure gets the value of the live key with equal content,
    /// if any, and returns the new value, or `None` to remove the entry. Returns a clone of the new
    /// value, whose entry lives as long as this key. O(1) amortised. Like
    /// [`WeakMap::compute`](super::WeakMap::compute), the change is atomic, and may starve; a value
    /// that is being made is treated as described there.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn compute(&self, key: &K, change: impl FnMut(Option<&V>) -> Option<V>) -> Option<V> {
        let hash = HashValue::of(&self.hasher, K::content(key));
        self.table.sweep_hash(hash);
        let weak = K::downgrade(key);
        let hold = |key: &SharedWatchFor<K>, _: &V| key.hold();
        let new = self.table.compute_value(hash, &weak, key, hold, change);
        // T5
        drop(weak);
        new
    }

    /// Moves the value of a content to the key `to`, and returns a clone of the old value of this
    /// key or of a live key with equal content. O(1) amortised. From now on the entry lives as long
    /// as `to`. If `from` has no value, nothing changes, and `to` keeps its value. If both have
    /// equal content, the value stays, and lives as long as `to`; the call returns `None`.
    /// Otherwise as [`WeakMap::transfer`](super::WeakMap::transfer), also beside other threads.
    ///
    /// # Panics
    /// If `Hash`, `Eq` or `Clone` panics. Then nothing has changed.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakHashMap};
    ///
    /// let [old, new] = ["old", "new"].map(Strong::<str>::from);
    /// let uses = WeakHashMap::from([(&old, 3), (&new, 1)]);
    /// assert_eq!(uses.transfer("old", &new), Some(1));
    /// assert_eq!((uses.get("old"), uses.get("new")), (None, Some(3)));
    /// ```
    pub fn transfer<Q: ?Sized + Query<K::Target, M>, M>(&self, from: &Q, to: &K) -> Option<V> {
        let sought = Q::content(from);
        let hash = hash_of(&self.hasher, sought);
        let new = HashValue::of(&self.hasher, K::content(to));
        self.table.transfer_to((hash, sought), (new, to))
    }

    /// Removes the live key with this content, and returns a clone of its value. O(1). The value
    /// itself is destroyed when no thread looks at it any more, as for
    /// [`remove_if`](Self::remove_if). A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<V> {
        self.remove_entry(key).map(without_key)
    }

    /// Removes the live key with this content, and returns the key with a clone of its value. O(1).
    /// A value that is [being made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove_entry<Q: ?Sized + Query<K::Target, M>, M>(&self, key: &Q) -> Option<(K, V)> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.take(hash, sought, |_| true, V::clone)
    }
}

showing!([K: SharedRef + fmt::Debug, V: fmt::Debug, S] WeakHashMap<K, V, S>,
    debug_map: |map, (), watch, value| watch.upgrade().map(|key| _ = map.entry(&key, value)));
iterating!([K: SharedRef, V: Clone, S] WeakHashMap<K, V, S>, (K, V), Iter<'m, K, V>);
collecting!(['k, K: Content + SharedRef, V, S] WeakHashMap<K, V, S>,
    from ['k, K: Content + SharedRef, V] WeakHashMap<K, V>,
    where [K::Target: Eq + Hash,], [S: BuildHasher,],
    (&'k K, V): |map, (key, value)| map.insert(key, value));
