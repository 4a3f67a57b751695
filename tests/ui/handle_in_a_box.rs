//~ the field of this newtype is a `Box<Strong<str, Atomic>>`, where `impl_handle!` needs a `Strong<str, Atomic>`
//~ a newtype has one field: the strong handle itself, or its weak handle, with nothing around it
use weakly::{Strong, Weak, impl_handle};

#[derive(Clone)]
pub struct Node(Box<Strong<str>>);
#[derive(Clone)]
pub struct WeakNode(Weak<str>);

impl_handle!(Node(Strong<str>), WeakNode(Weak<str>));
