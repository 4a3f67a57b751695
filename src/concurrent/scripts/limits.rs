//! Floors and ceilings.

use std::sync::Arc;

use shuttle::sync::Mutex;

use super::*;
use crate::concurrent::WeakMap;
use crate::keep::Limit;

const MOST: usize = 2;
const KEYS: u32 = 4;

/// Threads insert, find, remove and drop objects above a floor, which keeps no more than its limit.
#[test]
fn a_floor() {
    check(|| {
        let (map, live) = (Arc::new(Map::default()), Live::default());
        map.set_keep_alive(Limit::entries(MOST), |_| 1);
        let (all, objects) = (Arc::clone(&map), live.clone());
        on_threads(3, move |_| {
            let mut held = None;
            for _ in 0..5 {
                let key = below(KEYS);
                match below(6) {
                    0 | 1 => {
                        let object = objects.object(key);
                        drop(all.insert(key, &object));
                        held = Some(object);
                    }
                    2 => held = all.get(&key),
                    3 => drop(all.remove(&key)),
                    4 => held = Some(all.get_or_insert_with(key, |_| objects.object(key))),
                    _ => held = None,
                }
                assert!(held.as_ref().is_none_or(|held| held.name < KEYS));
            }
            drop(held);
        });
        map.purge();
        let kept = map.len();
        assert!(kept <= MOST, "{kept} are kept");
        assert_eq!(live.count(), kept, "an object without an entry is kept");
        drop(map);
        assert_eq!(live.count(), 0);
    });
}

/// Threads insert, find and remove entries below a ceiling, and objects die. The ceiling has no
/// more entries than its limit, and knows the entries of the map.
#[test]
fn a_ceiling() {
    check(|| {
        let (map, live) = (Arc::new(WeakMap::new()), Live::default());
        map.set_ceiling(Limit::entries(MOST), |_| 1);
        let places: Arc<[Mutex<Option<Strong<Named>>>; KEYS as usize]> = Arc::default();
        let (all, values, objects) = (Arc::clone(&map), live.clone(), Arc::clone(&places));
        on_threads(3, move |_| {
            for _ in 0..5 {
                let place = &objects[below(KEYS) as usize];
                let known = place.lock().unwrap().clone();
                let Some(object) = known else {
                    let new = values.object(0);
                    let old = place.lock().unwrap().replace(new);
                    drop(old);
                    continue;
                };
                match below(8) {
                    0..3 => _ = all.insert(&object, values.token()),
                    3 => _ = all.get(&object),
                    4 => _ = all.remove(&object),
                    5 => _ = all.get_or_insert_with(&object, |_| values.token()),
                    6 => _ = all.shrink_to(1),
                    _ => {
                        let old = place.lock().unwrap().take();
                        drop(old);
                    }
                }
            }
        });
        let (len, retained) = (map.len(), map.retained_weight());
        assert!(len <= retained && retained <= MOST, "{len}, {retained}");
        drop(places);
        map.purge();
        let left = (map.len(), map.retained_weight(), live.count());
        assert_eq!(left, (0, 0, 0));
    });
}
