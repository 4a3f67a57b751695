//! What the tests of attributes and memos share: objects, counters for many threads, and values whose
//! destructors run an action.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it

use std::fmt;
use std::sync::{Arc, Mutex};

use weakly::Strong;

pub use crate::common::{Count, pointers::Pointer};

/// The objects `0..n`.
pub fn objects<P: Pointer>(n: usize) -> Vec<P> {
    (0..n).map(P::from).collect()
}

impl Count {
    /// A value whose drop counts; its clones are the same value.
    pub fn witness(&self) -> Witness {
        let count = self.clone();
        Witness::new(move || _ = count.add())
    }
}

/// The result of most tests, so that the tables of few types are compiled: a number, and an action that runs once,
/// when the last of the clones is dropped.
#[derive(Default)]
pub struct Witness {
    pub number: usize,
    /// What [`purge_cycles`](weakly::Memo::purge_cycles) sees.
    pub owned: Option<Strong<usize>>,
    end: Option<Arc<End>>,
    cloning: Option<Arc<Cloning>>,
}

/// Called by each clone, which may get an action of its own.
type Cloning = dyn Fn() -> Option<Arc<End>> + Send + Sync;

struct End(Option<Box<dyn FnOnce() + Send + Sync>>);

impl Witness {
    pub fn new(end: impl FnOnce() + Send + Sync + 'static) -> Self {
        let end = Some(Arc::new(End(Some(Box::new(end)))));
        let idle = Self::default();
        Witness { end, ..idle }
    }

    /// A witness that does nothing.
    pub fn idle() -> Self {
        Self::default()
    }

    pub fn numbered(self, number: usize) -> Self {
        Witness { number, ..self }
    }

    pub fn owning(object: &Strong<usize>) -> Self {
        let owned = Some(object.clone());
        Witness {
            owned,
            ..Self::idle()
        }
    }

    /// Each clone of this and of its clones runs an action.
    pub fn cloning(self, run: impl Fn() + Send + Sync + 'static) -> Self {
        let before = self.cloning.clone();
        let run = move || {
            run();
            before.as_ref().and_then(|before| before())
        };
        let cloning: Option<Arc<Cloning>> = Some(Arc::new(run));
        Witness { cloning, ..self }
    }

    /// The first clone, which is the memo's, has the action, and this has none.
    pub fn of_the_memo(mut self) -> Self {
        let end = Mutex::new(self.end.take());
        let cloning: Option<Arc<Cloning>> = Some(Arc::new(move || end.lock().unwrap().take()));
        Witness { cloning, ..self }
    }
}

impl Clone for Witness {
    fn clone(&self) -> Self {
        let given = self.cloning.as_ref().and_then(|cloning| cloning());
        Witness {
            number: self.number,
            owned: self.owned.clone(),
            end: given.or_else(|| self.end.clone()),
            cloning: self.cloning.clone(),
        }
    }
}

/// By its number.
impl From<usize> for Witness {
    fn from(number: usize) -> Self {
        Self::idle().numbered(number)
    }
}

impl PartialEq for Witness {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl PartialEq<usize> for Witness {
    fn eq(&self, other: &usize) -> bool {
        self.number == *other
    }
}

weakly::impl_trace!(Witness: owned);

impl Drop for End {
    fn drop(&mut self) {
        if let Some(end) = self.0.take() {
            end();
        }
    }
}

impl fmt::Debug for Witness {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Witness {}", self.number)
    }
}

/// The text of a panic.
pub fn message(run: impl FnOnce()) -> Option<String> {
    let panic = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run)).err()?;
    let text = panic.downcast_ref::<String>().cloned();
    Some(text.unwrap_or_default())
}
