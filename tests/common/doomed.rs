//! A value, or an object, whose end runs an action.

use std::sync::{Arc, Mutex};

use super::quiet_panic;

/// Its clones are the same one: the action runs when the last of them is dropped.
#[derive(Default)]
pub struct Doomed {
    pub number: usize,
    /// Called by each clone.
    cloning: Option<Arc<dyn Fn() + Send + Sync>>,
    end: Arc<End>,
}

#[derive(Default)]
struct End(Mutex<Option<Box<dyn FnOnce() + Send>>>);

impl Doomed {
    pub fn new(end: impl FnOnce() + Send + 'static) -> Self {
        let end = Arc::new(End(Mutex::new(Some(Box::new(end)))));
        Doomed {
            end,
            ..Self::default()
        }
    }

    pub fn numbered(self, number: usize) -> Self {
        Doomed { number, ..self }
    }

    /// Its clones run this.
    pub fn cloning(self, run: impl Fn() + Send + Sync + 'static) -> Self {
        let cloning: Option<Arc<dyn Fn() + Send + Sync>> = Some(Arc::new(run));
        Doomed { cloning, ..self }
    }

    /// One whose clone panics.
    pub fn unclonable() -> Self {
        Self::default().cloning(|| quiet_panic())
    }
}

impl Clone for Doomed {
    fn clone(&self) -> Self {
        if let Some(run) = &self.cloning {
            run();
        }
        let (end, cloning) = (Arc::clone(&self.end), self.cloning.clone());
        Doomed {
            end,
            cloning,
            ..*self
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

weakly::impl_trace!(Doomed);
