//! The pointers: strong and weak, the block of an object, and the notices of its death.
//!
//! A file uses only files above it in this table. The protocol is in docs/PROTOCOLS.md; each
//! invariant is at the head of the file to which it belongs.
//!
//! | file | contents | invariants |
//! |---|---|---|
//! | `flavour` | atomics or plain cells | |
//! | `header` | a block: counts, hash, state, and the place of the payload | B1 to B4 |
//! | `memory` | allocates and frees blocks and payloads | |
//! | `callbacks` | the list of an object's finalizers | F1 |
//! | `home` | the receiver of the payload of a returning object | G1 to G3 |
//! | `hook` | the registration of a third or further entry | H1 to H3 |
//! | `waker` | the waker of a collection, and the wake-ups that a death owes | W1 to W5 |
//! | `stack` | the stack of a collection's notices, and the memory of its hooks | N1 to N3 |
//! | `stripe` | a lock, and the entries that deaths have unlinked under the lock | |
//! | `found` | the name of a registration, and what a death finds by it | |
//! | `shared` | the core of a shared collection, where the deaths of its objects unlink their entries | C1 to C7 |
//! | `recipient` | the recipient of a registration: a stack or a core | |
//! | `record` | the record of an object, for all that two words cannot say | R1 to R4 |
//! | `gate` | the lock of a record, and all that is changed under the lock | |
//! | `state` | the state word, which names weak pointers and entries | |
//! | `mark` | whether strong pointers were made during a check | P1 |
//! | `share` | makes, counts and drops weak pointers | |
//! | `register` | registers entries, and deregisters the entries of one owner | |
//! | `notice` | a block, a record or a hook as the notice of a death | |
//! | `delivery` | pushes, takes and finishes notices | |
//! | `pending` | counts the notices | N4, N5 |
//! | `death` | everything after the payload's destructor | |
//! | `strong`, `weak` | the two pointers | |
//! | `object_ref` | a live object, kept alive by any means | |
//! | `reverse` | the way from an object to its entries | |
//! | `shared_watch` | keeps the registration of an entry of a shared collection | |
//! | `token` | ends the entries that depend on an entry, before the entry ends | K1 to K5 |
//! | `listed` | how a strong pointer is made, and listed as a holder | |
//! | `uninit` | how an object is made before its payload | |
//! | `raw` | how a pointer becomes a raw pointer, and back | |
//! | `finalize`, `convert`, `traits`, `expired` | further methods and traits of the pointers | |
//! | `anchor` | an object of ours behind a field of a value | A1 |

mod anchor;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod arming;
mod callbacks;
mod convert;
mod death;
mod delivery;
mod dying;
mod expired;
mod finalize;
mod flavour;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod found;
mod gate;
mod header;
mod home;
mod hook;
mod listed;
mod mark;
mod memory;
#[cfg(all(test, weakly_loom))]
pub(crate) mod models;
mod notice;
mod object_ref;
mod pending;
mod raw;
mod recipient;
mod record;
mod register;
mod reverse;
mod share;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod shared;
#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(dead_code))]
mod shared_watch;
mod stack;
mod state;
#[cfg_attr(not(feature = "std"), allow(dead_code))]
mod stripe;
mod strong;
#[cfg(all(test, not(weakly_loom)))]
mod tests;
#[cfg(feature = "std")]
mod token;
mod traits;
mod uninit;
mod waker;
mod weak;

pub use anchor::{Anchor, AnchorRef};
pub use convert::__unsize;
pub use dying::Dying;
pub use expired::Expired;
pub use finalize::FinalizerToken;
pub use flavour::{Atomic, Flavour, Local};
pub use strong::Strong;
pub use weak::Weak;

#[cfg(feature = "std")]
pub(crate) use found::{Found, RegistrationId};
pub(crate) use header::{Block, with_address};
pub(crate) use home::Destination;
pub(crate) use hook::HookRef;
#[cfg(feature = "std")]
pub(crate) use hook::Off;
pub(crate) use notice::{Notice, NoticeLink};
pub(crate) use object_ref::ObjectRef;
pub(crate) use recipient::Recipient;
pub(crate) use register::Registration;
#[cfg(feature = "std")]
pub(crate) use shared::{Core, CoreRef, Counted};
#[cfg(feature = "std")]
#[cfg_attr(weakly_loom, allow(unused_imports))]
pub(crate) use shared_watch::{Promise, SharedWatch, SharedWatchOf};
pub(crate) use stack::StackRef;
#[cfg(feature = "std")]
pub(crate) use stripe::{Dead, below};
#[cfg(feature = "std")]
pub(crate) use token::{Token, TokenSlot};
pub(crate) use waker::WakerCell;
#[cfg(feature = "std")]
pub(crate) use waker::Wakes;
