//~ does not cross threads
use std::rc::Rc;
use weakly::concurrent::WeakValueMap;

pub fn names() -> WeakValueMap<u32, Rc<str>> {
    WeakValueMap::new()
}
