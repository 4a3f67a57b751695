//! What iterators and collections are made of: weak handles, entries of iterators, what `Debug` shows.

use std::fmt::Debug;

use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::reference::WeakRef;

use crate::faces::{Kind, Life, lives};
use crate::for_each_pointer;

for_each_pointer!(
    weak_handles,
    collections_are_built_from_iterators_and_show_what_lives
);

/// 37: They keep nothing alive, and stay what they are when the entry has gone.
fn weak_handles<P: Kind>() {
    let keys = lives::<P>(2);
    let map = WeakMap::from_iter(keys.iter().zip(10_usize..));
    let weak: Vec<_> = map.iter_weak().collect();
    // Once more, where each has a handle.
    assert_eq!(map.iter_weak().count(), 2);
    map.clear();
    assert!(weak.iter().all(|(key, _)| !key.is_expired()));
    drop(keys);
    assert!(weak.iter().all(|(key, _)| key.is_expired()));
}

/// 16, 85
fn collections_are_built_from_iterators_and_show_what_lives<P: Kind>()
where
    Life<P>: Debug,
{
    let mut lives = lives::<P>(2);
    let entries = || lives.iter().map(|life| (life, 7_usize));
    let mut map: WeakMap<_, _> = entries().take(1).collect();
    map.extend(entries());
    let mut words: WeakHashMap<_, _> = entries().take(1).collect();
    words.extend(entries());
    let (mut set, mut contents) = (WeakSet::new(), WeakHashSet::new());
    set.extend(&lives);
    contents.extend(&lives);
    let values: WeakValueMap<_, _> = lives.iter().map(|life| (**life, life)).collect();
    let pairs: WeakPairMap<_, _> = lives.iter().zip(&lives).collect();
    let names = Interner::<Life<P>>::new();
    lives
        .iter()
        .for_each(|life| drop(names.intern(life.clone())));
    let lens = [
        map.len(),
        words.len(),
        set.len(),
        contents.len(),
        values.len(),
        pairs.len(),
    ];
    assert_eq!(lens, [2; 6]);
    assert!(
        (&map)
            .into_iter()
            .chain(&words)
            .all(|(_, value)| value == 7)
    );
    lives.pop();
    assert_eq!(format!("{map:?} {words:?} {set:?}"), "{0: 7} {0: 7} {0}");
    assert_eq!(format!("{contents:?} {names:?}"), "{0} {0}");
    assert_eq!(format!("{values:?} {pairs:?}"), "{0: 0} {0: 0}");
    assert_eq!(format!("{:?}", map.iter()), "Snapshot { left: 1 }");
}
