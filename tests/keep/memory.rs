//! The bytes of what is kept, and of what keeps it, counted by the allocator.

use weakly::keep::{KeepAlive, Limit};
use weakly::{Strong, concurrent};

use crate::common::heap::{allocations, bytes};
use crate::common::random::random;
use crate::common::{Key, Kind, new, scaled};
use crate::{for_each_kind, page_bytes};

for_each_kind!(
    the_weight_is_what_the_allocator_counts,
    an_object_takes_few_bytes,
    nothing_is_allocated_for_one_that_comes_for_another,
    a_peak_leaves_no_memory,
);

/// By its alignment, the allocator knows these bytes from others.
#[repr(align(4096))]
#[derive(Clone)]
struct Page(#[allow(dead_code)] [u8; 4096]);

/// The alignment of what [`page_bytes`] counts.
pub(crate) const PAGE: usize = align_of::<Page>();

/// 208: After each step, where all objects are kept once, with their sizes, beside those that are only in use.
fn the_weight_is_what_the_allocator_counts<P: Kind>() {
    let limit = Limit::entries(30).weight(40 * PAGE);
    let mut kept = KeepAlive::new(limit.generations(4));
    let mut random = random(5);
    let mut choice = |n: usize| random.next().unwrap() % n;
    let mut users: Vec<P::Strong<Vec<Page>>> = Vec::new();
    let (mut most, mut least) = (0, usize::MAX);
    for step in 0..scaled(5_000, 100) {
        match choice(12) {
            0..5 => {
                let object = new::<P, _>(vec![Page([0; 4096]); choice(6)]);
                assert!(kept.keep(&object, object.len() * PAGE));
                if choice(3) > 0 {
                    users.push(object);
                }
            }
            5 | 6 if !users.is_empty() => {
                let object = &users[choice(users.len())];
                assert!(kept.keep(object, object.len() * PAGE));
            }
            7 | 8 if !users.is_empty() => _ = users.swap_remove(choice(users.len())),
            9 if !users.is_empty() => _ = kept.touch(&users[choice(users.len())]),
            10 => kept.advance(),
            11 => match choice(20) {
                0 => {
                    kept.clear();
                    users.clear();
                }
                1 => users.clear(),
                2 => kept.set_limit(limit),
                3 => kept.set_limit(limit.generations(2)),
                _ => _ = kept.shrink_to(choice(60) * PAGE),
            },
            _ => {}
        }
        let only_used = users.iter().filter(|it| !kept.contains(*it));
        let beyond = only_used.map(|it| it.len() * PAGE).sum();
        assert_eq!(kept.retained_weight() + beyond, page_bytes(), "{step}");
        (most, least) = (most.max(beyond), least.min(beyond));
    }
    assert!(most > 10 * PAGE && least == 0, "both are counted");
    users.clear();
    assert_eq!(kept.retained_weight(), page_bytes());
    drop(kept);
    assert_eq!(page_bytes(), 0);
}

/// How many bytes are taken for each of so many objects, when five times as many have come.
fn bytes_of_one<P: Kind>(many: usize, limit: Limit) -> f64 {
    let objects = (0..5 * many).map(Key::<P>::from);
    let objects = Vec::from_iter(objects);
    let before = bytes();
    let mut kept = KeepAlive::new(limit);
    for object in &objects {
        kept.keep(object, 1);
    }
    assert_eq!(kept.len(), many);
    (bytes() - before) as f64 / many as f64
}

/// 209: Beside the object itself, and whatever comes and goes.
fn an_object_takes_few_bytes<P: Kind>() {
    // The index doubles when 7 of 8 buckets are in use, or somewhat earlier where others come and go: 800 are the worst case.
    for (many, most) in [(800, 53.0), (1_000, 50.5), (10_000, 48.5)] {
        let many = scaled(many, 20);
        let limit = Limit::entries(many);
        let one = bytes_of_one::<P>(many, limit);
        let with_age = bytes_of_one::<P>(many, limit.generations(3));
        println!("{many:>6} objects: {one:.2} bytes each, {with_age:.2} where generations count");
        let are_few = one < most && with_age < most + 8.1;
        assert!(cfg!(miri) || are_few, "{many}: {one}, {with_age}");
    }
}

/// 209: Nor before the first object.
fn nothing_is_allocated_for_one_that_comes_for_another<P: Kind>() {
    let objects = Vec::from_iter((0..1_500).map(Key::<P>::from));
    let before = allocations();
    assert_ne!(before, 0, "they are counted");
    let mut kept = KeepAlive::new(Limit::entries(100).generations(3));
    kept.advance();
    assert!(!kept.touch(&objects[0]));
    assert_eq!((kept.shrink_to(0), allocations()), (0, before));
    let mut pass = || {
        let before = allocations();
        for object in &objects {
            kept.keep(object, 1);
            kept.touch(object);
        }
        allocations() - before
    };
    assert_ne!(pass(), 0);
    assert_eq!((0..scaled(30, 2)).map(|_| pass()).sum::<usize>(), 0);
}

/// So many objects at a peak.
const PEAK: usize = scaled(20_000, 300);
/// The bytes of a few objects, where there were more.
const FEW: isize = 3_000;

/// 413: However they go, and wherever the hand is.
fn a_peak_leaves_no_memory<P: Kind>() {
    type Way<P> = fn(&mut KeepAlive<Key<P>>, &[Key<P>]);
    let objects = Vec::from_iter((0..PEAK).map(Key::<P>::from));
    let ways: [(usize, Way<P>); 6] = [
        (0, |kept, _| _ = kept.shrink_to(0)),
        (5, |kept, _| _ = kept.shrink_to(5)),
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
        kept.shrink_to_fit();
        assert!(
            bytes() - before <= 200 * left as isize,
            "{at}: {}",
            bytes() - before
        );
        // It is as before.
        kept.set_limit(Limit::entries(PEAK / 2).generations(1));
        objects.iter().for_each(|it| _ = kept.keep(it, 1));
        assert_eq!(kept.len(), PEAK / 2);
    }
}

/// 413: The same where threads share it.
#[test]
fn a_peak_of_a_shared_floor() {
    type Way = fn(&concurrent::KeepAlive<Strong<usize>>, &[Strong<usize>]);
    let objects = Vec::from_iter((0..PEAK).map(Strong::new));
    let ways: [(usize, Way); 4] = [
        (0, |kept, _| _ = kept.shrink_to(0)),
        (5, |kept, _| kept.set_limit(Limit::entries(5))),
        (3, |kept, objects| {
            objects[3..].iter().for_each(|it| drop(kept.release(it)));
        }),
        (0, |kept, _| kept.clear()),
    ];
    for (at, (left, way)) in ways.into_iter().enumerate() {
        let before = bytes();
        let kept = concurrent::KeepAlive::new(Limit::none());
        objects.iter().for_each(|it| _ = kept.keep(it, 1));
        way(&kept, &objects);
        assert!(bytes() - before <= FEW, "{at}: {}", bytes() - before);
        let there = objects.iter().filter(|it| kept.contains(*it)).count();
        assert_eq!((kept.len(), there), (left, left), "{at}");
        kept.shrink_to_fit();
        assert!(bytes() - before <= 1_000, "{at}: {}", bytes() - before);
    }
}

/// 413: And that of a ceiling, beside the table, which shrinks on request.
#[test]
fn a_peak_of_a_ceiling() {
    let bytes_after = |peak: usize| {
        let keys = Vec::from_iter((0..peak).map(Strong::new));
        let before = bytes();
        let map = concurrent::WeakMap::<Strong<usize>, usize>::new();
        map.set_ceiling(Limit::none(), |_| 1);
        keys.iter().for_each(|key| _ = map.insert(key, 1));
        map.shrink_to(0);
        map.shrink_to_fit();
        bytes() - before
    };
    let (few, many) = (bytes_after(10), bytes_after(PEAK));
    assert!(many <= few + FEW, "{few}, {many}");
}
