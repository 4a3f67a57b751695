//! The one table behind all the collections: entries whose sides may die.
//!
//! It knows no hasher and no pointer: hashes come in as [`HashValue`], sides as [`Slot`]s. The one that it
//! is given to move an entry must lead where the entry's notice will look ([`Slot::hash_of_notice`]):
//! a notice that misses its entry is taken for a late one, and frees a hook that is still in use. It never
//! runs code of a user while an entry is half in: an entry is unlinked first, and what is left of it
//! is dropped when the table is whole again. A value's destructor that kills the next key only makes
//! the next notice; it is the loops here that go on, not the stack.

mod entry;
mod iter;
mod kept;
mod slot;
mod sweep;

use alloc::collections::TryReserveError;
use core::mem;
use hashbrown::{HashTable, hash_table};

use crate::hash::HashValue;
use crate::reclaim::Reclaim;

pub(crate) use entry::{Found, Place, Vacant};
pub(crate) use iter::IntoEntries;
use kept::Kept;
pub use slot::Owned;
pub(crate) use slot::{Deaths, Notice, Slot};
pub(crate) use sweep::{Search, Walk};

/// How many notices an operation works off: more than one, so that the dead never accumulate under a
/// caller who only inserts; few, so that no caller pays for everybody's dead.
const NOTICES: usize = 16;

/// An entry: two sides.
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// Entries, and how their deaths become known.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the deaths: an entry's watch ends before its queue does.
    entries: HashTable<Entry<K, V>>,
    keys: K::Deaths,
    values: V::Deaths,
    /// What the dead leave goes here, and nowhere else.
    kept: Kept<Remains<K, V>>,
    /// The bucket at which the next sweep and the next `pop` begin.
    hand: usize,
}

impl<K: Slot, V: Slot> Table<K, V> {
    pub(crate) const fn new() -> Self {
        Table {
            entries: HashTable::new(),
            keys: K::Deaths::NONE,
            values: V::Deaths::NONE,
            kept: Kept::new(),
            hand: 0,
        }
    }

    /// Entries that are not announced dead.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len() - self.announced()
    }

    /// Entries that are announced dead.
    #[inline]
    pub(crate) fn announced(&self) -> usize {
        self.keys.announced() + self.values.announced()
    }

    /// Entries that are announced dead, and those of which something is kept.
    #[inline]
    pub(crate) fn pending(&self) -> usize {
        self.announced() + self.kept.len()
    }

    pub(crate) fn reclaim(&self) -> Reclaim {
        self.kept.policy()
    }

    pub(crate) fn set_reclaim(&mut self, reclaim: Reclaim) {
        self.kept.set_policy(reclaim);
    }

    #[inline]
    fn is_idle(&self) -> bool {
        self.keys.is_idle() && self.values.is_idle()
    }

    /// Whether what is found is what was looked for, dead or alive. (If not, the entry is asked. With
    /// two weak sides the notice that tells may be in either queue.)
    #[inline]
    fn is_trusted(&self) -> bool {
        !K::BY_ADDRESS || self.is_idle()
    }

    #[inline]
    pub(crate) fn capacity(&self) -> usize {
        self.entries.capacity()
    }

    /// The beginning of every operation that may change the table: buries a few of the dead.
    #[inline]
    pub(crate) fn tend(&mut self) {
        self.tend_to_announced();
        if Self::SWEPT {
            self.sweep_some();
        }
    }

    /// The beginning of an operation that changes the table only if it does not find something: it buries
    /// a few of those who have announced their death, and searches for none.
    #[inline]
    pub(crate) fn tend_to_announced(&mut self) {
        if !self.is_idle() {
            self.bury_some();
        }
    }

    #[cold]
    fn bury_some(&mut self) {
        for _ in 0..NOTICES {
            if !self.bury_announced() {
                break;
            }
        }
    }

    /// Buries the next entry that is announced dead, if there is one.
    fn bury_announced(&mut self) -> bool {
        self.unlink_announced()
            .map(|remains| self.kept.reclaim(remains))
            .is_some()
    }

    /// Unlinks the next entry that is announced dead, and returns what it leaves.
    fn unlink_announced(&mut self) -> Option<Remains<K, V>> {
        let entries = &mut self.entries;
        let key_died = |entry: Entry<K, V>| (entry.key, entry.value);
        let value_died = |entry: Entry<K, V>| (entry.value, entry.key);
        unlink_next(&mut self.keys, entries, |entry| &entry.key, key_died)
            .map(|(key, value)| (key, value.into_remains()))
            .or_else(|| {
                unlink_next(&mut self.values, entries, |entry| &entry.value, value_died)
                    .map(|(value, key)| (key.into_remains(), value))
            })
    }

    /// Buries all the dead; and those whom that kills, if what they leave is not kept.
    fn bury_all(&mut self) {
        let mut search = Search::new();
        while let Some(remains) = self.unlink_dead(&mut search) {
            self.kept.reclaim(remains);
        }
    }

    /// Unlinks the next dead entry: those who announce their death first, then those for whom one has
    /// to search. None if nobody is dead.
    fn unlink_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        self.unlink_announced().or_else(|| self.search_dead(search))
    }

    /// Destroys what all the dead leave or have left, and those whom that kills.
    pub(crate) fn purge(&mut self) {
        let mut search = Search::new();
        while self.take_dead(&mut search).is_some() {}
    }

    /// Gives out what some dead entry leaves or has left. None if nobody is dead.
    pub(crate) fn take_dead(&mut self, search: &mut Search) -> Option<Remains<K, V>> {
        self.kept.take().or_else(|| self.unlink_dead(search))
    }

    #[inline]
    pub(crate) fn find(
        &self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&Entry<K, V>> {
        let entry = self.entries.find(hash.get(), |entry| eq(&entry.key))?;
        (self.is_trusted() || !entry.is_stale()).then_some(entry)
    }

    #[inline]
    pub(crate) fn find_mut(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&mut Entry<K, V>> {
        let trusted = self.is_trusted();
        let entry = self.entries.find_mut(hash.get(), |entry| eq(&entry.key))?;
        (trusted || !entry.is_stale()).then_some(entry)
    }

    /// Takes an entry out if `wanted` has something to say of it.
    #[inline]
    pub(crate) fn remove_if<R>(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
        wanted: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let trusted = self.is_trusted();
        let found = self.entries.find_entry(hash.get(), |entry| eq(&entry.key));
        let entry = found.ok()?;
        // A stale one is left to its notice.
        if !trusted && entry.get().is_stale() {
            return None;
        }
        let answer = wanted(entry.get())?;
        Some((answer, entry.remove().0))
    }

    /// Makes room for `additional` entries, and if it has to grow for that, buries the dead first.
    pub(crate) fn reserve(
        &mut self,
        additional: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) {
        if self.is_short_of(additional) {
            self.bury_all();
            self.entries
                .reserve(additional, |entry| hasher(entry).get());
        }
    }

    pub(crate) fn try_reserve(
        &mut self,
        additional: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) -> Result<(), TryReserveError> {
        if self.is_short_of(additional) {
            self.bury_all();
            // `alloc` keeps its error's constructors to itself: ask a collection of its own.
            self.entries
                .try_reserve(additional, |entry| hasher(entry).get())
                .map_err(|_| refusal())?;
        }
        Ok(())
    }

    fn is_short_of(&self, additional: usize) -> bool {
        self.capacity() - self.entries.len() < additional
    }

    /// The beginning of an insert: room for one more. When the table is full, the dead go first, and
    /// it grows only if that has not freed a quarter of it: so a table whose keys come and go does not
    /// grow, and the look at all the entries is paid for by the inserts since the last.
    #[inline]
    pub(crate) fn make_room(&mut self, hasher: impl Fn(&Entry<K, V>) -> HashValue) {
        if self.is_short_of(1) {
            self.make_more_room(hasher);
        }
    }

    #[cold]
    fn make_more_room(&mut self, hasher: impl Fn(&Entry<K, V>) -> HashValue) {
        while self.bury_announced() {}
        if Self::SWEPT {
            self.sweep_once();
        }
        let len = self.entries.len();
        if len > self.capacity() / 4 * 3 || self.is_short_of(1) {
            // One more than it can hold: the table behind takes its next size, or, if only the marks of
            // removed entries fill it, cleans itself up in place.
            let additional = (self.capacity() + 1).saturating_sub(len).max(1);
            self.entries
                .reserve(additional, |entry| hasher(entry).get());
        }
    }

    pub(crate) fn shrink_to(
        &mut self,
        min_capacity: usize,
        hasher: impl Fn(&Entry<K, V>) -> HashValue,
    ) {
        self.bury_all();
        self.kept.shrink_to_fit();
        self.entries
            .shrink_to(min_capacity, |entry| hasher(entry).get());
        self.hand = 0;
    }

    /// Drops all entries, and what the dead have left, and keeps the table's memory.
    pub(crate) fn clear(&mut self) {
        self.end_all();
        self.entries.clear();
        self.kept.clear();
    }

    /// Takes all entries out; this one is empty then, and without its memory. Where the dead are to
    /// leave something until it is asked for, they leave it here.
    pub(crate) fn take_entries(&mut self) -> Self {
        if self.reclaim() == Reclaim::OnRequest {
            self.bury_all();
        }
        let mut empty = Table::new();
        mem::swap(&mut empty.kept, &mut self.kept);
        mem::replace(self, empty)
    }

    /// Nobody is to tell this table anything any more: all its entries are about to be dropped. Before
    /// the first value is, since its destructor may panic and leave the others leaked, but not
    /// watching; or kill a key of this table, whose notice would be of no use.
    fn end_all(&mut self) {
        for entry in self.entries.iter_mut() {
            entry.key.end();
            entry.value.end();
        }
        // What is left in the queues has lost its entry.
        while self.bury_announced() {}
    }

    /// All entries, the dead ones too.
    #[inline]
    pub(crate) fn iter(&self) -> hash_table::Iter<'_, Entry<K, V>> {
        self.entries.iter()
    }

    /// All entries, the dead ones too.
    #[inline]
    pub(crate) fn iter_mut(&mut self) -> hash_table::IterMut<'_, Entry<K, V>> {
        self.entries.iter_mut()
    }
}

impl<K: Slot, V: Slot> Drop for Table<K, V> {
    fn drop(&mut self) {
        self.end_all();
    }
}

/// What a dead entry leaves: what the collection owns of it.
pub(crate) type Remains<K, V> = (<K as Slot>::Remains, <V as Slot>::Remains);

impl<K: Slot, V: Slot> Entry<K, V> {
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.key.is_stale() || self.value.is_stale()
    }

    /// It is unlinked, and dead.
    fn into_remains(self) -> Remains<K, V> {
        (self.key.into_remains(), self.value.into_remains())
    }
}

/// Unlinks the next entry that is announced dead, and returns what the side that died leaves, and the
/// other. `slot` finds the side that died, `split` takes it off.
#[inline]
fn unlink_next<S: Slot, E, R>(
    deaths: &mut S::Deaths,
    entries: &mut HashTable<E>,
    slot: impl Fn(&E) -> &S,
    split: impl FnOnce(E) -> (S, R),
) -> Option<(S::Remains, R)> {
    while let Some(notice) = deaths.next() {
        match entries.find_entry(notice.hash(), |entry| slot(entry).is_named_by(&notice)) {
            Ok(entry) => {
                let (side, rest) = split(entry.remove().0);
                return Some((side.settle(notice), rest));
            }
            // The entry has gone already: a late notice touches nothing.
            Err(_) => notice.orphaned(),
        }
    }
    None
}

/// The error of a reserve that failed.
fn refusal() -> TryReserveError {
    alloc::vec::Vec::<u8>::new()
        .try_reserve(usize::MAX)
        .expect_err("no vector is that large")
}
