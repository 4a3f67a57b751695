//! The same of collections that threads share, on one thread.

use super::all::{Shared, SharedPointers};
use super::hasher::with_hashes;
use super::op::Op;
use super::world::Key;
use super::{pick, script};
#[cfg(any(fuzzing, weakly_other_handles))]
use crate::common::UserOwn;
use crate::common::{Atomic, StdArc};
use weakly::concurrent::WeakPairMap;

/// Without a fuzzer `Strong` takes the place of a user's own handle: see `for_each_kind!`.
#[cfg(not(any(fuzzing, weakly_other_handles)))]
pub type Own = Atomic;
#[cfg(any(fuzzing, weakly_other_handles))]
pub type Own = UserOwn;

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
        // As for `Own`.
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
        0 => with_hashes(1, || Own::on_shared(Shared::HashMap, ops)),
        1 => with_hashes(4, || StdArc::on_shared(Shared::Interner, ops)),
        2 => with_hashes(4, || Atomic::on_shared(Shared::ValueMap, ops)),
        3 => script::run::<Atomic, StdArc, WeakPairMap<Key<Atomic>, Key<StdArc>>>(ops),
        _ => script::run::<StdArc, Own, WeakPairMap<Key<StdArc>, Key<Own>>>(ops),
    }
}
