//! The shared map with weak keys, by identity, and weak values.

use core::fmt;

use super::housekeeping::shared_housekeeping;
use super::iter::PairIter;
use super::key::{Address, ByKey};
use super::making::made_by;
use super::map::has_address;
use super::pair::Pair;
use super::snapshot::Snapshot;
use super::table::Table;
use super::watch::{
    SharedKey, SharedRef, SharedWatchFor, Unplaced, UpgradesOne, Watches, WatchesOne,
};
use crate::hash::HashValue;
use crate::reference::{Identify, WeakKey};

type EntryWatches<K, V> = Pair<SharedWatchFor<K>, SharedWatchFor<V>>;

/// A hash map with weak keys, by identity, and weak values, shared between threads behind `&self`: relations
/// between objects of which you own neither.
///
/// See [the module](crate::concurrent) for what all shared collections have in common, and
/// [`weakly::WeakPairMap`](crate::WeakPairMap) for the map of a single owner.
///
/// An entry lives while both its key and its value do. The first of the two to die ends it, on whatever thread,
/// and a half-dead entry is never shown. The two may be of different kinds of pointer. Reads are lock-free, except
/// that they upgrade the value, which is a read-modify-write on the object's own count. The map owns no objects,
/// so reclaiming dead entries runs no code of yours.
///
/// ```
/// use weakly::{Strong, concurrent::WeakPairMap};
///
/// let (button, menu) = (Strong::new("button"), Strong::new("menu"));
/// let opens = WeakPairMap::new();
/// opens.insert(&button, &menu);
/// assert_eq!(opens.get(&button).as_deref(), Some(&"menu"));
/// std::thread::scope(|scope| scope.spawn(|| drop(menu)).join().unwrap());
/// assert!(opens.get(&button).is_none());
/// assert!(opens.is_empty());
/// ```
pub struct WeakPairMap<K: SharedKey, V: SharedRef> {
    table: Table<ByKey<Address>, EntryWatches<K, V>, ()>,
}

impl<K: SharedKey, V: SharedRef> WeakPairMap<K, V> {
    /// An empty map, also for a `static`. Allocates nothing before the first insertion.
    #[must_use]
    pub const fn new() -> Self {
        let table = Table::new();
        WeakPairMap { table }
    }

    /// An empty map with room for `capacity` entries.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        WeakPairMap {
            table: Table::with_capacity(capacity),
        }
    }

    shared_housekeeping!(table);

    fn watch(&self, hash: HashValue, key: &K, value: &V) -> Unplaced<'static, EntryWatches<K, V>> {
        let core = self.table.core();
        let key = SharedWatchFor::<K>::registered(key, hash, core);
        Unplaced::pair(key, SharedWatchFor::<V>::registered(value, hash, core))
    }

    #[inline]
    fn look<Q: ?Sized + Identify<K>, R>(
        &self,
        key: &Q,
        look: impl FnOnce(&EntryWatches<K, V>) -> Option<R>,
    ) -> Option<R> {
        let (hash, address) = Address::of(key.addr());
        self.table.read(
            hash,
            |there| *there == address,
            |watches, ()| {
                has_address::<K, Q>(key, address)
                    .then(|| look(watches))
                    .flatten()
            },
        )
    }

    /// Whether the key has a live value. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        let live = |watches: &EntryWatches<K, V>| (!watches.1.is_expired()).then_some(());
        self.look(key, live).is_some()
    }

    /// The live value of a key. O(1), lock-free. Inside the key's own destructor, a reference to it still finds
    /// its value.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.look(key, |watches| watches.1.upgrade())
    }

    /// Sets the value of a key, and returns its previous live value. O(1) amortised. The map keeps no strong
    /// pointer: both sides are passed by reference.
    pub fn insert(&self, key: &K, value: &V) -> Option<V> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let watches = self.watch(hash, key, value);
        let old = |watches: &EntryWatches<K, V>, &(): &()| watches.1.upgrade();
        self.table.put(hash, address, watches, (), old)?
    }

    /// The live value of a key, which is made if there is none. O(1) amortised. The map does not keep the value
    /// alive: the caller does.
    ///
    /// Only one thread makes it, as for [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it makes, or for one whose making waits for it, on any thread.
    #[inline]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: &K, make: impl FnOnce(&K) -> V) -> V {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let made = self.table.get_or_make(
            hash,
            &address,
            |watches, ()| watches.1.upgrade(),
            || make(key),
            |value, hash, _| (self.watch(hash, key, &value), (), value),
        );
        made_by::<K, V>(made)
    }

    /// Changes the value of a key: the closure is shown the live value, if any, and returns the new one, `None` to
    /// remove it. Returns what the closure returned. O(1) amortised. This is atomic, as
    /// [`WeakMap::compute`](super::WeakMap::compute) is, and may starve likewise.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    #[track_caller]
    pub fn compute(&self, key: &K, mut change: impl FnMut(Option<V>) -> Option<V>) -> Option<V> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let new = self.table.compute(hash, &address, |old| {
            let new = change(old.and_then(|(watches, ())| watches.1.upgrade()));
            let entry = new.as_ref().map(|value| (self.watch(hash, key, value), ()));
            (entry, new)
        });
        drop(change);
        new
    }

    /// Removes the entry of a key; returns its value, if that is alive. O(1).
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        let (hash, address) = Address::of(key.addr());
        let wanted = |_: &_, &(): &()| has_address::<K, Q>(key, address);
        self.table.remove(
            hash,
            |there| *there == address,
            wanted,
            |watches, ()| watches.1.upgrade(),
        )?
    }

    /// Removes the entry of a key if the closure, shown the live value, returns true; returns the removed value.
    /// O(1) for each call of the closure, which is called again when another thread has changed the entry. As for
    /// [`compute`](Self::compute), nothing bounds how often.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for ever.
    pub fn remove_if<Q: ?Sized + Identify<K>>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<V> {
        let (hash, address) = Address::of(key.addr());
        let asked = |watches: &EntryWatches<K, V>, &(): &()| {
            let value = has_address::<K, Q>(key, address).then(|| watches.1.upgrade());
            value.flatten().is_some_and(|value| wanted(&value))
        };
        let show = |watches: &EntryWatches<K, V>, &(): &()| watches.1.upgrade();
        let removed = self
            .table
            .remove(hash, |there| *there == address, asked, show);
        drop(wanted);
        removed?
    }
}

/// Methods that show or return keys.
impl<K: SharedRef, V: SharedRef> WeakPairMap<K, V> {
    /// The key and its live value. O(1), lock-free. `None` also in the key's destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)> {
        self.look(key, both)
    }

    /// Keeps the entries for which the closure returns true, and dead entries, which are reclaimed as ever.
    /// O(capacity). The closure may not see entries that other threads insert meanwhile.
    ///
    /// Both objects are kept alive while the closure sees them; one that has no other strong pointer left then
    /// dies here.
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.table
            .retain(|_, watches, ()| both(watches).is_none_or(|(key, value)| keep(&key, &value)));
    }

    /// The live entries, in no order, as a snapshot that keeps neither side alive: those of which a side dies, or which
    /// are removed, before the iterator reaches them are left out. O(capacity), and O(1) for each key, which is shown with
    /// the value that it has then.
    pub fn iter(&self) -> PairIter<'_, K, V> {
        PairIter(Snapshot::<ByKey<_>, _, _, _>::new(&self.table))
    }
}

/// Both sides, if both live.
fn both<K: SharedRef, V: SharedRef>(Pair(key, value): &EntryWatches<K, V>) -> Option<(K, V)> {
    key.upgrade().zip(value.upgrade())
}

impl<K: SharedKey, V: SharedRef> Default for WeakPairMap<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: SharedRef + fmt::Debug, V: SharedRef + fmt::Debug> fmt::Debug for WeakPairMap<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.iter()).finish()
    }
}

impl<'m, K: SharedRef, V: SharedRef> IntoIterator for &'m WeakPairMap<K, V> {
    type Item = (K, V);
    type IntoIter = PairIter<'m, K, V>;

    fn into_iter(self) -> PairIter<'m, K, V> {
        self.iter()
    }
}

impl<'o, K: SharedKey, V: SharedRef> Extend<(&'o K, &'o V)> for WeakPairMap<K, V> {
    fn extend<Entries: IntoIterator<Item = (&'o K, &'o V)>>(&mut self, entries: Entries) {
        for (key, value) in entries {
            self.insert(key, value);
        }
    }
}

impl<'o, K: SharedKey, V: SharedRef> FromIterator<(&'o K, &'o V)> for WeakPairMap<K, V> {
    fn from_iter<Entries: IntoIterator<Item = (&'o K, &'o V)>>(entries: Entries) -> Self {
        let mut map = Self::new();
        map.extend(entries);
        map
    }
}
