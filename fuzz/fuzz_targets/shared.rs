//! Runs the collection scripts of `tests/model.rs` on the fuzzer's bytes, on the collections that threads share, on one
//! thread. The first byte chooses the collection and the kind of pointer.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/model/mod.rs"]
mod model;

use common::{Atomic, StdArc, UserOwn};
use libfuzzer_sys::fuzz_target;
use model::all::{Shared, SharedPointers};
use model::hasher::Few;
use model::op::Op;
use model::script;
use model::world::{Key, SharedValue};
use weakly::concurrent::{Interner, WeakHashMap, WeakPairMap, WeakValueMap};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        0 => collection::<Atomic>(kind, script),
        1 => collection::<StdArc>(kind, script),
        2 => collection::<UserOwn>(kind, script),
        _ => special(kind, script),
    }
});

fn collection<P: SharedPointers>(kind: u8, script: &[u8]) {
    P::on_shared(
        model::pick(&Shared::ALL, kind / 4),
        Op::without_leaks(script),
    );
}

/// Colliding hashes, and pairs of different kinds of pointers.
fn special(kind: u8, script: &[u8]) {
    let ops = Op::without_leaks(script);
    match kind / 4 % 5 {
        0 => script::run::<UserOwn, UserOwn, WeakHashMap<Key<UserOwn>, SharedValue, Few<1>>>(ops),
        1 => script::run::<StdArc, StdArc, Interner<Key<StdArc>, Few<4>>>(ops),
        2 => script::run::<Atomic, Atomic, WeakValueMap<SharedValue, Key<Atomic>, Few<4>>>(ops),
        3 => script::run::<Atomic, StdArc, WeakPairMap<Key<Atomic>, Key<StdArc>>>(ops),
        _ => script::run::<StdArc, UserOwn, WeakPairMap<Key<StdArc>, Key<UserOwn>>>(ops),
    }
}
