//! Nested calls of a thread about one collection. What a call destroys runs destructors, which may call the same again: for
//! the same collection only so often, or the stack would be as deep as a chain is long. What a nested call is refused is
//! left to the outer ones.

use core::cell::Cell;
use core::ptr;

/// How many turns a thread has, of whatever collections, when an operation does nothing any more that it may leave to the
/// next one: else one insertion could run a destructor that inserts elsewhere, and so on, through all collections.
const DEEP: usize = 16;

/// A call of this thread about a subject, until [`with`](Self::with) returns.
pub(super) struct Turn {
    subject: *const (),
    /// Whether a nested call was refused.
    refused: Cell<bool>,
    outer: Stack,
}

/// The turns of a thread: the address of the innermost, or null, and how many there are.
#[derive(Clone, Copy)]
struct Stack {
    innermost: *const Turn,
    depth: usize,
}

crate::sync::thread_local! {
    /// Each is in the frame of a call of [`Turn::with`] that has not returned. Without a destructor, so that those of
    /// other thread-locals find it.
    static TURNS: Cell<Stack> = const { Cell::new(Stack { innermost: ptr::null(), depth: 0 }) };
}

impl Turn {
    /// Calls `run` with a turn about the subject; with none if the thread has `most` of them already, which learn that. O(turns
    /// of this thread).
    pub(super) fn with<S, R>(subject: &S, most: usize, run: impl FnOnce(Option<&Turn>) -> R) -> R {
        let turn = Turn {
            subject: ptr::from_ref(subject).cast(),
            refused: Cell::new(false),
            outer: TURNS.with(Cell::get),
        };
        if turn.outer_ones().count() >= most {
            turn.outer_ones().for_each(|same| same.refused.set(true));
            return run(None);
        }
        let depth = turn.outer.depth + 1;
        let innermost = ptr::from_ref(&turn);
        TURNS.with(|turns| turns.set(Stack { innermost, depth }));
        let _end = End(turn.outer);
        run(Some(&turn))
    }

    /// Those about the same subject.
    fn outer_ones(&self) -> impl Iterator<Item = &Turn> {
        let mut next = self.outer.innermost;
        let outer = core::iter::from_fn(move || {
            // SAFETY: null, or in the frame of a call of `with` that has not returned: before it returns, or unwinds, `End`
            // takes its turn out again, after those of the calls within it.
            let turn = unsafe { next.as_ref() }?;
            next = turn.outer.innermost;
            Some(turn)
        });
        outer.filter(|turn| turn.subject == self.subject)
    }

    /// Whether something was left to this call since it was asked last.
    pub(super) fn is_wanted_again(&self) -> bool {
        self.refused.replace(false)
    }

    /// Whether this thread has so many turns that an operation leaves to the next one what it can.
    pub(super) fn is_deep() -> bool {
        TURNS.with(Cell::get).depth >= DEEP
    }
}

/// Takes the innermost turn out when it is dropped.
struct End(Stack);

impl Drop for End {
    fn drop(&mut self) {
        TURNS.with(|turns| turns.set(self.0));
    }
}
