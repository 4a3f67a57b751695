//! What a table knows of its entries.

use std::boxed::Box;

/// What a table needs to know of its entries.
pub(in super::super) trait Entry {
    /// Whether what an entry owns is to be destroyed as soon as nobody looks at it any more, and not only by the
    /// next thread that leaves after that.
    const PROMPT: bool;

    /// What the table keeps at hand for the ends of its entries, as long as there are any.
    type Context;

    /// Always the same.
    fn hash(&self) -> u64;

    /// No thread looks at it any more: destroys it.
    #[inline]
    fn end(self: Box<Self>, _: &Self::Context) {}
}
