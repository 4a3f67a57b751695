//! loom models of a table of one owner: what is armed again after a panic.

use core::panic::AssertUnwindSafe;
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};

use crate::WeakMap;
use crate::ptr::models::{Woken, both, check};

/// A value whose destructor may panic.
struct Value {
    panics: bool,
}

impl Drop for Value {
    fn drop(&mut self) {
        if self.panics {
            resume_unwind(Box::new("a destructor panics"));
        }
    }
}

/// A drain that ends by a panic arms the waker too: the death after it calls.
#[test]
fn a_purge_that_panics_against_a_death() {
    check(2, |maker| {
        let (mut map, woken) = (WeakMap::new(), Woken::new());
        map.set_waker(woken.waker());
        let (a, b) = (maker.object(), maker.object());
        map.insert(&a, Value { panics: true });
        map.insert(&b, Value { panics: false });
        drop(a);
        assert!(woken.take());
        let purge = || {
            let purged = catch_unwind(AssertUnwindSafe(|| map.purge()));
            assert!(purged.is_err());
            map.pending_dead() != 0
        };
        let ((), knows) = both(move || drop(b), purge);
        assert!(
            knows || map.pending_dead() == 0 || woken.take(),
            "it sleeps on"
        );
    });
}
