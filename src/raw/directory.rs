//! The participants at a table, found by the numbers of their threads.
//!
//! A thread gets its participant when it first comes to the table, so a thread that never comes
//! costs the table neither time nor memory. Participants never move. The *directory* that leads to
//! the participants is an open-addressing hash table in which each number is its own hash. A
//! directory that is too small is replaced by a larger directory. Replaced directories last as long
//! as the table, because a thread may still read them. All replaced directories together are no
//! larger than the last directory.
//!
//! * **P1** A lookup reads the mask, and then the slots, both Acquire. A replacement writes the
//!   slots, and then the mask, both Release, and the mask only grows. So the directory that a
//!   lookup reads has as many slots as the mask says, or more. If it has more, the lookup may read
//!   a slot that is not the home of the number. The lookup compares the number of the participant
//!   in the slot with its own number, and on a mismatch searches the directory.
//! * **P2** A thread is included before the barrier of its first visit. So a thread whose barrier
//!   comes later finds the participant, in whichever directory the thread reads: a replacement
//!   copies, under the lock, all participants that were included before.

use core::ptr;
use std::boxed::Box;
use std::vec::Vec;

use super::participants::Participant;
use crate::sync::Ordering::*;
use crate::sync::{AtomicPtr, AtomicU32, Memory, Mutex, const_fn};

/// The number of slots of the first directory: a cache line of pointers.
const FIRST: usize = if cfg!(weakly_loom) {
    4
} else {
    64 / size_of::<usize>()
};
/// The largest number of slots for each participant, even if two numbers have the same home.
const SPARSE: usize = 8;

type Slot = AtomicPtr<Participant>;

/// Slots on a cache line of their own. Each operation reads one slot, and neighbouring memory could
/// be written by other threads.
#[repr(C)]
#[cfg_attr(not(weakly_loom), repr(align(64)))]
struct Line([Slot; FIRST]);

// A thread finds a slot by its distance from the first slot, across lines.
const _: () = assert!(size_of::<Line>() == FIRST * size_of::<Slot>());

/// Returns `slots` null slots, rounded up to a multiple of [`FIRST`].
fn nulls(slots: usize) -> Box<[Line]> {
    let null = |_| AtomicPtr::new(ptr::null_mut());
    let line = |_| Line(core::array::from_fn(null));
    (0..slots.div_ceil(FIRST)).map(line).collect()
}

/// Returns a slot.
#[inline]
fn nth(lines: &[Line], at: usize) -> &Slot {
    &lines[at / FIRST].0[at % FIRST]
}

/// All participants at a table.
#[repr(C)]
pub(super) struct Participants {
    /// The number of slots, less one.
    mask: AtomicU32,
    /// The number of participants.
    included: AtomicU32,
    /// The slots of the directory, or null.
    slots: AtomicPtr<Slot>,
    directory: AtomicPtr<Directory>,
}

/// The last directory, for the thread that adds a participant under the lock. So the thread need
/// not load the published atomics before it changes them; such a load would hide the loads of other
/// threads from loom (see `sync`). The type is an atomic only because a raw pointer is not `Send`.
pub(super) type Last = core::sync::atomic::AtomicPtr<Directory>;

pub(super) struct Directory {
    slots: Box<[Line]>,
    /// All participants in the order of their inclusion, and then nulls.
    all: Box<[Line]>,
    /// The replaced directory, or null.
    older: *mut Directory,
}

/// A directory that is allocated before the lock is taken.
#[derive(Default)]
struct NewDirectory(Option<Box<Directory>>);

impl Memory for NewDirectory {
    /// The number of slots.
    type Size = usize;

    fn allocate(slots: usize) -> Self {
        NewDirectory(Some(Box::new(Directory {
            slots: nulls(slots),
            // At least half of the slots are free.
            all: nulls(slots / 2),
            older: ptr::null_mut(),
        })))
    }
}

impl Directory {
    /// Returns the participant with this number.
    #[inline]
    fn find(&self, number: usize) -> Option<&Participant> {
        let mut at = number;
        loop {
            // The loop ends at a free slot.
            let there = self.participant(at)?;
            if there.number == number {
                return Some(there);
            }
            at += 1;
        }
    }

    /// Returns the participant in a slot, whose number is taken modulo the number of slots.
    #[inline]
    fn participant(&self, at: usize) -> Option<&Participant> {
        // Acquire: with `add`: the participant is initialised.
        // SAFETY: a participant lasts as long as the table.
        unsafe { self.slot(at).load(Acquire).as_ref() }
    }

    #[inline]
    fn slot(&self, at: usize) -> &Slot {
        nth(&self.slots, at & (self.len() - 1))
    }

    /// Returns the number of slots.
    #[inline]
    fn len(&self) -> usize {
        self.slots.len() * FIRST
    }

    /// Visits all participants in the order of their inclusion. (Loops, since a chain of adapters
    /// would be a dozen functions for each table.)
    #[inline]
    fn each(&self, mut look: impl FnMut(*mut Participant)) {
        for line in &self.all {
            for one in &line.0 {
                // Acquire: with `add`: the participant is initialised.
                let one = one.load(Acquire);
                if one.is_null() {
                    return;
                }
                look(one);
            }
        }
    }

    /// Adds a participant with a new number, under the lock. The caller has made room.
    fn add(&self, number: usize, participant: *mut Participant) {
        let mut at = number;
        while self.participant(at).is_some() {
            at += 1;
        }
        // Release, both: with `participant`, `each` and `Participants::at_home`: the participant is
        // initialised.
        self.slot(at).store(participant, Release);
        let mut all = (0..self.all.len() * FIRST).map(|at| nth(&self.all, at));
        if let Some(free) = all.find(|one| one.load(Relaxed).is_null()) {
            free.store(participant, Release);
        }
    }

    /// Returns how many slots a directory needs for one more number: as many as it has, if it has
    /// room.
    fn len_for(&self, number: usize) -> usize {
        let mut count = 0;
        self.each(|_| count += 1);
        let shares_its_home = self.participant(number).is_some();
        match self.len() {
            len if len < 2 * (count + 1) || shares_its_home && len < SPARSE * count => 2 * len,
            len => len,
        }
    }
}

impl Participants {
    const_fn! {
        pub(super) fn new() -> Participants {
            Participants {
                mask: AtomicU32::new(0),
                included: AtomicU32::new(0),
                slots: AtomicPtr::new(ptr::null_mut()),
                directory: AtomicPtr::new(ptr::null_mut()),
            }
        }
    }

    /// Returns the participant with this number, if its thread has come.
    #[inline]
    pub(super) fn find(&self, number: usize) -> Option<&Participant> {
        self.at_home(number)
            .or_else(|| self.directory()?.find(number))
    }

    #[inline(always)]
    pub(super) fn at_home(&self, number: usize) -> Option<&Participant> {
        // Acquire: P1.
        let mask = self.mask.load(Acquire) as usize;
        let slots = self.slots.load(Acquire);
        if slots.is_null() {
            return None;
        }
        // Acquire: with `Directory::add`: the participant is initialised.
        // SAFETY: P1. Directories and participants last as long as the table.
        let there = unsafe { (*slots.add(number & mask)).load(Acquire).as_ref() }?;
        (there.number == number).then_some(there)
    }

    #[inline]
    fn directory(&self) -> Option<&Directory> {
        // Acquire: with `replace`: the directory is initialised.
        // SAFETY: directories last as long as the table.
        unsafe { self.directory.load(Acquire).as_ref() }
    }

    /// Includes the calling thread: adds a participant with the number of the thread.
    pub(super) fn include(&self, last: &Mutex<Last>, number: usize) -> &Participant {
        // The allocator may use the table. Then this thread is already included when the allocation
        // returns.
        let mut new = Some(Box::new(Participant::new(number)));
        let last = last.with_room(
            |last, room: &mut NewDirectory| match Self::wanted(last, number) {
                Some(wanted) if room.0.as_ref().map(|room| room.len()) != Some(wanted) => {
                    Err(wanted)
                }
                _ => Ok(()),
            },
            |last, room| {
                let larger = room.0.take_if(|_| Self::wanted(last, number).is_some());
                if let Some(larger) = larger {
                    self.replace(last, larger);
                }
                let last = Self::last(last)?;
                if last.find(number).is_none() {
                    last.add(number, Box::into_raw(new.take()?));
                    // Relaxed: a hint.
                    self.included.fetch_add(1, Relaxed);
                }
                Some(last)
            },
        );
        last.and_then(|last| last.find(number))
            .expect("it was included")
    }

    fn last<'d>(last: &mut Last) -> Option<&'d Directory> {
        // SAFETY: made by `NewDirectory::allocate`. The caller has a reference to the table, and
        // uses the directory no longer than that reference. Directories last as long as the table.
        unsafe { last.get_mut().as_ref() }
    }

    /// Returns the number of slots of the directory that has to replace the last directory before
    /// this number is added; `None` if the last directory suffices, or has the number.
    fn wanted(last: &mut Last, number: usize) -> Option<usize> {
        let Some(last) = Self::last(last) else {
            return Some(FIRST);
        };
        let wanted = last.len_for(number);
        (last.find(number).is_none() && wanted != last.len()).then_some(wanted)
    }

    /// Makes `larger` the last directory.
    fn replace(&self, last: &mut Last, mut larger: Box<Directory>) {
        larger.older = *last.get_mut();
        if let Some(last) = Self::last(last) {
            // SAFETY: a participant lasts as long as the table.
            last.each(|one| larger.add(unsafe { (*one).number }, one));
        }
        let (mask, slots) = (larger.len() - 1, larger.slots.as_ptr().cast::<Slot>());
        *last.get_mut() = Box::into_raw(larger);
        // Release, all three: P1, and the directory is initialised.
        self.directory.store(*last.get_mut(), Release);
        self.slots.store(slots.cast_mut(), Release);
        self.mask.store(mask as u32, Release);
    }

    /// Sets the number of participants, as if this number of threads had come.
    #[cfg(weakly_loom)]
    pub(super) fn pretend(&self, included: usize) {
        self.included.store(included as u32, Relaxed);
    }

    /// Returns the number of participants. A hint.
    #[inline]
    pub(super) fn included(&self) -> usize {
        self.included.load(Relaxed) as usize
    }

    #[cfg(test)]
    pub(super) fn slots(&self) -> usize {
        self.directory().map_or(0, Directory::len)
    }

    /// Returns the participant that was included after `at` others, if it is found already.
    pub(super) fn nth(&self, at: usize) -> Option<&Participant> {
        let line = self.directory()?.all.get(at / FIRST)?;
        // Acquire: with `Directory::add`: the participant is initialised.
        // SAFETY: a participant lasts as long as the table.
        unsafe { line.0[at % FIRST].load(Acquire).as_ref() }
    }

    /// As [`each`](Self::each), for a thread that knows the last directory only.
    pub(super) fn each_of(last: &mut Last, mut look: impl FnMut(&Participant)) {
        let Some(last) = Self::last(last) else { return };
        // SAFETY: a participant lasts as long as the table.
        last.each(|one| look(unsafe { &*one }));
    }

    /// Returns the bytes of the participants with their bags, and of the directory that leads to
    /// them. The replaced directories together are no larger.
    pub(super) fn memory_usage(&self) -> usize {
        let directory = self.directory().map_or(0, |now| {
            size_of_val(now) + size_of_val(&*now.slots) + size_of_val(&*now.all)
        });
        let mut bytes = directory;
        self.each(|one| bytes += size_of_val(one) + one.bag().map_or(0, size_of_val));
        bytes
    }

    /// Visits all participants, also the participants of ended threads.
    #[inline]
    pub(super) fn each(&self, mut look: impl FnMut(&Participant)) {
        let Some(now) = self.directory() else { return };
        // SAFETY: a participant lasts as long as the table.
        now.each(|one| look(unsafe { &*one }));
    }
}

impl Drop for Participants {
    fn drop(&mut self) {
        // Relaxed, both: no other thread has access.
        let mut next = self.directory.load(Relaxed);
        let mut participants = Vec::new();
        if let Some(last) = self.directory() {
            last.each(|one| participants.push(one));
        }
        while !next.is_null() {
            // SAFETY: made by `NewDirectory::allocate`, and no thread reads it any more.
            next = unsafe { Box::from_raw(next) }.older;
        }
        for participant in participants {
            // SAFETY: made by `include`, once in the last directory, and no thread uses it any
            // more.
            drop(unsafe { Box::from_raw(participant) });
        }
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use super::*;
    use std::{thread, vec};

    struct All(Participants, Mutex<Last>);

    impl All {
        fn new() -> Self {
            All(Participants::new(), Mutex::new(Last::new(ptr::null_mut())))
        }

        fn get(&self, number: usize) -> &Participant {
            let there = self.0.find(number);
            there.unwrap_or_else(|| self.0.include(&self.1, number))
        }
    }

    /// Numbers are included in any order, dense and sparse. Each number has one participant, which
    /// never moves, and no participant is missed.
    #[test]
    fn each_number_has_its_participant() {
        let (many, sparse) = if cfg!(miri) { (12, 8) } else { (300, 20) };
        for numbers in [
            (0..many).collect::<Vec<_>>(),
            (0..many).rev().collect(),
            vec![4_000],
            vec![4_000, 0, 8, 16, 64, 63, 4_096, 100_000],
            (0..sparse).map(|n| n * 4_096).collect(),
        ] {
            let all = All::new();
            let mut places = Vec::new();
            for (before, number) in numbers.iter().enumerate() {
                assert_eq!(all.0.included(), before);
                assert!(all.0.find(*number).is_none());
                places.push(ptr::from_ref(all.get(*number)));
            }
            for (number, place) in numbers.iter().zip(places) {
                assert!(ptr::eq(all.get(*number), place));
                assert!(ptr::eq(all.0.find(*number).unwrap(), place));
                assert_eq!(all.get(*number).number, *number);
            }
            let mut seen = Vec::new();
            all.0.each(|one| seen.push(one.number));
            assert_eq!(seen, numbers);
            assert!(all.0.slots() <= FIRST.max(2 * SPARSE * numbers.len()));
            let nth = (0..=numbers.len()).map_while(|at| all.0.nth(at));
            assert!(nth.map(|one| one.number).eq(numbers));
        }
    }

    /// P1: a thread looks up a number whose home differs in each directory. (Miri detects a read
    /// out of bounds.)
    #[test]
    fn lookups_beside_replacements() {
        let (rounds, others) = if cfg!(miri) { (1, 20) } else { (100, 64) };
        for _ in 0..rounds {
            let all = &All::new();
            let own = ptr::from_ref(all.get(0b1_1111_1101)).addr();
            thread::scope(|scope| {
                scope.spawn(|| {
                    (0..others).for_each(|number| assert_eq!(all.get(number).number, number));
                });
                while all.0.included() <= others {
                    assert_eq!(ptr::from_ref(all.get(0b1_1111_1101)).addr(), own);
                }
            });
        }
    }

    /// A participant takes 128 bytes, and a directory for one number about 200 bytes, whatever the
    /// number is.
    #[test]
    fn a_large_number_takes_no_more_memory() {
        let all = All::new();
        all.get(100_000);
        let now = all.0.directory().unwrap();
        assert_eq!(now.len(), FIRST);
    }
}
