//~ is no query for keys whose content is a `str`
//~ a weak handle has no content to compare: upgrade it first
use weakly::{Strong, Weak, WeakHashMap};

pub fn uses<'m>(map: &'m WeakHashMap<Strong<str>, u32>, word: &Weak<str>) -> Option<&'m u32> {
    map.get(word)
}
