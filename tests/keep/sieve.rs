//! What a floor with a limit of entries keeps, compared with the pseudo-code of the paper, with laps, after each request. And how
//! often a map hits that has a floor or a ceiling, and tells that only the first hit of a round.

use weakly::concurrent::{WeakMap, WeakValueMap};
use weakly::keep::{KeepAlive, Limit};
use weakly::local::Strong;

use crate::common::scaled;
use crate::policies::{Policy, Sieve, drift, looped, scans, shifts, zipf};

const UNIVERSE: usize = scaled(10_000, 60);
const REQUESTS: usize = scaled(40_000, 400);

/// Ours, as a collection uses it.
struct Ours {
    kept: KeepAlive<Strong<usize>>,
    objects: Vec<Strong<usize>>,
}

impl Ours {
    fn new(size: usize, universe: usize) -> Self {
        Ours {
            kept: KeepAlive::new(Limit::entries(size)),
            objects: (0..universe).map(Strong::new).collect(),
        }
    }

    fn contains(&self, object: usize) -> bool {
        self.kept.contains(&self.objects[object])
    }

    fn request(&mut self, object: usize) {
        let object = &self.objects[object];
        assert!(self.kept.touch(object) || self.kept.keep(object, 1));
    }
}

/// Requests: of a flat and of a steep distribution; of each object as late as possible; of many once in between; what is asked
/// for moves on, slowly or at once.
fn streams() -> [(&'static str, Box<dyn Iterator<Item = usize>>); 6] {
    [
        ("Zipf 0.7", Box::new(zipf(0.7, UNIVERSE, 1))),
        ("Zipf 1.0", Box::new(zipf(1.0, UNIVERSE, 2))),
        ("loop", Box::new(looped(UNIVERSE.min(1_100)))),
        ("scans", Box::new(scans(UNIVERSE, 3))),
        ("drift", Box::new(drift(UNIVERSE, 4))),
        ("shifts", Box::new(shifts(UNIVERSE, scaled(5_000, 50), 5))),
    ]
}

/// O203, 418: Ours and the paper's hold the same objects after each request.
#[test]
fn as_the_paper_has_it() {
    for size in [1, 3, 10, 100, 1_000] {
        for (name, requests) in streams() {
            let mut ours = Ours::new(size, UNIVERSE);
            let mut papers = Sieve::<true>::new(size, UNIVERSE);
            for (at, object) in requests.take(REQUESTS).enumerate() {
                let hit = papers.contains(object);
                assert_eq!(ours.contains(object), hit, "{name}, {size}, {at}");
                ours.request(object);
                // They were the same before: so it is enough that the same one has come, the same one has gone, and no other.
                if let Some(gone) = papers.request(object) {
                    assert!(!ours.contains(gone), "{name}, {size}, {at}: {gone}");
                }
                assert!(ours.contains(object));
                assert_eq!(ours.kept.len(), papers.len());
            }
        }
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
            let mut ours = Ours::new(size, 7 * size);
            let used = (0..size).chain(0..size - 2);
            used.for_each(|object| ours.request(object));
            for newer in size..6 * size {
                ours.request(newer);
                (0..hot).for_each(|object| ours.request(object));
                if newer % every == 0 {
                    ours.request(newer);
                }
            }
            let stale = (hot..size).filter(|object| ours.contains(*object));
            assert_eq!(stale.count(), 0, "{size}, {hot}, {every}");
        }
    }
}

/// O203: What a map tells is enough: the share of requests that it serves is the paper's, within a hundredth.
#[test]
fn what_a_map_tells() {
    let (size, requests) = (100, REQUESTS / 2);
    for (name, stream) in streams() {
        let floor = WeakValueMap::new();
        floor.set_keep_alive(Limit::entries(size), |_| 1);
        let ceiling = WeakMap::new();
        ceiling.set_ceiling(Limit::entries(size), |_| 1);
        let keys: Vec<_> = (0..UNIVERSE).map(weakly::Strong::new).collect();
        let (mut papers, mut hits) = (Sieve::<true>::new(size, UNIVERSE), [0; 3]);
        for object in stream.take(requests) {
            hits[0] += usize::from(papers.contains(object));
            papers.request(object);
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
        // Under Miri there are too few requests to tell.
        let near = requests / if cfg!(miri) { 10 } else { 100 };
        for ours in &hits[1..] {
            assert!(ours.abs_diff(hits[0]) <= near, "{name}: {hits:?}");
        }
    }
}
