//! Weak pointers of a user's that panic when they are dropped. (They should only count down; but nothing is lost.)

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use crate::common::panics;
use weakly::Strong;
use weakly::concurrent::WeakPairMap;

const MANY: usize = 40;

/// How many weak pointers were dropped. The drop of one of them panics.
static DROPPED: AtomicUsize = AtomicUsize::new(0);

#[derive(Clone)]
struct Pointer(Arc<usize>);

#[derive(Clone)]
struct Panics(Weak<usize>);

impl Drop for Panics {
    fn drop(&mut self) {
        if DROPPED.fetch_add(1, Relaxed) == MANY / 2 {
            crate::common::quiet_panic();
        }
    }
}

weakly::impl_handle!(Pointer(Arc<usize>), Panics(Weak<usize>));

/// 182: All others of what was taken are dropped.
#[test]
fn one_that_panics_leaves_the_others_to_be_dropped() {
    let map = WeakPairMap::<Strong<usize>, Pointer>::new();
    let values: Vec<_> = (0..MANY).map(|n| Pointer(Arc::new(n))).collect();
    let keys: Vec<_> = (0..MANY).map(Strong::new).collect();
    for (key, value) in keys.iter().zip(&values) {
        map.insert(key, value);
    }
    drop(keys);
    DROPPED.store(0, Relaxed);
    assert!(panics(|| _ = map.purge()));
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert!(values.iter().all(|it| Arc::weak_count(&it.0) == 0));
}
