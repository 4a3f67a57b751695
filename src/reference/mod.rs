//! What can be held weakly, what identifies it, and how its death becomes known.
//!
//! * [`WeakKey`] is what a collection needs in order to watch a key: an address, and the type of a [`Watch`],
//!   which learns of the death of an object: [`Notified`], if the object announces it, [`Swept`], if it has
//!   to be asked. With [`ByContent`] around it, the key is told apart by its content instead of its address.
//! * [`StrongRef`] is what can give a strong pointer back besides, as an [`Upgrade`] does: ours, the standard
//!   library's, and the user's own.
//! * [`Identify`] is what a lookup takes for a key.
//!
//! The order of the files: `key`, `identify`, `strong`, then `addr`, `notified`, `swept`, `by_content`, and
//! at the end the pointers.

mod addr;
mod by_content;
mod identify;
mod identity;
#[allow(unsafe_code)]
mod key;
#[allow(unsafe_code)]
mod notified;
#[allow(unsafe_code)]
mod ours;
#[allow(unsafe_code)]
mod std_pointers;
#[allow(unsafe_code)]
mod strong;
mod swept;

pub use addr::Addr;
pub use by_content::{ByContent, Content};
pub use identify::Identify;
pub use identity::{ByIdentity, dismantle};
pub use key::{Watch, WeakKey};
pub use notified::{Notified, Notify};
pub use strong::{StrongRef, Upgrade, WeakRef};
pub use swept::Swept;
