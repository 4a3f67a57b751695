//! A computation under way.

use core::fmt;
use core::marker::PhantomData;

use super::key::MemoKey;
use super::watches::EntryWatches;
use crate::concurrent::{Entered, HasInputs, Inputs, SharedKey, Unplaced};

/// A computation of a [`Memo`](crate::Memo) that is under way. The result depends on the objects in
/// its key, on each object that the computation [declares](Self::depends_on), and on each result
/// that the computation asks for, of any memo: when one of these ends, the memo drops the result.
///
/// **Results are tracked without a word** on the thread that computes. While the computation runs,
/// each [`get`](crate::Memo::get) that returns a result, and each
/// [`get_or_compute`](crate::Memo::get_or_compute) in any form, adds the *entry* of its answer, and
/// so all inputs of that entry, at any depth. A `get` that finds nothing adds nothing.
/// [`untracked`](super::untracked) adds nothing either. Code that the library calls belongs to no
/// computation: destructors that an operation of a collection runs, listeners, wakers, and the
/// code of keys, values and handles (`Hash`, `Eq`, `Clone`) within an operation of a memo. A
/// computation that catches the panic of such code within a request for a result is not kept.
///
/// A hit outside of computations is lock-free and allocates nothing. A hit within a computation
/// locks the list of the inputs of this computation and, for a new input, the input's list of
/// dependents, each for O(1), and allocates for a new input.
///
/// A stackful coroutine must not suspend within a computation while other code of its thread asks
/// a memo: the thread still runs the computation of the coroutine, so the answers become inputs of
/// this computation, and not of a computation that has resumed the coroutine.
///
/// The result is returned and not kept if the computation has asked for a result that was not kept:
/// because that computation has failed, because the key was removed meanwhile, because an input has
/// ended, or because a ceiling has refused the result. A wait that [times
/// out](crate::Memo::get_or_compute_timeout) is a result that was not kept, too.
///
/// Parts of the computation on other threads [enter](Self::enter) the computation.
pub struct Computation<'m> {
    pub(super) inputs: Inputs,
    /// The computation belongs to the memo.
    pub(super) memo: PhantomData<&'m ()>,
}

impl Computation<'_> {
    /// Makes the result depend on one more object that is no result: the memo drops the result when
    /// the object dies, at the latest. O(1) amortised. The result has one registration with each
    /// object, however often the object is declared. Objects are not tracked: as in the caches of
    /// compilers, declare each object that the computation reads, unless the object is in the key.
    /// An object that was declared for a result need not be declared for the results that are
    /// computed from it.
    ///
    /// If the object dies before the computation ends, or is [invalidated](crate::Memo::invalidate)
    /// from now on, the result is returned and not kept.
    // Never inlined: the frames of a deep recursion stay small.
    #[inline(never)]
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        self.inputs.depends_on(object);
    }

    /// Runs a part of the computation, on any thread: the result depends on each result that the
    /// part asks for, and a part that comes to need the result of its own computation panics
    /// instead of waiting for itself. O(1). Where the thread runs another computation already, the
    /// part belongs to both.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// let lengths = Memo::<Strong<str>, usize>::new();
    /// let sums = Memo::<(Strong<str>, Strong<str>), usize>::new();
    /// let (one, other) = (Strong::from("one"), Strong::from("other"));
    /// let length = |text: &Strong<str>| lengths.get_or_compute(text, |_| text.len());
    /// let sum = sums.get_or_compute((&one, &other), |cx| {
    ///     std::thread::scope(|scope| {
    ///         let part = scope.spawn(|| cx.enter(|| length(&one)));
    ///         length(&other) + part.join().unwrap()
    ///     })
    /// });
    /// assert_eq!(sum, 8);
    /// lengths.remove(&one); // the end of the length is the end of the sum
    /// assert_eq!(sums.get((&one, &other)), None);
    /// ```
    pub fn enter<R>(&self, part: impl FnOnce() -> R) -> R {
        self.inputs.enter(part)
    }
}

impl fmt::Debug for Computation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computation")
            .field("dependencies", &self.inputs.len())
            .finish()
    }
}

/// All parts of a computation. The drop of `W`, the way in which the result becomes an entry, ends
/// a computation without a result.
pub(super) struct Parts<'m, K: MemoKey, W> {
    pub(super) computation: Computation<'m>,
    pub(super) watches: K::Watches,
    pub(super) key: K::Stored,
    // Dropped last.
    pub(super) way: W,
}

/// The computation whose code the current thread runs.
pub(super) type Begun<'m, K, W> = Entered<Parts<'m, K, W>>;

impl<K: MemoKey, W> HasInputs for Parts<'_, K, W> {
    fn inputs(&self) -> &Inputs {
        &self.computation.inputs
    }
}

impl<K: MemoKey, W> Parts<'_, K, W> {
    /// The way, and the key of the entry and the maker of its watches.
    #[inline(always)]
    pub(super) fn end(
        self,
    ) -> (
        W,
        K::Stored,
        impl FnOnce() -> Unplaced<'static, EntryWatches<K::Watches>>,
    ) {
        let Parts {
            computation,
            watches,
            key,
            way,
        } = self;
        let watches = move || EntryWatches::new(watches, computation.inputs.into_gathered());
        (way, key, watches)
    }
}
