//! The pointer: strong and weak handles, the block of an object, and what becomes known of its death.
//! The chapter `design` tells the protocol; the invariants are in the files they belong to: B1 to B4 of a block
//! in `header`, R1 to R4 of a record in `record`, H1 to H3 of a hook in `hook`, N1 to N3 of notices in `notice`,
//! F1 of finalizers in `finalize`.

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
#[cfg(feature = "std")]
pub(crate) use stack::NoticeStack;
pub(crate) use stack::StackRef;
