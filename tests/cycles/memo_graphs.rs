//! Random graphs against brute force, of entries with several keys: results of memos.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use weakly::{
    Memo, Strong, Weak,
    cycles::{Cycles, Trace, Tracer},
};

use crate::common::random::random;
use crate::graph::{Choices, Known, still_keyed};
use crate::graphs::graphs;

struct Object {
    number: usize,
    fields: Mutex<Vec<Strong<Object>>>,
    dead: Arc<Mutex<BTreeSet<usize>>>,
}

impl Trace for Object {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        // (No other thread is here.)
        self.fields.lock().unwrap().trace(tracer);
    }
}

impl Drop for Object {
    fn drop(&mut self) {
        self.dead.lock().unwrap().insert(self.number);
    }
}

struct Owns(Vec<Strong<Object>>);

weakly::impl_trace!(Owns: 0);

type Results = Memo<(Strong<Object>, Strong<Object>), Strong<Owns>>;

/// Those of these keys for which there is a result.
fn there(
    memo: &Results,
    keys: &BTreeSet<Vec<usize>>,
    all: &[Weak<Object>],
) -> BTreeSet<Vec<usize>> {
    let is_there = |keys: &&Vec<usize>| {
        let inputs = all[keys[0]].upgrade().zip(all[keys[1]].upgrade());
        inputs.is_some_and(|(one, other)| memo.get((&one, &other)).is_some())
    };
    keys.iter().filter(is_there).cloned().collect()
}

fn check(seed: u64) -> (usize, usize) {
    let random = &mut Choices(random(seed));
    let mut known = Known::random(random, 0, 2);
    for (keys, _) in known.entries.iter_mut().flatten() {
        let first = keys[0];
        keys.resize(keys.len().max(2), first);
    }
    let dead = Arc::new(Mutex::new(BTreeSet::new()));
    let object = |number| {
        Strong::new(Object {
            number,
            fields: Mutex::default(),
            dead: Arc::clone(&dead),
        })
    };
    let objects: Vec<_> = (0..known.owns.len()).map(object).collect();
    let some =
        |numbers: &[usize]| -> Vec<_> { numbers.iter().map(|&n| objects[n].clone()).collect() };
    for (object, owns) in objects.iter().zip(&known.owns) {
        *object.fields.lock().unwrap() = some(owns);
    }
    let memos = [Results::new(), Results::new()];
    for (memo, entries) in memos.iter().zip(&known.entries) {
        for (keys, owns) in entries {
            memo.get_or_compute((&objects[keys[0]], &objects[keys[1]]), |cx| {
                keys[2..]
                    .iter()
                    .for_each(|&key| cx.depends_on(&objects[key]));
                Strong::new(Owns(some(owns)))
            });
        }
    }
    let held: Vec<_> = known.held.iter().map(|&n| objects[n].clone()).collect();
    let weak: Vec<_> = objects.iter().map(Strong::downgrade).collect();
    drop(objects);

    let all = [0, 1].map(|memo| known.keys_of(memo));
    known.settle();
    // Results of one memo may own inputs of the other.
    for _ in 0..10 {
        memos.iter().for_each(|memo| _ = memo.purge());
    }
    let real = || [0, 1].map(|memo| there(&memos[memo], &all[memo], &weak));
    let before = real();
    assert_eq!([0, 1].map(|memo| known.keys_of(memo)), before, "{known:?}");

    let graph = known.clone();
    let expected = known.purge();
    let cycles = Cycles::new().with(&memos[0]).with(&memos[1]);
    let mut cycles = if seed % 2 == 0 {
        cycles.at_rest()
    } else {
        cycles
    };
    let purged = cycles.purge();
    assert_eq!((purged.removed, purged.kept), expected, "{graph:?}");
    let after = real();
    assert_eq!(after, [0, 1].map(|memo| known.keys_of(memo)), "{graph:?}");
    let gone = dead.lock().unwrap().clone();
    assert_eq!(
        gone.len(),
        known.owns.len() - known.alive().len(),
        "{graph:?}"
    );
    for memo in [0, 1] {
        assert_eq!(after[memo], still_keyed(&before[memo], &gone), "{graph:?}");
    }

    // Break the cycles that are left.
    memos.iter().for_each(Memo::clear);
    for object in weak.iter().filter_map(Weak::upgrade) {
        let fields = std::mem::take(&mut *object.fields.lock().unwrap());
        drop(fields);
    }
    drop(held);
    expected
}

#[test]
fn memos() {
    let counts = (0..graphs()).map(check);
    let all = counts.fold((0, 0), |all, (removed, kept)| {
        (all.0 + removed, all.1 + kept)
    });
    assert!(cfg!(miri) || all.0 > 0 && all.1 > 0);
}
