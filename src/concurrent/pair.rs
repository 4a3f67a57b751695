//! The watches of an entry that two objects keep alive.

use super::watch::{Deregister, Unplaced, Watches};
use crate::queue::{HookId, SharedQueue};

/// A watch on two objects: the entry goes with the first to die.
pub(crate) struct Pair<A, B>(pub(super) A, pub(super) B);

impl<'q, A: Deregister, B: Deregister> Unplaced<'q, Pair<A, B>> {
    /// Joins two watches with the same queue.
    #[inline]
    pub(crate) fn pair(one: Unplaced<'q, A>, other: Unplaced<'q, B>) -> Self {
        let queue = one.queue;
        Unplaced::new(Pair(one.into_inner(), other.into_inner()), queue)
    }
}

impl<A: Watches, B: Watches> Watches for Pair<A, B> {
    const SWEPT: Option<bool> = match (A::SWEPT, B::SWEPT) {
        (Some(false), Some(false)) => Some(false),
        (Some(true), _) | (_, Some(true)) => Some(true),
        _ => None,
    };
    const IS_PAIR: bool = true;

    fn is_notified_twice(&self) -> bool {
        !self.0.is_swept() && !self.1.is_swept() && self.0.is_stale() && self.1.is_stale()
    }

    #[inline]
    fn is_swept(&self) -> bool {
        self.0.is_swept() || self.1.is_swept()
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_stale() || self.1.is_stale()
    }

    fn is_dead(&self) -> bool {
        self.0.is_dead() || self.1.is_dead()
    }

    /// The first is the key; the second is upgraded.
    #[inline]
    fn pins(&self) -> bool {
        self.0.pins()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.is_named_by(hook) || self.1.is_named_by(hook)
    }

    /// The other object's notice is not wanted any more; if it is under way, it comes late.
    fn complete(&self, hook: HookId, queue: &SharedQueue) {
        if self.0.is_named_by(hook) {
            self.0.complete(hook, queue);
            self.1.end(queue);
        } else {
            self.0.end(queue);
            self.1.complete(hook, queue);
        }
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.0.objects(each);
        self.1.objects(each);
    }
}

impl<A: Deregister, B: Deregister> Deregister for Pair<A, B> {
    fn end(&self, queue: &SharedQueue) {
        self.0.end(queue);
        self.1.end(queue);
    }
}
