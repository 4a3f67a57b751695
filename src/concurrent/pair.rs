//! The watches of an entry that two objects keep alive.

use super::raw::Registered;
use super::watch::{Unplaced, Watches};
use crate::ptr::{Off, RegistrationId};
use crate::sync::AtomicPtr;

/// A watch on two objects: the entry goes with the first to die.
pub(crate) struct Pair<A, B>(pub(super) A, pub(super) B);

impl<'k, A, B> Unplaced<'k, Pair<A, B>> {
    /// Joins two watches that are registered.
    #[inline]
    pub(crate) fn pair(one: Unplaced<'k, A>, other: Unplaced<'k, B>) -> Self {
        Unplaced::new(Pair(one.into_inner(), other.into_inner()))
    }
}

impl<A: Watches, B: Watches> Watches for Pair<A, B> {
    const SWEPT: Option<bool> = match (A::SWEPT, B::SWEPT) {
        (Some(false), Some(false)) => Some(false),
        (Some(true), _) | (_, Some(true)) => Some(true),
        _ => None,
    };

    #[inline]
    fn is_swept(&self) -> bool {
        self.0.is_swept() || self.1.is_swept()
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_stale() || self.1.is_stale()
    }

    fn is_expired(&self) -> bool {
        self.0.is_expired() || self.1.is_expired()
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.0.objects(each);
        self.1.objects(each);
    }
}

impl<A: Registered, B: Registered> Registered for Pair<A, B> {
    fn may_be_linked(&self) -> bool {
        self.0.may_be_linked() && self.1.may_be_linked()
    }

    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.0.named(id).or_else(|| self.1.named(id))
    }

    fn link(&self) -> Option<&AtomicPtr<()>> {
        self.0.link().or_else(|| self.1.link())
    }

    /// The other object's death finds nothing any more.
    fn end_others(&self, id: RegistrationId, off: &mut Off) {
        if self.0.named(id).is_none() {
            self.0.end(off);
        } else {
            self.1.end(off);
        }
    }

    fn end(&self, off: &mut Off) {
        self.0.end(off);
        self.1.end(off);
    }
}
