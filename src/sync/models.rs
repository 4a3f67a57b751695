//! Runs the loom models, each with a limit: a model with too many interleavings fails, and does not
//! hold up all other models.
//!
//! The limit is a number of interleavings: the same on each machine, whatever else the machine
//! does. (loom's own limits, `LOOM_MAX_DURATION` and `LOOM_MAX_PERMUTATIONS`, end a model as if it
//! had passed: they are not used here.) loom itself detects an interleaving that does not end
//! because threads wait for each other, by the number of its steps.
//!
//! With `--nocapture`, each model prints its number of interleavings.

use core::cell::Cell;
use core::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::panic::Location;
use std::sync::Arc;

use loom::model::Builder;

/// The limit of a model with at most this many preemptions. At three, the largest model takes
/// 180,000.
const MOST: [(usize, u64); 2] = [(3, 1_000_000), (usize::MAX, 10_000_000)];
/// The limit of steps in an interleaving. Some tables take long to fill.
const STEPS: usize = 10_000;

/// Runs a model in every interleaving with at most `LOOM_MAX_PREEMPTIONS` preemptions.
#[track_caller]
pub(crate) fn check(model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    let fewer = std::env::var("WEAKLY_LONG_PREEMPTIONS").ok();
    if let Some(fewer) = fewer.filter(|_| LONG.get()) {
        builder.preemption_bound = Some(fewer.parse().expect("a number of preemptions"));
    }
    check_within(builder, None, model);
}

std::thread_local! {
    static LONG: Cell<bool> = const { Cell::new(false) };
}

/// Until the drop, the models of a test have so many interleavings that the gate runs them with
/// fewer preemptions: `WEAKLY_LONG_PREEMPTIONS` is the number.
pub(crate) struct Long(());

pub(crate) fn long() -> Long {
    LONG.set(true);
    Long(())
}

impl Drop for Long {
    fn drop(&mut self) {
        LONG.set(false);
    }
}

/// Runs a model with this number of preemptions: fewer for a model with many interleavings, more
/// for a model that shows nothing otherwise.
#[track_caller]
pub(crate) fn check_up_to(preemptions: usize, model: impl Fn() + Send + Sync + 'static) {
    let mut builder = Builder::new();
    builder.preemption_bound = Some(preemptions);
    check_within(builder, None, model);
}

#[track_caller]
fn check_within(mut builder: Builder, most: Option<u64>, model: impl Fn() + Send + Sync + 'static) {
    let bound = builder.preemption_bound.unwrap_or(usize::MAX);
    let of_bound = || MOST.into_iter().find(|(most, _)| bound <= *most);
    let most = most.or_else(|| Some(of_bound()?.1)).unwrap();
    let (place, begun) = (Location::caller(), Arc::new(AtomicU64::new(0)));
    let all = Arc::clone(&begun);
    builder.max_branches = STEPS;
    (builder.max_duration, builder.max_permutations) = (None, None);
    builder.check(move || {
        let number = begun.fetch_add(1, Relaxed) + 1;
        assert!(number <= most, "{place}: more than {most} interleavings");
        let _failing = Failing(number);
        model();
    });
    std::println!("{place}: {} interleavings", all.load(Relaxed));
}

/// Prints in which interleaving a model fails.
struct Failing(u64);

impl Drop for Failing {
    fn drop(&mut self) {
        if std::thread::panicking() {
            std::eprintln!("in the interleaving {}", self.0);
        }
    }
}

/// Two threads count at once.
fn count() {
    let count = loom::sync::Arc::new(super::AtomicUsize::new(0));
    let other = loom::sync::Arc::clone(&count);
    let add = |count: &super::AtomicUsize| (0..3).for_each(|_| _ = count.fetch_add(1, Relaxed));
    let other = loom::thread::spawn(move || add(&other));
    add(&count);
    other.join().unwrap();
}

fn count_within(most: u64) {
    let mut builder = Builder::new();
    builder.preemption_bound = None;
    check_within(builder, Some(most), count);
}

#[test]
#[should_panic(expected = "more than 10 interleavings")]
fn one_with_too_many_interleavings_fails() {
    count_within(10);
}

#[test]
fn one_with_fewer_passes() {
    count_within(100);
}

#[test]
#[should_panic(expected = "exceeded maximum number of branches")]
fn one_that_waits_for_ever_fails() {
    check(|| {
        let never = super::AtomicUsize::new(0);
        let mut turn = 0;
        while never.load(Relaxed) == 0 {
            super::relax(&mut turn);
        }
    });
}
