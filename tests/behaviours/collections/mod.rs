//! What the collections have in common, so that a behaviour is written once and runs for each of them, with each
//! kind of pointer: the descriptions of `common/subject`, and what those of one owner have besides.
//!
//! An entry is identified by the number in its life.

mod changing;
mod mapping;

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;

pub(crate) use changing::{Changing, Owning};
pub(crate) use mapping::Mapping;

pub(crate) use crate::common::subject::single::*;
pub(crate) use crate::common::subject::{Single, new_lives, sorted};

use crate::common::{Counter, subject};

/// The counter counts.
pub(crate) fn counted(counter: &Counter) -> Ends {
    let counter = counter.clone();
    Rc::new(move |_| drop(counter.witness()))
}

/// What a collection owns of an entry.
pub(crate) type Owned = subject::Owned<Ends>;

/// What an entry can still be looked up by after its life.
pub(crate) struct Ghost {
    pub(crate) number: usize,
    pub(crate) weak: WeakHandle,
}

pub(crate) fn ghost(life: &Handle) -> Ghost {
    Ghost {
        number: **life,
        weak: life.downgrade(),
    }
}

impl Ghost {
    pub(crate) fn is_in(&self, all: &impl Deref<Target: Collection>) -> bool {
        all.finds(self.number, &self.weak)
    }
}

/// How often "a million times" is; it is a million, in an optimised build, for one of the collections over the table that all
/// of them share.
pub(crate) fn often<D: ?Sized>(kit: Kit<D>) -> usize {
    if kit.owns && !kit.by_content && !cfg!(debug_assertions) {
        1_000_000
    } else {
        20_000
    }
}

/// A chain of entries, each of which owns the life of the next, and the life of the first.
pub(crate) fn chain(kit: Kit<dyn Owning>, n: usize, ends: &Ends) -> (Box<dyn Owning>, Handle) {
    let mut all = kit.empty();
    let mut head = None;
    for n in 0..n {
        let life = kit.life(n);
        let (next, ends) = (Cell::new(head.replace(life.clone())), ends.clone());
        let last: Ends = Rc::new(move |number| {
            drop(next.take());
            ends(number);
        });
        all.enter(&life, &last);
    }
    (all, head.unwrap())
}

crate::subjects! {
    $ in [crate::collections];

    for_each_collection [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
        [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey,
         weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice,
         weak_hash_pair_map_by_key: HashPairsByKey, weak_hash_pair_map_by_value: HashPairsByValue,
         weak_hash_pair_map_twice: HashPairsTwice, weak_hash_map: HashMaps, weak_hash_set: HashSets,
         interner: Interners];
    // For deaths on other threads: with the kinds of pointer that may cross them.
    for_each_shared [atomic: Atomic, std_arc: StdArc]
        [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey,
         weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice,
         weak_hash_pair_map_by_key: HashPairsByKey, weak_hash_pair_map_by_value: HashPairsByValue,
         weak_hash_pair_map_twice: HashPairsTwice, weak_hash_map: HashMaps, weak_hash_set: HashSets,
         interner: Interners];
    for_each_changing [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
        [weak_map: Maps, weak_set: Sets, weak_value_map: ValueMaps, weak_pair_map_by_key: PairsByKey,
         weak_pair_map_by_value: PairsByValue, weak_pair_map_twice: PairsTwice,
         weak_hash_pair_map_by_key: HashPairsByKey, weak_hash_pair_map_by_value: HashPairsByValue,
         weak_hash_pair_map_twice: HashPairsTwice, weak_hash_map: HashMaps, weak_hash_set: HashSets];
    for_each_owning [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
        [weak_map: Maps, weak_value_map: ValueMaps, weak_hash_map: HashMaps];
    for_each_map [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
        [weak_map: Maps, weak_value_map: ValueMaps, weak_pair_map: PairsByKey,
         weak_hash_pair_map: HashPairsByKey, weak_hash_map: HashMaps];
}
