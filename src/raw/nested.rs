//! Nested calls of a thread for one collection. A call that destroys entries runs destructors, and
//! a destructor may make the same call again. The number of nested calls for one collection is
//! limited: without the limit the stack would be as deep as a chain of entries is long. A refused
//! call leaves its work to the outer calls.

use core::cell::Cell;
use core::iter;
use core::ptr;

/// From this number of turns of a thread on, for any collections, an operation leaves all
/// deferrable work to the next operation. Without the limit, one insertion could run a destructor
/// with an insertion into a second collection, and so on, through all collections.
const DEEP: usize = 16;

/// A *turn*: a call of the current thread for a subject, until [`with`](Self::with) returns.
pub(crate) struct NestedCall {
    subject: *const (),
    /// How many entries of the subject the thread has killed during the turn, less those
    /// [taken](Self::take_killed) off.
    killed: Cell<usize>,
    /// The next outer turn of the thread, or null.
    outer: Cell<*const NestedCall>,
}

/// The innermost turn of a thread, or null, and the number of its turns.
#[derive(Clone, Copy)]
struct Turns {
    innermost: *const NestedCall,
    count: usize,
}

crate::sync::thread_local! {
    /// The cell has no destructor, so the destructors of other thread-locals find it.
    static TURNS: Cell<Turns> = const { Cell::new(Turns { innermost: ptr::null(), count: 0 }) };
}

impl NestedCall {
    /// Calls `run` with a turn for the subject. If the thread has `most` turns for the subject
    /// already, calls `run` without a turn. O(turns of the thread).
    #[inline]
    pub(crate) fn with<S, R>(
        subject: *const S,
        most: usize,
        run: impl FnOnce(Option<&NestedCall>) -> R,
    ) -> R {
        let turn = NestedCall::about(subject);
        let turns = TURNS.with(Cell::get);
        let refused = turns.count >= most && turn.is_refused(turns, most);
        let listed = (!refused).then(|| turn.list(turns));
        run(listed.as_ref().map(|listed| listed.0))
    }

    /// Whether there are `most` turns for the same subject.
    #[cold]
    fn is_refused(&self, turns: Turns, most: usize) -> bool {
        let is_same = |turn: &&NestedCall| turn.subject == self.subject;
        turns.iter().filter(is_same).count() >= most
    }

    /// Makes a turn for the subject, which is not listed yet.
    #[inline]
    fn about<S>(subject: *const S) -> Self {
        NestedCall {
            subject: subject.cast(),
            killed: Cell::new(0),
            outer: Cell::new(ptr::null()),
        }
    }

    /// Makes this turn the innermost turn of the thread.
    #[inline]
    fn list(&self, turns: Turns) -> Listed<'_> {
        self.outer.set(turns.innermost);
        Turns::set(self, turns.count + 1);
        Listed(self)
    }

    /// Notes that the current thread has killed an entry of a subject.
    #[inline]
    pub(crate) fn note_killed(subject: *const ()) {
        let turns = TURNS.with(Cell::get);
        for turn in turns.iter().filter(|turn| turn.subject == subject) {
            turn.killed.set(turn.killed.get() + 1);
        }
    }

    /// Returns how many entries of the subject the thread has killed since the last call.
    pub(crate) fn take_killed(&self) -> usize {
        self.killed.take()
    }

    /// Returns whether the thread has killed an entry of the subject since the last call of
    /// [`take_killed`](Self::take_killed).
    pub(crate) fn has_killed(&self) -> bool {
        self.killed.get() != 0
    }

    /// Whether the current thread has so many turns that an operation leaves work to the next
    /// operation.
    pub(crate) fn is_deep() -> bool {
        TURNS.with(Cell::get).count >= DEEP
    }
}

impl Turns {
    #[inline]
    fn set(innermost: *const NestedCall, count: usize) {
        TURNS.with(|turns| turns.set(Turns { innermost, count }));
    }

    /// Iterates from the innermost turn on. No turn of the thread may end while the iterator is in
    /// use.
    fn iter<'t>(self) -> impl Iterator<Item = &'t NestedCall> {
        let mut next = self.innermost;
        iter::from_fn(move || {
            // SAFETY: the pointer is null, or leads to a turn of the current thread, in the frame
            // of a call that has not returned. Before the call returns or unwinds, `Listed` takes
            // the turn out.
            let turn = unsafe { next.as_ref() }?;
            next = turn.outer.get();
            Some(turn)
        })
    }
}

/// A turn in the list of its thread, until the guard is dropped.
struct Listed<'t>(&'t NestedCall);

impl Drop for Listed<'_> {
    #[inline]
    fn drop(&mut self) {
        let Turns { innermost, count } = TURNS.with(Cell::get);
        if ptr::eq(innermost, self.0) {
            Turns::set(self.0.outer.get(), count - 1);
        } else {
            self.leave_the_middle();
        }
    }
}

impl Listed<'_> {
    /// Takes out a turn that is not the innermost: a destructor of an inner call runs in a
    /// coroutine, and has switched back to the stack of the outer call, which returns first.
    #[cold]
    fn leave_the_middle(&self) {
        let turns = TURNS.with(Cell::get);
        let inner = turns.iter().find(|turn| ptr::eq(turn.outer.get(), self.0));
        if let Some(inner) = inner {
            inner.outer.set(self.0.outer.get());
        }
        Turns::set(turns.innermost, turns.count - 1);
    }
}

#[cfg(all(test, not(weakly_loom)))]
mod tests {
    use std::boxed::Box;
    use std::vec::Vec;

    use super::*;

    fn subjects() -> Vec<*const ()> {
        let turns = TURNS.with(Cell::get);
        let subjects: Vec<_> = turns.iter().map(|turn| turn.subject).collect();
        assert_eq!(subjects.len(), turns.count);
        subjects
    }

    /// The calls of coroutines may end in any order: no call leaves its turn behind.
    #[test]
    fn turns_end_in_any_order() {
        for order in [
            [0, 1, 2],
            [0, 2, 1],
            [1, 0, 2],
            [1, 2, 0],
            [2, 0, 1],
            [2, 1, 0],
        ] {
            let all = [1_u8, 2, 3];
            let turns = all
                .each_ref()
                .map(|subject| Box::new(NestedCall::about(subject)));
            let mut listed = turns
                .each_ref()
                .map(|turn| Some(turn.list(TURNS.with(Cell::get))));
            for ended in order {
                listed[ended] = None;
                let left = (0..3).rev().filter(|at| listed[*at].is_some());
                let left: Vec<_> = left.map(|at| turns[at].subject).collect();
                assert_eq!(subjects(), left);
            }
        }
    }

    #[test]
    fn a_turn_ends_by_a_panic_and_subjects_are_apart() {
        let (one, other) = (1_u8, 2_u8);
        let inner = || {
            assert!(NestedCall::with(&other, 1, |turn| turn.is_some()));
            assert!(NestedCall::with(&one, 1, |turn| turn.is_none()));
            std::panic::resume_unwind(Box::new(()));
        };
        let unwinds = || NestedCall::with(&one, 1, |turn| turn.map(|_| inner()));
        assert!(std::panic::catch_unwind(unwinds).is_err());
        assert_eq!(subjects(), []);
    }
}
