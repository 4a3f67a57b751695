//! Rows of collections with one owner. Rows about the same two herds measure the same two: lookups before the
//! operations that change the tables.

use std::array;
use std::sync::Arc;

use super::{
    ByContent, K3, K6, MANY, Ours, OursLocal, Pace, Pairs, SIZES, SetByContent, Theirs,
    TheirsLocal, Values, rounds, sweep,
};
use crate::collections::{Herd, herds, slowest_growth};
use crate::duel::Row;
use crate::ours::Nested;
use crate::peers::{Collection, Map, Object, Ten};
use crate::subjects::Subjects;
use crate::theirs::{
    ByHand, Flat, Floor, WeakTableByContent, WeakTableOfPairs, WeakTableOfValues, WeakTableSet,
};

/// Two herds.
type Herds<A, B> = Subjects<Herd<A>, Herd<B>>;
/// Pairs of herds by size.
type BySize<A, B> = [Herds<A, B>; 3];

pub(super) fn maps() -> Vec<Row> {
    let mut rows = Vec::new();
    let floors = by_size::<Ours, Floor>();
    let both = by_size::<Ours, Theirs>();
    let local = by_size::<OursLocal, TheirsLocal>();
    for (herds, goal) in floors.iter().zip([1.1, 1.0, 0.95]) {
        rows.push(get("get, hit", "floor", herds).goal(goal));
    }
    for (herds, goal) in both.iter().zip([0.12, 0.2, 0.25]) {
        rows.push(get("get, hit", "weak-table", herds).goal(goal));
    }
    let [few, _, most] = &both;
    let nested = by_size::<Nested, Flat>();
    rows.push(get("get, hit, object and number", "flat", &nested[0]));
    // Before weak-table has grown, which makes it slower.
    rows.push(purge(most).goal(0.02));
    rows.extend(churn("churn", &both, [0.8, 0.7, 0.7]));
    rows.push(slowest_insert(most).goal(0.01));
    rows.push(growth().goal(1.5));
    rows.extend(churn("local: churn", &local, [0.75; 3]));
    rows.push(put_back(few));
    let tens = Subjects::new(K3, herds::<Ten<Ours>, Ten<Theirs>>);
    let ten = one_churn("one object in ten maps: churn", &tens);
    rows.push(ten.rounds(51).goal(1.05));
    rows.extend(churn(
        "WeakPairMap: churn",
        &by_size::<Pairs, WeakTableOfPairs>(),
        [0.85, 0.4, 0.6],
    ));
    rows.extend(churn(
        "WeakHashMap: churn",
        &by_size::<ByContent, WeakTableByContent>(),
        [0.9, 0.65, 0.7],
    ));
    rows.extend(churn(
        "WeakHashSet: churn",
        &by_size::<SetByContent, WeakTableSet<u64>>(),
        [0.9, 0.65, 0.7],
    ));
    rows
}

/// Weak values: lookups, and churn.
pub(super) fn values() -> Vec<Row> {
    const NAME: &str = "WeakValueMap: get, hit";
    let mut rows = Vec::new();
    let by_hand = by_size::<Values, ByHand>();
    let of_arc = by_size::<Values<Arc<u64>>, ByHand>();
    let both = by_size::<Values, WeakTableOfValues>();
    for (at, goal) in [1.0, 0.95, 0.95].into_iter().enumerate() {
        rows.extend([
            get(NAME, "by hand", &by_hand[at]).goal(goal),
            get("WeakValueMap of Arc: get, hit", "by hand", &of_arc[at]).goal(1.1),
            get(NAME, "weak-table", &both[at]).goal(0.7),
        ]);
    }
    rows.extend(churn("WeakValueMap: churn", &both, [0.85, 0.65, 0.75]));
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
fn get<A, B>(name: &'static str, peer: &'static str, herds: &Herds<A, B>) -> Row
where
    A: Map<Object: Object<Payload = u64>>,
    B: Map<Object: Object<Payload = u64>>,
{
    let (herds, size) = (herds.clone(), herds.size());
    let row = Row::new(name, peer, move |scale| {
        let (ours, theirs) = herds.sides(scale);
        let operations = scale.of(MANY);
        [Herd::get(ours, operations), Herd::get(theirs, operations)]
    });
    row.size(size).rounds(rounds(size))
}

/// A new object is inserted, and the oldest dies.
fn churn<A, B>(name: &'static str, herds: &BySize<A, B>, goals: [f64; 3]) -> [Row; 3]
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    array::from_fn(|at| one_churn(name, &herds[at]).goal(goals[at]))
}

fn one_churn<A, B>(name: &'static str, herds: &Herds<A, B>) -> Row
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    let (herds, pace) = (herds.clone(), Pace::of(herds.size()));
    pace.row(Row::new(name, "weak-table", move |scale| {
        let (ours, theirs) = herds.sides(scale);
        [
            Herd::churn(ours, scale.of(pace.ours)),
            Herd::churn(theirs, scale.of(pace.theirs)),
        ]
    }))
}

/// The cost of the dead until they are purged.
fn purge(herds: &Herds<Ours, Theirs>) -> Row {
    let (herds, size) = (herds.clone(), herds.size());
    let row = Row::new("purge after 1,000 deaths", "weak-table", move |scale| {
        let (ours, theirs) = herds.sides(scale);
        let deaths = scale.of(K3);
        [Herd::purge(ours, deaths), Herd::purge(theirs, deaths)]
    });
    row.size(size).rounds(15)
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

/// The pause of growth, against that of a plain map.
fn growth() -> Row {
    const SIZE: usize = 10_000_000;
    let row = Row::new("slowest insert of a growing map", "floor", |scale| {
        let size = scale.of(SIZE);
        [slowest_growth::<Ours>(size), slowest_growth::<Floor>(size)]
    });
    row.size(SIZE).rounds(3).at_once()
}

/// A removal, and an insert of the removed object. The last row of its herds: its objects have weak handles
/// afterwards.
fn put_back(herds: &Herds<Ours, Theirs>) -> Row {
    let (herds, size) = (herds.clone(), herds.size());
    let row = Row::new(
        "insert + remove of a watched key",
        "weak-table",
        move |scale| {
            let (ours, theirs) = herds.sides(scale);
            let operations = scale.of(MANY);
            [
                Herd::put_back(ours, operations),
                Herd::put_back(theirs, operations),
            ]
        },
    );
    row.size(size)
}
