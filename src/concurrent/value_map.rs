//! The shared map with weak values.

mod tasks;

use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, Hash};
use core::iter::FusedIterator;

use super::common::{counting, iterating, showing, taking, with_hasher};
use super::iter::ValueIter;
use super::key::ByKey;
use super::limits::floor;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, Watches, WatchesOne};
use super::way::{Errors, Way, made_by};
use crate::collections::traits::collecting;
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{Query, Sought, WeakKey, hash_of};

/// A hash map with owned keys and weak values, shared between threads behind `&self`: "the one live
/// object of this name, if there is one". Reads are lock-free, except that they upgrade the value,
/// which is a read-modify-write on the object's own count.
///
/// See [the module](crate::concurrent) for the common properties of all shared collections, and
/// [`weakly::WeakValueMap`](crate::WeakValueMap) for the map of a single owner.
///
/// A key whose value has died is destroyed like the values of a [`WeakMap`](super::WeakMap). `Hash`
/// is called once for each operation, and `Eq` under no lock.
///
/// ```
/// use weakly::{Strong, concurrent::WeakValueMap};
///
/// let assets = WeakValueMap::new();
/// let load = |name: &&str| Strong::new(format!("pixels of {name}"));
/// std::thread::scope(|scope| {
///     let one = scope.spawn(|| assets.get_or_insert_with("wood", load));
///     let other = assets.get_or_insert_with("wood", load);
///     assert!(Strong::ptr_eq(&one.join().unwrap(), &other)); // loaded once
/// });
/// assert!(assets.get("wood").is_none()); // and gone with its last user
/// ```
pub struct WeakValueMap<K, V: SharedRef, S = DefaultHashBuilder> {
    pub(super) table: Table<Named<K, V>>,
    hasher: S,
}

pub(super) type Named<K, V> = ByKey<K, SharedWatchFor<V>, ()>;

with_hasher! {
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// type Hasher = BuildHasherDefault<DefaultHasher>;
    /// static ASSETS: WeakValueMap<u32, Strong<str>, Hasher> = WeakValueMap::with_hasher(Hasher::new());
    /// assert!(ASSETS.get(&1).is_none());
    /// ```
    [K, V: SharedRef] WeakValueMap<K, V>
}

/// Methods over all entries.
impl<K, V: SharedRef, S> WeakValueMap<K, V, S> {
    floor!(V);
    counting!();
    taking! {
        table, K, |(key, ())| key,
        "Takes out the keys of at most `n` dead values, instead of destroying them.";
    }

    /// Keeps the entries for which the closure returns true, and dead entries, which are reclaimed
    /// as usual. O(capacity). The closure may miss entries that other threads insert meanwhile. The
    /// closure does not see a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// Each value is kept alive while the closure sees the value; if no other strong handle is left
    /// afterwards, the object dies during the call.
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.table
            .retain(|key, watch, ()| watch.upgrade().is_none_or(|value| keep(key, &value)));
    }

    /// Keeps the entries for whose value the closure returns true. Otherwise as
    /// [`retain`](Self::retain).
    pub fn retain_values(&self, mut keep: impl FnMut(&V) -> bool) {
        self.retain(|_, value| keep(value));
    }

    /// Iterates over clones of the keys of the live entries, in no order, as a snapshot: see
    /// [`iter`](Self::iter). No value is kept alive.
    pub fn keys(&self) -> impl FusedIterator<Item = K> + fmt::Debug
    where
        K: Eq + Clone,
    {
        let live = |_: &_, watch: &SharedWatchFor<V>, (): &()| (!watch.is_expired()).then_some(());
        self.table.snapshot(live).map(|(key, ())| key)
    }

    /// Iterates over clones of the keys under which the map has this value, in no order, as a
    /// snapshot. A key that has another value at its turn is left out. A key that other threads
    /// insert, or insert anew, meanwhile may be left out.
    ///
    /// O(n log n) for all n registrations of the value, in all collections: the value lists its
    /// registrations, and the map is not scanned. A value that does not notify, such as an
    /// [`Arc`](std::sync::Arc), has no list: then O(capacity).
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// let (wood, stone) = (Strong::new("wood"), Strong::new("stone"));
    /// let textures = WeakValueMap::from([("floor", &wood), ("wall", &stone), ("door", &wood)]);
    /// let mut wooden: Vec<_> = textures.keys_of(&wood).collect();
    /// wooden.sort();
    /// assert_eq!(wooden, ["door", "floor"]);
    /// assert_eq!(textures.remove_value(&wood), 2);
    /// assert!(textures.keys().eq(["wall"]));
    /// ```
    pub fn keys_of<'m>(&'m self, value: &'m V) -> impl FusedIterator<Item = K> + fmt::Debug + 'm
    where
        K: Eq + Clone,
    {
        let addr = WeakKey::addr(value);
        let show = |_: &_, watch: &SharedWatchFor<V>, (): &()| Some(watch.addr());
        self.table
            .snapshot_of(
                self.table.hashes_of::<SharedWatchFor<V>>(value),
                move |watch| watch.addr() == addr,
                show,
            )
            .filter_map(move |(key, at)| (at == addr).then_some(key))
    }

    /// Removes the entries with this value, at the cost of [`keys_of`](Self::keys_of); returns the
    /// number of removed entries. An entry that another thread inserts meanwhile may stay. A
    /// value that is [being made](crate::concurrent#a-value-that-is-being-made) will be kept.
    pub fn remove_value(&self, value: &V) -> usize {
        let addr = WeakKey::addr(value);
        let hashes = self.table.hashes_of::<SharedWatchFor<V>>(value);
        self.table
            .remove_each(hashes.as_deref(), |watch| watch.addr() == addr, |_| false)
    }

    /// Iterates over the values of the live entries, in no order, as a snapshot: see
    /// [`iter`](Self::iter).
    pub fn values(&self) -> impl FusedIterator<Item = V> + fmt::Debug
    where
        K: Eq + Clone,
    {
        self.iter().map(|(_, value)| value)
    }

    /// Iterates over the live entries, in no order, as a snapshot that keeps no value alive. An
    /// entry that is removed, or whose value dies, before the iterator reaches the entry is left
    /// out. O(capacity), and a clone of each key. Looking a key up costs O(1); the key is not
    /// hashed again.
    pub fn iter(&self) -> ValueIter<'_, K, V>
    where
        K: Eq + Clone,
    {
        ValueIter(self.table.snapshot(|_, watch, ()| watch.upgrade()))
    }

    /// Iterates over the live entries as [`iter`](Self::iter) does, with weak handles to the
    /// values, without upgrading a handle: use `iter_weak` where an object must not be kept alive
    /// even for a moment. The first weak handle to an object allocates a record for the object.
    pub fn iter_weak(&self) -> impl FusedIterator<Item = (K, V::Weak)> + fmt::Debug
    where
        K: Eq + Clone,
    {
        self.table.snapshot(|_, watch, ()| watch.downgrade())
    }
}

impl<K: Eq + Hash, V: SharedRef, S: BuildHasher> WeakValueMap<K, V, S> {
    #[inline]
    fn look<Q: ?Sized + Query<K, M>, M, H, R>(
        &self,
        key: &Q,
        hold: impl Fn(&SharedWatchFor<V>) -> Option<H>,
        show: impl FnOnce(H, &K) -> R,
    ) -> Option<R> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.read_where(
            hash,
            |node| Sought::is(sought, node.key()),
            |_, watch, ()| hold(watch),
            Watches::is_stale,
            |held, key, ()| show(held, key),
        )
    }

    fn take<Q: ?Sized + Query<K, M>, M, H, R>(
        &self,
        key: &Q,
        mut hold: impl FnMut(Option<&SharedWatchFor<V>>) -> Option<H>,
        show: impl FnOnce(H, &K) -> R,
    ) -> Option<R> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        let hold_it = |entry: Option<(&_, &())>| hold(entry.map(|(watch, ())| watch));
        let show = |held, key: &_, (): &()| show(held, key);
        let shown =
            (self.table).remove_where(hash, |node| Sought::is(sought, node.key()), hold_it, show);
        // T5 of the table.
        drop(hold);
        shown
    }

    /// Returns the live value of a key. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<V> {
        self.look(key, UpgradesOne::upgrade, |value, _| value)
    }

    /// Returns whether the key has a live value. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> bool {
        let live = |watch: &SharedWatchFor<V>| (!watch.is_expired()).then_some(());
        self.look(key, live, |(), _| ()).is_some()
    }

    /// Returns a clone of the key, and its live value. O(1), lock-free.
    pub fn get_key_value<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<(K, V)>
    where
        K: Clone,
    {
        self.look(key, UpgradesOne::upgrade, |value, key| (key.clone(), value))
    }

    /// Sets the value of a key, and returns the key's previous live value. The map does not keep
    /// the value alive. O(1) amortised. A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) is not kept.
    ///
    /// In `insert(key, &Strong::new(1))` the entry dies at the end of the statement: see
    /// [`weakly::WeakValueMap::insert`](crate::WeakValueMap::insert).
    /// [`get_or_insert_with`](Self::get_or_insert_with) returns the handle of a new object.
    pub fn insert(&self, key: K, value: &V) -> Option<V> {
        let hash = HashValue::of(&self.hasher, &key);
        let watch = SharedWatchFor::<V>::new(value);
        let hold = |watch: &SharedWatchFor<V>, (): &()| watch.upgrade();
        self.table.put(hash, key, watch, (), hold, |old, ()| old)
    }

    /// Returns the live value of a key; makes the value if there is none. O(1) amortised. The map
    /// does not keep the value alive: the caller does.
    ///
    /// Only one thread makes the value, as for
    /// [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with). The key is cloned
    /// twice: for the reservation, and for the entry.
    ///
    /// A waiting call blocks its thread: do not make the call on the only thread of an executor.
    /// See [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it is making, or for a value whose making waits for
    /// it, on any thread.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce(&K) -> V) -> V
    where
        K: Clone,
    {
        let Ok(value) = self.try_get_or_insert_with(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the live value of a key; makes the value if there is none, and may fail. O(1)
    /// amortised. See [`get_or_insert_with`](Self::get_or_insert_with).
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
    /// use std::fs;
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// let files = WeakValueMap::new();
    /// let load = |path: &&str| fs::read_to_string(path).map(Strong::new);
    /// assert!(files.try_get_or_insert_with("/no/such/file", load).is_err());
    /// assert!(files.is_empty());
    /// ```
    #[track_caller]
    pub fn try_get_or_insert_with<E>(
        &self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
    {
        self.make(key, Way::WAITS, make)
    }

    /// Returns the live value of a key; makes the value if there is none, and may fail. The threads
    /// and tasks that wait share the error. O(1) amortised. See
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
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
    {
        self.make(key, Way::SHARES, make)
    }

    // Computations nest: as a call, `make` would take a third more of the stack.
    #[inline]
    #[track_caller]
    fn make<E, Es: Errors<E>>(
        &self,
        key: K,
        way: Way<Es>,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
    {
        let hash = HashValue::of(&self.hasher, &key);
        let made = self.table.get_or_make(
            (hash, &key),
            way,
            |watch, ()| watch.upgrade(),
            || make(&key),
            |value, core| (SharedWatchFor::<V>::registered(value, hash, core), ()),
        );
        let made = made_by::<K, V, E>(made);
        drop(key);
        made
    }

    /// Returns the live value of a key; makes the value if there is none, and never waits. O(1)
    /// amortised. The map does not keep the value alive: the caller does. See
    /// [`WeakMap::get_or_insert_racing`](super::WeakMap::get_or_insert_racing).
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[track_caller]
    pub fn get_or_insert_racing(&self, key: K, make: impl FnOnce(&K) -> V) -> V
    where
        K: Clone,
    {
        let Ok(value) = self.try_get_or_insert_racing(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the live value of a key; makes the value if there is none, may fail, and never
    /// waits. O(1) amortised. See [`get_or_insert_racing`](Self::get_or_insert_racing).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept.
    #[track_caller]
    pub fn try_get_or_insert_racing<E>(
        &self,
        key: K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
    {
        self.make(key, Way::RACES, make)
    }

    /// Changes the value of a key: the closure gets the live value, if any, and returns the new
    /// value, or `None` to remove the entry. Returns the result of the closure. O(1) amortised.
    /// Like [`WeakMap::compute`](super::WeakMap::compute), the change is atomic, and may starve; a
    /// value that is being made is treated as described there. If the value passed to the closure
    /// dies meanwhile, the closure is called again. But a value whose death has to be polled, such
    /// as an `Arc`, is kept alive instead.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    pub fn compute(&self, key: K, mut change: impl FnMut(Option<V>) -> Option<V>) -> Option<V>
    where
        K: Clone,
    {
        let hash = HashValue::of(&self.hasher, &key);
        let hold = |watch: &SharedWatchFor<V>, (): &()| watch.hold();
        let new = self.table.compute(hash, &key, hold, |old| {
            let new = change(old.and_then(|(watch, ())| watch.upgrade()));
            let entry = new.as_ref().map(|value| {
                let core = self.table.core();
                (SharedWatchFor::<V>::registered(value, hash, core), ())
            });
            (entry, new)
        });
        drop((change, key));
        new
    }

    /// Removes the entry of a key; returns the value, if it is alive. O(1). A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<V> {
        let hold = |watch: Option<&SharedWatchFor<V>>| Some(watch.and_then(UpgradesOne::upgrade));
        self.take(key, hold, |value, _| value)?
    }

    /// Removes the entry of a key; returns a clone of the key with its value, if the value is
    /// alive. O(1). A value that is [being made](crate::concurrent#a-value-that-is-being-made) will
    /// not be kept.
    pub fn remove_entry<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<(K, V)>
    where
        K: Clone,
    {
        let hold = |watch: Option<&SharedWatchFor<V>>| Some(watch.and_then(UpgradesOne::upgrade));
        let entry = |value: Option<V>, key: &K| value.map(|value| (key.clone(), value));
        self.take(key, hold, entry)?
    }

    /// Removes the entry of a key if the closure returns true for the live value; returns the
    /// removed value. O(1) for each call of the closure. If another thread has changed the entry
    /// meanwhile, the closure is called again; as for [`compute`](Self::compute), nothing bounds
    /// the number of calls. The closure is not called for a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn remove_if<Q: ?Sized + Query<K, M>, M>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<V> {
        // The entry of a dead value is removed, too.
        let hold = move |watch: Option<&SharedWatchFor<V>>| match watch?.upgrade() {
            Some(value) => wanted(&value).then_some(Some(value)),
            None => Some(None),
        };
        self.take(key, hold, |value, _| value)?
    }
}

showing!([K: fmt::Debug, V: SharedRef + fmt::Debug, S] WeakValueMap<K, V, S>,
    debug_map: |map, key, watch, ()| watch.upgrade().map(|value| _ = map.entry(key, &value)));
iterating!([K: Eq + Clone, V: SharedRef, S] WeakValueMap<K, V, S>, (K, V), ValueIter<'m, K, V>);
collecting!(['v, K, V: SharedRef, S] WeakValueMap<K, V, S>, from ['v, K, V: SharedRef] WeakValueMap<K, V>,
    where [K: Eq + Hash,], [S: BuildHasher,],
    (K, &'v V): |map, (key, value)| map.insert(key, value));
