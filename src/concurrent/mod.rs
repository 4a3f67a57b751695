#![doc = include_str!("../guide/concurrent.md")]

mod bound;
mod change;
mod common;
mod content;
mod cyclic;
mod drain;
mod evict;
mod gathered;
mod hash_map;
mod hash_set;
mod identity;
#[allow(unsafe_code)]
mod inputs;
mod interner;
mod iter;
mod keep_alive;
mod kept;
mod key;
mod leader;
mod limits;
mod lookup;
mod making;
mod map;
mod node;
mod operations;
mod pair_map;
mod removal;
mod schema;
mod set;
mod several;
mod snapshot;
mod spawned;
mod table;
mod value_map;
mod watch;
mod way;

#[cfg(all(test, weakly_loom))]
mod models;
#[cfg(all(test, weakly_shuttle))]
mod scripts;

pub use hash_map::WeakHashMap;
pub use hash_set::WeakHashSet;
pub use interner::Interner;
pub use iter::{Iter, Keys, PairIter, ValueIter};
pub use keep_alive::KeepAlive;
pub use map::WeakMap;
pub use pair_map::WeakPairMap;
pub use set::WeakSet;
pub use value_map::WeakValueMap;
pub use watch::{SharedKey, SharedRef, Sharing};

#[cfg(feature = "holders")]
pub use crate::raw::{Collection, Collections, collections};

pub(crate) use common::{counting, shared_housekeeping, taking};
pub(crate) use cyclic::MemberOf;
pub(crate) use gathered::Gathered;
pub(crate) use identity::Address;
pub(crate) use inputs::{Answer, Computing, Entered, HasInputs, Inputs, each_poll};
pub(crate) use key::ByKey;
pub(crate) use leader::Leader;
pub(crate) use limits::ceiling;
pub(crate) use making::{Absent, apart};
pub(crate) use spawned::Load;
pub(crate) use table::Table;
pub(crate) use watch::{AnyWatch, ObjectState, SharedWatchFor, Unplaced, Watches, WatchesOne};
pub(crate) use way::{Claimed, Errors, Failed, Way, cycle, made_by};
