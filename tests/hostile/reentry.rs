//! User code that a collection or a death calls, and that uses collections itself.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::common::{Counter, Kind, Witness, new, scaled};
use crate::for_each_kind;
use weakly::{Addr, WeakMap, local};

const MANY: usize = scaled(60, 18);

type Map<P> = WeakMap<<P as Kind>::Strong<Owner<P>>, usize>;
type Shared<P> = Rc<RefCell<Option<Map<P>>>>;

/// An object whose drop runs an action on the map that contains it.
struct Owner<P: Kind> {
    map: Shared<P>,
    act: fn(&Owner<P>, &Shared<P>),
}

impl<P: Kind> Drop for Owner<P> {
    fn drop(&mut self) {
        (self.act)(self, &self.map);
    }
}

/// Fills a map with objects that `act` at their death, drops them, and returns what is left.
fn dying<P: Kind>(act: fn(&Owner<P>, &Shared<P>)) -> Shared<P> {
    let map: Shared<P> = Rc::new(RefCell::new(Some(Map::<P>::new())));
    let owner = |_| {
        let map = map.clone();
        new::<P, _>(Owner { map, act })
    };
    let owners: Vec<_> = (0..MANY).map(owner).collect();
    for (number, owner) in owners.iter().enumerate() {
        map.borrow_mut().as_mut().unwrap().insert(owner, number);
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
    fn quiet<P: Kind>(_: &Owner<P>, _: &Shared<P>) {}
    dying::<P>(|me, shared| {
        let key = new::<P, _>(Owner {
            map: shared.clone(),
            act: quiet::<P>,
        });
        let mut map = shared.borrow_mut();
        let map = map.as_mut().unwrap();
        map.insert(&key, 1000);
        assert_eq!(map.get(&key), Some(&1000));
        map.purge();
        assert!(!P::NOTIFIES || map.contains_key(&Addr::of(me)));
        map.shrink_to_fit();
        assert_eq!(map.remove(&key), Some(1000));
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
    fn quiet<P: Kind>(_: &Owner<P>, _: &Shared<P>) {}
    let act = quiet::<P>;
    let map: Shared<P> = Rc::new(RefCell::new(Some(Map::<P>::new())));
    let owner = new::<P, _>(Owner { map, act });
    owner.map.borrow_mut().as_mut().unwrap().insert(&owner, 1);
    let weak = Rc::downgrade(&owner.map);
    drop(owner);
    assert!(weak.upgrade().is_none());
}

fn closures_drop_keys<P: Kind>() {
    let counter = Counter::default();
    let filled = || {
        let keys: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
        let map: WeakMap<_, _> = keys.iter().map(|key| (key, counter.witness())).collect();
        (map, RefCell::new(keys))
    };
    let end = |mut map: WeakMap<P::Strong<usize>, Witness>, left: usize| {
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
        keys.borrow_mut().retain(|other| **other == **key);
        true
    });
    assert_eq!(out.count(), 1);
    end(map, 0);

    let (mut map, keys) = filled();
    let key = new::<P, usize>(MANY);
    map.get_or_insert_with(&key, |_| {
        keys.take();
        counter.witness()
    });
    for (number, _) in map.iter_mut().enumerate() {
        assert_eq!(number, 0, "the others died with the first");
        keys.take();
    }
    end(map, 1);

    let (map, keys) = filled();
    for (key, _) in &map {
        keys.borrow_mut().retain(|other| **other != *key);
    }
    end(map, 0);
}

/// Values that use, and own, another map, whose values do the same with this one's keys.
fn values_use_another_map<P: Kind>() {
    type Other<P> =
        Rc<RefCell<WeakMap<<P as Kind>::Strong<usize>, Option<<P as Kind>::Strong<usize>>>>>;
    struct Value<P: Kind> {
        other: Other<P>,
        key: P::Strong<usize>,
    }
    impl<P: Kind> Drop for Value<P> {
        fn drop(&mut self) {
            let mut other = self.other.borrow_mut();
            let passing = new::<P, usize>(0);
            other.insert(&passing, Some(self.key.clone()));
            drop(passing);
            other.purge();
            other.insert(&self.key, None);
        }
    }
    let other: Other<P> = Rc::default();
    let keys: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
    let value = |number: usize| Value::<P> {
        other: other.clone(),
        key: keys[number].clone(),
    };
    let mut map = WeakMap::new();
    for number in 1..MANY {
        map.insert(&keys[number - 1], value(number));
    }
    drop(keys);
    map.purge();
    assert_eq!(map.len(), 0);
    other.borrow_mut().purge();
    assert_eq!(other.borrow().len(), 0);
}

/// The last handle to another map is in a value.
fn values_drop_another_map<P: Kind>() {
    let keys: Vec<_> = (0..MANY).map(new::<P, usize>).collect();
    let inner: WeakMap<_, _> = keys.iter().map(|key| (key, 1)).collect();
    let mut map = WeakMap::from([(&keys[0], Some(inner)), (&keys[1], None)]);
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
    let others: Vec<_> = (0..MANY).map(local::Strong::new).collect();
    for other in &others {
        local::Strong::finalize(other, count(&ran));
    }
    let mut map: WeakMap<_, _> = others.iter().map(|other| (other, ())).collect();
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
    let object = local::Strong::new(1);
    let token = Rc::new(Cell::new(None));
    let map = WeakMap::from([(&object, Rc::new(1))]);
    let value = Rc::downgrade(&map[&object]);
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
