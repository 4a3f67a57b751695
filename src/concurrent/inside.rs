//! Detection of user code (a closure, an `Eq`, a `Clone` or a destructor) that changes the very
//! entry under question: the operation would try again, and be refused again, for ever. The number
//! of tries proves nothing, since other threads may be changing the same entry.

use core::cell::Cell;
use core::mem;
use core::ptr;
use std::vec::Vec;

use crate::hash::HashValue;
use crate::sync::{Exclusive, Own, make_room};

/// The number of own nodes in a row that ends a change. An own node is a node that the thread of
/// the change has put into the table meanwhile. A single own node is no proof: a closure may set
/// the missing entry, and find the entry at the next try.
const OWN: usize = 2;

/// The subject of a change: the address of a table, which is borrowed meanwhile, and a hash.
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

/// A change in the course of its tries.
struct Trying {
    subject: Subject,
    /// The number of noted nodes at the beginning of the change.
    from: usize,
    /// The number of own nodes in a row that the change has found.
    own: usize,
}

/// The notes of a thread, while some of its changes try again. Empty otherwise.
#[derive(Default)]
struct Notes {
    trying: Vec<Trying>,
    /// The addresses of the nodes that the thread has put into tables. Exact: the change pins the
    /// nodes of its table, so until the change ends, no node is freed, and no address is given to a
    /// second node.
    put: Vec<(Subject, *const ())>,
}

crate::sync::thread_local! {
    /// The number of changes of the current thread that try again.
    static TRYING: Cell<usize> = const { Cell::new(0) };
    /// The notes are not in the thread's participant at the table: a thread without its
    /// thread-locals borrows a different participant with each change.
    static NOTES: Own<Notes> = const {
        Own::new(Notes {
            trying: Vec::new(),
            put: Vec::new(),
        })
    };
}

/// Notes that the current thread has put a node into a table.
#[inline]
pub(super) fn has_put<T, N>(table: &T, hash: HashValue, node: &N) {
    if TRYING.with(Cell::get) != 0 {
        note(Subject::new(table, hash), ptr::from_ref(node).cast());
    }
}

#[cold]
#[inline(never)]
fn note(subject: Subject, node: *const ()) {
    let is_tried = |trying: &[Trying]| trying.iter().any(|trying| trying.subject == subject);
    NOTES.with(|notes| {
        notes.with_room(
            |Notes { trying, put }, memory| match is_tried(trying) {
                true => make_room(put, 1, memory),
                false => Ok(()),
            },
            |Notes { trying, put }, _| {
                if is_tried(trying) {
                    put.push((subject, node));
                }
            },
        );
    });
}

/// The tries of a change, which pins all nodes of its table meanwhile. From the second found node
/// on, the thread notes the nodes that it puts into tables, until the change ends. Before the
/// second node nothing is noted: most changes find a single node.
pub(super) struct Tries {
    /// The node found last, or null.
    last: Cell<*const ()>,
    state: Cell<State>,
}

#[derive(Clone, Copy, PartialEq)]
enum State {
    Unnoted,
    Noted,
    /// The change would try for ever.
    SetsItsOwn,
}

impl Tries {
    #[inline]
    pub(super) fn new() -> Self {
        Tries {
            last: Cell::new(ptr::null()),
            state: Cell::new(State::Unnoted),
        }
    }

    /// Notes that a try has found the given node. Returns whether the change may go on. If not, the
    /// change has to end, and [`end`](Self::end) panics.
    #[inline]
    pub(super) fn found<T, N>(&self, table: &T, hash: HashValue, there: &N) -> bool {
        let there = ptr::from_ref(there).cast();
        let last = self.last.replace(there);
        if last.is_null() || last == there {
            return self.state.get() != State::SetsItsOwn;
        }
        self.found_again(Subject::new(table, hash), there)
    }

    #[cold]
    #[inline(never)]
    fn found_again(&self, subject: Subject, there: *const ()) -> bool {
        if self.state.get() == State::SetsItsOwn {
            return false;
        }
        let goes_on = NOTES.with(|notes| {
            notes.with_room(
                |notes, memory| match self.state.get() {
                    State::Unnoted => make_room(&mut notes.trying, 1, memory),
                    _ => Ok(()),
                },
                |Notes { trying, put }, _| {
                    if self.state.get() == State::Unnoted {
                        self.state.set(State::Noted);
                        TRYING.with(|trying| trying.set(trying.get() + 1));
                        let (from, own) = (put.len(), 0);
                        trying.push(Trying { subject, from, own });
                    }
                    let this = trying.iter_mut().rfind(|this| this.subject == subject);
                    this.is_none_or(|this| {
                        let is_own = put[this.from..].contains(&(subject, there));
                        this.own = if is_own { this.own + 1 } else { 0 };
                        this.own < OWN
                    })
                },
            )
        });
        if !goes_on {
            self.state.set(State::SetsItsOwn);
        }
        goes_on
    }

    /// Ends the tries.
    ///
    /// # Panics
    /// If the change would have tried for ever.
    #[inline]
    #[track_caller]
    pub(super) fn end(self) {
        if self.state.get() != State::Unnoted {
            self.end_notes();
        }
        mem::forget(self);
    }

    #[cold]
    #[inline(never)]
    #[track_caller]
    fn end_notes(&self) {
        let state = self.state.replace(State::Unnoted);
        TRYING.with(|trying| trying.set(trying.get() - 1));
        let ended = NOTES.with(|notes| {
            let mut notes = notes.enter();
            // Changes nest, so the last entry is the entry of this change.
            notes.trying.pop();
            notes.trying.is_empty().then(|| mem::take(&mut *notes))
        });
        drop(ended);
        assert!(
            state != State::SetsItsOwn,
            "the closure sets the entry that it is asked about, so it would be called again for ever"
        );
    }
}

impl Drop for Tries {
    /// After a panic.
    fn drop(&mut self) {
        if self.state.get() != State::Unnoted {
            self.state.set(State::Noted);
            self.end_notes();
        }
    }
}
