//! A script of which the bytes are the choices: of the fuzzer.

use std::sync::Arc;

use super::script::run;
use super::world::{Handle, Object, Owned};
#[cfg(any(fuzzing, weakly_other_handles))]
use crate::common::own::{APART, Own};
use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{Attributes, Memo, Strong};

/// Runs a script. The first byte chooses the collection and the kind of handle.
pub fn run_bytes(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    match kind % 3 {
        #[cfg(any(fuzzing, weakly_other_handles))]
        2 => on::<Own<(), Object, { APART }>>(kind / 3, script),
        1 => on::<Arc<Object>>(kind / 3, script),
        // (Without a fuzzer `Strong` takes the place of a user's own handle: see `for_each_kind!`.)
        _ => on::<Strong<Object>>(kind / 3, script),
    }
}

fn on<K: Handle>(collection: u8, script: &[u8]) {
    let choices = &mut script.iter().map(|&byte| usize::from(byte));
    // What came later has numbers that no kept input had: those mean what they meant.
    if let 7..10 | 31 | 32 | 34 | 35 | 37 | 38 = collection {
        return run::<K, Attributes<K>>(choices);
    }
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
