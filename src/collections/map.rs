//! The map with weak keys, keyed by identity.

use core::fmt;
use core::ops::Index;

use super::common::{
    entries, filling, housekeeping, lookups, making, owned_entries, owned_values, resizing, values,
};
use super::lookup::By;
use super::store::Store;
use super::traits::{
    by_identity, cloning, collecting, comparing, extending, iterating, iterating_mut,
};
use crate::ptr::{Anchor, Flavour};
use crate::reference::{Identify, Owned, StrongRef, WeakKey};
use crate::table::Place;

/// The entries and iterators of [`WeakMap`].
pub mod names {
    use crate::collections::names::owned_names;

    owned_names!(<K as crate::reference::WeakKey>::Watch);
}
use names::*;

/// A hash map with weak keys, keyed by identity, and owned values: a side table for objects that
/// you do not own.
///
/// An entry lives as long as its key; the map keeps no strong handle. The key needs neither `Hash`
/// nor `Eq`; two equal values in two objects are two keys. Keys are [`Strong`](crate::Strong),
/// [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or
/// your own handles that implement [`StrongRef`]. If a value is not behind a handle, an
/// [`Anchor`](crate::Anchor) in the value is its key: see [Components](#components). Lookups take
/// any reference that [identifies](Identify) the key. They never upgrade, never write to the
/// object, and register nothing.
///
/// # When a dead key's value is destroyed
///
/// From the death of the key on, no lookup finds the entry, and (with `Strong` and `local::Strong`)
/// `len` does not count the entry. The next operations of the map destroy the **value**, on the
/// thread of the map:
///
/// * a method that takes `&mut self` drains up to 16 notices, `insert` at its end and the other
///   methods before anything else (but `get_mut`, `get_disjoint_mut`, `iter_mut`, `values_mut`,
///   `set_waker`, `poll_pending` and `set_reclaim` drain none, and `drain_dead` returns the values
///   instead);
/// * [`purge`](Self::purge) drains all notices;
/// * growing, shrinking, clearing and dropping the map also drain all notices.
///
/// The next operation may be too early: because the destructor of the value uses the same map,
/// which is in a `RefCell`, or because the destructor takes long. With
/// [`Reclaim::OnRequest`](crate::Reclaim::OnRequest), the values are kept until `purge`,
/// [`drain_dead`](Self::drain_dead), `clear` or the end of the map.
///
/// Methods that take `&self` never destroy a value. (Iterators return strong keys: if you drop the
/// last handle to a key, the key dies there.) So values need not be `Send` even if keys die on
/// other threads: values are destroyed only on the thread of the map. Methods that take `&self` run
/// user code only for their purpose: `==`, `clone` and `Debug` of the map call the same methods of
/// the values, and a handle of your own is asked for its address.
///
/// `Arc` and `Rc` send no notices. For them, the same methods sweep the next 16 buckets instead;
/// growth and `purge` sweep all buckets.
///
/// # Values that own their key
///
/// If a value owns its key, the key never dies while the map contains the value. The entry stays
/// until it is removed, or the map is dropped, or [`purge_cycles`](Self::purge_cycles) finds that
/// nothing else leads to the key; for this the values must [show](crate::cycles::Trace) their
/// handles. Better, give the value a weak handle to its key:
/// [`get_or_insert_with`](Self::get_or_insert_with) and [`VacantEntry::insert_with_key`] provide
/// one.
///
/// # Components
///
/// With [`Anchor`](crate::Anchor)s as keys, a map is a component of entities that live elsewhere,
/// in a `Vec` or an arena. The map has all methods that return no strong keys.
/// [`iter_weak`](Self::iter_weak) names the entity of each value by an
/// [`AnchorRef`](crate::AnchorRef), which other maps take as a key.
/// [`values_mut`](Self::values_mut) and [`retain_values`](Self::retain_values) change all values.
///
/// ```
/// use weakly::{Anchor, WeakMap};
///
/// struct Entity { id: Anchor }
///
/// let mut world = Vec::from([1, 2, 3].map(|_| Entity { id: Anchor::new() }));
/// let place: WeakMap<_, _> = world.iter().map(|it| &it.id).zip([10, 20, 30]).collect();
/// let speed = WeakMap::from([(&world[0].id, 1), (&world[2].id, 3)]);
/// world.swap_remove(0); // dies; another takes its place
/// let moved = speed.iter_weak().map(|(entity, speed)| place[&entity] + speed);
/// assert!(moved.eq([33]));
/// ```
///
/// # Order
///
/// Iteration is in arbitrary order. If objects must come in the order of their insertion, such as
/// observers that are called one after the other, store a number with each object, and sort the
/// items of one iteration: O(n log n). The strong handles in the sorted list keep the observers
/// alive during the calls, and the map is not borrowed meanwhile: an observer may change the map.
///
/// ```
/// use weakly::{Strong, WeakMap};
///
/// let [a, b, c] = ["a", "b", "c"].map(Strong::new);
/// let mut observers = WeakMap::new();
/// for (number, observer) in [&b, &a, &c].into_iter().enumerate() {
///     observers.insert(observer, number);
/// }
/// drop(a);
/// let numbered = observers.iter().map(|(observer, &number)| (number, observer));
/// let mut in_order = Vec::from_iter(numbered);
/// in_order.sort_unstable_by_key(|(number, _)| *number);
/// assert!(in_order.iter().map(|(_, observer)| **observer).eq(["b", "c"]));
/// ```
///
/// # Examples
///
/// ```
/// use weakly::{Strong, WeakMap};
///
/// let tree = Strong::new("a syntax tree");
/// let mut spans = WeakMap::new();
/// spans.insert(&tree, 10..24);
/// assert_eq!(spans.get(&tree), Some(&(10..24)));
/// drop(tree);
/// assert!(spans.is_empty());
/// ```
///
/// A map is made from pairs, whose keys are handles or references to handles. If there are no
/// pairs, the compiler cannot infer the types. Then name the type of the elements of the (empty)
/// array, or the type of the items of the iterator:
///
/// ```
/// use weakly::{Strong, WeakMap};
///
/// let tree = Strong::new("a syntax tree");
/// let spans = WeakMap::from([(&tree, 10..24)]);
/// let same: WeakMap<_, _> = [(tree.clone(), 10..24)].into_iter().collect();
/// assert_eq!(spans, same);
///
/// type Trees = WeakMap<Strong<&'static str>, usize>;
/// let empty = Trees::new();
/// let none: [(&Strong<_>, usize); 0] = [];
/// assert_eq!(empty, Trees::from(none));
/// assert_eq!(empty, std::iter::empty::<(&Strong<_>, _)>().collect::<Trees>());
/// ```
pub struct WeakMap<K: WeakKey, V> {
    pub(super) store: Store<K::Watch, Owned<V>>,
}

by_identity!([K: WeakKey, V] WeakMap<K, V>);

impl<K: WeakKey, V> WeakMap<K, V> {
    housekeeping!();
    resizing!();

    /// Removes dead keys, and returns their values instead of destroying the values: the values of
    /// all keys that are dead now, and of all keys that die while the iterator runs. If the
    /// iterator is dropped early, the remaining values stay in the map. Costs as much as
    /// [`purge`](Self::purge).
    ///
    /// By default, other operations also destroy values of dead keys, and only the remaining values
    /// are returned. With [`Reclaim::OnRequest`](crate::Reclaim::OnRequest), all values are
    /// returned. This is for a map in a `RefCell` or behind a lock, if the destructors of its
    /// values use the same map. Set the policy, collect the dead values at a time of your choice,
    /// end the borrow, and then drop the values.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap};
    ///
    /// let window = Strong::new("window");
    /// let mut textures = WeakMap::new();
    /// textures.insert(&window, 17);
    /// drop(window);
    /// assert!(textures.drain_dead().eq([17]));
    /// ```
    ///
    /// ```
    /// use weakly::{Reclaim, Strong, WeakMap};
    ///
    /// let (window, other) = (Strong::new("window"), Strong::new("other"));
    /// let mut textures = WeakMap::new();
    /// textures.set_reclaim(Reclaim::OnRequest);
    /// textures.insert(&window, 17);
    /// drop(window);
    /// textures.insert(&other, 18); // would otherwise destroy the 17
    /// assert_eq!(textures.len(), 1);
    /// assert!(textures.drain_dead().eq([17]));
    /// ```
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        self.store.drain_dead()
    }

    lookups! {
        [Q: ?Sized + Identify<K>], |key| By(Q::addr(key)), &mut V,
        /// ```
        /// use weakly::{Strong, WeakMap};
        ///
        /// let [from, to, other] = [1, 2, 3].map(Strong::new);
        /// let mut balance = WeakMap::from([(&from, 10), (&to, 0)]);
        /// let [Some(less), Some(more), None] = balance.get_disjoint_mut([&from, &to, &other]) else {
        ///     panic!("two of them have a balance");
        /// };
        /// core::mem::swap(less, more);
        /// assert_eq!((balance[&from], balance[&to]), (0, 10));
        /// ```
    }

    /// Returns the value of a key. O(1). Never reads the payload of the key. Reads the words before
    /// the payload only if these words and the payload are larger than 256 bytes together, or if
    /// the key is in other collections too.
    ///
    /// An expired weak handle finds nothing. Inside the key's own destructor, a reference to the
    /// key still finds its entry.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<&V> {
        self.store.get(By(Q::addr(key)))
    }

    /// Returns the value of a key, mutably. O(1). Drains no notices, so no value of a dead key is
    /// destroyed.
    #[inline]
    pub fn get_mut<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<&mut V> {
        self.store.get_mut(By(Q::addr(key)))
    }

    /// Returns the place of a key, to inspect, fill or clear it with one lookup. O(1) amortised.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap};
    ///
    /// let word = Strong::new("word");
    /// let mut uses = WeakMap::new();
    /// *uses.entry(&word).or_insert(0) += 1;
    /// *uses.entry(&word).or_default() += 1;
    /// assert_eq!(uses[&word], 2);
    /// ```
    #[inline]
    pub fn entry<'k>(&mut self, key: &'k K) -> Entry<'_, 'k, K, V> {
        match self.store.place(By(K::addr(key)), |_| Some(())) {
            Place::Found(found, ()) => Entry::Occupied(OccupiedEntry { found, key }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the old value. O(1) amortised. The key is passed by
    /// reference: the map takes no strong handle.
    ///
    /// A new object needs an owner first: in `insert(&Strong::new(1), …)` the only handle is
    /// dropped at the end of the statement, and the entry dies with the object.
    ///
    /// To store a copy of the payload, write `**key` where `key` is a `&Strong<i32>`. The compiler
    /// rejects `*key`, which is the handle, and proposes `key.clone()`. This compiles, but stores a
    /// handle: the value [owns its key](#values-that-own-their-key), and the entry never dies by
    /// itself.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap};
    ///
    /// let number = Strong::new(5);
    /// let (mut copies, mut handles) = (WeakMap::new(), WeakMap::new());
    /// for key in [&number] {
    ///     copies.insert(key, **key);
    ///     handles.insert(key, key.clone());
    /// }
    /// drop(number);
    /// assert_eq!((copies.len(), handles.len()), (1, 1)); // it lives: `handles` owns it
    /// assert_eq!(handles.purge_cycles().removed, 1);
    /// assert!(copies.is_empty());
    /// ```
    #[inline]
    pub fn insert(&mut self, key: &K, value: V) -> Option<V> {
        self.store.table.prefetch_notified();
        let place = self
            .store
            .find_place(By(K::addr(key)), &mut (), |_| Some(()));
        let old = place.set_owned(key, value);
        self.store.table.tidy();
        old
    }

    super::common::transferring! {
        [Q: ?Sized + Identify<K>], |to, value| value,
        ///
        /// If both are the same object, nothing changes, and the method returns `None`: no value
        /// was replaced. A transfer of `from` needs no handle, and so is possible in its
        /// destructor. For many private tables of one object, see
        /// [`attributes`](crate::guide::attributes#when-an-object-takes-the-place-of-another).
        ///
        /// ```
        /// use weakly::{Strong, WeakMap};
        ///
        /// let (call, inlined) = (Strong::new("call f"), Strong::new("the body of f"));
        /// let mut spans = WeakMap::from([(&call, 10..24)]);
        /// assert_eq!(spans.transfer(&call, &inlined), None);
        /// drop(call);
        /// assert_eq!(spans[&inlined], 10..24);
        /// ```
    }

    filling!();

    making!();
    values!();
    owned_values!();
}

/// Methods that return keys, as strong or weak handles, and methods over all entries.
impl<K: StrongRef, V> WeakMap<K, V> {
    /// Returns the key, as a strong handle, and its value. O(1). Returns `None` in the key's
    /// destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, &V)> {
        self.store.get_key_value(By(Q::addr(key)))
    }

    /// Removes a key, and returns the key, as a strong handle, with its value. O(1). In the key's
    /// own destructor, no strong handle can be made: returns `None`, and the entry stays.
    pub fn remove_entry<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<(K, V)> {
        self.store.remove_entry(By(Q::addr(key)))
    }

    entries!();
    owned_entries!();
}

cloning!([K: StrongRef, V: Clone] WeakMap<K, V>);
comparing!([K: StrongRef, V] WeakMap<K, V>, |key| &key);
iterating!([K: StrongRef, V] WeakMap<K, V>, (K, V), (K, &'a V));
iterating_mut!([K: StrongRef, V] WeakMap<K, V>);

/// Shows only the values: an anchor has nothing to show.
impl<F: Flavour, V: fmt::Debug> fmt::Debug for WeakMap<Anchor<F>, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_list().entries(self.values()).finish()
    }
}

/// # Panics
/// If the key has no value.
impl<K: WeakKey, V, Q: ?Sized + Identify<K>> Index<&Q> for WeakMap<K, V> {
    type Output = V;

    #[track_caller]
    fn index(&self, key: &Q) -> &V {
        self.get(key).expect("no value for this key")
    }
}

collecting!(
    /// The handles of an item are dropped as soon as its entry is made. If an object has no other
    /// owner, the object dies then, and its entry dies too.
    [K: StrongRef, V] WeakMap<K, V>, from [K: StrongRef, V] WeakMap<K, V>, where [], [],
    (K, V): |map, (key, value)| map.insert(&key, value));
collecting!(['a, K: WeakKey, V] WeakMap<K, V>, from ['a, K: WeakKey, V] WeakMap<K, V>, where [], [],
    (&'a K, V): |map, (key, value)| map.insert(key, value));
extending!(['a, K: StrongRef, V: Clone] WeakMap<K, V>, where [],
    (K, &'a V): |map, (key, value)| map.insert(&key, value.clone()));
extending!(['a, K: WeakKey, V: Clone] WeakMap<K, V>, where [],
    (&'a K, &'a V): |map, (key, value)| map.insert(key, value.clone()));
