//! Tests of the table by itself. `WEAKLY_STRESS` is the number of steps of each thread of `stress`.

mod contents;
mod critical;
mod destruction;
mod stress;
mod sweep;

use core::cell::Cell;
use core::sync::atomic::{AtomicUsize, Ordering::*};
use std::boxed::Box;
use std::sync::Arc;

use super::{Entry, Match, Put, RawTable};

std::thread_local! {
    /// The number of looks of this thread at an entry.
    static LOOKS: Cell<usize> = const { Cell::new(0) };
}

/// An entry that counts its destruction.
struct Node<const PROMPT: bool = true> {
    hash: u64,
    key: u64,
    value: u64,
    ends: Option<Arc<AtomicUsize>>,
    panics: bool,
    /// Whether the entry is a mark, which is not counted.
    is_mark: bool,
}

impl<const PROMPT: bool> Node<PROMPT> {
    fn new(hash: u64, key: u64, value: u64) -> Box<Self> {
        Box::new(Node {
            hash,
            key,
            value,
            ends: None,
            panics: false,
            is_mark: false,
        })
    }

    fn mark(hash: u64, key: u64) -> Box<Self> {
        let mut node = Self::new(hash, key, key);
        node.is_mark = true;
        node
    }

    fn counted(hash: u64, key: u64, ends: &Arc<AtomicUsize>) -> Box<Self> {
        let mut node = Self::new(hash, key, key);
        node.ends = Some(Arc::clone(ends));
        node
    }
}

impl<const PROMPT: bool> Drop for Node<PROMPT> {
    fn drop(&mut self) {
        if let Some(ends) = &self.ends {
            ends.fetch_add(1, Relaxed);
        }
        if self.panics {
            // Without the panic hook, which is slow under Miri.
            std::panic::resume_unwind(Box::new(self.key));
        }
    }
}

impl<const PROMPT: bool> Entry for Node<PROMPT> {
    const PROMPT: bool = PROMPT;
    type Context = ();
    type Watch = ();

    fn hash(&self) -> u64 {
        LOOKS.set(LOOKS.get() + 1);
        self.hash
    }

    fn is_counted(&self) -> bool {
        !self.is_mark
    }
}

/// The operations of a map.
impl<const PROMPT: bool> RawTable<Node<PROMPT>> {
    fn value(&self, hash: u64, key: u64) -> Option<u64> {
        let reader = self.read();
        reader
            .get(hash, |node| node.key == key)
            .map(|node| node.value)
    }

    /// Returns the replaced value.
    fn insert(&self, node: Box<Node<PROMPT>>) -> Option<u64> {
        match self
            .write()
            .put(&mut self.entry(|| *node), |a, b| a.key == b.key, |_| true)
        {
            Put::Added(_) => None,
            Put::Replaced { old, .. } => Some(old.value),
            Put::Refused => unreachable!("it is expected"),
        }
    }

    /// Returns the removed value.
    fn take(&self, hash: u64, key: u64) -> Option<u64> {
        let writer = self.write();
        let node = writer.remove_if(hash, |node| node.key == key, |_| true);
        node.map(|node| node.value)
    }
}

/// Spreads keys as a hasher would.
fn spread(key: u64) -> u64 {
    key.wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(26)
}

struct Random(u64);

impl Random {
    fn below(&mut self, end: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 8) % end
    }
}
