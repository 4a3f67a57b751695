//~ does not cross threads
//!~ cannot be sent between threads safely
//!~ cannot be shared between threads safely
use std::rc::Rc;
use weakly::concurrent::WeakValueMap;

pub fn names() -> WeakValueMap<u32, Rc<str>> {
    WeakValueMap::new()
}
