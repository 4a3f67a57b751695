//! Entries that need two objects, and entries that are published after their registration.

use super::*;

/// Checks a model of an entry for two objects, the second object with each of `besides`.
fn check_pair(
    besides: &'static [Beside],
    model: impl Fn(Strong<Payload>, Strong<Payload>, Shared) + Send + Sync + Copy + 'static,
) {
    for beside in besides {
        check(2, move |maker| {
            let (a, (b, _beside)) = (maker.object(), beside.object(maker));
            let map = Shared::new();
            map.insert_pair(&a, &b);
            model(a, b, map);
        });
    }
}

/// The entry is unlinked once, and both registrations are ended once.
#[test]
fn both_objects_of_an_entry_die() {
    check_pair(EACH, |a, b, map| {
        both(move || drop(a), || drop(b));
        assert_eq!(map.drain(), 1);
        assert!(map.is_empty());
    });
}

/// The count of registrations is right also if the collection ends meanwhile.
#[test]
fn both_objects_of_an_entry_die_against_the_end_of_the_collection() {
    for beside in BOTH {
        check_some(2, move |maker| {
            let (a, (b, _beside)) = (maker.object(), beside.object(maker));
            let map = Shared::new();
            map.insert_pair(&a, &b);
            all_three(move || drop(a), move || drop(b), || drop(map));
        });
    }
}

/// The first death ends the other registration: the last handle to the other object may be leaked,
/// or dropped after the end of the collection.
#[test]
fn the_second_object_of_an_entry_dies_after_the_collection() {
    check_pair(BOTH, |a, b, map| {
        both(move || drop(a), || drop(map));
        drop(b);
    });
}

#[test]
fn a_death_against_the_removal_of_a_pair() {
    check_pair(BOTH, |a, b, map| {
        let (_, removed) = both(move || drop(b), || map.remove(0));
        assert_eq!(usize::from(removed) + map.drain(), 1);
        drop(a);
        assert_eq!(map.drain(), 0);
    });
}

/// The first death has ended the other registration: nothing weak is left of the registration.
#[test]
fn get_mut_of_the_second_object_after_the_death_of_the_first() {
    check_pair(BOTH, |a, mut b, map| {
        both(
            move || drop(a),
            || {
                write_if_alone(&mut b);
            },
        );
        assert_eq!(map.drain(), 1);
        assert!(write_if_alone(&mut b));
    });
}

/// After the first death, the second death has no entry to look for.
#[test]
fn the_first_death_ends_the_other_registration() {
    check_pair(LIGHT, |a, b, map| {
        both(move || drop(a), || drop(Strong::downgrade(&b)));
        let dead = map.take();
        assert_eq!(Strong::weak_count(&b), 1);
        drop(dead);
        assert_eq!(Strong::weak_count(&b), 0);
    });
    check_pair(LIGHT, |a, _b, map| {
        drop(a);
        let dead = map.take();
        assert!(!dead[0].0.watches[1].watch().is_registered());
    });
}

/// The entry has the same object twice.
#[test]
fn the_death_of_both_objects_at_once() {
    check(1, |maker| {
        let a = maker.object();
        let map = Shared::new();
        map.insert_pair(&a, &a);
        let (_, removed) = both(move || drop(a), || map.remove(0));
        assert_eq!(usize::from(removed) + map.drain(), 1);
    });
}

/// No entry stays if the death of its input has looked for the entry too early.
#[test]
fn an_entry_is_published_while_its_input_dies() {
    check_object(BOTH, |a| {
        let map = Shared::new();
        let input = SharedWatchOf::of(SharedWatch::registered(&a, map.core.count(), HASH));
        both(move || drop(a), || map.insert_if_registered(input));
        map.drain();
        assert!(map.is_empty());
    });
}

/// The input has a record when the entry is published, or has no record yet.
#[test]
fn an_entry_is_published_while_its_input_gets_a_record() {
    check_object(LIGHT, |a| {
        let map = Shared::new();
        let input = SharedWatchOf::of(SharedWatch::registered(&a, map.core.count(), HASH));
        both(
            move || {
                drop(Strong::downgrade(&a));
                drop(a);
            },
            || map.insert_if_registered(input),
        );
        map.drain();
        assert!(map.is_empty());
    });
}

/// An entry is published while its input dies, and the collection ends at once.
#[test]
fn an_entry_is_published_before_the_end_of_the_collection() {
    check_object(BOTH, |a| {
        let map = Shared::new();
        let input = SharedWatchOf::of(SharedWatch::registered(&a, map.core.count(), HASH));
        both(
            move || drop(a),
            || {
                map.insert_if_registered(input);
                drop(map);
            },
        );
    });
}
