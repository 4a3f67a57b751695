//! What is made in races.

use core::convert::Infallible;
use loom::sync::Mutex;

use super::*;
use crate::Memo;
use crate::flight::Reservation;
use crate::sync::models;

type Made = Result<Strong<Payload>, ()>;

/// How the two callers of a model make a value of a key: each in a race, or with a reservation.
fn ask(map: &Map, races: bool, make: impl FnOnce() -> Made) -> Made {
    match races {
        true => map.try_get_or_insert_racing(0, |_| make()),
        false => map.try_get_or_insert_with(0, |_| make()),
    }
}

/// No maker is left, and no reservation.
fn is_left_by_all(map: &Map) {
    assert!(Reservation::current().is_none(), "a frame is left");
    let pin = map.table.pin();
    assert!(pin.entries().into_iter().all(|node| node.ready().is_some()));
}

/// A result of what was read before an invalidation is not found after it. (A computation reads
/// under the lock under which the object changes.)
#[test]
fn a_race_against_an_invalidation() {
    check_some(1, |maker| {
        let memo = Arc::new(Memo::<Strong<Payload>, usize>::new());
        let (object, state) = (maker.object(), Arc::new(Mutex::new(0)));
        let racing = {
            let (memo, object, state) = (memo.clone(), object.clone(), state.clone());
            move || memo.get_or_compute_racing(&object, |_| *state.lock().unwrap())
        };
        both(racing, || {
            *state.lock().unwrap() = 1;
            memo.invalidate(&object);
            assert_ne!(memo.get(&object), Some(0), "of the old state");
        });
        assert_ne!(memo.get(&object), Some(0), "of the old state, later");
    });
}

/// J1, J2: A racer and an owner, whoever comes first: both get the value that is made first.
#[test]
fn an_owner_beside_a_race() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let (other, reserved) = (Arc::clone(&map), theirs);
        let (got, raced) = both(
            move || ask(&other, false, move || Ok(reserved)),
            || ask(&map, true, || Ok(ours)),
        );
        let (got, raced) = (got.unwrap(), raced.unwrap());
        let there = map.get(&0).expect("both are alive");
        assert!(Strong::ptr_eq(&there, &raced), "the first stays");
        assert!(Strong::ptr_eq(&there, &got), "and goes to all");
        is_left_by_all(&map);
    });
}

/// J2: The last maker unlinks the reservation, whoever fails, and whoever comes meanwhile; a value
/// is kept.
#[test]
fn the_last_maker_unlinks() {
    let _long = models::long();
    for (races, fails) in [(true, true), (true, false), (false, true), (false, false)] {
        let model = move |maker: &Maker| {
            let map = Arc::new(Map::default());
            let other = Arc::clone(&map);
            let (failed, made) = both(
                move || ask(&other, true, || Err(())),
                || ask(&map, races, || (!fails).then(|| maker.object()).ok_or(())),
            );
            assert!(failed.is_err() || made.is_ok());
            match &made {
                Ok(made) => {
                    let there = map.get(&0).expect("nobody has removed it");
                    assert!(!fails && Strong::ptr_eq(&there, made));
                }
                Err(()) => assert!(fails),
            }
            is_left_by_all(&map);
        };
        // Two makers that fail at once need two preemptions.
        match fails {
            true => check_some(0, model),
            false => check_few(1, model),
        }
    }
}

/// J3: A removal beside a race and an owner: who comes after the removal makes a value that is
/// kept.
#[test]
fn a_removal_beside_both() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let kept = theirs.clone();
        let other = Arc::clone(&map);
        let raced = map.try_get_or_insert_racing(0, |_| {
            let (asked, ()) = both(
                move || ask(&other, false, move || Ok(theirs)),
                || _ = map.remove(&0),
            );
            assert!(
                Strong::ptr_eq(&asked.unwrap(), &kept),
                "nobody else has made one"
            );
            let there = map.get(&0);
            assert!(there.is_none_or(|there| Strong::ptr_eq(&there, &kept)));
            Ok::<_, Infallible>(ours.clone())
        });
        let Ok(raced) = raced;
        match map.get(&0) {
            Some(there) => assert!(Strong::ptr_eq(&there, &kept), "the race is over"),
            None => assert!(Strong::ptr_eq(&raced, &ours)),
        }
        is_left_by_all(&map);
    });
}

/// J1, F5: The thread that waits for an owner goes on with the value of a race, while the owner
/// still computes. The owner gets that value, too. So if it has joined the racer.
#[test]
fn a_waiter_beside_a_race() {
    for joins in [false, true] {
        check_few(2, move |maker| {
            let map = Arc::new(Map::default());
            let (ours, theirs) = (maker.object(), maker.object());
            let owns = || {
                let (other, raced) = (Arc::clone(&map), ours.clone());
                let made = ask(&map, false, || {
                    let asks = move || ask(&other, false, || unreachable!("it is reserved"));
                    let (waited, ()) = both(asks, || drop(ask(&map, true, || Ok(raced))));
                    assert!(Strong::ptr_eq(&waited.unwrap(), &ours));
                    Ok(theirs.clone())
                });
                assert!(Strong::ptr_eq(&made.unwrap(), &ours));
            };
            match joins {
                true => _ = ask(&map, true, || Ok(owns()).map(|()| theirs.clone())),
                false => owns(),
            }
            assert!(
                map.get(&0)
                    .is_some_and(|there| Strong::ptr_eq(&there, &ours))
            );
            is_left_by_all(&map);
        });
    }
}

/// F5: The same of a value that is inserted: the owner gets its own value.
#[test]
fn a_waiter_beside_an_insertion() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let other = Arc::clone(&map);
        let made = ask(&map, false, || {
            let asks = move || ask(&other, false, || unreachable!("it is reserved"));
            let (waited, ()) = both(asks, || _ = map.insert(0, &ours));
            assert!(Strong::ptr_eq(&waited.unwrap(), &ours));
            Ok(theirs.clone())
        });
        assert!(Strong::ptr_eq(&made.unwrap(), &theirs));
        is_left_by_all(&map);
    });
}
