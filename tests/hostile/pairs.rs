//! Entries with two weak sides: each side's death, alone, together with the other's, and in the middle of an
//! operation on the entry.

use std::mem::take;

use crate::common::own::{self, Own};
use crate::common::wild::{Wild, wilds};
use crate::common::{self, Kind, new, panics, scaled};
use weakly::WeakPairMap;

const MANY: usize = scaled(40, 4);

/// 181: A pointer that panics while it replaces another: the entry is as it was, or as it would have been, but
/// counted once, whichever side dies.
#[test]
fn pointers_that_panic() {
    let mut caught = 0;
    for patience in 0..4 {
        for value_dies_first in [false, true] {
            let [key, old, new] = [1, 2, 3].map(Own::<()>::new);
            let mut map = WeakPairMap::new();
            map.insert(&key, &old);
            own::set_requests_left(Some(patience));
            caught += usize::from(panics(|| drop(map.insert(&key, &new))));
            own::set_requests_left(None);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (1, 1, 0));
            let (first, second) = match value_dies_first {
                true => ([Some(old), Some(new)], Some(key)),
                false => ([Some(key), None], None),
            };
            drop(first);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            drop(second);
            assert_eq!((map.len(), map.len_live(), map.pending_dead()), (0, 0, 1));
            map.purge();
            assert_eq!((map.len(), map.pending_dead()), (0, 0));
        }
    }
    assert!(caught >= 2, "{caught}");
}

/// An object that runs an action when it dies.
type Object<P> = <P as Kind>::Strong<Wild>;
type Pairs<P, Q> = WeakPairMap<Object<P>, Object<Q>>;

fn objects<P: Kind>() -> Vec<Object<P>> {
    wilds(0..MANY)
}

fn pairs<P: Kind, Q: Kind>(keys: &[Object<P>], values: &[Object<Q>]) -> Pairs<P, Q> {
    keys.iter().zip(values).collect()
}

/// Its counts are right and it takes new entries.
fn assert_usable<P: Kind, Q: Kind>(map: &mut Pairs<P, Q>, live: usize) {
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (live, live, 0)
    );
    let (keys, values) = (objects::<P>(), objects::<Q>());
    map.extend(keys.iter().zip(&values));
    assert_eq!(map.len(), live + MANY);
    drop((keys, values));
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (live, live, 0)
    );
}

/// H115: Keys, values or both die between two steps of a draining iterator: it shows no half of a pair.
fn both_sides_die_inside_a_drain<P: Kind, Q: Kind>() {
    type Step<'a> = &'a mut dyn FnMut();
    type Drainer<P, Q> = fn(&mut Pairs<P, Q>, Step<'_>) -> usize;
    let drainers: [Drainer<P, Q>; 5] = [
        |map, step| map.drain().inspect(|_| step()).count(),
        |map, step| map.extract_if(|_, _| true).inspect(|_| step()).count(),
        |map, step| take(map).into_iter().inspect(|_| step()).count(),
        |map, step| take(map).into_keys().inspect(|_| step()).count(),
        |map, step| take(map).into_values().inspect(|_| step()).count(),
    ];
    for drainer in drainers {
        for (keys_die, values_die) in [(true, false), (false, true), (true, true)] {
            let (mut keys, mut values) = (objects::<P>(), objects::<Q>());
            let mut map = pairs::<P, Q>(&keys, &values);
            let shown = drainer(&mut map, &mut || {
                if keys_die {
                    keys.clear();
                }
                if values_die {
                    values.clear();
                }
            });
            assert_eq!(shown, 1, "the others died with the first");
            assert_usable::<P, Q>(&mut map, 0);
        }
    }
}

/// H118: A key's destructor drops its value, or the other way round: the notice of one death comes in the middle of
/// the other death.
fn one_owns_the_other<P: Kind, Q: Kind>() {
    let leaves = objects::<Q>();
    let owners: Vec<_> = leaves
        .iter()
        .map(|leaf| {
            let mut leaf = Some(leaf.clone());
            new::<P, _>(Wild::ending(0, move |_| drop(leaf.take())))
        })
        .collect();
    let mut forth = pairs::<P, Q>(&owners, &leaves);
    let mut back = pairs::<Q, P>(&leaves, &owners);
    drop(leaves);
    assert_eq!((forth.len_live(), back.len_live()), (MANY, MANY));
    drop(owners);
    if P::NOTIFIES || Q::NOTIFIES {
        let counts = (
            forth.len(),
            forth.pending_dead(),
            back.len(),
            back.pending_dead(),
        );
        assert_eq!(counts, (0, MANY, 0, MANY));
    }
    assert_usable::<P, Q>(&mut forth, 0);
    assert_usable::<Q, P>(&mut back, 0);
}

#[test]
fn of_two_kinds() {
    both_sides_die_inside_a_drain::<common::Atomic, common::Local>();
    both_sides_die_inside_a_drain::<common::StdArc, common::Atomic>();
    one_owns_the_other::<common::Atomic, common::Local>();
    one_owns_the_other::<common::StdArc, common::Atomic>();
}
