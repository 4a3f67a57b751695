//! Attributes of objects that you do not own: one, or a namespace of many.

mod namespace;
mod single;

pub use namespace::{AttributeId, AttributeKey, Attributes};
pub use single::Attribute;
