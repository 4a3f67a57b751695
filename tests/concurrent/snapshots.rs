//! What iterators of shared collections show: each entry as it is at its turn.

use std::collections::HashSet;
use std::mem;

use weakly::Strong;
use weakly::concurrent::{WeakHashMap, WeakHashSet};

use crate::common::custom::Custom;
use crate::common::scaled;
use crate::faces::*;

for_each_collection!(
    kit: a_new_object_at_the_address_of_a_dead_one_is_shown_once,
);

for_each_changing!(
    kit: );

for_each_owning_values!(kit: an_iterator_half_way_delays_no_destructor);

const MANY: usize = scaled(1_000, 40);

/// F87, C47: What the iterator has noted of a dead object is not the new one's; if it shows the new one, then once.
fn a_new_object_at_the_address_of_a_dead_one_is_shown_once(kit: Kit) {
    // Tests on other threads may take all the addresses of one try.
    let again = (0..20).any(|_| shows_new_objects_once(kit));
    assert!(cfg!(miri) || again, "no address is used again");
}

/// Returns whether a new object is at the address of a dead one.
fn shows_new_objects_once(kit: Kit) -> bool {
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &quietly());
    let iter = all.iter();
    let addresses =
        |lives: &[Handle]| -> HashSet<_> { lives.iter().map(|life| &raw const **life).collect() };
    let old = addresses(&lives);
    lives.clear();
    all.purge();
    // Until the allocator returns an address: it does not get back what it has given instead.
    let mut others = Vec::new();
    let again = (0..scaled(100, 3)).any(|_| {
        // The same numbers: so content and hash of each are those of a dead one.
        others.push(mem::replace(&mut lives, kit.lives(MANY)));
        !old.is_disjoint(&addresses(&lives))
    });
    lives
        .iter()
        .for_each(|life| _ = all.enter(life, &quietly()));
    let mut shown = HashSet::new();
    for life in iter {
        assert!(all.has(&life) && shown.insert(*life));
    }
    again
}

/// 41: It is inside the collection during a turn only.
fn an_iterator_half_way_delays_no_destructor(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let mut lives = kit.lives(MANY);
    let all = kit.of(&lives, &count.ends());
    let mut iter = all.iter();
    drop(iter.next());
    lives.truncate(MANY / 2);
    all.purge();
    assert_eq!(count.get(), MANY - MANY / 2);
    all.clear();
    assert_eq!((count.get(), iter.count()), (MANY, 0));
}

/// F84: Even if it is among what is there more than once, here by an `Eq` that lies. (Else by a thread that removes it and
/// inserts it again, while another notes what is there.)
#[test]
fn an_object_is_shown_once() {
    // They equal nothing, not even themselves.
    let [one, other] = [(); 2].map(|()| Strong::new(Custom::from(0).equal(|_, _| false)));
    let set = WeakHashSet::new();
    for object in [&one, &other, &one, &other] {
        assert!(set.insert(object));
    }
    let shown: Vec<_> = set.iter().map(|object| Strong::as_ptr(&object)).collect();
    let objects: HashSet<_> = shown.iter().copied().collect();
    assert_eq!((set.len(), shown.len(), objects.len()), (4, 2, 2));
    let map: WeakHashMap<_, Custom> = [(&one, 1.into()), (&one, 2.into())].into_iter().collect();
    assert_eq!(
        (map.len(), map.iter().count(), map.keys().count()),
        (2, 1, 1)
    );
}
