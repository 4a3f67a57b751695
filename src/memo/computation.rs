//! A computation under way.

use core::cell::RefCell;
use core::fmt;
use core::marker::PhantomData;
use std::boxed::Box;

use super::key::MemoKey;
use super::watches::EntryWatches;
use crate::concurrent::{ByKey, Gathered, Leader, SharedKey, SharedWatchFor, WatchesOne};
use crate::hash::HashValue;
use crate::ptr::CoreRef;

/// A computation of a [`Memo`](crate::Memo) that is under way. It stays on the thread that
/// computes: a part that runs on another thread returns the objects that it has read, and the
/// computing thread declares these.
pub struct Computation<'m> {
    core: CoreRef,
    hash: HashValue,
    /// The watches on the objects on which it depends besides its key.
    gathered: RefCell<Gathered>,
    /// It belongs to the thread that computes, and to the memo.
    here: PhantomData<(*mut (), &'m ())>,
}

impl Computation<'_> {
    pub(super) fn new(core: CoreRef, hash: HashValue) -> Self {
        Computation {
            core,
            hash,
            gathered: RefCell::default(),
            here: PhantomData,
        }
    }

    /// The objects and results on which the result depends.
    pub(super) fn into_gathered(self) -> Gathered {
        self.gathered.into_inner()
    }

    /// Makes the result depend on one more object: the result goes when that dies, at the latest.
    /// O(1) amortised. The result has one registration with each object, however often that is
    /// declared. Nothing is tracked automatically; as in the caches of compilers, declare what you
    /// have read.
    ///
    /// **Dependence is not transitive.** A result that was computed from another result depends on
    /// all that the other depends on, and has to declare that: otherwise, when one of those objects
    /// dies, the other result goes and this one stays. The simplest way is to make the results
    /// objects, `Memo<K, Strong<R>>`, and to depend on those that were used:
    /// `cx.depends_on(&result)`. When one of them goes, and nothing else keeps it alive, it dies,
    /// and so do those that depend on it, all at the next [`purge`](crate::Memo::purge) (of each
    /// memo involved, in the order in which they depend). The example `incremental` does so.
    ///
    /// If the object dies before the computation ends, or is [invalidated](crate::Memo::invalidate)
    /// from now on, the result is returned and not kept.
    // Never inlined, for the sake of a deep recursion's frames.
    #[inline(never)]
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is a user's, whose code may run here and where an unneeded watch is dropped:
        // outside of the borrow, since that code may declare more.
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

/// All that a computation needs, in one place on the heap. When it is dropped, its flight is
/// complete.
pub(super) struct Begun<'m, K: MemoKey, V> {
    computation: Computation<'m>,
    watches: K::Watches,
    key: K::Stored,
    // Dropped last.
    leader: Leader<'m, ByKey<K::Stored>, EntryWatches<K::Watches>, V>,
}

impl<'m, K: MemoKey, V> Begun<'m, K, V> {
    pub(super) fn new(
        core: CoreRef,
        hash: HashValue,
        key: K::Stored,
        watches: K::Watches,
        leader: Leader<'m, ByKey<K::Stored>, EntryWatches<K::Watches>, V>,
    ) -> Box<Self> {
        let computation = Computation::new(core, hash);
        Box::new(Begun {
            computation,
            watches,
            key,
            leader,
        })
    }

    #[inline]
    pub(super) fn computation(&self) -> &Computation<'m> {
        &self.computation
    }

    /// Keeps the result, and returns a clone of it.
    #[inline(never)]
    #[expect(
        clippy::boxed_local,
        reason = "unboxed here, not in the caller's frame"
    )]
    pub(super) fn finish(self: Box<Self>, value: V) -> V
    where
        V: Clone,
    {
        let Begun {
            computation,
            watches,
            key,
            leader,
        } = *self;
        leader.finish(|| {
            let watches = EntryWatches::new(watches, computation.into_gathered());
            (key, watches, value.clone(), value)
        })
    }
}
