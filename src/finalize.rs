//! Finalizers: code that runs when an object has died.
//!
//! A finalizer is a hook in the second list of the side table. Its node is shared by the list and the
//! token; the gate of the side table decides who takes the callback, so it runs or is handed back
//! exactly once.

use alloc::boxed::Box;
use core::fmt;
use core::ptr::NonNull;

use crate::ptr::{Atomic, Call, Flavour, Handle, HookRef, Local, Side, Watcher, Word};
use crate::sync::{self, Ordering::*, UnsafeCell};

/// What list and token share. Invariant **N1**: `callback` is used under the gate of the object's
/// side table while that is open, and by the dying thread once it is closed. It is there exactly
/// while the hook is linked.
struct Node<F: Flavour> {
    /// The list and the token. The last one out frees the node.
    owners: F::Word,
    callback: UnsafeCell<Option<Box<F::Callback>>>,
}

impl<F: Flavour> Node<F> {
    /// # Safety
    /// The caller is one of the owners, and gives that up.
    unsafe fn release(node: NonNull<Self>) {
        // SAFETY: an owner is left. Release and acquire: the other's uses happen before the end.
        unsafe {
            if node.as_ref().owners.fetch_sub(1, Release) == 1 {
                node.as_ref().owners.load(Acquire);
                node.as_ref().callback.with_mut(|_| ());
                sync::free(node);
            }
        }
    }

    /// # Safety
    /// N1 allows the caller to use the callback.
    unsafe fn take(&self) -> Option<Box<F::Callback>> {
        // SAFETY: the caller's promise.
        self.callback.with_mut(|place| unsafe { (*place).take() })
    }
}

/// The token of a [finalizer](Handle::finalize): may call it off, or bring it forward.
///
/// Use it by its two names, [`Finalizer`](crate::Finalizer) and
/// [`local::Finalizer`](crate::local::Finalizer). Dropping the token changes nothing: the finalizer
/// stays registered. Once the object's death has begun, the finalizer belongs to the dying thread,
/// and every method here finds it gone, even if its turn has not come yet.
pub struct FinalizerToken<F: Flavour> {
    node: NonNull<Node<F>>,
    /// Retired once the callback is gone.
    hook: HookRef<F>,
    /// Owns a reference, as a bystander.
    side: NonNull<Side<F>>,
}

// SAFETY: the callback is `Send`, and is taken by one thread only (N1).
unsafe impl Send for FinalizerToken<Atomic> {}
// SAFETY: likewise.
unsafe impl Sync for FinalizerToken<Atomic> {}

/// At the death of the object: the call of the hook.
///
/// # Safety
/// As for every [`Call`]: once, with a hook from the closed list.
unsafe fn fire<F: Flavour>(hook: HookRef<F>) {
    // SAFETY: the hook is ours now, and its context is the list's node. The gate is closed, so we
    // may use the state (N1). Node and hook are gone before the callback runs.
    let callback = unsafe {
        let node: NonNull<Node<F>> = NonNull::new_unchecked(hook.call().context.cast_mut()).cast();
        let callback = node.as_ref().take();
        hook.retire();
        Node::release(node);
        callback
    };
    callback.into_iter().for_each(F::call);
}

fn register<T: ?Sized, F: Flavour>(
    strong: &Handle<T, F>,
    callback: Box<F::Callback>,
) -> FinalizerToken<F> {
    let node = Box::new(Node::<F> {
        owners: F::Word::new(2),
        callback: UnsafeCell::new(Some(callback)),
    });
    // SAFETY: a box is not null.
    let node = unsafe { NonNull::new_unchecked(Box::into_raw(node)) };
    let call = Call {
        fire: fire::<F>,
        context: node.as_ptr().cast_const().cast(),
        tag: 0,
    };
    let hook = Side::watch(&strong.header().side, Watcher::Finalizer, call);
    // SAFETY: the hook is not retired: the object is alive, and nobody else has the node.
    let side = unsafe { hook.side() };
    // SAFETY: the object is alive and holds a reference to its record.
    unsafe { side.as_ref() }.add_bystander();
    FinalizerToken { node, hook, side }
}

impl<T: ?Sized> Handle<T, Atomic> {
    /// Registers `f` to run once, when the object has died: after its destructor, when every weak
    /// handle is expired and the maps have been told, on the thread that dropped the last handle.
    /// The finalizers of one object run newest first. O(1), one allocation or two; the state that
    /// `f` captured is freed right after it has run.
    ///
    /// `f` must not own a handle to this very object: it would never die. (As in JavaScript's
    /// `FinalizationRegistry` and Java's `Cleaner`; a weak handle is of no use either, it is expired.)
    ///
    /// # Panics
    /// A panic in `f` does not keep the other finalizers from running; it then goes on to whoever
    /// dropped the last handle. (A second panic while the first unwinds aborts the process, as with
    /// every destructor in Rust.)
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
        register(this, Box::new(f))
    }
}

impl<T: ?Sized> Handle<T, Local> {
    /// Registers `f` to run once, when the object has died; as
    /// [`Strong::finalize`](Handle::finalize), for one thread: `f` need not be `Send`.
    pub fn finalize(this: &Self, f: impl FnOnce() + 'static) -> FinalizerToken<Local> {
        register(this, Box::new(f))
    }
}

impl<F: Flavour> FinalizerToken<F> {
    /// Calls the finalizer off and hands it back, if it is still pending. O(1).
    ///
    /// ```
    /// use weakly::Strong;
    ///
    /// let object = Strong::new(1);
    /// let token = Strong::finalize(&object, || unreachable!("called off"));
    /// assert!(token.detach().is_some());
    /// assert!(token.detach().is_none());
    /// drop(object);
    /// ```
    pub fn detach(&self) -> Option<Box<F::Callback>> {
        let mut callback = None;
        // SAFETY: our reference; N1, under the gate; and while the callback is there, the hook is in
        // its list.
        let unlinked = unsafe {
            Side::unlink(self.side, self.hook, || {
                callback = self.node.as_ref().take();
                callback.is_some()
            })
        };
        if unlinked {
            // SAFETY: the list's share of the node.
            unsafe { Node::release(self.node) };
        }
        callback
    }

    /// Runs the finalizer now, if it is still pending; says whether it did. It does not run again.
    pub fn run_now(&self) -> bool {
        let callback = self.detach();
        let pending = callback.is_some();
        callback.into_iter().for_each(F::call);
        pending
    }

    /// Whether the finalizer waits for the object's death. A moment's answer.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        // SAFETY: our reference.
        let side = unsafe { self.side.as_ref() };
        // SAFETY: our share of the node.
        let node = unsafe { self.node.as_ref() };
        // SAFETY: N1, under the gate.
        let linked = |callback: *const Option<_>| unsafe { (*callback).is_some() };
        side.while_open(|| node.callback.with(linked)) == Some(true)
    }
}

impl<F: Flavour> Drop for FinalizerToken<F> {
    fn drop(&mut self) {
        // SAFETY: our share of the node, and our reference to the record.
        unsafe {
            Node::release(self.node);
            Side::release_bystander(self.side);
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
