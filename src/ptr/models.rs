//! loom models of the count protocol. Every interleaving, and every value that a load may return in
//! the C11 model, of a few handles in two or three threads.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicUsize, Ordering};
use loom::thread;
use std::vec::Vec;

use super::Handle;
use crate::{Strong, Weak};

/// A payload whose every use loom orders against its destruction.
pub(super) struct Payload {
    value: UnsafeCell<usize>,
    drops: Arc<AtomicUsize>,
}

// SAFETY: loom checks what it is for.
unsafe impl Send for Payload {}
// SAFETY: likewise.
unsafe impl Sync for Payload {}

impl Payload {
    fn new(drops: &Arc<AtomicUsize>) -> Self {
        Payload {
            value: UnsafeCell::new(7),
            drops: drops.clone(),
        }
    }

    pub(super) fn read(&self) {
        // SAFETY: loom fails the model if a write is not ordered with this.
        assert_eq!(self.value.with(|value| unsafe { *value }), 7);
    }

    pub(super) fn write(&mut self) {
        // SAFETY: as in `read`.
        self.value.with_mut(|value| unsafe { *value = 7 });
    }
}

impl Drop for Payload {
    fn drop(&mut self) {
        self.write();
        self.drops.fetch_add(1, Ordering::Relaxed);
    }
}

/// Runs `model` with a new object in every interleaving. When all threads are done, the object must
/// have been dropped `deaths` times.
pub(super) fn check(deaths: usize, model: impl Fn(Strong<Payload>) + Send + Sync + 'static) {
    check_with(loom::model::Builder::new(), deaths, model);
}

/// [`check`] for three threads, whose interleavings are many: with one preemption less.
#[cfg(not(weakly_no_loans))]
pub(super) fn check_three(deaths: usize, model: impl Fn(Strong<Payload>) + Send + Sync + 'static) {
    let mut builder = loom::model::Builder::new();
    builder.preemption_bound = builder.preemption_bound.map(|bound| bound - 1);
    check_with(builder, deaths, model);
}

fn check_with(
    builder: loom::model::Builder,
    deaths: usize,
    model: impl Fn(Strong<Payload>) + Send + Sync + 'static,
) {
    builder.check(move || {
        let drops = Arc::new(AtomicUsize::new(0));
        model(Strong::new(Payload::new(&drops)));
        assert_eq!(drops.load(Ordering::Relaxed), deaths);
    });
}

/// Runs the two concurrently, and waits for both.
pub(super) fn both(other: impl FnOnce() + 'static, here: impl FnOnce()) {
    let other = thread::spawn(other);
    here();
    other.join().unwrap();
}

/// Reads through an upgraded handle; says whether there was one.
pub(super) fn peek(weak: &Weak<Payload>) -> bool {
    weak.upgrade().map(|strong| strong.read()).is_some()
}

#[test]
fn drops_of_an_unwatched_object() {
    check(1, |a| {
        let b = a.clone();
        both(
            move || {
                b.read();
                drop(b);
            },
            move || {
                a.read();
                drop(a);
            },
        );
    });
}

#[test]
fn first_watch_against_clone() {
    check(1, |a| {
        let b = a.clone();
        both(
            move || {
                let weak = Strong::downgrade(&b);
                drop(b);
                peek(&weak);
            },
            move || {
                let c = a.clone();
                drop(a);
                c.read();
                drop(c);
            },
        );
    });
}

#[test]
fn first_watch_against_drop() {
    check(1, |a| {
        let b = a.clone();
        both(
            move || {
                let weak = Strong::downgrade(&b);
                drop(b);
                drop(weak);
            },
            move || drop(a),
        );
    });
}

#[test]
fn two_first_watches_with_upgrade_and_drop() {
    check(1, |a| {
        let b = a.clone();
        both(
            move || {
                let weak = Strong::downgrade(&b);
                drop(b);
                peek(&weak);
            },
            move || {
                let weak = Strong::downgrade(&a);
                assert!(peek(&weak));
                drop(a);
                drop(weak);
            },
        );
    });
}

#[test]
fn two_first_watches_have_one_identity() {
    check(1, |a| {
        let b = a.clone();
        let other = thread::spawn(move || Strong::downgrade(&b));
        let mine = Strong::downgrade(&a);
        let its = other.join().unwrap();
        assert!(mine == its);
        assert_eq!(Strong::weak_count(&a), 2);
        drop(a);
        assert!(mine.is_expired() && its.is_expired());
    });
}

#[test]
fn upgraders_against_the_last_drop() {
    check(1, |a| {
        let weak = Strong::downgrade(&a);
        let again = weak.clone();
        let one = thread::spawn(move || {
            peek(&weak);
        });
        let two = thread::spawn(move || {
            peek(&again);
        });
        drop(a);
        one.join().unwrap();
        two.join().unwrap();
    });
}

#[test]
fn an_upgraded_group_outlives_the_first() {
    check(1, |a| {
        let weak = Strong::downgrade(&a);
        both(
            {
                let weak = weak.clone();
                move || {
                    if let Some(strong) = weak.upgrade() {
                        let more = strong.clone();
                        drop(strong);
                        more.read();
                        // We hold a handle, so nobody can find it dead.
                        assert!(weak.upgrade().is_some());
                    }
                }
            },
            move || drop(a),
        );
        assert!(!peek(&weak));
    });
}

#[test]
fn dead_is_final() {
    check(1, |a| {
        let weak = Strong::downgrade(&a);
        let again = weak.clone();
        both(
            move || {
                if !peek(&again) {
                    assert!(!peek(&again));
                }
            },
            move || drop(a),
        );
        assert!(weak.is_expired());
    });
}

#[test]
fn get_mut_against_upgrade() {
    check(1, |mut a| {
        let weak = Strong::downgrade(&a);
        both(
            move || {
                peek(&weak);
                // The weak handle goes here: from now on nothing stands against `get_mut`.
            },
            || {
                if let Some(payload) = Handle::get_mut(&mut a) {
                    payload.write();
                }
            },
        );
        // One past downgrade must not disable it for ever.
        Handle::get_mut(&mut a).unwrap().write();
    });
}

#[test]
fn get_mut_against_an_upgraded_handle_that_watches_again() {
    check(1, |mut a| {
        let weak = Strong::downgrade(&a);
        let other = thread::spawn(move || {
            let strong = weak.upgrade().unwrap();
            drop(weak);
            // The new weak handle comes when the old one has gone, and outlives the strong one.
            Strong::downgrade(&strong)
        });
        if let Some(payload) = Handle::get_mut(&mut a) {
            payload.write();
            // Whoever was let in here found no weak handle, so there can be none to upgrade.
            unreachable!("a weak handle, or one that will watch, was always there");
        }
        assert!(peek(&other.join().unwrap()));
    });
}

#[test]
fn two_get_muts() {
    check(1, |mut a| {
        let weak = Strong::downgrade(&a);
        let mut b = a.clone();
        both(
            move || assert!(Handle::get_mut(&mut b).is_none()),
            || {
                if let Some(payload) = Handle::get_mut(&mut a) {
                    payload.write();
                }
            },
        );
        drop(weak);
        Handle::get_mut(&mut a).unwrap().write();
    });
}

/// Without a record there is nothing but the count to order the uses of the other handle before ours.
#[test]
fn get_mut_against_the_drop_of_a_clone() {
    check(1, |mut a| {
        let b = a.clone();
        both(
            move || {
                b.read();
                drop(b);
            },
            || {
                if let Some(payload) = Handle::get_mut(&mut a) {
                    payload.write();
                }
            },
        );
    });
}

#[test]
fn try_unwrap_against_the_drop_of_a_clone() {
    check(1, |a| {
        let b = a.clone();
        both(
            move || {
                b.read();
                drop(b);
            },
            move || match Handle::try_unwrap(a) {
                Ok(mut payload) => payload.write(),
                Err(a) => a.read(),
            },
        );
    });
}

#[test]
fn try_unwrap_against_upgrade() {
    check(1, |a| {
        let weak = Strong::downgrade(&a);
        both(
            move || {
                peek(&weak);
            },
            move || match Handle::try_unwrap(a) {
                Ok(mut payload) => payload.write(),
                Err(a) => a.read(),
            },
        );
    });
}

#[test]
fn into_inner_gives_the_value_once() {
    check(1, |a| {
        let watched = Strong::downgrade(&a);
        let b = a.clone();
        let other = thread::spawn(move || Handle::into_inner(b).is_some());
        let mine = Handle::into_inner(a).is_some();
        assert!(mine != other.join().unwrap());
        assert!(watched.is_expired());
    });
}

#[test]
fn unwrapping_a_group_while_the_one_before_still_ends() {
    check(1, |a| {
        let weak = Strong::downgrade(&a);
        both(
            move || {
                if let Some(strong) = weak.upgrade() {
                    match Handle::try_unwrap(strong) {
                        Ok(mut payload) => payload.write(),
                        Err(strong) => strong.read(),
                    }
                }
            },
            move || drop(a),
        );
    });
}

#[test]
fn a_cyclic_object_is_published_whole() {
    loom::model(|| {
        let drops = Arc::new(AtomicUsize::new(0));
        let mut other = None;
        let strong = Strong::new_cyclic(|me| {
            let me = me.clone();
            other = Some(thread::spawn(move || peek(&me)));
            Payload::new(&drops)
        });
        strong.read();
        drop(strong);
        other.unwrap().join().unwrap();
        assert_eq!(drops.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_finalizer_runs_once_or_is_handed_back() {
    check(1, |a| {
        let runs = Arc::new(AtomicUsize::new(0));
        let count = runs.clone();
        let token = Strong::finalize(&a, move || {
            count.fetch_add(1, Ordering::Relaxed);
        });
        let other = thread::spawn(move || token.detach());
        drop(a);
        let detached = other.join().unwrap();
        let ran = runs.load(Ordering::Relaxed);
        assert_eq!(ran + usize::from(detached.is_some()), 1);
    });
}

#[test]
fn a_finalizer_is_brought_forward_once() {
    check(1, |a| {
        let runs = Arc::new(AtomicUsize::new(0));
        let count = runs.clone();
        let token = Arc::new(Strong::finalize(&a, move || {
            count.fetch_add(1, Ordering::Relaxed);
        }));
        let again = token.clone();
        let others: Vec<_> = [token, again]
            .into_iter()
            .map(|token| thread::spawn(move || token.run_now()))
            .collect();
        drop(a);
        for other in others {
            other.join().unwrap();
        }
        assert_eq!(runs.load(Ordering::Relaxed), 1);
    });
}

#[test]
fn a_token_is_dropped_while_its_object_dies() {
    check(1, |a| {
        let token = Strong::finalize(&a, || {});
        both(
            move || {
                let _ = token.is_pending();
                drop(token);
            },
            move || drop(a),
        );
    });
}

#[test]
fn get_mut_does_not_mind_finalizers() {
    check(1, |mut a| {
        let token = Strong::finalize(&a, || {});
        let weak = Strong::downgrade(&a);
        both(
            move || {
                drop(token);
                peek(&weak);
            },
            || {
                if let Some(payload) = Handle::get_mut(&mut a) {
                    payload.write();
                }
            },
        );
        Handle::get_mut(&mut a).unwrap().write();
    });
}

/// A token takes two steps to go; who looks at one before and at the other after must not conclude
/// that the weak handle is a bystander.
#[test]
fn get_mut_is_not_fooled_by_a_token_that_goes() {
    check(1, |mut a| {
        let token = Strong::finalize(&a, || {});
        let _weak = Strong::downgrade(&a);
        let other = thread::spawn(move || drop(token));
        assert!(Handle::get_mut(&mut a).is_none());
        other.join().unwrap();
    });
}
