//! loom models of the queue with one owner: registrations and their ends, against deaths,
//! inflations and weak pointers on other threads. Only the owner uses its table, so an array of
//! watches stands for the table.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod counts;
mod deaths;
mod ends;
mod wakers;

use loom::thread;

use crate::ptr::models::{
    Large, Maker, Map, Payload, all_three, both, check, clone_and_drop, downgrade_and_drop, peek,
    write_if_alone,
};
use crate::{Strong, Weak};

/// Another reference to the object when a model begins.
#[derive(Clone, Copy)]
enum Beside {
    Nothing,
    /// A weak pointer that was dropped.
    PastWeak,
    /// A weak pointer.
    Weak,
    /// A record, and nothing else.
    Record,
    /// An entry of another map: the next is the second of the record.
    OneEntry,
    /// Two entries: the next has a hook.
    TwoEntries,
}

/// Keeps the references of a `Beside` alive.
#[allow(dead_code)]
#[derive(Default)]
struct Kept {
    weak: Option<Weak<Payload>>,
    map: Option<Map>,
}

impl Beside {
    fn make(self, a: &Strong<Payload>) -> Kept {
        let mut kept = Kept::default();
        match self {
            Beside::Nothing => {}
            Beside::PastWeak => drop(Strong::downgrade(a)),
            Beside::Weak => kept.weak = Some(Strong::downgrade(a)),
            Beside::Record => drop(Strong::finalize(a, || {}).detach()),
            Beside::OneEntry => kept.map = Some(Map::of(&[a])),
            Beside::TwoEntries => kept.map = Some(Map::of(&[a, a])),
        }
        kept
    }
}

/// Creates an object, and `beside`.
fn object(maker: &Maker, beside: Beside) -> (Strong<Payload>, Kept) {
    let a = maker.object();
    let kept = beside.make(&a);
    (a, kept)
}

/// Runs a model with each of `besides`.
fn check_each(
    besides: &'static [Beside],
    deaths: usize,
    model: impl Fn(&Maker, Beside) + Send + Sync + Copy + 'static,
) {
    for beside in besides {
        check(deaths, move |maker| model(maker, *beside));
    }
}

/// Runs a model of one object, with each of `besides`, and a map with an entry for the object.
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

/// Runs a model of a map with two entries. The notice of the first entry is the block, the notice
/// of the second is a record.
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
/// The registration of an entry is the block, the first of a record, the second of a record, or a
/// hook.
const EACH: &[Beside] = &[
    Beside::PastWeak,
    Beside::Record,
    Beside::OneEntry,
    Beside::TwoEntries,
];
