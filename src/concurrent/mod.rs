#![doc = include_str!("../guide/concurrent.md")]
// The files, in the order of reading (the page above is for users). An entry, and its table:
//
// | file | contents |
// |---|---|
// | `watch`, `several` | the watch of an entry on one object; the watches on several objects |
// | `schema`, `key`, `content`, `identity` | the parts of an entry; keys that entries have; keys by content, and by identity |
// | `node`, `kept` | an entry; the keys and values of dead entries |
// | `table` | the table, over the table of `raw`; the invariants T1 to T6 |
// | `lookup`, `change`, `operations` | lookups; what each change does besides its own work; changes of one entry |
// | `removal`, `drain` | the removal of many entries; the reclamation of dead entries |
// | `bound`, `keep_alive`, `evict` | floors and ceilings; the shared floor; evictions |
// | `cyclic` | the purge of entries that keep themselves alive |
// | `snapshot`, `iter` | iteration |
//
// A value that one caller makes for all, by the reservations of `flight`:
//
// | file | contents |
// |---|---|
// | `way` | how a caller asks for the value |
// | `making`, `leader` | how a caller waits for the value, or becomes the leader; the end of a leader |
// | `spawned` | a leader that is a task of its own |
// | `inputs`, `gathered` | the further inputs of a memo's computation |
//
// The collections:
//
// | file | contents |
// |---|---|
// | `map`, `set`, `pair_map` | weak keys by identity |
// | `hash_map`, `hash_set`, `interner` | weak keys by content |
// | `value_map` | owned keys, weak values |
// | `common`, `limits` | the macros of common methods, and of the methods that set a limit |
// | `models`, `scripts` | loom models; scripts of threads for shuttle |

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
pub(crate) use inputs::{Computing, Dependency, Entered, HasInputs, Inputs, each_poll};
pub(crate) use key::ByKey;
pub(crate) use leader::Leader;
pub(crate) use limits::ceiling;
pub(crate) use making::{Absent, apart};
pub(crate) use spawned::Load;
pub(crate) use table::Table;
pub(crate) use watch::{AnyWatch, ObjectState, SharedWatchFor, Unplaced, Watches, WatchesOne};
pub(crate) use way::{Claimed, Errors, Failed, Way, cycle, made_by};
