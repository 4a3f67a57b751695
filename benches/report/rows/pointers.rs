//! Rows of pointers.

use std::rc::Rc;
use std::sync::Arc;

use weakly::{Strong, local};

use super::{K5, MANY};
use crate::duel::Row;
use crate::peers::Pointer;
use crate::pointers::{clone_drop, new_drop, upgrade_drop};
use crate::teams::{Clock, Plan};
use crate::together;

/// With its header, larger than a block with an inline payload.
type Apart = [u64; 64];

pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(alike::<Strong<u64>, Arc<u64>>(
        [
            "new + drop",
            "clone + drop",
            "clone + drop, watched",
            "upgrade + drop",
        ],
        "Arc",
        [0.95, 1.03, 1.03, 1.03, 1.1],
    ));
    rows.push(
        Row::new("clone + drop, contended by two threads", "Arc", |scale| {
            let plan = Plan {
                threads: 2,
                size: 1,
                operations: scale.of(MANY),
                clock: Clock::Processor,
            };
            [
                together::clone_drop::<Strong<u64>>(plan),
                together::clone_drop::<Arc<u64>>(plan),
            ]
        })
        .rounds(101)
        .goal(1.1),
    );
    rows.extend(apart());
    rows.extend(alike::<local::Strong<u64>, Rc<u64>>(
        [
            "local: new + drop",
            "local: clone + drop",
            "local: clone + drop, watched",
            "local: upgrade + drop",
        ],
        "Rc",
        [1.05, 1.05, 1.05, 1.05, 1.1],
    ));
    rows
}

/// The rows of both kinds of pointers.
fn alike<A, B>(names: [&'static str; 4], peer: &'static str, goals: [f64; 5]) -> [Row; 5]
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    let [fresh, cloned, watched, upgraded] = names;
    let clone = |name, is_watched| {
        Row::new(name, peer, move |scale| {
            let operations = scale.of(MANY);
            [
                clone_drop::<A>(operations, 7, is_watched),
                clone_drop::<B>(operations, 7, is_watched),
            ]
        })
    };
    let upgrade = |objects| {
        Row::new(upgraded, peer, move |scale| {
            upgrade_drop::<A, B>(scale.of(objects), scale.of(MANY))
        })
        .size(objects)
        .rounds(if objects == 1 { 201 } else { 51 })
    };
    let new = Row::new(fresh, peer, |scale| {
        let operations = scale.of(MANY);
        [new_drop::<A>(operations, 7), new_drop::<B>(operations, 7)]
    });
    [
        new.goal(goals[0]),
        clone(cloned, false).goal(goals[1]),
        clone(watched, true).goal(goals[2]),
        upgrade(1).goal(goals[3]),
        upgrade(K5).goal(goals[4]),
    ]
}

/// A payload with an allocation of its own.
fn apart() -> [Row; 2] {
    const PAYLOAD: Apart = [7; 64];
    [
        Row::new("512 bytes apart: new + drop", "Arc", |scale| {
            let operations = scale.of(MANY);
            [
                new_drop::<Strong<Apart>>(operations, PAYLOAD),
                new_drop::<Arc<Apart>>(operations, PAYLOAD),
            ]
        })
        .goal(1.3),
        Row::new("512 bytes apart: clone + drop", "Arc", |scale| {
            let operations = scale.of(MANY);
            [
                clone_drop::<Strong<Apart>>(operations, PAYLOAD, false),
                clone_drop::<Arc<Apart>>(operations, PAYLOAD, false),
            ]
        })
        .goal(1.2),
    ]
}
