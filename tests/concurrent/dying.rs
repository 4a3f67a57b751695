//! Objects that die while others change or drop their collections; and what is left of an object when an entry has gone.

use std::sync::Barrier;
use std::thread;

use crate::common::{scaled, sized};
use crate::faces::{Count, Large, owned};
use weakly::concurrent::{WeakHashMap, WeakMap, WeakPairMap, WeakSet, WeakValueMap};
use weakly::{Memo, Strong};

/// 184: A death takes 64 of its object's entries off at a time, and unlinks them without a lock of the object: other
/// threads replace the entries meanwhile.
#[test]
fn small_entries_are_replaced_while_their_object_is_dying() {
    const KEYS: usize = scaled(2_000, 80);
    for _ in 0..sized(100, 20, 1) {
        let (old, new) = (Strong::new(1), Strong::new(2));
        let map: WeakValueMap<usize, Strong<usize>> = WeakValueMap::new();
        for n in 0..KEYS {
            map.insert(n, &old);
        }
        thread::scope(|scope| {
            scope.spawn(move || drop(old));
            // The newest entry is notified first.
            scope.spawn(|| {
                for n in (0..KEYS).rev() {
                    map.insert(n, &new);
                }
            });
            scope.spawn(|| {
                for n in 0..KEYS {
                    map.insert(n, &new);
                }
            });
        });
        map.purge();
        assert_eq!(map.len(), KEYS);
        assert!((0..KEYS).all(|n| map.get(&n).is_some_and(|value| *value == 2)));
    }
}

/// 164: One thread drops an object while another drops its collection: whoever comes first, all memory goes, and values
/// are destroyed before the drop of the map returns.
#[test]
fn small_an_object_and_its_collection_are_dropped_at_once() {
    for round in 0..scaled(400, 3) {
        let destroyed = Count::default();
        // Every other payload is apart from its block.
        let object: Large = vec![round; 1 + round % 2 * 40].into();
        let names = [1, 2].map(Strong::<usize>::new);
        let map = WeakMap::new();
        map.insert(&object, owned(round, &destroyed.ends()));
        let set = WeakSet::new();
        if round % 3 == 1 {
            set.insert(&object);
        }
        let (values, pairs) = (WeakValueMap::new(), WeakPairMap::new());
        if round % 3 == 2 {
            values.insert(1_usize, &object);
            values.insert(2, &object);
            pairs.insert(&object, &names[0]);
            pairs.insert(&object, &names[1]);
        }
        let words = WeakHashMap::new();
        words.insert(&names[0], 1_usize);
        let barrier = Barrier::new(2);
        thread::scope(|scope| {
            scope.spawn(|| {
                barrier.wait();
                drop((object, names));
            });
            barrier.wait();
            drop(map);
            assert_eq!(destroyed.get(), 1);
            drop((set, values, pairs, words));
        });
    }
}

/// 129: `get_mut` refuses while there is an entry, and grants again as soon as that is gone: removed, cleared, replaced, or
/// dropped with its collection.
#[test]
fn small_get_mut_after_an_entry() {
    fn check<M>(
        make: fn() -> M,
        insert: impl Fn(&M, &Strong<usize>),
        remove: impl Fn(&M, &Strong<usize>),
        clear: fn(&M),
    ) {
        let mut object = Strong::new(1);
        let map = make();
        for end in 0..3 {
            insert(&map, &object);
            assert!(Strong::get_mut(&mut object).is_none());
            assert_eq!(Strong::weak_count(&object), 1);
            insert(&map, &object);
            assert!(Strong::get_mut(&mut object).is_none());
            match end {
                0 => remove(&map, &object),
                1 => clear(&map),
                _ => drop(make()),
            }
            if end < 2 {
                assert!(Strong::get_mut(&mut object).is_some(), "{end}");
                assert_eq!(Strong::weak_count(&object), 0);
            }
        }
        drop(map);
        assert!(Strong::get_mut(&mut object).is_some());
    }
    check(
        WeakMap::new,
        |map, key| _ = map.insert(key, 1_usize),
        |map, key| _ = map.remove(key),
        WeakMap::clear,
    );
    check(
        WeakValueMap::<usize, Strong<usize>>::new,
        |map, key| _ = map.insert(7, key),
        |map, _| _ = map.remove(&7),
        WeakValueMap::clear,
    );
    check(
        Memo::<Strong<usize>, usize>::new,
        |memo, key| _ = memo.get_or_compute(key, |_| 1),
        |memo, key| _ = memo.remove(key),
        Memo::clear,
    );
}
