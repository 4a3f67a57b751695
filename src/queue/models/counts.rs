//! The number of notices, and late notices.

use super::*;
use crate::queue::NoticeQueue;

/// A count is right while notices come, and so is the next count.
#[test]
fn counting_against_two_deaths() {
    check_two_entries(|a, b, mut map| {
        let one = thread::spawn(move || drop(a));
        let two = thread::spawn(move || drop(b));
        let first = map.queue.count();
        let second = map.queue.count();
        assert!(first <= second && second <= 2);
        // The batch has notices below and above the counted notice.
        if map.drain_one() {
            assert!(map.queue.count() <= 1);
        }
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(map.queue.count(), map.drain());
        assert_eq!(map.queue.count(), 0);
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
        let (one, two) = both(move || its.queue.count(), || map.queue.count());
        assert!(one.min(two) >= 1 && one.max(two) <= 2);
        death.join().unwrap();
        assert_eq!(map.queue.count(), 2);
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
                    assert_eq!(map.pending(), 0);
                }
            }
            one.join().unwrap();
            two.join().unwrap();
            if gone == 0 {
                assert_eq!(map.pending(), 2);
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
                assert_eq!(map.pending(), 0);
                assert!(!map.drain_one());
            },
        );
        assert_eq!(map.pending(), 0);
        drop(new);
        assert_eq!(map.pending(), 1);
        assert_eq!(map.drain(), 1);
        assert!(map.queue.is_idle());
    });
}
