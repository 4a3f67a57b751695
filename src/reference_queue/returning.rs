//! Objects whose payloads return to a queue.

use super::messages::ReferenceQueue;
use crate::ptr::{Atomic, Strong};

impl<T: Send + 'static> Strong<T, Atomic> {
    /// Creates an object that *returns*: the drop of its last strong handle moves the payload into
    /// the queue, instead of destroying the payload. Use `new_returning` for pools, and for
    /// payloads that have to be closed elsewhere: by the thread that renders, or by a task that can
    /// `await` the closing.
    ///
    /// A returning object dies like any other object. Weak handles are expired first, collections
    /// lose their entries, then the [finalizers](Strong::finalize) run, newest first; the payload
    /// moves last. The last handle may be of any kind: after [`unsize!`](crate::unsize), or from
    /// [`from_raw`](Strong::from_raw). O(1), four allocations (five if the payload is larger than
    /// 256 bytes).
    ///
    /// The death costs time for the object's entries and finalizers, and O(1) for the payload,
    /// without a lock unless there are waiters. The death may allocate: a block of the queue has
    /// room for 31 payloads. No other kind of death allocates memory for its object.
    ///
    /// * [`try_unwrap`](Strong::try_unwrap), [`into_inner`](Strong::into_inner) and
    ///   [`unwrap_or_clone`](Strong::unwrap_or_clone) take the payload, and the queue gets nothing.
    /// * [`ReferenceQueue::get_mut`] returns mutable access to the payload.
    ///   [`get_mut`](Strong::get_mut) returns `None`, and [`make_mut`](Strong::make_mut) makes a
    ///   clone in an ordinary object, which does not return.
    /// * The object does not keep the queue alive. If the queue is gone when the finalizers have
    ///   run, the payload is destroyed in place. The payloads in the queue are destroyed with the
    ///   queue's last handle. (So a payload that owns a handle to the queue stays in the queue
    ///   until it is taken out.)
    /// * A forgotten handle returns nothing, as it destroys nothing.
    /// * The death moves the payload, so the object must not be pinned:
    ///   `Pin::new_unchecked(Strong::new_returning(..))` breaks the promise of a `Pin`, unless the
    ///   payload is `Unpin`.
    /// * The payload moves over the stack of the thread that drops the last handle. The stack needs
    ///   room for one copy (unoptimised, for some nine), and the first return allocates a block of
    ///   31 times the size of the payload. So put a payload of more than a few kilobytes into a
    ///   `Box`: from a `Strong<Box<T>>`, only a pointer returns.
    ///
    /// # Panics
    /// If a finalizer panics, the payload still returns; then the panic goes on. A panicking waker
    /// is called when the payload is in the queue: see [`poll_wait`](ReferenceQueue::poll_wait). (A
    /// second panic while the first unwinds aborts the process, as with every destructor in Rust.)
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// #[derive(Default)]
    /// struct Pool(ReferenceQueue<Vec<u8>>);
    ///
    /// impl Pool {
    ///     fn buffer(&self) -> Strong<Vec<u8>> {
    ///         let mut buffer = self.0.poll().unwrap_or_else(|| Vec::with_capacity(4096));
    ///         buffer.clear();
    ///         Strong::new_returning(buffer, &self.0)
    ///     }
    /// }
    ///
    /// let pool = Pool::default();
    /// let buffer = pool.buffer();
    /// let (memory, reader) = (buffer.as_ptr(), buffer.clone());
    /// drop(buffer);
    /// std::thread::spawn(move || drop(reader)).join().unwrap();
    /// assert_eq!(pool.buffer().as_ptr(), memory);
    /// ```
    #[must_use = "this moves the value into the queue at once"]
    #[cfg_attr(feature = "holders", track_caller)]
    pub fn new_returning(value: T, queue: &ReferenceQueue<T>) -> Self {
        Self::returning(value, &queue.shared, |queue| {
            let queue = ReferenceQueue::handle_for_delivery(queue)?;
            Some(move |payload| queue.put_in(payload))
        })
    }
}

impl<M> ReferenceQueue<M> {
    /// Returns mutable access to the payload of an object that [returns](Strong::new_returning) to
    /// this queue. The conditions are those of [`Strong::get_mut`], which refuses a returning
    /// object: no other handle, strong or weak, and no entry. Returns `None` also for an object
    /// that returns to another queue or to no queue. O(1).
    ///
    /// The queue grants the access, because the queue knows the type in which the payload comes
    /// back. A handle may have lost this type: a `Strong<&'static str>` is a `Strong<&'a str>` as
    /// well, and could write a reference with a shorter lifetime. No subtyping changes the type of
    /// a queue.
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// let queue = ReferenceQueue::new();
    /// let mut buffer = Strong::new_returning(Vec::new(), &queue);
    /// queue.get_mut(&mut buffer).unwrap().push(1);
    /// let reader = buffer.clone();
    /// assert!(queue.get_mut(&mut buffer).is_none());
    /// drop((buffer, reader));
    /// assert_eq!(queue.poll(), Some(vec![1]));
    /// ```
    #[must_use]
    pub fn get_mut<'a>(&self, object: &'a mut Strong<M, Atomic>) -> Option<&'a mut M> {
        Strong::get_mut_of(object, &self.shared)
    }
}
