//! A computation under way.

use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use std::boxed::Box;

use super::key::MemoKey;
use super::watches::EntryWatches;
use crate::concurrent::{Gathered, SharedKey, SharedWatchFor, Unplaced, WatchesOne};
use crate::hash::HashValue;
use crate::ptr::CoreRef;

/// A computation of a [`Memo`](crate::Memo) that is under way. A `Computation` stays on the
/// computing thread: where parts of the computation run on other threads, each part returns the
/// objects that the part has read, and the computing thread declares these objects.
pub struct Computation<'m> {
    core: CoreRef,
    hash: HashValue,
    /// The watches on the objects on which the computation depends besides its key.
    gathered: RefCell<Gathered>,
    /// The computation belongs to the computing thread, and to the memo.
    here: PhantomData<(*mut (), &'m ())>,
}

impl Computation<'_> {
    /// Makes the result depend on one more object: the memo drops the result when the object dies,
    /// at the latest. O(1) amortised. The result has one registration with each object, however
    /// often the object is declared. Nothing is tracked automatically: as in the caches of
    /// compilers, declare each object that the computation reads.
    ///
    /// **Dependence is not transitive.** A result A, computed from another result B, depends on all
    /// objects on which B depends, and has to declare these objects. Otherwise, when one of the
    /// objects dies, B is dropped and A stays. The simplest way is to make the results objects,
    /// `Memo<K, Strong<R>>`, and to declare each result that was used: `cx.depends_on(&result)`.
    /// When an entry is dropped, and nothing else keeps its result alive, the result dies, and the
    /// results that depend on it die, too, all at the next [`purge`](crate::Memo::purge) (of each
    /// memo involved, in the order of the dependencies). The example `incremental` does so.
    ///
    /// If the object dies before the computation ends, or is [invalidated](crate::Memo::invalidate)
    /// from now on, the result is returned and not kept.
    // Never inlined: the frames of a deep recursion stay small.
    #[inline(never)]
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is of a user's type: user code may run here, and where a superfluous watch is
        // dropped. Both are outside of the borrow, because user code may declare more objects.
        let (watched, watch) = SharedWatchFor::<P>::any(object);
        let mut gathered = self.gathered.borrow_mut();
        if !gathered.has(watched) {
            gathered.push(watched, watch(self.hash, self.core.count()));
        }
    }
}

impl fmt::Debug for Computation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computation")
            .field("dependencies", &self.gathered.borrow().len())
            .finish()
    }
}

/// All parts of a computation, in one place on the heap. The drop of `W`, the way in which the
/// result becomes an entry, ends a computation without a result.
pub(super) struct Begun<'m, K: MemoKey, W> {
    computation: Computation<'m>,
    watches: K::Watches,
    key: K::Stored,
    // Dropped last.
    way: W,
}

impl<'m, K: MemoKey, W> Begun<'m, K, W> {
    #[inline]
    pub(super) fn new(
        core: CoreRef,
        hash: HashValue,
        (key, watches): (K::Stored, K::Watches),
        way: W,
    ) -> Box<Self> {
        let computation = Computation {
            core,
            hash,
            gathered: RefCell::default(),
            here: PhantomData,
        };
        Box::new(Begun {
            computation,
            watches,
            key,
            way,
        })
    }

    #[inline]
    pub(super) fn computation(&self) -> &Computation<'m> {
        &self.computation
    }

    /// The way, and the key of the entry and the maker of its watches.
    #[inline(always)]
    #[expect(
        clippy::boxed_local,
        reason = "unboxed where the result becomes an entry"
    )]
    pub(super) fn end(
        self: Box<Self>,
    ) -> (
        W,
        K::Stored,
        impl FnOnce() -> Unplaced<'static, EntryWatches<K::Watches>>,
    ) {
        let Begun {
            computation,
            watches,
            key,
            way,
        } = *self;
        let watches = || EntryWatches::new(watches, computation.gathered.into_inner());
        (way, key, watches)
    }
}
