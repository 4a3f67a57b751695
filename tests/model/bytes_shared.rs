//! The same of collections that threads share, on one thread.

use super::all::{Shared, SharedPointers};
use super::hasher::Few;
use super::op::Op;
use super::world::{Key, SharedValue};
use super::{pick, script};
use crate::common::{Atomic, StdArc, UserOwn};
use weakly::concurrent::{Interner, WeakHashMap, WeakPairMap, WeakValueMap};

/// A script.
pub fn shared(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        3 => special_shared(kind, script),
        #[cfg(weakly_other_handles)]
        _ => on_shared::<UserOwn>(kind, script),
        #[cfg(not(weakly_other_handles))]
        1 => on_shared::<StdArc>(kind, script),
        #[cfg(fuzzing)]
        2 => on_shared::<UserOwn>(kind, script),
        // (Without a fuzzer `Strong` takes the place of a user's own handle: see `for_each_kind!`.)
        #[cfg(not(weakly_other_handles))]
        _ => on_shared::<Atomic>(kind, script),
    }
}

fn on_shared<P: SharedPointers>(kind: u8, script: &[u8]) {
    P::on_shared(pick(&Shared::ALL, kind / 4), Op::without_leaks(script));
}

fn special_shared(kind: u8, script: &[u8]) {
    let ops = Op::without_leaks(script);
    match kind / 4 % 5 {
        0 => script::run::<UserOwn, UserOwn, WeakHashMap<Key<UserOwn>, SharedValue, Few<1>>>(ops),
        1 => script::run::<StdArc, StdArc, Interner<Key<StdArc>, Few<4>>>(ops),
        2 => script::run::<Atomic, Atomic, WeakValueMap<SharedValue, Key<Atomic>, Few<4>>>(ops),
        3 => script::run::<Atomic, StdArc, WeakPairMap<Key<Atomic>, Key<StdArc>>>(ops),
        _ => script::run::<StdArc, UserOwn, WeakPairMap<Key<StdArc>, Key<UserOwn>>>(ops),
    }
}
