//! What the values of some maps lead to, and how they show it.
//!
//! [`Trace`], [`Tracer`] and the graph refer to each other, so they share this file: a value shows
//! its handles to a tracer, which enters them into the graph, which asks the objects they lead to
//! in turn.

use alloc::rc::Rc;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem;
use core::ops::Range;

use super::addresses::Addresses;
use super::counted::{Counted, Owners};
use crate::ptr::{Flavour, Strong};

/// A value that can show which strong handles it owns, so that [`Cycles`](crate::cycles::Cycles)
/// finds the entries that keep themselves alive. Implement it with
/// [`impl_trace!`](crate::impl_trace).
///
/// It is safe to implement, and harmless if wrong, because the only thing that is ever done with it
/// is to remove entries from maps. What somebody holds stays alive in any case.
///
/// * A handle that is *not shown* counts as somebody else's: entries that it leads to stay.
/// * One that is shown more than once counts once: each is known by the address of its field.
/// * A *temporary*, such as an upgraded weak handle, is not a field: what it leads to stays.
/// * A handle that *somebody else* owns cannot be told from an own one: if it is shown, an entry
///   may go although its key is still in use.
///
/// A method that panics changes nothing in the maps.
///
/// Objects behind the handles are asked one after the other: a chain of a million of them takes no
/// stack. What a value owns without counting, as in a `Box`, is asked within the call: a long list
/// of `Box`es needs a `trace` with a loop.
///
/// It is implemented for the strong handles, for `Rc` and `Arc`, for the containers of the standard
/// library, for our collections (not [`Attributes`](crate::Attributes)), and for types that own no
/// handle; collections of other crates are shown [by their items](Tracer::each). Weak handles,
/// `Cell`, `ManuallyDrop` and references show nothing. What somebody has borrowed mutably or locked
/// shows nothing either; nor does a `Mutex`, a `RwLock` or a collection that threads share where
/// threads may [share](Tracer::is_shared) what it is in, unless the maps are [at
/// rest](crate::cycles::Cycles::at_rest).
#[diagnostic::on_unimplemented(
    // rustc leaves out labels and notes where it proposes a reference, which owns nothing.
    message = "`{Self}` does not show which strong handles it owns: `weakly::impl_trace!` implements `Trace`",
    label = "this has to implement `Trace`",
    note = "`weakly::impl_trace!(Type: field, …)` implements it for your types; for a handle to an object of a type that \
            you cannot change, implement it by hand with `Tracer::leaf`; leave out fields that own no strong pointer"
)]
pub trait Trace {
    /// Shows each field that owns strong handles: `self.field.trace(tracer)`.
    fn trace(&self, tracer: &mut Tracer<'_>);
}

/// What a [`Trace`] shows its handles to.
pub struct Tracer<'g> {
    graph: &'g mut Graph,
    /// Whether other threads may use what is being traced.
    shared: bool,
    /// Whether the value of a shared map leads to it.
    lent: bool,
    /// The field that is being traced.
    field: Field<'g>,
}

/// A field, and the one it is a part of. (For reports; the first has no name.)
struct Field<'g> {
    name: &'static str,
    of: Option<&'g Field<'g>>,
}

impl Field<'_> {
    const NONE: Self = Field { name: "", of: None };

    /// The names from the outermost field to this, each after a dot.
    fn path(&self) -> String {
        let mut path = self.of.map_or_else(String::new, Field::path);
        if !self.name.is_empty() {
            path.push('.');
            path += self.name;
        }
        path
    }
}

impl Tracer<'_> {
    /// Shows a handle to an object that shows nothing itself, because its type does not implement
    /// [`Trace`]. What that object owns counts as held from outside.
    ///
    /// ```
    /// use weakly::{Strong, cycles::{Trace, Tracer}};
    ///
    /// struct Icon { pixels: Strong<[u8]>, of: Strong<Foreign> }
    /// struct Foreign; // of another crate
    ///
    /// impl Trace for Icon {
    ///     fn trace(&self, tracer: &mut Tracer<'_>) {
    ///         self.pixels.trace(tracer);
    ///         tracer.leaf(&self.of);
    ///     }
    /// }
    /// ```
    pub fn leaf<T: ?Sized + 'static, F: Flavour>(&mut self, handle: &Strong<T, F>) {
        self.graph.visit(handle, None, self.lent, &self.field);
    }

    /// Shows each item of a collection of another crate that yields references, or pairs of
    /// references as maps do. (For a field that is such a collection, `each field` in
    /// [`impl_trace!`](crate::impl_trace) calls it.) Nothing else may own the items: where copies
    /// of the collection share them, a copy elsewhere is not seen, and an entry may go although its
    /// key is still in use.
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

    /// Returns the same tracer, for a field with this name, which
    /// [`Cycles::holders`](crate::cycles::Cycles::holders) reports; a field of that field has both
    /// names. [`impl_trace!`](crate::impl_trace) calls it for each field.
    #[must_use]
    pub fn field(&mut self, name: &'static str) -> Tracer<'_> {
        Tracer {
            graph: self.graph,
            shared: self.shared,
            lent: self.lent,
            field: Field {
                name,
                of: Some(&self.field),
            },
        }
    }

    /// Returns whether other threads may use the value that is being traced. If so, a `Trace` must
    /// not look behind a lock: a handle that is moved out of there meanwhile is nobody's, and an
    /// entry may go although its key is still in use.
    ///
    /// It is so in objects behind [`Strong`](crate::Strong) and `Arc`, and in the values of shared
    /// maps with all that they lead to; otherwise not in the values of maps of one owner, nor
    /// behind `local::Strong` and `Rc`, nor if the maps are [at
    /// rest](crate::cycles::Cycles::at_rest).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Whether a shared map at this address shows its entries itself.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) fn is_member(&self, map: *const ()) -> bool {
        self.graph.members.contains(&map)
    }

    /// Shows a handle to an object that shows its own.
    pub(super) fn pointer<P: Counted>(&mut self, pointer: &P, trace: fn(&P, &mut Tracer<'_>)) {
        self.graph
            .visit(pointer, Some(trace), self.lent, &self.field);
    }
}

/// What the iterator of a collection of another crate may yield, so that [`Tracer::each`] shows it:
/// a reference, or a pair of what may be yielded, of which one may also be a position (`usize`).
/// Sealed.
#[diagnostic::on_unimplemented(
    message = "an iterator that yields `{Self}` does not show what is in its collection",
    label = "this must be a reference to what implements `Trace`, or a pair of such references",
    note = "implement `Trace` by hand, and hand an iterator over references to `Tracer::each`"
)]
pub trait Item: sealed::Sealed {
    // No method: it would be suggested for every reference.
    #[doc(hidden)]
    fn show(item: Self, tracer: &mut Tracer<'_>);
}

mod sealed {
    pub trait Sealed {}
}

impl<T: ?Sized + Trace> sealed::Sealed for &T {}

/// What it refers to: a reference as such shows nothing.
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

/// The position of an item.
impl Item for usize {
    fn show(_: Self, _: &mut Tracer<'_>) {}
}

/// An object that the values lead to.
pub(super) struct Object {
    /// A strong handle of ours: the object lives until the graph ends.
    pub(super) held: Rc<dyn Held>,
    /// Strong handles when it was first met, without ours.
    pub(super) count: usize,
    /// How many of them have been shown.
    pub(super) shown: usize,
    /// Something is not as it should be: it counts as held from outside.
    pub(super) doubtful: bool,
    /// Whether it has a mark of ours.
    pub(super) marked: bool,
    /// Whether the value of a shared map leads to it: a reader of that map may have lent it to
    /// another thread, even if it is behind an `Rc`.
    lent: bool,
    /// Whether it has been asked what it owns.
    asked: bool,
    /// Whether it is to be asked.
    traced: bool,
    /// Its handles, in `Graph::edges`.
    pub(super) edges: Range<usize>,
}

/// A type-erased strong handle. All counts are without it.
pub(super) trait Held {
    fn owners(&self) -> Owners;
    fn count(&self) -> usize;
    fn mark(&self) -> bool;
    fn count_marked(&self) -> usize;
    fn unmark(&self) -> Option<usize>;
    fn trace(&self, tracer: &mut Tracer<'_>);
    /// The type of the object.
    fn name(&self) -> &'static str;
}

struct HeldBy<P> {
    pointer: P,
    trace: Option<fn(&P, &mut Tracer<'_>)>,
}

impl<P: Counted> Held for HeldBy<P> {
    fn owners(&self) -> Owners {
        P::OWNERS
    }

    fn count(&self) -> usize {
        self.pointer.count() - 1
    }

    fn mark(&self) -> bool {
        self.pointer.mark()
    }

    fn count_marked(&self) -> usize {
        self.pointer.count_marked() - 1
    }

    fn unmark(&self) -> Option<usize> {
        Some(self.pointer.unmark()? - 1)
    }

    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Some(trace) = self.trace {
            trace(&self.pointer, tracer);
        }
    }

    fn name(&self) -> &'static str {
        P::name()
    }
}

/// An entry: while all its keys live, it keeps alive what its value owns.
pub(super) struct Ephemeron {
    /// The map it is in.
    pub(super) member: usize,
    /// What the map calls it.
    pub(super) entry: usize,
    /// Whether one of its keys is dead: its own death removes it, and until then it keeps nothing
    /// alive.
    pub(super) dead: bool,
    /// The addresses of its keys, in `Graph::keys`.
    pub(super) keys: Range<usize>,
    /// The value's handles, in `Graph::edges`.
    pub(super) edges: Range<usize>,
}

/// What the values of some maps lead to.
#[derive(Default)]
pub(super) struct Graph {
    /// The number of each object, by the address of its payload.
    pub(super) objects: Addresses,
    /// The object to which a field leads, by the address of the field.
    fields: Addresses,
    pub(super) nodes: Vec<Object>,
    /// Objects that are to be asked: first those that are lent, then the others.
    lent: Vec<u32>,
    waiting: Vec<u32>,
    /// Objects, by number: those to which a value leads, then those to which another leads, and so
    /// on.
    pub(super) edges: Vec<u32>,
    /// For each of these the names of the field, if that is wanted. Then each field is here once.
    pub(super) fields_of_edges: Option<Vec<String>>,
    /// The shared maps.
    pub(super) members: Vec<*const ()>,
    pub(super) links: Vec<Ephemeron>,
    pub(super) keys: Vec<usize>,
    /// Whether no thread uses anything of this.
    pub(super) at_rest: bool,
}

impl Graph {
    pub(super) fn new(at_rest: bool) -> Self {
        Graph {
            at_rest,
            ..Graph::default()
        }
    }

    fn visit<P: Counted>(
        &mut self,
        pointer: &P,
        trace: Option<fn(&P, &mut Tracer<'_>)>,
        lent: bool,
        field: &Field<'_>,
    ) {
        let next = u32::try_from(self.nodes.len()).expect("no more than 2^32 objects");
        let (object, new) = self.objects.get_or_insert(pointer.addr(), next);
        if new {
            let held = HeldBy {
                pointer: pointer.clone(),
                trace,
            };
            self.nodes.push(Object {
                count: held.count(),
                held: Rc::new(held),
                shown: 0,
                doubtful: false,
                marked: false,
                lent,
                asked: false,
                traced: trace.is_some(),
                edges: 0..0,
            });
            let waiting = if lent {
                &mut self.lent
            } else {
                &mut self.waiting
            };
            waiting.push(object);
        }
        let node = &mut self.nodes[object as usize];
        if !new {
            // Without ours.
            node.doubtful |= pointer.count() - 1 != node.count;
            if lent && !node.lent {
                node.lent = true;
                // Asked as one that is not, it may have shown what is behind a lock.
                node.doubtful |= node.asked;
                self.lent.push(object);
            }
            if !node.traced && trace.is_some() {
                // It was shown as a leaf before. It may have been asked already; now it answers.
                node.traced = true;
                node.asked = false;
                node.held = Rc::new(HeldBy {
                    pointer: pointer.clone(),
                    trace,
                });
                let waiting = if node.lent {
                    &mut self.lent
                } else {
                    &mut self.waiting
                };
                waiting.push(object);
            }
        }
        let (before, new) = self
            .fields
            .get_or_insert(core::ptr::from_ref(pointer).addr(), object);
        if new {
            node.shown += 1;
        } else if before != object {
            // What was at this address is no field.
            node.doubtful = true;
            self.nodes[before as usize].doubtful = true;
        }
        if let Some(fields) = &mut self.fields_of_edges {
            if !new {
                return;
            }
            fields.push(field.path());
        }
        self.edges.push(object);
    }

    /// Enters an entry, whose keys are entered already.
    pub(super) fn link(
        &mut self,
        mut link: Ephemeron,
        shared: bool,
        show: impl FnOnce(&mut Tracer<'_>),
    ) {
        let first = self.edges.len();
        let shared = shared && !self.at_rest;
        show(&mut Tracer {
            graph: self,
            shared,
            lent: shared,
            field: Field::NONE,
        });
        link.edges = first..self.edges.len();
        self.links.push(link);
    }

    /// Asks all objects that are to be asked. Not recursively: a chain of a million objects takes
    /// no stack.
    ///
    /// First all that are lent, so that it is known of each object, when it is asked, whether it
    /// is.
    pub(super) fn complete(&mut self) {
        while let Some(object) = self.lent.pop().or_else(|| self.waiting.pop()) {
            let at = object as usize;
            let first = self.edges.len();
            let node = &mut self.nodes[at];
            if mem::replace(&mut node.asked, true) {
                continue;
            }
            let owners = node.held.owners();
            let shared = (node.lent || owners != Owners::OneThread) && !self.at_rest;
            let lent = node.lent;
            let held = Rc::clone(&node.held);
            held.trace(&mut Tracer {
                graph: self,
                shared,
                lent,
                field: Field::NONE,
            });
            self.nodes[at].edges = first..self.edges.len();
        }
    }
}
