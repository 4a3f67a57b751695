//! The keys and values of dead nodes, under both policies of a table: a key and value are destroyed
//! as soon as no thread looks at their node any more, or kept from then on until a user asks for
//! them.
//!
//! Other threads may be looking at an unlinked node, so nothing can be moved out of the node before
//! the node's end. The thread that unlinks the node marks the node. The reclamation of the table
//! brings about the end, and passes this list to the node; the node then moves its key and value to
//! the list.

use core::mem;
use std::sync::Arc;
use std::vec::Vec;

use crate::panics::FirstPanic;
use crate::ptr::WakerCell;
use crate::sync::{AtomicBool, AtomicUsize, Exclusive, Mutex, Ordering::*, const_fn, make_room};

/// The policy of a table, and the kept keys and values.
pub(super) struct KeptRemains<K, V> {
    /// Whether to keep keys and values. Written under the lock of the list.
    on_request: AtomicBool,
    /// The length of the list.
    len: AtomicUsize,
    /// T4: no user code runs under the lock.
    list: Mutex<List<K, V>>,
}

struct List<K, V> {
    /// The kept pairs.
    left: Vec<(K, V)>,
    /// The collection's waker. A pair that comes into the empty list calls the waker. (W5 of
    /// `ptr::waker`: the cell of the waker is empty before the list ends.)
    waker: Option<Arc<WakerCell>>,
    /// The number of [calls](Taking) that take pairs out. Such a call looks at the list in its end,
    /// so meanwhile pairs do not call the waker.
    takers: usize,
    /// Whether the list may have a pair that should have called the waker, and has not.
    owed: bool,
}

/// A call that takes pairs out. The end of the last such call calls the waker, if a pair is left
/// that should have called the waker.
pub(super) struct Taking<'k, K, V>(pub(super) &'k KeptRemains<K, V>);

impl<K, V> KeptRemains<K, V> {
    const_fn! {
        pub(super) fn new() -> Self {
            KeptRemains {
                on_request: AtomicBool::new(false),
                len: AtomicUsize::new(0),
                list: Mutex::new(List {
                    left: Vec::new(),
                    waker: None,
                    takers: 0,
                    owed: false,
                }),
            }
        }
    }

    /// Relaxed: the answer may be stale at once; a caller that depends on the answer asks again
    /// under the lock.
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

    /// Keeps the key and the value of a node. Destroys them if the policy has changed since the
    /// thread marked the node.
    pub(super) fn put(&self, key: K, value: V) {
        let mut left = Some((key, value));
        let waker = self.list.with_room(
            |list, memory| match self.is_on_request() {
                true => make_room(&mut list.left, 1, memory),
                false => Ok(()),
            },
            |list, _| {
                let left = left.take_if(|_| self.is_on_request())?;
                list.owed |= list.left.is_empty();
                list.left.push(left);
                self.len.store(list.left.len(), Relaxed);
                list.pay()
            },
        );
        if let Some(cell) = waker {
            cell.wake();
        }
        drop(left);
    }

    /// Has a pair that comes into the empty list call the given waker. Returns whether the list is
    /// empty. (A thread that was looking at a dead entry may keep the pair long after the death has
    /// called the waker.)
    pub(super) fn call(&self, waker: Arc<WakerCell>) -> bool {
        let mut list = self.list.lock();
        // (The table has a share of the old waker: nothing is freed here.)
        list.waker = Some(waker);
        list.left.is_empty()
    }

    pub(super) fn begin_taking(&self) -> Taking<'_, K, V> {
        self.list.lock().takers += 1;
        Taking(self)
    }

    pub(super) fn take(&self) -> Option<(K, V)> {
        if self.len() == 0 {
            return None;
        }
        let mut list = self.list.lock();
        let taken = list.left.pop();
        let len = list.left.len();
        self.len.store(len, Relaxed);
        list.owed &= len != 0;
        let is_sparse = list.left.capacity() > 4 * len;
        drop(list);
        // Memory that is not needed any more is freed, in O(length of the list).
        if is_sparse {
            self.shrink_to(2 * len);
        }
        taken
    }

    /// Moves the list into memory of the given capacity, if the capacity suffices and is smaller.
    fn shrink_to(&self, capacity: usize) {
        let mut memory = Vec::with_capacity(capacity);
        let mut list = self.list.lock();
        if (list.left.len()..list.left.capacity()).contains(&memory.capacity()) {
            memory.append(&mut list.left);
            mem::swap(&mut memory, &mut list.left);
        }
    }
}

impl<K, V> List<K, V> {
    /// The waker, if it is to be called now.
    fn pay(&mut self) -> Option<Arc<WakerCell>> {
        let waker = self
            .waker
            .as_ref()
            .filter(|_| self.owed && self.takers == 0);
        self.owed &= self.takers != 0;
        waker.cloned()
    }
}

impl<K, V> Drop for Taking<'_, K, V> {
    fn drop(&mut self) {
        let mut list = self.0.list.lock();
        list.takers -= 1;
        let waker = list.pay();
        drop(list);
        // The call may be unwinding.
        let mut panics = FirstPanic::default();
        if let Some(cell) = waker {
            panics.catch(|| cell.wake());
        }
        panics.resume();
    }
}

impl<K, V> Drop for KeptRemains<K, V> {
    /// Destroys all kept pairs, even if some destructors panic.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        let all = mem::take(&mut self.list.lock().left);
        for left in all {
            panics.catch(|| drop(left));
        }
        panics.resume();
    }
}
