//! Detection of a closure, or an `Eq`, that changes the very entry it is asked about: it would be called again, and
//! change it again, for ever. The number of calls proves nothing, since other threads may be changing the same entry.

use core::cell::{Cell, RefCell};
use core::mem::{self, ManuallyDrop};
use core::ptr;
use std::vec::Vec;

use crate::hash::HashValue;

/// The addresses of nodes. Exact: the operation that asks pins the nodes of its table, so none of them is freed, and
/// its address given to another, while it is noted.
type Put = Vec<*const ()>;

/// What a closure is asked about: the address of a table, which is borrowed meanwhile, and a hash.
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

std::thread_local! {
    /// How many closures this thread is in that are called again.
    static CALLED_AGAIN: Cell<usize> = const { Cell::new(0) };
    /// For each of them, what it is asked about, and what has been put there since. It has no destructor, so the
    /// destructors of other thread-locals can use it; outside of such closures it owns nothing.
    ///
    /// (Not in the thread's seat at the table: a thread whose thread-locals are gone borrows another with each
    /// operation.)
    static CLOSURES: ManuallyDrop<RefCell<Vec<(Subject, Put)>>> =
        const { ManuallyDrop::new(RefCell::new(Vec::new())) };
}

/// Notes that this thread has put a node into a table.
#[inline]
pub(super) fn has_put<T, N>(table: &T, hash: HashValue, node: &N) {
    if CALLED_AGAIN.get() != 0 {
        note(Subject::new(table, hash), ptr::from_ref(node).cast());
    }
}

#[cold]
#[inline(never)]
fn note(subject: Subject, node: *const ()) {
    CLOSURES.with(|closures| {
        let mut closures = closures.borrow_mut();
        let same = closures.iter_mut().filter(|(of, _)| *of == subject);
        same.for_each(|(_, put)| put.push(node));
    });
}

/// An operation that asks a closure about an entry, and pins all nodes of the table meanwhile.
pub(super) struct Asking {
    subject: Subject,
    /// `None` before the first call.
    put: Option<Put>,
}

impl Asking {
    pub(super) fn about<T>(table: &T, hash: HashValue) -> Self {
        let subject = Subject::new(table, hash);
        Asking { subject, put: None }
    }

    /// Calls the closure. (The first time, nothing is noted: usually that is the only one.)
    ///
    /// # Panics
    /// If the closure's last call has put there what is there now.
    #[track_caller]
    pub(super) fn ask<R>(&mut self, there: Option<*const ()>, closure: impl FnOnce() -> R) -> R {
        let Some(put) = &mut self.put else {
            self.put = Some(Vec::new());
            return closure();
        };
        assert_other_put(there.is_none_or(|there| !put.contains(&there)));
        let inside = Inside::of(self.subject);
        let answer = closure();
        *put = inside.leave();
        answer
    }

    /// Asks user code whether a node is the one that is sought: one node after the other, and from the first again if
    /// the one that was found has been replaced. (Nothing is noted before the first is found.)
    ///
    /// # Panics
    /// If user code itself, since it found one before, has put what it finds now.
    #[inline]
    #[track_caller]
    pub(super) fn is_sought<N>(&mut self, there: &N, same: impl FnOnce() -> bool) -> bool {
        if self.put.is_some() {
            return self.is_sought_again(ptr::from_ref(there).cast(), same);
        }
        let found = same();
        if found {
            self.put = Some(Vec::new());
        }
        found
    }

    /// The same, in an operation that has begun to note only if it has found one before.
    #[inline]
    #[track_caller]
    pub(super) fn is_sought_still<N>(&mut self, there: &N, same: impl FnOnce(&N) -> bool) -> bool {
        if self.put.is_none() {
            return same(there);
        }
        self.is_sought_again(ptr::from_ref(there).cast(), || same(there))
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn is_sought_again(&mut self, there: *const (), same: impl FnOnce() -> bool) -> bool {
        let inside = Inside::of(self.subject);
        let found = same();
        let new = inside.leave();
        let put = self.put.get_or_insert_default();
        if found {
            assert_other_put(!put.contains(&there));
            *put = new;
        } else {
            put.extend(new);
        }
        found
    }
}

#[track_caller]
fn assert_other_put(by_another: bool) {
    assert!(
        by_another,
        "the closure sets the entry that it is asked about, so it would be called again for ever"
    );
}

/// A closure that is called again, until it returns or panics.
struct Inside;

impl Inside {
    fn of(subject: Subject) -> Self {
        CLOSURES.with(|closures| closures.borrow_mut().push((subject, Vec::new())));
        CALLED_AGAIN.set(CALLED_AGAIN.get() + 1);
        Inside
    }

    fn leave(self) -> Put {
        mem::forget(self);
        Self::pop()
    }

    fn pop() -> Put {
        CALLED_AGAIN.set(CALLED_AGAIN.get() - 1);
        CLOSURES.with(|closures| {
            let mut closures = closures.borrow_mut();
            let last = closures.pop();
            if closures.is_empty() {
                *closures = Vec::new();
            }
            last.map_or_else(Vec::new, |(_, put)| put)
        })
    }
}

impl Drop for Inside {
    fn drop(&mut self) {
        Self::pop();
    }
}
