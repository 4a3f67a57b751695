//! Pointers without entries and records: `NONE` and `WEAK`.

use super::*;

#[test]
fn drops_of_an_unwatched_object() {
    check_shared(|a, b| {
        both(
            move || read_and_drop(b),
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
fn first_downgrade_against_drop() {
    check_shared(|a, b| {
        both(move || downgrade_and_drop(b), move || drop(a));
    });
}

#[test]
fn two_first_downgrades() {
    check_shared(|a, b| {
        let (its, mine) = both(move || Strong::downgrade(&b), || Strong::downgrade(&a));
        assert!(mine == its);
        assert_eq!(Strong::weak_count(&a), 2);
        drop(a);
        assert!(mine.is_expired() && its.is_expired());
    });
}

/// The last share frees the block, whichever pointer has the share.
#[test]
fn weak_drops_against_death() {
    check_weak(|a, weak| {
        let again = weak.clone();
        all_three(
            move || {
                peek(&weak);
            },
            move || drop(again),
            || drop(a),
        );
    });
}

#[test]
fn weak_clone_against_death() {
    check_weak(|a, weak| {
        both(move || clone_and_drop(weak), move || drop(a));
    });
}

#[test]
fn weak_clones_against_downgrade() {
    check_weak(|a, weak| {
        let (its, mine) = both(move || weak.clone(), || Strong::downgrade(&a));
        drop(a);
        assert!(its == mine && !peek(&its));
    });
}

#[test]
fn upgraders_against_the_last_drop() {
    check_weak(|a, weak| {
        let again = weak.clone();
        all_three(move || peek(&weak), move || peek(&again), || drop(a));
    });
}

#[test]
fn an_upgraded_pointer_outlives_the_first() {
    check_weak(|a, weak| {
        let again = weak.clone();
        both(
            move || {
                if let Some(strong) = again.upgrade() {
                    let more = strong.clone();
                    drop(strong);
                    more.read();
                    // We have a strong pointer, so no thread can find the object dead.
                    assert!(again.upgrade().is_some());
                }
            },
            move || drop(a),
        );
        assert!(!peek(&weak));
    });
}

#[test]
fn dead_is_final() {
    check_weak(|a, weak| {
        let again = weak.clone();
        both(
            move || {
                if !peek(&again) {
                    assert!(!peek(&again) && again.is_expired());
                }
            },
            move || drop(a),
        );
        assert!(weak.is_expired());
    });
}

/// Without weak pointers only the count orders the uses through the other strong pointer.
#[test]
fn get_mut_against_the_drop_of_a_clone() {
    check_shared(|mut a, b| {
        both(move || read_and_drop(b), || write_if_alone(&mut a));
        assert!(write_if_alone(&mut a));
    });
}

/// The preparation of the object before a model begins.
type Prepare = fn(&Strong<Payload>);

fn nothing(_: &Strong<Payload>) {}

pub(super) fn get_mut_against_downgrade(prepare: Prepare) {
    check(1, move |maker| {
        let mut a = maker.object();
        prepare(&a);
        let b = a.clone();
        both(
            move || {
                let weak = Strong::downgrade(&b);
                b.read();
                drop(b);
                peek(&weak);
            },
            || write_if_alone(&mut a),
        );
        // A past downgrade must not block `get_mut` for ever.
        assert!(write_if_alone(&mut a));
    });
}

#[test]
fn get_mut_against_a_first_downgrade() {
    get_mut_against_downgrade(nothing);
}

pub(super) fn get_mut_against_upgrade_of(prepare: Prepare) {
    check(1, move |maker| {
        let mut a = maker.object();
        prepare(&a);
        let weak = Strong::downgrade(&a);
        both(
            move || {
                peek(&weak);
                // The weak pointer is dropped here: from now on nothing keeps `get_mut` from
                // success.
            },
            || write_if_alone(&mut a),
        );
        assert!(write_if_alone(&mut a));
    });
}

#[test]
fn get_mut_against_upgrade() {
    get_mut_against_upgrade_of(nothing);
}

pub(super) fn get_mut_against_upgrade_and_downgrade(prepare: Prepare) {
    check(1, move |maker| {
        let mut a = maker.object();
        prepare(&a);
        let weak = Strong::downgrade(&a);
        let (weak, alone) = both(
            move || {
                let strong = weak.upgrade().unwrap();
                drop(weak);
                strong.read();
                // The new weak pointer is made after the old one has been dropped, and outlives the
                // strong pointer.
                Strong::downgrade(&strong)
            },
            || write_if_alone(&mut a),
        );
        assert!(
            !alone,
            "there was always a weak pointer, or a strong one that makes one"
        );
        assert!(peek(&weak));
    });
}

#[test]
fn get_mut_against_an_upgraded_pointer_that_downgrades_again() {
    get_mut_against_upgrade_and_downgrade(nothing);
}

#[test]
fn two_get_muts() {
    check_shared(|mut a, mut b| {
        both(
            move || {
                write_if_alone(&mut b);
            },
            || write_if_alone(&mut a),
        );
        assert!(write_if_alone(&mut a));
    });
}

#[test]
fn try_unwrap_against_the_drop_of_a_clone() {
    check_shared(|a, b| {
        both(
            move || read_and_drop(b),
            move || match Strong::try_unwrap(a) {
                Ok(mut payload) => payload.write(),
                Err(a) => a.read(),
            },
        );
    });
}

#[test]
fn two_try_unwraps() {
    check_shared(|a, b| {
        let unwrap = |a: Strong<Payload>| match Strong::try_unwrap(a) {
            Ok(mut payload) => {
                payload.write();
                1
            }
            Err(a) => {
                a.read();
                0
            }
        };
        let (one, two) = both(move || unwrap(b), move || unwrap(a));
        assert!(one + two <= 1);
    });
}

#[test]
fn try_unwrap_against_upgrade() {
    check_weak(|a, weak| {
        both(
            move || {
                if let Some(strong) = weak.upgrade() {
                    match Strong::try_unwrap(strong) {
                        Ok(mut payload) => payload.write(),
                        Err(strong) => strong.read(),
                    }
                }
            },
            move || match Strong::try_unwrap(a) {
                Ok(mut payload) => payload.write(),
                Err(a) => a.read(),
            },
        );
    });
}

#[test]
fn into_inner_gives_the_value_once() {
    check_weak(|a, weak| {
        let b = a.clone();
        let (its, mine) = both(
            move || Strong::into_inner(b).is_some(),
            move || Strong::into_inner(a).is_some(),
        );
        assert!(mine != its);
        assert!(weak.is_expired());
    });
}

#[test]
fn make_mut_against_upgrade() {
    check(2, |maker| {
        let payload = maker.payload();
        let mut a = Strong::new(payload);
        let weak = Strong::downgrade(&a);
        both(
            move || peek(&weak),
            || {
                // (As in `make_mut`, which would clone: the object dies if no other pointer has
                // it.)
                match Strong::try_unwrap(core::mem::replace(&mut a, maker.object())) {
                    Ok(mut payload) => payload.write(),
                    Err(shared) => shared.read(),
                }
                a.read();
            },
        );
    });
}

/// Checks a cyclic object, whose constructor returns or panics: a weak pointer made before finds
/// the whole payload or none.
fn cyclic(succeeds: bool) {
    check(usize::from(succeeds), move |maker| {
        let mut other = None;
        let make = std::panic::AssertUnwindSafe(|| {
            Strong::new_cyclic(|me| {
                let me = me.clone();
                other = Some(thread::spawn(move || peek(&me)));
                if !succeeds {
                    std::panic::resume_unwind(std::boxed::Box::new(()));
                }
                maker.payload()
            })
        });
        let strong = std::panic::catch_unwind(make).ok();
        assert_eq!(strong.is_some(), succeeds);
        if let Some(strong) = strong {
            strong.read();
        }
        let found = other.unwrap().join().unwrap();
        assert!(succeeds || !found);
    });
}

#[test]
fn a_cyclic_object_is_published_whole() {
    cyclic(true);
}

#[test]
fn an_object_whose_constructor_panics_never_appears() {
    cyclic(false);
}
