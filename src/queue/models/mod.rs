//! loom models of the queue of one owner: registrations and their ends, against deaths, inflations and weak
//! handles on other threads. The owner's own table is used by nobody else, so a row of watches stands for it.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod deaths;
mod depths;
mod ends;

use loom::thread;

use crate::ptr::models::{
    Large, Maker, Map, Payload, all_three, both, check, clone_and_drop, downgrade_and_drop, peek,
    write_if_alone,
};
use crate::{Strong, Weak};

/// What else there is of an object when a model begins.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    /// A weak handle has been, and gone.
    PastWeak,
    /// There is a weak handle.
    Weak,
    /// There is a record, and nothing else.
    Record,
}

/// Keeps it there.
struct Kept(#[allow(dead_code)] Option<Weak<Payload>>);

impl Beside {
    fn make(self, a: &Strong<Payload>) -> Kept {
        Kept(match self {
            Beside::Nothing => None,
            Beside::PastWeak => {
                drop(Strong::downgrade(a));
                None
            }
            Beside::Weak => Some(Strong::downgrade(a)),
            Beside::Record => {
                drop(Strong::finalize(a, || {}).detach());
                None
            }
        })
    }
}

/// An object with something beside it.
fn object(maker: &Maker, beside: Beside) -> (Strong<Payload>, Kept) {
    let a = maker.object();
    let kept = beside.make(&a);
    (a, kept)
}

/// Runs a model with each.
fn check_each(
    besides: &'static [Beside],
    deaths: usize,
    model: impl Fn(&Maker, Beside) + Send + Sync + Copy + 'static,
) {
    for beside in besides {
        check(deaths, move |maker| model(maker, *beside));
    }
}

/// A model of one object, with each beside it, and a map that has it.
fn check_entry(
    besides: &'static [Beside],
    model: impl Fn(Strong<Payload>, Map) + Send + Sync + Copy + 'static,
) {
    check_each(besides, 1, move |maker, beside| {
        let (a, _kept) = object(maker, beside);
        let map = Map::of(&[&a]);
        model(a, map);
    });
}

/// A model of two objects, of which the first's notice is its block, the second's a hook, and a map that has
/// both.
fn check_two_entries(
    model: impl Fn(Strong<Payload>, Strong<Payload>, Map) + Send + Sync + 'static,
) {
    check(2, move |maker| {
        let (a, _) = object(maker, Beside::Nothing);
        let (b, _) = object(maker, Beside::Record);
        let map = Map::of(&[&a, &b]);
        model(a, b, map);
    });
}

const NOTHING: &[Beside] = &[Beside::Nothing];
const THIN_AND_RECORD: &[Beside] = &[Beside::PastWeak, Beside::Record];
