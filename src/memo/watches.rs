//! How an entry of a memo watches its inputs.

use std::boxed::Box;
use std::vec::Vec;

use crate::concurrent::{AnyWatch, Deregister, Unplaced, Watches};
use crate::queue::{HookId, SharedQueue};

/// The watches of an entry, on all its inputs.
pub(super) struct EntryWatches<A> {
    /// Those on the key, which the caller of a lookup keeps alive.
    keys: A,
    others: Box<[AnyWatch]>,
    /// Whether one of the others has to be polled.
    polled: bool,
}

/// The watches on a key, before they are in an entry.
pub struct KeyWatches<A>(pub(super) A);

impl<A: AsRef<[AnyWatch]>> Deregister for KeyWatches<A> {
    fn end(&self, queue: &SharedQueue) {
        self.0.as_ref().iter().for_each(|watch| watch.end(queue));
    }
}

impl<A: AsRef<[AnyWatch]>> EntryWatches<A> {
    fn all(&self) -> impl Iterator<Item = &AnyWatch> {
        self.keys.as_ref().iter().chain(&self.others)
    }
}

impl<A: AsRef<[AnyWatch]> + Send + Sync> EntryWatches<A> {
    pub(super) fn new<'q>(
        keys: Unplaced<'q, KeyWatches<A>>,
        others: Vec<Unplaced<'q, AnyWatch>>,
        queue: &'q SharedQueue,
    ) -> Unplaced<'q, Self> {
        let polled = others.iter().any(|watch| watch.is_swept());
        let others = others.into_iter().map(Unplaced::into_inner).collect();
        let watches = EntryWatches {
            keys: keys.into_inner().0,
            others,
            polled,
        };
        Unplaced::new(watches, queue)
    }

    /// Whether the entry has to be polled even if no notice is pending, and is dead.
    #[inline]
    pub(super) fn is_found_dead(&self) -> bool {
        self.polled && self.is_stale()
    }
}

impl<A: AsRef<[AnyWatch]> + Send + Sync> Watches for EntryWatches<A> {
    const SWEPT: Option<bool> = None;
    const COUNTED: bool = true;

    fn is_swept(&self) -> bool {
        self.all().any(AnyWatch::is_swept)
    }

    fn is_stale(&self) -> bool {
        self.all().any(AnyWatch::is_stale)
    }

    /// The caller keeps the key alive, but nothing keeps the others alive.
    fn pins(&self) -> bool {
        self.others.is_empty() && self.keys.as_ref().iter().all(AnyWatch::pins)
    }

    /// A computation does not keep alive what it depends on besides: a notice may be sent, and be drained, before
    /// there is an entry to unlink.
    fn kept_alive(&self) -> bool {
        self.others.is_empty()
    }

    fn has_died(&self) -> bool {
        self.all().any(AnyWatch::has_died)
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        self.all().any(|watch| watch.is_named_by(hook))
    }

    fn complete(&self, hook: HookId, queue: &SharedQueue) {
        self.all().for_each(|watch| watch.complete(hook, queue));
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.all().for_each(|watch| watch.objects(each));
    }
}

impl<A: AsRef<[AnyWatch]>> Deregister for EntryWatches<A> {
    fn end(&self, queue: &SharedQueue) {
        self.all().for_each(|watch| watch.end(queue));
    }
}
