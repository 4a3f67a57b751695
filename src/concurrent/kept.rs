//! What a dead node owns, under either policy: it is destroyed when no thread looks at it any more,
//! or kept from then on until it is asked for.
//!
//! Other threads may be looking at a node that has been unlinked, so nothing can be moved out of it
//! before its end. The thread that unlinks it marks it. At its end, which the table's reclamation
//! brings about, and to which it passes this list, what the node owns is moved to the list.

use core::mem;
use std::sync::Arc;
use std::vec::Vec;

use crate::panics::FirstPanic;
use crate::ptr::WakerCell;
use crate::sync::{AtomicBool, AtomicUsize, Exclusive, Mutex, Ordering::*, const_fn, make_room};

/// The policy of a table, and what has been kept.
pub(super) struct Kept<K, V> {
    /// Whether anything is to be kept. Written under the lock of the list.
    on_request: AtomicBool,
    /// The length of the list.
    len: AtomicUsize,
    /// T4: no user code runs under its lock.
    list: Mutex<List<K, V>>,
}

struct List<K, V> {
    /// Of keys, those that own something.
    left: Vec<(Option<K>, V)>,
    /// That of the collection, if the next that is kept calls it. (W5 of `ptr::waker`: it is empty
    /// before this goes.)
    waker: Option<Arc<WakerCell>>,
}

impl<K, V> Kept<K, V> {
    const_fn! {
        pub(super) fn new() -> Self {
            Kept {
                on_request: AtomicBool::new(false),
                len: AtomicUsize::new(0),
                list: Mutex::new(List {
                    left: Vec::new(),
                    waker: None,
                }),
            }
        }
    }

    /// Relaxed: a moment's answer; what depends on it asks again under the lock.
    #[inline]
    pub(super) fn is_on_request(&self) -> bool {
        self.on_request.load(Relaxed)
    }

    pub(super) fn set_on_request(&self, on_request: bool) {
        let list = self.list.lock();
        self.on_request.store(on_request, Relaxed);
        drop(list);
    }

    /// Relaxed: a count.
    pub(super) fn len(&self) -> usize {
        self.len.load(Relaxed)
    }

    /// Keeps what a node leaves, or destroys it if the policy has changed since the node was
    /// marked.
    pub(super) fn put(&self, key: K, value: V) {
        let key = mem::needs_drop::<K>().then_some(key);
        let mut left = Some((key, value));
        let waker = self.list.with_room(
            |list, memory| match self.is_on_request() {
                true => make_room(&mut list.left, 1, memory),
                false => Ok(()),
            },
            |list, _| {
                let left = left.take_if(|_| self.is_on_request())?;
                list.left.push(left);
                self.len.store(list.left.len(), Relaxed);
                list.waker.take()
            },
        );
        if let Some(cell) = waker {
            cell.wake();
        }
        drop(left);
    }

    /// If nothing is kept, returns true, and the next that is kept calls this waker, once. (A
    /// thread that was looking at a dead entry may keep it long after the death has called.)
    pub(super) fn call_at_next(&self, waker: Arc<WakerCell>) -> bool {
        let mut list = self.list.lock();
        let is_empty = list.left.is_empty();
        if is_empty {
            // (The table has another share of what was there: nothing is freed here.)
            list.waker = Some(waker);
        }
        is_empty
    }

    pub(super) fn take(&self) -> Option<(Option<K>, V)> {
        if self.len() == 0 {
            return None;
        }
        let mut list = self.list.lock();
        let taken = list.left.pop();
        let len = list.left.len();
        self.len.store(len, Relaxed);
        let is_sparse = list.left.capacity() > 4 * len;
        drop(list);
        // What is not needed any more is given back, in O(what goes).
        if is_sparse {
            self.shrink_to(2 * len);
        }
        taken
    }

    /// Moves the list into memory for so much, if that suffices and is less.
    fn shrink_to(&self, capacity: usize) {
        let mut memory = Vec::with_capacity(capacity);
        let mut list = self.list.lock();
        if (list.left.len()..list.left.capacity()).contains(&memory.capacity()) {
            memory.append(&mut list.left);
            mem::swap(&mut memory, &mut list.left);
        }
    }
}

impl<K, V> Drop for Kept<K, V> {
    /// Destroys all that is still kept, even if some destructors panic.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        let all = mem::take(&mut self.list.lock().left);
        for left in all {
            panics.catch(|| drop(left));
        }
        panics.resume();
    }
}
