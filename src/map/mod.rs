//! The map whose keys are weak, by identity.

mod entry;
mod iter;
mod traits;

use alloc::collections::TryReserveError;

use crate::hash::HashValue;
use crate::reference::{Identify, StrongRef, Watching};
use crate::table::{Owned, Place, Table};

pub use entry::{Entry, OccupiedEntry, OccupiedError, VacantEntry};
pub use iter::{
    Drain, DrainDead, ExtractIf, IntoIter, IntoKeys, IntoValues, Iter, IterMut, Keys, Values,
    ValuesMut, WeakKeys,
};

/// A hash map with weak keys, told apart by identity, and owned values: a side table for objects
/// that you do not own.
///
/// An entry lives as long as its key. The map never holds a strong pointer, and the key needs no
/// `Hash` and no `Eq`; two equal values in two objects are two keys. Keys are
/// [`Strong`](crate::Strong), [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc),
/// [`Rc`](alloc::rc::Rc), or a pointer of your own that implements [`StrongRef`]. Lookups take
/// whatever [identifies](Identify) the key; they never upgrade, never write to the object, and
/// register nothing.
///
/// # When a dead key's value is destroyed
///
/// From the key's death on, its entry is not found any more and (with `Strong` and `local::Strong`)
/// does not count. Its **value** is destroyed on the map's thread, by the map's own next operations:
///
/// * each method that takes `&mut self` first works off up to 16 notices of deaths (`iter_mut`,
///   `values_mut`, `get_mut` and `drain_dead` excepted: they give out what there is);
/// * [`purge`](Self::purge) works off all;
/// * growing, shrinking, clearing and dropping the map do so too.
///
/// Methods that take `&self` never destroy a value; they never run code of yours, except that
/// iteration hands out strong keys, and if yours is the last when you drop it, its object dies there.
/// So values need not be `Send` when keys are: keys die on any thread, values only ever with the map.
///
/// For `Arc` and `Rc`, which do not announce their deaths, each `&mut self` method instead looks at 16
/// buckets in turn, growth and `purge` at all of them.
///
/// # Values that own their key
///
/// Such a key never dies while the map holds the value: the entry stays until it is removed or the
/// map goes, which breaks the cycle. Values that need their key should hold a weak handle;
/// [`get_or_insert_with`](Self::get_or_insert_with) and
/// [`VacantEntry::insert_with_key`] pass one in.
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
pub struct WeakMap<K: StrongRef, V> {
    table: Table<K::Watch, Owned<V>>,
}

#[inline]
fn hash<K: StrongRef>(watch: &K::Watch) -> HashValue {
    HashValue::of_addr(watch.target())
}

/// The two halves of every lookup: the hash of the address, and the comparison with it.
#[inline]
fn by_addr<K: StrongRef>(addr: *const ()) -> (HashValue, impl Fn(&K::Watch) -> bool + Copy) {
    (HashValue::of_addr(addr), move |watch: &K::Watch| {
        watch.target() == addr
    })
}

impl<K: StrongRef, V> WeakMap<K, V> {
    /// An empty map. Allocates nothing before the first insert.
    #[must_use]
    #[inline]
    pub const fn new() -> Self {
        WeakMap {
            table: Table::new(),
        }
    }

    /// An empty map with room for `capacity` entries.
    ///
    /// # Panics
    /// If that is more than an address space holds.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        let mut map = Self::new();
        map.reserve(capacity);
        map
    }

    /// How many entries fit without growing, those that are there included.
    #[must_use]
    #[inline]
    pub fn capacity(&self) -> usize {
        self.table.capacity()
    }

    /// The number of entries. O(1).
    ///
    /// For `Strong` and `local::Strong` it is exact: a key that has announced its death does not
    /// count. (A key inside its own destructor still does: its attributes can still be found by
    /// reference.) For `Arc` and `Rc` it is an upper bound: the dead count until a sweep finds them.
    #[must_use]
    #[inline]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether [`len`](Self::len) is zero. For `Arc` and `Rc` this can be false when all keys are
    /// dead; ask [`len_live`](Self::len_live), or [`purge`](Self::purge) first.
    #[must_use]
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of entries whose key lives, by asking each. O(capacity).
    #[must_use]
    pub fn len_live(&self) -> usize {
        let live = |entry: &&crate::table::Entry<K::Watch, _>| !entry.key.is_expired();
        self.table.iter().filter(live).count()
    }

    /// The number of entries whose key has announced its death, and whose value waits to be destroyed.
    /// O(1). Always zero for `Arc` and `Rc`.
    #[must_use]
    #[inline]
    pub fn pending_dead(&self) -> usize {
        self.table.announced()
    }

    /// Destroys the values of all dead keys, and of those that die of that, and so on until nobody is
    /// left. O(deaths) for `Strong` and `local::Strong`.
    ///
    /// For `Arc` and `Rc` it goes round the table until a round finds nobody: O(capacity), but where
    /// values own the next keys, each link that lies behind costs a round, which is quadratic for a
    /// long chain.
    ///
    /// The memory of the table stays; [`shrink_to_fit`](Self::shrink_to_fit) gives it back.
    ///
    /// ```
    /// use weakly::{Strong, WeakMap};
    ///
    /// let (a, b) = (Strong::new("a"), Strong::new("b"));
    /// let mut owner_of = WeakMap::new();
    /// owner_of.insert(&a, Some(b.clone()));
    /// owner_of.insert(&b, None);
    /// drop((a, b)); // `b` still lives: the value of `a` owns it
    /// assert_eq!(owner_of.pending_dead(), 1);
    /// owner_of.purge();
    /// assert!(owner_of.is_empty());
    /// ```
    pub fn purge(&mut self) {
        self.table.purge();
    }

    /// Hands out the values of dead keys instead of destroying them: all that are dead now and, while
    /// the iterator runs, those that die. What it has not handed out when it is dropped stays.
    /// Costs what [`purge`](Self::purge) does. For a map in a `RefCell` or behind a lock whose values'
    /// destructors use the map again, this is the way: collect, give the map back, then drop.
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
    pub fn drain_dead(&mut self) -> DrainDead<'_, K, V> {
        DrainDead::new(&mut self.table)
    }

    /// Makes room for `additional` more entries; if it has to grow, the dead go first.
    ///
    /// # Panics
    /// If the new size is more than an address space holds.
    pub fn reserve(&mut self, additional: usize) {
        self.table.tend();
        self.table.reserve(additional, hash::<K>);
    }

    /// Makes room for `additional` more entries; if it has to grow, the dead go first.
    ///
    /// # Errors
    /// If the new size is more than an address space holds, or more than the allocator gives. The
    /// entries are as before.
    pub fn try_reserve(&mut self, additional: usize) -> Result<(), TryReserveError> {
        self.table.tend();
        self.table.try_reserve(additional, hash::<K>)
    }

    /// Gives back memory that is not needed, after a [`purge`](Self::purge). O(capacity).
    pub fn shrink_to_fit(&mut self) {
        self.shrink_to(0);
    }

    /// Gives back memory, but keeps room for `min_capacity` entries, after a
    /// [`purge`](Self::purge). O(capacity).
    pub fn shrink_to(&mut self, min_capacity: usize) {
        self.table.shrink_to(min_capacity, hash::<K>);
    }

    /// Removes all entries, dead or alive, and keeps the memory. O(capacity).
    ///
    /// # Panics
    /// If a value's destructor does; the map is empty then too, and other values may be leaked. (The
    /// same goes for dropping the map.)
    pub fn clear(&mut self) {
        self.table.clear();
    }

    /// Whether the key has an entry. O(1); one comparison of addresses.
    #[must_use]
    #[inline]
    pub fn contains_key<Q: ?Sized + Identify<K>>(&self, key: &Q) -> bool {
        self.get(key).is_some()
    }

    /// The value of a key. O(1); does not touch the key's object (unless some key of this map is dead
    /// and not yet purged: then the side table of the one that is found is asked).
    ///
    /// An expired weak handle finds nothing. Inside the key's own destructor, a reference to it still
    /// finds its entry.
    #[inline]
    pub fn get<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<&V> {
        let (hash, eq) = by_addr::<K>(key.addr());
        Some(&self.table.find(hash, eq)?.value.0)
    }

    /// The value of a key. O(1). Works off no notices: what you get is what is there.
    #[inline]
    pub fn get_mut<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<&mut V> {
        let (hash, eq) = by_addr::<K>(key.addr());
        Some(&mut self.table.find_mut(hash, eq)?.value.0)
    }

    /// The key, as a strong pointer, and its value. O(1). `None` also in the key's destructor.
    pub fn get_key_value<Q: ?Sized + Identify<K>>(&self, key: &Q) -> Option<(K, &V)> {
        let (hash, eq) = by_addr::<K>(key.addr());
        let entry = self.table.find(hash, eq)?;
        Some((entry.key.upgrade()?, &entry.value.0))
    }

    /// The place of a key, to look at, fill or clear it with one lookup. O(1) amortised.
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
        let (hash, eq) = by_addr::<K>(K::addr(key));
        let its = |entry: &crate::table::Entry<K::Watch, _>| entry.key.is_on(key);
        match self.table.place(hash, eq, its, self::hash::<K>) {
            Place::Found(found) => Entry::Occupied(OccupiedEntry { found, key }),
            Place::Vacant(vacant) => Entry::Vacant(VacantEntry { vacant, key }),
        }
    }

    /// Sets the value of a key, and returns the one it had. O(1) amortised. The collection takes no
    /// strong pointer: the key goes in by reference.
    #[inline]
    pub fn insert(&mut self, key: &K, value: V) -> Option<V> {
        match self.entry(key) {
            Entry::Occupied(mut entry) => Some(entry.insert(value)),
            Entry::Vacant(entry) => {
                entry.insert(value);
                None
            }
        }
    }

    /// Sets the value of a key that has none. O(1) amortised.
    ///
    /// # Errors
    /// If the key has a value, the error holds its entry and hands back the new value.
    pub fn try_insert<'k>(
        &mut self,
        key: &'k K,
        value: V,
    ) -> Result<&mut V, OccupiedError<'_, 'k, K, V>> {
        match self.entry(key) {
            Entry::Occupied(entry) => Err(OccupiedError { entry, value }),
            Entry::Vacant(entry) => Ok(entry.insert(value)),
        }
    }

    /// The value of a key, which becomes `value` if it has none. O(1) amortised.
    pub fn get_or_insert(&mut self, key: &K, value: V) -> &mut V {
        self.entry(key).or_insert(value)
    }

    /// The value of a key, made by `make` if it has none. O(1) amortised, one lookup. `make` gets the
    /// key as a weak handle, so that a value can refer to its key without keeping it alive.
    ///
    /// # Panics
    /// If `make` does; the map is then as before.
    pub fn get_or_insert_with(&mut self, key: &K, make: impl FnOnce(&K::Weak) -> V) -> &mut V {
        self.entry(key).or_insert_with_key(make)
    }

    /// Removes a key, and returns its value. O(1).
    ///
    /// (In the destructor of an `Arc`'s or `Rc`'s payload, where the key is dead already, the sweep that
    /// comes first may have destroyed the value.)
    #[inline]
    pub fn remove<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<V> {
        self.table.tend();
        let (hash, eq) = by_addr::<K>(key.addr());
        Some(self.table.remove(hash, eq)?.value.0)
    }

    /// Removes a key, and returns it, as a strong pointer, with its value. O(1). In the key's own
    /// destructor, where there is no strong pointer any more, the entry stays.
    pub fn remove_entry<Q: ?Sized + Identify<K>>(&mut self, key: &Q) -> Option<(K, V)> {
        self.table.tend();
        let (hash, eq) = by_addr::<K>(key.addr());
        let mut strong = None;
        let entry = self.table.remove_if(hash, eq, |entry| {
            strong = entry.key.upgrade();
            strong.is_some()
        })?;
        Some((strong?, entry.value.0))
    }

    /// Removes some entry whose key lives, and returns it. In a row, the calls visit each bucket once:
    /// O(1) amortised over emptying the map.
    pub fn pop(&mut self) -> Option<(K, V)> {
        self.table.tend();
        let (key, entry) = self.table.pop(|entry| entry.key.upgrade())?;
        Some((key, entry.value.0))
    }

    /// Keeps the live entries for which `keep` is true. O(capacity). Entries of dead keys are not
    /// shown.
    ///
    /// `keep` gets a strong pointer to each key: should it be the last when the call returns, the
    /// key's destructor runs here.
    ///
    /// # Panics
    /// If `keep` or a destructor does; what was not visited stays.
    pub fn retain(&mut self, mut keep: impl FnMut(&K, &mut V) -> bool) {
        self.extract_if(|key, value| !keep(key, value))
            .for_each(drop);
    }

    /// Takes out the live entries for which `take` is true, one at a time as the iterator goes on;
    /// those it has not come to stay. O(capacity). The rest is as for [`retain`](Self::retain).
    pub fn extract_if<F>(&mut self, take: F) -> ExtractIf<'_, K, V, F>
    where
        F: FnMut(&K, &mut V) -> bool,
    {
        self.table.tend();
        ExtractIf::new(&mut self.table, take)
    }

    /// Takes all live entries out. The map is empty, and without its memory, at once, even if the
    /// iterator is forgotten. O(capacity).
    pub fn drain(&mut self) -> Drain<'_, K, V> {
        Drain::new(core::mem::take(self))
    }

    /// All live entries, keys as strong pointers, in no order. O(capacity).
    pub fn iter(&self) -> Iter<'_, K, V> {
        Iter::new(&self.table)
    }

    /// All live entries, keys as strong pointers, in no order. O(capacity).
    pub fn iter_mut(&mut self) -> IterMut<'_, K, V> {
        IterMut::new(&mut self.table)
    }

    /// All live keys, as strong pointers, in no order. O(capacity).
    pub fn keys(&self) -> Keys<'_, K, V> {
        Keys(self.iter())
    }

    /// All keys as weak handles, in no order, without an upgrade: for a look that must not keep
    /// anybody alive, not even for a moment. Handles that are expired by now are skipped. O(capacity).
    pub fn weak_keys(&self) -> WeakKeys<'_, K, V> {
        WeakKeys::new(&self.table)
    }

    /// The values of all live keys, in no order. O(capacity); upgrades nobody.
    pub fn values(&self) -> Values<'_, K, V> {
        Values::new(&self.table)
    }

    /// The values of all live keys, in no order. O(capacity); upgrades nobody.
    pub fn values_mut(&mut self) -> ValuesMut<'_, K, V> {
        ValuesMut::new(&mut self.table)
    }

    /// The keys of the map, as strong pointers.
    pub fn into_keys(self) -> IntoKeys<K, V> {
        IntoKeys(self.into_iter())
    }

    /// The values of the map's live keys.
    pub fn into_values(self) -> IntoValues<K, V> {
        IntoValues(self.into_iter())
    }
}
