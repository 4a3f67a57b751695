//! The table: the operations of readers and writers.

use core::iter::successors;
use core::marker::PhantomData;
use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::array::Array;
use super::bucket::{Bucket, Meta};
use super::dead;
use super::domain::Domain;
use super::entry::{Entry, Registered};
use super::guards::{Reading, Writing};
use super::participants::{Tally, assert_apart};
use super::rest::{MakeRest, RawCounts, Rest, WithContext};
use super::retired::Retired;
use super::unlinked::Unlinked;
use crate::ptr::{Core, CoreRef};
use crate::statistics::MemoryUsage;
use crate::sync::{AtomicPtr, Ordering::*, acquire_loads, const_fn};
use crate::thread::ThreadNumber;

/// An empty table takes one cache line. Fields that are rarely read, or often written, are
/// elsewhere.
#[repr(C, align(64))]
pub(crate) struct RawTable<N: Entry> {
    pub(super) domain: Domain,
    /// The first array, or null. Deaths use the pointer in the core instead, which threads inside
    /// do not read.
    pub(super) current: AtomicPtr<Array<N>>,
    /// The core, which deaths use. Null until there is an array.
    core: AtomicPtr<Core>,
    /// Returns the name of the collection's type.
    #[cfg(feature = "holders")]
    pub(super) face: Face,
    owns: PhantomData<N>,
}

/// Returns the name of a type.
pub(crate) type Face = fn() -> &'static str;

// SAFETY: the owner of the table owns its entries, and the context of their destruction.
unsafe impl<N: Entry<Context: Send> + Send> Send for RawTable<N> {}
// SAFETY: threads read entries concurrently, and destroy entries that other threads have inserted.
unsafe impl<N: Entry<Context: Send + Sync> + Send + Sync> Sync for RawTable<N> {}

impl<N: Entry> RawTable<N> {
    /// Makes the rest of the domain, with the context of the entries.
    pub(super) const REST: MakeRest = MakeRest::with_context::<N::Context>();

    const_fn! {
        #[cfg(test)]
        pub(crate) fn new() -> RawTable<N> {
            RawTable::of(core::any::type_name::<N>)
        }
    }

    const_fn! {
        pub(crate) fn of(_face: Face) -> RawTable<N> {
            assert_apart!(RawTable<N>, current, domain.named, domain.participants, domain.rest);
            RawTable {
                current: AtomicPtr::new(ptr::null_mut()),
                core: AtomicPtr::new(ptr::null_mut()),
                domain: Domain::new(Self::REST),
                #[cfg(feature = "holders")]
                face: _face,
                owns: PhantomData,
            }
        }
    }

    /// Makes room for `capacity` entries, if the table has never had an array.
    #[track_caller]
    pub(crate) fn allocate_for(&self, capacity: usize) {
        if capacity != 0 {
            let len = Array::<N>::len_for(capacity);
            assert!(Array::<N>::fits(len), "capacity overflow");
            self.begin(len);
        }
    }

    /// Returns the context of the entries' destruction, which is dropped after the last entry.
    #[inline]
    pub(crate) fn context(&self) -> &N::Context {
        // SAFETY: made by `REST`. The rest lasts as long as the table.
        unsafe { Rest::context(self.domain.rest_or_new(Self::REST)) }
    }

    /// Makes the context [concern](Self::concern) each operation from now on.
    pub(crate) fn begin_concern(&self) -> &N::Context {
        let context = self.context();
        // Release: with `concern`: the context is initialised.
        self.domain.concerns.store(true, Release);
        // E1: between the word and the caller's look for an array.
        crate::sync::barrier();
        context
    }

    /// Returns the context, if the context concerns each operation.
    #[inline]
    pub(crate) fn concern(&self) -> Option<&N::Context> {
        // Acquire: with `begin_concern`.
        match self.domain.concerns.load(Acquire) {
            true => self.known_context(),
            false => None,
        }
    }

    /// Returns the context, if it has been made.
    #[inline]
    pub(crate) fn known_context(&self) -> Option<&N::Context> {
        let rest = self.domain.rest_ptr();
        // SAFETY: as in `context`.
        (!rest.is_null()).then(|| unsafe { Rest::context(rest) })
    }

    /// Makes an entry that is about to be inserted. If the entry is not inserted, it is ended like
    /// an entry of the table. The memory is allocated before `make` is called: if the allocation
    /// fails, no entry has been made. The caller limits the entry's lifetime to the lifetime of the
    /// handles to the objects with which the entry will be
    /// [registered](super::entry::Registered::register).
    // Always inlined: passing the parts of an entry through memory costs 10 ns.
    #[inline(always)]
    pub(crate) fn entry(&self, make: impl FnOnce() -> N) -> Unlinked<'_, N> {
        Unlinked::new(self.spare_memory(), make, self.context())
    }

    /// Returns the core, which deaths use, if there has been an array.
    #[inline]
    pub(crate) fn core(&self) -> Option<CoreRef> {
        // Acquire: with `core_or_new`: the core is initialised.
        let core = self.core.load(Acquire);
        // SAFETY: the core lasts as long as the table.
        (!core.is_null()).then(|| unsafe { CoreRef::from_ptr(core) })
    }

    #[inline]
    pub(crate) fn core_or_new(&self) -> CoreRef {
        self.core().unwrap_or_else(|| self.make_core())
    }

    #[cold]
    #[inline(never)]
    fn make_core(&self) -> CoreRef {
        let new = CoreRef::new(dead::unlink::<N>);
        // Release: with `core`: the new core is initialised.
        // Acquire on failure: with the winner: its core is initialised.
        let there = self
            .core
            .compare_exchange(ptr::null_mut(), new.as_ptr(), Release, Acquire);
        match there {
            Ok(_) => new,
            // SAFETY: no other thread knows the new core. The winner's core lasts as long as the
            // table.
            Err(there) => unsafe {
                new.close().leave(0);
                CoreRef::from_ptr(there)
            },
        }
    }

    /// Publishes the first array, unless there is one. Deaths get the array first, because a death
    /// may follow an insertion at once.
    #[cold]
    pub(super) fn begin(&self, len: usize) {
        let core = self.core_or_new();
        #[cfg(feature = "holders")]
        self.begin_in_list();
        let new = Box::into_raw(Box::new(Array::<N>::new(len, core)));
        let first = match core.begin_entries(new.cast()) {
            Ok(()) => new,
            Err(there) => {
                // SAFETY: made here, and no other thread has seen it.
                unsafe { Array::free(new) };
                there.cast()
            }
        };
        // Release: with `array`: the array is initialised (if another thread made the array, by the
        // Acquire in `begin_entries`).
        _ = self
            .current
            .compare_exchange(ptr::null_mut(), first, Release, Relaxed);
    }

    /// Returns the number of entries, without entries that are [not counted](Entry::is_counted).
    /// Exact while no thread changes the table.
    pub(crate) fn len(&self) -> usize {
        Self::at_least_zero(self.domain.entries().wrapping_sub(self.unlinked()))
    }

    /// Returns the number of all entries, from which the length of the array follows.
    pub(super) fn linked(&self) -> usize {
        self.len() + Self::at_least_zero(self.domain.others())
    }

    /// Turns a sum of counts into a number of entries; a negative sum becomes zero. A sum may
    /// include the removal of an entry by one thread, but not its insertion by another thread.
    fn at_least_zero(sum: usize) -> usize {
        usize::try_from(sum as isize).unwrap_or(0)
    }

    /// Returns the number of unlinked entries that wait for the end of visits. Entries without a
    /// value are not counted.
    pub(crate) fn waiting(&self) -> usize {
        self.domain.waiting()
    }

    /// Counts one more for the calling thread.
    pub(crate) fn tally(&self, tally: Tally) {
        let number = ThreadNumber::current();
        self.domain
            .participant(number.get(), Self::REST)
            .tally(tally);
    }

    /// Returns the bytes of the buckets, of the entries, and of the memory beside both. Without the
    /// memory that threads keep for further entries. O(buckets).
    pub(crate) fn memory_usage(&self) -> MemoryUsage {
        let mut usage = MemoryUsage::default();
        let rest = self.known_context();
        usage.records = rest.map_or(0, |_| size_of::<WithContext<N::Context>>())
            + self.core().map_or(0, CoreRef::memory_usage)
            + self.domain.participants.memory_usage();
        if self.is_new() {
            return usage;
        }
        let entries = self.linked() + self.dead() + self.waiting();
        usage.entries = entries * size_of::<N>();
        let inside = self.read();
        let first = self.array(&inside.inside);
        for array in successors(first, |array| array.next()) {
            usage.table += array.memory_usage();
        }
        let mut count = |node: *mut N| {
            // SAFETY: as in `find`.
            let watch = unsafe { &*node }.watch();
            usage.records += watch.map_or(0, Registered::memory_usage);
        };
        if let Some(array) = first {
            (0..array.len()).for_each(|index| array.each(index, &mut count));
        }
        usage
    }

    /// Returns what all threads have counted.
    pub(crate) fn counts(&self) -> RawCounts {
        let rest = self.domain.rest();
        rest.map_or_else(RawCounts::default, |rest| rest.counts(self.core()))
    }

    /// Returns whether the table has never had an entry. Then a thread need not enter.
    #[inline]
    pub(crate) fn is_new(&self) -> bool {
        // Relaxed: nothing is read through the pointer. An insertion that happens before the call
        // is visible.
        self.current.load(Relaxed).is_null()
    }

    /// D8: makes the table prompt: from now on no thread gathers.
    pub(crate) fn be_prompt(&self) {
        self.domain.be_prompt();
    }

    /// Enters the table to read.
    #[inline]
    pub(crate) fn read(&self) -> Reader<'_, N> {
        Reader {
            inside: Reading::new(&self.domain, Self::REST),
            table: self,
        }
    }

    /// Enters the table to change it. Unlinked entries are destroyed after the thread has left, by
    /// the last thread that may look at them.
    #[inline]
    pub(crate) fn write(&self) -> Writer<'_, N> {
        Writer {
            inside: Writing::new(&self.domain, Self::REST),
            table: self,
        }
    }

    /// Returns the first array. Only for threads that are inside (R3), as the lifetime shows.
    #[inline]
    pub(super) fn array<'g, G>(&self, _inside: &'g G) -> Option<&'g Array<N>> {
        // Acquire: with `begin` and `array_for`: the array is initialised, and has all entries that
        // were moved into it.
        // SAFETY: R3.
        unsafe { self.current.load(Acquire).as_ref() }
    }
}

/// A guard for reading a table. The returned entries last as long as the guard.
pub(crate) struct Reader<'t, N: Entry> {
    table: &'t RawTable<N>,
    inside: Reading<'t>,
}

/// A guard for changing a table. The returned entries, unlinked or not, last as long as the guard.
pub(crate) struct Writer<'t, N: Entry> {
    pub(super) table: &'t RawTable<N>,
    pub(super) inside: Writing<'t>,
}

/// Finds the entry with this hash for which `same` answers `Yes`, in an array and the arrays after
/// it. Begins again as R5 demands.
#[inline]
pub(super) fn find<'g, N: Entry, M: Into<Match>>(
    first: &'g Array<N>,
    hash: u64,
    mut same: impl FnMut(&N) -> M,
) -> Option<Located<'g, N>> {
    loop {
        let mut array = first;
        let mut home = array.home(hash);
        let mut meta = home.meta();
        while meta.has_moved() {
            // There is one: the array was published before a bucket moved into it.
            array = array.next()?;
            home = array.home(hash);
            meta = home.meta();
        }
        match search_chain(home, meta, hash, &mut same, |_| ()) {
            Ok(place) => return Some(place),
            Err(false) => return None,
            Err(true) => {}
        }
    }
}

/// Searches a home bucket, and the buckets chained behind it, and passes the entries with this hash
/// before the sought one to `other`. `seen`: the word of the home bucket, which has not moved. The
/// error is whether a dead entry has gone (R5): then the search has to begin again.
#[inline]
pub(super) fn search_chain<'g, N: Entry, M: Into<Match>>(
    home: &'g Bucket<N>,
    seen: Meta,
    hash: u64,
    mut same: impl FnMut(&N) -> M,
    mut other: impl FnMut(*mut N),
) -> Result<Located<'g, N>, bool> {
    let (mut bucket, mut meta, mut gone) = (home, seen, false);
    loop {
        for slot in meta.candidates(hash) {
            let node = bucket.slot(slot);
            // SAFETY: R3, R4: the entry was linked when the thread looked, and is not destroyed
            // while the thread is inside.
            let there = unsafe { node.as_ref() };
            if let Some(there) = there.filter(|there| there.hash() == hash) {
                let answer = same(there).into();
                if answer != Match::No {
                    let place = Located::new(home, bucket, slot, node);
                    if answer == Match::Yes {
                        return Ok(place);
                    }
                    gone |= place.has_gone();
                }
                other(node);
            }
        }
        match bucket.next() {
            Some(next) => bucket = next,
            None => return Err(gone),
        }
        meta = bucket.meta();
    }
}

/// The answer of a comparison during a search.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Match {
    Yes,
    No,
    /// The entry may have been the one, but its object is dead. The search begins again if the
    /// entry [has gone](Located::has_gone) and no other entry is the one.
    Dead,
}

impl Match {
    /// Sets `dead` if the answer is `Dead`.
    #[inline]
    pub(crate) fn noted(self, dead: &mut bool) -> Self {
        *dead |= self == Match::Dead;
        self
    }
}

impl From<bool> for Match {
    #[inline]
    fn from(same: bool) -> Self {
        if same { Match::Yes } else { Match::No }
    }
}

/// Returns all present entries as a snapshot. Without a snapshot, code that adds entries while it
/// visits them would visit the added entries, and so on.
fn entries<N: Entry>(array: Option<&Array<N>>) -> Vec<&N> {
    let mut all = Vec::new();
    let Some(array) = array else { return all };
    for index in 0..array.len() {
        array.each(index, &mut |node| {
            // SAFETY: as in `search_chain`.
            all.push(unsafe { &*node });
        });
    }
    all
}

impl<N: Entry> Reader<'_, N> {
    /// Returns the entry with this hash for which `same` is true, and its place. Lock-free.
    #[inline(always)]
    pub(crate) fn find<M: Into<Match>>(
        &self,
        hash: u64,
        same: impl FnMut(&N) -> M,
    ) -> Option<Located<'_, N>> {
        find(self.table.array(&self.inside)?, hash, same)
    }

    /// Returns the entry with this hash for which `same` is true. Lock-free.
    #[inline(always)]
    pub(crate) fn get(&self, hash: u64, same: impl FnMut(&N) -> bool) -> Option<&N> {
        self.find(hash, same).map(|place| place.get())
    }

    /// Returns all present entries. An entry that is present all the time occurs once.
    pub(crate) fn entries(&self) -> Vec<&N> {
        entries(self.table.array(&self.inside))
    }

    /// Counts one more for the calling thread.
    #[inline(always)]
    pub(crate) fn tally(&self, tally: Tally) {
        self.inside.tally(tally);
    }

    /// Counts a read, and returns whether the read is the n-th read, which does extra work.
    #[inline]
    pub(crate) fn is_nth(&self) -> bool {
        self.inside.is_nth()
    }
}

/// An entry and its slot.
pub(crate) struct Located<'g, N> {
    pub(super) home: &'g Bucket<N>,
    pub(super) bucket: &'g Bucket<N>,
    pub(super) slot: usize,
    pub(super) node: *mut N,
}

impl<'g, N> Located<'g, N> {
    /// `node`: found in this slot of the chain of `home`, and not null.
    #[inline]
    pub(super) fn new(
        home: &'g Bucket<N>,
        bucket: &'g Bucket<N>,
        slot: usize,
        node: *mut N,
    ) -> Self {
        Located {
            home,
            bucket,
            slot,
            node,
        }
    }

    #[inline]
    pub(crate) fn get(&self) -> &'g N {
        // SAFETY: as in `search_chain`.
        unsafe { &*self.node }
    }

    /// R5: returns whether an entry found dead is no longer linked in its slot. O(1).
    #[cold]
    #[inline(never)]
    pub(crate) fn has_gone(&self) -> bool {
        // Acquire: with the last drop of the object, by which the search saw the death. The thread
        // that dropped the object may have seen the entry replaced. Then the checks here and the
        // next search see the replacement, too: in the slot or, if the bucket had moved before, by
        // the mark of the bucket.
        acquire_loads();
        !self.is_linked() || self.home.meta().has_moved()
    }

    /// Returns whether the entry is still in its slot.
    #[inline]
    pub(super) fn is_linked(&self) -> bool {
        ptr::eq(self.bucket.slot(self.slot), self.node)
    }
}

impl<'t, N: Entry> Writer<'t, N> {
    /// Returns the entry with this hash for which `same` is true. Lock-free.
    #[inline]
    pub(crate) fn get<M: Into<Match>>(&self, hash: u64, same: impl FnMut(&N) -> M) -> Option<&N> {
        find(self.table.array(&self.inside)?, hash, same).map(|place| place.get())
    }

    /// Returns all present entries. An entry that is present all the time occurs once.
    pub(crate) fn entries(&self) -> Vec<&N> {
        entries(self.table.array(&self.inside))
    }

    /// Returns the first array.
    #[inline]
    pub(super) fn array(&self) -> Option<&Array<N>> {
        self.table.array(&self.inside)
    }

    /// Returns the array in which the home bucket of this hash may be changed. If the bucket has to
    /// move, it is moved first.
    #[inline]
    pub(super) fn array_for(&self, hash: u64) -> Option<&Array<N>> {
        let mut array = self.table.array(&self.inside)?;
        while let Some(next) = array.next() {
            self.inside.make_room_to_retire(1);
            if array.help(next, hash) {
                // First for deaths: as soon as the table has the next array, that array may itself
                // begin to move.
                array.core().set_entries(array.next_ptr().cast());
                // Release: with `array`: all entries that were moved into the next array.
                let old = self.table.current.swap(array.next_ptr(), Release);
                // SAFETY: R3: unlinked by the calling thread, the only thread that moved the last
                // group.
                self.inside.retire_large(unsafe { Retired::new(old) });
            }
            array = next;
        }
        Some(array)
    }

    /// D7: lets none of the unlinked entries wait in the bag of the thread.
    pub(crate) fn gather_nothing(&self) {
        self.inside.gather_nothing();
    }

    /// Lets the thread run no destructor when it leaves.
    #[inline]
    pub(crate) fn leave_quietly(&self) {
        self.inside.leave_quietly();
    }

    /// Retires an entry.
    ///
    /// # Safety
    /// The calling thread has unlinked the entry.
    #[inline]
    pub(super) unsafe fn retire(&self, node: *mut N) {
        // SAFETY: R3. `Sync` of the table demands `Send` of the entries.
        self.inside.retire(unsafe { Retired::new(node) });
    }
}
