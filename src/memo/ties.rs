//! How an entry of a memo holds on to its inputs.

use std::boxed::Box;
use std::vec::Vec;

use crate::concurrent::{AnyTie, Ending, Loose, Tied};
use crate::queue::{HookId, SharedQueue};

/// The ties of an entry to all its inputs.
pub(super) struct Ties<A> {
    /// Those of the key, which who asks for it holds.
    keys: A,
    others: Box<[AnyTie]>,
    /// Whether one of the others does not tell of its death.
    asked: bool,
}

/// The ties of a key, before they are in an entry.
pub struct KeyTies<A>(pub(super) A);

impl<A: AsRef<[AnyTie]>> Ending for KeyTies<A> {
    fn end(&self, queue: &SharedQueue) {
        self.0.as_ref().iter().for_each(|tie| tie.end(queue));
    }
}

impl<A: AsRef<[AnyTie]>> Ties<A> {
    fn all(&self) -> impl Iterator<Item = &AnyTie> {
        self.keys.as_ref().iter().chain(&self.others)
    }
}

impl<A: AsRef<[AnyTie]> + Send + Sync> Ties<A> {
    pub(super) fn new<'q>(
        keys: Loose<'q, KeyTies<A>>,
        others: Vec<Loose<'q, AnyTie>>,
        queue: &'q SharedQueue,
    ) -> Loose<'q, Self> {
        let asked = others.iter().any(|tie| tie.is_swept());
        let others = others.into_iter().map(Loose::into_inner).collect();
        let ties = Ties {
            keys: keys.into_inner().0,
            others,
            asked,
        };
        Loose::new(ties, queue)
    }

    /// Whether it has to be asked, even if nothing is pending, and is dead.
    #[inline]
    pub(super) fn is_found_dead(&self) -> bool {
        self.asked && self.is_stale()
    }
}

impl<A: AsRef<[AnyTie]> + Send + Sync> Tied for Ties<A> {
    const SWEPT: Option<bool> = None;
    const COUNTED: bool = true;

    fn is_swept(&self) -> bool {
        self.all().any(AnyTie::is_swept)
    }

    fn is_stale(&self) -> bool {
        self.all().any(AnyTie::is_stale)
    }

    /// The key is held by who asks; the others are held by nobody.
    fn pins(&self) -> bool {
        self.others.is_empty() && self.keys.as_ref().iter().all(AnyTie::pins)
    }

    /// A computation does not hold what it depends on besides: a notice may come, and go, before there is
    /// an entry to go.
    fn is_held(&self) -> bool {
        self.others.is_empty()
    }

    fn has_died(&self) -> bool {
        self.all().any(AnyTie::has_died)
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        self.all().any(|tie| tie.is_named_by(hook))
    }

    fn settle(&self, hook: HookId, queue: &SharedQueue) {
        self.all().for_each(|tie| tie.settle(hook, queue));
    }
}

impl<A: AsRef<[AnyTie]>> Ending for Ties<A> {
    fn end(&self, queue: &SharedQueue) {
        self.all().for_each(|tie| tie.end(queue));
    }
}
