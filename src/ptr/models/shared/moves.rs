//! Entries that move while a death looks for one.

use super::*;
use crate::thread::ThreadNumber;

/// C3: the array that a death has found is not freed before the death has left the array.
#[test]
fn a_move_against_the_death() {
    check_entry(LIGHT, |a, map| {
        both(move || drop(a), || map.grow());
        assert_eq!(map.drain(), 1);
        assert!(map.is_empty());
    });
}

/// Two moves: the entries may have moved out of the array that a death has found, when the death
/// gets there.
#[test]
fn two_moves_against_the_death() {
    check_entry(LIGHT, |a, map| {
        both(
            move || drop(a),
            || {
                map.grow();
                map.grow();
            },
        );
        assert_eq!(map.drain(), 1);
    });
}

#[test]
fn a_move_against_two_deaths() {
    check_some(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        all_three(move || drop(a), move || drop(b), || map.grow());
        assert_eq!(map.drain(), 2);
    });
}

#[test]
fn a_move_and_the_end_of_the_collection_against_the_death() {
    check_entry(LIGHT, |a, map| {
        both(
            move || drop(a),
            || {
                map.grow();
                drop(map);
            },
        );
    });
}

/// Drops an object on a thread whose own stripe is an added stripe, if there are added stripes.
fn drop_at_an_added_stripe<T>(object: T) {
    ThreadNumber::set(2);
    drop(object);
}

/// C5: one thread adds stripes while another thread passes the stripes.
#[test]
fn a_move_against_added_stripes_and_a_death() {
    check_entry(LIGHT, |a, map| {
        let core = map.core;
        all_three(
            move || drop_at_an_added_stripe(a),
            move || core.widen(),
            || map.grow(),
        );
        assert_eq!(map.drain(), 1);
        assert!(map.is_empty());
    });
}

/// C5: two threads add stripes; the death and the end of the collection find the same ones.
#[test]
fn added_stripes_and_the_end_of_the_collection_against_the_death() {
    check_entry(LIGHT, |a, map| {
        let core = map.core;
        both(move || core.widen(), || core.widen());
        both(move || drop_at_an_added_stripe(a), || drop(map));
    });
}
