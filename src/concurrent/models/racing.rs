//! What is made without a reservation.

use core::convert::Infallible;

use super::super::flight::Reservation;
use super::*;
use crate::Memo;
use crate::sync::{AtomicUsize, Ordering::*};

/// A result of what was read before an invalidation is not found after it.
#[test]
fn a_race_against_an_invalidation() {
    check_some(1, |maker| {
        let memo = Arc::new(Memo::<Strong<Payload>, usize>::new());
        let (object, state) = (maker.object(), Arc::new(AtomicUsize::new(0)));
        let racing = {
            let (memo, object, state) = (memo.clone(), object.clone(), state.clone());
            move || memo.get_or_compute_racing(&object, |_| state.load(Acquire))
        };
        both(racing, || {
            state.store(1, Release);
            memo.invalidate(&object);
            assert_ne!(memo.get(&object), Some(0), "of the old state");
        });
        assert_ne!(memo.get(&object), Some(0), "of the old state, later");
    });
}

/// F5: A value that is inserted in the place of a reservation goes to the thread that waits for
/// that, too. Whoever of the two comes first, there is one value.
#[test]
fn a_race_beside_a_reservation() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let (other, reserved) = (Arc::clone(&map), theirs.clone());
        let (got, raced) = both(
            move || other.get_or_insert_with(0, move |_| reserved),
            || {
                let Ok(raced) = map.try_get_or_insert_racing(0, |_| Ok::<_, Infallible>(ours));
                raced
            },
        );
        let there = map.get(&0).expect("both are alive");
        assert!(Strong::ptr_eq(&there, &raced), "the first stays");
        assert!(Strong::ptr_eq(&there, &got) || Strong::ptr_eq(&theirs, &got));
    });
}

/// F5: The thread that waits is the one that goes on, while the leader does not.
#[test]
fn a_waiter_is_overtaken() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let (other, raced) = (Arc::clone(&map), ours.clone());
        let reserved = map.get_or_insert_with(0, |_| {
            let ask = move || other.get_or_insert_with(0, |_| unreachable!("it is reserved"));
            let (waited, ()) = both(ask, || {
                let Ok(_) = map.try_get_or_insert_racing(0, |_| Ok::<_, Infallible>(raced));
            });
            assert!(Strong::ptr_eq(&waited, &ours));
            theirs.clone()
        });
        drop(reserved);
        assert!(Reservation::current().is_none(), "its frame has ended");
        assert!(
            map.get(&0)
                .is_some_and(|there| Strong::ptr_eq(&there, &ours))
        );
    });
}
