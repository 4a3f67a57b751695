//! Floors and ceilings against deaths.

use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;

use super::*;
use crate::concurrent::{KeepAlive, WeakMap};
use crate::keep::Limit;

type Floor = KeepAlive<Strong<Payload>>;

/// A map above a floor that keeps one object.
fn kept() -> (Arc<Map>, Floor) {
    let (map, floor) = (Arc::new(Map::default()), KeepAlive::new(Limit::entries(1)));
    map.keep_in(&floor);
    (map, floor)
}

/// With an entry, whose object is kept no more.
fn demoted(maker: &Maker) -> (Arc<Map>, Floor, Strong<Payload>) {
    let (map, floor) = kept();
    let a = maker.object();
    map.insert(0, &a);
    drop(floor.release(&a));
    (map, floor, a)
}

/// Who finds what is kept no more, and is about to die, keeps it again, or there is nothing to
/// find.
#[test]
fn a_hit_against_the_death() {
    check(1, |maker| {
        let (map, floor, a) = demoted(maker);
        let ((), found) = both(move || drop(a), || map.get(&0));
        let is_found = found.inspect(|found| found.read()).is_some();
        assert_eq!(floor.len(), usize::from(is_found));
        assert_eq!(map.get(&0).is_some(), is_found);
    });
}

/// A floor comes above a map where an object dies: it keeps that, or the next lookup finds nothing.
#[test]
fn a_new_floor_against_the_death() {
    check(1, |maker| {
        let (map, floor) = (Map::default(), Floor::new(Limit::entries(1)));
        let a = maker.object();
        map.insert(0, &a);
        both(move || drop(a), || map.keep_in(&floor));
        assert_eq!(floor.len(), usize::from(map.get(&0).is_some()));
    });
}

/// An object goes, and with it its last handle, when it is found: it dies, or is kept again by the
/// next hit at the latest (S3).
#[test]
fn a_hit_against_what_takes_its_place() {
    check_some(2, |maker| {
        let (map, floor) = kept();
        let (a, b) = (maker.object(), maker.object());
        map.insert(0, &a);
        drop((map.get(&0), a));
        let other = floor.clone();
        let ((), found) = both(move || _ = other.keep(&b, 1), || map.get(&0));
        assert_eq!(floor.len(), 1);
        if let Some(found) = found {
            found.read();
            assert!(map.get(&0).is_some() && floor.contains(&found));
        }
        assert_eq!(floor.len(), 1);
    });
}

/// S2: What is removed is kept no more, whoever finds it at that moment.
#[test]
fn a_hit_against_a_removal() {
    check_few(1, |maker| {
        let (map, floor, a) = demoted(maker);
        let other = Arc::clone(&map);
        let (removed, _) = both(move || other.remove(&0), || map.get(&0));
        assert!(removed.is_some_and(|removed| Strong::ptr_eq(&removed, &a)));
        assert!(floor.is_empty() && map.is_empty());
    });
}

/// What is removed from one map, and found in another above the same floor, is kept by the next hit
/// at the latest (S3).
#[test]
fn a_hit_against_a_removal_from_another_map() {
    check(1, |maker| {
        let (map, floor) = kept();
        let other = Map::default();
        other.keep_in(&floor);
        let a = maker.object();
        map.insert(0, &a);
        other.insert(0, &a);
        drop(map.get(&0));
        both(move || drop(other.remove(&0)), || map.get(&0));
        drop(map.get(&0));
        assert!(floor.contains(&a));
    });
}

/// The last user of an object goes, when the map goes above the floor that keeps it.
#[test]
fn the_death_against_the_end_of_the_map() {
    check_some(1, |maker| {
        let (map, floor) = kept();
        let a = maker.object();
        map.insert(0, &a);
        both(move || drop(a), || drop(map));
        assert!(floor.is_empty());
    });
}

/// Of a death and a ceiling that let go of the same entry, one does, and tells so.
fn ceiling_against_the_death<V: Send + Sync + 'static>(
    value: impl Fn() -> V + Send + Sync + 'static,
) {
    check(1, move |maker| {
        let (map, told) = (Arc::new(WeakMap::new()), Arc::new(AtomicUsize::new(0)));
        map.set_ceiling(Limit::entries(1), |_: &V| 1);
        let heard = Arc::clone(&told);
        map.set_listener(move |_, _, _| _ = heard.fetch_add(1, Relaxed));
        let a = maker.object();
        map.insert(&a, value());
        both(move || drop(a), || map.shrink_to(0));
        map.purge();
        assert_eq!((map.len(), map.retained_weight()), (0, 0));
        assert_eq!(told.load(Relaxed), 1);
    });
}

#[test]
fn a_ceiling_against_the_death() {
    ceiling_against_the_death(|| 7);
}

#[test]
fn a_ceiling_of_values_with_destructors_against_the_death() {
    ceiling_against_the_death(|| Box::new(7));
}

/// E1: a ceiling comes while a thread inserts an entry: the entry counts.
#[test]
fn a_new_ceiling_beside_an_insertion() {
    check_some(3, |maker| {
        let map = Arc::new(WeakMap::<Strong<Payload>, u32>::new());
        let (a, b, c) = (maker.object(), maker.object(), maker.object());
        map.insert(&b, 0);
        let (other, inserted) = (Arc::clone(&map), a.clone());
        both(
            move || _ = other.insert(&inserted, 1),
            || map.set_ceiling(Limit::entries(2), |_| 1),
        );
        map.insert(&c, 2);
        assert_eq!(map.len(), 2);
    });
}
