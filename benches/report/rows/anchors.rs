//! Rows of anchors: values without a handle as keys, compared with objects that have one.

use weakly::{Anchor, WeakMap};

use super::{K3, MANY, Ours, Pace, SIZES, rounds};
use crate::collections::{Herd, herds};
use crate::duel::Row;
use crate::pointers::new_drop;
use crate::subjects::Subjects;

type Anchored = WeakMap<Anchor, u64>;

pub(super) fn all() -> Vec<Row> {
    let mut rows = vec![
        Row::new("Anchor in a box, unwatched: new + drop", "Box", |scale| {
            let operations = scale.of(MANY);
            [
                new_drop::<Box<(u64, Anchor)>>(operations, 7),
                new_drop::<Box<(u64, usize)>>(operations, 7),
            ]
        })
        .goal(1.1),
    ];
    let both = SIZES.map(|size| Subjects::new(size, herds::<Anchored, Ours>));
    // Lookups before the operations that change the tables.
    for herds in &both {
        let (herds, size) = (herds.clone(), herds.size());
        let row = Row::new("Anchor: get, hit", "Strong", move |scale| {
            let (ours, theirs) = herds.sides(scale);
            let operations = scale.of(MANY);
            [
                Herd::look_up(ours, operations),
                Herd::look_up(theirs, operations),
            ]
        });
        rows.push(row.size(size).rounds(rounds(size)).goal(1.2));
    }
    for herds in &both {
        let (herds, pace) = (herds.clone(), Pace::of(herds.size()));
        let row = Row::new("Anchor: churn", "Strong", move |scale| {
            let (ours, theirs) = herds.sides(scale);
            let operations = scale.of(pace.ours);
            [
                Herd::churn(ours, operations),
                Herd::churn(theirs, operations),
            ]
        });
        rows.push(pace.row(row).goal(1.1));
    }
    let few = both[0].clone();
    let row = Row::new("Anchor: insert + remove", "Strong", move |scale| {
        let (ours, theirs) = few.sides(scale);
        let operations = scale.of(MANY);
        [
            Herd::re_insert(ours, operations),
            Herd::re_insert(theirs, operations),
        ]
    });
    rows.push(row.size(K3).goal(1.1));
    rows
}
