//! What is guaranteed when memory runs out. A program of its own, for its allocator, which asks before each
//! allocation whether it is to fail.
//!
//! On stable Rust a failed allocation ends the process; so there no allocation fails but in a child, and each is a point
//! at which the test looks at the state. With nightly's `alloc_error_hook` a failure unwinds, and nothing may be
//! lost by then:
//!
//! `RUSTFLAGS="--cfg weakly_nightly" CARGO_TARGET_DIR=target/nightly cargo +nightly miri test --test allocation`
//!
//! * `allocation/turns.rs`: each allocation of a script fails once; how.
//! * `allocation/collections.rs`: what the collections have in common, for each of them.
//! * `allocation/single.rs`, `allocation/shared.rs`: what these have besides.
//! * `allocation/failures.rs`: what goes on after a failure that unwinds.
//! * `allocation/others.rs`: handles, anchors, messages, attributes, memos, flights, floors, cycles.

#![cfg_attr(weakly_nightly, feature(alloc_error_hook))]

#[path = "allocation/collections.rs"]
mod collections;
mod common;
#[cfg(weakly_nightly)]
#[path = "allocation/failures.rs"]
mod failures;
#[path = "allocation/others.rs"]
mod others;
#[path = "allocation/shared.rs"]
mod shared;
#[path = "allocation/single.rs"]
mod single;
#[path = "allocation/turns.rs"]
mod turns;

use std::alloc::Layout;
use std::cell::{Cell, RefCell};
use std::rc::Rc;

use common::Own;
use common::heap::{Counting, Heap, Watcher};
use weakly::{
    WeakMap,
    ptr::{self, FinalizerToken},
};

type Ask = dyn Fn() -> bool;

thread_local! {
    /// The closure that this thread's allocations ask. It is alive: see [`asking`].
    static ASK: Cell<Option<*const Ask>> = const { Cell::new(None) };
}

/// Asks before each allocation, and counts what has not failed.
struct Asking;

#[global_allocator]
static HEAP: Heap<Asking> = Heap(Asking);

impl Watcher for Asking {
    fn allocates(&self, layout: Layout) -> bool {
        // Taken out meanwhile, because it may allocate.
        if let Some(ask) = ASK.take() {
            #[allow(unsafe_code)]
            // SAFETY: what is there lives.
            let fails = unsafe { (*ask)() };
            ASK.set(Some(ask));
            if fails {
                return false;
            }
        }
        Counting.allocates(layout)
    }

    fn frees(&self, layout: Layout) {
        Counting.frees(layout);
    }
}

/// Runs `act`; each allocation on this thread calls `ask`, which returns whether it is to fail, and must not
/// unwind.
fn asking(ask: impl Fn() -> bool + 'static, act: impl FnOnce()) {
    /// Resets the hook before `ask` is dropped, also after a panic.
    struct Until<A>(Box<A>);
    impl<A> Drop for Until<A> {
        fn drop(&mut self) {
            ASK.set(None);
        }
    }
    let until = Until(Box::new(ask));
    ASK.set(Some(&raw const *until.0));
    act();
}

/// Runs `act`, whose failed allocation unwinds, with nightly. Returns whether it did.
fn unwinds(act: impl FnOnce()) -> bool {
    #[cfg(not(weakly_nightly))]
    act();
    #[cfg(weakly_nightly)]
    {
        use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
        const NO_MEMORY: &str = "out of memory";
        std::alloc::set_alloc_error_hook(|_| resume_unwind(Box::new(NO_MEMORY)));
        if let Err(panic) = catch_unwind(AssertUnwindSafe(act)) {
            match panic.downcast_ref::<&str>() {
                Some(&NO_MEMORY) => return true,
                _ => resume_unwind(panic),
            }
        }
    }
    false
}

thread_local! {
    static PAYLOADS: Cell<usize> = const { Cell::new(0) };
}

/// Owns memory, so that its clone can fail, and is counted.
struct Payload(Box<u32>);

impl Payload {
    fn new(number: u32) -> Self {
        let payload = Payload(Box::new(number));
        PAYLOADS.set(PAYLOADS.get() + 1);
        payload
    }
}

impl Clone for Payload {
    fn clone(&self) -> Self {
        Payload::new(*self.0)
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        PAYLOADS.set(PAYLOADS.get() - 1);
    }
}

/// Every kind of watch on an object.
struct Watchers<F: Own> {
    weak: ptr::Weak<Payload, F>,
    map: WeakMap<ptr::Strong<Payload, F>, u32>,
    finalizer: FinalizerToken<F>,
}

impl<F: Own> Watchers<F> {
    fn of(object: &ptr::Strong<Payload, F>) -> Self {
        Watchers {
            weak: ptr::Strong::downgrade(object),
            map: WeakMap::from([(object, 1)]),
            finalizer: F::finalize(object, || ()),
        }
    }

    /// Whether one of them considers it dead.
    fn are_notified(&self) -> bool {
        self.weak.is_expired() || self.map.is_empty() || !self.finalizer.is_pending()
    }
}

/// I129: `make_mut` of a watched object makes the new one before it changes the old one.
fn make_mut_allocates_first<F: Own>() {
    let mut object = ptr::Strong::<_, F>::new(Payload::new(7));
    let watchers = Rc::new(Watchers::of(&object));
    // Whether they were notified, at each allocation.
    let notified = Rc::new(RefCell::new(Vec::with_capacity(9)));
    let ask = {
        let (notified, watchers) = (notified.clone(), watchers.clone());
        move || {
            // Nothing may unwind here.
            notified.borrow_mut().push(watchers.are_notified());
            false
        }
    };
    asking(ask, || *ptr::Strong::make_mut(&mut object).0 = 8);
    assert!(!notified.borrow().contains(&true));
    // With the feature, the list of holders allocates too.
    let expected = if cfg!(feature = "holders") {
        1..9
    } else {
        1..2
    };
    assert!(expected.contains(&notified.borrow().len()));
    assert!(*object.0 == 8 && watchers.are_notified());
}

for_each_flavour!(make_mut_allocates_first);

#[cfg(weakly_nightly)]
mod unwinding {
    use super::*;
    use weakly::{ReferenceQueue, Strong};

    /// Runs `act` with an allocation that fails and unwinds, after `successes` that succeed. Returns whether it
    /// came to that.
    pub(crate) fn fails_after(successes: usize, act: impl FnOnce()) -> bool {
        let left = Cell::new(Some(successes));
        let ask = move || {
            let now = left.get();
            left.set(now.and_then(|left| left.checked_sub(1)));
            now == Some(0)
        };
        unwinds(|| asking(ask, act))
    }

    /// I129: If an allocation of `make_mut` fails, everything is as before.
    fn a_failed_make_mut_changes_nothing<F: Own>() {
        // The only handle: the new object. One of two: that, and what the clone allocates.
        for (shared, allocations) in [(false, 1), (true, 2)] {
            for successes in 0.. {
                let mut object = ptr::Strong::<_, F>::new(Payload::new(7));
                let watchers = Watchers::of(&object);
                let other = shared.then(|| object.clone());
                let failed = fails_after(successes, || *ptr::Strong::make_mut(&mut object).0 = 8);
                // With the feature, the list of holders allocates too.
                if !cfg!(feature = "holders") {
                    assert_eq!(failed, successes < allocations);
                }
                assert_eq!(*object.0, if failed { 7 } else { 8 });
                assert_eq!(watchers.are_notified(), !failed && !shared);
                // Whether it is still the object with the attribute.
                assert_eq!(watchers.map.contains_key(&object), failed);
                let handles = if failed && shared { 2 } else { 1 };
                assert_eq!(ptr::Strong::strong_count(&object), handles);
                drop((object, other, watchers));
                assert_eq!(PAYLOADS.get(), 0, "each is dropped once");
                if !failed {
                    break;
                }
            }
        }
    }

    for_each_flavour!(a_failed_make_mut_changes_nothing);

    /// 230: A returning object that cannot be made destroys its payload. A payload for which the
    /// queue has no room is destroyed, and its object has died.
    #[test]
    fn a_failure_loses_no_payload_that_returns() {
        for successes in 0.. {
            let queue = ReferenceQueue::new();
            let mut made = None;
            let payload = Payload::new(7);
            let failed = fails_after(successes, || {
                made = Some(Strong::new_returning(payload, &queue));
            });
            let Some(object) = made else {
                assert!(failed && successes < 12);
                assert_eq!((PAYLOADS.get(), queue.len()), (0, 0));
                continue;
            };
            let weak = Strong::downgrade(&object);
            assert!(fails_after(0, || drop(object)));
            assert_eq!((PAYLOADS.get(), weak.is_expired()), (0, true));
            drop(Strong::new_returning(Payload::new(9), &queue));
            assert_eq!(queue.poll().map(|payload| *payload.0), Some(9));
            break;
        }
        assert_eq!(PAYLOADS.get(), 0);
    }
}
