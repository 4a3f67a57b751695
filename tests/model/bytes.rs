//! Scripts that bytes describe: those of the fuzzer. The first byte chooses what they run on.

use super::all::{Pointers, Which};
use super::hasher::with_hashes;
use super::op::Op;
use super::world::Key;
use super::{pick, script};
use crate::common::{Atomic, Local, StdArc, StdRc};
use weakly::WeakPairMap;

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
        0 => with_hashes(1, || Local::on(Which::HashMap, ops)),
        1 => with_hashes(4, || Local::on(Which::ValueMap, ops)),
        2 => with_hashes(4, || Atomic::on(Which::Interner, ops)),
        3 => script::run::<Atomic, Local, WeakPairMap<Key<Atomic>, Key<Local>>>(ops),
        4 => script::run::<StdArc, Atomic, WeakPairMap<Key<StdArc>, Key<Atomic>>>(ops),
        _ => script::run::<Local, StdRc, WeakPairMap<Key<Local>, Key<StdRc>>>(ops),
    }
}
