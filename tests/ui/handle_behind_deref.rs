//~ the field of this newtype is a `Lying`, where `impl_handle!` needs a `Strong<str, Atomic>`
use std::ops::Deref;
use weakly::{Strong, Weak, impl_handle};

pub struct Lying(Strong<str>, Strong<str>);

impl Deref for Lying {
    type Target = Strong<str>;
    fn deref(&self) -> &Strong<str> {
        if Strong::strong_count(&self.0) > 1 { &self.0 } else { &self.1 }
    }
}

impl From<Strong<str>> for Lying {
    fn from(text: Strong<str>) -> Self {
        Lying(text, "another".into())
    }
}

pub struct Node(Lying);
#[derive(Clone)]
pub struct WeakNode(Weak<str>);

impl_handle!(Node(Strong<str>), WeakNode(Weak<str>));
