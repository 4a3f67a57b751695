//! The queue and its tickets.

use alloc::boxed::Box;
use core::fmt;
#[cfg(feature = "std")]
use {
    super::waiters::Waiters,
    core::task::{Context, Poll, Waker},
    core::time::Duration,
    std::time::Instant,
};

use super::handles::Handles;
use crate::panics::run_all;
use crate::ptr::{Anchor, Atomic, Destination, FinalizerToken, Strong};
use crate::sync::{Arc, ArrayQueue, SegQueue, Weak};

/// A queue of messages from dead objects: each [registered](Self::register) object puts its message
/// into the queue at its death, and any thread takes the message out.
///
/// Use a queue where one thread drops an object and another thread has to know: a texture is
/// released on the thread that renders, a file is closed by a worker, an event loop wakes up to
/// purge its maps. A clone is the same queue.
///
/// Each message comes out once, however many threads poll. Messages of deaths on one thread come
/// out in the order of the deaths. If the queue is dropped first, each remaining message is dropped
/// when its object dies.
///
/// (Java's `ReferenceQueue` delivers references; here the caller chooses the message.)
///
/// A message may be the object's own payload: see [`Strong::new_returning`].
///
/// ```
/// use weakly::{ReferenceQueue, Strong};
///
/// let released = ReferenceQueue::new();
/// let texture = Strong::new("pixels");
/// released.register(&texture, 17);
/// assert_eq!(released.poll(), None);
/// std::thread::spawn(move || drop(texture)).join().unwrap();
/// assert_eq!(released.poll(), Some(17));
/// ```
pub struct ReferenceQueue<M> {
    pub(super) shared: Arc<Shared<M>>,
}

/// The part that all clones share. Invariant in `M`, by [`Destination`]: no subtyping turns a queue
/// of one type into a queue of another type.
pub(super) type Shared<M> = Destination<M, Inbox<M>>;

pub(crate) struct Inbox<M> {
    messages: SegQueue<M>,
    pub(super) handles: Handles,
    #[cfg(feature = "std")]
    pub(super) waiters: Waiters,
}

/// The ticket of a message that waits for a death. Dropping the ticket changes nothing: the message
/// stays registered.
pub struct Ticket<M> {
    finalizer: FinalizerToken<Atomic>,
    /// The message, until the death or the cancellation (M1).
    slot: Arc<ArrayQueue<M>>,
}

impl<M> ReferenceQueue<M> {
    /// Creates an empty queue. The queue is one allocation, so `new` is not `const`: create a
    /// `static` queue on first use, with [`LazyLock`](std::sync::LazyLock).
    #[must_use]
    pub fn new() -> Self {
        ReferenceQueue {
            shared: Destination::new(Inbox {
                messages: SegQueue::new(),
                handles: Handles::new(),
                #[cfg(feature = "std")]
                waiters: Waiters::new(),
            }),
        }
    }

    /// Returns the next message, if there is a message. O(1), lock-free. Waiting threads and tasks
    /// do not take precedence over the caller.
    #[inline]
    pub fn poll(&self) -> Option<M> {
        self.shared.messages.pop()
    }

    /// Takes messages out until the queue is empty. A message that comes in meanwhile comes out,
    /// too.
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// let queue = ReferenceQueue::new();
    /// for number in 0..3 {
    ///     queue.register(&Strong::new(()), number); // dies here
    /// }
    /// assert_eq!(queue.drain().collect::<Vec<_>>(), [0, 1, 2]);
    /// ```
    pub fn drain(&self) -> Drain<'_, M> {
        Drain(self)
    }

    /// Returns the number of messages. The number may change at once.
    #[must_use]
    pub fn len(&self) -> usize {
        self.shared.messages.len()
    }

    /// Returns whether there is no message. The answer may change at once.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.shared.messages.is_empty()
    }
}

impl<M: Send + 'static> ReferenceQueue<M> {
    /// Registers a message with an object: when the object has died, the message is put into the
    /// queue, after the object's destructor, as its [finalizers](Strong::finalize) run. O(1), some
    /// allocations.
    ///
    /// The death then costs O(1) more, without a lock unless there are waiters. The death may
    /// allocate: a block of the queue has room for 31 messages. The message must not own a handle
    /// to the registered object: the object would never die.
    ///
    /// If the queue is dropped first, the message is dropped when the object dies. (Messages that
    /// own each other's objects then recurse, as [finalizers](Strong::finalize) do; messages in a
    /// queue do not recurse.)
    pub fn register<T: ?Sized>(&self, object: &Strong<T, Atomic>, message: M) -> Ticket<M> {
        let (slot, deliver) = self.slot(message);
        let finalizer = Strong::<T, Atomic>::finalize(object, deliver);
        Ticket { finalizer, slot }
    }

    /// Registers a message with an anchor: when the anchor has been dropped, the message is put
    /// into the queue. As [`register`](Self::register).
    ///
    /// ```
    /// use weakly::{Anchor, ReferenceQueue};
    ///
    /// struct Node { anchor: Anchor }
    ///
    /// let released = ReferenceQueue::new();
    /// let mut nodes = vec![Node { anchor: Anchor::new() }];
    /// released.register_anchor(&nodes[0].anchor, "the first node");
    /// nodes.clear();
    /// assert_eq!(released.poll(), Some("the first node"));
    /// ```
    pub fn register_anchor(&self, object: &Anchor<Atomic>, message: M) -> Ticket<M> {
        let (slot, deliver) = self.slot(message);
        let finalizer = object.finalize(deliver);
        Ticket { finalizer, slot }
    }

    /// Returns the slot of a message, and the finalizer that delivers the message.
    fn slot(&self, message: M) -> (Arc<ArrayQueue<M>>, impl FnOnce() + Send + use<M>) {
        let slot = Arc::new(ArrayQueue::new(1));
        _ = slot.push(message);
        let queue = Arc::downgrade(&self.shared);
        let delivered = Arc::clone(&slot);
        (slot, move || deliver(&delivered, &queue))
    }
}

/// Puts the message in the slot into the queue, if the queue still exists. The finalizer of the
/// message calls this function when the object has died, unless the ticket was cancelled before
/// (M1).
fn deliver<M>(slot: &ArrayQueue<M>, queue: &Weak<Shared<M>>) {
    let Some(message) = slot.pop() else { return };
    if let Some(queue) = ReferenceQueue::handle_for_delivery(queue) {
        queue.put_in(message);
    }
}

/// Waiting takes the feature `std`.
#[cfg(feature = "std")]
#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<M> ReferenceQueue<M> {
    /// Returns the next message; waits until there is a message, for ever if no object is
    /// registered. (To stop a waiting thread, register an object with a message that tells the
    /// thread to stop, and drop the object; or use [`wait_timeout`](Self::wait_timeout).)
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// let queue = ReferenceQueue::new();
    /// let object = Strong::new(());
    /// queue.register(&object, "gone");
    /// std::thread::scope(|scope| {
    ///     scope.spawn(|| assert_eq!(queue.wait(), "gone"));
    ///     drop(object);
    /// });
    /// ```
    pub fn wait(&self) -> M {
        let message = self.poll().or_else(|| self.sleep(None));
        message.unwrap_or_else(|| unreachable!("it waits for a message"))
    }

    /// Returns the next message; waits for at most `timeout`.
    pub fn wait_timeout(&self, timeout: Duration) -> Option<M> {
        self.poll()
            .or_else(|| match Instant::now().checked_add(timeout) {
                Some(until) => self.sleep(Some(until)),
                // The timeout is longer than the clock can represent.
                None => self.sleep(None),
            })
    }

    #[cold]
    fn sleep(&self, until: Option<Instant>) -> Option<M> {
        // The waiters ask `is_empty` under their lock, and call `poll` after the unlocking: a
        // `poll` may free memory of the queue.
        self.shared
            .waiters
            .wait(until, || !self.is_empty(), || self.poll())
    }

    /// Returns the next message; if there is no message, the task will be woken by the next
    /// message. For futures of your own. If several tasks wait, all are woken. O(1).
    ///
    /// The queue cannot know that a task has given up, so it keeps the waker of each poll until the
    /// next message: at most 65,536 wakers. If there are more than 64 polls between two messages,
    /// the waiting tasks are now and then woken for nothing. [`next`](Self::next) removes its waker
    /// when it gives up.
    ///
    /// The waker is called on the thread on which the object dies, and under no lock. If wakers
    /// panic, the message is in the queue, all wakers are called, and the first panic goes on in
    /// the thread that dropped the last handle to the object.
    ///
    /// ```
    /// use std::task::{Context, Poll, Waker};
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// let queue = ReferenceQueue::new();
    /// let object = Strong::new(());
    /// queue.register(&object, 1);
    /// let mut context = Context::from_waker(Waker::noop());
    /// assert_eq!(queue.poll_wait(&mut context), Poll::Pending); // the death will wake it
    /// drop(object);
    /// assert_eq!(queue.poll_wait(&mut context), Poll::Ready(1));
    /// ```
    pub fn poll_wait(&self, context: &mut Context<'_>) -> Poll<M> {
        let message = self.poll().or_else(|| {
            self.shared.waiters.register(context.waker());
            // M2
            self.poll()
        });
        message.map_or(Poll::Pending, Poll::Ready)
    }

    /// Sets the waker of the queue, or removes it. Every message calls the waker when the message
    /// is in the queue: the waker stays armed, and no poll has to set it again. For an event loop
    /// that a message wakes, and for threads that run another language's code: there the waker
    /// leaves a mark, as `Py_AddPendingCall` does, and the loop [drains](Self::drain) the queue.
    /// O(1).
    ///
    /// The queue has one such waker, beside the threads and tasks that wait: each message wakes
    /// these, too. The waker is called on the thread on which the object dies, under no lock, and
    /// may use the queue. If the waker panics, the message is there, all tasks are woken, and the
    /// first panic goes to the caller who dropped the last handle.
    ///
    /// The waker is not called for messages that are in the queue when it is set: look once
    /// afterwards. A waker that is replaced may still be called by a death that has begun. The
    /// waker must not own a handle to this queue: neither would ever be dropped.
    ///
    /// A death then costs a lock of a few instructions, and the call.
    ///
    /// ```
    /// use std::sync::Arc;
    /// use std::sync::atomic::{AtomicBool, Ordering::*};
    /// use std::task::Wake;
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// struct Flag(AtomicBool);
    ///
    /// impl Wake for Flag {
    ///     fn wake(self: Arc<Self>) {
    ///         self.0.store(true, Release);
    ///     }
    /// }
    ///
    /// let (queue, flag) = (ReferenceQueue::new(), Arc::new(Flag(AtomicBool::new(false))));
    /// queue.set_waker(Some(flag.clone().into()));
    /// for frame in 0..3 {
    ///     queue.register(&Strong::new(frame), frame); // dies here
    ///     assert!(flag.0.swap(false, Acquire)); // each time
    /// }
    /// assert!(queue.drain().eq([0, 1, 2]));
    /// ```
    pub fn set_waker(&self, waker: Option<Waker>) {
        drop(self.shared.waiters.arm(waker.map(std::sync::Arc::new)));
    }
}

impl<M> ReferenceQueue<M> {
    /// Creates one more handle.
    fn enter(shared: Arc<Shared<M>>) -> Self {
        shared.handles.enter();
        ReferenceQueue { shared }
    }

    /// Returns a handle for a delivery, or `None` if the queue is gone (M3 of
    /// [`reference_queue`](super)). While the last handle is being dropped, the upgrade may still
    /// succeed: then the last drop of the two takes the message out.
    pub(super) fn handle_for_delivery(queue: &Weak<Shared<M>>) -> Option<Self> {
        queue.upgrade().map(Self::enter)
    }

    /// Delivers a message (M2).
    pub(super) fn put_in(&self, message: M) {
        self.shared.messages.push(message);
        #[cfg(feature = "std")]
        self.shared.waiters.wake();
    }
}

impl<M> Clone for ReferenceQueue<M> {
    fn clone(&self) -> Self {
        Self::enter(Arc::clone(&self.shared))
    }
}

/// M3.
impl<M> Drop for ReferenceQueue<M> {
    fn drop(&mut self) {
        let messages = &self.shared.messages;
        self.shared.handles.leave(
            || messages.is_empty(),
            || run_all(|| messages.pop().is_some()),
        );
    }
}

impl<M> Default for ReferenceQueue<M> {
    fn default() -> Self {
        Self::new()
    }
}

impl<M> fmt::Debug for ReferenceQueue<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ReferenceQueue")
            .field("len", &self.len())
            .finish_non_exhaustive()
    }
}

impl<M> Ticket<M> {
    /// Takes the message back. Works also in the object's own destructor, not after it. O(1).
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// let queue = ReferenceQueue::new();
    /// let object = Strong::new(());
    /// let ticket = queue.register(&object, "gone");
    /// assert_eq!(ticket.cancel(), Some("gone"));
    /// drop(object);
    /// assert_eq!(queue.poll(), None);
    /// ```
    pub fn cancel(&self) -> Option<M> {
        let finalizer: Box<_> = self.finalizer.detach()?;
        drop(finalizer);
        // M1: the finalizer is ours, so the message is ours.
        self.slot.pop()
    }

    /// Returns whether the message can still be taken back: also in the object's own destructor.
    /// The answer may change at once.
    #[must_use]
    pub fn is_pending(&self) -> bool {
        self.finalizer.is_pending()
    }
}

impl<M> fmt::Debug for Ticket<M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ticket")
            .field("pending", &self.is_pending())
            .finish_non_exhaustive()
    }
}

/// See [`ReferenceQueue::drain`].
#[must_use = "iterators are lazy: this takes out nothing unless it is used"]
#[derive(Debug)]
pub struct Drain<'a, M>(&'a ReferenceQueue<M>);

impl<M> Iterator for Drain<'_, M> {
    type Item = M;

    fn next(&mut self) -> Option<M> {
        self.0.poll()
    }
}
