//! The table: the operations of readers and writers.

use core::cell::Cell;
use core::marker::PhantomData;
use core::mem::MaybeUninit;
use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::array::Array;
use super::bucket::Bucket;
use super::dead;
use super::domain::Domain;
use super::entry::Entry;
use super::guards::{Reading, Writing};
use super::participants::assert_apart;
use super::retired::Retired;
use super::unlinked::Unlinked;
use crate::ptr::{Core, CoreRef};
use crate::sync::{AtomicPtr, Ordering::*, acquire_loads, const_fn};

/// One cache line: an empty table takes no more. What is read seldom, or written often, is
/// elsewhere.
#[repr(C, align(64))]
pub(in super::super) struct RawTable<N: Entry> {
    pub(super) domain: Domain<N::Context>,
    /// The first array, or null. What deaths use instead is in the core: threads that are inside do
    /// not look there.
    pub(super) current: AtomicPtr<Array<N>>,
    /// What deaths use; null until there is an array.
    core: AtomicPtr<Core>,
    owns: PhantomData<N>,
}

// SAFETY: the owner of the table owns its entries, and the context of their ends.
unsafe impl<N: Entry<Context: Send> + Send> Send for RawTable<N> {}
// SAFETY: threads read entries at the same time, and destroy those that others have inserted.
unsafe impl<N: Entry<Context: Send + Sync> + Send + Sync> Sync for RawTable<N> {}

impl<N: Entry> RawTable<N> {
    const_fn! {
        pub(in super::super) fn new() -> RawTable<N> {
            assert_apart!(RawTable<N>, current, domain.named, domain.participants, domain.rest);
            RawTable {
                current: AtomicPtr::new(ptr::null_mut()),
                core: AtomicPtr::new(ptr::null_mut()),
                domain: Domain::new(N::PROMPT),
                owns: PhantomData,
            }
        }
    }

    /// Makes room for so many entries, if the table has never had any.
    pub(in super::super) fn make_room_for(&self, capacity: usize) {
        if capacity != 0 {
            self.begin(Array::<N>::len_for(capacity));
        }
    }

    /// The context of the entries' ends: dropped after the last entry.
    #[inline]
    pub(in super::super) fn context(&self) -> &N::Context {
        self.domain.context()
    }

    /// From now on, the context [concerns](Self::concern) each operation.
    pub(in super::super) fn begin_concern(&self) -> &N::Context {
        let context = self.context();
        // Release: with `concern`: the context is there.
        self.domain.concerns.store(true, Release);
        context
    }

    /// The context, if it concerns each operation.
    #[inline]
    pub(in super::super) fn concern(&self) -> Option<&N::Context> {
        // Acquire: with `begin_concern`.
        match self.domain.concerns.load(Acquire) {
            true => self.known_context(),
            false => None,
        }
    }

    /// The same, if anything has used it.
    #[inline]
    pub(in super::super) fn known_context(&self) -> Option<&N::Context> {
        Some(self.domain.rest()?.context())
    }

    /// An entry that is about to be inserted. If it is not inserted, it is ended as one of the
    /// table. Its memory is allocated before it is made: if that fails, nothing has been made. The
    /// caller limits its lifetime to that of the handles to the objects that it [is yet to be
    /// registered](super::entry::Registered::register) with.
    // Always: to pass what an entry is made of by memory costs 10 ns.
    #[inline(always)]
    pub(in super::super) fn entry(&self, make: impl FnOnce() -> N) -> Unlinked<'_, N> {
        let context = self.context();
        Unlinked::new(Box::new_uninit(), make, context)
    }

    /// What deaths use, if there has been an array.
    #[inline]
    pub(in super::super) fn core(&self) -> Option<CoreRef> {
        // Acquire: with `core_or_new`: it is initialised.
        let core = self.core.load(Acquire);
        // SAFETY: it lasts as long as the table.
        (!core.is_null()).then(|| unsafe { CoreRef::from_ptr(core) })
    }

    #[inline]
    pub(in super::super) fn core_or_new(&self) -> CoreRef {
        self.core().unwrap_or_else(|| self.make_core())
    }

    #[cold]
    #[inline(never)]
    fn make_core(&self) -> CoreRef {
        let new = CoreRef::new(dead::unlink::<N>);
        // Release: it is initialised. Acquire on failure: so is the winner's.
        let there = self
            .core
            .compare_exchange(ptr::null_mut(), new.as_ptr(), Release, Acquire);
        match there {
            Ok(_) => new,
            // SAFETY: no other thread knows ours; the winner's lasts as long as the table.
            Err(there) => unsafe {
                new.close().leave(0);
                CoreRef::from_ptr(there)
            },
        }
    }

    /// Publishes the first array, unless there is one: for deaths first, since one may follow an
    /// insertion at once.
    #[cold]
    pub(super) fn begin(&self, len: usize) {
        let core = self.core_or_new();
        let new = Box::into_raw(Box::new(Array::<N>::new(len, core)));
        let first = match core.begin_entries(new.cast()) {
            Ok(()) => new,
            Err(there) => {
                // SAFETY: made here, and no other thread has seen it.
                unsafe { Array::free(new) };
                there.cast()
            }
        };
        self.domain.set_room(Array::<N>::batch_for(len));
        // Release: with `array`: the array is initialised (for us by the Acquire in
        // `begin_entries`).
        _ = self
            .current
            .compare_exchange(ptr::null_mut(), first, Release, Relaxed);
    }

    /// The number of entries, without those that are [not counted](Entry::is_counted). Exact while
    /// no thread changes the table.
    pub(in super::super) fn len(&self) -> usize {
        Self::moment(self.domain.entries().wrapping_sub(self.unlinked()))
    }

    /// The number of all entries: the length of the array follows from it.
    pub(super) fn linked(&self) -> usize {
        self.len() + Self::moment(self.domain.others())
    }

    /// A sum of counts. Of an entry inserted by one thread and removed by another, it may include
    /// only the removal.
    fn moment(sum: usize) -> usize {
        usize::try_from(sum as isize).unwrap_or(0)
    }

    /// The number of entries that have been unlinked, and wait for threads that may look at them.
    /// Those that have stood for no value do not count.
    pub(in super::super) fn waiting(&self) -> usize {
        self.domain.waiting()
    }

    /// Whether the table has never had an entry: then there is no need to enter.
    #[inline]
    pub(in super::super) fn is_new(&self) -> bool {
        // Relaxed: nothing is read through it, and an insertion that happens before this call is
        // visible.
        self.current.load(Relaxed).is_null()
    }

    /// D7: how many entries a thread gathers before it looks.
    #[inline]
    pub(in super::super) fn batch(&self) -> usize {
        self.domain.batch()
    }

    /// D8: from now on no thread gathers.
    pub(in super::super) fn be_prompt(&self) {
        self.domain.be_prompt();
    }

    /// Enters to read.
    #[inline]
    pub(in super::super) fn read(&self) -> Reader<'_, N> {
        Reader {
            inside: Reading::new(&self.domain),
            table: self,
        }
    }

    /// Enters to write. What is unlinked is destroyed after leaving, by the last thread that may
    /// look at it.
    #[inline]
    pub(in super::super) fn write(&self) -> Writer<'_, N> {
        Writer {
            inside: Writing::new(&self.domain),
            spare: Cell::new(None),
            table: self,
        }
    }

    /// The first array. For threads that are inside (R3); the lifetime is to show that.
    #[inline]
    pub(super) fn array<'g, G>(&self, _inside: &'g G) -> Option<&'g Array<N>> {
        // Acquire: with `begin` and `array_for`: the array is initialised, and has all that was
        // moved into it.
        // SAFETY: R3.
        unsafe { self.current.load(Acquire).as_ref() }
    }
}

/// A guard for reading a table. The entries it returns last as long as the guard.
pub(in super::super) struct Reader<'t, N: Entry> {
    table: &'t RawTable<N>,
    inside: Reading<'t, N::Context>,
}

/// A guard for changing a table. The entries it returns, unlinked or not, last as long as the
/// guard.
pub(in super::super) struct Writer<'t, N: Entry> {
    pub(super) table: &'t RawTable<N>,
    pub(super) inside: Writing<'t, N::Context>,
    /// The memory of an entry that this thread has just destroyed, for its next one.
    pub(super) spare: Cell<Option<Box<MaybeUninit<N>>>>,
}

/// Finds the entry with this hash for which `same` is true, in an array and those that follow.
#[inline]
fn find<N: Entry>(mut array: &Array<N>, hash: u64, mut same: impl FnMut(&N) -> bool) -> Option<&N> {
    let mut bucket = array.home(hash);
    let mut meta = bucket.meta();
    while meta.has_moved() {
        array = array.next()?;
        bucket = array.home(hash);
        meta = bucket.meta();
    }
    loop {
        for slot in meta.candidates(hash) {
            // SAFETY: R3, R4: it was linked when we looked, and is not destroyed while we are
            // inside.
            if let Some(node) = unsafe { bucket.slot(slot).as_ref() } {
                if node.hash() == hash && same(node) {
                    return Some(node);
                }
            }
        }
        bucket = bucket.next()?;
        meta = bucket.meta();
    }
}

/// Whether an entry is the one that a search looks for.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Match {
    Yes,
    No,
    /// It may have been: its object is dead. The search looks again if the entry [has
    /// gone](Reader::has_gone).
    Dead,
}

impl Match {
    /// Whether the entry is the one. If the entry is dead, `dead` says so, and `ask` asks whether
    /// the search has to look again (R5).
    #[inline]
    pub(in super::super) fn is_it(self, dead: &mut bool, ask: impl FnOnce()) -> bool {
        if self == Match::Dead {
            *dead = true;
            ask();
        }
        self == Match::Yes
    }
}

impl From<bool> for Match {
    #[inline]
    fn from(same: bool) -> Self {
        if same { Match::Yes } else { Match::No }
    }
}

/// R5: whether an entry that a search has found dead is not linked any more.
#[cold]
#[inline(never)]
fn has_gone<N: Entry>(array: Option<&Array<N>>, dead: &N) -> bool {
    // With the last drop of the object, by which the death was seen. The thread that dropped the
    // object may have seen the entry replaced: then this search and the next see that, too.
    acquire_loads();
    array.is_none_or(|array| find(array, dead.hash(), |now| ptr::eq(now, dead)).is_none())
}

/// All entries that are there now, as a snapshot: code that adds entries while it visits them would
/// otherwise visit those too, and so on.
fn entries<N: Entry>(array: Option<&Array<N>>) -> Vec<&N> {
    let mut all = Vec::new();
    let Some(array) = array else { return all };
    for index in 0..array.len() {
        array.each(index, &mut |node| {
            // SAFETY: as in `find`.
            all.push(unsafe { &*node });
        });
    }
    all
}

impl<N: Entry> Reader<'_, N> {
    /// The entry with this hash for which `same` is true. Lock-free.
    #[inline]
    pub(in super::super) fn get(&self, hash: u64, same: impl FnMut(&N) -> bool) -> Option<&N> {
        find(self.table.array(&self.inside)?, hash, same)
    }

    /// R5: whether an entry that a search has found dead is not linked any more.
    pub(in super::super) fn has_gone(&self, dead: &N) -> bool {
        has_gone(self.table.array(&self.inside), dead)
    }

    /// All entries that are there now. An entry that is there all the time is among them once.
    pub(in super::super) fn entries(&self) -> Vec<&N> {
        entries(self.table.array(&self.inside))
    }

    /// Counts this read, and returns whether it is the n-th, which does extra work.
    #[inline]
    pub(in super::super) fn is_nth(&self) -> bool {
        self.inside.is_nth()
    }
}

/// An entry, and where it was found.
pub(super) struct Located<'g, N> {
    pub(super) bucket: &'g Bucket<N>,
    pub(super) slot: usize,
    pub(super) node: *mut N,
}

impl<'g, N> Located<'g, N> {
    #[inline]
    pub(super) fn get(&self) -> &'g N {
        // SAFETY: as in `find`.
        unsafe { &*self.node }
    }

    /// Under the lock: whether the entry is still there.
    #[inline]
    pub(super) fn is_linked(&self) -> bool {
        ptr::eq(self.bucket.slot(self.slot), self.node)
    }
}

impl<'t, N: Entry> Writer<'t, N> {
    /// The entry with this hash for which `same` is true. Lock-free.
    #[inline]
    pub(in super::super) fn get(&self, hash: u64, same: impl FnMut(&N) -> bool) -> Option<&N> {
        find(self.table.array(&self.inside)?, hash, same)
    }

    /// R5: whether an entry that a search has found dead is not linked any more.
    pub(in super::super) fn has_gone(&self, dead: &N) -> bool {
        has_gone(self.table.array(&self.inside), dead)
    }

    /// All entries that are there now. An entry that is there all the time is among them once.
    pub(in super::super) fn entries(&self) -> Vec<&N> {
        entries(self.table.array(&self.inside))
    }

    /// The first array.
    #[inline]
    pub(super) fn array(&self) -> Option<&Array<N>> {
        self.table.array(&self.inside)
    }

    /// The array in which the home bucket of this hash may be changed. If the bucket was to move,
    /// it has moved.
    #[inline]
    pub(super) fn array_for(&self, hash: u64) -> Option<&Array<N>> {
        let mut array = self.table.array(&self.inside)?;
        while let Some(next) = array.next() {
            self.inside.make_room(1);
            if array.help(next, hash) {
                // First for deaths: when the table has it, it may move on.
                array.core().set_entries(array.next_ptr().cast());
                // Release: with `array`: all that was moved into the next array.
                let old = self.table.current.swap(array.next_ptr(), Release);
                self.table
                    .domain
                    .set_room(Array::<N>::batch_for(next.len()));
                // SAFETY: R3: unlinked by this thread, the only one that moved the last bucket.
                self.inside.retire_large(unsafe { Retired::new(old) });
            }
            array = next;
        }
        Some(array)
    }

    /// As [`RawTable::entry`].
    #[inline(always)]
    pub(in super::super) fn entry(&self, make: impl FnOnce() -> N) -> Unlinked<'t, N> {
        let place = self.spare.take().unwrap_or_else(Box::new_uninit);
        Unlinked::new(place, make, self.table.domain.known().context())
    }

    /// # Safety
    /// This thread has unlinked it.
    #[inline]
    pub(super) unsafe fn retire(&self, node: *mut N) {
        // SAFETY: R3, and `Sync` of the table demands `Send`.
        self.inside.retire(unsafe { Retired::new(node) });
    }
}
