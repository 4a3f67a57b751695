//~ `&str` does not identify a key of type `Strong<String, Atomic>`
//~ pass the handle or anchor, a weak one, or a reference
use weakly::{Strong, WeakMap};

pub fn length(lengths: &WeakMap<Strong<String>, usize>) -> Option<&usize> {
    lengths.get("word")
}
