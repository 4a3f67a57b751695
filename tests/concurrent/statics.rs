//! Collections as statics, and watches whose values get into no entry.

use std::cell::Cell;
use std::hash::{BuildHasherDefault, DefaultHasher};
use std::sync::Arc;
use std::thread;

use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{AttributeKey, Attributes, Memo, Strong};

use crate::common::custom::{Custom, On};
use crate::common::{panics, quiet_panic, scaled};

type Hasher = BuildHasherDefault<DefaultHasher>;

static MAP: WeakMap<Strong<usize>, usize> = WeakMap::new();
static ARC_MAP: WeakMap<Arc<usize>, usize> = WeakMap::new();
static SET: WeakSet<Strong<usize>> = WeakSet::new();
static VALUES: WeakValueMap<usize, Strong<usize>, Hasher> =
    WeakValueMap::with_hasher(Hasher::new());
static PAIRS: WeakPairMap<Strong<usize>, Arc<usize>> = WeakPairMap::new();
static FACTS: WeakHashMap<Strong<usize>, usize, Hasher> = WeakHashMap::with_hasher(Hasher::new());
static STATED: WeakHashSet<Arc<usize>, Hasher> = WeakHashSet::with_hasher(Hasher::new());
static NAMES: Interner<Strong<usize>, Hasher> = Interner::with_hasher(Hasher::new());
static MEMO: Memo<Strong<usize>, usize> = Memo::new();
static ATTRIBUTES: Attributes<Strong<usize>> = Attributes::new();

struct Twice;

impl AttributeKey for Twice {
    type Value = usize;
}

/// 157: Each is first used by several threads at once, before anything is in it, and is empty again in the end.
#[test]
fn first_used_by_several_threads() {
    let absent = Strong::new(0);
    assert_eq!(
        (MAP.get(&absent), MAP.pending_dead(), MAP.keys().count()),
        (None, 0, 0)
    );
    assert!(!SET.remove(&absent) && VALUES.get(&0).is_none() && NAMES.get(&0).is_none());
    thread::scope(|scope| {
        for thread in 0..scaled(4, 2) {
            scope.spawn(move || {
                for number in 0..scaled(500, 5) {
                    let number = number * 4 + thread;
                    let (key, arc) = (Strong::new(number), Arc::new(number));
                    assert!(MAP.insert(&key, number) && ARC_MAP.insert(&arc, number));
                    assert!(SET.insert(&key) && FACTS.insert(&key, number) && STATED.insert(&arc));
                    assert!(PAIRS.insert(&key, &arc).is_none());
                    let value = VALUES.get_or_insert_with(number, |number| Strong::new(*number));
                    assert_eq!((*value, *NAMES.intern(number)), (number, number));
                    assert!(ATTRIBUTES.insert(&key, Twice, 2 * number));
                    assert_eq!(MEMO.get_or_compute(&key, |_| 2 * number), 2 * number);
                    assert_eq!((MAP.get(&key), PAIRS.get(&key)), (Some(number), Some(arc)));
                }
            });
        }
    });
    let lens = [
        MAP.len_live(),
        ARC_MAP.len_live(),
        SET.len_live(),
        VALUES.len_live(),
        PAIRS.len_live(),
        FACTS.len_live(),
        STATED.len_live(),
        NAMES.len_live(),
    ];
    assert_eq!((lens, MEMO.len(), ATTRIBUTES.len()), ([0; 8], 0, 0));
}

/// L158: A watch whose value gets into no entry, because something panics or another thread is faster, is
/// deregistered: the object's death sends no notice for it.
#[test]
fn a_value_that_gets_into_no_entry_is_not_registered() {
    let value = || Custom::from(0);
    let bomb = || value().on(On::Clone, |_| quiet_panic());
    let map = WeakMap::new();
    let [key, other] = [1, 2].map(|n| Strong::new(Custom::from(n)));
    // The watch is made before the clone that is returned.
    assert!(panics(|| _ = map.get_or_insert_with(&key, |_| bomb())));
    assert!(panics(|| _ = map.compute(&key, |_| Some(bomb()))));
    // Called again, since the first time another value is set.
    let asked = Cell::new(0);
    map.compute(&key, |_| {
        asked.set(asked.get() + 1);
        if asked.get() == 1 {
            map.insert(&key, value());
        }
        Some(value())
    });
    assert_eq!((asked.get(), Strong::weak_count(&key)), (2, 1), "one entry");

    let memo = Memo::<Strong<Custom>, Custom>::new();
    assert!(panics(|| _ = memo.get_or_compute(&key, |cx| {
        cx.depends_on(&other);
        quiet_panic()
    })));
    let failed = memo.try_get_or_compute(&key, |cx| {
        cx.depends_on(&other);
        Err::<Custom, _>("failed")
    });
    assert!(failed.is_err());
    assert_eq!(
        (Strong::weak_count(&key), Strong::weak_count(&other)),
        (1, 0)
    );
    drop((key, other));
    assert_eq!(
        (map.len(), map.pending_dead(), memo.pending_dead()),
        (0, 1, 0)
    );
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}
