//! M. Weak pointers of a user's that panic when they are dropped. (They should only count down; but nothing is lost.)

use std::sync::atomic::{AtomicIsize, Ordering::Relaxed};
use std::sync::{Arc, Weak};

use crate::common::panics;
use weakly::concurrent::WeakPairMap;
use weakly::{
    Strong,
    reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef},
};

const MANY: usize = 40;

/// How many weak pointers there are; as one of them is dropped while there are half of them, that panics.
static WEAK: AtomicIsize = AtomicIsize::new(0);

#[derive(Clone)]
struct Pointer(Arc<usize>);

struct Panics(Weak<usize>);

impl Panics {
    fn new(weak: Weak<usize>) -> Self {
        WEAK.fetch_add(1, Relaxed);
        Panics(weak)
    }
}

impl Clone for Panics {
    fn clone(&self) -> Self {
        Self::new(self.0.clone())
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        if WEAK.fetch_sub(1, Relaxed) == MANY as isize / 2 {
            crate::common::quiet_panic();
        }
    }
}

#[allow(unsafe_code)]
// SAFETY: as `Arc` itself.
unsafe impl WeakKey for Pointer {
    type Watch = Swept<Self>;
    type Weak = Panics;
    fn downgrade(this: &Self) -> Panics {
        Panics::new(Arc::downgrade(&this.0))
    }
    fn addr(this: &Self) -> *const () {
        Arc::as_ptr(&this.0).cast()
    }
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl StrongRef for Pointer {
    type Target = usize;
}

#[allow(unsafe_code)]
// SAFETY: likewise.
unsafe impl WeakRef for Panics {
    type Strong = Pointer;
    fn upgrade(&self) -> Option<Pointer> {
        self.0.upgrade().map(Pointer)
    }
    fn addr(&self) -> *const () {
        self.0.as_ptr().cast()
    }
}

impl Identity for Panics {
    fn identity(this: &Self) -> *const () {
        Identity::identity(&this.0)
    }
}

impl Identify<Pointer> for Panics {
    fn addr(this: &Self) -> *const () {
        this.0.as_ptr().cast()
    }
}

/// N182: All others of what was taken are dropped.
#[test]
fn one_that_panics_leaves_the_others_to_be_dropped() {
    let map = WeakPairMap::<Strong<usize>, Pointer>::new();
    let values: Vec<_> = (0..MANY).map(|n| Pointer(Arc::new(n))).collect();
    let keys: Vec<_> = (0..MANY).map(Strong::new).collect();
    for (key, value) in keys.iter().zip(&values) {
        map.insert(key, value);
    }
    drop(keys);
    assert!(panics(|| _ = map.purge()));
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_eq!(WEAK.load(Relaxed), 0);
}
