//! A value, or an object, whose end and whose clones run actions. Many tests share it, so that the tables of few types are
//! compiled.

use std::fmt;
use std::sync::{Arc, Mutex};

use weakly::Strong;

use super::quiet_panic;

/// Its clones are the same one: the action runs when the last of them is dropped. It is compared by its number.
#[derive(Default)]
pub struct Doomed {
    pub number: usize,
    /// What `purge_cycles` sees.
    pub owned: Option<Strong<usize>>,
    cloning: Option<Arc<Cloning>>,
    end: Arc<End>,
}

/// Called by each clone, which may get an action of its own.
type Cloning = dyn Fn() -> Option<Arc<End>> + Send + Sync;

#[derive(Default)]
struct End(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Doomed {
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        let end = Arc::new(End(Mutex::new(Some(Box::new(end)))));
        let idle = Self::default();
        Doomed { end, ..idle }
    }

    pub fn owning(object: &Strong<usize>) -> Self {
        let (owned, idle) = (Some(object.clone()), Self::default());
        Doomed { owned, ..idle }
    }

    pub fn numbered(self, number: usize) -> Self {
        Doomed { number, ..self }
    }

    /// Its clones run this.
    pub fn cloning(self, run: impl Fn() + Send + Sync + 'static) -> Self {
        self.giving(move || {
            run();
            None
        })
    }

    /// One whose clone panics.
    pub fn unclonable() -> Self {
        Self::default().cloning(|| quiet_panic())
    }

    /// The first clone, which is a memo's, has the action, and this has none.
    pub fn of_the_memo(mut self) -> Self {
        let end = Mutex::new(Some(std::mem::take(&mut self.end)));
        self.giving(move || end.lock().unwrap().take())
    }

    fn giving(self, cloning: impl Fn() -> Option<Arc<End>> + Send + Sync + 'static) -> Self {
        let cloning: Option<Arc<Cloning>> = Some(Arc::new(cloning));
        Doomed { cloning, ..self }
    }
}

impl Clone for Doomed {
    fn clone(&self) -> Self {
        let given = self.cloning.as_ref().and_then(|cloning| cloning());
        Doomed {
            number: self.number,
            owned: self.owned.clone(),
            cloning: self.cloning.clone(),
            end: given.unwrap_or_else(|| Arc::clone(&self.end)),
        }
    }
}

impl Drop for End {
    fn drop(&mut self) {
        let end = self.0.get_mut().ok().and_then(Option::take);
        if let Some(end) = end {
            end();
        }
    }
}

impl From<usize> for Doomed {
    fn from(number: usize) -> Self {
        Self::default().numbered(number)
    }
}

impl PartialEq for Doomed {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl PartialEq<usize> for Doomed {
    fn eq(&self, other: &usize) -> bool {
        self.number == *other
    }
}

impl fmt::Debug for Doomed {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Doomed {}", self.number)
    }
}

weakly::impl_trace!(Doomed: owned);
