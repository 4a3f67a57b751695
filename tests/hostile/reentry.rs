//! User code that a collection or a death calls, and that uses collections itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, Maps, quietly};
use crate::common::wild::{self, Wild, wilds};
use crate::common::{Kind, new, scaled};
use crate::for_each_kind;
use weakly::{Addr, local};

const MANY: usize = scaled(60, 18);

type Object<P> = <P as Kind>::Strong<Wild>;
type Map<P> = Maps<Object<P>>;
type Shared<P> = Rc<RefCell<Option<Map<P>>>>;

fn value(number: usize) -> Owned<Ends, Wild> {
    wild::owned(number, &quietly())
}

/// A value that owns something.
fn owner<T: 'static>(owned: T) -> Owned<Ends, Wild> {
    wild::owned(0, &(Rc::new(move |_| _ = &owned) as Ends))
}

/// An object whose drop runs an action on the map that contains it.
fn acting<P: Kind>(map: &Shared<P>, act: fn(&Wild, &Shared<P>)) -> Object<P> {
    let map = map.clone();
    new::<P, _>(Wild::ending(0, move |me| act(me, &map)))
}

/// Fills a map with objects that `act` at their death, drops them, and returns what is left.
fn dying<P: Kind>(act: fn(&Wild, &Shared<P>)) -> Shared<P> {
    let map: Shared<P> = Rc::new(RefCell::new(Some(Map::<P>::new())));
    let owners: Vec<_> = (0..MANY).map(|_| acting::<P>(&map, act)).collect();
    for (number, owner) in owners.iter().enumerate() {
        map.borrow_mut()
            .as_mut()
            .unwrap()
            .insert(owner, value(number));
    }
    drop(owners);
    let mut place = map.borrow_mut();
    if let Some(map) = &mut *place {
        assert_eq!(map.len_live(), 0);
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    }
    drop(place);
    map
}

fn destructor_reads<P: Kind>() {
    dying::<P>(|me, map| {
        let map = map.borrow();
        let map = map.as_ref().unwrap();
        assert!(map.contains_key(&Addr::of(me)));
        assert!(map.get_key_value(&Addr::of(me)).is_none());
        assert!(map.iter().all(|(key, _)| !std::ptr::eq(&*key, me)));
    });
}

fn destructor_removes_itself<P: Kind>() {
    dying::<P>(|me, map| {
        let mut map = map.borrow_mut();
        let map = map.as_mut().unwrap();
        // There is no strong pointer to return.
        assert!(map.remove_entry(&Addr::of(me)).is_none());
        let swept = !P::NOTIFIES;
        // Without notices, the dead may have been found by the attempt above.
        assert!(map.remove(&Addr::of(me)).is_some() || swept);
        assert!(map.remove(&Addr::of(me)).is_none());
    });
}

fn destructor_changes_the_map<P: Kind>() {
    dying::<P>(|me, shared| {
        let key = acting::<P>(shared, |_, _| ());
        let mut map = shared.borrow_mut();
        let map = map.as_mut().unwrap();
        map.insert(&key, value(1000));
        assert_eq!(map[&key].number.number, 1000);
        map.purge();
        assert!(!P::NOTIFIES || map.contains_key(&Addr::of(me)));
        map.shrink_to_fit();
        assert_eq!(map.remove(&key).unwrap().number.number, 1000);
    });
}

fn destructor_empties_the_map<P: Kind>() {
    dying::<P>(|_, map| map.borrow_mut().as_mut().unwrap().clear());
    dying::<P>(|_, map| {
        // The keys that this returns must not be the last handles.
        let entries: Vec<_> = map.borrow_mut().as_mut().unwrap().drain().collect();
        drop(entries);
    });
}

fn destructor_drops_the_map<P: Kind>() {
    let map = dying::<P>(|_, map| drop(map.take()));
    assert!(map.borrow().is_none());
}

/// The object is the only owner of the map that contains it.
fn object_owns_its_map<P: Kind>() {
    let map: Shared<P> = Rc::new(RefCell::new(Some(Map::<P>::new())));
    let owner = acting::<P>(&map, |_, _| ());
    map.borrow_mut().as_mut().unwrap().insert(&owner, value(1));
    let weak = Rc::downgrade(&map);
    drop(map);
    assert!(weak.upgrade().is_some());
    drop(owner);
    assert!(weak.upgrade().is_none());
}

fn closures_drop_keys<P: Kind>() {
    let filled = || {
        let keys = wilds::<Object<P>>(0..MANY);
        let map: Map<P> = keys.iter().map(|key| (key, value(0))).collect();
        (map, RefCell::new(keys))
    };
    let end = |mut map: Map<P>, left: usize| {
        assert_eq!(map.len_live(), left);
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (left, 0));
    };
    let (mut map, keys) = filled();
    map.retain(|_, _| {
        keys.borrow_mut().clear();
        true
    });
    end(map, 0);

    let (mut map, keys) = filled();
    let out = map.extract_if(|key, _| {
        keys.borrow_mut().retain(|other| other.number == key.number);
        true
    });
    assert_eq!(out.count(), 1);
    end(map, 0);

    let (mut map, keys) = filled();
    let key = new::<P, _>(Wild::new(MANY));
    map.get_or_insert_with(&key, |_| {
        keys.take();
        value(0)
    });
    for (number, _) in map.iter_mut().enumerate() {
        assert_eq!(number, 0, "the others died with the first");
        keys.take();
    }
    end(map, 1);

    let (map, keys) = filled();
    for (key, _) in &map {
        keys.borrow_mut().retain(|other| other.number != key.number);
    }
    end(map, 0);
}

/// Values that use, and own, another map, whose values do the same with this one's keys.
fn values_use_another_map<P: Kind>() {
    let other = Rc::new(RefCell::new(Map::<P>::new()));
    let keys = wilds::<Object<P>>(0..MANY);
    let mut map = Map::<P>::new();
    for number in 1..MANY {
        let (other, key) = (other.clone(), keys[number].clone());
        let end: Ends = Rc::new(move |_| {
            let mut other = other.borrow_mut();
            let passing = new::<P, _>(Wild::new(0));
            other.insert(&passing, owner(key.clone()));
            drop(passing);
            other.purge();
            other.insert(&key, value(0));
        });
        map.insert(&keys[number - 1], wild::owned(number, &end));
    }
    drop(keys);
    map.purge();
    assert_eq!(map.len(), 0);
    other.borrow_mut().purge();
    assert_eq!(other.borrow().len(), 0);
}

/// The last handle to another map is in a value.
fn values_drop_another_map<P: Kind>() {
    let keys = wilds::<Object<P>>(0..MANY);
    let inner: Map<P> = keys.iter().map(|key| (key, value(1))).collect();
    let mut map = Map::<P>::from([(&keys[0], owner(inner)), (&keys[1], value(1))]);
    drop(keys);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

for_each_kind!(
    destructor_reads,
    destructor_removes_itself,
    destructor_changes_the_map,
    destructor_empties_the_map,
    destructor_drops_the_map,
    object_owns_its_map,
    closures_drop_keys,
    values_use_another_map,
    values_drop_another_map,
);

#[test]
fn finalizer_drops_others() {
    let ran = Rc::new(Cell::new(0));
    let count = |ran: &Rc<Cell<i32>>| {
        let ran = ran.clone();
        move || ran.set(ran.get() + 1)
    };
    let others = wilds::<local::Strong<Wild>>(0..MANY);
    for other in &others {
        local::Strong::finalize(other, count(&ran));
    }
    let mut map: Maps<_> = others.iter().map(|other| (other, value(0))).collect();
    let first = local::Strong::new(0);
    local::Strong::finalize(&first, move || drop(others));
    drop(first);
    assert_eq!((ran.get(), map.pending_dead()), (MANY as i32, MANY));
    map.purge();
}

#[test]
fn finalizer_registers_on_others() {
    let ran = Rc::new(Cell::new(0));
    let (first, second) = (local::Strong::new(1), local::Strong::new(2));
    local::Strong::finalize(&first, {
        let (second, ran) = (second.clone(), ran.clone());
        move || {
            local::Strong::finalize(&second, move || ran.set(ran.get() + 1));
        }
    });
    drop(first);
    assert_eq!(ran.get(), 0);
    drop(second);
    assert_eq!(ran.get(), 1);
}

/// Once the death has begun, the sibling cannot be cancelled, and runs.
#[test]
fn finalizer_detaches_its_sibling() {
    let ran = Rc::new(Cell::new(0));
    let object = local::Strong::new(1);
    let sibling = local::Strong::finalize(&object, {
        let ran = ran.clone();
        move || ran.set(ran.get() + 1)
    });
    local::Strong::finalize(&object, move || {
        assert!(!sibling.is_pending());
        assert!(sibling.detach().is_none());
        assert!(!sibling.run_now());
    });
    drop(object);
    assert_eq!(ran.get(), 1);
}

/// It owns its own token, and the map that contains its object.
#[test]
fn finalizer_owns_all() {
    let object = local::Strong::new(Wild::new(1));
    let (token, owned) = (Rc::new(Cell::new(None)), Rc::new(1));
    let value = Rc::downgrade(&owned);
    let map = Maps::from([(&object, owner(owned))]);
    let own = token.clone();
    token.set(Some(local::Strong::finalize(&object, move || {
        assert_eq!((map.len(), map.pending_dead()), (0, 1));
        drop((own.take(), map));
    })));
    drop(object);
    assert!(value.upgrade().is_none() && token.take().is_none());
}

/// A cancelled finalizer that owns the last handle of its own object.
#[test]
fn finalizer_owns_its_object() {
    let object = local::Strong::new(1);
    let weak = local::Strong::downgrade(&object);
    let again = object.clone();
    let token = local::Strong::finalize(&object, move || drop(again));
    drop(object);
    assert!(!weak.is_expired());
    assert!(token.run_now());
    assert!(weak.is_expired());
}
