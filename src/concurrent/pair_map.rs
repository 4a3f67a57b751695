//! The shared map with weak keys, by identity, and weak values.

use core::convert::Infallible;
use core::fmt;
use core::iter::FusedIterator;

use super::common::{iterating, showing, without_hasher};
use super::identity::Address;
use super::iter::PairIter;
use super::key::ByKey;
use super::making::made_by;
use super::table::Table;
use super::watch::{
    SharedKey, SharedRef, SharedWatchFor, Unplaced, UpgradesOne, Watches, WatchesOne,
};
use crate::collections::traits::collecting;
use crate::hash::HashValue;
use crate::reference::{Identify, WeakKey};

type PairWatches<K, V> = (SharedWatchFor<K>, SharedWatchFor<V>);

/// A hash map with weak keys, by identity, and weak values, shared between threads behind `&self`:
/// relations between objects of which you own neither.
///
/// See [the module](crate::concurrent) for what all shared collections have in common, and
/// [`weakly::WeakPairMap`](crate::WeakPairMap) for the map of a single owner.
///
/// An entry lives while both its key and its value do. The first of the two to die ends it, on
/// whatever thread, and a half-dead entry is never shown. The two may be of different kinds of
/// handle. Reads are lock-free, except that they upgrade the value, which is a read-modify-write on
/// the object's own count. The map owns no objects, so reclaiming dead entries runs no code of
/// yours.
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
    table: Table<ByKey<Address>, PairWatches<K, V>, ()>,
}

without_hasher!([K: SharedKey, V: SharedRef] WeakPairMap<K, V>);

impl<K: SharedKey, V: SharedRef> WeakPairMap<K, V> {
    fn watch(&self, hash: HashValue, key: &K, value: &V) -> Unplaced<'static, PairWatches<K, V>> {
        let core = self.table.core();
        let key = SharedWatchFor::<K>::registered(key, hash, core);
        Unplaced::pair(key, SharedWatchFor::<V>::registered(value, hash, core))
    }

    /// Returns whether the key has a live value. O(1), lock-free.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        let live = |(_, value): &PairWatches<K, V>, (): &()| (!value.is_expired()).then_some(());
        self.table
            .look_at::<K, Q, _, _>(key, live, is_lost, |(), ()| ())
            .is_some()
    }

    /// Returns the live value of a key. O(1), lock-free. Inside the key's own destructor, a
    /// reference to it still finds its value.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.table
            .look_at::<K, Q, _, _>(key, value_of, is_lost, |value, ()| value)
    }

    /// Sets the value of a key, and returns its previous live value. O(1) amortised. The map keeps
    /// no strong handle: both sides are passed by reference. A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) is not kept.
    ///
    /// In `insert(&key, &Strong::new(1))` the entry dies at the end of the statement: see
    /// [`weakly::WeakValueMap::insert`](crate::WeakValueMap::insert).
    /// [`get_or_insert_with`](Self::get_or_insert_with) returns the handle of a new object.
    pub fn insert(&self, key: &K, value: &V) -> Option<V> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let watches = self.watch(hash, key, value);
        self.table
            .put(hash, address, watches, (), value_of, |old, ()| old)
    }

    /// Returns the live value of a key, which is made if there is none. O(1) amortised. The map
    /// does not keep the value alive: the caller does.
    ///
    /// Only one thread makes it, as for
    /// [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// A call that waits blocks its thread: do not make it on the only thread of an executor. See
    /// [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it makes, or for one whose making waits for it, on
    /// any thread.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: &K, make: impl FnOnce(&K) -> V) -> V {
        let Ok(value) = self.try_get_or_insert_with(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the live value of a key, which is made if there is none, unless that fails. O(1)
    /// amortised. See [`get_or_insert_with`](Self::get_or_insert_with), and
    /// [`WeakValueMap::try_get_or_insert_with`](super::WeakValueMap::try_get_or_insert_with) for an
    /// example.
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and one of the threads that wait for this
    /// value makes it instead.
    ///
    /// # Panics
    /// As [`get_or_insert_with`](Self::get_or_insert_with).
    #[inline]
    #[track_caller]
    pub fn try_get_or_insert_with<E>(
        &self,
        key: &K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let made = self.table.get_or_make(
            hash,
            &address,
            value_of,
            || make(key),
            |value, hash, _| (self.watch(hash, key, &value), (), value),
        );
        made_by::<K, V, E>(made)
    }

    /// Returns the live value of a key, which is made if there is none, and never waits. O(1)
    /// amortised. The map does not keep the value alive: the caller does. See
    /// [`WeakMap::get_or_insert_racing`](super::WeakMap::get_or_insert_racing).
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[track_caller]
    pub fn get_or_insert_racing(&self, key: &K, make: impl FnOnce(&K) -> V) -> V {
        let Ok(value) = self.try_get_or_insert_racing(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the value of a key, which is made if there is none, unless that fails, and never
    /// waits. O(1) amortised. See [`get_or_insert_racing`](Self::get_or_insert_racing).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept.
    #[track_caller]
    pub fn try_get_or_insert_racing<E>(
        &self,
        key: &K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        self.table.get_or_race(
            hash,
            &address,
            value_of,
            || make(key),
            |value, hash, _| (self.watch(hash, key, &value), (), value),
        )
    }

    /// Changes the value of a key: the closure is shown the live value, if any, and returns the new
    /// one, `None` to remove it. Returns what the closure returned. O(1) amortised. This is atomic,
    /// as [`WeakMap::compute`](super::WeakMap::compute) is, and may starve likewise. If the value
    /// that was shown dies meanwhile, the closure is called again; one whose death has to be
    /// polled, as that of an `Arc`, is kept alive instead. What becomes of a value that is being
    /// made is also said there.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for
    /// ever.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[track_caller]
    pub fn compute(&self, key: &K, mut change: impl FnMut(Option<V>) -> Option<V>) -> Option<V> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let hold = |watches: &PairWatches<K, V>, (): &()| watches.1.hold();
        let new = self.table.compute(hash, &address, hold, |old| {
            let new = change(old.and_then(|(watches, ())| value_of(watches, &())));
            let entry = new.as_ref().map(|value| (self.watch(hash, key, value), ()));
            (entry, new)
        });
        drop(change);
        new
    }

    /// Removes the entry of a key; returns its value, if that is alive. O(1). A value that is
    /// [being made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        let hold = |entry: Option<(&PairWatches<K, V>, &())>| {
            Some(entry.and_then(|(watches, ())| value_of(watches, &())))
        };
        self.table
            .take::<K, Q, _, _>(key, hold, |value, ()| value)?
    }

    /// Removes the entry of a key if the closure, shown the live value, returns true; returns the
    /// removed value. O(1) for each call of the closure, which is called again when another thread
    /// has changed the entry. As for [`compute`](Self::compute), nothing bounds how often. The
    /// closure is not asked about a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made), which will be kept.
    ///
    /// # Panics
    /// If the closure itself sets this entry every time it is called: it would be called again for
    /// ever.
    pub fn remove_if<Q: ?Sized + Identify<K>>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<V> {
        // A dead value goes, too.
        let hold = move |entry: Option<(&PairWatches<K, V>, &())>| match value_of(entry?.0, &()) {
            Some(value) => wanted(&value).then_some(Some(value)),
            None => Some(None),
        };
        self.table
            .take::<K, Q, _, _>(key, hold, |value, ()| value)?
    }

    /// Removes the entries with this value; returns how many there were. Costs as much as
    /// [`keys_of`](Self::keys_of). An entry that another thread inserts meanwhile may stay, and so
    /// does a value that is [being made](crate::concurrent#a-value-that-is-being-made).
    pub fn remove_value(&self, value: &V) -> usize {
        let addr = WeakKey::addr(value);
        let hashes = self.table.hashes_of::<SharedWatchFor<V>>(value);
        let unwanted =
            |watches: &PairWatches<K, V>| watches.1.addr() == addr && !watches.0.is_expired();
        self.table
            .remove_each(hashes.as_deref(), unwanted, |_| false)
    }

    /// Keeps the entries whose value the closure returns true for, and dead entries, which are
    /// reclaimed as ever. O(capacity). No key is kept alive meanwhile; the closure may not see
    /// entries that other threads insert, and it sees no value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made), which will be kept.
    ///
    /// Each value is kept alive while the closure sees it; if no other strong handle is left then,
    /// it dies here.
    pub fn retain_values(&self, mut keep: impl FnMut(&V) -> bool) {
        self.table
            .retain(|_, watches, ()| value_of(watches, &()).is_none_or(|value| keep(&value)));
    }

    /// Iterates over the values of the live entries, in no order, as a snapshot: see
    /// [`iter`](Self::iter). No key is kept alive.
    pub fn values(&self) -> impl FusedIterator<Item = V> + fmt::Debug {
        let value = |_: &_, watches: &_, (): &()| value_of(watches, &());
        self.table.snapshot(value).map(|(_, value)| value)
    }

    /// Iterates over the live entries as [`iter`](Self::iter) does, as weak handles, and without
    /// upgrading any: use it where not even for a moment an object may be kept alive, and where
    /// keys are [anchors](crate::Anchor). A handle costs an object the record that its first handle
    /// does.
    pub fn iter_weak(&self) -> impl FusedIterator<Item = (K::Weak, V::Weak)> + fmt::Debug {
        let weak = |_: &_, (key, value): &PairWatches<K, V>, (): &()| {
            key.downgrade().zip(value.downgrade())
        };
        self.table.snapshot(weak).map(|(_, weak)| weak)
    }
}

/// Methods that show or return keys.
impl<K: SharedRef, V: SharedRef> WeakPairMap<K, V> {
    /// Returns the key and its live value. O(1), lock-free. `None` also in the key's destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)> {
        self.table
            .look_at::<K, Q, _, _>(key, both, is_lost, |both, ()| both)
    }

    /// Removes the entry of a key, and returns both sides, if both are alive. O(1). A value that is
    /// [being made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove_entry<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, V)> {
        let hold = |entry: Option<(&PairWatches<K, V>, &())>| {
            Some(entry.and_then(|(watches, ())| both(watches, &())))
        };
        self.table.take::<K, Q, _, _>(key, hold, |both, ()| both)?
    }

    /// Iterates over the keys under which the map has this value, in no order, as a snapshot that
    /// keeps no key alive: those that die, or have the value no more, before the iterator reaches
    /// them are left out. Those that other threads insert meanwhile, or insert anew, may be.
    ///
    /// O(n log n) for all n registrations of the value, in whatever collections: it knows where it
    /// is, and the map is not scanned. Only a value that does not notify, such as an
    /// [`Arc`](std::sync::Arc), knows nothing: then O(capacity).
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakPairMap};
    ///
    /// let (open, print) = (Strong::new("open"), Strong::new("print"));
    /// let (file, help) = (Strong::new("file"), Strong::new("help"));
    /// let menus = WeakPairMap::from([(&open, &file), (&print, &file)]);
    /// assert_eq!(menus.keys_of(&file).count(), 2);
    /// assert_eq!(menus.keys_of(&help).count(), 0);
    /// drop(print);
    /// assert_eq!(menus.remove_value(&file), 1);
    /// assert!(menus.is_empty());
    /// ```
    pub fn keys_of<'m>(&'m self, value: &'m V) -> impl FusedIterator<Item = K> + fmt::Debug + 'm {
        let addr = WeakKey::addr(value);
        let hashes = self.table.hashes_of::<SharedWatchFor<V>>(value);
        let wanted = move |watches: &PairWatches<K, V>| watches.1.addr() == addr;
        let show = |_: &_, watches: &PairWatches<K, V>, (): &()| {
            Some((watches.0.upgrade()?, watches.1.addr()))
        };
        self.table
            .snapshot_of(hashes, wanted, show)
            .filter_map(move |(_, (key, at))| (at == addr).then_some(key))
    }

    /// Keeps the entries for which the closure returns true, and dead entries, which are reclaimed
    /// as ever. O(capacity). The closure may not see entries that other threads insert meanwhile,
    /// and it sees no value that is [being made](crate::concurrent#a-value-that-is-being-made),
    /// which will be kept.
    ///
    /// Both objects are kept alive while the closure sees them; one that has no other strong handle
    /// left then dies here.
    pub fn retain(&self, mut keep: impl FnMut(&K, &V) -> bool) {
        self.table.retain(|_, watches, ()| {
            both(watches, &()).is_none_or(|(key, value)| keep(&key, &value))
        });
    }

    /// Iterates over the keys of the live entries, in no order, as a snapshot: see
    /// [`iter`](Self::iter). No value is kept alive.
    pub fn keys(&self) -> impl FusedIterator<Item = K> + fmt::Debug {
        let key = |_: &_, (key, value): &PairWatches<K, V>, (): &()| {
            key.upgrade().filter(|_| !value.is_expired())
        };
        self.table.snapshot(key).map(|(_, key)| key)
    }

    /// Iterates over the live entries, in no order, as a snapshot that keeps neither side alive:
    /// those of which a side dies, or which are removed, before the iterator reaches them are left
    /// out. O(capacity), and O(1) for each key, which is shown with the value that it has then.
    pub fn iter(&self) -> PairIter<'_, K, V> {
        PairIter(self.table.snapshot(|_, watches, ()| both(watches, &())))
    }
}

/// Whether the value is dead. (A dead key alone hides no entry from the key's destructor.)
#[inline]
fn is_lost<A, B: Watches>((_, value): &(A, B)) -> bool {
    value.is_stale()
}

/// The value, if it lives.
#[inline]
fn value_of<A, B: UpgradesOne>((_, value): &(A, B), (): &()) -> Option<B::Key> {
    value.upgrade()
}

/// Both sides, if both live.
fn both<A: UpgradesOne, B: UpgradesOne>(
    (key, value): &(A, B),
    (): &(),
) -> Option<(A::Key, B::Key)> {
    key.upgrade().zip(value.upgrade())
}

showing!([K: SharedRef + fmt::Debug, V: SharedRef + fmt::Debug] WeakPairMap<K, V>,
    debug_map: |map, _, watches, ()| both(watches, &()).map(|(key, value)| _ = map.entry(&key, &value)));
iterating!([K: SharedRef, V: SharedRef] WeakPairMap<K, V>, (K, V), PairIter<'m, K, V>);
collecting!(['o, K: SharedKey, V: SharedRef] WeakPairMap<K, V>,
    from ['o, K: SharedKey, V: SharedRef] WeakPairMap<K, V>, where [], [],
    (&'o K, &'o V): |map, (key, value)| map.insert(key, value));
