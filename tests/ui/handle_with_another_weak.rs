//~ Weak<str, Local>`, where `impl_handle!` needs a `
//~ the strong handle itself, or its weak handle
use weakly::{Strong, impl_handle, local};

#[derive(Clone)]
pub struct Node(Strong<str>);
#[derive(Clone)]
pub struct WeakNode(local::Weak<str>);

impl_handle!(Node(Strong<str>), WeakNode(local::Weak<str>));
