//! Hostile user code against collections and pointers: it must never cause undefined behaviour, and whatever is
//! left must be usable. Most of it comes at random, in `script.rs`: the code of users panics, or is the script's next
//! operation, and guards and iterators are forgotten. The fuzzer runs that, too. The other files have what no script asks.
//!
//! * `contents.rs`: `Hash` and `Eq` change, and lie.
//! * `ends.rs`: a collection ends, and all panics that it owns.
//! * `many_entries.rs`: one object has very many.
//! * `outcomes.rs`: each call of users' code panics, in turn: what has happened then.
//! * `panics.rs`: panics in destructors, finalizers, and in the making of an object.
//! * `threads.rs`: objects die on other threads, or at the end of a thread.

mod common;
#[path = "hostile/contents.rs"]
mod contents;
#[cfg(feature = "std")]
#[path = "hostile/ends.rs"]
mod ends;
#[path = "hostile/many_entries.rs"]
mod many_entries;
#[cfg(feature = "std")]
#[path = "hostile/outcomes.rs"]
mod outcomes;
#[path = "hostile/panics.rs"]
mod panics;
#[cfg(feature = "std")]
#[path = "hostile/script.rs"]
mod script;
#[path = "hostile/threads.rs"]
mod threads;

use common::custom::Custom;
use common::subject::Upkeep;
use common::subject::single::{Collection, Kit};

/// 63, 64, 181, 182: Whatever the code of users does, each collection finds what it shows.
#[cfg(feature = "std")]
#[test]
fn random_scripts() {
    for seed in 0..common::sized(200, 12, 2) as u64 {
        // In half of them nothing may leak.
        script::FORGETS.set(seed % 2 == 0);
        for run in script::ALL {
            let choices = common::random::random(seed).enumerate().map(often_full);
            run(Box::new(choices.take(common::scaled(1_000, 40))));
        }
    }
    script::FORGETS.set(true);
}

/// A choice of a script. Every other one says what is done: more often than other things, an object is made, or enters.
#[cfg(feature = "std")]
fn often_full((at, choice): (usize, usize)) -> usize {
    let any = choice / 16 % 256;
    match choice % 16 {
        _ if at % 2 == 1 => any,
        0..4 => any % 8,
        4..8 => 56 + any % 8,
        8 => 8 + any % 4,
        9 | 10 => 192 + any % 64,
        _ => any,
    }
}

/// What the fuzzer has found to be worth keeping.
#[cfg(all(feature = "std", not(miri)))] // which has no files
#[test]
fn corpus() {
    common::corpus::replay("fuzz/corpus/hostile", script::run_bytes);
}

/// Makes a collection of objects whose code is the test's.
type Customs = Kit<dyn Collection<Custom>, Custom>;

/// Reclaims the dead, and returns what is left.
fn rest<F: Upkeep + ?Sized>(all: &mut F) -> (usize, usize, usize) {
    all.purge();
    all.counts()
}

/// The collections of these tests.
mod lists {
    pub(crate) use crate::common::subject::single::*;

    crate::subjects! {
        $ in [crate::lists];

        // Those that call `Hash` and `Eq` of the contents.
        for_each_by_content [atomic: Atomic, std_arc: StdArc, std_rc: StdRc]
            [values: ValueMaps, hash_pairs: HashPairsTwice, hash_map: HashMaps, hash_set: HashSets,
             names: Interners];
    }
}
