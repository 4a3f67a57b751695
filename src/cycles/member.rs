//! The methods of a map that takes part in a purge of cycles.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;

use super::addresses::Addresses;
use super::graph::{Ephemeron, Graph, Tracer};

/// A map, while its cycles are purged or drained. `'v`: what its contents borrow.
pub trait Member<'v> {
    /// Unlinks the dead entries. Keeps their contents, but a purge lets a map that threads share
    /// reclaim them. A map that keeps contents of dead entries also shows the contents.
    #[doc(hidden)]
    fn take_dead(&mut self, drains: bool);
    /// Passes all entries to the graph. From here on no entry moves, until `release` or `destroy`
    /// is called.
    #[doc(hidden)]
    fn show(&self, entries: &mut Entries<'_>);
    /// Returns the keys of these entries, weakly.
    #[doc(hidden)]
    fn weak_keys(&self, entries: &Addresses) -> Vec<WeakKeys>;
    /// Lets entries move again.
    #[doc(hidden)]
    fn release(&self);
    /// Unlinks the doomed entries that are still in the map, and keeps their contents: no entry
    /// moves. Returns the number of unlinked entries.
    #[doc(hidden)]
    fn unlink(&mut self, doomed: &Addresses) -> usize;
    /// Destroys the contents of the unlinked entries, and lets entries move again.
    #[doc(hidden)]
    fn destroy(&mut self);
    /// Reclaims the dead entries.
    #[doc(hidden)]
    fn purge(&mut self);
    /// Hands out the kept contents.
    #[doc(hidden)]
    fn hand_out(&mut self) -> Box<dyn Contents + 'v>;
    /// Returns the address of the map, if threads share the map. A shared map may also be a field
    /// of an object to which its values lead.
    #[doc(hidden)]
    fn shared(&self) -> Option<*const ()>;
    /// Returns the name of the map's type.
    #[doc(hidden)]
    fn name(&self) -> &'static str;
}

/// The keys of an entry, weakly, as one value of the map's type for them.
pub(crate) type WeakKeys = Box<dyn Any>;

/// The contents of removed entries, until they are dropped.
pub trait Contents {}

impl<T> Contents for T {}

/// The receiver of the entries that a map shows.
pub struct Entries<'g> {
    pub(super) graph: &'g mut Graph,
    pub(super) member: usize,
    /// Whether threads share the map.
    pub(super) shared: bool,
}

/// An entry of a map.
pub(crate) struct EntryOf<Keys> {
    /// The map's name for the entry: an address that no other entry of the map has.
    pub(crate) name: usize,
    /// The addresses of the entry's keys.
    pub(crate) keys: Keys,
    /// Whether one of the keys is dead.
    pub(crate) dead: bool,
}

impl Entries<'_> {
    /// Adds an entry with the handles in its value.
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

    /// Adds the contents of a dead entry, which are not in the map any more.
    pub(crate) fn dead<T>(&mut self, contents: &T, show: impl FnOnce(&mut Tracer<'_>)) {
        let entry = EntryOf {
            name: core::ptr::from_ref(contents).addr(),
            keys: None,
            dead: true,
        };
        self.entry(entry, show);
    }
}
