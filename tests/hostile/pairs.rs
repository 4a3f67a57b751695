//! Entries whose both sides are held weakly: each side's death, by itself, with the other's, and in the
//! middle of what is done to the entry.

use crate::common::own::{self, Own};
use crate::common::panics;
use weakly::WeakPairMap;

/// A pointer that panics while it is put in another's place: the entry is as it was, or as it would have
/// been, but counted once whoever dies.
#[test]
fn pointers_that_panic() {
    let mut caught = 0;
    for patience in 0..4 {
        for value_dies_first in [false, true] {
            let [key, old, new] = [1, 2, 3].map(Own::<()>::new);
            let mut map = WeakPairMap::new();
            map.insert(&key, &old);
            own::set_patience(Some(patience));
            caught += usize::from(panics(|| drop(map.insert(&key, &new))));
            own::set_patience(None);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (1, 1, 0));
            let (first, second) = match value_dies_first {
                true => ([Some(old), Some(new)], Some(key)),
                false => ([Some(key), None], None),
            };
            drop(first);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            drop(second);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            map.purge();
            assert_eq!((map.len(), map.pending_dead()), (0, 0));
        }
    }
    assert!(caught >= 6, "{caught}");
}
