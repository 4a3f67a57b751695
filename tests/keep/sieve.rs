//! What is used stays, and what is not used goes; and how often a map hits that has a floor or a ceiling, and tells that only the
//! first hit of a round.

use weakly::concurrent::{WeakMap, WeakValueMap};
use weakly::keep::{KeepAlive, Limit};
use weakly::local::Strong;

use crate::common::random::random;
use crate::common::scaled;

/// A floor of one owner, which is told each hit.
struct Floor {
    kept: KeepAlive<Strong<usize>>,
    objects: Vec<Strong<usize>>,
}

impl Floor {
    fn new(size: usize, universe: usize) -> Self {
        Floor {
            kept: KeepAlive::new(Limit::entries(size)),
            objects: (0..universe).map(Strong::new).collect(),
        }
    }

    /// Asks for an object. Returns whether it was there.
    fn request(&mut self, object: usize) -> bool {
        let object = &self.objects[object];
        let hit = self.kept.touch(object);
        assert!(hit || self.kept.keep(object, 1));
        hit
    }
}

/// 418: All but two were used once before; then some are used all the time, and some of the newer ones once.
#[test]
fn what_is_not_used_goes() {
    for size in [3, 10, scaled(200, 20)] {
        for (hot, every) in [
            (0, usize::MAX),
            (0, 2),
            (size / 3, usize::MAX),
            (size - 3, 10),
        ] {
            let mut floor = Floor::new(size, 7 * size);
            let used = (0..size).chain(0..size - 2);
            used.for_each(|object| _ = floor.request(object));
            for newer in size..6 * size {
                floor.request(newer);
                (0..hot).for_each(|object| _ = floor.request(object));
                if newer % every == 0 {
                    floor.request(newer);
                }
            }
            let kept = |object: &usize| floor.kept.contains(&floor.objects[*object]);
            assert_eq!(
                (hot..size).filter(kept).count(),
                0,
                "{size}, {hot}, {every}"
            );
        }
    }
}

/// O203: What a map tells is enough: it serves as many requests as a floor that is told each hit, within a hundredth. Some objects
/// are asked for often, and in the second half the middle ones, one after the other.
#[test]
fn what_a_map_tells() {
    const UNIVERSE: usize = 4_000;
    let (size, requests) = (scaled(400, 20), scaled(40_000, 200));
    let (mut owned, floor, ceiling) = (
        Floor::new(size, UNIVERSE),
        WeakValueMap::new(),
        WeakMap::new(),
    );
    floor.set_keep_alive(Limit::entries(size), |_| 1);
    ceiling.set_ceiling(Limit::entries(size), |_| 1);
    let keys: Vec<_> = (0..UNIVERSE).map(weakly::Strong::new).collect();
    let mut hits = [0; 3];
    for (at, choice) in random(3).take(requests).enumerate() {
        let often = choice % 64 * (choice / 64 % 64) * UNIVERSE / 4096;
        let object = if at % 3 == 0 && at > requests / 2 {
            at / 3 % UNIVERSE
        } else {
            often
        };
        hits[0] += usize::from(owned.request(object));
        if floor.get(&object).is_some() {
            hits[1] += 1;
        } else {
            floor.insert(object, &weakly::Strong::new(object));
        }
        if ceiling.get(&keys[object]).is_some() {
            hits[2] += 1;
        } else {
            ceiling.insert(&keys[object], object);
        }
    }
    assert!(hits[0] > requests / 4, "{hits:?}");
    // Under Miri there are too few requests to tell.
    let near = requests / if cfg!(miri) { 4 } else { 100 };
    assert!(
        hits[1..].iter().all(|ours| ours.abs_diff(hits[0]) <= near),
        "{hits:?}"
    );
}
