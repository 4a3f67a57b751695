//! loom models of a collection of one owner: the waker is armed after a panic, and when instalments
//! may report that nothing is left.

use core::panic::AssertUnwindSafe;
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};

use crate::ptr::models::{Woken, all_three, both, check};
use crate::{WeakMap, WeakPairMap};

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

/// A drain that ends by a panic also arms the waker: a later death calls the waker.
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

/// An instalment that returns 0 has looked when both queues were armed: a later notice calls the
/// waker. Here an entry is replaced while its value dies, and its notice is late. An instalment
/// must count this notice: else it would return 0 although the other death has found no queue
/// armed.
#[test]
fn instalments_against_two_deaths() {
    check(5, |maker| {
        let (keys, values) = (
            [maker.object(), maker.object()],
            [maker.object(), maker.object()],
        );
        let mut map: WeakPairMap<_, _> = keys.iter().zip(&values).collect();
        let (woken, third) = (Woken::new(), maker.object());
        map.set_waker(woken.waker());
        let [one, other] = values;
        all_three(
            move || drop(one),
            move || drop(other),
            || {
                map.insert(&keys[0], &third);
                woken.take();
                while map.purge_some(1) != 0 {}
            },
        );
        assert!(map.pending_dead() == 0 || woken.take(), "it sleeps on");
        drop((keys, third));
    });
}
