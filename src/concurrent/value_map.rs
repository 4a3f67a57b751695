//! The shared map with weak values.

use core::fmt;
use core::hash::{BuildHasher, Hash};

use super::housekeeping::shared_housekeeping;
use super::iter::ValueIter;
use super::key::ByKey;
use super::making::made_by;
use super::snapshot::Snapshot;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, UpgradesOne, Watches, WatchesOne};
use crate::hash::{DefaultHashBuilder, HashValue};
use crate::reference::{Query, Sought, hash_of};

/// A hash map with owned keys and weak values, shared between threads behind `&self`: "the one live object of this
/// name, if there is one". Reads are lock-free, except that they upgrade the value, which is a read-modify-write
/// on the object's own count.
///
/// See [the module](crate::concurrent) for what all shared collections have in common, and
/// [`weakly::WeakValueMap`](crate::WeakValueMap) for the map of a single owner.
///
/// A key whose value has died is destroyed as the values of a [`WeakMap`](super::WeakMap) are. `Hash` is called
/// once for each operation, and `Eq` under no lock.
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
    pub(super) table: Table<ByKey<K>, SharedWatchFor<V>, ()>,
    hasher: S,
}

impl<K: Eq + Hash, V: SharedRef> WeakValueMap<K, V> {
    /// An empty map.
    ///
    /// Not `const`: each map has seeds of its own. For a `static`, pass [`with_hasher`](Self::with_hasher) a
    /// hasher that is made at compile time, or make the map on first use with [`LazyLock`](std::sync::LazyLock).
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// An empty map with room for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Self::with_capacity_and_hasher(capacity, DefaultHashBuilder::default())
    }
}

impl<K: Eq + Hash, V: SharedRef, S: BuildHasher> WeakValueMap<K, V, S> {
    /// An empty map with this hasher; for a `static` too, if the hasher is made at compile time. Allocates nothing
    /// before the first insertion.
    ///
    /// ```
    /// use std::hash::{BuildHasherDefault, DefaultHasher};
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// type Hasher = BuildHasherDefault<DefaultHasher>;
    /// static ASSETS: WeakValueMap<u32, Strong<str>, Hasher> = WeakValueMap::with_hasher(Hasher::new());
    /// assert!(ASSETS.get(&1).is_none());
    /// ```
    #[must_use]
    pub const fn with_hasher(hasher: S) -> Self {
        let table = Table::with_owned_keys();
        WeakValueMap { table, hasher }
    }

    /// An empty map with this hasher and room for `capacity` entries.
    #[must_use]
    pub fn with_capacity_and_hasher(capacity: usize, hasher: S) -> Self {
        let table = Table::with_owned_keys().with_room_for(capacity);
        WeakValueMap { table, hasher }
    }

    /// The hasher.
    #[must_use]
    pub fn hasher(&self) -> &S {
        &self.hasher
    }

    shared_housekeeping!(table);

    /// The live value of a key. O(1), lock-free.
    #[inline]
    pub fn get<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<V> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.read(
            hash,
            |there| Sought::is(sought, there),
            |watch, ()| watch.upgrade(),
        )
    }

    /// Whether the key has a live value. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> bool {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table
            .read(
                hash,
                |there| Sought::is(sought, there),
                |watch, ()| (!watch.is_expired()).then_some(()),
            )
            .is_some()
    }

    /// Sets the value of a key, which the map does not keep alive, and returns its previous live value. O(1)
    /// amortised.
    pub fn insert(&self, key: K, value: &V) -> Option<V> {
        let hash = HashValue::of(&self.hasher, &key);
        let watch = SharedWatchFor::<V>::new(value);
        self.table
            .put(hash, key, watch, (), |watch, ()| watch.upgrade())?
    }

    /// The live value of a key, which is made if there is none. O(1) amortised. The map does not keep the value
    /// alive: the caller does.
    ///
    /// Only one thread makes it, as for [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with). The
    /// key is cloned twice: for the marker that its value is being made, and for its entry.
    ///
    /// # Panics
    /// If the closure asks for the value that it makes, or for one whose making waits for it, on any thread.
    #[track_caller]
    pub fn get_or_insert_with(&self, key: K, make: impl FnOnce(&K) -> V) -> V
    where
        K: Clone,
    {
        let hash = HashValue::of(&self.hasher, &key);
        let made = self.table.get_or_make(
            hash,
            &key,
            |watch, ()| watch.upgrade(),
            || make(&key),
            |value, hash, core| {
                let watch = SharedWatchFor::<V>::registered(&value, hash, core);
                (watch, (), value)
            },
        );
        let made = made_by::<K, V>(made);
        drop(key);
        made
    }

    /// Changes the value of a key: the closure is shown the live value, if any, and returns the new one, `None` to
    /// remove it. Returns what the closure returned. O(1) amortised. This is atomic, as
    /// [`WeakMap::compute`](super::WeakMap::compute) is, and may starve likewise.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    #[track_caller]
    pub fn compute(&self, key: K, mut change: impl FnMut(Option<V>) -> Option<V>) -> Option<V>
    where
        K: Clone,
    {
        let hash = HashValue::of(&self.hasher, &key);
        let new = self.table.compute(hash, &key, |old| {
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

    /// Removes the entry of a key; returns its value, if that is alive. O(1).
    pub fn remove<Q: ?Sized + Query<K, M>, M>(&self, key: &Q) -> Option<V> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        self.table.remove(
            hash,
            |there| Sought::is(sought, there),
            |_, ()| true,
            |watch, ()| watch.upgrade(),
        )?
    }

    /// Removes the entry of a key if the closure, shown the live value, returns true; returns the removed value.
    /// O(1) for each call of the closure, which is called again when another thread has changed the entry. As for
    /// [`compute`](Self::compute), nothing bounds how often.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    pub fn remove_if<Q: ?Sized + Query<K, M>, M>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<V> {
        let sought = Q::content(key);
        let hash = hash_of(&self.hasher, sought);
        let asked = |watch: &SharedWatchFor<V>, &(): &()| {
            watch.upgrade().is_some_and(|value| wanted(&value))
        };
        let removed = self.table.remove(
            hash,
            |there| Sought::is(sought, there),
            asked,
            |watch, ()| watch.upgrade(),
        );
        drop(wanted);
        removed?
    }

    /// Keeps the entries for which the closure returns true, and dead entries, which are reclaimed as ever.
    /// O(capacity). The closure may not see entries that other threads insert meanwhile.
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.table
            .retain(|key, watch, ()| watch.upgrade().is_none_or(|value| keep(key, &value)));
    }

    /// The live entries, in no order, as a snapshot that keeps no value alive: those whose value dies, or which are
    /// removed, before the iterator reaches them are left out. O(capacity), and a clone of each key, which is then looked
    /// up: O(1) for each. It is not hashed again.
    pub fn iter(&self) -> ValueIter<'_, K, V>
    where
        K: Clone,
    {
        ValueIter(Snapshot::<ByKey<_>, _, _, _>::new(&self.table))
    }
}

impl<K: Eq + Hash, V: SharedRef, S: BuildHasher + Default> Default for WeakValueMap<K, V, S> {
    fn default() -> Self {
        Self::with_hasher(S::default())
    }
}

impl<K: Eq + Hash + fmt::Debug, V: SharedRef + fmt::Debug, S> fmt::Debug for WeakValueMap<K, V, S> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut map = f.debug_map();
        self.table.each(|key, watch, ()| {
            if let Some(value) = watch.upgrade() {
                map.entry(key, &value);
            }
        });
        map.finish()
    }
}

impl<'m, K: Eq + Hash + Clone, V: SharedRef, S: BuildHasher> IntoIterator
    for &'m WeakValueMap<K, V, S>
{
    type Item = (K, V);
    type IntoIter = ValueIter<'m, K, V>;

    fn into_iter(self) -> ValueIter<'m, K, V> {
        self.iter()
    }
}

impl<'v, K: Eq + Hash, V: SharedRef, S: BuildHasher> Extend<(K, &'v V)> for WeakValueMap<K, V, S> {
    fn extend<Entries: IntoIterator<Item = (K, &'v V)>>(&mut self, entries: Entries) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<'v, K: Eq + Hash, V: SharedRef, S: BuildHasher + Default> FromIterator<(K, &'v V)>
    for WeakValueMap<K, V, S>
{
    fn from_iter<Entries: IntoIterator<Item = (K, &'v V)>>(entries: Entries) -> Self {
        let mut map = Self::default();
        map.extend(entries);
        map
    }
}
