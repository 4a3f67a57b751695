//! Scripts that several threads run on one shared collection, a few objects and fewer keys: each operation is noted with the
//! moments between which it happened and with what it returned, and so is each death. What happened to a key must have an
//! order (`linear/spec.rs`), in which
//!
//! * each operation returns what the one before it has left, and that is one specification for all collections;
//! * from the death of an object on, none of its entries is found, and until then none is missing;
//! * one value at a time is made for a key, and is kept unless something has come between;
//! * what a collection owns is destroyed once, and not before it is gone.
//!
//! Of `Attributes`, an object has two, and each is a key: what happens to one has an order whatever happens to the other, though
//! a change of either replaces both. (An `Attribute` is a `WeakMap`.) Floors and ceilings are off: what they keep, or let go, is
//! no operation of a thread.
//!
//! Of a value that is made, its beginning and its end are two operations, since others come between. What is about all keys is
//! an operation on each: not at the same moment, since none is promised. `clear`, `retain`, `iter`, `keys_of` and
//! `remove_value` may miss what is inserted or replaced while they run, as is documented: then they say nothing of that key. And a
//! `clear` may take what is inserted while it runs, after it has taken an older entry of the key.
//! `len`, `purge` and `shrink_to_fit` have no place in the order of a key. They run meanwhile, and in the end,
//! when no thread uses the collection, the number of entries is exact, what is left is what these own, and a memo's counts
//! agree.
//!
//! A script says what each thread does, and where it pauses; what comes first, the threads decide.
//! `WEAKLY_SCRIPTS=100000 cargo test --release --test linear` runs so many for each collection and kind of handle.
//!
//! Under Miri, which chooses who runs at each step, with many seeds:
//!
//! `MIRIFLAGS="-Zmiri-many-seeds=0..16 -Zmiri-preemption-rate=0.1" cargo +nightly miri test --test linear`

#![allow(clippy::type_complexity)] // closures that are passed as objects have long types

#[macro_use]
mod common;
#[path = "linear/mod.rs"]
mod linear;
#[path = "flight/seeds.rs"]
mod seeds;

use std::thread;

use common::random::random;
use common::{Kind, scaled};
use linear::script::run;
use linear::world::{Handle, Object, Owned};
use seeds::seeds;
use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{Attributes, Memo};

/// How many scripts there are for each collection and kind of handle.
const SCRIPTS: u64 = scaled(300, 3) as u64;

/// Says by which script a test has failed. (The threads may not do it again.)
struct Running(u64);

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("by WEAKLY_SCRIPT={}", self.0);
        }
    }
}

/// 157, 158, 161, 162: Each history has an order.
fn scripts(run: fn(&mut dyn Iterator<Item = usize>)) {
    for seed in seeds(SCRIPTS) {
        let _running = Running(seed);
        run(&mut random(seed));
    }
}

type Key<P> = <P as Kind>::Strong<Object>;

macro_rules! each_collection {
    ($($name:ident: |$key:ident| $collection:ty;)*) => {
        $(fn $name<P: Kind>()
        where
            Key<P>: Handle,
        {
            type Of<$key> = $collection;
            scripts(run::<Key<P>, Of<Key<P>>>);
        })*
        for_each_shared_kind!($($name),*);
    };
}

each_collection! {
    weak_map: |K| WeakMap<K, Owned>;
    weak_set: |K| WeakSet<K>;
    weak_hash_map: |K| WeakHashMap<K, Owned>;
    weak_hash_set: |K| WeakHashSet<K>;
    interner: |K| Interner<K>;
    weak_value_map: |K| WeakValueMap<Owned, K>;
    weak_pair_map: |K| WeakPairMap<K, K>;
    memo: |K| Memo<K, Owned>;
    attributes: |K| Attributes<K>;
}

/// 157: At any time, unlike the other collections: see [`for_each_kind!`].
#[test]
fn weak_map_of_a_users_own_handle() {
    type Own = Key<common::UserOwn>;
    scripts(run::<Own, WeakMap<Own, Owned>>);
}

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/threads", linear::bytes::run_bytes);
}
