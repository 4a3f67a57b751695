//! Objects and values that many tests share: a map is compiled for each type of its keys and values.

use std::hash::{Hash, Hasher};
use std::sync::{Mutex, OnceLock};

use weakly::cycles::Trace;
use weakly::{Strong, impl_trace};

/// What a value owns, of whatever type.
pub(crate) type Any = Box<dyn Trace>;

pub(crate) fn any(value: impl Trace + 'static) -> Any {
    Box::new(value)
}

/// An object that threads share, with its number as its content.
#[derive(Default)]
pub(crate) struct Shared {
    pub(crate) number: usize,
    pub(crate) own: OnceLock<Strong<Shared>>,
    pub(crate) locked: Mutex<Option<Strong<Shared>>>,
}

impl_trace!(Shared: own, locked);

pub(crate) fn shared(number: usize) -> Strong<Shared> {
    Strong::new(Shared {
        number,
        ..Shared::default()
    })
}

impl PartialEq for Shared {
    fn eq(&self, other: &Self) -> bool {
        self.number == other.number
    }
}

impl Eq for Shared {}

impl Hash for Shared {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.number.hash(state);
    }
}
