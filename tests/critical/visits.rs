//! Whatever looks at entries or changes them: no allocation, no free and no death under a lock (a death asserts that).

use std::fmt::Write;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::task::Waker;
use std::thread;

use super::{MANY, nothing_found};
use crate::common::in_time;
use weakly::concurrent::{WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};
use weakly::{Memo, Strong};

type Key = Strong<usize>;

/// Visits while another thread drops keys and inserts, so that the handles which the visit has made may be the last.
fn visit<M: Sync>(make: fn() -> M, fill: fn(&M, &Key), looks: &[fn(&M)]) {
    for look in looks {
        let map = make();
        let done = AtomicBool::new(false);
        thread::scope(|scope| {
            scope.spawn(|| {
                while !done.load(Relaxed) {
                    let keys: Vec<_> = (0..MANY / 4).map(Strong::new).collect();
                    keys.iter().for_each(|key| fill(&map, key));
                }
            });
            for _ in 0..super::ROUNDS * 8 {
                look(&map);
            }
            done.store(true, Relaxed);
        });
        drop(map);
        nothing_found();
    }
}

/// One test for each collection, and what is done with it.
macro_rules! visits {
    ($($name:ident: $map:ty, |$m:ident, $key:ident| $fill:expr, [$($look:expr),*];)*) => {$(
        #[test]
        fn $name() {
            in_time(|| visit::<$map>(<$map>::new, |$m, $key| _ = $fill, &[$($look),*]));
        }
    )*};
}

fn shown(it: &impl std::fmt::Debug) {
    let mut text = String::new();
    write!(text, "{it:?}").unwrap();
}

visits! {
    maps: WeakMap<Key, Box<usize>>, |map, key| map.insert(key, Box::new(1)), [
        |map| map.iter().for_each(drop),
        |map| map.keys().for_each(drop),
        |map| map.retain(|key, _| **key % 2 == 0),
        |map| map.retain_values(|value| **value == 2),
        |map| shown(map),
        |map| drop(map.values()),
        |map| map.clear(),
        |map| _ = map.purge(),
        |map| map.shrink_to_fit(),
        |map| _ = map.purge_cycles(),
        |map| _ = map.len_live(),
        |map| map.set_waker(Some(Waker::noop().clone()))
    ];
    hash_maps: WeakHashMap<Key, Box<usize>>, |map, key| map.insert(key, Box::new(1)), [
        |map| map.iter().for_each(drop),
        |map| map.keys().for_each(drop),
        |map| map.retain(|key, _| **key % 2 == 0),
        |map| shown(map),
        |map| map.clear(),
        |map| _ = map.get(&7),
        |map| _ = map.purge_cycles()
    ];
    values: WeakValueMap<usize, Key>, |map, key| map.insert(**key, key), [
        |map| map.iter().for_each(drop),
        |map| map.retain(|_, value| **value % 2 == 0),
        |map| shown(map),
        |map| map.clear(),
        |map| _ = map.compute(7, |_| Some(Strong::new(1))),
        |map| _ = map.purge_cycles()
    ];
    pairs: WeakPairMap<Key, Key>, |map, key| map.insert(key, &Strong::new(1)), [
        |map| map.iter().for_each(drop),
        |map| map.retain(|key, _| **key % 2 == 0),
        |map| shown(map),
        |map| map.clear()
    ];
    memos: Memo<Key, Box<usize>>, |memo, key| memo.get_or_compute(key, |cx| {
        cx.depends_on(&Strong::new(2));
        Box::new(1)
    }), [
        |memo| memo.clear(),
        |memo| _ = memo.purge(),
        |memo| _ = memo.purge_cycles()
    ];
}
