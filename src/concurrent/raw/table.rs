//! The table: the operations of readers and writers.

use core::marker::PhantomData;
use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::array::{Array, MIN_LEN};
use super::bucket::{Bucket, Locked, Meta, Spares};
use super::dead;
use super::domain::Domain;
use super::entry::Entry;
use super::guards::{Reading, Writing};
use super::retired::Retired;
use super::seats::assert_apart;
use super::unlinked::Unlinked;
use crate::ptr::{Core, CoreRef, Kept};
use crate::sync::{AtomicPtr, Ordering::*, const_fn};

#[repr(C)]
pub(in super::super) struct RawTable<N: Entry> {
    pub(super) domain: Domain<N::Context>,
    /// The first array, or null. (What deaths use instead is in the core: threads that are inside do not look there.)
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
        pub(in super::super) fn new(context: N::Context) -> RawTable<N> {
            assert_apart!(RawTable<N>, current);
            RawTable {
                current: AtomicPtr::new(ptr::null_mut()),
                core: AtomicPtr::new(ptr::null_mut()),
                domain: Domain::new(context),
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

    /// An entry that is about to be inserted. If it is not inserted, it is ended as one of the table. Its memory
    /// is allocated before it is made: if that fails, nothing has been made. The caller limits its lifetime to that of
    /// the handles to the objects that it [is yet to be registered](Entry::register) with.
    #[inline]
    pub(in super::super) fn entry(&self, make: impl FnOnce() -> N) -> Unlinked<'_, N> {
        let mut place = Box::new_uninit();
        place.write(make());
        // SAFETY: written just now.
        Unlinked::new(unsafe { place.assume_init() }, self.context())
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

    /// Publishes the first array, unless there is one: for deaths first, since one may follow an insertion at once.
    #[cold]
    fn begin(&self, len: usize) {
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
        // Release: with `array`: the array is initialised (for us by the Acquire in `begin_entries`).
        _ = self
            .current
            .compare_exchange(ptr::null_mut(), first, Release, Relaxed);
    }

    /// The number of entries. Exact while no thread changes the table.
    pub(in super::super) fn len(&self) -> usize {
        let sum = self.domain.entries().wrapping_sub(self.unlinked());
        // Of an entry inserted by one thread and removed by another, the sum may include only the removal.
        usize::try_from(sum as isize).unwrap_or(0)
    }

    /// The number of entries that have been unlinked, and wait for threads that may look at them. Those that have
    /// stood for no value do not count.
    pub(in super::super) fn waiting(&self) -> usize {
        self.domain.waiting()
    }

    /// Whether the table has never had an entry: then there is no need to enter.
    #[inline]
    pub(in super::super) fn is_new(&self) -> bool {
        // Relaxed: nothing is read through it, and an insertion that happens before this call is visible.
        self.current.load(Relaxed).is_null()
    }

    /// Enters to read.
    #[inline]
    pub(in super::super) fn read(&self) -> Reader<'_, N> {
        Reader {
            inside: Reading::new(&self.domain, N::PROMPT),
            table: self,
        }
    }

    /// Enters to write. What is unlinked is destroyed after leaving, by the last thread that may look at it.
    #[inline]
    pub(in super::super) fn write(&self) -> Writer<'_, N> {
        Writer {
            inside: Writing::new(&self.domain, N::PROMPT),
            table: self,
        }
    }

    /// The first array. For threads that are inside (R3); the lifetime is to show that.
    #[inline]
    pub(super) fn array<'g, G>(&self, _inside: &'g G) -> Option<&'g Array<N>> {
        // Acquire: with `begin` and `array_for`: the array is initialised, and has all that was moved into it.
        // SAFETY: R3.
        unsafe { self.current.load(Acquire).as_ref() }
    }
}

/// A guard for reading a table. The entries it returns last as long as the guard.
pub(in super::super) struct Reader<'t, N: Entry> {
    table: &'t RawTable<N>,
    inside: Reading<'t, N::Context>,
}

/// A guard for changing a table. The entries it returns, unlinked or not, last as long as the guard.
pub(in super::super) struct Writer<'t, N: Entry> {
    pub(super) table: &'t RawTable<N>,
    pub(super) inside: Writing<'t, N::Context>,
}

/// The outcome of an attempt to insert an entry.
pub(in super::super) enum Put<'g, N> {
    Added(&'g N),
    Replaced { old: &'g N, new: &'g N },
    Refused,
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
            // SAFETY: R3, R4: it was linked when we looked, and is not destroyed while we are inside.
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

/// All entries that are there now. (A snapshot: code that adds entries while it visits them would otherwise visit
/// those too, and so on.)
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
pub(super) struct Place<'g, N> {
    pub(super) bucket: &'g Bucket<N>,
    pub(super) slot: usize,
    pub(super) node: *mut N,
}

impl<'g, N> Place<'g, N> {
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

/// The outcome of a search.
enum Found<'g, N> {
    There(Place<'g, N>),
    /// All entries with this hash, of which none is the same, in their order.
    Others(Vec<*mut N>),
    Moved,
}

/// Searches a home bucket, and those chained behind it.
#[inline]
fn search<'g, N: Entry>(
    home: &'g Bucket<N>,
    seen: Meta,
    hash: u64,
    mut same: impl FnMut(&N) -> bool,
) -> Found<'g, N> {
    let mut bucket = home;
    let mut meta = seen;
    if meta.has_moved() {
        return Found::Moved;
    }
    let mut others = Vec::new();
    loop {
        for slot in meta.candidates(hash) {
            let node = bucket.slot(slot);
            // SAFETY: as in `find`.
            let there = unsafe { node.as_ref() };
            if let Some(there) = there.filter(|there| there.hash() == hash) {
                if same(there) {
                    return Found::There(Place { bucket, slot, node });
                }
                others.push(node);
            }
        }
        match bucket.next() {
            Some(next) => bucket = next,
            None => return Found::Others(others),
        }
        meta = bucket.meta();
    }
}

/// Whether all entries with this hash are among `others`, in their order (R2).
fn are_all<N: Entry>(locked: &Locked<'_, N>, hash: u64, others: &[*mut N]) -> bool {
    let mut others = others.iter();
    locked.home().chain().all(|bucket| {
        locked.tags(bucket).candidates(hash).all(|slot| {
            let node = bucket.slot(slot);
            // SAFETY: as in `find`.
            let other = unsafe { node.as_ref() }.is_none_or(|node| node.hash() != hash);
            other || others.any(|known| ptr::eq(*known, node))
        })
    })
}

impl<N: Entry> Writer<'_, N> {
    /// The entry with this hash for which `same` is true. Lock-free.
    #[inline]
    pub(in super::super) fn get(&self, hash: u64, same: impl FnMut(&N) -> bool) -> Option<&N> {
        find(self.table.array(&self.inside)?, hash, same)
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

    /// The array in which the home bucket of this hash may be changed. If the bucket was to move, it has moved.
    #[inline]
    pub(super) fn array_for(&self, hash: u64) -> Option<&Array<N>> {
        let mut array = self.table.array(&self.inside)?;
        while let Some(next) = array.next() {
            if array.help(next, hash) {
                // First for deaths: when the table has it, it may move on.
                array.core().set_entries(array.next_ptr().cast());
                // Release: with `array`: all that was moved into the next array.
                let old = self.table.current.swap(array.next_ptr(), Release);
                // SAFETY: R3: unlinked by this thread, the only one that moved the last bucket.
                self.inside.retire(unsafe { Retired::new(old) });
            }
            array = next;
        }
        Some(array)
    }

    /// # Safety
    /// This thread has unlinked it.
    #[inline]
    pub(super) unsafe fn retire(&self, node: *mut N) {
        // SAFETY: R3, and `Sync` of the table demands `Send`.
        self.inside.retire(unsafe { Retired::new(node) });
    }

    /// Inserts an entry, or replaces the one with its hash for which `same` is true, if what is there is
    /// `expected`. Both closures may be called again when other threads change the same entry. If the entry is not
    /// inserted, be it by a panic of the closures, or because it [may not be](Entry::may_be_linked), it stays with the
    /// caller, who decides when it is destroyed.
    #[inline]
    pub(in super::super) fn put<'g>(
        &'g self,
        node: &mut Unlinked<'_, N>,
        mut same: impl FnMut(&N, &N) -> bool,
        mut expected: impl FnMut(Option<&'g N>) -> bool,
    ) -> Put<'g, N> {
        let hash = node.hash();
        let mut spares = Spares::new();
        loop {
            let Some(array) = self.array_for(hash) else {
                self.table.begin(MIN_LEN);
                continue;
            };
            let home = array.home(hash);
            let seen = home.meta();
            let found = search(home, seen, hash, |there| same(node, there));
            let old = match &found {
                Found::Moved => continue,
                Found::There(place) => Some(place.get()),
                Found::Others(_) => None,
            };
            if !expected(old) {
                return Put::Refused;
            }
            let inherits = old.is_some_and(|old| node.may_inherit(old));
            if !inherits {
                // SAFETY: an entry that is not linked yet does not outlive the handles to its objects (`RawTable::entry`),
                // and no other thread knows it.
                let kept = unsafe { Kept::promise() };
                self.inside
                    .count_registered(node.register(array.core(), &kept));
            }
            let Some(mut locked) = home.lock(seen) else {
                continue;
            };
            match found {
                _ if !node.may_be_linked() => return Put::Refused,
                Found::There(place) if place.is_linked() => {
                    if inherits {
                        node.inherit(place.get());
                    }
                    let new = node.link();
                    locked.replace(place.bucket, place.slot, new);
                    drop(locked);
                    // SAFETY: unlinked by us, under the lock.
                    unsafe { self.retire(place.node) };
                    let old = place.get();
                    // SAFETY: as in `find`.
                    let new = unsafe { &*new };
                    return Put::Replaced { old, new };
                }
                Found::Others(others) if are_all(&locked, hash, &others) => {
                    if locked.add(node.as_ptr(), hash, &mut spares) {
                        let new = node.link();
                        drop(locked);
                        self.inside.count(1);
                        // SAFETY: as in `find`.
                        return Put::Added(unsafe { &*new });
                    }
                    drop(locked);
                    self.make_room(array, &mut spares);
                }
                _ => {}
            }
        }
    }

    /// Unlinks the entry with this hash for which `same` is true, if it is `wanted`. Both closures may be called
    /// again when other threads change the same entry.
    #[inline]
    pub(in super::super) fn remove_if(
        &self,
        hash: u64,
        mut same: impl FnMut(&N) -> bool,
        mut wanted: impl FnMut(&N) -> bool,
    ) -> Option<&N> {
        loop {
            let array = self.array_for(hash)?;
            let home = array.home(hash);
            let seen = home.meta();
            let place = match search(home, seen, hash, &mut same) {
                Found::There(place) => place,
                Found::Others(_) => return None,
                Found::Moved => continue,
            };
            if !wanted(place.get()) {
                return None;
            }
            let Some(mut locked) = home.lock(seen) else {
                continue;
            };
            if place.is_linked() {
                locked.clear(place.bucket, place.slot);
                drop(locked);
                self.inside.count(-1);
                // SAFETY: unlinked by us, under the lock.
                unsafe { self.retire(place.node) };
                return Some(place.get());
            }
        }
    }
}
