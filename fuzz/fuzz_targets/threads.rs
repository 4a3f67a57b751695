//! Runs the scripts of `tests/linear.rs`, on several threads, on the fuzzer's bytes. The first byte chooses the collection and
//! the kind of handle. What is found may depend on the schedule: run the input again, some hundred times.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/linear/mod.rs"]
mod linear;

use std::sync::Arc;

use common::own::{APART, Own};
use libfuzzer_sys::fuzz_target;
use linear::script::run;
use linear::world::{Handle, Object, Owned};
use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{Memo, Strong};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    match kind % 3 {
        0 => on::<Strong<Object>>(kind / 3, script),
        1 => on::<Arc<Object>>(kind / 3, script),
        _ => on::<Own<(), Object, { APART }>>(kind / 3, script),
    }
});

fn on<K: Handle>(collection: u8, script: &[u8]) {
    let choices = script.iter().map(|&byte| usize::from(byte));
    match collection % 8 {
        0 => run::<K, WeakMap<K, Owned>>(choices),
        1 => run::<K, WeakSet<K>>(choices),
        2 => run::<K, WeakHashMap<K, Owned>>(choices),
        3 => run::<K, WeakHashSet<K>>(choices),
        4 => run::<K, Interner<K>>(choices),
        5 => run::<K, WeakValueMap<Owned, K>>(choices),
        6 => run::<K, WeakPairMap<K, K>>(choices),
        _ => run::<K, Memo<K, Owned>>(choices),
    }
}
