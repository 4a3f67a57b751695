//! B. Identity (items 27, 28, 32–34). The model states the others.

use std::collections::{BTreeSet, HashSet};
use std::fmt::Display;
use std::hash::{BuildHasher, RandomState};
use std::rc::{self, Rc};

use weakly::{
    Addr, ByIdentity, Strong, Weak, WeakMap, ptr,
    reference::{Identity, WeakKey},
    unsize,
};

use crate::common::{Counter, Kind, Map, OnDrop, Own, downgrade, is_alive, new};
use crate::{for_each_flavour, for_each_kind, heap};

for_each_kind!(
    a_new_object_at_an_old_address_is_not_found,
    a_lookup_leaves_no_trace,
);

for_each_flavour!(a_part_of_an_object_is_another_address);

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

for_each_kind!(weak_handles_by_identity_are_equal_if_made_from_one_object);

/// B32: Weak handles to one object are equal in a [`ByIdentity`], before and after its death.
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

/// B32: Identities have an order, in agreement with their equality, which stays when the objects die.
#[test]
fn identities_have_an_order() {
    let objects: Vec<_> = (0..20).map(|_| Strong::new(5)).collect();
    let weak: Vec<_> = objects.iter().map(|o| ByIdentity(downgrade(o))).collect();
    let strong: BTreeSet<_> = objects.into_iter().map(ByIdentity).collect();
    let before = BTreeSet::from_iter(weak.iter().cloned());
    assert_eq!((strong.len(), before.len()), (20, 20));
    drop(strong);
    assert!(BTreeSet::from_iter(weak.iter().cloned()).iter().eq(&before));
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

/// B33, B34: A lookup registers nothing, writes nothing, allocates nothing; what it does not find is no work for the map.
fn a_lookup_leaves_no_trace<P: Kind>() {
    let [key, absent] = [1, 2].map(new::<P, usize>);
    let map = Map::<P, _>::from([(&key, 1_usize)]);
    let before = heap::allocations();
    for _ in 0..10 {
        assert_eq!((map.get(&key), map.get(&absent)), (Some(&1), None));
        assert!(!map.contains_key(&Addr::of(&*absent)));
    }
    assert_eq!((P::counts(&key), P::counts(&absent)), ((1, 1), (1, 0)));
    drop(absent);
    assert_eq!((heap::allocations(), map.pending_dead()), (before, 0));
}
