//! What a floor with a limit of entries keeps, compared with the pseudo-code of the paper, with laps, after each request. And how
//! often a map hits that has a floor or a ceiling, and tells that only the first hit of a round.

use weakly::concurrent::{WeakMap, WeakValueMap};
use weakly::keep::{KeepAlive, Limit};
use weakly::local::Strong;

use crate::common::scaled;
use crate::policies::{Lru, Policy, Sieve, drift, looped, scans, shifts, zipf};

const UNIVERSE: usize = scaled(10_000, 60);
const REQUESTS: usize = scaled(40_000, 400);
const FEWER: usize = REQUESTS / 2;
const SIZES: [usize; 7] = [1, 2, 3, 10, 100, 1_000, 3_000];

/// Ours, as a collection uses it.
struct Ours {
    kept: KeepAlive<Strong<usize>>,
    objects: Vec<Strong<usize>>,
}

impl Policy for Ours {
    fn new(size: usize, universe: usize) -> Self {
        Ours {
            kept: KeepAlive::new(Limit::entries(size)),
            objects: (0..universe).map(Strong::new).collect(),
        }
    }

    fn contains(&self, object: usize) -> bool {
        self.kept.contains(&self.objects[object])
    }

    fn request(&mut self, object: usize) -> Option<usize> {
        let object = &self.objects[object];
        if self.kept.contains(object) {
            assert!(self.kept.touch(object));
        } else {
            assert!(self.kept.keep(object, 1));
        }
        None
    }

    fn len(&self) -> usize {
        self.kept.len()
    }

    fn objects(&self) -> Vec<usize> {
        let numbers = 0..self.objects.len();
        numbers.filter(|object| self.contains(*object)).collect()
    }
}

/// The share of requests that a policy could serve.
fn hit_ratio<P: Policy>(size: usize, requests: impl Iterator<Item = usize>) -> f64 {
    let mut policy = P::new(size, UNIVERSE);
    let mut all = 0;
    let hits = requests.take(REQUESTS).filter(|object| {
        all += 1;
        let hit = policy.contains(*object);
        policy.request(*object);
        hit
    });
    hits.count() as f64 / f64::from(all)
}

/// Ours and the paper's hold the same objects after each request. Shows the shares of hits.
fn compare<I: Iterator<Item = usize>>(name: &str, requests: impl Fn() -> I) {
    for size in SIZES {
        let (mut ours, mut papers) = (
            Ours::new(size, UNIVERSE),
            Sieve::<true>::new(size, UNIVERSE),
        );
        let mut hits = 0;
        for (at, object) in requests().take(REQUESTS).enumerate() {
            let hit = papers.contains(object);
            assert_eq!(ours.contains(object), hit, "{name}, {size}, {at}");
            hits += usize::from(hit);
            ours.request(object);
            // They were the same before: so it is enough that the same one has come, the same one has gone, and no other.
            if let Some(gone) = papers.request(object) {
                assert!(!ours.contains(gone), "{name}, {size}, {at}: {gone}");
            }
            assert!(ours.contains(object));
            assert_eq!(ours.len(), papers.len());
        }
        let mut expected = papers.objects();
        expected.sort_unstable();
        assert_eq!(ours.objects(), expected);
        assert!(name == "loop" || hits > 0, "there is something to compare");
        let ratios = [
            hit_ratio::<Sieve<false>>(size, requests()),
            hits as f64 / REQUESTS as f64,
            hit_ratio::<Lru>(size, requests()),
        ];
        let [sieve, ours, lru] = ratios.map(|ratio| ratio * 100.0);
        let least = if name.starts_with("Zipf") { 0.98 } else { 0.9 };
        assert!(
            cfg!(miri) || size < 10 || ours >= least * lru,
            "{name}, {size}: {ours} of {lru}"
        );
        println!("{name:>10} {size:>5}: SIEVE {sieve:6.2} %, ours {ours:6.2} %, LRU {lru:6.2} %");
    }
}

/// O203: On requests of a flat distribution.
#[test]
fn zipf_07() {
    compare("Zipf 0.7", || zipf(0.7, UNIVERSE, 1));
}

/// O203: On those of a steep one.
#[test]
fn zipf_10() {
    compare("Zipf 1.0", || zipf(1.0, UNIVERSE, 2));
}

/// O203: Where each object is asked for as often as any other, and always as late as possible.
#[test]
fn a_loop() {
    compare("loop", || looped(UNIVERSE.min(1_100)));
}

/// O203: Where many are asked for once in between.
#[test]
fn scans_between() {
    compare("scans", || scans(UNIVERSE, 3));
}

/// O203: Where what is asked for moves on.
#[test]
fn drifting() {
    compare("drift", || drift(UNIVERSE, 4));
}

/// O203, 418: Where others are asked for from now and then on.
#[test]
fn shifting() {
    compare("shifts", || shifts(UNIVERSE, scaled(5_000, 50), 5));
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
            (0..size)
                .chain(0..size - 2)
                .for_each(|object| _ = ours.request(object));
            for newer in size..6 * size {
                ours.request(newer);
                (0..hot).for_each(|object| _ = ours.request(object));
                if newer % every == 0 {
                    ours.request(newer);
                }
            }
            let stale = (hot..size).filter(|object| ours.contains(*object));
            assert_eq!(stale.count(), 0, "{size}, {hot}, {every}");
        }
    }
}

/// The share of requests that a map with a limit could serve is the paper's, within a hundredth.
fn compare_told<I: Iterator<Item = usize>>(name: &str, requests: impl Fn() -> I) {
    for size in [10, 100, 1_000] {
        let floor = WeakValueMap::new();
        floor.set_keep_alive(Limit::entries(size), |_| 1);
        let ceiling = WeakMap::new();
        ceiling.set_ceiling(Limit::entries(size), |_| 1);
        let keys: Vec<_> = (0..UNIVERSE).map(weakly::Strong::new).collect();
        let mut hits = [0, 0];
        for object in requests().take(FEWER) {
            if floor.get(&object).is_some() {
                hits[0] += 1;
            } else {
                floor.insert(object, &weakly::Strong::new(object));
            }
            if ceiling.get(&keys[object]).is_some() {
                hits[1] += 1;
            } else {
                ceiling.insert(&keys[object], object);
            }
        }
        let papers = hit_ratio::<Sieve<true>>(size, requests().take(FEWER));
        let ours = hits.map(|hits| f64::from(hits) / FEWER as f64);
        println!(
            "{name:>10} {size:>5}: SIEVE {papers:.4}, floor {:.4}, ceiling {:.4}",
            ours[0], ours[1]
        );
        // Under Miri there are too few requests to tell.
        let near = if cfg!(miri) { 0.1 } else { 0.01 };
        for ours in ours {
            assert!(
                (ours - papers).abs() <= near,
                "{name}, {size}: {ours} of {papers}"
            );
        }
    }
}

/// O203: What a map tells is enough.
#[test]
fn what_a_map_tells() {
    compare_told("Zipf 0.7", || zipf(0.7, UNIVERSE, 1));
    compare_told("Zipf 1.0", || zipf(1.0, UNIVERSE, 2));
    compare_told("loop", || looped(UNIVERSE.min(1_100)));
    compare_told("scans", || scans(UNIVERSE, 3));
    compare_told("drift", || drift(UNIVERSE, 4));
}
