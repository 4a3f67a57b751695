//! loom models of the collections as users have them: that what is modelled piece by piece beside
//! its code also holds where the pieces meet. The keys are numbers, with a hasher that is the same
//! in each execution: an address is not.

mod floors;
mod leaders;
mod loads;
mod racing;
mod reclaiming;
mod replacing;

use core::hash::BuildHasherDefault;
use std::hash::DefaultHasher;
use std::sync::Arc;

use super::WeakValueMap;
use crate::Strong;
use crate::ptr::models::{Maker, Payload, Woken, check, check_few, check_some};
use crate::thread::ThreadNumber;

type Map<K = u32> = WeakValueMap<K, Strong<Payload>, BuildHasherDefault<DefaultHasher>>;

/// Runs the two concurrently, and joins them.
fn both<A: 'static, B>(other: impl FnOnce() -> A + 'static, here: impl FnOnce() -> B) -> (A, B) {
    let other = move || {
        ThreadNumber::set(1);
        other()
    };
    crate::ptr::models::both(other, here)
}
