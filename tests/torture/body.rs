//! What objects contain, and what collections own of them: it knows its number, and is counted.

use std::cell::Cell;
use std::hash::{Hash, Hasher};
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;
use std::time::Duration;

use weakly::cycles::{Trace, Tracer};

use crate::common::owned::Content;

static NEXT: AtomicUsize = AtomicUsize::new(0);
pub(crate) static MADE: AtomicUsize = AtomicUsize::new(0);
pub(crate) static DESTROYED: AtomicUsize = AtomicUsize::new(0);

thread_local! {
    /// The number of the object that died last on this thread.
    static DIED: Cell<usize> = const { Cell::new(usize::MAX) };
    static STALLS: Cell<u64> = const { Cell::new(0) };
}

/// Made once and dropped once. Its clones have its number: values of an object, and what it is looked up by.
pub(crate) struct Body {
    number: usize,
    is_clone: bool,
    is_here: AtomicBool,
}

impl Body {
    /// With a number that no other ever has.
    pub(crate) fn new() -> Self {
        Self::make(NEXT.fetch_add(1, Relaxed), false)
    }

    pub(crate) fn clone_of(number: usize) -> Self {
        Self::make(number, true)
    }

    fn make(number: usize, is_clone: bool) -> Self {
        MADE.fetch_add(1, Relaxed);
        let is_here = AtomicBool::new(true);
        Body {
            number,
            is_clone,
            is_here,
        }
    }

    #[track_caller]
    pub(crate) fn check(&self, number: usize) {
        assert_eq!(self.number(), number, "another's");
    }
}

/// Whether the drop that this thread has just done was the last handle of the object of this number.
pub(crate) fn died_here(number: usize) -> bool {
    DIED.get() == number
}

/// Where user code runs, whatever its thread holds there: now and then it loses the processor, or sleeps.
pub(crate) fn stall() {
    let roll = STALLS.get().wrapping_mul(0x5851_F42D_4C95_7F2D) | 1;
    STALLS.set(roll.wrapping_add(NEXT.load(Relaxed) as u64));
    match (roll >> 40) % 8192 {
        0 => thread::sleep(Duration::from_millis(4)),
        1..4 => thread::sleep(Duration::from_micros(100)),
        4..16 => thread::yield_now(),
        _ => {}
    }
}

/// The same where other threads should have the time to come and wait. (Not `yield_now` each time: on a machine with other
/// work, that takes milliseconds.)
pub(crate) fn linger() {
    (0..16).for_each(|_| stall());
}

impl Clone for Body {
    fn clone(&self) -> Self {
        Body::clone_of(self.number())
    }
}

impl Drop for Body {
    fn drop(&mut self) {
        assert!(self.is_here.swap(false, Relaxed), "destroyed twice");
        if !self.is_clone {
            DIED.set(self.number);
        }
        DESTROYED.fetch_add(1, Relaxed);
        stall();
    }
}

impl PartialEq for Body {
    fn eq(&self, other: &Self) -> bool {
        stall();
        self.number() == other.number()
    }
}

impl Eq for Body {}

impl Hash for Body {
    fn hash<H: Hasher>(&self, state: &mut H) {
        stall();
        self.number().hash(state);
    }
}

impl Content for Body {
    fn number(&self) -> usize {
        assert!(self.is_here.load(Relaxed), "it is gone");
        self.number
    }
}

impl Trace for Body {
    fn trace(&self, _: &mut Tracer<'_>) {}
}
