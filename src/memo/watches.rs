//! The watches of a memo's entry on its inputs.

use core::any::Any;
use std::boxed::Box;
use std::vec::Vec;

use super::key::{MemoKey, Part};
use crate::concurrent::{
    AnyWatch, ByKey, Dependency, Gathered, Inputs, ObjectState, Unplaced, Watches,
};
use crate::ptr::{Off, RegistrationId, Token, TokenSlot};
use crate::raw::Registered;
use crate::sync::AtomicPtr;

/// The watches of an entry on all its inputs.
pub(super) struct EntryWatches<A> {
    /// The watches on the objects in the key, which the caller of a lookup keeps alive, and the
    /// watches on the further objects on which the computation depends.
    all: (A, Box<[AnyWatch]>),
    /// Whether one of the further objects has to be polled.
    polled: bool,
    /// Whether the result is not to be kept, because the computation has asked for a result that
    /// was not kept.
    spoiled: bool,
    /// Whether the computation has asked for a result that had ended.
    ended: bool,
    /// The token of the entry, if other entries depend on the entry.
    token: TokenSlot,
}

/// The entries of a memo.
pub(super) type Results<K, V> = ByKey<<K as Part>::Stored, EntryWatches<<K as Part>::Watches>, V>;

impl<A: Watches> EntryWatches<A> {
    pub(super) fn new(keys: A, others: Gathered) -> Unplaced<'static, Self> {
        let watches: Box<[_]> = others.watches.into_iter().collect();
        Unplaced::new(EntryWatches {
            polled: watches.iter().any(AnyWatch::is_swept),
            all: (keys, watches),
            spoiled: others.spoiled,
            ended: others.ended,
            token: TokenSlot::new(),
        })
    }

    /// Returns whether no input has ended, for a computation that has failed. An input that has
    /// failed itself has not ended: waiters would try in vain, one after the other.
    pub(super) fn all_live(&self) -> bool
    where
        A: Registered,
    {
        !self.ended && self.all.is_registered() && !self.is_stale()
    }

    /// Returns whether a further object has to be polled, and an input is dead.
    #[inline]
    pub(super) fn is_found_dead(&self) -> bool {
        self.polled && self.is_stale()
    }

    /// Returns handles to the polled further objects, for an operation that replaces the entry;
    /// `None` if the entry is dead.
    pub(super) fn hold(&self) -> Option<Vec<Box<dyn Any>>> {
        let mut held = Vec::new();
        for watch in &self.all.1 {
            held.extend(watch.hold()?);
        }
        Some(held)
    }

    /// Returns the dependency on this entry, for a reader of this entry that computes another
    /// result. `None` if this entry has ended.
    #[inline(never)]
    pub(super) fn as_dependency<K: MemoKey<Watches = A>>(&self) -> Option<Dependency> {
        let token = self.token.token()?;
        let mut polled = Vec::new();
        K::polled(&self.all.0, &mut polled);
        if self.polled {
            polled.extend(self.all.1.iter().filter_map(AnyWatch::again));
        }
        Some(Dependency::New(token, polled))
    }

    /// As [`as_dependency`](Self::as_dependency), in an operation that code of a computation has called.
    pub(super) fn as_dependency_of_caller<K: MemoKey<Watches = A>>(&self) -> Option<Dependency> {
        match self.token.place().is_some_and(Inputs::knows) {
            true => Some(Dependency::Known),
            false => self.as_dependency::<K>(),
        }
    }

    /// Returns the watches on the objects in the key, without the watches on the further objects.
    pub(super) fn key_watches(&self) -> &A {
        &self.all.0
    }

    pub(super) fn into_key_watches(self) -> A {
        self.all.0
    }
}

impl<A: Watches> Watches for EntryWatches<A> {
    const SWEPT: Option<bool> = None;

    fn any_is(&self, state: ObjectState) -> bool {
        self.all.any_is(state)
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.all.objects(each);
    }
}

impl<A: Registered> Registered for EntryWatches<A> {
    type Of = ();
    const TIES: bool = true;

    /// A computation does not keep its further inputs alive, and a computation by tasks does not
    /// keep the objects in the key alive either: the end of an input may have looked for the entry
    /// before the entry was inserted.
    fn may_be_linked(&self) -> bool {
        !self.spoiled && self.all.is_registered()
    }

    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.all.named(id)
    }

    fn link(&self) -> Option<&AtomicPtr<()>> {
        self.all.link()
    }

    fn end_others(&self, id: RegistrationId, off: &mut Off) {
        self.all.end_others(id, off);
    }

    fn memory_usage(&self) -> usize {
        self.all.memory_usage()
    }

    fn untie(&self) -> Result<(), Token> {
        self.token.end()
    }

    fn has_dependents(&self) -> bool {
        self.token.has_dependents()
    }

    fn end(&self, off: &mut Off) {
        self.all.end(off);
    }
}
