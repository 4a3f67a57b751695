//! Detection of user code that changes the very entry it is asked about (a closure, an `Eq`, a `Clone` or a
//! destructor): the operation would try again, and be refused again, for ever. The number of tries proves nothing,
//! since other threads may be changing the same entry.

use core::cell::{Cell, RefCell};
use core::mem::ManuallyDrop;
use core::ptr;
use std::vec::Vec;

use crate::hash::HashValue;

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

/// The addresses of the nodes that a thread has put there while it tries again. Exact: the operation pins the nodes of
/// its table, so none of them is freed, and its address given to another, while it is noted.
type Noted = Vec<*const ()>;

crate::sync::thread_local! {
    /// How many operations of this thread try again.
    static TRYING: Cell<usize> = const { Cell::new(0) };
    /// What each of them tries to change, and what has been put there since. It has no destructor, so the destructors
    /// of other thread-locals can use it; it owns nothing while there are no such operations.
    ///
    /// It is not in the thread's participant at the table: a thread whose thread-locals are gone borrows another with
    /// each operation.
    static NOTED: ManuallyDrop<RefCell<Vec<(Subject, Noted)>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
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
    NOTED.with(|noted| {
        let mut noted = noted.borrow_mut();
        let same = noted.iter_mut().filter(|(of, _)| *of == subject);
        same.for_each(|(_, put)| put.push(node));
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
    #[track_caller]
    pub(super) fn ask<R>(&self, there: Option<*const ()>, closure: impl FnOnce() -> R) -> R {
        if self.closure.once.replace(true) {
            let noted = self.begin();
            self.find(&self.closure, there, noted);
        }
        closure()
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
        NOTED.with(|noted| {
            let mut noted = noted.borrow_mut();
            if !self.noting.replace(true) {
                noted.push((self.subject, Vec::new()));
                TRYING.with(|trying| trying.set(trying.get() + 1));
            }
            noted.last().map_or(0, |(_, put)| put.len())
        })
    }

    /// Checks what was found against what was noted up to then.
    #[cold]
    #[track_caller]
    fn find(&self, finds: &Finds, there: Option<*const ()>, noted: usize) {
        let from = finds.seen.replace(noted);
        let own = there.is_some_and(|there| {
            NOTED.with(|all| {
                let all = all.borrow();
                // Operations nest, so this one's is the last.
                all.last()
                    .is_some_and(|(_, put)| put[from..noted].contains(&there))
            })
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
    NOTED.with(|noted| {
        let mut noted = noted.borrow_mut();
        noted.pop();
        if noted.is_empty() {
            *noted = Vec::new();
        }
    });
}
