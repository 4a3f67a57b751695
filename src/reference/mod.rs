//! The traits of keys and values: their handles, their identity, and the watches on their death.
//!
//! * [`WeakKey`] is a key that a collection can watch: the key has an address, and names the type
//!   of its [`Watch`]. A watch learns of the death of the object: [`Notified`] by a notice,
//!   [`Swept`] by polling. [`ByContent`] wraps a watch and keys the entry by content instead of
//!   address.
//! * [`StrongRef`] is a `WeakKey` whose watch can return a strong handle ([`Upgrade`]). The handles
//!   of this crate and of the standard library implement it; users implement it for their own
//!   handles, by `impl_handle!` or by hand.
//! * [`Identify`] is a key in a lookup by identity, and [`Query`] a key in a lookup by content.
//! * [`Identity`] is implemented by all handles, strong or weak, also of dead objects:
//!   [`ByIdentity`] compares identities.

// The order of the files, each of which uses earlier files only: `slot`, `key`, `permit`, `strong`,
// `addr`, `query`; the watches `notified`, `swept` and `by_content`; `identity`, `newtype`; the
// implementations for `handles` and `anchors`.

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
pub use slot::{Owned, Slot};
pub use strong::{Content, StrongRef, Upgrade, WeakRef};
pub use swept::Swept;

/// The names that [`impl_handle!`](crate::impl_handle) uses.
#[doc(hidden)]
pub mod __newtype {
    pub use super::newtype::{downgrade, exactly, upgrade};
    pub use super::strong::{Newtype, Wrapper};
    pub use super::{Identify, Identity, Permit, StrongRef, Upgrade, WeakKey, WeakRef};
    pub use core::option::Option;
    pub use core::primitive::{bool, usize};
}
