//! The number of notices, and late notices.

use super::*;
use crate::queue::NoticeQueue;

/// A count is right while notices come, and so is the next count.
#[test]
fn counting_against_two_deaths() {
    check_two_entries(|a, b, mut map| {
        let one = thread::spawn(move || drop(a));
        let two = thread::spawn(move || drop(b));
        let first = map.queue.pending();
        let second = map.queue.pending();
        assert!(first <= second && second <= 2);
        // The batch has notices below and above the counted notice.
        if map.drain_one() {
            assert!(map.queue.pending() <= 1);
        }
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(map.queue.pending(), map.drain());
        assert_eq!(map.queue.pending(), 0);
    });
}

/// Threads that read one collection may count at the same time.
#[test]
fn two_count_at_once() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let map = loom::sync::Arc::new(Map::of(&[&a, &b]));
        drop(a);
        let its = map.clone();
        let death = thread::spawn(move || drop(b));
        let (one, two) = both(move || its.queue.pending(), || map.queue.pending());
        assert!(one.min(two) >= 1 && one.max(two) <= 2);
        death.join().unwrap();
        assert_eq!(map.queue.pending(), 2);
    });
}

/// After a look, each entry knows whether its notice was counted.
#[test]
fn looking_against_two_deaths() {
    check_two_entries(|a, b, mut map| {
        let one = thread::spawn(move || drop(a));
        let two = thread::spawn(move || drop(b));
        let early = usize::from(map.drain_one());
        let (total, seen) = map.queue.look();
        let marked = |map: &Map| {
            let there = map.entries.iter().flatten();
            there.filter(|watch| watch.is_seen(&seen)).count()
        };
        assert_eq!(marked(&map), total);
        one.join().unwrap();
        two.join().unwrap();
        // A later notice does not count.
        assert_eq!(marked(&map), total);
        assert_eq!(early + map.drain(), 2);
    });
}

/// One thread counts while another thread looks: the rest of a batch stays marked for the look.
#[test]
fn counting_while_another_looks() {
    check(2, |maker| {
        let (a, b) = (maker.object(), maker.object());
        let mut map = Map::of(&[&a, &b]);
        drop(a);
        drop(b);
        assert!(map.drain_one());
        let map = loom::sync::Arc::new(map);
        let its = map.clone();
        let (counted, ()) = both(
            move || its.queue.pending(),
            || {
                let (total, seen) = map.queue.look();
                let there = map.entries.iter().flatten();
                let marked = there.filter(|watch| watch.is_seen(&seen)).count();
                assert_eq!((total, marked), (1, 1));
            },
        );
        assert_eq!(counted, 1);
    });
}

/// An entry with two objects, as in a map of pairs, has a registration with each object. The first
/// death removes the entry. The notice of the second object is late, whether it has come or is
/// coming.
#[test]
fn both_objects_of_an_entry_die() {
    for has_record in [false, true] {
        check(2, move |maker| {
            let beside = if has_record {
                Beside::Record
            } else {
                Beside::Nothing
            };
            let (key, _) = object(maker, beside);
            let value = maker.object();
            let mut map = Map::of(&[&key, &value]);
            let one = thread::spawn(move || drop(key));
            let two = thread::spawn(move || drop(value));
            let mut gone = 0;
            for _ in 0..2 {
                if map.drain_one() {
                    gone += 1;
                    let other = usize::from(map.entries[0].is_none());
                    map.remove(other);
                    assert_eq!(map.queue.pending(), 0);
                }
            }
            one.join().unwrap();
            two.join().unwrap();
            if gone == 0 {
                assert_eq!(map.queue.pending(), 2);
                assert!(map.drain_one());
                let other = usize::from(map.entries[0].is_none());
                map.remove(other);
            }
            assert!(gone <= 1);
            assert!(!map.drain_one());
            assert!(map.queue.is_idle());
        });
    }
}

/// An entry is replaced while its object dies. If the notice comes, it does not remove the new
/// entry.
#[test]
fn a_late_notice_is_not_for_the_next_entry() {
    check_each(EACH, 2, |maker, beside| {
        let (old, _kept) = object(maker, beside);
        let new = maker.object();
        let mut map = Map::of(&[&old]);
        both(
            move || drop(old),
            || {
                map.remove(0);
                map.put(&new);
                assert_eq!(map.queue.pending(), 0);
                assert!(!map.drain_one());
            },
        );
        assert_eq!(map.queue.pending(), 0);
        drop(new);
        assert_eq!(map.queue.pending(), 1);
        assert_eq!(map.drain(), 1);
        assert!(map.queue.is_idle());
    });
}

/// The first and the second registration of a record belong to different owners. Each owner uses
/// the depth of its own registration.
#[test]
fn two_owners_count_the_notices_of_one_record() {
    check(1, |maker| {
        let a = maker.object();
        let token = Strong::finalize(&a, || {});
        let (one, mut two) = (Map::of(&[&a]), Map::of(&[&a]));
        all_three(
            move || drop(a),
            move || {
                assert!(one.queue.pending() <= 1);
                let (total, seen) = one.queue.look();
                assert_eq!(one.entry(0).is_seen(&seen), total == 1);
            },
            || {
                let (total, seen) = two.queue.look();
                assert_eq!(two.entry(0).is_seen(&seen), total == 1);
                two.remove(0);
                assert_eq!(two.queue.pending(), 0);
            },
        );
        drop(token);
    });
}

/// A thread that looks for the notice of an entry may find a record that another thread has made.
#[test]
fn looking_against_an_inflation() {
    check_entry(NOTHING, |a, map| {
        both(
            move || drop(Strong::downgrade(&a)),
            || {
                let (total, seen) = map.queue.look();
                assert!(total == 1 || !map.entry(0).is_seen(&seen));
            },
        );
    });
}

/// A late notice keeps its mark through counts and looks.
#[test]
fn what_is_late_stays_late() {
    for (is_counted, is_looked_at) in [(true, false), (false, true)] {
        check(3, move |maker| {
            let keys = [maker.object(), maker.object(), maker.object()];
            let mut map = Map::of(&keys.each_ref());
            drop(keys);
            if is_counted {
                assert_eq!(map.queue.pending(), 3);
            }
            map.remove(1);
            if is_looked_at {
                assert_eq!(map.queue.look().0, 2);
            }
            assert_eq!(map.queue.pending(), 2);
            assert_eq!(map.drain(), 2);
            assert!(map.queue.is_idle());
        });
    }
}
