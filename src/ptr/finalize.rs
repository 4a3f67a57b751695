//! Finalizers: callbacks that run when an object has died.
//!
//! A finalizer is a node in the second list of the object's record. See `callbacks`, also for the
//! invariant F1.

use alloc::boxed::Box;
use core::fmt;
use core::ptr::NonNull;

use super::callbacks::FinalizerNode;
use super::flavour::{Atomic, Flavour, Local};
use super::gate::Gate;
use super::object_ref::ObjectRef;
use super::record::RecordRef;
use super::strong::Strong;

/// The token of a [finalizer](Strong::finalize): cancels the finalizer, or runs it early.
///
/// Use it as [`Finalizer`](crate::Finalizer) or [`local::Finalizer`](crate::local::Finalizer).
/// Dropping the token changes nothing: the finalizer stays registered.
///
/// In the object's own destructor the finalizer is still pending, and can be cancelled or run
/// early: so a destructor can do the cleaning itself. (As in Python's `__del__`.) When the
/// destructor has returned, the finalizer belongs to the dying thread, and every method of the
/// token reports the finalizer as gone, even if it has not run yet.
pub struct FinalizerToken<F: Flavour> {
    node: NonNull<FinalizerNode<F>>,
    /// A reference owned by the token, which is a bystander.
    record: RecordRef<F>,
}

// SAFETY: the callback is `Send`, and one thread takes it (F1).
unsafe impl Send for FinalizerToken<Atomic> {}
// SAFETY: as for `Send`.
unsafe impl Sync for FinalizerToken<Atomic> {}

/// Registers a finalizer of an object.
pub(super) fn register<T: ?Sized, F: Flavour>(
    object: ObjectRef<'_, T, F>,
    callback: Box<F::Callback>,
) -> FinalizerToken<F> {
    let node = FinalizerNode::new(callback);
    // SAFETY: the caller keeps the object alive.
    let record = unsafe { object.block().record() };
    // SAFETY: a box is not null.
    let node = unsafe { NonNull::new_unchecked(Box::into_raw(node)) };
    let Some(mut gate) = record.lock() else {
        unreachable!("the object is alive")
    };
    // First the reference, then the bystander: both under the gate, which keeps `get_mut` out.
    record.add_ref();
    gate.add_bystander();
    // SAFETY: F1, under the gate, which is open.
    unsafe { gate.finalizers(|head| FinalizerNode::link(node, head)) };
    drop(gate);
    FinalizerToken { node, record }
}

impl<T: ?Sized> Strong<T, Atomic> {
    /// Registers `f` to run once, when the object has died: after its destructor, when every weak
    /// handle is expired and no collection finds the object, on the thread that dropped the last
    /// strong handle. The finalizers of one object run newest first. O(1), two allocations (three
    /// for the object's first finalizer). The captures of `f` are freed right after `f` has run.
    ///
    /// `f` must not own a strong handle to the same object: the object would never die. (As with
    /// JavaScript's `FinalizationRegistry` and Java's `Cleaner`. A weak handle is of no use either:
    /// it is expired when `f` runs.)
    ///
    /// If `f` drops the last strong handle to another object, the finalizers of the other object
    /// run inside `f`: a chain of objects, each owned by the finalizer of the one before, recurses.
    /// A stack of 2 MiB has room for a chain of some 300 objects unoptimised, and of some 8,000
    /// optimised. Messages to a [`ReferenceQueue`](crate::ReferenceQueue) do not recurse.
    ///
    /// # Panics
    /// If `f` panics, the other finalizers still run; then the panic propagates to the caller that
    /// dropped the last strong handle. (A second panic while the first unwinds aborts the process,
    /// as with every destructor in Rust.)
    ///
    /// ```
    /// use std::sync::mpsc::channel;
    /// use weakly::Strong;
    ///
    /// let (sender, receiver) = channel();
    /// let texture = Strong::new("pixels");
    /// Strong::finalize(&texture, move || sender.send("freed").unwrap());
    /// assert!(receiver.try_recv().is_err());
    /// drop(texture);
    /// assert_eq!(receiver.try_recv(), Ok("freed"));
    /// ```
    pub fn finalize(this: &Self, f: impl FnOnce() + Send + 'static) -> FinalizerToken<Atomic> {
        register(this.into(), Box::new(f))
    }
}

impl<T: ?Sized> Strong<T, Local> {
    /// Registers `f` to run once, when the object has died. Does the same as
    /// [`Strong::finalize`](Strong::finalize), for one thread: `f` need not be `Send`.
    pub fn finalize(this: &Self, f: impl FnOnce() + 'static) -> FinalizerToken<Local> {
        register(this.into(), Box::new(f))
    }
}

impl<F: Flavour> FinalizerToken<F> {
    /// Cancels the finalizer and returns it, if it is still pending. O(1).
    ///
    /// ```
    /// use weakly::Strong;
    ///
    /// let object = Strong::new(1);
    /// let token = Strong::finalize(&object, || unreachable!("cancelled"));
    /// assert!(token.detach().is_some());
    /// assert!(token.detach().is_none());
    /// drop(object);
    /// ```
    ///
    /// An object that does the cleaning itself:
    ///
    /// ```
    /// use std::cell::OnceCell;
    /// use weakly::local::{Finalizer, Strong};
    ///
    /// struct File { cleaning: OnceCell<Finalizer> }
    ///
    /// impl Drop for File {
    ///     fn drop(&mut self) {
    ///         if let Some(cleaning) = self.cleaning.get() {
    ///             cleaning.detach(); // flushed and closed here
    ///         }
    ///     }
    /// }
    ///
    /// let file = Strong::new(File { cleaning: OnceCell::new() });
    /// let cleaning = Strong::finalize(&file, || unreachable!("cancelled"));
    /// assert!(file.cleaning.set(cleaning).is_ok());
    /// drop(file);
    /// ```
    pub fn detach(&self) -> Option<Box<F::Callback>> {
        let gate = self.record.lock().filter(Gate::is_open)?;
        // SAFETY: our share of the node; F1, under the gate. While the callback is present, the
        // node is linked; the list gives up its share of the node together with the callback.
        unsafe {
            let callback = self.node.as_ref().take()?;
            gate.finalizers(|head| FinalizerNode::unlink(self.node, head));
            drop(gate);
            FinalizerNode::release(self.node);
            Some(callback)
        }
    }

    /// Runs the finalizer now, if it is still pending. Returns whether it was pending. The
    /// finalizer does not run again.
    pub fn run_now(&self) -> bool {
        let callback = self.detach();
        let pending = callback.is_some();
        callback.into_iter().for_each(F::call);
        pending
    }

    /// Returns whether the finalizer is still to run at the object's death. A snapshot.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        let Some(_gate) = self.record.lock().filter(Gate::is_open) else {
            return false;
        };
        // SAFETY: our share of the node; F1, under the gate.
        unsafe { self.node.as_ref().is_linked() }
    }
}

impl<F: Flavour> Drop for FinalizerToken<F> {
    fn drop(&mut self) {
        // First the bystander, then the reference: see `RecordRef::is_unwatched`.
        if let Some(mut gate) = self.record.lock() {
            gate.remove_bystander();
        }
        // SAFETY: our share of the node, and our reference to the record.
        unsafe {
            FinalizerNode::release(self.node);
            self.record.release();
        }
    }
}

impl<F: Flavour> fmt::Debug for FinalizerToken<F> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Finalizer")
            .field("pending", &self.is_pending())
            .finish()
    }
}
