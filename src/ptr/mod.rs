//! The pointers: strong and weak, the block of an object, and the notices of its death.
//!
//! A file uses only files above it in this table. The protocol is in docs/DESIGN.md; each invariant is in the
//! file that it belongs to.
//!
//! | file | what it is | invariants |
//! |---|---|---|
//! | `flavour` | atomics or plain cells | |
//! | `header` | a block: counts, hash, state, and where the payload is | B1 to B4 |
//! | `memory` | allocates and frees blocks and payloads | |
//! | `callbacks` | the list of an object's finalizers | F1 |
//! | `hook` | the registration of a further entry | H1 to H3 |
//! | `waker` | the waker of a collection, and the wake-ups that a death owes | W1 to W5 |
//! | `stack` | where a collection's notices go, and the memory of its hooks | N1 to N3 |
//! | `record` | the record of an object, for all that two words cannot say | R1 to R4 |
//! | `state` | the state word, which names what is weak | |
//! | `share` | makes, counts and drops weak pointers | |
//! | `register` | registers and deregisters entries | |
//! | `notice` | a block or hook as the notice of a death | |
//! | `delivery` | pushes, takes and finishes notices | |
//! | `death` | everything after the payload's destructor | |
//! | `strong`, `weak` | the two pointers | |
//! | `convert`, `traits`, `finalize`, `expired` | their further methods and traits | |

mod callbacks;
mod convert;
mod death;
mod delivery;
mod expired;
mod finalize;
mod flavour;
mod header;
mod hook;
mod memory;
#[cfg(all(test, weakly_loom))]
pub(crate) mod models;
mod notice;
mod record;
mod register;
mod share;
mod stack;
mod state;
mod strong;
#[cfg(all(test, not(weakly_loom)))]
mod tests;
mod traits;
mod waker;
mod weak;

pub use convert::__unsize;
pub use expired::Expired;
pub use finalize::FinalizerToken;
pub use flavour::{Atomic, Flavour, Local};
pub use strong::Strong;
pub use weak::Weak;

pub(crate) use header::{Block, with_address};
pub(crate) use hook::HookRef;
pub(crate) use notice::{Node, Notice, depth, number};
pub(crate) use record::RecordRef;
pub(crate) use register::Registration;
pub(crate) use stack::StackRef;
pub(crate) use waker::WakerCell;
