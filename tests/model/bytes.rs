//! Scripts that bytes describe: those of the fuzzer. The first byte chooses what they run on.

use super::all::{Pointers, Which};
use super::hasher::Few;
use super::op::Op;
use super::world::{Key, Value};
use super::{pick, script};
use crate::common::{Atomic, Local, StdArc, StdRc};
use weakly::{Interner, WeakHashMap, WeakPairMap, WeakValueMap};

/// A script of a collection of one owner.
pub fn map(bytes: &[u8]) {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    // One kind of pointer that notifies and one that is swept: the two flavours of each share their source, and each
    // further kind costs minutes of compilation in the fuzzer. (`Arc`, since the scripts of `tests/model.rs` use it, too.)
    match kind % 3 {
        0 => on::<Atomic>(kind, script),
        1 => on::<StdArc>(kind, script),
        _ => special(kind, script),
    }
}

fn on<P: Pointers>(kind: u8, script: &[u8]) {
    P::on(pick(&Which::ALL, kind / 3), Op::without_leaks(script));
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
