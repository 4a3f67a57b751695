//! Types that loom lacks: an `Arc` with weak handles, and crossbeam's queues. Each operation is one
//! step, and orders no more than the real operation does.

use alloc::collections::VecDeque;
use core::ops::Deref;
use std::sync::{self, Mutex};

use super::{AtomicUsize, Ordering::*};

/// Changes a count that is not zero; returns whether the count was changed. The function begins
/// with the compare-exchange: see `sync` on loads before a change.
fn change(count: &AtomicUsize, change: impl Fn(usize) -> usize) -> bool {
    let mut now = 1;
    while let Err(other) = count.compare_exchange(now, change(now), Acquire, Relaxed) {
        now = other;
        if now == 0 {
            return false;
        }
    }
    true
}

pub(crate) struct Arc<T> {
    strong: sync::Arc<AtomicUsize>,
    value: sync::Arc<T>,
}

pub(crate) struct Weak<T> {
    strong: sync::Arc<AtomicUsize>,
    value: sync::Weak<T>,
}

impl<T> Arc<T> {
    pub(crate) fn new(value: T) -> Self {
        Arc {
            strong: sync::Arc::new(AtomicUsize::new(1)),
            value: sync::Arc::new(value),
        }
    }

    pub(crate) fn downgrade(this: &Self) -> Weak<T> {
        Weak {
            strong: sync::Arc::clone(&this.strong),
            value: sync::Arc::downgrade(&this.value),
        }
    }
}

impl<T> Clone for Arc<T> {
    fn clone(&self) -> Self {
        self.strong.fetch_add(1, Relaxed);
        Arc {
            strong: sync::Arc::clone(&self.strong),
            value: sync::Arc::clone(&self.value),
        }
    }
}

impl<T> Drop for Arc<T> {
    /// The value is dropped right after the count: loom has no step in between.
    fn drop(&mut self) {
        self.strong.fetch_sub(1, AcqRel);
    }
}

impl<T> Deref for Arc<T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> Weak<T> {
    pub(crate) fn upgrade(&self) -> Option<Arc<T>> {
        let lives = change(&self.strong, |count| count + 1);
        lives.then(|| Arc {
            strong: sync::Arc::clone(&self.strong),
            value: self.value.upgrade().expect("it is counted"),
        })
    }
}

/// The owner of the last handle must leave no message in the queue.
pub(crate) struct SegQueue<M> {
    len: AtomicUsize,
    messages: Mutex<VecDeque<M>>,
}

impl<M> SegQueue<M> {
    pub(crate) fn new() -> Self {
        SegQueue {
            len: AtomicUsize::new(0),
            messages: Mutex::default(),
        }
    }

    pub(crate) fn push(&self, message: M) {
        self.messages.lock().unwrap().push_back(message);
        self.len.fetch_add(1, Release);
    }

    pub(crate) fn pop(&self) -> Option<M> {
        let taken = change(&self.len, |len| len - 1);
        taken
            .then(|| self.messages.lock().unwrap().pop_front())
            .flatten()
    }

    pub(crate) fn len(&self) -> usize {
        self.len.load(Acquire)
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<M> Drop for SegQueue<M> {
    fn drop(&mut self) {
        let is_empty = self.messages.get_mut().unwrap().is_empty();
        assert!(
            is_empty || std::thread::panicking(),
            "a message is left behind"
        );
    }
}

/// Has room for one message.
pub(crate) struct ArrayQueue<M>(SegQueue<M>);

impl<M> ArrayQueue<M> {
    pub(crate) fn new(_: usize) -> Self {
        ArrayQueue(SegQueue::new())
    }

    pub(crate) fn push(&self, message: M) -> Result<(), M> {
        self.0.push(message);
        Ok(())
    }

    pub(crate) fn pop(&self) -> Option<M> {
        self.0.pop()
    }
}
