//! Deaths against upgrades, downgrades and lookups of an entry.

use super::*;
use crate::queue::NoticeQueue;

#[test]
fn two_deaths_into_one_queue() {
    check_two_entries(|a, b, mut map| {
        let one = thread::spawn(move || drop(a));
        let two = thread::spawn(move || drop(b));
        let early = map.drain();
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(early + map.drain(), 2);
        assert!(map.queue.is_idle());
    });
}

/// If no notice is pending, no entry is stale: the memory of an object is reused only after its
/// notice has come.
#[test]
fn the_notice_comes_before_the_memory_goes() {
    check_entry(EACH, |a, mut map| {
        let block = a.block();
        both(
            move || drop(a),
            || {
                let addr = map.entry(0).addr();
                assert!(!block.is_freed(), "the entry keeps it");
                assert!(map.entry(0).is_at(addr));
                if !map.queue.is_idle() {
                    assert_eq!(map.drain(), 1);
                }
            },
        );
    });
}

/// The memory of a payload apart may be reused as soon as it is freed. By then the notice has come,
/// and the entry is no longer at the address of the payload.
#[test]
fn the_notice_comes_before_a_payload_apart_goes() {
    for has_record in [false, true] {
        check(1, move |maker| {
            let a = maker.large();
            if has_record {
                drop(Strong::finalize(&a, || {}).detach());
            }
            let mut map = Map::of(&[&a]);
            let block = a.block();
            let addr = Strong::as_ptr(&a).cast::<()>();
            both(
                move || drop(a),
                || {
                    if block.payload_is_freed() {
                        assert!(!map.queue.is_idle());
                        assert!(!map.entry(0).is_at(addr));
                        assert_eq!(map.drain(), 1);
                    } else {
                        map.peek(0);
                    }
                },
            );
        });
    }
}

#[test]
fn a_payload_apart_against_weak_pointers() {
    check(1, |maker| {
        let a = maker.large();
        let weak: Weak<Large> = Strong::downgrade(&a);
        let addr = Strong::as_ptr(&a);
        both(
            move || drop(a),
            || {
                assert_eq!(weak.as_ptr(), addr);
                peek(&weak);
            },
        );
    });
}

#[test]
fn death_against_the_upgrade_of_an_entry() {
    check_entry(EACH, |a, mut map| {
        both(move || drop(a), || map.peek(0));
        assert_eq!(map.drain(), 1);
    });
}

/// Makes a weak pointer from the entry alone, like `iter_weak`.
#[test]
fn death_against_the_downgrade_of_an_entry() {
    check_entry(EACH, |a, mut map| {
        both(
            move || drop(a),
            || {
                // None if the block is already a notice, which has come or is about to come.
                let weak = map.entry(0).downgrade();
                if let Some(weak) = &weak {
                    peek(weak);
                }
                if map.drain() == 1 {
                    assert!(weak.is_none_or(|weak| weak.is_expired()));
                }
            },
        );
    });
}

#[test]
fn two_downgrades_of_an_entry_against_its_death() {
    check(1, |maker| {
        let a = maker.object();
        // Two threads read one map.
        let map = loom::sync::Arc::new(Map::of(&[&a]));
        let its = map.clone();
        all_three(
            move || drop(a),
            move || drop(its.entry(0).downgrade()),
            || drop(map.entry(0).downgrade()),
        );
    });
}

#[test]
fn the_downgrade_of_an_entry_against_a_downgrade() {
    check_entry(NOTHING, |a, mut map| {
        let (its, mine) = both(
            move || Strong::downgrade(&a),
            || map.entry(0).downgrade().unwrap(),
        );
        assert!(its.is_expired() && mine.is_expired());
        assert_eq!(map.drain(), 1);
    });
}

#[test]
fn a_map_and_a_downgrade_at_once() {
    check(1, |maker| {
        let a = maker.object();
        let b = a.clone();
        both(
            move || downgrade_and_drop(b),
            || {
                let mut map = Map::new();
                map.put(&a);
                drop(a);
                map.drain();
            },
        );
    });
}

#[test]
fn a_map_against_weak_clone_and_drop() {
    check(1, |maker| {
        let a = maker.object();
        let weak = Strong::downgrade(&a);
        both(
            move || clone_and_drop(weak),
            || {
                let mut map = Map::new();
                map.put(&a);
                drop(a);
                assert_eq!(map.drain() + usize::from(map.entries[0].is_some()), 1);
            },
        );
    });
}

/// `get_mut` while another thread registers, upgrades and removes an entry.
#[test]
fn get_mut_against_a_registration() {
    check_each(
        &[Beside::Nothing, Beside::PastWeak, Beside::Record],
        1,
        |maker, beside| {
            let (mut a, _kept) = object(maker, beside);
            let b = a.clone();
            both(
                move || {
                    let map = Map::of(&[&b]);
                    b.read();
                    drop(b);
                    assert!(map.peek(0));
                },
                || write_if_alone(&mut a),
            );
            assert!(write_if_alone(&mut a));
        },
    );
}

/// `get_mut` while another thread upgrades and removes an entry that was there before.
#[test]
fn get_mut_against_a_deregistration() {
    check_entry(THIN_AND_RECORD, |mut a, map| {
        both(
            move || {
                map.peek(0);
                drop(map);
            },
            || write_if_alone(&mut a),
        );
        assert!(write_if_alone(&mut a));
    });
}
