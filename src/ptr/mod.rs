//! The pointer: strong and weak handles, and the side table between them. The count protocol and the
//! order of a death are told in `docs/DESIGN.md`; the invariants of the record, S1 to S4, in [`side`].

mod convert;
mod count;
mod death;
mod flavour;
mod header;
mod hook;
#[cfg(all(test, weakly_loom))]
mod models;
mod side;
mod strong;
#[cfg(all(test, not(weakly_loom)))]
mod tests;
mod traits;
mod weak;

pub use convert::__unsize;
pub use flavour::{Atomic, Flavour, Local};
pub use strong::Handle;
pub use weak::WeakHandle;

pub(crate) use flavour::{Link, Word};
#[cfg(all(test, weakly_loom))]
pub(crate) use header::Header;
#[cfg(feature = "std")]
pub(crate) use hook::Hook;
pub(crate) use hook::{Call, HookRef, KeptHook, Watcher};
pub(crate) use side::Side;
pub(crate) use weak::upgrade;
