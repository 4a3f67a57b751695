//! B. Identity (items 26–34).

use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::rc::{self, Rc};
use std::sync::{self, Arc};

use weakly::{
    Addr, Anchor, ByIdentity, Strong, Weak, WeakMap, local, ptr,
    reference::{Identity, StrongRef, WeakKey},
    unsize,
};

use crate::collections::{Owned, counted};
use crate::common::{Counter, Kind, Map, OnDrop, Own, downgrade, is_alive, keys, new, scaled};
use crate::{for_each_flavour, for_each_kind, heap};

for_each_kind!(
    equal_values_are_two_keys,
    a_new_object_at_an_old_address_is_not_found,
    a_new_key_takes_over_the_place_of_a_dead_one,
    entries_stay_found_while_keys_die_and_the_table_grows,
    dead_entries_equal_nothing,
    an_expired_weak_handle_finds_nothing,
    a_lookup_leaves_no_trace,
    an_object_that_was_never_a_key_is_no_work,
);

/// B26: Two objects of equal value are two entries.
fn equal_values_are_two_keys<P: Kind>() {
    let [a, b] = [5, 5].map(new::<P, usize>);
    let mut map = Map::<P, _>::from([(&a, 1_usize), (&b, 2)]);
    assert_eq!((map.len(), map[&a], map[&b]), (2, 1, 2));
    map.remove(&a);
    assert_eq!((map.get(&a), map.get(&b)), (None, Some(&2)));
}

for_each_flavour!(
    a_trait_object_and_its_concrete_handle_are_one_key,
    a_part_of_an_object_is_another_address,
);

/// B27: A key is found through any handle to the allocation, whatever type it was coerced to.
fn a_trait_object_and_its_concrete_handle_are_one_key<F: Own>() {
    let number = ptr::Strong::<usize, F>::new(5);
    let shown = unsize!(number.clone() => dyn Display);
    let map = WeakMap::from([(&shown, 5_usize)]);
    assert_eq!(map.get(&shown.clone()), Some(&5));
    assert_eq!(map.get(&unsize!(number.clone() => dyn Display)), Some(&5));
    assert_eq!(map.get(&Addr::<dyn Display>::of(&*number)), Some(&5));
    assert_eq!(map.get(&ptr::Strong::downgrade(&shown)), Some(&5));
}

/// B27: An object is found by its own address, and by no other within it, however many maps it is in.
fn a_part_of_an_object_is_another_address<F: Own>() {
    for len in [40, 400] {
        let object = ptr::Strong::<[u8], F>::from(&vec![0; len][..]);
        let mut maps: [WeakMap<_, _>; 4] = core::array::from_fn(|_| WeakMap::new());
        for map in &mut maps {
            map.insert(&object, 1_usize);
        }
        for map in &mut maps {
            assert_eq!(map.get(&Addr::of(&object[..])), Some(&1));
            for from in 1..len {
                let part = Addr::of(&object[from..]);
                assert_eq!(map.get(&part), None, "{from}");
                assert_eq!(map.remove(&part), None, "{from}");
            }
        }
    }
}

/// B27: A plain reference to the payload works for every kind.
#[test]
fn a_plain_reference_finds_the_key() {
    fn check<K: StrongRef<Target = usize>>(key: &K, payload: &usize, other: &usize)
    where
        usize: weakly::reference::Identify<K>,
    {
        let map = WeakMap::from([(key, 1_usize)]);
        assert_eq!(map.get(payload), Some(&1));
        assert_eq!(map.get(other), None);
    }
    let (a, b, c, d) = (
        Strong::new(1_usize),
        local::Strong::new(1_usize),
        Arc::new(1),
        Rc::new(1),
    );
    check(&a, &a, &b);
    check(&b, &b, &c);
    check(&c, &c, &d);
    check(&d, &d, &a);
}

/// A size that nothing else here has, so that the allocator soon returns the same address again; and large
/// enough that a payload of ours has an allocation of its own. (The address of an inline payload is not reused
/// while there is an entry.)
type Payload = [u64; 121];

/// Drops keys of `map` until a new object gets the address of a dead one, while that one's notice is pending,
/// behind more notices than one operation drains.
fn recycled<P: Kind>(
    map: &mut WeakMap<P::Strong<Payload>, OnDrop>,
    values: &Counter,
) -> Option<P::Strong<Payload>> {
    let attempts = if P::NOTIFIES { 50 } else { 3 };
    (0..attempts).find_map(|_| {
        let mut dying: Vec<_> = (0..20).map(|_| new::<P, Payload>([0; 121])).collect();
        for key in &dying {
            map.insert(key, values.witness());
        }
        let addr = P::Strong::addr(&dying[19]);
        dying.clear();
        let tries: Vec<_> = (0..40).map(|_| new::<P, Payload>([1; 121])).collect();
        tries.into_iter().find(|new| P::Strong::addr(new) == addr)
    })
}

/// B28: A new object at a dead key's address is not found, whether or not the notice was drained. (The entries
/// of the standard library's pointers keep the address occupied: it is not reused.)
fn a_new_object_at_an_old_address_is_not_found<P: Kind>() {
    let mut map = WeakMap::<P::Strong<Payload>, _>::new();
    let found = recycled::<P>(&mut map, &Counter::default());
    assert_eq!(found.is_some(), P::NOTIFIES);
    let Some(new) = found else { return };
    for _drained in [false, true] {
        assert!(map.get(&new).is_none());
        assert!(map.get(&Addr::of(&*new)).is_none());
        assert!(map.get(&P::Strong::downgrade(&new)).is_none());
        assert!(map.get_mut(&new).is_none());
        assert!(map.get_key_value(&new).is_none());
        assert!(map.remove(&new).is_none());
        map.purge();
    }
}

/// B28: It can become a key itself: the old value is dropped, and the late notice affects no other entry.
fn a_new_key_takes_over_the_place_of_a_dead_one<P: Kind>() {
    let (old, live) = (Counter::default(), Counter::default());
    let mut map = WeakMap::<P::Strong<Payload>, _>::new();
    let Some(new) = recycled::<P>(&mut map, &old) else {
        return assert!(!P::NOTIFIES);
    };
    let dead = map.pending_dead() + old.get();
    assert!(map.insert(&new, live.witness()).is_none());
    assert_eq!(map.len(), 1);
    map.purge();
    assert_eq!((old.get(), live.get(), map.len()), (dead, 0, 1));
    assert!(map.contains_key(&new));
}

/// B29: An entry is found after others died and the table grew.
fn entries_stay_found_while_keys_die_and_the_table_grows<P: Kind>() {
    let counter = Counter::default();
    let ends = counted(&counter);
    let (mut live, mut dead) = (Vec::new(), 0);
    let mut map = Map::<P, Owned>::new();
    for n in 0..scaled(2_000, 60) {
        let key = new::<P, usize>(n);
        map.insert(&key, Owned::new(n, &ends));
        match n % 3 {
            0 => dead += 1,
            _ => live.push(key),
        }
    }
    assert!(live.iter().all(|key| map[key].number == **key));
    map.purge();
    assert_eq!((map.len(), counter.get()), (live.len(), dead));
}

/// B30: A dead entry equals nothing: neither another dead one, nor one of a new key.
fn dead_entries_equal_nothing<P: Kind>() {
    let live = new::<P, usize>(1);
    let [a, b] = [1, 1].map(|n| Map::<P, _>::from([(&live, 0_usize), (&new::<P, usize>(n), 1)]));
    assert!(a == b, "only the live entries count");
    let empty = Map::<P, _>::new();
    let dead = Map::<P, _>::from([(&new::<P, usize>(1), 1)]);
    assert!(dead == empty);
    assert!(empty == dead);
    assert!(a != empty);
}

/// B31: An expired weak handle finds nothing, in any map, before and after the values are dropped.
fn an_expired_weak_handle_finds_nothing<P: Kind>() {
    let key = new::<P, usize>(1);
    let dead = downgrade(&key);
    let mut its = Map::<P, _>::from([(&key, 1_usize)]);
    let other_key = new::<P, usize>(2);
    let mut other = Map::<P, _>::from([(&other_key, 2_usize)]);
    assert_eq!(its.get(&dead), Some(&1));
    drop(key);
    for _drained in [false, true] {
        assert_eq!((its.get(&dead), other.get(&dead)), (None, None));
        assert_eq!((its.get_mut(&dead), other.remove(&dead)), (None, None));
        its.purge();
        other.purge();
    }
    assert_eq!(other.len(), 1);
}

for_each_flavour!(weak_handles_are_equal_if_made_from_one_object);
for_each_kind!(
    weak_handles_by_identity_are_equal_if_made_from_one_object,
    a_dead_weak_handle_by_identity_is_of_no_later_object,
    objects_of_no_size_have_identities,
    identities_have_an_order,
);

/// B32: Weak handles of one object are equal and hash equal, before and after its death.
fn weak_handles_are_equal_if_made_from_one_object<F: Own>() {
    let state = RandomState::new();
    let [object, twin] = [5, 5].map(ptr::Strong::<usize, F>::new);
    let [a, b, other] = [&object, &object, &twin].map(ptr::Strong::downgrade);
    let before = state.hash_one(&a);
    drop(object);
    assert!(a == b && b == a.clone());
    assert!(a != other);
    assert_eq!((state.hash_one(&a), state.hash_one(&b)), (before, before));
    let set = HashSet::from([a, b, other, ptr::Weak::new(), ptr::Weak::new()]);
    assert_eq!(set.len(), 3);
}

/// B32: So are those of every kind, in a [`ByIdentity`].
fn weak_handles_by_identity_are_equal_if_made_from_one_object<P: Kind>() {
    let state = RandomState::new();
    let [object, twin] = [5, 5].map(new::<P, usize>);
    let weak = |object| ByIdentity(downgrade(object));
    let [a, b, other] = [&object, &object, &twin].map(weak);
    let before = state.hash_one(&a);
    let mut set = HashSet::from([a.clone(), other.clone()]);
    let mut check = || {
        assert!(a == b && a == a.clone() && a != other);
        assert_eq!([&a, &b].map(|weak| state.hash_one(weak)), [before; 2]);
        assert!(set.contains(&b) && !set.insert(a.clone()) && !set.insert(other.clone()));
    };
    check();
    drop(object);
    check();
    drop(twin);
    check();
    assert!(!is_alive(&*a));
}

/// B32, B28: Also if the later object gets the address of the dead one's payload.
fn a_dead_weak_handle_by_identity_is_of_no_later_object<P: Kind>() {
    let mut reused = false;
    for _ in 0..scaled(50, 10) {
        let dying = new::<P, Payload>([0; 121]);
        let (addr, dead) = (P::Strong::addr(&dying), downgrade(&dying));
        drop(dying);
        let later: [_; 10] = core::array::from_fn(|_| new::<P, Payload>([1; 121]));
        for later in &later {
            reused |= P::Strong::addr(later) == addr;
            assert!(ByIdentity(downgrade(later)) != ByIdentity(dead.clone()));
        }
    }
    // (Miri's allocator seldom returns an address again.)
    assert!(cfg!(miri) || reused == P::NOTIFIES);
}

/// B32: Also objects of no size, whatever their alignment.
fn objects_of_no_size_have_identities<P: Kind>() {
    #[repr(align(64))]
    struct Nothing;
    fn check<P: Kind, T: 'static>(make: impl Fn() -> T) {
        let objects: Vec<_> = (0..50).map(|_| new::<P, T>(make())).collect();
        let mut weak: HashSet<_> = objects.iter().map(|o| ByIdentity(downgrade(o))).collect();
        drop(objects);
        let later: Vec<_> = (0..50).map(|_| new::<P, T>(make())).collect();
        weak.extend(later.iter().map(|object| ByIdentity(downgrade(object))));
        assert_eq!(weak.len(), 100);
    }
    check::<P, _>(|| ());
    check::<P, _>(|| Nothing);
}

/// B32: Identities have an order, in agreement with their equality, which stays when the objects die.
fn identities_have_an_order<P: Kind>() {
    let objects: Vec<_> = (0..20).map(|_| new::<P, usize>(5)).collect();
    let strong: BTreeSet<_> = objects.iter().cloned().map(ByIdentity).collect();
    assert_eq!(strong.len(), 20);
    assert!(
        objects
            .iter()
            .all(|object| strong.contains(&ByIdentity(object.clone())))
    );
    let weak: Vec<_> = objects.iter().map(|o| ByIdentity(downgrade(o))).collect();
    let mut sorted = weak.clone();
    sorted.extend_from_slice(&weak);
    sorted.sort();
    sorted.dedup();
    assert_eq!(sorted.len(), 20);
    drop((objects, strong));
    let set = BTreeSet::from_iter(weak.iter().cloned());
    assert!(set.iter().eq(&sorted));
    for one in &weak {
        for other in &weak {
            assert_eq!(one == other, one.cmp(other).is_eq());
            assert_eq!(one.partial_cmp(other), Some(other.cmp(one).reverse()));
        }
    }
}

/// B32: All weak handles that never had an object are equal, and equal to no other; of a [`ByIdentity`], its default is
/// one.
#[test]
fn weak_handles_without_an_object_are_one_identity() {
    fn check<W: Identity + Clone>(none: [W; 2], other: W) {
        let [none, twin] = none.map(ByIdentity);
        assert!(none == twin && none == none.clone() && none != ByIdentity(other.clone()));
        assert_eq!(HashSet::from([none, twin, ByIdentity(other)]).len(), 2);
    }
    check(
        [Weak::new(), Weak::default()],
        Strong::downgrade(&Strong::new(1_usize)),
    );
    check(
        [rc::Weak::new(), rc::Weak::new()],
        Rc::downgrade(&Rc::new(())),
    );
    check(
        [sync::Weak::new(), sync::Weak::new()],
        Arc::downgrade(&Arc::new([0; 100])),
    );
    let shown = [
        rc::Weak::<usize>::new() as rc::Weak<dyn Display>,
        rc::Weak::<u8>::new(),
    ];
    check(shown, Rc::downgrade(&(Rc::new(5_u64) as Rc<dyn Display>)));
    let shown = [
        unsize!(Weak::<usize>::new() => dyn Display),
        unsize!(Weak::<u8>::new() => dyn Display),
    ];
    let other = unsize!(Strong::new(5_usize) => dyn Display);
    check(shown, Strong::downgrade(&other));
    assert!(ByIdentity::<Weak<usize>>::default() == ByIdentity(Weak::new()));
}

/// B32: Weak handles to anchors are compared likewise; and strong handles and anchors in a [`ByIdentity`] as ever.
#[test]
fn all_that_is_a_key_has_an_identity() {
    let [one, other] = [Anchor::new(), Anchor::new()];
    let weak = |anchor: &Anchor| ByIdentity(anchor.downgrade());
    let (first, second) = (weak(&one), weak(&other));
    assert!(first == weak(&one) && first != second);
    let one = ByIdentity(one);
    assert!(one == one && one != ByIdentity(other));
    drop(one);
    let later: Vec<_> = (0..100).map(|_| Anchor::new()).collect();
    assert!(later.iter().all(|later| weak(later) != first));
    assert!(first.is_expired() && HashSet::from([first.clone(), first, second]).len() == 2);
    let strong = [1_usize, 1].map(Strong::new).map(ByIdentity);
    assert!(strong[0] == strong[0].clone() && strong[0] != strong[1]);
    assert_eq!(
        strong.into_iter().collect::<HashSet<ByIdentity<_>>>().len(),
        2
    );
}

/// B33: A lookup registers nothing, writes nothing, allocates nothing.
fn a_lookup_leaves_no_trace<P: Kind>() {
    let [key, absent] = [1, 2].map(new::<P, usize>);
    let map = Map::<P, _>::from([(&key, 1_usize)]);
    let before = heap::allocations();
    for _ in 0..10 {
        assert_eq!((map.get(&key), map.get(&absent)), (Some(&1), None));
        assert!(!map.contains_key(&Addr::of(&*absent)));
    }
    assert_eq!(heap::allocations(), before);
    assert_eq!((P::counts(&key), P::counts(&absent)), ((1, 1), (1, 0)));
}

/// B34: An object that was never a key is not found, and its death costs no map anything.
fn an_object_that_was_never_a_key_is_no_work<P: Kind>() {
    let (key, absent) = (new::<P, usize>(1), new::<P, usize>(1));
    let mut map = Map::<P, _>::from([(&key, 1_usize)]);
    assert_eq!(map.get(&absent), None);
    assert_eq!(map.remove(&absent), None);
    let before = heap::allocations();
    drop(absent);
    assert_eq!(heap::allocations(), before);
    assert_eq!((map.pending_dead(), map.len()), (0, 1));
    let keys = keys::<P>(10);
    assert!(keys.iter().all(|key| !map.contains_key(key)));
}
