//~ `&str` does not identify a key of type `Strong<str, Atomic>`
//~ for a reference to the whole target of a key, pass `&Addr::of(reference)`
use weakly::{Strong, WeakMap};

pub fn length(lengths: &WeakMap<Strong<str>, usize>) -> Option<&usize> {
    lengths.get("word")
}
