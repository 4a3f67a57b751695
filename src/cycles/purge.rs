//! Removes the entries that keep themselves alive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::graph::Graph;
use super::member::{Entries, Member};
use super::search::Searching;
use super::verdict::Verdict;

/// A map whose entries may keep themselves alive, by reference: a mutable one to a map of one
/// owner, a shared one to a shared map. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to a map whose values show what they own",
    note = "pass `&mut map`, or `&map` if threads share it; its values have to implement `Trace`: see `weakly::impl_trace!`"
)]
pub trait Cyclic: sealed::Sealed {
    #[doc(hidden)]
    fn member<'m>(self) -> Box<dyn Member + 'm>
    where
        Self: 'm;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// What a purge of cycles has done. See [`Cycles::purge`].
///
/// ```
/// use std::cell::RefCell;
/// use weakly::{WeakMap, impl_trace, local::Strong};
///
/// struct Node { next: RefCell<Option<Strong<Node>>> }
/// impl_trace!(Node: next);
///
/// let (a, b) = (Strong::new(Node { next: RefCell::new(None) }), Strong::new(Node { next: RefCell::new(None) }));
/// *b.next.borrow_mut() = Some(b.clone()); // lives on without the map
/// let mut map = WeakMap::from([(&a, a.clone()), (&b, b.clone())]);
/// drop((a, b));
/// let purged = map.purge_cycles();
/// assert_eq!((purged.removed, purged.kept), (1, 1));
/// # map.keys().next().unwrap().next.take();
/// ```
#[must_use = "it says whether entries stay because objects own each other"]
#[non_exhaustive]
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub struct Purged {
    /// How many entries were removed.
    pub removed: usize,
    /// How many entries would have been removed, if no rings of objects that own each other by
    /// their fields kept their keys alive. When such a ring is open, its field cleared, the next
    /// purge removes them. [`Cycles::holders`] of each key that is left tells on which ways it is
    /// held: a ring is a way that meets one object twice.
    pub kept: usize,
}

/// Several maps that are purged of cycles together: entries of one may keep the keys of another
/// alive. What is owned by values of a map that is not here counts as held from outside.
///
/// ```
/// use std::cell::RefCell;
/// use weakly::{WeakMap, cycles::Cycles, impl_trace, local::Strong};
///
/// struct Node { partner: RefCell<Option<Strong<Node>>> }
/// impl_trace!(Node: partner);
///
/// let node = || Strong::new(Node { partner: RefCell::new(None) });
/// let (a, b) = (node(), node());
/// let mut one = WeakMap::from([(&a, b.clone())]);
/// let mut other = WeakMap::from([(&b, a.clone())]); // each keeps the other's key alive
/// drop((a, b));
/// assert_eq!((one.purge_cycles().removed, other.purge_cycles().removed), (0, 0)); // neither sees the other
/// assert_eq!(Cycles::new().with(&mut one).with(&mut other).purge().removed, 2);
/// assert!(one.is_empty() && other.is_empty());
/// ```
#[derive(Default)]
pub struct Cycles<'m> {
    pub(super) members: Vec<Box<dyn Member + 'm>>,
    at_rest: bool,
}

/// Destroys what the maps have unlinked, map by map, even if a destructor panics, and lets their
/// entries move again. The last map first: it may be the first once more, and then only that one's
/// release destroys.
struct Destroying<'a, 'm>(&'a mut [Box<dyn Member + 'm>]);

impl Destroying<'_, '_> {
    fn next(&mut self) -> bool {
        let Some((last, rest)) = core::mem::take(&mut self.0).split_last_mut() else {
            return false;
        };
        self.0 = rest;
        last.destroy();
        true
    }
}

impl Drop for Destroying<'_, '_> {
    fn drop(&mut self) {
        while self.next() {}
    }
}

impl<'m> Cycles<'m> {
    /// Creates a search that has no map yet.
    #[must_use]
    pub const fn new() -> Self {
        Cycles {
            members: Vec::new(),
            at_rest: false,
        }
    }

    /// Adds a map: `&mut` a [`WeakMap`](crate::WeakMap), [`WeakHashMap`](crate::WeakHashMap) or
    /// [`WeakValueMap`](crate::WeakValueMap); `&` one of those of
    /// [`concurrent`](crate::concurrent), or a [`Memo`](crate::Memo).
    #[must_use]
    pub fn with(mut self, map: impl Cyclic + 'm) -> Self {
        self.members.push(map.member());
        self
    }

    /// Takes the caller's word that no other thread uses the maps or what they lead to. Then the
    /// counts of `Arc`s are believed, and locks are looked behind in objects that threads share
    /// too. If the promise is broken, entries may go although their key is still in use; nothing
    /// that somebody holds is destroyed.
    #[must_use]
    pub fn at_rest(mut self) -> Self {
        self.at_rest = true;
        self
    }

    /// Removes the entries whose keys nothing but such entries keeps alive, and destroys what they
    /// own. Returns how many went, and how many stayed because objects own each other ([`Purged`]).
    ///
    /// An entry stays if all its keys would live on without it, since objects own each other
    /// besides: `object.me = object`, a callback that captures what it is a field of, or what such
    /// objects lead to. That is a leak as with any reference counting, until a field of each such
    /// ring is cleared; but what lives keeps what the maps have about it, and a map of wrappers
    /// never makes a second one of an object. The only exception: a destructor that runs here, and
    /// hands out or leaks a strong handle to a key, finds the entry gone. While somebody holds a
    /// key, its entry is not counted at all: to learn what leaks, let the keys go first, purge, and
    /// then ask [`holders`](Self::holders) of each that is left.
    ///
    /// Rings of objects that are no keys are not looked for: if only an entry leads to such a ring,
    /// the entry goes, and no map shows the ring any more. What is behind an `Arc` stays unless the
    /// maps are [at rest](Self::at_rest): values that may own their keys had better be behind a
    /// [`Strong`](crate::Strong).
    ///
    /// O(entries + objects that the values lead to + their handles), and as much memory until it
    /// returns. Each object has one strong handle more while it is looked at: `get_mut` and
    /// `try_unwrap` of other threads fail meanwhile, and an object whose last other handle they
    /// drop dies at the end of this call.
    ///
    /// Other threads may use shared maps, and objects. What they make a strong handle to while this
    /// runs stays, unless they make it from a weak handle after the last look: then the object
    /// lives, but its entry may be gone. So it is with a value that a closure is shown for a weak
    /// handle, as by [`with`](crate::concurrent::WeakMap::with): it lives as long as that runs, but
    /// holds its entry no more than the weak handle does.
    ///
    /// Of two threads that search the same objects at once, each takes the other's strong handles
    /// for somebody's: both may leave what the next call removes. Within a
    /// [`trace`](crate::cycles::Trace::trace) this removes nothing, and returns zeros.
    ///
    /// # Panics
    /// If a [`trace`](crate::cycles::Trace::trace) panics: then no entry is removed. If a
    /// destructor panics, after all of them have run.
    pub fn purge(&mut self) -> Purged {
        for member in &mut self.members {
            member.purge();
        }
        let Some(search) = Searching::begin() else {
            return Purged::default();
        };
        // Also if something panics from here on: no map stays pinned, and nothing unlinked stays
        // with us.
        let mut rest = Destroying(&mut self.members);
        let mut graph = Graph::new(self.at_rest);
        show(rest.0, &mut graph);
        let Verdict { doomed, kept } = graph.verdict(rest.0.len());
        // From here on destructors run, which may search.
        drop(search);
        let mut purged = Purged { removed: 0, kept };
        for (member, doomed) in rest.0.iter_mut().zip(&doomed) {
            purged.removed += member.unlink(doomed);
        }
        // Our own handles, while the values still have theirs: so that these are not the last. Then
        // what was unlinked, when it is out of all the maps; its deaths find no entry of the same
        // kind.
        drop(graph);
        while rest.next() {}
        drop(rest);
        for member in &mut self.members {
            member.purge();
        }
        purged
    }

    pub(super) fn show(&self, graph: &mut Graph) {
        show(&self.members, graph);
    }
}

fn show(members: &[Box<dyn Member + '_>], graph: &mut Graph) {
    graph.members = members
        .iter()
        .filter_map(|member| member.shared())
        .collect();
    for (number, member) in members.iter().enumerate() {
        let shared = member.shared().is_some();
        member.show(&mut Entries {
            graph,
            member: number,
            shared,
        });
    }
}

impl fmt::Debug for Cycles<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.members.iter().map(|member| member.name());
        f.debug_struct("Cycles")
            .field("maps", &names.collect::<Vec<_>>())
            .field("at_rest", &self.at_rest)
            .finish()
    }
}
