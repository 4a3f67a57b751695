//! The items of another crate's collection.

use super::graph::{Trace, Tracer};

impl Tracer<'_> {
    /// Shows each item of another crate's collection, if the collection yields references, or pairs
    /// of references as maps do. (For a field with such a collection, `each field` in
    /// [`impl_trace!`](crate::impl_trace) calls this method.) Nothing else may own the items: where
    /// copies of the collection share the items, another copy is not seen, and an entry may be
    /// removed although its key is still in use.
    ///
    /// ```
    /// use hashbrown::HashTable;
    /// use weakly::{Strong, cycles::{Trace, Tracer}};
    ///
    /// struct Symbols { table: HashTable<(String, Strong<str>)> }
    ///
    /// impl Trace for Symbols {
    ///     fn trace(&self, tracer: &mut Tracer<'_>) {
    ///         tracer.each(self.table.iter().map(|(_, symbol)| symbol));
    ///     }
    /// }
    /// ```
    pub fn each(&mut self, items: impl IntoIterator<Item: Item>) {
        items.into_iter().for_each(|item| Item::show(item, self));
    }
}

/// An item from the iterator of another crate's collection, for [`Tracer::each`]: a reference, or a
/// pair of items. One item of a pair may also be a position (`usize`). Sealed.
#[diagnostic::on_unimplemented(
    message = "an iterator that yields `{Self}` does not show what is in its collection",
    label = "this must be a reference to what implements `Trace`, or a pair of such references",
    note = "implement `Trace` by hand, and hand an iterator over references to `Tracer::each`"
)]
pub trait Item: sealed::Sealed {
    // No method: rustc would suggest a method for every reference.
    #[doc(hidden)]
    fn show(item: Self, tracer: &mut Tracer<'_>);
}

mod sealed {
    pub trait Sealed {}
}

impl<T: ?Sized + Trace> sealed::Sealed for &T {}

/// Shows the referent: the reference itself owns nothing.
impl<T: ?Sized + Trace> Item for &T {
    fn show(item: Self, tracer: &mut Tracer<'_>) {
        T::trace(item, tracer);
    }
}

impl<K: Item, V: Item> sealed::Sealed for (K, V) {}

impl<K: Item, V: Item> Item for (K, V) {
    fn show((key, value): Self, tracer: &mut Tracer<'_>) {
        K::show(key, tracer);
        V::show(value, tracer);
    }
}

impl sealed::Sealed for usize {}

/// The position of an item: shows nothing.
impl Item for usize {
    fn show(_: Self, _: &mut Tracer<'_>) {}
}
