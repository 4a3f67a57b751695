//! What a map has to do so that its entries can be purged of cycles.

use super::addresses::Addresses;
use super::graph::{Ephemeron, Graph, Tracer};

/// A map, while it is purged of cycles.
pub trait Member {
    /// Reclaims the dead entries.
    #[doc(hidden)]
    fn purge(&mut self);
    /// Passes all entries on. From here on no entry moves, until one of the methods below is
    /// called.
    #[doc(hidden)]
    fn show(&self, entries: &mut Entries<'_>);
    /// Lets entries move again.
    #[doc(hidden)]
    fn release(&self);
    /// Unlinks these entries, if they are still there, and keeps what they own: no entry moves.
    /// Returns how many.
    #[doc(hidden)]
    fn unlink(&mut self, doomed: &Addresses) -> usize;
    /// Destroys what the unlinked entries own.
    #[doc(hidden)]
    fn destroy(&mut self);
    /// The address of the map, if threads share it. It may be a field, too, of an object that its
    /// values lead to.
    #[doc(hidden)]
    fn shared(&self) -> Option<*const ()>;
    /// The type of the map.
    #[doc(hidden)]
    fn name(&self) -> &'static str;
}

/// What a map shows its entries to.
pub struct Entries<'g> {
    pub(super) graph: &'g mut Graph,
    pub(super) member: usize,
    /// Whether threads share the map.
    pub(super) shared: bool,
}

/// An entry of a map.
pub(crate) struct EntryOf<Keys> {
    /// An address of its own in the map.
    pub(crate) name: usize,
    /// The addresses of its keys.
    pub(crate) keys: Keys,
    /// Whether one of them is dead.
    pub(crate) dead: bool,
}

impl Entries<'_> {
    /// An entry, and what it owns.
    pub(crate) fn entry<Keys: IntoIterator<Item = *const ()>>(
        &mut self,
        entry: EntryOf<Keys>,
        show: impl FnOnce(&mut Tracer<'_>),
    ) {
        let graph = &mut *self.graph;
        let first = graph.keys.len();
        graph
            .keys
            .extend(entry.keys.into_iter().map(<*const ()>::addr));
        let link = Ephemeron {
            member: self.member,
            entry: entry.name,
            dead: entry.dead,
            keys: first..graph.keys.len(),
            edges: 0..0,
        };
        graph.link(link, self.shared, show);
    }
}
