//~ `&str` does not identify a key of type `Arc<str>`
//~ `WeakHashMap`, `WeakHashSet` and `Interner` find them by content
use std::sync::Arc;
use weakly::WeakSet;

pub fn is_known(words: &WeakSet<Arc<str>>) -> bool {
    words.contains("word")
}
