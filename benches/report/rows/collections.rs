//! Rows of collections with one owner. Rows about the same two herds measure the same two: lookups before the
//! operations that change the tables.

use std::array;
use std::sync::Arc;

use super::{K6, MANY, Ours, OursLocal, Pace, SIZES, Theirs, TheirsLocal, Values, rounds, sweep};
use crate::collections::{Herd, herds};
use crate::duel::Row;
use crate::peers::{Collection, Map, Object};
use crate::subjects::Subjects;
use crate::theirs::{ByHand, Floor, WeakTableOfValues};

/// Two herds.
type Herds<A, B> = Subjects<Herd<A>, Herd<B>>;
/// Pairs of herds by size.
type BySize<A, B> = [Herds<A, B>; 3];

pub(super) fn maps() -> Vec<Row> {
    let mut rows = Vec::new();
    let both = by_size::<Ours, Theirs>();
    rows.extend(get("get, hit", "floor", &by_size::<Ours, Floor>()));
    rows.extend(get("get, hit", "weak-table", &both));
    rows.extend(churn("churn", &both));
    rows.push(slowest_insert(&both[2]));
    rows.extend(churn("local: churn", &by_size::<OursLocal, TheirsLocal>()));
    rows
}

/// Weak values: lookups, and churn.
pub(super) fn values() -> Vec<Row> {
    const NAME: &str = "WeakValueMap: get, hit";
    const OF_ARC: &str = "WeakValueMap of Arc: get, hit";
    let mut rows = Vec::new();
    let both = by_size::<Values, WeakTableOfValues>();
    rows.extend(get(NAME, "by hand", &by_size::<Values, ByHand>()));
    rows.extend(get(
        OF_ARC,
        "by hand",
        &by_size::<Values<Arc<u64>>, ByHand>(),
    ));
    rows.extend(get(NAME, "weak-table", &both));
    rows.extend(churn("WeakValueMap: churn", &both));
    rows
}

fn by_size<A, B>() -> BySize<A, B>
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    SIZES.map(|size| Subjects::new(size, herds::<A, B>))
}

/// A lookup that finds.
fn get<A, B>(name: &'static str, peer: &'static str, herds: &BySize<A, B>) -> [Row; 3]
where
    A: Map<Object: Object<Payload = u64>>,
    B: Map<Object: Object<Payload = u64>>,
{
    array::from_fn(|at| {
        let (herds, size) = (herds[at].clone(), herds[at].size());
        let row = Row::new(name, peer, move |scale| {
            let (ours, theirs) = herds.sides(scale);
            let operations = scale.of(MANY);
            [Herd::get(ours, operations), Herd::get(theirs, operations)]
        });
        row.size(size).rounds(rounds(size))
    })
}

/// A new object is inserted, and the oldest dies.
fn churn<A, B>(name: &'static str, herds: &BySize<A, B>) -> [Row; 3]
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    array::from_fn(|at| {
        let (herds, pace) = (herds[at].clone(), Pace::of(herds[at].size()));
        pace.row(Row::new(name, "weak-table", move |scale| {
            let (ours, theirs) = herds.sides(scale);
            [
                Herd::churn(ours, scale.of(pace.ours)),
                Herd::churn(theirs, scale.of(pace.theirs)),
            ]
        }))
    })
}

/// The worst case of an insert. Each sample has one sweep of weak-table's.
fn slowest_insert(herds: &Herds<Ours, Theirs>) -> Row {
    let (herds, size) = (herds.clone(), herds.size());
    let name = "slowest insert of a churn, reserved";
    let row = Row::new(name, "weak-table", move |scale| {
        let (ours, theirs) = herds.sides(scale);
        let operations = scale.of(sweep(K6));
        [
            Herd::slowest_insert(ours, operations),
            Herd::slowest_insert(theirs, operations),
        ]
    });
    row.size(size).rounds(3).at_once()
}
