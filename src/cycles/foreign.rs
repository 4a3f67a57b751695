//! Objects that another language counts.

use alloc::borrow::Cow;
use alloc::boxed::Box;
use alloc::format;
use alloc::rc::Rc;
use core::cell::Cell;

use super::counted::Owners;
use super::graph::{Held, Tracer};

/// Shows the references that a foreign object owns.
type Children = Box<dyn FnOnce(&mut Tracer<'_>)>;

/// A foreign object, in the graph.
struct Foreign {
    id: usize,
    count: usize,
    children: Cell<Option<Children>>,
}

impl Held for Foreign {
    fn owners(&self) -> Owners {
        Owners::Locked
    }

    fn mark(&self) -> bool {
        true
    }

    fn count_marked(&self) -> usize {
        self.count
    }

    fn unmark(&self) -> Option<usize> {
        Some(self.count)
    }

    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Some(children) = self.children.take() {
            children(tracer);
        }
    }

    fn name(&self) -> Cow<'static, str> {
        Cow::Owned(format!("foreign object {:#x}", self.id))
    }

    fn foreign(&self) -> Option<usize> {
        Some(self.id)
    }
}

impl Tracer<'_> {
    /// Shows a reference to a foreign object: an object that another language counts, such as a
    /// dictionary of CPython. So a cycle from an entry through the foreign object to the
    /// entry's key is found. A purge removes entries and nothing else: the removed values drop
    /// their references to foreign objects, and the other language frees these objects.
    ///
    /// * `id` is the identity of the foreign object: a number that no second foreign object has
    ///   during the search, such as the object's address. The id may also be the address of a
    ///   native object.
    /// * `count` is the number of all references to the foreign object, whoever owns the
    ///   references, without references made by the trace itself.
    /// * `children` shows the references that the foreign object owns: handles of this crate by
    ///   their `trace`, and foreign objects by this method. The search calls the closure at most
    ///   once for each id, after the return of this method, and drops the closures that further
    ///   calls for the id pass. So a long chain of foreign objects takes no stack. A closure that
    ///   shows nothing makes a leaf.
    ///
    /// The caller of the search holds the other language's lock during the whole call: neither the
    /// counts nor the references of foreign objects change.
    ///
    /// Each call shows one reference. A reference has no address by which two calls for the same
    /// reference could be told from calls for two references. The method is safe, and wrong
    /// arguments have the consequences of a wrong [`Trace`](super::Trace):
    ///
    /// * If `count` is higher than the number of shown references, the foreign object counts as
    ///   held from outside: entries to which the object leads stay. So the entries stay if a
    ///   reference is *not shown*, or if the count is too high.
    /// * The same is true if more references are shown than `count`, or if two calls for an id pass
    ///   different counts.
    /// * If the count is too low by exactly the references that are held elsewhere, or a reference
    ///   is *shown twice* instead of these, an entry may be removed although its key is still in
    ///   use. No object with a handle elsewhere is destroyed.
    /// * A `children` that panics is a [`trace`](super::Trace::trace) that panics: nothing changes.
    ///
    /// If foreign objects own each other in a ring without an entry, the entries to which the ring
    /// leads are [kept](super::Purged::kept), as with native objects, until the other language
    /// breaks the ring. [`Drained::foreign`](super::Drained::foreign) has the ids of the foreign
    /// objects whose fields are to be cleared.
    ///
    /// ```
    /// use std::{cell::RefCell, rc::Rc};
    /// use weakly::{WeakMap, cycles::{Trace, Tracer}, impl_trace, local::Strong};
    ///
    /// struct Tensor;
    /// impl_trace!(Tensor);
    ///
    /// /// A reference to a list of another language (here: of `Rc`s).
    /// #[derive(Clone)]
    /// struct List(Rc<RefCell<Vec<Strong<Tensor>>>>);
    ///
    /// impl Trace for List {
    ///     fn trace(&self, tracer: &mut Tracer<'_>) {
    ///         let (id, count) = (Rc::as_ptr(&self.0).addr(), Rc::strong_count(&self.0));
    ///         let list = Rc::downgrade(&self.0); // not counted
    ///         tracer.foreign(id, count, move |tracer| {
    ///             if let Some(list) = list.upgrade() {
    ///                 RefCell::trace(&list, tracer);
    ///             }
    ///         });
    ///     }
    /// }
    ///
    /// let mut attributes = WeakMap::new();
    /// let (tensor, list) = (Strong::new(Tensor), List(Rc::default()));
    /// attributes.insert(&tensor, list.clone());
    /// list.0.borrow_mut().push(tensor); // the entry -> list -> tensor, the entry's key
    /// assert_eq!(attributes.purge_cycles().removed, 0); // the list is in use
    /// drop(list);
    /// assert_eq!(attributes.purge_cycles().removed, 1);
    /// ```
    pub fn foreign(
        &mut self,
        id: usize,
        count: usize,
        children: impl FnOnce(&mut Tracer<'_>) + 'static,
    ) {
        let hold = || {
            Rc::new(Foreign {
                id,
                count,
                children: Cell::new(Some(Box::new(children))),
            }) as Rc<dyn Held>
        };
        self.graph
            .visit_foreign(id, count, hold, self.lent, self.field);
    }
}
