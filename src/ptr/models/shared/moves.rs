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

/// C7: a list becomes full, while a change takes from full lists. Afterwards the list is known if
/// it is full, and only then.
#[test]
fn a_full_list_against_a_change() {
    check_some(2, |maker| {
        let all = [(); 2].map(|()| maker.object());
        let map = Shared::of(&all.each_ref());
        ThreadNumber::set(1);
        let ((), taken) = both(move || drop(all), || map.take_full());
        assert_eq!(taken + map.take_full(), 2);
        assert_eq!(map.take_full(), 0);
    });
}

/// C5, C7: the full list is of a stripe that is added meanwhile.
#[test]
fn a_full_list_of_an_added_stripe_against_a_change() {
    check_some(2, |maker| {
        let all = [(); 2].map(|()| maker.object());
        let map = Shared::of(&all.each_ref());
        let core = map.core;
        ThreadNumber::set(1);
        let (_, (), taken) = all_three(
            move || drop_at_an_added_stripe(all),
            move || core.widen(),
            || map.take_full(),
        );
        let mut sum = taken + map.take_full();
        for at in 0..core.stripes() {
            let left = map.take_from(at).len();
            assert!(left < 2, "a full list is not known");
            sum += left;
        }
        assert_eq!(sum, 2);
    });
}
