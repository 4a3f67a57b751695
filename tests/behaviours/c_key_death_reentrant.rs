//! C. Destructors that read, change or drop the maps they are in (items 47–53).

use std::cell::{Cell, OnceCell, RefCell};
use std::rc::Rc;

use weakly::{
    Addr, WeakMap,
    reference::{WeakKey, WeakRef},
};

use crate::collections::*;
use crate::common::custom::{Custom, On, with_callback};
use crate::common::lease::Lease;
use crate::common::{
    Counter, Kind, OnDrop, downgrade, is_alive, new, on_a_stack_of, scaled, sized,
};
use crate::{for_each_kind, heap};

for_each_kind!(
    a_destructor_uses_the_map_of_its_object,
    an_object_may_own_a_weak_handle_to_itself,
);

for_each_owning!(
    kit: a_long_chain_of_entries_owning_lives_is_purged_without_recursion,
    a_long_chain_dies_with_its_collection_without_recursion,
);

type Weak<P, T> = <<P as Kind>::Strong<T> as WeakKey>::Weak;

/// An object with a map of its own kind, a weak handle to itself, and an action for its drop.
struct Owner<P: Kind> {
    map: Rc<RefCell<WeakMap<P::Strong<Owner<P>>, OnDrop>>>,
    me: OnceCell<Weak<P, Owner<P>>>,
    last_deed: fn(&Owner<P>),
    done: Rc<Cell<bool>>,
}

impl<P: Kind> Drop for Owner<P> {
    fn drop(&mut self) {
        (self.last_deed)(self);
        self.done.set(true);
    }
}

/// Makes an owner with an attribute, drops it, and checks that map and memory are as before.
fn live_and_die<P: Kind>(last_deed: fn(&Owner<P>)) {
    let (map, done) = (Rc::default(), Rc::default());
    let counter = Counter::default();
    let owner = new::<P, _>(Owner {
        map: Rc::clone(&map),
        me: OnceCell::new(),
        last_deed,
        done: Rc::clone(&done),
    });
    assert!(owner.me.set(downgrade(&owner)).is_ok());
    map.borrow_mut().insert(&owner, counter.witness());
    let weak = downgrade(&owner);
    drop(owner);
    assert!(done.get(), "the destructor has come to its end");
    assert!(!is_alive(&weak));
    map.borrow_mut().purge();
    assert_eq!((map.borrow().len(), counter.get()), (0, 1));
}

/// C47, C48, C49, C50, C55: A destructor finds its own object's entry by reference, but no strong
/// handle; weak handles are dead, those made there too; it may remove the entry. (A map of the
/// standard library's pointers may have swept the entry already, at the start of `remove`.)
fn a_destructor_uses_the_map_of_its_object<P: Kind>() {
    let deeds: [fn(&Owner<P>); 4] = [
        |owner| {
            assert!(owner.map.borrow().get(&Addr::of(owner)).is_some());
            assert!(owner.map.borrow_mut().get_mut(&Addr::of(owner)).is_some());
            assert_eq!(owner.map.borrow().len(), 1);
            assert_eq!(owner.map.borrow().len_live(), 0);
        },
        |owner| {
            let me = owner.me.get().unwrap();
            assert!(me.upgrade().is_none() && me.clone().upgrade().is_none());
            assert!(owner.map.borrow().get(me).is_none());
            assert!(owner.map.borrow().iter_weak().next().is_none());
        },
        |owner| {
            let mut map = owner.map.borrow_mut();
            assert_eq!(map.remove(&Addr::of(owner)).is_some(), P::NOTIFIES);
            assert!(map.remove(&Addr::of(owner)).is_none());
            assert!(map.is_empty());
        },
        |owner| {
            let (me, mut map) = (Addr::of(owner), owner.map.borrow_mut());
            assert!(map.contains_key(&me));
            assert!(map.get_key_value(&me).is_none());
            assert!(map.remove_entry(&me).is_none());
            assert!(map.iter().next().is_none() && map.pop().is_none());
        },
    ];
    deeds.into_iter().for_each(live_and_die);
}

/// C51: An object with a weak handle to itself leaks no memory.
fn an_object_may_own_a_weak_handle_to_itself<P: Kind>() {
    struct Narcissus<P: Kind>(OnceCell<Weak<P, Narcissus<P>>>);
    let start = heap::bytes();
    let object = new::<P, _>(Narcissus::<P>(OnceCell::new()));
    assert!(object.0.set(downgrade(&object)).is_ok());
    assert!(object.0.get().is_some_and(is_alive));
    drop(object);
    assert_eq!(heap::bytes(), start);
}

/// C53: In a chain of ten thousands of entries, each owning the life of the next, dropping the head frees all, on a small
/// stack. (Shorter for the standard library's pointers: see
/// [`a_purge_that_sweeps_a_chain_takes_a_round_for_a_link_at_the_worst`].)
fn a_long_chain_of_entries_owning_lives_is_purged_without_recursion(kit: Kit<dyn Owning>) {
    on_a_stack_of(256 << 10, move || {
        let n = if kit.notifies {
            sized(100_000, 20_000, 300)
        } else {
            sized(4_000, 1_000, 300)
        };
        let dead = Counter::default();
        let (mut all, head) = chain(kit, n, &counted(&dead));
        drop(head);
        assert_eq!(all.len_live(), n - 1);
        all.purge();
        assert_eq!((all.len(), dead.get()), (0, n));
    });
}

/// C53: The same when the collection is dropped first: what it owns is dropped with it, and ends the lives one
/// by one.
fn a_long_chain_dies_with_its_collection_without_recursion(kit: Kit<dyn Owning>) {
    on_a_stack_of(256 << 10, move || {
        let n = sized(100_000, 20_000, 300);
        let dead = Counter::default();
        let (all, head) = chain(kit, n, &counted(&dead));
        drop(all);
        assert_eq!(dead.get(), n);
        assert_eq!(head.counts(), (1, 0));
    });
}

/// How often a collection asks meanwhile whether an object is dead.
fn questions(act: impl FnOnce()) -> usize {
    let count = Rc::new(Cell::new(0));
    let counts = count.clone();
    let counter = move |on, _| counts.set(counts.get() + usize::from(on == On::Asked));
    with_callback(counter, act);
    count.get()
}

/// C53: A purge that has to sweep repeats until it finds no dead entry: in the worst case a round for each link
/// of a chain, as documented, and never more.
#[test]
fn a_purge_that_sweeps_a_chain_takes_a_round_for_a_link_at_the_worst() {
    let n = scaled(1_000, 40);
    let link = |n| Lease::from(Custom::from(n));
    let mut map = WeakMap::new();
    let mut head = None;
    for n in 0..n {
        let key = link(n);
        map.insert(&key, head.replace(key.clone()));
    }
    let asked = questions(|| {
        drop(head);
        map.purge();
    });
    assert_eq!(map.len(), 0);
    assert!((n..=n * (n + 1) / 2 + n).contains(&asked), "{asked}");
    // Without a chain, two rounds: one that finds them all, and one that finds no more.
    let keys: Vec<_> = (0..n).map(link).collect();
    map.extend(keys.iter().map(|key| (key, None)));
    drop(keys);
    assert_eq!(questions(|| _ = map.purge()), n);
    assert_eq!(map.len(), 0);
}
