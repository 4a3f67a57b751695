//! The purge: removes the entries that keep themselves alive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::fmt;

use super::graph::Graph;
use super::member::{Entries, Member};
use super::search::Searching;
use super::verdict::Verdict;

/// A reference to a map whose entries may keep themselves alive: `&mut` for a map of one owner, `&`
/// for a shared map. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to a map whose values show what they own",
    note = "pass `&mut map`, or `&map` if threads share it; its values have to implement `Trace`: see `weakly::impl_trace!` and `#[derive(Trace)]`"
)]
pub trait Cyclic: sealed::Sealed {
    /// Returns the map as a member of a purge ([`Cycles`](crate::Cycles)), boxed: one purge takes
    /// maps of several types. `'m` is the lifetime of the borrow of the map.
    #[doc(hidden)]
    fn member<'m>(self) -> Box<dyn Member + 'm>
    where
        Self: 'm;
}

pub(crate) mod sealed {
    pub trait Sealed {}
}

/// The counts of a purge of cycles. See [`Cycles::purge`].
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
    /// The number of removed entries.
    pub removed: usize,
    /// The number of entries that stay because of a ring. The objects of a ring own each other by
    /// their fields, and keep the key of the entry alive; without the ring, the purge would have
    /// removed the entry. After a field of the ring is cleared, the
    /// next purge removes these entries. [`Cycles::holders`] of each remaining key reports the
    /// paths to the key: a ring is a path that meets one object twice.
    pub kept: usize,
}

/// A purge of several maps together: entries of one map may keep the keys of another map alive. A
/// handle owned by the values of any further map counts as held from outside.
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

/// Destroys the unlinked entries, map by map, even if a destructor panics, and lets the entries of
/// the maps move again.
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
    /// Creates a search without maps.
    #[must_use]
    pub const fn new() -> Self {
        Cycles {
            members: Vec::new(),
            at_rest: false,
        }
    }

    /// Creates a search with one map.
    pub(crate) fn of(member: Box<dyn Member + 'm>) -> Self {
        let members = alloc::vec![member];
        Cycles {
            members,
            at_rest: false,
        }
    }

    /// Adds a map: `&mut` a [`WeakMap`](crate::WeakMap), [`WeakHashMap`](crate::WeakHashMap) or
    /// [`WeakValueMap`](crate::WeakValueMap); `&` a map of [`concurrent`](crate::concurrent), or
    /// `&` a [`Memo`](crate::Memo).
    #[must_use]
    pub fn with(mut self, map: impl Cyclic + 'm) -> Self {
        self.members.push(map.member());
        self
    }

    /// Promises that no other thread uses the maps, or objects to which the maps lead. Then the
    /// counts of `Arc`s are trusted, and the values behind locks are traced also in objects that
    /// threads share. If the promise is broken, an entry may be removed although its key is still
    /// in use; an object with a handle elsewhere is never destroyed.
    #[must_use]
    pub fn at_rest(mut self) -> Self {
        self.at_rest = true;
        self
    }

    /// Removes the entries whose keys are kept alive only by such entries, and destroys their
    /// contents. Returns the number of removed entries, and the number of entries that stayed
    /// because objects own each other ([`Purged`]).
    ///
    /// An entry stays if all its keys would live on without the entry, because objects own each
    /// other: `object.me = object`, a callback that captures the object whose field the callback
    /// is, or an object behind such objects. As with any reference counting, these objects leak
    /// until a field of each ring is cleared. But a live object keeps its entries, and a map of
    /// wrappers never makes a second wrapper for an object. The only exception: a destructor that
    /// runs during the purge, and hands out or leaks a strong handle to a key, finds the entry
    /// gone. While a key has a handle elsewhere, its entry is not counted in either number. To find
    /// a leak, drop your handles to the keys, purge, and then call [`holders`](Self::holders) for
    /// each remaining key.
    ///
    /// The purge does not look for rings of objects that are no keys: if only an entry leads to
    /// such a ring, the entry is removed, and no map shows the ring any more. An entry whose keys
    /// are reached through an `Arc` stays unless the maps are [at rest](Self::at_rest): put a value
    /// that may own its key behind a [`Strong`](crate::Strong).
    ///
    /// Dead entries are reclaimed, too, and not counted. In a map of one owner, what dead entries
    /// own is destroyed after the search, with the contents of the removed entries: a handle that a
    /// dead entry owns and shows keeps nothing, and a handle that is not shown keeps the entries to
    /// which it leads until the next purge.
    ///
    /// O(entries + objects to which the values lead + their handles), in time and in memory. During
    /// the call each of these objects has one more strong handle: `get_mut` and `try_unwrap` of
    /// other threads fail, and an object whose last other handle is dropped meanwhile dies at the
    /// end of the call.
    ///
    /// Other threads may use shared maps and objects during the call. If another thread makes a
    /// strong handle to an object meanwhile, the object and its entries stay. One exception: if the
    /// thread makes the handle from a weak handle after the last check, the object lives, but its
    /// entry may be gone. The same is true of a value that a closure gets through a weak handle, as
    /// in [`with`](crate::concurrent::WeakMap::with): the value lives while the closure runs, but
    /// keeps its entry no more than the weak handle does.
    ///
    /// If two threads search the same objects at once, each takes the other's strong handles for
    /// handles from outside: both may leave entries that the next call removes. Within a
    /// [`trace`](crate::cycles::Trace::trace) the call removes nothing, and returns zeros.
    ///
    /// # Panics
    /// If a [`trace`](crate::cycles::Trace::trace) panics: then no entry is removed. If a
    /// destructor panics, after all destructors have run.
    pub fn purge(&mut self) -> Purged {
        // Runs also if a later step panics: no map stays pinned, and no unlinked entry is leaked.
        let mut rest = Destroying(&mut self.members);
        for member in rest.0.iter_mut() {
            member.take_dead();
        }
        let Some(search) = Searching::begin() else {
            while rest.next() {}
            return Purged::default();
        };
        let mut graph = Graph::new(self.at_rest);
        show(rest.0, &mut graph);
        let Verdict { doomed, kept } = graph.verdict(rest.0.len());
        // From here on destructors run, which may start a search.
        drop(search);
        let mut purged = Purged { removed: 0, kept };
        for (member, doomed) in rest.0.iter_mut().zip(&doomed) {
            purged.removed += member.unlink(doomed);
        }
        // The graph's handles are dropped while the unlinked values still own theirs: so a handle
        // of the graph is never the last handle. Then the unlinked entries are destroyed, when all
        // maps have unlinked them; the resulting deaths find none of the removed entries.
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
        let shared = member.shared();
        // If the caller has passed one map twice, only its first place in the list shows entries:
        // a reference to a foreign object would count twice.
        if shared.is_some() && members[..number].iter().any(|it| it.shared() == shared) {
            continue;
        }
        member.show(&mut Entries {
            graph,
            member: number,
            shared: shared.is_some(),
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
