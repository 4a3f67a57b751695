//~ `Depth` does not name an attribute
//~ declare the attribute and the type of its values: `impl local::AttributeKey for Depth { type Value = …; }`
use weakly::local::{Attributes, Strong};

pub struct Depth;

pub fn has_depth(attributes: &Attributes<Strong<str>>, node: &Strong<str>) -> bool {
    attributes.contains_key(node, Depth)
}
