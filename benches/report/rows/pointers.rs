//! Rows of pointers.

use std::rc::Rc;
use std::sync::Arc;

use weakly::{Strong, local};

use super::{K5, MANY};
use crate::duel::{Row, Sample};
use crate::peers::Pointer;
use crate::pointers::{clone_drop, new_drop, upgrade_drop};

/// With its header, larger than a block with an inline payload.
type Apart = [u64; 64];

pub(super) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(alike::<Strong<u64>, Arc<u64>>("", "Arc"));
    rows.extend(apart());
    rows.extend(alike::<local::Strong<u64>, Rc<u64>>("local: ", "Rc"));
    rows
}

/// The rows of both kinds of pointers.
fn alike<A, B>(kind: &'static str, peer: &'static str) -> [Row; 5]
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    let clone = |operation, is_watched| {
        row(kind, operation, peer, move |many| {
            [
                clone_drop::<A>(many, 7, is_watched),
                clone_drop::<B>(many, 7, is_watched),
            ]
        })
    };
    let upgrade = |objects| {
        Row::new(format!("{kind}upgrade + drop"), peer, move |scale| {
            upgrade_drop::<A, B>(scale.of(objects), scale.of(MANY))
        })
        .size(objects)
        .rounds(if objects == 1 { 201 } else { 51 })
    };
    [
        row(kind, "new + drop", peer, |many| {
            [new_drop::<A>(many, 7), new_drop::<B>(many, 7)]
        }),
        clone("clone + drop", false),
        clone("clone + drop, watched", true),
        upgrade(1),
        upgrade(K5),
    ]
}

/// A payload with an allocation of its own.
fn apart() -> [Row; 2] {
    const KIND: &str = "512 bytes apart: ";
    const PAYLOAD: Apart = [7; 64];
    [
        row(KIND, "new + drop", "Arc", |many| {
            [
                new_drop::<Strong<Apart>>(many, PAYLOAD),
                new_drop::<Arc<Apart>>(many, PAYLOAD),
            ]
        }),
        row(KIND, "clone + drop", "Arc", |many| {
            [
                clone_drop::<Strong<Apart>>(many, PAYLOAD, false),
                clone_drop::<Arc<Apart>>(many, PAYLOAD, false),
            ]
        }),
    ]
}

fn row(
    kind: &str,
    operation: &str,
    peer: &'static str,
    sides: impl FnOnce(usize) -> [Sample; 2] + 'static,
) -> Row {
    Row::new(format!("{kind}{operation}"), peer, |scale| {
        sides(scale.of(MANY))
    })
}
