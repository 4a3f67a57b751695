//! Scripts of whole collections under shuttle, too large for loom: flights, invalidations, floors,
//! ceilings, drains and purges, on several threads.
//!
//! Each script runs in many schedules. A script makes random choices, which belong to the schedule.
//! A schedule is random at each step, or follows random priorities, which change at a few steps. A
//! schedule fails if all threads wait, or if it takes too many steps.
//!
//! `RUSTFLAGS="--cfg weakly_shuttle" WEAKLY_SCHEDULES=1000 cargo test --release --lib scripts`

mod flights;
mod limits;
mod purges;
mod versions;

use core::hash::BuildHasherDefault;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use core::task::{Context, Poll, Waker};
use std::env;
use std::hash::DefaultHasher;
use std::sync::Arc;
use std::task::Wake;
use std::vec::Vec;

use shuttle::rand::{Rng, thread_rng};
use shuttle::scheduler::{PctScheduler, RandomScheduler};
use shuttle::{Config, MaxSteps, Runner, thread};

use super::WeakValueMap;
use crate::Strong;
use crate::thread::ThreadNumber;

type Map = WeakValueMap<u32, Strong<Named>, BuildHasherDefault<DefaultHasher>>;

/// The same schedules in each run.
const SEED: u64 = 45;
/// The changes of priorities in a schedule.
const CHANGES: usize = 3;
/// The numbers of the threads of a script.
const NUMBERS: [usize; 4] = [0, 1, 2, 4];

/// Runs a script in many schedules, half of them of each kind.
fn check(script: fn()) {
    let schedules = env::var("WEAKLY_SCHEDULES").map_or(1000, |n| n.parse().expect("a number"));
    let mut config = Config::new();
    config.stack_size = 1 << 18;
    config.max_steps = MaxSteps::FailAfter(100_000);
    config.silence_warnings = true;
    let at_random = RandomScheduler::new_from_seed(SEED, schedules / 2);
    Runner::new(at_random, config.clone()).run(script);
    let by_priority = PctScheduler::new_from_seed(SEED, CHANGES, schedules / 2);
    Runner::new(by_priority, config).run(script);
}

/// Runs a closure on the given number of threads at once. The closure gets the place of its thread.
fn on_threads(count: usize, run: impl Fn(usize) + Clone + Send + 'static) {
    let others: Vec<_> = (1..count)
        .map(|at| {
            let run = run.clone();
            thread::spawn(move || {
                ThreadNumber::set(NUMBERS[at]);
                run(at);
            })
        })
        .collect();
    run(0);
    for other in others {
        other.join().expect("no script panics");
    }
}

/// A random number.
fn below(end: u32) -> u32 {
    thread_rng().gen_range(0..end)
}

/// The number of tokens that are not destroyed.
#[derive(Clone, Default)]
struct Live(Arc<AtomicUsize>);

impl Live {
    fn token(&self) -> Token {
        self.0.fetch_add(1, Relaxed);
        Token(self.clone())
    }

    fn object(&self, name: u32) -> Strong<Named> {
        let _token = self.token();
        Strong::new(Named { name, _token })
    }

    fn count(&self) -> usize {
        self.0.load(Relaxed)
    }
}

/// Is counted until it is destroyed.
struct Token(Live);

impl Clone for Token {
    fn clone(&self) -> Self {
        self.0.token()
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.0.fetch_sub(1, Relaxed);
    }
}

/// An object that has the key of its entry.
struct Named {
    name: u32,
    _token: Token,
}

/// A waker that notes its calls.
#[derive(Default)]
struct Woken(AtomicUsize);

impl Woken {
    fn take(&self) -> bool {
        self.0.swap(0, Relaxed) != 0
    }

    /// Polls by a waker that notes its calls here from now on.
    fn poll<R>(self: &Arc<Self>, poll: impl FnOnce(&mut Context<'_>) -> Poll<R>) -> Poll<R> {
        self.take();
        poll(&mut Context::from_waker(&Waker::from(Arc::clone(self))))
    }
}

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.store(1, Relaxed);
    }
}
