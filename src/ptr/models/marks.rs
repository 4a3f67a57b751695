//! The check of counts by marks: it does not overlook a thread that always has a pointer to one of
//! two objects.

use std::sync::OnceLock;

use super::*;
use crate::sync::AtomicUsize;

/// An object with a pointer to another object.
struct Linked {
    next: OnceLock<Strong<Linked>>,
}

/// Makes two objects with pointers to each other.
fn ring() -> (Strong<Linked>, Strong<Linked>) {
    let object = || {
        Strong::new(Linked {
            next: OnceLock::new(),
        })
    };
    let (a, b) = (object(), object());
    assert!(a.next.set(b.clone()).is_ok());
    assert!(b.next.set(a.clone()).is_ok());
    (a, b)
}

/// A check of the two objects of a ring.
struct Check<'r>([&'r Strong<Linked>; 2]);

impl Check<'_> {
    fn mark(&self) {
        assert!(self.0.iter().all(|object| object.block().mark()));
    }

    /// Returns whether only the ring and the caller have pointers to the objects, which are marked.
    fn is_passed(&self) -> bool {
        // One pointer in the ring, and the caller's.
        let counted = self.0.map(|object| object.block().count_marked() == 2);
        let unmarked = self.0.map(|object| object.block().unmark() == Some(2));
        [counted, unmarked] == [[true; 2]; 2]
    }
}

/// Takes the ring apart: loom reports a leak otherwise.
fn dismantle(a: Strong<Linked>, b: Strong<Linked>) {
    // SAFETY: no other thread has a pointer any more, and no reference into either object is left.
    unsafe {
        for object in [&a, &b] {
            let next = core::ptr::from_ref(&object.next).cast_mut();
            drop((*next).take());
        }
    }
}

fn next(object: &Strong<Linked>) -> &Strong<Linked> {
    object.next.get().unwrap()
}

/// Checks that a thread is not overlooked that goes from object to object `steps` times, and has a
/// pointer to one object at every moment until the thread's end. No check is passed before the
/// thread's end. To have moved on at each look, the thread has to be interrupted between any two
/// steps; so the bound on preemptions is higher than in other models.
fn not_overlooked(
    steps: usize,
    marked_before: bool,
    step: impl Fn(&Strong<Linked>) -> Strong<Linked> + Send + Sync + Copy + 'static,
) {
    models::check_up_to(7, move || {
        let (a, b) = ring();
        let check = Check([&a, &b]);
        let ended = Arc::new(AtomicUsize::new(0));
        let (start, end) = (b.clone(), Arc::clone(&ended));
        if marked_before {
            check.mark();
        }
        let ((), (passed, ended)) = both(
            move || {
                let mut here = start;
                for _ in 0..steps {
                    here = step(&here);
                }
                end.store(1, Relaxed);
            },
            || {
                if !marked_before {
                    check.mark();
                }
                // Relaxed: the check acquires the last drop, or should do so.
                (check.is_passed(), ended.load(Relaxed))
            },
        );
        assert!(!passed || ended == 1, "a thread was overlooked");
        check.mark();
        assert!(check.is_passed(), "the counts are right");
        dismantle(a, b);
    });
}

#[test]
fn a_thread_that_passes_on_by_clones() {
    not_overlooked(3, true, |here| next(here).clone());
}

#[test]
fn a_thread_that_passes_on_while_objects_are_marked() {
    not_overlooked(1, false, |here| next(here).clone());
}

#[test]
fn a_thread_that_passes_on_by_upgrades() {
    not_overlooked(3, true, |here| {
        let next = Strong::downgrade(next(here));
        next.upgrade().unwrap()
    });
}

/// A pointer that is made while the object is marked, and stays, is counted right and works.
#[test]
fn a_clone_and_an_upgrade_under_the_mark() {
    check_shared(|a, b| {
        let weak = Strong::downgrade(&a);
        both(
            move || {
                let c = b.clone();
                let d = weak.upgrade().unwrap();
                assert!(!weak.is_expired() && weak.strong_count() >= 3);
                drop(b);
                c.read();
                drop((c, d));
            },
            || {
                assert!(a.block().mark());
                a.block().unmark();
            },
        );
        assert_eq!(Strong::strong_count(&a), 1);
    });
}
