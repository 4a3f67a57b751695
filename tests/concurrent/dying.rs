//! One object with many entries, which others replace while it is dying.

use std::thread;

use crate::common::scaled;
use weakly::Strong;
use weakly::concurrent::WeakValueMap;

/// 184: A death releases the lock after each 64 notices: other threads drain what has arrived, and replace
/// entries whose notices they may just have drained.
#[test]
fn small_entries_are_replaced_while_their_object_is_dying() {
    const KEYS: usize = scaled(2_000, 150);
    for _ in 0..scaled(100, 1) {
        let (old, new) = (Strong::new(1), Strong::new(2));
        let map: WeakValueMap<usize, Strong<i32>> = WeakValueMap::new();
        for n in 0..KEYS {
            map.insert(n, &old);
        }
        thread::scope(|scope| {
            scope.spawn(move || drop(old));
            // The newest entry is notified first.
            scope.spawn(|| {
                for n in (0..KEYS).rev() {
                    map.insert(n, &new);
                }
            });
            scope.spawn(|| {
                for n in 0..KEYS {
                    map.insert(n, &new);
                }
            });
        });
        map.purge();
        assert_eq!(map.len(), KEYS);
        assert!((0..KEYS).all(|n| map.get(&n).is_some_and(|value| *value == 2)));
    }
}
