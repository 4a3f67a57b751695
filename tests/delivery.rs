//! Deaths that are delivered: random scripts of messages, cancellations, deaths and wake-ups; tasks that wait; and the
//! methods of collections that drain notices.

#[path = "delivery/access.rs"]
mod access;
mod common;
#[path = "delivery/ends.rs"]
mod ends;
#[path = "delivery/next.rs"]
mod next;
#[path = "delivery/script.rs"]
mod script;
#[path = "delivery/tasks.rs"]
mod tasks;
#[path = "delivery/tickets.rs"]
mod tickets;

use common::random::random;

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
