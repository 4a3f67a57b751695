//! The graph of the objects to which the values of some maps lead.
//!
//! [`Trace`], [`Tracer`] and the graph refer to each other, so they share this file. A value shows
//! its handles to a tracer; the tracer enters the handles into the graph; the graph then traces the
//! objects behind the handles.

use alloc::borrow::Cow;
use alloc::rc::Rc;
use alloc::vec::Vec;
use core::any::type_name;
use core::mem;
use core::ops::Range;

use super::addresses::Addresses;
use super::counted::{Counted, Owners};
use super::report::Report;
use crate::holders::{Holder, Origin, birth_of};
use crate::panics::FirstPanic;
use crate::ptr::{Flavour, Strong};

/// A value that can show the strong handles it owns, so that [`Cycles`](crate::cycles::Cycles)
/// finds the entries that keep themselves alive. Implement `Trace` with
/// [`impl_trace!`](crate::impl_trace), or, with the feature `derive`, by `#[derive(Trace)]`.
///
/// The trait is safe to implement. A wrong implementation is harmless, because the only consequence
/// is the removal of entries from maps. An object with a handle elsewhere stays alive in any case.
///
/// * A handle that is *not shown* counts as a handle held from outside: entries to which the handle
///   leads stay.
/// * A handle that is shown twice counts once: each handle is known by the address of its field.
/// * A *temporary* handle, such as an upgraded weak handle, is not a field: entries to which the
///   handle leads stay.
/// * A handle with *another owner* looks like a handle of the value's own: if the value shows the
///   handle, an entry may be removed although its key is still in use.
///
/// A reference to an object that another language counts is shown by
/// [`foreign`](Tracer::foreign).
///
/// A `trace` that panics changes nothing in the maps.
///
/// Objects behind the handles are traced one after the other: a chain of a million objects takes no
/// stack. A part that a value owns without counting, as in a `Box`, is traced within the call: a
/// long list of `Box`es needs a `trace` with a loop.
///
/// `Trace` is implemented for the strong handles, for `Rc` and `Arc`, for the containers of the
/// standard library, for the collections of this crate (not [`Attributes`](crate::Attributes)), and
/// for types that own no handle; collections of other crates are shown [by their
/// items](Tracer::each). Weak handles, `Cell`, `ManuallyDrop`, references and pointers show nothing.
/// A mutably borrowed `RefCell` and a locked lock show nothing. A `Mutex`, a `RwLock` or a shared
/// collection also shows nothing where threads may [share](Tracer::is_shared) its owner, unless the
/// maps are [at rest](crate::cycles::Cycles::at_rest).
#[diagnostic::on_unimplemented(
    // rustc omits labels and notes where it proposes a reference, which owns nothing.
    message = "`{Self}` does not show which strong handles it owns: `weakly::impl_trace!` implements `Trace`, and so \
               does `#[derive(Trace)]` (feature `derive`)",
    label = "this has to implement `Trace`",
    note = "`weakly::impl_trace!(Type: field, …)` implements it for your types; for a handle to an object of a type that \
            you cannot change, implement it by hand with `Tracer::leaf`; leave out fields that own no strong pointer \
            (`#[trace(skip)]` where it is derived)"
)]
pub trait Trace {
    /// Shows each field that owns strong handles: `self.field.trace(tracer)`.
    fn trace(&self, tracer: &mut Tracer<'_>);
}

/// The receiver of the handles that a [`Trace`] shows.
pub struct Tracer<'g> {
    pub(super) graph: &'g mut Graph,
    /// Whether other threads may use the value that is being traced.
    shared: bool,
    /// Whether the value of a shared map leads to the traced value.
    pub(super) lent: bool,
    /// The number of the field that is being traced, in the report.
    pub(super) field: u32,
}

impl Tracer<'_> {
    /// Shows a handle to an object that cannot be traced, because its type does not implement
    /// [`Trace`]. The handles owned by this object count as held from outside.
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
        self.graph.visit(handle, None, self.lent, self.field);
    }

    /// Returns the same tracer, for a field with this name, which
    /// [`Cycles::holders`](crate::cycles::Cycles::holders) reports. A field of the field is
    /// reported with both names. [`impl_trace!`](crate::impl_trace) calls this method for each
    /// field.
    #[must_use]
    pub fn field(&mut self, name: &'static str) -> Tracer<'_> {
        let report = self.graph.report.as_mut();
        Tracer {
            field: report.map_or(0, |report| report.field(self.field, name)),
            graph: self.graph,
            shared: self.shared,
            lent: self.lent,
        }
    }

    /// Returns whether other threads may use the value that is being traced. If so, a `Trace` must
    /// not look behind a lock: if another thread moves a handle out of the lock meanwhile, the
    /// handle counts for no owner, and an entry may be removed although its key is still in use.
    ///
    /// True for objects behind [`Strong`](crate::Strong) and `Arc`, for [foreign](Self::foreign)
    /// objects, and for the values of shared maps with all objects to which these values lead.
    /// False otherwise: for the values of maps of one owner, and behind `local::Strong` and `Rc`.
    /// Always false if the maps are [at rest](crate::cycles::Cycles::at_rest).
    #[must_use]
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// Returns whether a shared map at this address shows its entries itself.
    #[cfg_attr(not(feature = "std"), allow(dead_code))]
    pub(crate) fn is_member(&self, map: *const ()) -> bool {
        self.graph.members.contains(&map)
    }

    /// Shows a handle to an object that can be traced.
    pub(super) fn pointer<P: Counted>(&mut self, pointer: &P, trace: fn(&P, &mut Tracer<'_>)) {
        self.graph
            .visit(pointer, Some(trace), self.lent, self.field);
    }

    /// Takes note, for a report, that a value is not looked at.
    pub(super) fn unseen<T: ?Sized>(&mut self, why: &'static str) {
        if let Some(report) = &mut self.graph.report {
            report.unseen(Cow::Borrowed(type_name::<T>()), why);
        }
    }
}

/// An object to which the values lead.
pub(super) struct Object {
    /// The graph's own strong handle: the object lives until the graph is dropped.
    pub(super) held: Rc<dyn Held>,
    /// The number of strong handles when the object was first met, without the graph's handle.
    pub(super) count: usize,
    /// The number of strong handles that have been shown.
    pub(super) shown: usize,
    /// Whether something was inconsistent: then the object counts as held from outside.
    pub(super) doubtful: bool,
    /// Whether the object has a mark of this census.
    pub(super) marked: bool,
    /// Whether the value of a shared map leads to the object: a reader of the map may have lent the
    /// object to another thread, even if the object is behind an `Rc`.
    lent: bool,
    /// Whether the object has been asked for its handles.
    asked: bool,
    /// Whether the object can be traced: a [leaf](Tracer::leaf) cannot.
    pub(super) traced: bool,
    /// The object's handles, in `Graph::edges`.
    pub(super) edges: Range<usize>,
}

impl Object {
    fn new(held: Rc<dyn Held>, count: usize, lent: bool, traced: bool) -> Self {
        Object {
            held,
            count,
            shown: 0,
            doubtful: false,
            marked: false,
            lent,
            asked: false,
            traced,
            edges: 0..0,
        }
    }
}

/// A type-erased strong handle, or a foreign object. All counts are without this handle.
pub(super) trait Held {
    fn owners(&self) -> Owners;
    fn mark(&self) -> bool;
    fn count_marked(&self) -> usize;
    fn unmark(&self) -> Option<usize>;
    fn trace(&self, tracer: &mut Tracer<'_>);
    fn name(&self) -> Cow<'static, str>;
    /// Returns the size of the object, or zero if the size is not known.
    fn bytes(&self) -> usize {
        0
    }
    /// Returns the origin of the object, if the origin is known.
    fn birth(&self) -> Option<Origin> {
        None
    }
    /// Returns the id of a foreign object.
    fn foreign(&self) -> Option<usize> {
        None
    }
}

struct HeldBy<P> {
    pointer: P,
    trace: Option<fn(&P, &mut Tracer<'_>)>,
}

impl<P: Counted> Held for HeldBy<P> {
    fn owners(&self) -> Owners {
        P::OWNERS
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

    fn name(&self) -> Cow<'static, str> {
        Cow::Borrowed(type_name::<P::Target>())
    }

    fn bytes(&self) -> usize {
        P::size(&self.pointer).unwrap_or(0)
    }

    fn birth(&self) -> Option<Origin> {
        birth_of(self.pointer.addr())
    }
}

/// An entry: while all its keys live, the entry keeps alive the objects owned by its value.
#[derive(Debug)]
pub(super) struct Ephemeron {
    /// The number of the entry's map.
    pub(super) member: usize,
    /// The map's name for the entry.
    pub(super) entry: usize,
    /// Whether one of the keys is dead: the key's death removes the entry, and until then the entry
    /// keeps nothing alive.
    pub(super) dead: bool,
    /// The addresses of the keys, in `Graph::keys`.
    pub(super) keys: Range<usize>,
    /// The value's handles, in `Graph::edges`.
    pub(super) edges: Range<usize>,
}

/// The objects to which the values of some maps lead.
#[derive(Default)]
pub(super) struct Graph {
    /// The number of each object, by the address of its payload.
    pub(super) objects: Addresses,
    /// The number of each foreign object, by its id.
    foreign: Addresses,
    /// The object to which a field leads, by the address of the field.
    fields: Addresses,
    pub(super) nodes: Vec<Object>,
    /// Objects still to be traced: first the lent objects, then the others.
    lent: Vec<u32>,
    waiting: Vec<u32>,
    /// Targets of handles, as numbers of objects: each value and each object owns a range.
    pub(super) edges: Vec<u32>,
    /// Names, if wanted. Then `edges` contains each field once.
    pub(super) report: Option<Report>,
    /// The addresses of the shared maps.
    pub(super) members: Vec<*const ()>,
    pub(super) ephemerons: Vec<Ephemeron>,
    pub(super) keys: Vec<usize>,
    /// Whether no other thread uses the maps or the objects.
    pub(super) at_rest: bool,
}

impl Drop for Graph {
    /// Drops the nodes, which may own the last handle to an object, and closures of a user. All
    /// destructors run, even if some panic.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        panics.drop_each(self.nodes.drain(..));
        panics.resume();
    }
}

impl Graph {
    pub(super) fn new(at_rest: bool) -> Self {
        let mut graph = Graph::default();
        graph.at_rest = at_rest;
        graph
    }

    /// Enters a handle, by the address of its field. `trace` shows the handles of the object;
    /// `None` for a leaf. `field` is the number of the field's name in the report.
    fn visit<P: Counted>(
        &mut self,
        pointer: &P,
        trace: Option<fn(&P, &mut Tracer<'_>)>,
        lent: bool,
        field: u32,
    ) {
        let hold = || {
            Rc::new(HeldBy {
                pointer: pointer.clone(),
                trace,
            })
        };
        let (object, new) = self.objects.get_or_insert(pointer.addr(), self.next());
        if new {
            let held = hold();
            let count = pointer.count() - 1;
            self.add(Object::new(held, count, lent, trace.is_some()));
        } else {
            let node = &mut self.nodes[object as usize];
            // Without the graph's handle.
            node.doubtful |= pointer.count() - 1 != node.count;
            self.lend(object, lent);
            let node = &mut self.nodes[object as usize];
            if !node.traced && trace.is_some() {
                // The object was shown as a leaf before. The object may have been visited already;
                // now the object can be traced.
                node.traced = true;
                node.asked = false;
                node.held = hold();
                self.wait(object);
            }
        }
        let (before, new) = self
            .fields
            .get_or_insert(core::ptr::from_ref(pointer).addr(), object);
        let node = &mut self.nodes[object as usize];
        if new {
            node.shown += 1;
        } else if before != object {
            // Two objects at one address: the address belongs to a temporary, not to a field.
            node.doubtful = true;
            self.nodes[before as usize].doubtful = true;
        }
        if new || self.report.is_none() {
            self.edge(object, field, pointer.holder());
        }
    }

    /// Enters a reference to a foreign object; `hold` makes the object if the id is new.
    pub(super) fn visit_foreign(
        &mut self,
        id: usize,
        count: usize,
        hold: impl FnOnce() -> Rc<dyn Held>,
        lent: bool,
        field: u32,
    ) {
        let (object, new) = self.foreign.get_or_insert(id, self.next());
        if new {
            self.add(Object::new(hold(), count, lent, true));
        } else {
            self.lend(object, lent);
        }
        let node = &mut self.nodes[object as usize];
        node.doubtful |= node.count != count;
        node.shown += 1;
        self.edge(object, field, Holder::NONE);
    }

    /// Returns the number of the next new object.
    fn next(&self) -> u32 {
        u32::try_from(self.nodes.len()).expect("no more than 2^32 objects")
    }

    /// Adds a new object, which is still to be traced.
    fn add(&mut self, object: Object) {
        let number = self.next();
        self.nodes.push(object);
        self.wait(number);
    }

    /// Enters an object into a list of objects still to be traced.
    fn wait(&mut self, object: u32) {
        let waiting = if self.nodes[object as usize].lent {
            &mut self.lent
        } else {
            &mut self.waiting
        };
        waiting.push(object);
    }

    /// Takes note that the value of a shared map leads to an object, if so.
    fn lend(&mut self, object: u32, lent: bool) {
        let node = &mut self.nodes[object as usize];
        if lent && !node.lent {
            node.lent = true;
            // Traced before as an object that is not lent, it may have shown handles behind a lock.
            node.doubtful |= node.asked;
            self.wait(object);
        }
    }

    /// Adds a handle of the value or object that is being traced.
    fn edge(&mut self, object: u32, field: u32, holder: Holder) {
        if let Some(report) = &mut self.report {
            report.edges.push((field, holder));
        }
        self.edges.push(object);
    }

    /// Adds an entry, whose keys have been added already; `show` shows the handles of its value.
    /// `shared`: threads share the map.
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
            field: 0,
        });
        link.edges = first..self.edges.len();
        self.ephemerons.push(link);
    }

    /// Traces all objects still to be traced. Not recursive: a chain of a million objects takes no
    /// stack.
    ///
    /// All lent objects come first: so when an object is traced, it is known whether the object is
    /// lent.
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
                field: 0,
            });
            self.nodes[at].edges = first..self.edges.len();
        }
    }
}
