//! Hostile user code against collections and pointers: it must never cause undefined behaviour, and whatever is
//! left must be usable. Each bug class has a file.
//!
//! # Panics (`hostile/panics.rs`)
//!
//! Destructors of values and of payloads, closures, iterators and finalizers panic; the panic is caught, and the
//! collection is used afterwards. It may have lost an entry that user code had at that moment; its counts must
//! be right, and it must touch nothing twice.
//!
//! # Forgotten guards (`hostile/forgotten.rs`)
//!
//! A guard or an iterator is forgotten, so that its destructor does not clean up; then the keys die and send
//! their notices. The receivers of these must still be there.
//!
//! # Panicking results (`hostile/panicking_results.rs`)
//!
//! A destructor panics at the end of an operation that is about to return something.
//!
//! # Re-entry (`hostile/reentry.rs`)
//!
//! Destructors, closures and finalizers use the collection that runs them, or another one, or drop it.
//!
//! # Anchors (`hostile/anchors.rs`)
//!
//! Values without a handle die inside the collections that watch them.
//!
//! # Chains (`hostile/chains.rs`)
//!
//! Each death causes the next, a million times, on a small stack.
//!
//! # Contents (`hostile/contents.rs`)
//!
//! `Hash` and `Eq` change, lie, panic, or kill the object of the lookup, whose destructor then runs at the end
//! of the lookup.
//!
//! # Ends (`hostile/ends.rs`)
//!
//! A collection ends, and all panics that it owns.
//!
//! # Equal hashes (`hostile/equal_hashes.rs`)
//!
//! All contents have the same hash.
//!
//! # Outcomes (`hostile/outcomes.rs`)
//!
//! Each call of users' code panics, in turn: what has happened then.
//!
//! # Owned keys (`hostile/owned_keys.rs`)
//!
//! The destructors of a weak value's key panic, kill other values, and use maps, including their own.
//!
//! # Pairs (`hostile/pairs.rs`)
//!
//! Either side dies, both do, and each in the middle of the other's death.
//!
//! # Makers (`hostile/makers.rs`)
//!
//! Closures and conversions that make objects for a collection panic, kill, or make something else.
//!
//! # Many entries (`hostile/many_entries.rs`)
//!
//! One object has very many: neither its death, nor the end of its maps, blocks other threads for long.
//!
//! # Scripts (`hostile/script.rs`)
//!
//! All of this at random: the code of users panics, or is the script's next operation. The fuzzer runs it too.
//!
//! # Shared results (`hostile/shared_results.rs`)
//!
//! As panicking results, of what threads share.
//!
//! # Threads (`hostile/threads.rs`)
//!
//! The deaths come from other threads. Under Miri, with many seeds.
//!
//! Tests that are the same for several collections are written over `Single` of `common/subject`.

#[path = "hostile/anchors.rs"]
mod anchors;
#[path = "hostile/chains.rs"]
mod chains;
mod common;
#[path = "hostile/contents.rs"]
mod contents;
#[cfg(feature = "std")]
#[path = "hostile/ends.rs"]
mod ends;
#[path = "hostile/equal_hashes.rs"]
mod equal_hashes;
#[path = "hostile/forgotten.rs"]
mod forgotten;
#[path = "hostile/makers.rs"]
mod makers;
#[path = "hostile/many_entries.rs"]
mod many_entries;
#[cfg(feature = "std")]
#[path = "hostile/outcomes.rs"]
mod outcomes;
#[path = "hostile/owned_keys.rs"]
mod owned_keys;
#[path = "hostile/pairs.rs"]
mod pairs;
#[path = "hostile/panicking_results.rs"]
mod panicking_results;
#[path = "hostile/panics.rs"]
mod panics;
#[path = "hostile/reentry.rs"]
mod reentry;
#[cfg(feature = "std")]
#[path = "hostile/script.rs"]
mod script;
#[cfg(feature = "std")]
#[path = "hostile/shared_results.rs"]
mod shared_results;
#[path = "hostile/threads.rs"]
mod threads;

/// Whatever the code of users does, each collection finds what it shows.
#[cfg(feature = "std")]
#[test]
fn random_scripts() {
    let long = common::sized(100, 25, 1);
    for seed in 0..long * common::scaled(5, 1) {
        // A long one forgets something sooner or later, and from then on a leak is no error.
        let most = if seed < long {
            common::scaled(1_000, 40)
        } else {
            100
        };
        for run in script::ALL {
            let choices = common::random::random(seed as u64).map(|choice| choice % 256);
            run(Box::new(choices.take(most)));
        }
    }
}

/// What the fuzzer has found to be worth keeping.
#[cfg(all(feature = "std", not(miri)))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/hostile", script::run_bytes);
}

/// Reclaims the dead, and returns what is left.
fn rest<F: common::subject::Upkeep>(face: &mut F) -> (usize, usize, usize) {
    face.purge();
    face.counts()
}

/// The collections of these tests.
mod lists {
    use crate::common::subject::{ByValue, Paired};
    use weakly::{Strong, WeakPairMap, local};

    pub(crate) use crate::common::subject::single::*;

    /// Pairs whose value, of another kind, stays alive.
    pub(crate) type PairKeys<K> = PairsByKey<K, local::Strong<usize>>;
    /// Pairs whose keys, of another kind, stay alive.
    pub(crate) type PairValues<K> =
        Paired<ByValue<true>, WeakPairMap<Strong<usize>, K>, Strong<usize>>;

    crate::subjects! {
        $ in [crate::lists];

        for_each_subject [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
            [map: Maps, set: Sets, values: ValueMaps, pairs: PairsTwice, pair_keys: PairKeys,
             pair_values: PairValues, hash_pairs: HashPairsTwice, hash_map: HashMaps, hash_set: HashSets,
             names: Interners];
        // Those that call `Hash` and `Eq` of the contents.
        for_each_by_content [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
            [values: ValueMaps, hash_pairs: HashPairsTwice, hash_map: HashMaps, hash_set: HashSets,
             names: Interners];
        for_each_with_guards [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
            [values: ValueMaps, pairs: PairsTwice, pair_keys: PairKeys, pair_values: PairValues,
             hash_map: HashMaps, hash_set: HashSets, names: Interners];
        for_each_that_crosses [atomic: Atomic, std_arc: StdArc]
            [map: Maps, set: Sets, values: ValueMaps, pairs: PairsTwice, pair_keys: PairKeys,
             pair_values: PairValues, hash_map: HashMaps, hash_set: HashSets, names: Interners];
    }
}
