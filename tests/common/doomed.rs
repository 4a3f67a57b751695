//! A value, or an object, whose end runs an action.

use std::sync::{Arc, Mutex};

use super::quiet_panic;

/// Its clones are the same one: the action runs when the last of them is dropped.
#[derive(Clone, Default)]
pub struct Doomed {
    pub number: usize,
    /// Whether a clone panics.
    fragile: Fragile,
    end: Arc<End>,
}

#[derive(Default)]
struct Fragile(bool);

impl Clone for Fragile {
    fn clone(&self) -> Self {
        if self.0 {
            quiet_panic();
        }
        Fragile(false)
    }
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

    /// One whose clone panics.
    pub fn unclonable() -> Self {
        let fragile = Fragile(true);
        Doomed {
            fragile,
            ..Self::default()
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
