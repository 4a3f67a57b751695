//! Destructors within destructors.

use weakly::Strong;
use weakly::concurrent::WeakMap;

type Next = (WeakMap<Strong<()>, Nested>, Strong<()>);

/// Its destructor purges a map that has the next of its kind; that of the last one acts.
enum Nested {
    Purges(Option<Box<Next>>),
    Acts(Option<Box<dyn FnOnce() + Send + Sync>>),
}

impl Drop for Nested {
    fn drop(&mut self) {
        match self {
            Nested::Purges(next) => {
                if let Some((map, key)) = next.take().map(|next| *next) {
                    drop(key);
                    map.purge();
                }
            }
            Nested::Acts(act) => {
                if let Some(act) = act.take() {
                    act();
                }
            }
        }
    }
}

/// Acts in a destructor that the purge of a map runs, in a destructor that the purge of another map runs, and so on: so many
/// of them.
pub fn inside_purges(levels: usize, act: impl FnOnce() + Send + Sync + 'static) {
    let mut nested = Nested::Acts(Some(Box::new(act)));
    for _ in 0..levels {
        let (map, key) = (WeakMap::new(), Strong::new(()));
        map.insert(&key, nested);
        nested = Nested::Purges(Some(Box::new((map, key))));
    }
    drop(nested);
}
