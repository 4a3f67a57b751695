//~ this pattern has 1 field, but the corresponding tuple struct has 2 fields
use weakly::{Strong, Weak, impl_handle};

#[derive(Clone)]
pub struct Node(Strong<str>, u32);
#[derive(Clone)]
pub struct WeakNode(Weak<str>);

impl_handle!(Node(Strong<str>), WeakNode(Weak<str>));
