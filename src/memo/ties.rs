//! How an entry of a memo holds on to its inputs.

use std::boxed::Box;
use std::vec::Vec;

use crate::concurrent::{AnyTie, Tied};
use crate::queue::HookId;

/// The ties of an entry to all its inputs.
pub(super) struct Ties<A> {
    /// Those of the key, which who asks for it holds.
    keys: A,
    others: Box<[AnyTie]>,
    /// Whether one of the others does not tell of its death.
    asked: bool,
}

impl<A: AsRef<[AnyTie]> + Send + Sync> Ties<A> {
    pub(super) fn new(keys: A, others: Vec<AnyTie>) -> Self {
        let others = others.into_boxed_slice();
        let asked = others.iter().any(|tie| matches!(tie, AnyTie::Pinned(_)));
        Ties {
            keys,
            others,
            asked,
        }
    }

    fn all(&self) -> impl Iterator<Item = &AnyTie> {
        self.keys.as_ref().iter().chain(&self.others)
    }

    /// Whether it has to be asked, even if nothing is pending, and is dead.
    #[inline]
    pub(super) fn is_found_dead(&self) -> bool {
        self.asked && self.is_stale()
    }
}

impl<A: AsRef<[AnyTie]> + Send + Sync> Tied for Ties<A> {
    fn is_swept(&self) -> bool {
        self.all().any(|tie| matches!(tie, AnyTie::Pinned(_)))
    }

    fn is_stale(&self) -> bool {
        self.all().any(|tie| match tie {
            AnyTie::Announced(tie) => tie.is_announced(),
            AnyTie::Pinned(object) => object.is_dead(),
        })
    }

    /// A computation does not hold what it depends on besides: a notice may come, and go, before there is
    /// an entry to go.
    fn is_held(&self) -> bool {
        self.others.is_empty()
    }

    fn has_died(&self) -> bool {
        self.all().any(|tie| match tie {
            AnyTie::Announced(tie) => tie.was_announced(),
            AnyTie::Pinned(object) => object.is_dead(),
        })
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        self.all()
            .any(|tie| matches!(tie, AnyTie::Announced(tie) if tie.is_named_by(hook)))
    }

    fn settle(&self, hook: HookId) {
        for tie in self.all() {
            match tie {
                AnyTie::Announced(tie) if tie.is_named_by(hook) => tie.settle(),
                AnyTie::Announced(tie) => tie.end(),
                AnyTie::Pinned(_) => {}
            }
        }
    }

    fn end(&self) {
        for tie in self.all() {
            if let AnyTie::Announced(tie) = tie {
                tie.end();
            }
        }
    }
}
