//! The purge: removes the entries that keep themselves alive.

use alloc::boxed::Box;
use alloc::vec::Vec;
use core::any::Any;
use core::fmt;
use core::ops::Deref;

use super::addresses::Addresses;
use super::graph::Graph;
use super::member::{Contents, Entries, Member};
use super::search::Searching;

/// A reference to a map whose entries may keep themselves alive: `&mut` for a map of one owner, `&`
/// for a shared map. Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a reference to a map whose values show what they own",
    note = "pass `&mut map`, or `&map` if threads share it; its values have to implement `Trace`: see `weakly::impl_trace!` and `#[derive(Trace)]`"
)]
pub trait Cyclic: sealed::Sealed {
    /// What the entries own.
    #[doc(hidden)]
    type Contents;
    /// Returns the map as a member of a purge or drain ([`Cycles`]), boxed: one purge takes maps of
    /// several types. `'m` is the lifetime of the borrow of the map.
    #[doc(hidden)]
    fn member<'m, 'v>(self) -> Box<dyn Member<'v> + 'm>
    where
        Self: 'm,
        Self::Contents: 'v;
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
    /// paths to the key: a ring is a path that meets one object twice. [`Drained`] lists the
    /// entries, and the foreign objects of the rings.
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
///
/// `'m` is the borrow of the maps, and `'v` the borrows in their contents.
#[derive(Default)]
pub struct Cycles<'m, 'v> {
    pub(super) members: Vec<Box<dyn Member<'v> + 'm>>,
    at_rest: bool,
}

/// Destroys the unlinked entries, map by map, even if a destructor panics, and lets the entries of
/// the maps move again. A drain only lets the entries move.
struct Destroying<'a, 'm, 'v> {
    members: &'a mut [&'m mut dyn Member<'v>],
    drains: bool,
}

impl Destroying<'_, '_, '_> {
    /// Lets the entries of one map move again; before, unless this is a drain, destroys the
    /// unlinked entries of the map. Returns false if no map is left.
    fn next(&mut self) -> bool {
        let Some((last, rest)) = core::mem::take(&mut self.members).split_last_mut() else {
            return false;
        };
        self.members = rest;
        match self.drains {
            true => last.release(),
            false => last.destroy(),
        }
        true
    }
}

impl Drop for Destroying<'_, '_, '_> {
    fn drop(&mut self) {
        while self.next() {}
    }
}

/// Purges a single map, not at rest: see [`Cycles::purge`].
pub(crate) fn purge_one<'v>(member: &mut dyn Member<'v>) -> Purged {
    let (at_rest, drains) = (false, false);
    remove(&mut [member], at_rest, drains).purged()
}

/// Drains a single map, not at rest, and leaves the contents with the member. Does not name the
/// entries that stay: see [`Cycles::drain`].
pub(crate) fn drain_one<'v>(member: &mut dyn Member<'v>) -> Purged {
    let (at_rest, drains) = (false, true);
    remove(&mut [member], at_rest, drains).purged()
}

/// Removes the entries whose keys only such entries keep alive, and destroys their contents; a
/// drain leaves the contents with the members. See [`Cycles::purge`].
fn remove<'v>(members: &mut [&mut dyn Member<'v>], at_rest: bool, drains: bool) -> Drained<'v> {
    let mut removed = Drained::default();
    // Runs also if a later step panics: no map stays pinned, and no unlinked entry is leaked.
    let mut rest = Destroying {
        members: &mut *members,
        drains,
    };
    for member in rest.members.iter_mut() {
        member.take_dead(drains);
    }
    let Some(search) = Searching::begin() else {
        return removed;
    };
    let mut graph = Graph::new(at_rest);
    show(rest.members, &mut graph);
    let verdict = graph.verdict(rest.members.len());
    // From here on destructors run, which may start a search.
    drop(search);
    removed.purged.kept = verdict.kept.iter().map(Addresses::len).sum();
    if drains {
        for (map, member) in rest.members.iter().enumerate() {
            let keys = member.weak_keys(&verdict.kept[map]).into_iter();
            removed.kept.extend(keys.map(|key| Kept { map, key }));
        }
        removed.foreign = verdict.foreign;
    }
    for (member, doomed) in rest.members.iter_mut().zip(&verdict.doomed) {
        removed.purged.removed += member.unlink(doomed);
    }
    // The graph's handles are dropped while the unlinked values still own theirs: so a handle
    // of the graph is never the last handle. Then the unlinked entries are destroyed, when all
    // maps have unlinked them; the resulting deaths find none of the removed entries.
    drop(graph);
    while rest.next() {}
    drop(rest);
    for member in members {
        match drains {
            true => member.take_dead(true),
            false => member.purge(),
        }
    }
    removed
}

impl<'m, 'v> Cycles<'m, 'v> {
    /// Creates a search without maps.
    #[must_use]
    pub const fn new() -> Self {
        Cycles {
            members: Vec::new(),
            at_rest: false,
        }
    }

    /// Adds a map: `&mut` a [`WeakMap`](crate::WeakMap), [`WeakHashMap`](crate::WeakHashMap) or
    /// [`WeakValueMap`](crate::WeakValueMap); `&` a map of [`concurrent`](crate::concurrent), or
    /// `&` a [`Memo`](crate::Memo).
    #[must_use]
    pub fn with<C>(mut self, map: C) -> Self
    where
        C: Cyclic<Contents: 'v> + 'm,
    {
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
        let drains = false;
        self.remove(drains).purged
    }

    /// Removes the same entries as [`purge`](Self::purge), and dead entries, but destroys no
    /// contents of these entries: the returned [`Drained`] owns the contents until you drop the
    /// `Drained`. So no destructor of a removed value runs under a lock of the caller. The
    /// `Drained` also lists the entries that stay because objects own each other. While the
    /// contents live, a weak handle to a key of a removed entry may still be upgraded, and the map
    /// has no entry for the key.
    ///
    /// A shared map cannot hand out the contents of an entry at which another thread looks. These
    /// contents are kept or destroyed later: see
    /// [`take_dead`](crate::concurrent::WeakMap::take_dead). The listener of a ceiling hears of a
    /// removed entry as of a dead entry ([`Gone::Died`](crate::keep::Gone::Died)). The costs and
    /// the rules for threads are those of `purge`. Within a [`trace`](crate::cycles::Trace::trace) the
    /// call only takes out dead entries.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use weakly::{Strong, WeakMap, cycles::{Cycles, Drained}, impl_trace};
    ///
    /// struct Node { inputs: Mutex<Vec<Strong<Node>>> }
    /// impl_trace!(Node: inputs);
    ///
    /// let node = || Strong::new(Node { inputs: Mutex::default() });
    /// let (a, b) = (node(), node());
    /// b.inputs.lock().unwrap().push(a.clone()); // behind a lock, where only `at_rest` looks
    /// let names = Mutex::new(WeakMap::from([(&a, (b.clone(), "a"))]));
    /// drop((a, b));
    /// assert_eq!(names.lock().unwrap().drain_cycles().0.removed, 0);
    /// let drain = |map: &mut WeakMap<_, _>| Cycles::new().with(map).at_rest().drain();
    /// let drained: Drained = drain(&mut names.lock().unwrap());
    /// assert_eq!(drained.purged().removed, 1);
    /// drop(drained); // the map is not locked
    /// ```
    ///
    /// # Panics
    /// If a [`trace`](crate::cycles::Trace::trace) panics: then no live entry is removed, and what
    /// dead entries own is destroyed. If a listener or the destructor of a weak handle panics.
    pub fn drain(&mut self) -> Drained<'v> {
        let drains = true;
        let mut drained = self.remove(drains);
        let members = self.members.iter_mut();
        drained.contents = members.map(|member| member.hand_out()).collect();
        drained
    }

    fn remove(&mut self, drains: bool) -> Drained<'v> {
        let members = self.members.iter_mut();
        let members = members.map(|member| &mut **member as &mut dyn Member<'v>);
        remove(&mut members.collect::<Vec<_>>(), self.at_rest, drains)
    }

    pub(super) fn show(&self, graph: &mut Graph) {
        show(&self.members, graph);
    }
}

/// Passes the entries of all maps to the graph.
fn show<'v, 'm>(members: &[impl Deref<Target = dyn Member<'v> + 'm>], graph: &mut Graph) {
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

/// The result of a drain: owns the contents of the removed entries, and lists the entries that
/// stay. See [`Cycles::drain`].
///
/// The contents have any types. The drop of a `Drained` destroys the contents, as the drop of a
/// `Vec` destroys its items. `'v` is the borrow in the contents.
///
/// ```
/// use std::cell::RefCell;
/// use weakly::{WeakMap, cycles::Cycles, impl_trace, local::{Strong, Weak}};
///
/// struct Node { next: RefCell<Option<Strong<Node>>> }
/// impl_trace!(Node: next);
///
/// let node = Strong::new(Node { next: RefCell::default() });
/// *node.next.borrow_mut() = Some(node.clone()); // a ring outside of the map
/// let mut map = WeakMap::from([(&node, node.clone())]);
/// drop(node);
/// let drained = Cycles::new().with(&mut map).drain();
/// let ring = drained.kept()[0].key::<Weak<Node>>().and_then(Weak::upgrade).unwrap();
/// ring.next.take();
/// drop(ring);
/// assert_eq!(Cycles::new().with(&mut map).drain().purged().removed, 1);
/// ```
#[must_use = "what was removed is destroyed when this is dropped"]
#[derive(Default)]
pub struct Drained<'v> {
    purged: Purged,
    kept: Vec<Kept>,
    foreign: Vec<usize>,
    contents: Vec<Box<dyn Contents + 'v>>,
}

impl Drained<'_> {
    /// Returns the counts. O(1).
    pub fn purged(&self) -> Purged {
        self.purged
    }

    /// Returns the entries that stay because rings of objects keep their keys alive. The list has
    /// the entries that [`Purged::kept`] counts, except entries whose keys have died meanwhile.
    /// O(1).
    ///
    /// No handle outside of the maps and of these rings leads to the keys, so the rings are
    /// garbage. Clear a field of each ring: the next drain removes the entries.
    #[must_use]
    pub fn kept(&self) -> &[Kept] {
        &self.kept
    }

    /// Returns the ids of the [foreign objects](super::Tracer::foreign) on the rings and behind the
    /// rings, each id once, in no order. O(1).
    ///
    /// These objects are garbage, too. Clear the fields of each object, as the other language
    /// clears garbage; the keys die, and their entries end. Clearing one object may free another
    /// object: so first take a reference to each object, and keep the language's lock meanwhile.
    #[must_use]
    pub fn foreign(&self) -> &[usize] {
        &self.foreign
    }
}

impl fmt::Debug for Drained<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Drained")
            .field("purged", &self.purged)
            .field("foreign", &self.foreign)
            .finish_non_exhaustive()
    }
}

/// An entry that stays after a drain. See [`Drained::kept`].
#[derive(Debug)]
pub struct Kept {
    map: usize,
    key: Box<dyn Any>,
}

impl Kept {
    /// Returns the number of the entry's map: 0 for the map that was passed to [`Cycles::with`]
    /// first. O(1).
    #[must_use]
    pub fn map(&self) -> usize {
        self.map
    }

    /// Returns the weak form of the entry's key, or `None` if `W` is a different type. O(1).
    ///
    /// For a `WeakMap<K, V>`, a `WeakHashMap<K, V>` and a `Memo<K, V>` the type is `K::Weak`: the
    /// weak handle to the key, such as `Weak<T>` for `Strong<T>`. Other keys of a memo have the
    /// types of [`Part::Weak`](crate::memo::Part::Weak); the `Arc` of a plain value owns the
    /// handles in the value, which a search takes for handles of the entry. For a
    /// `WeakValueMap<K, V>` the type is `V::Weak`, as the entry depends on its value.
    #[must_use]
    pub fn key<W: 'static>(&self) -> Option<&W> {
        self.key.downcast_ref()
    }
}

impl fmt::Debug for Cycles<'_, '_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.members.iter().map(|member| member.name());
        f.debug_struct("Cycles")
            .field("maps", &names.collect::<Vec<_>>())
            .field("at_rest", &self.at_rest)
            .finish()
    }
}
