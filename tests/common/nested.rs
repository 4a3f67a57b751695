//! Destructors within destructors.

use weakly::Strong;
use weakly::concurrent::WeakMap;

use super::doomed::Doomed;

/// Acts in a destructor that the purge of a map runs, in a destructor that the purge of another map runs, and so on: so many
/// of them.
pub fn inside_purges(levels: usize, act: impl FnOnce() + Send + Sync + 'static) {
    let mut nested = Doomed::new(act);
    for _ in 0..levels {
        let (map, key) = (WeakMap::new(), Strong::new(0_usize));
        map.insert(&key, nested);
        // Its destructor purges a map that has the next of its kind; that of the last one acts.
        nested = Doomed::new(move || {
            drop(key);
            map.purge();
        });
    }
    drop(nested);
}
