//! Deaths against threads that unlink the same entry or end the collection at the same time.

use std::sync::Arc;

use super::*;
use crate::sync::Mutex;

#[test]
fn death_and_drain() {
    check_entry(EACH, |a, map| {
        let (_, early) = both(move || drop(a), || map.drain());
        assert_eq!(early + map.drain(), 1);
        assert!(map.is_empty());
    });
}

#[test]
fn death_against_the_end_of_the_collection() {
    check_entry(EACH, |a, map| {
        both(move || drop(a), || drop(map));
    });
}

#[test]
fn death_of_a_payload_apart_against_the_end_of_the_collection() {
    check(1, |maker| {
        let a = maker.large();
        let map = Shared::of(&[&a]);
        both(move || drop(a), || drop(map));
    });
}

#[test]
fn two_deaths_against_the_end_of_the_collection() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = Shared::of(&[&a, &b]);
        all_three(move || drop(a), move || drop(b), || drop(map));
    });
}

/// As long as an entry leads to a payload apart, its memory is no other object's.
#[test]
fn the_entry_goes_before_a_payload_apart() {
    check(1, |maker| {
        let a = maker.large();
        let block = a.block();
        let map = Shared::of(&[&a]);
        both(
            move || drop(a),
            || {
                let is_freed = map
                    .bucket()
                    .locked(|slots| !slots[0].is_null() && block.payload_is_freed());
                assert!(!is_freed, "an entry leads there");
            },
        );
        assert_eq!(map.drain(), 1);
    });
}

/// A handle is leaked, or outlives the collection: the object's death counts the last registration.
#[test]
fn death_after_the_end_of_the_collection() {
    check_object(EACH, |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        both(move || drop(b), || drop(map));
        drop(a);
    });
}

/// A thread that has found the collection registers a watch without an entry, and perhaps does not
/// find the collection afterwards. (The list here plays the list of a flight.)
#[test]
fn a_registration_against_the_end_of_the_collection() {
    check_object(EACH, |a| {
        let map = Shared::<Payload>::new();
        let (core, list) = (map.core, Arc::new(Mutex::new(Some(Vec::new()))));
        let lists = {
            let list = Arc::clone(&list);
            move || {
                let Some(counted) = list.lock().as_ref().map(|_| core.count()) else {
                    return;
                };
                let mut watch = Some(SharedWatch::registered(&a, counted, HASH));
                if let Some(list) = &mut *list.lock() {
                    list.extend(watch.take());
                }
                watch.into_iter().for_each(SharedWatch::leave);
            }
        };
        both(lists, || {
            drop(list.replace(None));
            drop(map);
        });
    });
}

#[test]
fn death_against_a_removal() {
    check_entry(EACH, |a, map| {
        let (_, removed) = both(move || drop(a), || map.remove(0));
        assert_eq!(usize::from(removed) + map.drain(), 1);
        assert!(map.is_empty());
    });
}

#[test]
fn death_of_a_payload_apart_against_a_removal() {
    check(1, |maker| {
        let a = maker.large();
        let map = Shared::of(&[&a]);
        let (_, removed) = both(move || drop(a), || map.remove(0));
        assert_eq!(usize::from(removed) + map.drain(), 1);
    });
}

/// The registration of the watch has ended, and the watch has a share until its grace period is
/// over.
#[test]
fn death_against_a_removal_with_a_grace_period() {
    check_entry(EACH, |a, map| {
        let (_, removed) = both(
            move || drop(a),
            || {
                let removed = map.unlink(0);
                removed.iter().for_each(Unlinked::end);
                removed
            },
        );
        assert_eq!(usize::from(removed.is_some()) + map.drain(), 1);
        removed
            .iter()
            .for_each(|removed| assert!(removed.watch().watch().is_expired()));
    });
}

#[test]
fn death_against_a_removal_and_the_end_of_the_collection() {
    check_entry(BOTH, |a, map| {
        both(
            move || drop(a),
            || {
                map.remove(0);
                drop(map);
            },
        );
    });
}

/// A reader that has found the entry has the block as long as the reader stays.
#[test]
fn a_reader_against_a_removal_and_the_death() {
    check_entry(EACH, |a, map| {
        let there = map.lend();
        let (_, removed) = both(
            move || {
                let watch = there.look(0)?;
                watch.upgrade().map(read_and_drop)
            },
            || {
                let removed = map.unlink(0);
                removed.iter().for_each(Unlinked::end);
                drop(a);
                removed
            },
        );
        assert_eq!(usize::from(removed.is_some()) + map.drain(), 1);
    });
}

#[test]
fn a_reader_against_the_death() {
    check_entry(EACH, |a, map| {
        let there = map.lend();
        both(
            move || {
                let watch = there.look(0)?;
                watch.upgrade().map(read_and_drop)
            },
            || drop(a),
        );
        assert_eq!(map.drain(), 1);
    });
}

/// The object is inserted again before or after the registration of the removed entry has ended.
/// Each death, and each end of a registration, belongs to its own entry.
#[test]
fn an_object_is_inserted_again_while_it_dies_on_another_thread() {
    check_object(LIGHT, |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        let (_, removed) = both(
            move || drop(b),
            || {
                let removed = map.unlink(0).unwrap();
                map.insert(&a);
                drop(a);
                removed
            },
        );
        assert_eq!(map.drain(), 1);
        drop(removed);
        assert!(map.is_empty());
    });
}

/// The thread that ends the first entry is not the thread that inserts the next.
#[test]
fn an_object_is_inserted_again_while_another_ends_the_first_entry() {
    check_entry(BOTH, |a, map| {
        let removed = map.unlink(0).unwrap();
        both(
            move || {
                removed.end();
                drop(removed);
            },
            || {
                map.insert(&a);
                drop(a);
            },
        );
        assert_eq!(map.drain(), 1);
        assert!(map.is_empty());
    });
}

#[test]
fn an_entry_that_inherits_against_the_death() {
    check_object(BOTH, |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        let (_, old) = both(
            move || drop(b),
            || {
                let old = map.replace(0, &a);
                drop(a);
                old
            },
        );
        assert_eq!(map.drain(), 1);
        drop(old);
    });
}

/// A reader of the replaced entry still has the block.
#[test]
fn an_entry_that_inherits_against_a_reader() {
    check_entry(LIGHT, |a, map| {
        let there = map.lend();
        let (_, old) = both(
            move || there.look(0)?.upgrade().map(read_and_drop),
            || {
                let old = map.replace(0, &a);
                drop(a);
                old
            },
        );
        drop(old);
        assert_eq!(map.drain(), 1);
    });
}

/// An entry inherits the registration, and is then removed.
#[test]
fn an_entry_that_inherits_is_removed_at_the_death() {
    check_object(LIGHT, |a| {
        let map = Shared::of(&[&a]);
        let b = a.clone();
        let (_, removed) = both(
            move || drop(b),
            || {
                drop(map.replace(0, &a));
                drop(a);
                map.remove(0)
            },
        );
        assert_eq!(usize::from(removed) + map.drain(), 1);
    });
}

/// Nothing weak is left once an entry was removed.
#[test]
fn get_mut_after_a_removal() {
    check_object(BOTH, |mut a| {
        let map = Shared::of(&[&a]);
        assert!(!write_if_alone(&mut a));
        let there = map.lend();
        both(
            move || assert!(there.remove(0)),
            || {
                write_if_alone(&mut a);
            },
        );
        assert!(write_if_alone(&mut a));
    });
}

/// While the reader upgrades, `a` is not the only pointer.
#[test]
fn get_mut_against_a_reader_and_a_removal() {
    check_entry(LIGHT, |mut a, map| {
        let there = map.lend();
        let (_, removed) = both(
            move || there.look(0)?.upgrade().map(read_and_drop),
            || {
                let removed = map.unlink(0).unwrap();
                removed.end();
                write_if_alone(&mut a);
                removed
            },
        );
        drop(removed);
        assert!(write_if_alone(&mut a));
    });
}
