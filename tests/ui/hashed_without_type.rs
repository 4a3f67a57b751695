//~ is no query for keys whose content is a `str`
//~ write the type of the closure's parameter: `Hashed(hash, |there: &str| ..)`
use weakly::{Hashed, Strong, WeakHashMap};

pub fn uses(map: &WeakHashMap<Strong<str>, u32>, hash: u64) -> Option<&u32> {
    map.get(&Hashed(hash, |there| there == "word"))
}
