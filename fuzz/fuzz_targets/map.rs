//! Runs the collection scripts of `tests/model.rs` on the fuzzer's bytes. The first byte chooses the
//! collection and the kind of pointer.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/model/mod.rs"]
mod model;

use common::{Atomic, Local, StdArc, StdRc};
use libfuzzer_sys::fuzz_target;
use model::all::{Pointers, Which};
use model::hasher::Few;
use model::op::Op;
use model::script;
use model::world::{Key, Value};
use weakly::{Interner, WeakHashMap, WeakPairMap, WeakValueMap};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    // One kind of pointer that notifies and one that is swept: the two flavours of each share their source, and each
    // further kind costs minutes of compilation here.
    match kind % 3 {
        0 => collection::<Atomic>(kind, script),
        1 => collection::<StdRc>(kind, script),
        _ => special(kind, script),
    }
});

fn collection<P: Pointers>(kind: u8, script: &[u8]) {
    P::on(
        model::pick(&Which::ALL, kind / 3),
        Op::without_leaks(script),
    );
}

/// Colliding hashes, and pairs of different kinds of pointers.
fn special(kind: u8, script: &[u8]) {
    let ops = Op::without_leaks(script);
    match kind / 3 % 6 {
        0 => script::run::<Local, Local, WeakHashMap<Key<Local>, Value, Few<1>>>(ops),
        1 => script::run::<Local, Local, WeakValueMap<Value, Key<Local>, Few<4>>>(ops),
        2 => script::run::<Atomic, Atomic, Interner<Key<Atomic>, Few<4>>>(ops),
        3 => script::run::<Atomic, Local, WeakPairMap<Key<Atomic>, Key<Local>>>(ops),
        4 => script::run::<StdArc, Atomic, WeakPairMap<Key<StdArc>, Key<Atomic>>>(ops),
        _ => script::run::<Local, StdRc, WeakPairMap<Key<Local>, Key<StdRc>>>(ops),
    }
}
