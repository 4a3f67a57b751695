//! Registrations with a record, and registrations that get a record.

use super::*;

/// Checks a removal against `inflate`, which makes a record for a registration with the block.
fn check_inflation(inflate: fn(&Strong<Payload>)) {
    check_object(LIGHT, move |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        let (_, removed) = both(
            move || {
                inflate(&b);
                drop(b);
            },
            || {
                let removed = map.unlink(0);
                removed.iter().for_each(Unlinked::end);
                drop(a);
                removed
            },
        );
        assert_eq!(usize::from(removed.is_some()) + map.drain(), 1);
        assert!(map.is_empty());
    });
}

#[test]
fn a_downgrade_against_a_removal_then_death() {
    check_inflation(|a| drop(Strong::downgrade(a)));
}

#[test]
fn a_finalizer_against_a_removal_then_death() {
    check_inflation(|a| drop(Strong::finalize(a, || {})));
}

#[test]
fn an_entry_of_another_collection_against_a_removal_then_death() {
    check_inflation(|a| drop(Shared::of(&[a])));
}

#[test]
fn an_entry_of_a_collection_of_one_owner_against_a_removal_then_death() {
    check_inflation(|a| drop(Map::of(&[a])));
}

/// A weak pointer stays after the end of the collection.
#[test]
fn a_downgrade_against_the_end_of_the_collection() {
    check_object(BOTH, |a| {
        let map = Shared::of(&[&a]);
        let (weak, _) = both(
            move || {
                let weak = Strong::downgrade(&a);
                drop(a);
                weak
            },
            || drop(map),
        );
        assert!(!peek(&weak));
    });
}

/// A weak pointer is made as by `iter_weak`: from the entry alone, which another thread may unlink
/// meanwhile.
#[test]
fn a_downgrade_of_an_entry_against_its_removal_and_its_death() {
    check_object(LIGHT, |a| {
        let map = Shared::of(&[&a]);
        let (its, watch) = (map.lend(), map.look(0).unwrap());
        let (removed, weak) = both(
            move || {
                drop(a);
                its.unlink(0).inspect(Unlinked::end)
            },
            || watch.downgrade(),
        );
        if let Some(weak) = weak {
            assert!(!peek(&weak));
        }
        assert_eq!(usize::from(removed.is_some()) + map.drain(), 1);
    });
}

/// A weak pointer is made from the entry alone, while another thread removes the entry; the object
/// lives.
#[test]
fn a_downgrade_of_an_entry_against_its_removal() {
    check_object(LIGHT, |a| {
        let map = Shared::of(&[&a]);
        let (its, watch) = (map.lend(), map.look(0).unwrap());
        let (removed, weak) = both(
            move || its.unlink(0).inspect(Unlinked::end),
            || watch.downgrade().expect("the object lives"),
        );
        drop(removed);
        drop(a);
        assert!(!peek(&weak));
        assert_eq!(map.drain(), 0);
    });
}

/// A weak pointer is made from an entry that is being destroyed, whether a removal or the death of
/// its object has unlinked the entry. The pointer is then like any other weak pointer.
#[test]
fn an_entry_that_ends_becomes_a_weak_pointer() {
    check_entry(EACH, |a, map| {
        let (_, removed) = both(
            move || drop(a),
            || map.unlink(0).and_then(Unlinked::into_weak),
        );
        let weak = removed.or_else(|| map.take().pop()?.into_weak()).unwrap();
        let other = weak.clone();
        assert!(weak == other && !peek(&weak));
        both(move || drop(weak), || drop(other));
        assert_eq!(map.drain(), 0);
    });
}

/// As above, while another thread makes and drops weak pointers.
#[test]
fn an_entry_that_ends_becomes_a_weak_pointer_beside_others() {
    check_entry(LIGHT, |a, map| {
        let (there, b) = (Strong::downgrade(&a), a.clone());
        let (_, weak) = both(
            move || drop((there, Strong::downgrade(&b), b)),
            || {
                drop(a);
                map.unlink(0).and_then(Unlinked::into_weak)
            },
        );
        let weak = weak.or_else(|| map.take().pop()?.into_weak()).unwrap();
        assert!(!peek(&weak));
    });
}

/// An entry that was replaced by an entry of the same object has no share of the object any more.
#[test]
fn an_entry_that_was_replaced_becomes_no_weak_pointer() {
    check_entry(LIGHT, |a, map| {
        let old = map.replace(0, &a);
        let (_, weak) = both(move || drop(a), || old.into_weak());
        assert!(weak.is_none());
        assert_eq!(map.drain(), 1);
    });
}

/// Checks a model of two entries of one collection, for one object.
fn check_two_entries(
    besides: &'static [Beside],
    model: impl Fn(Strong<Payload>, Shared) + Send + Sync + Copy + 'static,
) {
    check_object(besides, move |a| {
        let map = Shared::of(&[&a, &a]);
        model(a, map);
    });
}

#[test]
fn a_death_with_two_entries_of_a_collection_against_a_removal() {
    for slot in [0, 1] {
        check_two_entries(EACH, move |a, map| {
            let (_, removed) = both(move || drop(a), || map.remove(slot));
            assert_eq!(usize::from(removed) + map.drain(), 2);
            assert!(map.is_empty());
        });
    }
}

#[test]
fn a_death_with_two_entries_against_the_end_of_the_collection() {
    check_two_entries(EACH, |a, map| {
        both(move || drop(a), || drop(map));
    });
}

/// The record stays closed: the end of the collection has ended the registrations of the record.
#[test]
fn a_death_with_two_entries_after_the_end_of_the_collection() {
    check_two_entries(LIGHT, |a, map| {
        let b = a.clone();
        both(move || drop(b), || drop(map));
        drop(a);
    });
}

#[test]
fn two_entries_are_made_at_once() {
    check_object(BOTH, |a| {
        let map = Shared::new();
        let (there, b) = (map.lend(), a.clone());
        both(
            move || {
                there.insert(&b);
                drop(b);
            },
            || {
                map.insert(&a);
                drop(a);
            },
        );
        assert_eq!(map.drain(), 2);
    });
}

/// An entry is removed while another entry of the same object is made: the new entry is the first
/// of the record, or the second.
#[test]
fn an_entry_is_made_while_another_is_removed_then_death() {
    check_object(BOTH, |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        let there = map.lend();
        both(
            move || {
                there.insert(&b);
                drop(b);
            },
            || {
                assert!(map.remove(0));
                drop(a);
            },
        );
        assert_eq!(map.drain(), 1);
        assert!(map.is_empty());
    });
}

#[test]
fn a_death_with_entries_of_two_collections_against_a_removal() {
    check_object(LIGHT, |a| {
        let maps = [(); 2].map(|()| Shared::of(&[&a]));
        let (_, removed) = both(move || drop(a), || maps[1].remove(0));
        assert_eq!(maps[0].drain(), 1);
        assert_eq!(usize::from(removed) + maps[1].drain(), 1);
    });
}

#[test]
fn a_death_with_entries_of_two_collections_against_the_end_of_one() {
    for end in [0, 1] {
        check_object(LIGHT, move |a| {
            let mut maps = Vec::from([(); 2].map(|()| Shared::of(&[&a])));
            let map = maps.remove(end);
            both(move || drop(a), || drop(map));
            assert_eq!(maps[0].drain(), 1);
        });
    }
}

/// One collection has one owner, and gets a notice. The two registrations are the first and the
/// second of the record, the second and a hook, or two hooks.
#[test]
fn a_death_with_entries_of_both_kinds_against_removals() {
    for others in [0, 1, 2] {
        check_object(LIGHT, move |a| {
            let others = Vec::from_iter((0..others).map(|_| Map::of(&[&a])));
            let map = Shared::of(&[&a]);
            let mut own = Map::of(&[&a]);
            let (_, removed) = both(move || drop(a), || map.remove(0));
            assert_eq!(usize::from(removed) + map.drain(), 1);
            assert_eq!(own.drain(), 1);
            drop(others);
        });
        check_object(LIGHT, move |a| {
            let others = Vec::from_iter((0..others).map(|_| Map::of(&[&a])));
            let mut own = Map::of(&[&a]);
            let map = Shared::of(&[&a]);
            both(
                move || drop(a),
                || {
                    own.drain();
                    drop(own);
                },
            );
            assert_eq!(map.drain(), 1);
            drop(others);
        });
    }
}
