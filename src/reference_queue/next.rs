//! The next message, as a future.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};

use super::messages::ReferenceQueue;
use crate::waits::SeatNumber;

#[cfg_attr(docsrs, doc(cfg(feature = "std")))]
impl<M> ReferenceQueue<M> {
    /// Returns a future of the next message. If several tasks wait, all are woken, and one task
    /// gets the message. Each poll that finds no message costs O(1), and so does dropping the
    /// future. A message wakes each waiting task on the thread on which the object dies, as
    /// [`poll_wait`](Self::poll_wait) describes.
    ///
    /// Dropping the future removes its waker and loses no message: after a `select!` or a timeout,
    /// the next call of `next` gets the message. While no object is registered, the future stays
    /// pending.
    ///
    /// ```
    /// use weakly::{ReferenceQueue, Strong};
    ///
    /// async fn release(textures: ReferenceQueue<u32>) {
    ///     loop {
    ///         let _number = textures.next().await;
    ///         // ...
    ///     }
    /// }
    /// # use std::{future::Future, pin::pin, task::{Context, Waker}};
    /// # let queue = ReferenceQueue::new();
    /// # queue.register(&Strong::new(()), 1);
    /// # let mut future = pin!(release(queue.clone()));
    /// # assert!(future.as_mut().poll(&mut Context::from_waker(Waker::noop())).is_pending());
    /// # assert!(queue.is_empty());
    /// ```
    pub fn next(&self) -> Next<'_, M> {
        Next {
            queue: self,
            seat: None,
        }
    }
}

/// See [`ReferenceQueue::next`].
#[must_use = "futures do nothing unless they are awaited"]
pub struct Next<'a, M> {
    queue: &'a ReferenceQueue<M>,
    /// The future's seat among the waiters.
    seat: Option<SeatNumber>,
}

impl<M> Next<'_, M> {
    fn leave(&mut self) {
        if let Some(seat) = self.seat.take() {
            self.queue.shared.waiters.leave(seat);
        }
    }
}

impl<M> Future for Next<'_, M> {
    type Output = M;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<M> {
        let this = &mut *self;
        let waiters = &this.queue.shared.waiters;
        let message = this.queue.poll().or_else(|| {
            waiters.enter(&mut this.seat, context.waker());
            // M2
            this.queue.poll()
        });
        let Some(message) = message else {
            return Poll::Pending;
        };
        this.leave();
        Poll::Ready(message)
    }
}

impl<M> Drop for Next<'_, M> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<M> fmt::Debug for Next<'_, M> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Next")
            .field("queue", self.queue)
            .finish_non_exhaustive()
    }
}
