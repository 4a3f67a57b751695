//! Collections and pointers in lock-step with naive models, through scripts in which owners come and
//! go at any point. The model knows who lives because it counts the owners; everything else is a
//! list.

mod common;
#[path = "model/mod.rs"]
mod model;

use std::collections::VecDeque;

use common::{Kind, new, scaled};
use model::op::Op;
use model::payload::{Dyn, Payload, Probe, Tested, Text};
use model::pointer;
use model::routes::{Insert, Keep, Remove};
use model::script;
use model::subject::Subject;
use model::world::{Item, Key, Value};
use model::{STEP, pick};
use proptest::collection::vec;
use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use weakly::{Atomic, Identify, Local, WeakMap, WeakSet};

fn config() -> ProptestConfig {
    ProptestConfig {
        cases: scaled(128, 2) as u32,
        // A script that failed belongs into a test of its own; and Miri has no files.
        failure_persistence: None,
        ..ProptestConfig::default()
    }
}

fn steps() -> impl Strategy<Value = Vec<[u8; STEP]>> {
    vec(any::<[u8; STEP]>(), 0..scaled(200, 25))
}

fn collection<P: Kind, S: Subject<P>>() {
    let scripts = steps().prop_map(|steps| steps.into_iter().map(Op::decode).collect::<Vec<_>>());
    let run = |ops: Vec<Op>| {
        script::run::<P, S>(ops);
        Ok(())
    };
    TestRunner::new(config()).run(&scripts, run).unwrap();
}

fn map<P: Kind>()
where
    Item: Identify<Key<P>>,
{
    collection::<P, WeakMap<Key<P>, Value<P>>>();
}

fn set<P: Kind>()
where
    Item: Identify<Key<P>>,
{
    collection::<P, WeakSet<Key<P>>>();
}

/// New objects at the addresses of dead ones whose entries are still there: whatever is done first to
/// one of them must not take the dead one's entry for its own.
fn recycled<P: Kind>()
where
    Item: Identify<Key<P>>,
{
    let first = |op: fn(u8, u8) -> Op, ways: usize| {
        let slots: &[u8] = if cfg!(miri) { &[3] } else { &[3, 31, 59] };
        let ways = (0..ways as u8).step_by(scaled(1, 6));
        for (way, &slot) in ways.flat_map(|way| slots.iter().map(move |slot| (way, slot))) {
            let how = Insert::Insert;
            let ops = [
                Op::Refill,
                Op::InsertAll { how, step: None },
                Op::DropOwners(0, u8::MAX),
                Op::Refill,
                op(slot, way),
            ];
            script::run::<P, WeakMap<Key<P>, Value<P>>>(ops);
            script::run::<P, WeakSet<Key<P>>>(ops);
        }
    };
    first(
        |slot, way| Op::Remove(slot, pick(&Remove::ALL, way)),
        Remove::ALL.len(),
    );
    let insert = |key, way| Op::Insert {
        key,
        how: pick(&Insert::ALL, way),
        heir: None,
    };
    first(insert, Insert::ALL.len());
    first(|_, way| Op::Keep(pick(&Keep::ALL, way), 0), Keep::ALL.len());
}

/// Keys come and go, never more than a few at once, and nobody purges: memory stays bounded.
fn churn<P: Kind>() {
    let mut map = WeakMap::new();
    let mut live = VecDeque::new();
    for number in 0..scaled(50_000, 200) {
        let key = new::<P, usize>(number);
        map.insert(&key, number);
        live.push_back(key);
        if live.len() > 100 {
            live.pop_front();
        }
        assert!(map.capacity() <= 448, "{} of {}", map.len(), map.capacity());
    }
    assert_eq!(map.len_live(), 100);
}

for_each_kind!(map, set, recycled, churn);

fn pointer<P: Payload<F>, F: Tested>() {
    let decode = |steps: Vec<_>| steps.into_iter().map(pointer::Op::decode).collect();
    let scripts = steps().prop_map(decode);
    let run = |ops: Vec<pointer::Op>| {
        pointer::run::<P, F>(ops);
        Ok(())
    };
    TestRunner::new(config()).run(&scripts, run).unwrap();
}

#[test]
fn sized_payloads() {
    pointer::<Probe<Atomic>, Atomic>();
    pointer::<Probe<Local>, Local>();
}

#[test]
fn payloads_behind_a_trait() {
    pointer::<Dyn, Atomic>();
    pointer::<Dyn, Local>();
}

#[test]
fn strings() {
    pointer::<Text, Atomic>();
    pointer::<Text, Local>();
}
