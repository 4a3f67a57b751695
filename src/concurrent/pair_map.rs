//! The shared map with weak keys, by identity, and weak values.

use core::convert::Infallible;
use core::fmt;
use core::iter::FusedIterator;

use super::common::{counting, iterating, showing, without_hasher};
use super::identity::Address;
use super::iter::PairIter;
use super::key::ByKey;
use super::table::Table;
use super::watch::{
    SharedKey, SharedRef, SharedWatchFor, Unplaced, UpgradesOne, Watches, WatchesOne,
};
use super::way::{Errors, Way, made_by};
use crate::collections::traits::collecting;
use crate::hash::HashValue;
use crate::reference::{Identify, WeakKey};

type PairWatches<K, V> = (SharedWatchFor<K>, SharedWatchFor<V>);

/// A hash map with weak keys, by identity, and weak values, shared between threads behind `&self`:
/// relations between two objects, neither of which you own.
///
/// See [the module](crate::concurrent) for the common properties of all shared collections, and
/// [`weakly::WeakPairMap`](crate::WeakPairMap) for the map of a single owner.
///
/// An entry lives while both its key and its value do. The first death of the two ends the entry,
/// on any thread, and a half-dead entry is never shown. Key and value may have different kinds of
/// handles. Reads are lock-free, except that they upgrade the value, which is a read-modify-write
/// on the object's own count. The map owns no objects, so reclaiming dead entries runs no code of
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
    table: Table<ByKey<Address, PairWatches<K, V>, ()>>,
}

without_hasher!([K: SharedKey, V: SharedRef] WeakPairMap<K, V>);

impl<K: SharedKey, V: SharedRef> WeakPairMap<K, V> {
    counting!();

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

    /// Returns the live value of a key. O(1), lock-free. During the key's own destructor, a
    /// reference to the key still finds the value.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        self.table
            .look_at::<K, Q, _, _>(key, value_of, is_lost, |value, ()| value)
    }

    /// Sets the value of a key, and returns the key's previous live value. O(1) amortised. The map
    /// keeps no strong handle: both sides are passed by reference. A value that is [being
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

    /// Returns the live value of a key; makes the value if there is none. O(1) amortised. The map
    /// does not keep the value alive: the caller does.
    ///
    /// Only one thread makes the value, as for
    /// [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// A waiting call blocks its thread: do not make the call on the only thread of an executor.
    /// See [`WeakMap::get_or_insert_with`](super::WeakMap::get_or_insert_with).
    ///
    /// # Panics
    /// If the closure asks for the value that it is making, or for a value whose making waits for
    /// it, on any thread.
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[inline]
    #[track_caller]
    pub fn get_or_insert_with(&self, key: &K, make: impl FnOnce(&K) -> V) -> V {
        let Ok(value) = self.try_get_or_insert_with(key, |key| Ok::<_, Infallible>(make(key)));
        value
    }

    /// Returns the live value of a key; makes the value if there is none, and may fail. O(1)
    /// amortised. See [`get_or_insert_with`](Self::get_or_insert_with), and
    /// [`WeakValueMap::try_get_or_insert_with`](super::WeakValueMap::try_get_or_insert_with) for an
    /// example.
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
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        self.make(key, Way::WAITS, make)
    }

    /// Returns the live value of a key; makes the value if there is none, and may fail. The threads
    /// that wait share the error. O(1) amortised. See
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
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        self.make(key, Way::SHARES, make)
    }

    #[inline]
    #[track_caller]
    fn make<E, Es: Errors<E>>(
        &self,
        key: &K,
        way: Way<Es>,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
        let (hash, address) = Address::of(WeakKey::addr(key));
        let made = self.table.get_or_make(
            (hash, &address),
            way,
            value_of,
            || make(key),
            |value, _| (self.watch(hash, key, value), ()),
        );
        made_by::<K, V, E>(made)
    }

    /// Returns the live value of a key; makes the value if there is none, and never waits. O(1)
    /// amortised. The map does not keep the value alive: the caller does. See
    /// [`WeakMap::get_or_insert_racing`](super::WeakMap::get_or_insert_racing).
    #[must_use = "the returned handle may be the only owner: when it is dropped, the object dies"]
    #[track_caller]
    pub fn get_or_insert_racing(&self, key: &K, make: impl FnOnce(&K) -> V) -> V {
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
        key: &K,
        make: impl FnOnce(&K) -> Result<V, E>,
    ) -> Result<V, E> {
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

    /// Moves the value of `from` to `to`, for an object that takes the place of another, and
    /// returns the old live value of `to`. O(1) amortised. If `from` has no live value, nothing
    /// changes, and `to` keeps its value. Otherwise as
    /// [`WeakMap::transfer`](super::WeakMap::transfer), also beside other threads. If a value takes
    /// the place of another value, insert the new value for each of the [`keys_of`](Self::keys_of)
    /// the old.
    ///
    /// ```
    /// use weakly::{Strong, concurrent::WeakPairMap};
    ///
    /// let ([button, icon], menu) = (["button", "icon"].map(Strong::new), Strong::new("menu"));
    /// let opens = WeakPairMap::from([(&button, &menu)]);
    /// assert!(opens.transfer(&button, &icon).is_none());
    /// assert_eq!((opens.get(&button), opens.get(&icon)), (None, Some(menu)));
    /// ```
    pub fn transfer<Q: ?Sized + Identify<K>>(&self, from: &Q, to: &K) -> Option<V> {
        let (hash, _) = Address::of(WeakKey::addr(to));
        let mut moved = None;
        let copy = |watches: &PairWatches<K, V>, (): &()| {
            let value = moved.insert(value_of(watches, &())?);
            Some((self.watch(hash, to, value), ()))
        };
        let old = self.table.transfer_between((from, to), copy, value_of);
        // T5
        drop(moved);
        old
    }

    /// Removes the entry of a key; returns the value, if it is alive. O(1). A value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made) will not be kept.
    pub fn remove<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<V> {
        let hold = |entry: Option<(&PairWatches<K, V>, &())>| {
            Some(entry.and_then(|(watches, ())| value_of(watches, &())))
        };
        self.table
            .take::<K, Q, _, _>(key, hold, |value, ()| value)?
    }

    /// Removes the entry of a key if the closure returns true for the live value; returns the
    /// removed value. O(1) for each call of the closure. If another thread has changed the entry
    /// meanwhile, the closure is called again; as for [`compute`](Self::compute), nothing bounds
    /// the number of calls. The closure is not called for a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// A closure that itself sets the entry at each call is called again for ever.
    pub fn remove_if<Q: ?Sized + Identify<K>>(
        &self,
        key: &Q,
        mut wanted: impl FnMut(&V) -> bool,
    ) -> Option<V> {
        // The entry of a dead value is removed, too.
        let hold = move |entry: Option<(&PairWatches<K, V>, &())>| match value_of(entry?.0, &()) {
            Some(value) => wanted(&value).then_some(Some(value)),
            None => Some(None),
        };
        self.table
            .take::<K, Q, _, _>(key, hold, |value, ()| value)?
    }

    /// Removes the entries with this value, at the cost of [`keys_of`](Self::keys_of); returns the
    /// number of removed entries. An entry that another thread inserts meanwhile may stay. A
    /// value that is [being made](crate::concurrent#a-value-that-is-being-made) will be kept.
    pub fn remove_value(&self, value: &V) -> usize {
        let addr = WeakKey::addr(value);
        let hashes = self.table.hashes_of::<SharedWatchFor<V>>(value);
        let unwanted =
            |watches: &PairWatches<K, V>| watches.1.addr() == addr && !watches.0.is_expired();
        self.table
            .remove_each(hashes.as_deref(), unwanted, |_| false)
    }

    /// Keeps the entries for whose value the closure returns true, and dead entries, which are
    /// reclaimed as usual. O(capacity). No key is kept alive meanwhile. The closure may miss
    /// entries that other threads insert. The closure does not see a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// Each value is kept alive while the closure sees the value; if no other strong handle is left
    /// afterwards, the object dies during the call.
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

    /// Iterates over the live entries as [`iter`](Self::iter) does, as weak handles, without
    /// upgrading a handle: use `iter_weak` where an object must not be kept alive even for a
    /// moment, and where keys are [anchors](crate::Anchor). The first weak handle to an object
    /// allocates a record for the object.
    pub fn iter_weak(&self) -> impl FusedIterator<Item = (K::Weak, V::Weak)> + fmt::Debug {
        let weak = |_: &_, (key, value): &PairWatches<K, V>, (): &()| {
            key.downgrade().zip(value.downgrade())
        };
        self.table.snapshot(weak).map(|(_, weak)| weak)
    }
}

/// Methods that show or return keys.
impl<K: SharedRef, V: SharedRef> WeakPairMap<K, V> {
    /// Returns the key and its live value. O(1), lock-free. Also returns `None` during the key's
    /// destructor.
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
    /// keeps no key alive. A key that dies, or gets another value, before the iterator reaches the
    /// key is left out. A key that other threads insert, or insert anew, meanwhile may be left out.
    ///
    /// O(n log n) for all n registrations of the value, in all collections: the value lists its
    /// registrations, and the map is not scanned. A value that does not notify, such as an
    /// [`Arc`](std::sync::Arc), has no list: then O(capacity).
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
    /// as usual. O(capacity). The closure may miss entries that other threads insert meanwhile. The
    /// closure does not see a value that is [being
    /// made](crate::concurrent#a-value-that-is-being-made): the value will be kept.
    ///
    /// Both objects are kept alive while the closure sees them; an object without another strong
    /// handle afterwards dies during the call.
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

    /// Iterates over the live entries, in no order, as a snapshot that keeps neither side alive. An
    /// entry that is removed, or of which a side dies, before the iterator reaches the entry is
    /// left out. O(capacity), and O(1) for each key, which is shown with its present value.
    pub fn iter(&self) -> PairIter<'_, K, V> {
        PairIter(self.table.snapshot(|_, watches, ()| both(watches, &())))
    }
}

/// Returns whether the value is dead. (A dead key alone does not hide an entry from the key's
/// destructor.)
#[inline]
fn is_lost<A, B: Watches>((_, value): &(A, B)) -> bool {
    value.is_stale()
}

/// Returns the value, if it lives.
#[inline]
fn value_of<A, B: UpgradesOne>((_, value): &(A, B), (): &()) -> Option<B::Key> {
    value.upgrade()
}

/// Returns both sides, if both live.
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
