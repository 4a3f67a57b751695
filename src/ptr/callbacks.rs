//! The finalizers of an object, in its record: a list of nodes, each shared by the list and a
//! token.
//!
//! The gate of the record decides which thread takes the callback, so the callback runs or is
//! returned exactly once.
//!
//! * **F1** `callback` and `links` are used under the gate while the gate is open, and by the dying
//!   thread once it has taken the list. The callback is present exactly while the node is linked.

use alloc::boxed::Box;
use core::ptr::{self, NonNull};

use super::flavour::{Counter, Flavour, Variable};
use crate::panics::apart;
use crate::sync::{self, Live, Ordering::*, UnsafeCell};

struct Links<F: Flavour> {
    prev: *mut FinalizerNode<F>,
    next: *mut FinalizerNode<F>,
}

/// A node, which the list and the token share.
pub(super) struct FinalizerNode<F: Flavour> {
    links: UnsafeCell<Links<F>>,
    callback: UnsafeCell<Option<Box<F::Callback>>>,
    /// The list and the token. The last of the two frees the node.
    owners: F::Word,
    live: Live,
}

impl<F: Flavour> FinalizerNode<F> {
    /// Makes a node that is in no list yet, owned by the list and the token.
    pub(super) fn new(callback: Box<F::Callback>) -> Box<Self> {
        Box::new(FinalizerNode {
            links: UnsafeCell::new(Links {
                prev: ptr::null_mut(),
                next: ptr::null_mut(),
            }),
            callback: UnsafeCell::new(Some(callback)),
            owners: F::Word::new(2),
            live: Live::new(),
        })
    }

    /// # Safety
    /// The caller is one of the owners, and gives its ownership up.
    pub(super) unsafe fn release(node: NonNull<Self>) {
        // SAFETY: an owner is left.
        // Release and acquire: the other owner's uses happen before the end.
        unsafe {
            node.as_ref().live.check();
            if node.as_ref().owners.fetch_sub(1, Release) == 1 {
                node.as_ref().owners.load(Acquire);
                node.as_ref().live.end();
                sync::free(node);
            }
        }
    }

    /// # Safety
    /// F1 allows the caller to use the callback.
    pub(super) unsafe fn take(&self) -> Option<Box<F::Callback>> {
        // SAFETY: the caller's promise.
        self.callback.with_mut(|place| unsafe { (*place).take() })
    }

    /// Returns whether the node is in a list.
    ///
    /// # Safety
    /// F1 allows the caller to use the callback.
    pub(super) unsafe fn is_linked(&self) -> bool {
        // SAFETY: the caller's promise.
        self.callback
            .with(|callback| unsafe { (*callback).is_some() })
    }

    /// # Safety
    /// F1 allows the caller to use the links.
    unsafe fn links<R>(node: NonNull<Self>, f: impl FnOnce(&mut Links<F>) -> R) -> R {
        // SAFETY: the caller's promise.
        unsafe { node.as_ref().links.with_mut(|links| f(&mut *links)) }
    }

    /// Links the node at the front of a list.
    ///
    /// # Safety
    /// F1: the node is new, and the caller has the gate of this list's record.
    pub(super) unsafe fn link(node: NonNull<Self>, head: &mut *mut Self) {
        let next = core::mem::replace(head, node.as_ptr());
        // SAFETY: F1, under the gate; a node in the list is not freed.
        unsafe {
            Self::links(node, |links| links.next = next);
            if let Some(next) = NonNull::new(next) {
                Self::links(next, |links| links.prev = node.as_ptr());
            }
        }
    }

    /// Unlinks the node from its list.
    ///
    /// # Safety
    /// F1: the node is in this list, and the caller has the gate.
    pub(super) unsafe fn unlink(node: NonNull<Self>, head: &mut *mut Self) {
        // SAFETY: F1, under the gate; a node in the list is not freed.
        unsafe {
            let (prev, next) = Self::links(node, |links| (links.prev, links.next));
            match NonNull::new(prev) {
                Some(prev) => Self::links(prev, |links| links.next = next),
                None => *head = next,
            }
            if let Some(next) = NonNull::new(next) {
                Self::links(next, |links| links.prev = prev);
            }
        }
    }
}

/// Runs a list of finalizers. If a finalizer panics, the others still run.
///
/// # Safety
/// The caller owns the list of an object whose gate the caller has closed.
pub(super) unsafe fn run<F: Flavour>(list: *mut FinalizerNode<F>) {
    struct RemainingFinalizers<F: Flavour>(*mut FinalizerNode<F>);
    impl<F: Flavour> RemainingFinalizers<F> {
        fn run(&mut self) {
            while let Some(node) = NonNull::new(self.0) {
                // SAFETY: F1, the list is ours. The node is gone before the callback runs.
                let callback = unsafe {
                    self.0 = FinalizerNode::links(node, |links| links.next);
                    let callback = node.as_ref().take();
                    FinalizerNode::release(node);
                    callback
                };
                callback.into_iter().for_each(F::call);
            }
        }
    }
    impl<F: Flavour> Drop for RemainingFinalizers<F> {
        fn drop(&mut self) {
            // Finalizers are left only after a panic. (A second panic while the first unwinds
            // aborts.)
            self.run();
        }
    }
    apart(|| RemainingFinalizers(list).run());
}
