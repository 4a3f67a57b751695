//! Objects whose payloads return.

use std::sync::OnceLock;

use super::*;
use crate::ptr::{Block, Destination};
use crate::sync;

/// The block of an object, to ask whether it is freed.
struct Known(Block<Atomic>);

// SAFETY: under loom the memory stays.
unsafe impl Send for Known {}
// SAFETY: as for `Send`.
unsafe impl Sync for Known {}

/// The destination of an object, which counts the returned payloads.
type Home<T> = sync::Arc<Destination<T, AtomicUsize>>;

fn returned<T>(home: &Home<T>) -> usize {
    home.load(Relaxed)
}

/// Makes a returning object, and its destination.
fn returning<T: Thing + Send>(value: T) -> (Strong<T>, Home<T>) {
    let home = Destination::new(AtomicUsize::new(0));
    let known = Arc::new(OnceLock::<Known>::new());
    let block = known.clone();
    let object = Strong::returning(value, &home, move |home| {
        let home = home.upgrade()?;
        Some(move |payload: T| {
            // G2: the memory stays as long as the payload.
            let Some(Known(block)) = block.get() else {
                unreachable!("set below")
            };
            assert!(!block.is_freed() && !block.payload_is_freed());
            payload.payload().read();
            home.fetch_add(1, Relaxed);
        })
    });
    assert!(known.set(Known(object.block())).is_ok());
    (object, home)
}

/// Writes, if `a` is the only pointer.
fn write_if_alone(a: &mut Strong<Payload>, home: &Home<Payload>) -> bool {
    let payload = Strong::get_mut_of(a, home);
    payload.map(Payload::write).is_some()
}

#[test]
fn the_last_of_two_drops_returns() {
    check(1, |maker| {
        let (mut a, home) = returning(maker.payload());
        assert!(write_if_alone(&mut a, &home));
        let b = a.clone();
        both(move || read_and_drop(b), move || drop(a));
        assert_eq!(returned(&home), 1);
    });
}

/// Checks the drop of a weak pointer, which may have the last reference but one to the record.
fn weak_drop_against_return<T: Thing + Send>(value: impl Fn(&Maker) -> T + Send + Sync + 'static) {
    check(1, move |maker| {
        let (a, home) = returning(value(maker));
        let weak = Strong::downgrade(&a);
        both(
            move || {
                peek(&weak);
                drop(weak);
            },
            move || drop(a),
        );
        assert_eq!(returned(&home), 1);
    });
}

#[test]
fn a_weak_drop_against_a_return() {
    weak_drop_against_return(Maker::payload);
}

#[test]
fn a_weak_drop_against_the_return_of_a_large_payload() {
    weak_drop_against_return(|maker| Large {
        payload: maker.payload(),
        _size: [0; crate::ptr::header::INLINE],
    });
}

#[test]
fn a_payload_is_taken_or_returns() {
    check(1, |maker| {
        let (a, home) = returning(maker.payload());
        let weak = Strong::downgrade(&a);
        let (taken, _) = both(
            move || {
                let mut taken = weak.upgrade().and_then(Strong::into_inner);
                taken.as_mut().map(Payload::write).is_some()
            },
            move || drop(a),
        );
        assert_eq!(returned(&home) + usize::from(taken), 1);
    });
}

#[test]
fn an_unwrapped_payload_does_not_return() {
    check(1, |maker| {
        let (a, home) = returning(maker.payload());
        let b = a.clone();
        let (_, taken) = both(
            move || read_and_drop(b),
            move || {
                let taken = Strong::try_unwrap(a).ok();
                taken.map(|mut payload| payload.write()).is_some()
            },
        );
        assert_eq!(returned(&home) + usize::from(taken), 1);
    });
}

/// The list of finalizers is in the home while the object lives, and then in the record. The newest
/// finalizer is the head of the list.
#[test]
fn a_finalizer_is_cancelled_while_its_object_returns() {
    check(1, |maker| {
        let (a, home) = returning(maker.payload());
        let runs = Arc::new(AtomicUsize::new(0));
        let tokens = [0; 2].map(|_| {
            let runs = runs.clone();
            Strong::finalize(&a, move || {
                runs.fetch_add(1, Relaxed);
            })
        });
        let (detached, _) = both(
            move || {
                let detached = tokens[1].detach().is_some();
                assert!(!detached || !tokens[1].is_pending());
                detached
            },
            move || drop(a),
        );
        assert_eq!(returned(&home), 1);
        assert_eq!(runs.load(Relaxed) + usize::from(detached), 2);
    });
}

#[test]
fn an_entry_ends_while_its_object_returns() {
    check(1, |maker| {
        let (a, home) = returning(maker.payload());
        let mut map = Map::of(&[&a]);
        both(
            move || drop(a),
            || {
                map.peek(0);
                map.remove(0);
                map.drain();
            },
        );
        assert_eq!(returned(&home), 1);
    });
}

/// G3: A handle alone writes nothing, whatever its destination allows.
#[test]
fn a_destination_writes_if_a_pointer_is_alone() {
    check(1, |maker| {
        let (mut a, home) = returning(maker.payload());
        let b = a.clone();
        both(
            move || {
                downgrade_and_drop(b);
            },
            || {
                assert!(!super::write_if_alone(&mut a));
                write_if_alone(&mut a, &home);
            },
        );
        assert!(write_if_alone(&mut a, &home));
        drop(a);
        assert_eq!(returned(&home), 1);
    });
}
