//! What can be held weakly, and what identifies it.

mod identity;
#[allow(unsafe_code)]
mod pointers;
#[allow(unsafe_code)]
mod strong;
mod watch;

pub use identity::{ByIdentity, dismantle};
pub use strong::{Addr, Content, Identify, Notify, StrongRef, WeakRef};
pub use watch::{ByContent, Notified, Swept, Watching};
