//~ does not cross threads
//!~ cannot be sent between threads safely
//!~ cannot be shared between threads safely
use std::rc::Rc;
use weakly::concurrent::WeakMap;

pub fn lengths() -> WeakMap<Rc<str>, usize> {
    WeakMap::new()
}
