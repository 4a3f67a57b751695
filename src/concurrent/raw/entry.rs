//! The entries of a table.

use std::boxed::Box;

/// What a table needs to know of its entries.
pub(in super::super) trait Entry {
    /// Whether what an entry owns is destroyed as soon as no thread looks at it, or may wait until the next thread
    /// leaves.
    const PROMPT: bool;

    /// What the table passes to [`end`](Self::end), as long as there are entries.
    type Context;

    /// The hash. It never changes.
    fn hash(&self) -> u64;

    /// Whether it counts while it waits for threads that may look at it.
    #[inline]
    fn is_counted(&self) -> bool {
        true
    }

    /// Destroys an entry that no thread looks at any more.
    #[inline]
    fn end(self: Box<Self>, _: &Self::Context) {}
}
