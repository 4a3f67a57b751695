//! The one table behind all the collections: entries whose sides may die.
//!
//! It knows no hasher and no pointer: hashes come in as [`HashValue`], sides as [`Slot`]s. The one that it
//! is given to move an entry must lead where the entry's notice will look ([`Slot::hash_of_notice`]):
//! a notice that misses its entry is taken for a late one, and frees a hook that is still in use. It never
//! runs code of a user while an entry is half in: an entry is unlinked first, and what is left of it
//! is dropped when the table is whole again. A value's destructor that kills the next key only makes
//! the next notice; it is the loops here that go on, not the stack.

use alloc::collections::TryReserveError;
use core::{mem, ptr};
use hashbrown::{HashTable, hash_table};

use crate::hash::HashValue;
use crate::queue::NoticeQueue;
use crate::sync;

use super::kept::Kept;
use super::reclaim::Reclaim;
use super::slot::{NoticeOf, Slot};
use super::sweep::Search;

/// How many notices an operation drains: more than one, so that the dead never accumulate under a
/// caller who only inserts; few, so that no caller pays for everybody's dead.
const NOTICES: usize = 16;

/// Buckets of a table that is larger than the caches next to a processor: its lookups wait for memory.
const LARGE: usize = 1 << 14;

/// An entry: two sides.
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// Entries, and how their deaths become known.
pub(crate) struct Table<K: Slot, V: Slot> {
    // Before the deaths: an entry's watch ends before its queue does.
    pub(super) entries: HashTable<Entry<K, V>>,
    pub(super) keys: K::Queue,
    pub(super) values: V::Queue,
    /// What the dead leave goes here, and nowhere else.
    pub(super) kept: Kept<Remains<K, V>>,
    /// The bucket at which the next sweep and the next `pop` begin.
    pub(super) hand: usize,
    /// Where the buckets end and their tags begin, when an entry was last put in: a hint for
    /// [`prefetch`](Self::prefetch).
    pub(super) tags: usize,
}

impl<K: Slot, V: Slot> Table<K, V> {
    pub(crate) const fn new() -> Self {
        Table {
            entries: HashTable::new(),
            keys: K::Queue::NONE,
            values: V::Queue::NONE,
            kept: Kept::new(),
            hand: 0,
            tags: 0,
        }
    }

    /// Lets the processor fetch the lines in which an entry of this hash is likely to be. A hint: `tags` may
    /// be that of a table that has been replaced, and hashbrown may lay its table out in another way.
    #[inline(always)]
    fn prefetch(&self, hash: HashValue) {
        let bucket = self.prefetch_home(hash);
        sync::prefetch(ptr::without_provenance(self.tags.wrapping_add(bucket)));
    }

    /// The same without its tag: the place where it is unless others have it.
    #[inline(always)]
    fn prefetch_home(&self, hash: HashValue) -> usize {
        let bucket = hash.get() as usize & self.entries.num_buckets().wrapping_sub(1);
        let entry = (bucket + 1).wrapping_mul(size_of::<Entry<K, V>>());
        sync::prefetch(ptr::without_provenance(self.tags.wrapping_sub(entry)));
        bucket
    }

    /// Entries that are not announced dead.
    #[inline]
    pub(crate) fn len(&self) -> usize {
        self.entries.len().saturating_sub(self.announced())
    }

    /// Entries that are announced dead. O(notices that have come since the last call), or O(notices) if both
    /// sides have some.
    #[inline]
    pub(crate) fn announced(&self) -> usize {
        if self.keys.is_idle() {
            return self.values.pending();
        }
        if self.values.is_idle() {
            return self.keys.pending();
        }
        self.announced_by_both()
    }

    /// An entry both of whose sides have a notice counts once.
    #[cold]
    fn announced_by_both(&self) -> usize {
        let (mut announced, seen) = self.values.look();
        for notice in self.keys.iter() {
            let entry = self.find_named(&notice);
            announced += usize::from(entry.is_none_or(|entry| !entry.value.is_seen(&seen)));
        }
        announced
    }

    fn find_named(&self, notice: &NoticeOf<K>) -> Option<&Entry<K, V>> {
        let hash = K::Queue::hash(notice).get();
        self.entries
            .find(hash, |entry| entry.key.is_named_by(notice))
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

    /// The beginning of an insert that ends with [`tend`](Self::tend): the entry of the first notice is
    /// fetched while the insert does its own work.
    #[inline]
    pub(crate) fn look_ahead(&mut self) {
        if let Some(hash) = self.keys.peek() {
            self.prefetch(hash);
        }
        if let Some(hash) = self.values.peek() {
            self.prefetch(hash);
        }
    }

    #[inline(never)]
    fn bury_some(&mut self) {
        for _ in 0..NOTICES {
            let Some(remains) = self.unlink_announced() else {
                break;
            };
            self.kept.reclaim(remains);
            if self.is_idle() {
                break;
            }
        }
    }

    /// Buries all entries that are announced dead.
    fn bury_announced(&mut self) {
        while !self.is_idle() {
            self.bury_some();
        }
    }

    /// Unlinks the next entry that is announced dead, and returns what it leaves.
    #[inline(always)]
    fn unlink_announced(&mut self) -> Option<Remains<K, V>> {
        let Table {
            entries,
            keys,
            values,
            ..
        } = self;
        let named = |entry: &Entry<K, V>, notice: &_| entry.key.is_named_by(notice);
        if let Some(mut entry) = unlink_next(keys, entries, named) {
            entry.value.end(values);
            return Some(entry.into_remains());
        }
        let named = |entry: &Entry<K, V>, notice: &_| entry.value.is_named_by(notice);
        let mut entry = unlink_next(values, entries, named)?;
        entry.key.end(keys);
        Some(entry.into_remains())
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
        // The tags and the entries of a large table are on two cold lines: not one after the other.
        if self.entries.num_buckets() >= LARGE {
            self.prefetch_home(hash);
        }
        self.entries.find(hash.get(), |entry| eq(&entry.key))
    }

    #[inline]
    pub(crate) fn find_mut(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
    ) -> Option<&mut Entry<K, V>> {
        self.entries.find_mut(hash.get(), |entry| eq(&entry.key))
    }

    /// Takes an entry out if `wanted` has something to say of it.
    #[inline]
    pub(crate) fn remove_if<R>(
        &mut self,
        hash: HashValue,
        mut eq: impl FnMut(&K) -> bool,
        wanted: impl FnOnce(&Entry<K, V>) -> Option<R>,
    ) -> Option<(R, Entry<K, V>)> {
        let found = self.entries.find_entry(hash.get(), |entry| eq(&entry.key));
        let entry = found.ok()?;
        let answer = wanted(entry.get())?;
        let mut entry = entry.remove().0;
        entry.end(&mut self.keys, &mut self.values);
        Some((answer, entry))
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

    pub(super) fn is_short_of(&self, additional: usize) -> bool {
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
        self.bury_announced();
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
            entry.end(&mut self.keys, &mut self.values);
        }
        // What is left in the queues has lost its entry.
        self.bury_announced();
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

    /// It is unlinked, or about to be dropped: there is to be no notice of it any more.
    #[inline]
    pub(crate) fn end(&mut self, keys: &mut K::Queue, values: &mut V::Queue) {
        self.key.end(keys);
        self.value.end(values);
    }

    /// It is unlinked, dead, and has ended.
    pub(super) fn into_remains(self) -> Remains<K, V> {
        (self.key.into_remains(), self.value.into_remains())
    }
}

/// Unlinks the entry of the next notice. `named` says which it is.
#[inline(always)]
fn unlink_next<D: NoticeQueue, E>(
    deaths: &mut D,
    entries: &mut HashTable<E>,
    named: impl Fn(&E, &D::Notice) -> bool,
) -> Option<E> {
    while let Some(notice) = deaths.next() {
        let found = entries.find_entry(D::hash(&notice).get(), |entry| named(entry, &notice));
        // (Not found is only what was leaked.)
        let entry = found.ok().map(|entry| entry.remove().0);
        // Before anything else that the entry owns is destroyed: the block's memory is warm, and will be
        // wanted.
        deaths.finish(notice);
        if entry.is_some() {
            return entry;
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
