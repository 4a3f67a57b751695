//! The shared map with weak keys, by identity.

use core::convert::Infallible;
use core::fmt;
use core::iter::FusedIterator;

use super::common::{counting, iterating, owned_values, showing, taking, without_hasher};
use super::identity::{Address, ByAddress, stays};
use super::iter::{Iter, Keys};
use super::limits::ceiling;
use super::table::Table;
use super::watch::{SharedKey, SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use super::way::Way;
use crate::collections::traits::collecting;
use crate::ptr::{Anchor, Atomic};
use crate::reference::{Identify, WeakKey};

/// A hash map with weak keys, by identity, shared between threads behind `&self`: private data
/// about objects that you do not own. Reads are lock-free, and readers do not slow each other.
///
/// See [the module](crate::concurrent) for the common properties of all shared collections, and
/// [`weakly::WeakMap`](crate::WeakMap) for the map of a single owner.
///
/// The keys are handles that threads can share, or [`Anchor`](crate::Anchor)s: with anchors, the
/// map lacks the methods that return keys.
///
/// Values are returned as clones ([`get`](Self::get)) or passed to a closure
/// ([`with`](Self::with)). Put a value that is expensive to clone into an [`Arc`](std::sync::Arc).
///
/// ```
/// use weakly::{Strong, concurrent::WeakMap};
///
/// let visits = WeakMap::new();
/// let page = Strong::new("index");
/// std::thread::scope(|scope| {
///     for _ in 0..2 {
///         scope.spawn(|| {
///             visits.compute(&page, |count: Option<&u32>| Some(count.copied().unwrap_or(0) + 1));
///         });
///     }
/// });
/// assert_eq!(visits.get(&page), Some(2));
/// drop(page);
/// assert!(visits.is_empty());
/// ```
pub struct WeakMap<K: SharedKey, V> {
    pub(super) table: Table<ByAddress<K, V>>,
}

without_hasher! {
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// static VISITS: WeakMap<Strong<str>, u32> = WeakMap::new();
    ///
    /// let page = Strong::from("index");
    /// VISITS.insert(&page, 1);
    /// assert_eq!(VISITS.get(&page), Some(1));
    /// ```
    [K: SharedKey, V] WeakMap<K, V>
}

impl<K: SharedKey, V> WeakMap<K, V> {
    owned_values!();
    taking! {
        table, V, |(_, value)| value,
        "Takes out the values of at most `n` dead keys, instead of destroying them.";
        /// ```
        /// use weakly::{Reclaim, Strong, concurrent::WeakMap};
        ///
        /// let map = WeakMap::new();
        /// map.set_reclaim(Reclaim::OnRequest);
        /// let objects: Vec<_> = (0..3).map(Strong::new).collect();
        /// objects.iter().for_each(|object| _ = map.insert(object, format!("{object}")));
        /// drop(objects);
        /// assert_eq!(map.take_dead(2).len(), 2); // and dropped here
        /// assert_eq!(map.take_dead(2).len(), 1);
        /// assert!(map.take_dead(2).is_empty());
        /// ```
    }
    ceiling!(K, V, |_, watch| watch.into_weak());
    counting!();

    /// Returns whether there is a value for the key. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.with(key, |_| ()).is_some()
    }

    /// Passes the value of a key to a closure. O(1), lock-free.
    ///
    /// The closure may use the map, this entry included; an entry removed while the closure runs is
    /// destroyed afterwards.
    #[inline]
    pub fn with<Q: ?Sized + Identify<K>, R>(
        &self,
        key: &Q,
        look: impl FnOnce(&V) -> R,
    ) -> Option<R> {
        let look = |(), value: &_| look(value);
        self.table
            .look_at::<K, Q, _, R>(key, |_, _| Some(()), stays, look)
    }

    /// Sets the value of a key; returns true if the key had no value. O(1) amortised. The previous
    /// value is destroyed like a removed value. A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) is not kept.
    ///
    /// The map of [one owner](crate::WeakMap::insert) returns the previous value. Here other
    /// threads may still be looking at the previous value, and values need not be `Clone`: for
    /// `Clone` values, [`swap`](Self::swap) returns a clone.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1), …)` the only handle is
    /// dropped at the end of the statement, and the entry dies with the object.
    #[inline]
    pub fn insert(&self, key: &K, value: V) -> bool {
        self.put(key, value, |_| ()).is_none()
    }

    /// Sets the value of a key. Returns the result of `old` for the replaced value.
    #[inline]
    fn put<R>(&self, key: &K, value: V, old: impl FnOnce(&V) -> R) -> Option<R> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let watch = self.table.watch(hash, key);
        let (hold, old) = (|_: &_, _: &_| Some(()), |(), value: &_| old(value));
        self.table.put(hash, address, watch, value, hold, old)
    }

    /// Removes the entry of a key if the closure returns true for the value; returns whether the
    /// entry was removed. O(1) for each call of the closure. If another thread has changed the
    /// entry meanwhile, the closure is called again; as for [`compute`](Self::compute), nothing
    /// bounds the number of calls. The closure is not called for a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// The map of [one owner](crate::WeakMap::remove_if) returns the value. Here other threads may
    /// still be looking at the value: [`remove`](Self::remove) returns a clone.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn remove_if<Q: ?Sized + Identify<K>>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> bool {
        let wanted =
            |entry: Option<(&_, &V)>| entry.and_then(|(_, value)| wanted(value).then_some(()));
        self.table
            .take::<K, Q, _, _>(key, wanted, |(), _| ())
            .is_some()
    }
}

impl<K: SharedKey, V: Clone> WeakMap<K, V> {
    /// Returns a clone of the value of a key. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.with(key, V::clone)
    }

    /// Returns the key, and a clone of its value. O(1), lock-free. Also returns `None` during the
    /// key's destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)>
    where
        K: SharedRef,
    {
        let hold = |watch: &SharedWatchFor<K>, _: &V| watch.upgrade();
        let entry = |key, value: &V| (key, value.clone());
        self.table.look_at::<K, Q, _, _>(key, hold, stays, entry)
    }

    /// Sets the value of a key, and returns a clone of the previous value. O(1) amortised. A value
    /// that is [being made](crate::concurrent#a-value-that-is-being-made) is not kept.
    pub fn swap(&self, key: &K, value: V) -> Option<V> {
        self.put(key, value, V::clone)
    }

    /// Returns the value of a key; makes the value if there is none. O(1) amortised.
    ///
    /// Only one thread makes the value. Other threads that ask for the same key wait, and get the
    /// same value. If making panics, nothing is kept, and one of the waiting threads makes the
    /// value instead. If the key is removed while its value is made, the made value is not kept. If
    /// the value is set meanwhile, the set value stays. In both cases only the making caller gets
    /// the made value; the waiting threads find the set value, or one of them makes a value anew.
    ///
    /// The closure gets a weak handle to the key, so that a value can refer to its key without
    /// keeping it alive.
    ///
    /// A waiting call blocks its thread: do not make the call on the only thread of an executor,
    /// whose other tasks may have to make the value. Where the closure waits for a work-stealing
    /// pool, or for a lock that callers hold, use
    /// [`get_or_insert_racing`](Self::get_or_insert_racing), which never waits. For a value that is
    /// quick to make, and may be made twice, [`compute`](Self::compute) is cheaper, because it
    /// makes no reservation: `|old| old.copied().or(Some(1))`, say.
    ///
    /// # Panics
    /// If the closure asks for the value that it is making, or for a value whose making waits for
    /// it, on any thread.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// let lengths = WeakMap::new();
    /// let text = Strong::new(String::from("text"));
    /// assert_eq!(lengths.get_or_insert_with(&text, |_| text.len()), 4);
    /// assert_eq!(lengths.get_or_insert_with(&text, |_| unreachable!()), 4);
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> V {
        let Ok(value) = self.try_get_or_insert_with(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the value of a key; makes the value if there is none, and may fail. O(1) amortised.
    /// See [`get_or_insert_with`](Self::get_or_insert_with).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and one of the waiting threads makes the
    /// value instead: n threads that wait for a value which cannot be made try n times, one after
    /// the other. [`try_get_or_insert_shared`](Self::try_get_or_insert_shared) tries once.
    ///
    /// # Panics
    /// As [`get_or_insert_with`](Self::get_or_insert_with).
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// let parsed = WeakMap::new();
    /// let text = Strong::new(String::from("7"));
    /// let failed = parsed.try_get_or_insert_with(&text, |_| "seven".parse::<u32>());
    /// assert!(failed.is_err() && parsed.is_empty());
    /// assert_eq!(parsed.try_get_or_insert_with(&text, |_| text.parse()), Ok(7));
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_get_or_insert_with<E>(
        &self,
        key: &K,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        self.table
            .value_or_make((hash, &address), key, Way::WAITS, make)
    }

    /// Returns the value of a key; makes the value if there is none, and may fail. If the making
    /// fails, all threads and tasks that wait for it, by a method that shares errors of this type,
    /// get a clone of the error. The next call makes the value anew. O(1) amortised. Otherwise as
    /// [`try_get_or_insert_with`](Self::try_get_or_insert_with).
    ///
    /// # Errors
    /// The error of the closure, or a clone of the error of the making for which the call has
    /// waited. Then nothing is kept.
    ///
    /// # Panics
    /// As [`get_or_insert_with`](Self::get_or_insert_with).
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// let parsed = WeakMap::new();
    /// let text = Strong::new(String::from("seven"));
    /// assert!(parsed.try_get_or_insert_shared(&text, |_| text.parse::<u32>()).is_err());
    /// assert_eq!(parsed.try_get_or_insert_shared(&text, |_| "7".parse()), Ok(7));
    /// ```
    #[inline]
    #[track_caller]
    pub fn try_get_or_insert_shared<E: Clone + Send + Sync + 'static>(
        &self,
        key: &K,
        make: impl FnOnce(&K::Weak) -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        self.table
            .value_or_make((hash, &address), key, Way::SHARES, make)
    }

    /// Returns the value of a key; makes the value if there is none, and never waits. Threads that
    /// ask for the same key at once each make a value, and all get the value that is inserted
    /// first. O(1) amortised.
    ///
    /// Use the method where a waiting thread could hold up the thread for which it waits: where the
    /// closure waits for a work-stealing pool, or takes a lock that callers hold. If another thread
    /// makes the value by [`get_or_insert_with`](Self::get_or_insert_with), the value that is made
    /// first goes to both calls, and to the waiting threads. No cycle is detected: a closure that
    /// asks for its own key recurses without end. If the key is removed while the value is made,
    /// the value is returned, and not kept.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// let lengths = WeakMap::new();
    /// let text = Strong::new(String::from("text"));
    /// let length = || lengths.get_or_insert_racing(&text, |_| text.len());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(length);
    ///     assert_eq!(length(), 4);
    /// });
    /// assert_eq!(lengths.len(), 1);
    /// ```
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
        let (hash, address) = Address::of(WeakKey::addr(key));
        self.table
            .value_or_make((hash, &address), key, Way::RACES, make)
    }

    /// Changes the value of a key: the closure gets the present value, if any, and returns the new
    /// value, or `None` to remove the entry. Returns a clone of the new value. O(1) amortised.
    ///
    /// The change is atomic: if another thread changes the entry while the closure runs, the
    /// closure is called again. Some thread always succeeds, but this thread may starve: if other
    /// threads change the entry again and again, and faster than the closure runs, nothing bounds
    /// the number of calls. If starvation matters, keep the closure short, or the value behind a
    /// lock of its own.
    ///
    /// The closure does not get a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made). If the closure returns a value, the
    /// value being made will not be kept; if the closure returns `None`, the value being made will
    /// be kept.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn compute(&self, key: &K, change: impl FnMut(Option<&V>) -> Option<V>) -> Option<V> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        self.table
            .compute_value(hash, &address, key, |_, _| Some(()), change)
    }

    /// Moves the value of `from` to `to`, for an object that takes the place of another, and
    /// returns a clone of the old value of `to`. O(1) amortised. If `from` has no value, nothing
    /// changes, and `to` keeps its value. The same holds if both are the same object. The new entry
    /// lives as long as `to`. A transfer of `from` needs no handle, and so is possible in its
    /// destructor.
    ///
    /// Other threads may be looking at the value, so `to` gets a clone. The clone is inserted
    /// before the entry of `from` is removed: a thread that asks for `from` and then for `to` finds
    /// one of them, and for a moment both have the value. The removal is left out if another thread
    /// has changed the entry of `from` meanwhile. So beside `transfer(b, a)` and beside an
    /// insertion, no value is lost. A value that another thread removes from `from` meanwhile may
    /// still reach `to`, and of two threads that transfer one value to different objects, both may
    /// succeed.
    ///
    /// A value of `from` that is [being made](crate::concurrent#a-value-that-is-being-made) is not
    /// moved, and will be kept; a value of `to` that is being made is not kept. Under a ceiling, a
    /// transfer inserts one entry and removes the other ([`Gone::Removed`](crate::keep::Gone)), but
    /// evicts no entry if the clone weighs as much as the value. A copy of a value for a second
    /// object is `get`, and then `insert`.
    ///
    /// # Panics
    /// If `Clone` panics. Then nothing has changed.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakMap};
    ///
    /// let (call, inlined) = (Strong::new("call f"), Strong::new("the body of f"));
    /// let spans = WeakMap::from([(&call, 10..24)]);
    /// assert_eq!(spans.transfer(&call, &inlined), None);
    /// assert_eq!((spans.get(&call), spans.get(&inlined)), (None, Some(10..24)));
    /// ```
    pub fn transfer<Q: ?Sized + Identify<K>>(&self, from: &Q, to: &K) -> Option<V> {
        let (hash, _) = Address::of(WeakKey::addr(to));
        let copy = |_: &_, value: &V| Some((self.table.watch(hash, to), value.clone()));
        let hold = |_: &_, value: &V| Some(value.clone());
        self.table.transfer_between((from, to), copy, hold)
    }

    /// Removes the entry of a key, and returns a clone of its value. O(1). If values are not
    /// `Clone`, use `remove_if(key, |_| true)`. The value itself is destroyed when no thread looks
    /// at it any more, as for [`remove_if`](Self::remove_if), or, from eight threads on, [with a
    /// batch](crate::concurrent#when-and-where-what-a-dead-entry-owns-is-destroyed). A value that
    /// is [being made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.table
            .take::<K, Q, _, _>(key, |_| Some(()), |(), value| value.clone())
    }

    /// Removes the entry of a key, and returns the key with a clone of its value. O(1). Returns
    /// `None` during the key's destructor, and removes the entry all the same. A value that is
    /// [being made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove_entry<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)>
    where
        K: SharedRef,
    {
        let hold = |entry: Option<(&SharedWatchFor<K>, &V)>| {
            Some(entry.and_then(|(watch, _)| watch.upgrade()))
        };
        let entry = |key: Option<K>, value: &V| Some((key?, value.clone()));
        self.table.take::<K, Q, _, _>(key, hold, entry)?
    }
}

showing!([K: SharedRef + fmt::Debug, V: fmt::Debug] WeakMap<K, V>,
    debug_map: |map, _, watch, value| watch.upgrade().map(|key| _ = map.entry(&key, value)));
showing!(/** Shows the values: an anchor says nothing. */ [V: fmt::Debug] WeakMap<Anchor<Atomic>, V>,
    debug_list: |values, _, _, value| values.entry(value));
iterating!([K: SharedRef, V: Clone] WeakMap<K, V>, (K, V), Iter<'m, K, V>);
collecting!(['k, K: SharedKey, V] WeakMap<K, V>, from ['k, K: SharedKey, V] WeakMap<K, V>, where [], [],
    (&'k K, V): |map, (key, value)| map.insert(key, value));
