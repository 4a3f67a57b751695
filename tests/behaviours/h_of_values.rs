//! H. What a map knows of a value (items 195, 196).

use std::hash::{BuildHasher, Hasher};

use weakly::{Strong, WeakHashPairMap, WeakPairMap, WeakValueMap, local};

use crate::common::of_values::{Near, check_script, check_time};
use crate::common::{Key, Kind, new};
use crate::for_each_kind;

for_each_kind!(
    values_know_their_keys,
    an_iterator_over_the_keys_of_a_value_leaves_out_what_dies,
    a_removal_by_value_counts_no_dead_key,
);

/// H195: With any kind of pointer, hashes that are spread and hashes of one tag.
fn values_know_their_keys<P: Kind>()
where
    Key<P>: crate::common::subject::Life,
{
    check_script::<WeakValueMap<usize, Key<P>>>();
    check_script::<WeakValueMap<usize, Key<P>, Near>>();
    check_script::<WeakPairMap<Key<P>, Key<P>>>();
    check_script::<WeakHashPairMap<Key<P>, Key<P>>>();
    check_script::<WeakHashPairMap<Key<P>, Key<P>, Near>>();
}

/// H195, F88: Nor does it keep alive what it has not shown.
fn an_iterator_over_the_keys_of_a_value_leaves_out_what_dies<P: Kind>() {
    let value = new::<P, _>(100_usize);
    let mut keys: Vec<Key<P>> = (0..4).map(new::<P, _>).collect();
    let map: WeakPairMap<_, _> = keys.iter().map(|key| (key, &value)).collect();
    let mut left = map.keys_of(&value);
    let same = left.clone();
    assert_eq!((left.size_hint(), same.count()), ((0, Some(4)), 4));
    let shown = left.next().unwrap();
    keys.retain(|key| **key == *shown);
    assert_eq!((left.clone().count(), P::counts(&shown).0), (0, 2));
    let again = map.keys_of(&value);
    drop(value);
    assert_eq!(again.count(), 0, "the value has died");
}

/// H195: More keys than one operation reclaims. What is dead stays to be reclaimed.
fn a_removal_by_value_counts_no_dead_key<P: Kind>() {
    let value = new::<P, _>(1_000_usize);
    let mut keys: Vec<Key<P>> = (0..100).map(new::<P, _>).collect();
    let mut map: WeakPairMap<_, _> = keys.iter().map(|key| (key, &value)).collect();
    keys.truncate(10);
    assert_eq!((map.remove_value(&value), map.len_live()), (10, 0));
    assert_eq!(map.remove_value(&value), 0);
    assert!(!P::NOTIFIES || map.is_empty());
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// H196: It is no scan.
#[test]
fn to_ask_a_value_costs_what_it_is_registered_with() {
    check_time::<WeakValueMap<usize, Strong<usize>>>();
    check_time::<WeakPairMap<local::Strong<usize>, local::Strong<usize>>>();
    check_time::<WeakHashPairMap<Strong<usize>, Strong<usize>>>();
}

/// H195: A payload apart from the block of its object, at an address that is used again.
#[test]
fn a_value_is_not_taken_for_one_that_was_at_its_address() {
    let mut map = WeakValueMap::new();
    for turn in 0..100_usize {
        let value = Strong::new([turn; 1_000]);
        assert_eq!(map.keys_of(&value).count(), 0);
        map.insert(turn % 7, &value);
        assert!(map.keys_of(&value).eq(&[turn % 7]));
    }
}

/// A hasher of which each hash is another.
#[derive(Clone, Default)]
struct Changing(std::cell::Cell<u64>);

impl BuildHasher for Changing {
    type Hasher = Next;
    fn build_hasher(&self) -> Next {
        self.0.set(self.0.get() + 1);
        Next(self.0.get())
    }
}

struct Next(u64);

impl Hasher for Next {
    fn finish(&self) -> u64 {
        self.0.wrapping_mul(0x9e37_79b9_7f4a_7c15)
    }
    fn write(&mut self, _: &[u8]) {}
}

/// H195, B29: What counts is the hash of the insertion.
#[test]
fn a_hash_that_changes_is_not_asked_for() {
    let value = Strong::new(1_usize);
    let mut map = WeakValueMap::with_hasher(Changing::default());
    for key in 0..100_usize {
        map.insert(key, &value);
    }
    let mut keys: Vec<_> = map.keys_of(&value).copied().collect();
    keys.sort_unstable();
    assert!(keys.into_iter().eq(0..100));
    assert_eq!((map.remove_value(&value), map.len()), (100, 0));
}
