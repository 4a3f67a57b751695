//! The script of `tests/model.rs` for collections, from the fuzzer's bytes. The first byte chooses
//! the collection and the kind of pointer.

#![no_main]

#[path = "../../tests/common/mod.rs"]
mod common;
#[path = "../../tests/model/mod.rs"]
mod model;

use common::{Atomic, Kind, Local, StdArc, StdRc};
use libfuzzer_sys::fuzz_target;
use model::op::Op;
use model::script::run;
use model::world::{Item, Key, Value};
use weakly::{Identify, WeakMap, WeakSet};

fuzz_target!(|bytes: &[u8]| {
    let Some((&kind, script)) = bytes.split_first() else {
        return;
    };
    match kind % 4 {
        0 => collection::<Atomic>(kind, script),
        1 => collection::<Local>(kind, script),
        2 => collection::<StdArc>(kind, script),
        _ => collection::<StdRc>(kind, script),
    }
});

fn collection<P: Kind>(kind: u8, script: &[u8])
where
    Item: Identify<Key<P>>,
{
    let ops = script.as_chunks().0.iter().copied().map(Op::decode);
    if kind / 4 % 4 == 0 {
        run::<P, WeakSet<Key<P>>>(ops);
    } else {
        run::<P, WeakMap<Key<P>, Value<P>>>(ops);
    }
}
