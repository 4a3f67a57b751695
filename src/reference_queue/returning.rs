//! Objects whose payloads return to a queue.

use super::messages::ReferenceQueue;
use crate::ptr::{Atomic, Strong};
use crate::sync::Arc;

impl<T: Send + 'static> Strong<T, Atomic> {
    /// Makes an object that *returns*: the drop of its last strong handle moves the payload into the queue, instead of
    /// destroying it. For pools, and for what has to be closed elsewhere: by the thread that renders, or by a task that
    /// can `await` it.
    ///
    /// It dies as any object does. Weak handles are expired first, collections lose their entries, then the
    /// [finalizers](Strong::finalize) run, newest first; the payload comes last. It returns by whatever handle the
    /// last one is: after [`unsize!`](crate::unsize), or from [`from_raw`](Strong::from_raw). O(1), four allocations
    /// (five if the payload is larger than 256 bytes).
    ///
    /// The death costs what the object's entries and finalizers cost, and O(1) for the payload, without a lock unless
    /// somebody waits. It may allocate: a block of the queue has room for 31 payloads. No other death allocates for its
    /// object.
    ///
    /// * [`try_unwrap`](Strong::try_unwrap), [`into_inner`](Strong::into_inner) and
    ///   [`unwrap_or_clone`](Strong::unwrap_or_clone) take the payload, and nothing is sent.
    /// * [`get_mut`](Strong::get_mut) works as without a queue. [`make_mut`](Strong::make_mut) moves the promise with
    ///   the payload; where it makes a clone, that is another value, which does not return.
    /// * The object does not keep the queue. If it has gone when the finalizers have run, the payload is destroyed in
    ///   place. What waits in the queue is destroyed with its last handle. (So a payload that owns a handle to the queue
    ///   keeps itself there until it is taken out.)
    /// * A handle that is forgotten returns nothing, as it destroys nothing.
    ///
    /// # Panics
    /// A death whose finalizer panics returns the payload all the same; then the panic goes on. A waker that panics is
    /// called when the payload is in the queue: see [`poll_wait`](ReferenceQueue::poll_wait). (A second panic while the
    /// first unwinds aborts the process, as with every destructor in Rust.)
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
        let queue = Arc::downgrade(&queue.shared);
        Self::returning(value, move || {
            let queue = ReferenceQueue::if_there(&queue)?;
            Some(move |payload| queue.put_in(payload))
        })
    }
}
