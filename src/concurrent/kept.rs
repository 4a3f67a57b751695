//! The keys and values of dead nodes, under both policies of a table. Under the first policy, a key
//! and a value are destroyed as soon as no thread looks at their node. Under the second policy, the
//! list keeps the key and the value until a user asks for both. While a call takes pairs out, the
//! list keeps pairs under both policies.
//!
//! Other threads may be looking at an unlinked node, so nothing can be moved out of the node before
//! the node's end. The thread that unlinks a dead node marks the node as dead. The reclamation
//! of the table later ends the node, and passes this list to the node; the node then moves its key
//! and value to the list.

use core::mem;
use std::sync::Arc;
use std::vec::Vec;

use crate::panics::FirstPanic;
use crate::ptr::WakerCell;
use crate::sync::{AtomicBool, AtomicUsize, Mutex, Ordering::*, const_fn, make_room};

/// The policy of a table, and the kept keys and values.
pub(super) struct KeptRemains<K, V> {
    /// Whether to keep keys and values. Written under the lock of the list.
    on_request: AtomicBool,
    /// The number of [calls](Taking) that take pairs out. Such a call looks at the list in its end,
    /// so meanwhile pairs do not call the waker. Written under the lock of the list.
    takers: AtomicUsize,
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
    /// Whether the list may have a pair that should have called the waker, and has not.
    owed: bool,
}

/// A call that takes pairs out. The end of the last such call calls the waker, if a pair is left
/// that should have called the waker. By default, the end of the last call destroys the pairs that
/// are left.
pub(super) struct Taking<'k, K, V>(pub(super) &'k KeptRemains<K, V>);

impl<K, V> KeptRemains<K, V> {
    const_fn! {
        pub(super) fn new() -> Self {
            KeptRemains {
                on_request: AtomicBool::new(false),
                takers: AtomicUsize::new(0),
                len: AtomicUsize::new(0),
                list: Mutex::new(List {
                    left: Vec::new(),
                    waker: None,
                    owed: false,
                }),
            }
        }
    }

    /// Whether the list keeps keys and values until a user asks for both.
    #[inline]
    pub(super) fn is_on_request(&self) -> bool {
        // Relaxed: the answer may be stale at once; a caller that depends on the answer asks again
        // under the lock.
        self.on_request.load(Relaxed)
    }

    /// Whether dead nodes are to be kept: on request, or while a call takes pairs out.
    #[inline]
    pub(super) fn is_keeping(&self) -> bool {
        // Relaxed: as above.
        self.is_on_request() || self.takers.load(Relaxed) != 0
    }

    pub(super) fn set_on_request(&self, on_request: bool) {
        let list = self.list.lock();
        self.on_request.store(on_request, Relaxed);
        drop(list);
    }

    /// The number of kept pairs.
    pub(super) fn len(&self) -> usize {
        // Relaxed: a count.
        self.len.load(Relaxed)
    }

    /// The bytes of the list.
    pub(super) fn memory_usage(&self) -> usize {
        self.list.lock().left.capacity() * size_of::<(K, V)>()
    }

    /// Keeps the key and the value of a node, and calls the waker, if a call is owed. Destroys both
    /// if the list keeps no pairs any more.
    pub(super) fn put(&self, key: K, value: V) {
        let mut left = Some((key, value));
        let waker = self.list.with_room(
            |list, memory| match self.is_keeping() {
                true => make_room(&mut list.left, 1, memory),
                false => Ok(()),
            },
            |list, _| {
                let left = left.take_if(|_| self.is_keeping())?;
                list.owed |= list.left.is_empty();
                list.left.push(left);
                self.len.store(list.left.len(), Relaxed);
                list.pay(self.takers.load(Relaxed))
            },
        );
        if let Some(cell) = waker {
            cell.wake();
        }
        drop(left);
    }

    /// Sets the waker, which the next pair that comes into the empty list calls. Returns whether
    /// the list is empty. (A thread that was looking at a dead entry may keep the pair long after
    /// the death has called the waker.)
    pub(super) fn set_waker(&self, waker: Arc<WakerCell>) -> bool {
        let mut list = self.list.lock();
        // (The table has a share of the old waker: nothing is freed here.)
        list.waker = Some(waker);
        list.left.is_empty()
    }

    /// Begins a call that takes pairs out: until its end, the list keeps pairs, and calls no waker.
    pub(super) fn begin_taking(&self) -> Taking<'_, K, V> {
        let list = self.list.lock();
        self.takers.store(self.takers.load(Relaxed) + 1, Relaxed);
        drop(list);
        Taking(self)
    }

    /// Takes out all pairs, with the memory of the list, or the newest pairs if there are more than
    /// `most`.
    pub(super) fn take(&self, most: usize) -> Vec<(K, V)> {
        let mut taken = Vec::new();
        if self.len() == 0 || most == 0 {
            return taken;
        }
        let mut list = self.list.lock();
        while list.left.len() > most && taken.capacity() < most {
            drop(list);
            taken.reserve_exact(most);
            list = self.list.lock();
        }
        match list.left.len().checked_sub(most) {
            None | Some(0) => mem::swap(&mut taken, &mut list.left),
            Some(rest) => taken.extend(list.left.drain(rest..)),
        }
        let len = list.left.len();
        self.len.store(len, Relaxed);
        list.owed &= len != 0;
        taken
    }
}

impl<K, V> List<K, V> {
    /// Returns the waker, if a call of the waker is owed, and no call takes pairs out. Then the
    /// caller calls the waker, and no call is owed any more.
    fn pay(&mut self, takers: usize) -> Option<Arc<WakerCell>> {
        let waker = self.waker.as_ref().filter(|_| self.owed && takers == 0);
        self.owed &= takers != 0;
        waker.cloned()
    }
}

impl<K, V> Drop for Taking<'_, K, V> {
    fn drop(&mut self) {
        let kept = self.0;
        let mut list = kept.list.lock();
        let takers = kept.takers.load(Relaxed) - 1;
        kept.takers.store(takers, Relaxed);
        let mut rest = Vec::new();
        if !kept.is_keeping() {
            mem::swap(&mut rest, &mut list.left);
            kept.len.store(0, Relaxed);
            list.owed = false;
        }
        let waker = list.pay(takers);
        drop(list);
        // The call may be unwinding.
        let mut panics = FirstPanic::default();
        if let Some(cell) = waker {
            panics.catch(|| cell.wake());
        }
        panics.drop_each(rest);
        panics.resume();
    }
}

impl<K, V> Drop for KeptRemains<K, V> {
    /// Destroys all kept pairs, even if some destructors panic.
    fn drop(&mut self) {
        let mut panics = FirstPanic::default();
        let all = mem::take(&mut self.list.lock().left);
        panics.drop_each(all);
        panics.resume();
    }
}
