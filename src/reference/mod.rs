//! What can be watched, what identifies it, and how its death becomes known.
//!
//! * [`WeakKey`] is what a collection needs in order to watch a key: an address, and the type of a
//!   [`Watch`], which learns of the death of an object: [`Notified`], if a notice arrives, or
//!   [`Swept`], if the watch has to be polled. [`ByContent`] around a watch keys the entry by
//!   content instead of address.
//! * [`StrongRef`] adds what is needed to return a strong handle, as an [`Upgrade`] does.
//!   Implemented for our handles and the standard library's; users can implement it for theirs, by
//!   `impl_handle!` or by hand.
//! * [`Identify`] is what a lookup by identity takes as a key, and [`Query`] what a lookup by
//!   content takes.
//! * [`Identity`] is what all handles have, strong or weak, also of a dead object: [`ByIdentity`]
//!   compares it.

// The order of the files: `key`, `permit`, `strong`, then `addr`, `notified`, `swept`,
// `by_content`, `newtype`, `query`, and at the end the handles and anchors.

mod addr;
#[allow(unsafe_code)]
mod anchors;
mod by_content;
#[allow(unsafe_code)]
mod handles;
mod identity;
#[allow(unsafe_code)]
mod key;
#[allow(unsafe_code)]
mod newtype;
#[allow(unsafe_code)]
mod notified;
mod permit;
mod query;
mod slot;
#[allow(unsafe_code)]
mod strong;
mod swept;

pub use addr::Addr;
pub use by_content::ByContent;
pub use identity::{ByIdentity, dismantle};
pub use key::{Identify, Identity, Watch, WeakKey};
pub use notified::{Notified, Notify, Registrable};
pub use permit::Permit;
pub(crate) use query::{AsContent, assert_same_content, hash_of};
pub use query::{Hashed, Query, Sought};
pub(crate) use slot::NoticeOf;
pub use slot::{Owned, Slot};
pub use strong::{Content, StrongRef, Upgrade, WeakRef};
pub use swept::Swept;

/// What [`impl_handle!`](crate::impl_handle) names.
#[doc(hidden)]
pub mod __newtype {
    pub use super::newtype::{downgrade, exactly, upgrade};
    pub use super::strong::{Newtype, Plain, Wrapper};
    pub use super::{Identify, Identity, Permit, StrongRef, Upgrade, WeakKey, WeakRef};
    pub use core::option::Option;
    pub use core::primitive::{bool, usize};
}
