//! The end of a registration and of a map.

use super::*;
use crate::queue::NoticeQueue;

#[test]
fn death_against_deregistration() {
    check_entry(EACH, |a, mut map| {
        both(move || drop(a), || map.remove(0));
        // A notice that has come is late; after the removal no notice comes.
        assert_eq!(map.pending(), 0);
        assert!(!map.drain_one());
        assert!(map.queue.is_idle());
    });
}

#[test]
fn death_against_the_drop_of_the_map() {
    check_entry(
        &[Beside::Nothing, Beside::Weak, Beside::Record],
        |a, map| {
            both(move || drop(a), || drop(map));
        },
    );
}

/// A removal, a drain and a drop, one after the other.
#[test]
fn death_against_all_that_a_map_does() {
    check_entry(EACH, |a, mut map| {
        both(
            move || drop(a),
            || {
                map.remove(0);
                assert!(!map.drain_one());
                drop(map);
            },
        );
    });
}

/// The notices are a block and a record.
#[test]
fn two_deaths_against_the_drop_of_the_map() {
    check_two_entries(|a, b, map| {
        all_three(move || drop(a), move || drop(b), || drop(map));
    });
}

/// Entries were leaked, perhaps with an iterator: their objects die after the end of the map.
#[test]
fn deaths_of_leaked_entries() {
    check_each(EACH, 2, |maker, beside| {
        let (a, _kept) = object(maker, beside);
        let (b, _kept) = object(maker, beside);
        let mut map = Map::of(&[&a, &b]);
        core::mem::forget(map.entries[0].take());
        all_three(move || drop(a), move || drop(b), || drop(map));
    });
}

/// The same with a hook: its memory is freed with the queue.
#[test]
fn deaths_of_leaked_hooks() {
    check(1, |maker| {
        let a = maker.object();
        let mut map = Map::of(&[&a, &a, &a]);
        core::mem::forget(map.entries[2].take());
        both(move || drop(a), || drop(map));
    });
}

#[test]
fn death_against_the_ends_of_two_maps() {
    check(1, |maker| {
        let a = maker.object();
        let (one, two) = (Map::of(&[&a]), Map::of(&[&a]));
        all_three(move || drop(a), move || drop(two), || drop(one));
    });
}

#[test]
fn death_against_the_ends_of_two_maps_in_turn() {
    check_each(&[Beside::Nothing, Beside::OneEntry], 1, |maker, beside| {
        let (a, _kept) = object(maker, beside);
        let (one, mut two) = (Map::of(&[&a]), Map::of(&[&a]));
        both(
            move || drop(a),
            || {
                drop(one);
                two.drain();
                drop(two);
            },
        );
    });
}

#[test]
fn inflation_against_deregistration() {
    check_entry(NOTHING, |a, mut map| {
        let b = a.clone();
        both(
            move || {
                let weak = Strong::downgrade(&a);
                drop(a);
                assert!(weak.upgrade().is_some());
            },
            || map.remove(0),
        );
        assert!(map.queue.is_idle());
        drop(b);
        assert!(map.queue.is_idle());
    });
}

#[test]
fn inflation_and_death_against_deregistration() {
    check_entry(NOTHING, |a, mut map| {
        both(
            move || {
                let weak = Strong::downgrade(&a);
                drop(a);
                assert!(!peek(&weak));
            },
            || map.remove(0),
        );
        assert_eq!(map.pending(), 0);
    });
}

#[test]
fn two_inflations_against_deregistration() {
    check_entry(NOTHING, |a, mut map| {
        let b = a.clone();
        all_three(
            move || drop(Strong::downgrade(&a)),
            move || drop(Strong::finalize(&b, || {})),
            || {
                map.remove(0);
                drop(map);
            },
        );
    });
}

/// A second map makes the record while the first map removes its entry. Then the object dies while
/// the second map drains.
#[test]
fn a_second_map_against_the_end_of_the_first() {
    check(1, |maker| {
        let a = maker.object();
        let mut one = Map::of(&[&a]);
        both(
            move || {
                let mut two = Map::hashing_from(8);
                two.put(&a);
                drop(a);
                assert_eq!(two.drain(), 1);
            },
            || one.remove(0),
        );
        assert_eq!(one.pending(), 0);
    });
}

/// A map registers after the registration of another map has ended. The block then has the new
/// hash, wherever the two hashes were stored, and also if `get_mut` came in between.
#[test]
fn get_mut_and_a_second_map_after_the_end_of_the_first() {
    check(1, |maker| {
        let mut a = maker.object();
        let (b, c) = (a.clone(), a.clone());
        all_three(
            move || put_and_remove(1, &b),
            move || put_and_remove(8, &c),
            || write_if_alone(&mut a),
        );
    });
}

/// The same, but the second map makes a record, after the object has returned to the state that the
/// map has read before.
#[test]
fn a_second_map_that_makes_a_record_after_the_end_of_the_first() {
    check(1, |maker| {
        let a = maker.object();
        let (b, weak) = (a.clone(), Strong::downgrade(&a));
        both(
            move || {
                drop(weak);
                put_and_remove(1, &a);
                Strong::downgrade(&a)
            },
            move || put_and_remove(8, &b),
        );
    });
}

/// Inserts and removes an entry. The removal finds the entry by the hash of its registration.
fn put_and_remove(hash: u32, a: &Strong<Payload>) {
    let mut map = Map::hashing_from(hash);
    map.put(a);
    assert!(map.remove(0));
}

#[test]
fn two_maps_at_once() {
    check_each(
        &[
            Beside::Nothing,
            Beside::PastWeak,
            Beside::Weak,
            Beside::Record,
        ],
        1,
        |maker, beside| {
            let (a, _kept) = object(maker, beside);
            let b = a.clone();
            both(
                move || {
                    let mut two = Map::hashing_from(8);
                    two.put(&b);
                    drop(b);
                    two.drain();
                },
                move || {
                    let mut one = Map::new();
                    one.put(&a);
                    drop(a);
                    one.drain();
                },
            );
        },
    );
}

/// A thread is about to make a record from the state `THIN`. Meanwhile the owner ends the
/// registration, and another map registers: the state is `THIN` again, with another map and another
/// hash.
#[test]
fn a_registration_in_place_of_another_against_inflation() {
    check(1, |maker| {
        let a = maker.object();
        let (mut one, mut two) = (Map::of(&[&a]), Map::hashing_from(8));
        let b = a.clone();
        both(
            move || downgrade_and_drop(b),
            || {
                one.remove(0);
                two.put(&a);
                drop(a);
            },
        );
        assert!(one.queue.is_idle());
        assert_eq!(two.drain(), 1);
    });
}

/// The destructor of a payload ends the map whose only entry is for the same object, while another
/// map ends.
#[test]
fn a_destructor_ends_the_map_of_its_object() {
    use crate::ptr::models::Thing;
    use std::sync::{Arc, Mutex};

    struct Owner(Arc<Mutex<Option<Map<Owner>>>>);
    impl Thing for Owner {
        fn payload(&self) -> &Payload {
            unreachable!("the model does not read it")
        }
    }
    impl Drop for Owner {
        fn drop(&mut self) {
            let map = self.0.lock().unwrap().take();
            assert!(!map.as_ref().unwrap().entry(0).is_at(core::ptr::null()));
            drop(map);
        }
    }

    for has_another in [false, true] {
        check(0, move |_| {
            let place = Arc::new(Mutex::new(None));
            let a = Strong::new(Owner(place.clone()));
            *place.lock().unwrap() = Some(Map::of(&[&a]));
            let another = has_another.then(|| Map::of(&[&a]));
            both(move || drop(a), || drop(another));
        });
    }
}

/// One object has many registrations. Between its notices, the death lets other threads through the
/// gate.
#[test]
fn a_long_death_against_deregistrations() {
    check(1, |maker| {
        let a = maker.object();
        let mut map = Map::of(&[&a, &a, &a, &a]);
        let token = Strong::finalize(&a, || {});
        both(
            move || drop(a),
            || {
                map.remove(2);
                // (The second removal finds the death at a later step.)
                map.remove(0);
                if token.detach().is_none() {
                    assert!(!token.is_pending());
                }
            },
        );
        assert_eq!(map.drain(), 2);
        assert!(map.queue.is_idle());
    });
}

#[test]
fn a_long_death_against_the_end_of_the_map() {
    check(1, |maker| {
        let a = maker.object();
        let map = Map::of(&[&a, &a, &a]);
        both(move || drop(a), || drop(map));
    });
}

#[test]
fn a_long_death_against_a_token_that_goes() {
    check(1, |maker| {
        let a = maker.object();
        let token = Strong::finalize(&a, || {});
        let mut map = Map::of(&[&a, &a, &a]);
        both(move || drop(a), || drop(token));
        assert_eq!(map.drain(), 3);
    });
}

/// A hook is taken back, and serves another object while the first object dies.
#[test]
fn a_hook_is_used_again() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let mut map = Map::of(&[&a, &a, &a, &b, &b]);
        both(
            move || drop(a),
            || {
                map.remove(2);
                map.put(&b);
                drop(b);
            },
        );
        assert_eq!(map.drain(), 5);
    });
}
