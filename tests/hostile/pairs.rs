//! Entries with two weak sides: each side's death, alone, together with the other's, and in the middle of an
//! operation on the entry.

use std::cell::{Cell, RefCell};
use std::mem::take;
use std::rc::Rc;

use crate::common::own::{self, Own};
use crate::common::wild::Wild;
use crate::common::{self, Kind, new, panics, quiet_panic, scaled};
use crate::for_each_kind;
use weakly::WeakPairMap;

const MANY: usize = scaled(40, 4);

/// A pointer that panics while it replaces another: the entry is as it was, or as it would have been, but
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

fn objects<P: Kind>(end: impl Fn() + Clone + 'static) -> Vec<Object<P>> {
    let object = |number| {
        let end = end.clone();
        new::<P, _>(Wild::ending(number, move |_| end()))
    };
    (0..MANY).map(object).collect()
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
    let (keys, values) = (objects::<P>(|| ()), objects::<Q>(|| ()));
    map.extend(keys.iter().zip(&values));
    assert_eq!(map.len(), live + MANY);
    drop((keys, values));
    map.purge();
    assert_eq!(
        (map.len(), map.len_live(), map.pending_dead()),
        (live, live, 0)
    );
}

/// Keys, values or both die between two steps of a draining iterator: it shows no half of a pair.
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
            let (mut keys, mut values) = (objects::<P>(|| ()), objects::<Q>(|| ()));
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

/// The same with an iterator that removes nothing: each pair is whole when it is shown.
fn both_sides_die_under_an_iterator<P: Kind, Q: Kind>() {
    let (keys, values) = (objects::<P>(|| ()), objects::<Q>(|| ()));
    let mut map = pairs::<P, Q>(&keys, &values);
    let (keys, mut values) = (RefCell::new(keys), values);
    for (_, _) in &map {
        keys.borrow_mut().pop();
    }
    assert!(map.len_live() <= MANY / 2 + 1);
    map.retain(|_, _| {
        keys.take();
        true
    });
    values.clear();
    assert_usable::<P, Q>(&mut map, 0);
}

/// A key's destructor drops its value, or the other way round: the notice of one death comes in the middle of
/// the other death.
fn one_owns_the_other<P: Kind, Q: Kind>() {
    let leaves = objects::<Q>(|| ());
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

/// One side stays alive; then it panics too. The entry dies once.
fn half_dead_with_destructors_that_panic<P: Kind, Q: Kind>() {
    for values_first in [false, true] {
        let fuse = Rc::new(Cell::new(false));
        let burning = fuse.clone();
        let end = move || {
            if burning.take() {
                quiet_panic();
            }
        };
        let (mut keys, mut values) = (objects::<P>(end.clone()), objects::<Q>(end));
        let mut map = pairs::<P, Q>(&keys, &values);
        fuse.set(true);
        assert!(panics(|| if values_first {
            values.clear()
        } else {
            keys.clear()
        }));
        assert_eq!(
            (map.len_live(), map.iter().count(), map.iter_weak().count()),
            (0, 0, 0)
        );
        fuse.set(true);
        assert!(panics(|| if values_first {
            keys.clear()
        } else {
            values.clear()
        }));
        assert!(map.len() + map.pending_dead() <= MANY);
        assert_usable::<P, Q>(&mut map, 0);
    }
}

/// The library has one source for both: see [`for_each_kind!`].
#[cfg(not(weakly_other_handles))]
type Std = common::StdArc;
#[cfg(weakly_other_handles)]
type Std = common::StdRc;

macro_rules! for_each_two_kinds {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use super::*;
            fn with_atomic<P: Kind>() {
                super::$test::<P, common::Atomic>();
            }
            fn with_local<P: Kind>() {
                super::$test::<P, common::Local>();
            }
            fn with_std<P: Kind>() {
                super::$test::<P, Std>();
            }
            for_each_kind!(with_atomic, with_local, with_std);
        }
    )*};
}

for_each_two_kinds!(
    both_sides_die_inside_a_drain,
    both_sides_die_under_an_iterator,
    one_owns_the_other,
    half_dead_with_destructors_that_panic,
);
