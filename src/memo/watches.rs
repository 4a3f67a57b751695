//! How an entry of a memo watches its inputs.

use core::iter;
use std::boxed::Box;
use std::vec::Vec;

use crate::concurrent::{AnyWatch, Registered, Unplaced, Watches};
use crate::ptr::{Off, RegistrationId};
use crate::sync::AtomicPtr;

/// The watches on the handles of a key.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait WatchList {
    #[doc(hidden)]
    fn each(&self) -> impl Iterator<Item = &AnyWatch>;
}

impl WatchList for AnyWatch {
    fn each(&self) -> impl Iterator<Item = &AnyWatch> {
        iter::once(self)
    }
}

impl WatchList for Box<[AnyWatch]> {
    fn each(&self) -> impl Iterator<Item = &AnyWatch> {
        self.iter()
    }
}

/// Of a plain value.
impl WatchList for () {
    fn each(&self) -> impl Iterator<Item = &AnyWatch> {
        iter::empty()
    }
}

macro_rules! tuples {
    ($($first:ident $(, $part:ident)*;)*) => {$(
        #[allow(non_snake_case, reason = "a type and its value")]
        impl<$first: WatchList $(, $part: WatchList)*> WatchList for ($first, $($part,)*) {
            fn each(&self) -> impl Iterator<Item = &AnyWatch> {
                let ($first, $($part,)*) = self;
                $first.each()$(.chain($part.each()))*
            }
        }
    )*};
}

tuples! {
    A;
    A, B;
    A, B, C;
    A, B, C, D;
}

/// The watches of an entry, on all its inputs.
pub(super) struct EntryWatches<A> {
    /// Those on the key, which the caller of a lookup keeps alive.
    keys: A,
    others: Box<[AnyWatch]>,
    /// Whether one of the others has to be polled.
    polled: bool,
}

impl<A: WatchList> EntryWatches<A> {
    fn all(&self) -> impl Iterator<Item = &AnyWatch> {
        self.keys.each().chain(&self.others)
    }
}

impl<A: WatchList + Send + Sync> EntryWatches<A> {
    pub(super) fn new(keys: A, others: Vec<AnyWatch>) -> Unplaced<'static, Self> {
        let polled = others.iter().any(AnyWatch::is_swept);
        Unplaced::new(EntryWatches {
            keys,
            others: others.into(),
            polled,
        })
    }

    /// Whether the entry has to be polled, and is dead.
    #[inline]
    pub(super) fn is_found_dead(&self) -> bool {
        self.polled && self.is_stale()
    }
}

impl<A: WatchList + Send + Sync> Watches for EntryWatches<A> {
    const SWEPT: Option<bool> = None;
    const COUNTED: bool = true;

    fn is_swept(&self) -> bool {
        self.all().any(AnyWatch::is_swept)
    }

    fn is_stale(&self) -> bool {
        self.all().any(AnyWatch::is_stale)
    }

    fn is_expired(&self) -> bool {
        self.all().any(AnyWatch::is_expired)
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        self.all().for_each(|watch| watch.objects(each));
    }
}

impl<A: WatchList> Registered for EntryWatches<A> {
    /// A computation does not keep alive what it depends on besides its key, and tasks not even that: a death may have looked
    /// for the entry before there is one.
    fn may_be_linked(&self) -> bool {
        self.all().all(AnyWatch::may_be_linked)
    }

    fn named(&self, id: RegistrationId) -> Option<&AtomicPtr<()>> {
        self.all().find_map(|watch| watch.named(id))
    }

    fn link(&self) -> Option<&AtomicPtr<()>> {
        self.all().find_map(AnyWatch::link)
    }

    fn end_others(&self, id: RegistrationId, off: &mut Off) {
        let others = self.all().filter(|watch| watch.named(id).is_none());
        others.for_each(|watch| watch.end(off));
    }

    fn end(&self, off: &mut Off) {
        self.all().for_each(|watch| watch.end(off));
    }
}
