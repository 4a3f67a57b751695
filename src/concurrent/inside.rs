//! Detection of user code that changes the very entry it is asked about (a closure, an `Eq`, a
//! `Clone` or a destructor): the operation would try again, and be refused again, for ever. The
//! number of tries proves nothing, since other threads may be changing the same entry.

use core::cell::Cell;
use core::mem;
use core::ptr;
use std::vec::Vec;

use crate::hash::HashValue;
use crate::sync::{Exclusive, Own, make_room};

/// How many nodes in a row a change may find that its own thread has put there. One is no proof: a
/// closure may set the entry if there is none, and find next time what it has set.
const OWN: usize = 2;

/// What a change is about: the address of a table, which is borrowed meanwhile, and a hash.
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

/// A change that tries again.
struct Trying {
    subject: Subject,
    /// How much was noted when it began.
    from: usize,
    /// How many nodes in a row it has found that its own thread has put there.
    own: usize,
}

/// What a thread notes while some of its changes try again. It is empty otherwise.
#[derive(Default)]
struct Notes {
    trying: Vec<Trying>,
    /// The addresses of the nodes that the thread has put there. Exact: the change pins the nodes
    /// of its table, so none of them is freed, and its address given to another, until the change
    /// ends.
    put: Vec<(Subject, *const ())>,
}

crate::sync::thread_local! {
    /// How many changes of this thread try again.
    static TRYING: Cell<usize> = const { Cell::new(0) };
    /// They are not in the thread's participant at the table: a thread whose thread-locals are gone
    /// borrows another with each change.
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

/// The tries of a change, which pins all nodes of its table meanwhile. From the second node on that
/// they find, what the thread puts is noted until the change ends. Before that nothing is noted:
/// usually they find only one.
pub(super) struct Tries {
    /// The node that was found last, or null.
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

    /// A try has found this node. Returns whether the change may go on. If not, it has to end, and
    /// [`end`](Self::end) panics.
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
            // Changes nest, so this one's is the last.
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
