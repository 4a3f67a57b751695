//! Detection of user code that changes the very entry it is asked about (a closure, an `Eq`, a `Clone` or a
//! destructor): the operation would try again, and be refused again, for ever. The number of tries proves nothing,
//! since other threads may be changing the same entry.

use core::cell::Cell;
use core::mem;
use core::ptr;
use std::vec::Vec;

use crate::hash::HashValue;
use crate::sync::{Exclusive, Own, make_room};

/// How often in a row an operation may find what this thread has put there itself since it looked last. Once is no
/// proof: a closure may set the entry if there is none, and find next time what it has set.
const OWN: usize = 2;

/// What an operation tries to change: the address of a table, which is borrowed meanwhile, and a hash.
#[derive(Clone, Copy, PartialEq)]
struct Subject {
    table: *const (),
    hash: HashValue,
}

impl Subject {
    fn new<T>(table: &T, hash: HashValue) -> Self {
        let table = ptr::from_ref(table).cast();
        Subject { table, hash }
    }
}

/// What a thread notes while some of its operations try again. It is empty otherwise.
#[derive(Default)]
struct Notes {
    /// What each of them tries to change.
    trying: Vec<Subject>,
    /// The addresses of the nodes that the thread has put there. Exact: the operation pins the nodes of its table, so none
    /// of them is freed, and its address given to another, until the operation ends.
    put: Vec<(Subject, *const ())>,
}

crate::sync::thread_local! {
    /// How many operations of this thread try again.
    static TRYING: Cell<usize> = const { Cell::new(0) };
    /// They are not in the thread's participant at the table: a thread whose thread-locals are gone borrows another with
    /// each operation.
    static NOTES: Own<Notes> = const {
        Own::new(Notes {
            trying: Vec::new(),
            put: Vec::new(),
        })
    };
}

/// Notes that this thread has put a node into a table.
#[inline]
pub(super) fn has_put<T, N>(table: &T, hash: HashValue, node: &N) {
    if TRYING.with(Cell::get) != 0 {
        note(Subject::new(table, hash), ptr::from_ref(node).cast());
    }
}

#[cold]
#[inline(never)]
fn note(subject: Subject, node: *const ()) {
    NOTES.with(|notes| {
        notes.with_room(
            |Notes { trying, put }, memory| match trying.contains(&subject) {
                true => make_room(put, 1, memory),
                false => Ok(()),
            },
            |Notes { trying, put }, _| {
                if trying.contains(&subject) {
                    put.push((subject, node));
                }
            },
        );
    });
}

/// An operation that asks user code about an entry, and pins all nodes of the table meanwhile. From its second try on,
/// what its thread puts is noted until it ends. The first time, nothing is noted: usually that is the only one.
pub(super) struct Asking {
    subject: Subject,
    noting: Cell<bool>,
    closure: Finds,
    same: Finds,
}

/// What one piece of user code has been shown.
#[derive(Default)]
struct Finds {
    /// Whether it has been asked, and an entry been found.
    once: Cell<bool>,
    /// How much was noted then.
    seen: Cell<usize>,
    /// How often in a row it was this thread that had put what was found.
    own: Cell<usize>,
}

impl Asking {
    pub(super) fn about<T>(table: &T, hash: HashValue) -> Self {
        Asking {
            subject: Subject::new(table, hash),
            noting: Cell::new(false),
            closure: Finds::default(),
            same: Finds::default(),
        }
    }

    /// Calls the closure about what is there.
    ///
    /// # Panics
    /// If this thread itself has put there what is there now, and did so the time before.
    #[inline]
    #[track_caller]
    pub(super) fn ask<R>(&self, there: Option<*const ()>, closure: impl FnOnce() -> R) -> R {
        if self.closure.once.replace(true) {
            self.is_asked_again(there);
        }
        closure()
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn is_asked_again(&self, there: Option<*const ()>) {
        let noted = self.begin();
        self.find(&self.closure, there, noted);
    }

    /// Asks user code whether a node is the one that is sought: one node after the other, and from the first again if
    /// the one that was found has been replaced.
    ///
    /// # Panics
    /// As [`ask`](Self::ask), for the node that it finds.
    #[inline]
    #[track_caller]
    pub(super) fn is_sought<N>(&self, there: &N, same: impl FnOnce() -> bool) -> bool {
        if self.same.once.get() {
            return self.is_sought_again(ptr::from_ref(there).cast(), same);
        }
        let found = same();
        self.same.once.set(found);
        found
    }

    /// The same, for a search before the first that counts.
    #[inline]
    #[track_caller]
    pub(super) fn is_sought_still<N>(&self, there: &N, same: impl FnOnce() -> bool) -> bool {
        if self.same.once.get() {
            return self.is_sought_again(ptr::from_ref(there).cast(), same);
        }
        same()
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn is_sought_again(&self, there: *const (), same: impl FnOnce() -> bool) -> bool {
        let noted = self.begin();
        let found = same();
        if found {
            self.find(&self.same, Some(there), noted);
        }
        found
    }

    /// Begins to note, unless it has begun. Returns how much is noted.
    #[cold]
    fn begin(&self) -> usize {
        NOTES.with(|notes| {
            notes.with_room(
                |notes, memory| match self.noting.get() {
                    true => Ok(()),
                    false => make_room(&mut notes.trying, 1, memory),
                },
                |Notes { trying, put }, _| {
                    if !self.noting.replace(true) {
                        trying.push(self.subject);
                        TRYING.with(|trying| trying.set(trying.get() + 1));
                        self.closure.seen.set(put.len());
                        self.same.seen.set(put.len());
                    }
                    put.len()
                },
            )
        })
    }

    /// Checks what was found against what was noted up to then.
    #[cold]
    #[track_caller]
    fn find(&self, finds: &Finds, there: Option<*const ()>, noted: usize) {
        let from = finds.seen.replace(noted);
        let own = there.is_some_and(|there| {
            NOTES.with(|notes| notes.enter().put[from..noted].contains(&(self.subject, there)))
        });
        finds.own.set(if own { finds.own.get() + 1 } else { 0 });
        assert!(
            finds.own.get() < OWN,
            "the closure sets the entry that it is asked about, so it would be called again for ever"
        );
    }
}

impl Drop for Asking {
    #[inline]
    fn drop(&mut self) {
        if self.noting.get() {
            end();
        }
    }
}

#[cold]
#[inline(never)]
fn end() {
    TRYING.with(|trying| trying.set(trying.get() - 1));
    let ended = NOTES.with(|notes| {
        let mut notes = notes.enter();
        // Operations nest, so this one's is the last.
        notes.trying.pop();
        notes.trying.is_empty().then(|| mem::take(&mut *notes))
    });
    drop(ended);
}
