//! Deaths that are delivered: as messages of a queue, to threads and tasks that wait for them, in random scripts of messages,
//! cancellations, deaths and wake-ups; payloads that return; and the methods of collections that drain notices.

#[path = "delivery/access.rs"]
mod access;
mod common;
#[path = "delivery/ends.rs"]
mod ends;
#[path = "delivery/next.rs"]
mod next;
#[path = "delivery/queue.rs"]
mod queue;
#[path = "delivery/returning.rs"]
mod returning;
#[path = "delivery/script.rs"]
mod script;

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::Wake;

use common::random::random;

/// Counts how often it is woken.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Woken {
    fn times(&self) -> usize {
        self.0.load(Relaxed)
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// 591: Whatever comes before.
#[test]
fn each_message_comes_once_and_in_order() {
    let (scripts, choices) = if cfg!(miri) { (3, 200) } else { (200, 2_000) };
    for seed in 0..scripts {
        script::run(random(seed).take(choices));
    }
}

/// What the fuzzer has found to be worth keeping.
#[cfg(not(miri))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/delivery", script::run_bytes);
}
