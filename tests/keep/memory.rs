//! The bytes of what keeps, counted by the allocator.

use weakly::keep::{KeepAlive, Limit};
use weakly::{Strong, concurrent};

use crate::common::heap::{allocations, bytes};
use crate::common::scaled;

type Object = Strong<usize>;

/// 209: Beside the object itself, an object takes a few bytes, whatever comes and goes; and nothing before the first one.
#[test]
fn an_object_takes_few_bytes() {
    // The index doubles when 7 of 8 buckets are in use, or somewhat earlier where others come and go: 800 are the worst case.
    let many = scaled(800, 20);
    let objects = Vec::from_iter((0..5 * many).map(Object::new));
    let limit = Limit::entries(many);
    for (limit, most) in [(limit, 61), (limit.generations(3), 61)] {
        let before = (bytes(), allocations());
        let mut kept = KeepAlive::new(limit);
        kept.advance();
        assert!(!kept.touch(&objects[0]));
        assert_eq!((kept.shrink_to(0), allocations()), (0, before.1));
        let mut pass = || {
            let before = allocations();
            for object in &objects {
                kept.keep(object, 1);
                kept.touch(object);
            }
            allocations() - before
        };
        assert_ne!(pass(), 0, "they are counted");
        assert_eq!((0..scaled(30, 2)).map(|_| pass()).sum::<usize>(), 0);
        let each = (bytes() - before.0) / many as isize;
        assert!(cfg!(miri) || each < most, "{each}");
    }
}

/// So many objects at a peak.
const PEAK: usize = scaled(20_000, 300);
/// The bytes of a few objects, where there were more.
const FEW: isize = 3_000;

/// 413: However they go, and wherever the hand is.
#[test]
fn a_peak_leaves_no_memory() {
    type Way = fn(&mut KeepAlive<Object>, &[Object]);
    let objects = Vec::from_iter((0..PEAK).map(Object::new));
    let ways: [(usize, Way); 5] = [
        (0, |kept, _| _ = kept.shrink_to(0)),
        (5, |kept, _| kept.set_limit(Limit::entries(5))),
        (3, |kept, objects| {
            objects[3..].iter().for_each(|it| drop(kept.release(it)));
        }),
        (2, |kept, objects| {
            kept.advance();
            objects[..2].iter().for_each(|it| _ = kept.touch(it));
            kept.advance();
        }),
        (0, |kept, _| kept.clear()),
    ];
    for (at, (left, way)) in ways.into_iter().enumerate() {
        let before = bytes();
        let mut kept = KeepAlive::new(Limit::none().generations(1));
        objects.iter().for_each(|it| _ = kept.keep(it, 1));
        assert!(bytes() - before > 40 * PEAK as isize);
        way(&mut kept, &objects);
        assert!(bytes() - before <= FEW, "{at}: {}", bytes() - before);
        let there = objects.iter().filter(|it| kept.contains(*it)).count();
        assert_eq!((kept.len(), there), (left, left), "{at}");
    }
}

/// 413: Where threads share the floor, too; and that of a ceiling, beside the table, which shrinks on request.
#[test]
fn a_peak_of_what_threads_share() {
    let bytes_after = |peak: usize| {
        let keys = Vec::from_iter((0..peak).map(Object::new));
        let before = bytes();
        let kept = concurrent::KeepAlive::new(Limit::none());
        let map = concurrent::WeakMap::<Object, usize>::new();
        map.set_ceiling(Limit::none(), |_| 1);
        for key in &keys {
            kept.keep(key, 1);
            map.insert(key, 1);
        }
        kept.set_limit(Limit::entries(5));
        assert_eq!(kept.len(), 5);
        map.shrink_to(0);
        map.shrink_to_fit();
        bytes() - before
    };
    let (few, many) = (bytes_after(10), bytes_after(PEAK));
    assert!(many <= few + FEW, "{few}, {many}");
}
