//! Attributes of objects that you do not own: a single attribute, or a namespace of many.

mod key;
mod single;

#[cfg(feature = "std")]
mod shared;

pub use key::local::AttributeKey as LocalAttributeKey;
pub use key::{AttributeId, AttributeKey, Existing};
#[cfg(feature = "std")]
pub use shared::{Attribute, Attributes};
pub use single::Attributes as LocalAttributes;
