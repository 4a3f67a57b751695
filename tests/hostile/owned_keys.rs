//! Destructors of the keys that a map of weak values owns: they run when the dead are reclaimed.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, ValueMaps};
use crate::common::wild::{self, Wild, wilds};
use crate::common::{Counter, Kind, new, panics, quiet_panic, scaled};
use crate::for_each_kind;
use weakly::collections::weak_value_map;

/// More than one operation reclaims.
const MANY: usize = scaled(100, 20);

/// A key whose drop runs an action.
type Name = Owned<Ends, Wild>;

type Object<P> = <P as Kind>::Strong<Wild>;
type Map<P> = ValueMaps<Object<P>>;

/// Makes names, and counts their drops.
struct Names {
    end: Ends,
    ended: Counter,
}

impl Names {
    fn new(end: impl Fn() + 'static) -> Self {
        let ended = Counter::default();
        let count = ended.clone();
        let end = Rc::new(move |_| {
            // Also if it panics.
            let _counted = count.witness();
            end();
        });
        Names { end, ended }
    }

    fn name(&self, number: usize) -> Name {
        wild::owned(number, &self.end)
    }

    fn map<P: Kind>(&self) -> (Map<P>, Vec<Object<P>>) {
        let values = wilds::<Object<P>>(0..MANY);
        let named = values.iter().map(|value| (self.name(value.number), value));
        (named.collect(), values)
    }
}

/// Names of which the next to be dropped panics, once the fuse burns.
fn bombs() -> (Names, Rc<Cell<bool>>) {
    let fuse = Rc::new(Cell::new(false));
    let burning = fuse.clone();
    let names = Names::new(move || {
        if burning.take() {
            quiet_panic();
        }
    });
    (names, fuse)
}

/// The map's counts are right and it takes new entries.
fn assert_usable<P: Kind>(map: &mut Map<P>, live: usize) {
    let (names, values) = (Names::new(|| ()), wilds::<Object<P>>(0..MANY));
    map.purge();
    let counts = |map: &Map<P>| (map.len(), map.len_live(), map.pending_dead());
    assert_eq!(counts(map), (live, live, 0));
    for value in &values {
        assert!(map.insert(names.name(MANY + value.number), value).is_none());
    }
    assert_eq!(map.len(), live + MANY);
    drop(values);
    map.purge();
    assert_eq!((counts(map), names.ended.get()), ((live, live, 0), MANY));
}

fn panic_in_purge<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    drop(values);
    fuse.set(true);
    assert!(panics(|| _ = map.purge()));
    assert_eq!(names.ended.get(), 1);
    map.purge();
    assert_eq!(names.ended.get(), MANY);
    assert_usable::<P>(&mut map, 0);
}

/// The dead value's key is dropped when its entry is replaced, or by the drain before.
fn panic_in_insert<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    drop(values);
    let values = wilds::<Object<P>>(0..MANY);
    let mut caught = 0;
    for value in &values {
        fuse.set(true);
        while panics(|| _ = map.insert(names.name(value.number), value)) {
            caught += 1;
        }
        fuse.set(false);
        assert!(map.contains_key(&names.name(value.number)));
    }
    assert!(caught > 0);
    assert_usable::<P>(&mut map, MANY);
}

/// A live value's key stays when the value is replaced: the new key is dropped.
fn panic_of_a_key_that_is_not_needed<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    let value = new::<P, _>(Wild::new(0));
    fuse.set(true);
    assert!(panics(|| _ = map.insert(names.name(0), &value)));
    assert_eq!((map.len(), names.ended.get()), (MANY, 1));
    assert!(map.contains_key(&names.name(0)));
    drop(values);
    assert_usable::<P>(&mut map, 1);
}

fn panic_in_removal<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    let wanted = names.name(0);
    fuse.set(true);
    assert!(panics(|| drop(map.remove(&wanted))));
    assert!(!map.contains_key(&wanted));
    fuse.set(true);
    assert!(panics(|| map.retain(|_, _| false)));
    assert_eq!(map.len(), MANY - 2);
    fuse.set(true);
    assert!(panics(|| map.extract_if(|_, _| true).for_each(drop)));
    assert_eq!(map.len(), MANY - 3);
    fuse.set(true);
    assert!(panics(|| drop(map.pop())));
    assert_eq!(map.len(), MANY - 4);
    let weak_value_map::Entry::Occupied(entry) =
        map.entry(names.name(values.last().unwrap().number))
    else {
        // It is one of those that are gone.
        return assert_usable::<P>(&mut map, MANY - 4);
    };
    fuse.set(true);
    assert!(panics(|| drop(entry.remove())));
    assert_usable::<P>(&mut map, MANY - 5);
}

/// Of a value with several keys: each goes with one call or the next.
fn panic_in_removal_by_value<P: Kind>() {
    let (names, fuse) = bombs();
    let value = new::<P, _>(Wild::new(0));
    let mut map: Map<P> = (0..MANY).map(|n| (names.name(n), &value)).collect();
    let other = new::<P, _>(Wild::new(1));
    map.insert(names.name(0), &other);
    let mut left = MANY;
    for _ in 0..5 {
        fuse.set(true);
        assert!(panics(|| _ = map.remove_value(&value)));
        left -= 1;
        assert_eq!((map.len(), map.keys_of(&value).count()), (left, left - 1));
    }
    assert_eq!(map.remove_value(&value), left - 1);
    assert!(map.keys_of(&other).eq([&names.name(0)]));
    assert_usable::<P>(&mut map, 1);
}

/// What was not yielded stays, and is reclaimed later.
fn panic_in_drain_dead<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    drop(values);
    fuse.set(true);
    assert!(panics(|| map.drain_dead().for_each(drop)));
    assert_eq!(names.ended.get(), 1);
    assert_eq!(map.drain_dead().count(), MANY - 1);
    assert_usable::<P>(&mut map, 0);
}

/// All keys are dropped; their values die afterwards.
fn panic_in_clear_or_drop<P: Kind>() {
    let (names, fuse) = bombs();
    let (mut map, values) = names.map::<P>();
    fuse.set(true);
    assert!(panics(|| map.clear()));
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    drop(values);
    assert_usable::<P>(&mut map, 0);
    let (mut map, values) = names.map::<P>();
    fuse.set(true);
    assert!(panics(|| drop(map.drain())));
    drop(values);
    assert_usable::<P>(&mut map, 0);
    let (map, values) = names.map::<P>();
    fuse.set(true);
    assert!(panics(|| drop(map)));
    drop(values);
}

/// All within one purge, and each key once.
fn a_key_kills_other_values<P: Kind>() {
    let values = Rc::new(RefCell::new(Vec::<Object<P>>::new()));
    let left = values.clone();
    let names = Names::new(move || {
        let killed = left.borrow_mut().pop();
        drop(killed);
    });
    let (mut map, objects) = names.map::<P>();
    values.replace(objects);
    let first = values.borrow_mut().remove(MANY / 2);
    drop(first);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
    assert_eq!(names.ended.get(), MANY);
    // And when they are all dropped at once.
    let (mut map, objects) = names.map::<P>();
    values.replace(objects);
    map.clear();
    assert!(values.borrow().is_empty());
    assert_usable::<P>(&mut map, 0);
}

/// A key's drop uses its own map, if that is not borrowed; and another, always.
fn a_key_uses_maps<P: Kind>() {
    type Shared<P> = Rc<RefCell<Map<P>>>;
    let [own, other]: [Shared<P>; 2] = Default::default();
    let used = Rc::new(Cell::new([0; 2]));
    let (places, count) = ([own.clone(), other.clone()], used.clone());
    let names = Names::new(move || {
        let harmless = Names::new(|| ());
        for (n, place) in places.iter().enumerate() {
            let Ok(mut map) = place.try_borrow_mut() else {
                continue; // this map itself reclaims
            };
            let mut times = count.get();
            times[n] += 1;
            count.set(times);
            let value = new::<P, _>(Wild::new(0));
            map.insert(harmless.name(MANY + 1), &value);
            drop(value);
            map.purge();
            map.shrink_to_fit();
        }
    });
    let values = wilds::<Object<P>>(0..MANY);
    for value in &values {
        own.borrow_mut().insert(names.name(value.number), value);
    }
    drop(values);
    // Half of them are dropped while the map that they were in is not borrowed.
    let mut handed_out: Vec<_> = own.borrow_mut().drain_dead().take(MANY / 2).collect();
    while let Some(name) = handed_out.pop() {
        drop(name);
    }
    own.borrow_mut().purge();
    assert_eq!(names.ended.get(), MANY);
    assert!(used.get()[0] > 0);
    assert_eq!(used.get()[1], MANY);
    assert_usable::<P>(&mut own.borrow_mut(), 0);
    assert_usable::<P>(&mut other.borrow_mut(), 0);
}

/// The last handle to the map is in one of its own keys: the death drops it, and the map with it.
fn a_key_owns_its_map<P: Kind>() {
    let place = Rc::new(RefCell::new(None));
    let owner = place.clone();
    let names = Names::new(move || drop(owner.take()));
    let (map, values) = names.map::<P>();
    place.replace(Some(map));
    drop(values);
    let dead: Vec<_> = place
        .borrow_mut()
        .as_mut()
        .unwrap()
        .drain_dead()
        .take(2)
        .collect();
    drop(dead);
    assert!(place.borrow().is_none());
    assert_eq!(names.ended.get(), MANY);
}

for_each_kind!(
    panic_in_purge,
    panic_in_insert,
    panic_of_a_key_that_is_not_needed,
    panic_in_removal,
    panic_in_drain_dead,
    panic_in_removal_by_value,
    panic_in_clear_or_drop,
    a_key_kills_other_values,
    a_key_uses_maps,
    a_key_owns_its_map,
);
