//! Of maps that threads share.

use weakly::{Attribute, Memo, Strong, concurrent};

use super::{K3, K5};
use crate::duel::{Row, Sample};
use crate::shared::{DashMap, Locked, LockedWeakTable, Moka, Papaya};
use crate::teams;

/// Operations of each thread in a sample: enough that to start a thread does not count.
const TOGETHER: usize = 1 << 16;

/// Maps that threads share. The times are those of one operation of one thread; where a side is "in total",
/// those of its threads together.
pub(super) fn all() -> Vec<Row> {
    type Map = concurrent::WeakMap<Strong<u64>, u64>;
    type Tag = Attribute<Strong<u64>, u64>;
    type Cache = Memo<Strong<u64>, u64>;
    let team = |name, peer, size, sides: fn(usize, usize) -> [Sample; 2]| {
        let row = Row::new(name, peer, move |scale| {
            sides(scale.of(size), scale.of(TOGETHER))
        });
        row.size(size).rounds(if size == K5 { 31 } else { 75 })
    };
    let mut rows = Vec::new();
    for size in [1, K3, K5] {
        rows.extend([
            team("shared: get", "papaya", size, |size, n| {
                [
                    teams::get::<Map>(1, size, n),
                    teams::get::<Papaya>(1, size, n),
                ]
            })
            .goal(1.2),
            team("shared: get, 2 threads", "papaya", size, |size, n| {
                [
                    teams::get::<Map>(2, size, n),
                    teams::get::<Papaya>(2, size, n),
                ]
            })
            .goal(1.2),
            team("shared: get", "dashmap", size, |size, n| {
                [
                    teams::get::<Map>(1, size, n),
                    teams::get::<DashMap>(1, size, n),
                ]
            }),
        ]);
        let against_dashmap = team("shared: get, 2 threads", "dashmap", size, |size, n| {
            [
                teams::get::<Map>(2, size, n),
                teams::get::<DashMap>(2, size, n),
            ]
        });
        rows.push(if size == 1 {
            against_dashmap.goal(0.2)
        } else {
            against_dashmap
        });
        rows.push(
            team(
                "shared: get, 2 threads in total",
                "1 thread",
                size,
                |size, n| {
                    [
                        in_total(2, teams::get::<Map>(2, size, n)),
                        teams::get::<Map>(1, size, n),
                    ]
                },
            )
            .goal(0.556),
        );
    }
    rows.extend([
        team("shared: 95 % get, 5 % churn", "papaya", K3, |size, n| {
            [
                teams::mixed::<Map>(1, size, n),
                teams::mixed::<Papaya>(1, size, n),
            ]
        }),
        team(
            "shared: 95 % get, 5 % churn, 2 threads",
            "papaya",
            K3,
            |size, n| {
                [
                    teams::mixed::<Map>(2, size, n),
                    teams::mixed::<Papaya>(2, size, n),
                ]
            },
        ),
        team(
            "shared: 95 % get, 5 % churn, 2 threads",
            "dashmap",
            K3,
            |size, n| {
                [
                    teams::mixed::<Map>(2, size, n),
                    teams::mixed::<DashMap>(2, size, n),
                ]
            },
        ),
        team("shared: churn", "papaya", K3, |size, n| {
            [
                teams::churn::<Map>(1, size, n),
                teams::churn::<Papaya>(1, size, n),
            ]
        })
        .rounds(31),
        team("shared: churn, 2 threads", "papaya", K3, |size, n| {
            [
                teams::churn::<Map>(2, size, n),
                teams::churn::<Papaya>(2, size, n),
            ]
        })
        .rounds(31),
        team(
            "shared: churn, 2 threads in total",
            "1 thread",
            K3,
            |size, n| {
                [
                    in_total(2, teams::churn::<Map>(2, size, n)),
                    teams::churn::<Map>(1, size, n),
                ]
            },
        )
        .rounds(31)
        .goal(1.0),
        team("Attribute: get", "locked map", K3, |size, n| {
            [
                teams::get::<Tag>(1, size, n),
                teams::get::<Locked>(1, size, n),
            ]
        }),
        team("Attribute: get, 2 threads", "locked map", K3, |size, n| {
            [
                teams::get::<Tag>(2, size, n),
                teams::get::<Locked>(2, size, n),
            ]
        }),
        team("Attribute: get", "locked weak-table", K3, |size, n| {
            [
                teams::get::<Tag>(1, size, n),
                teams::get::<LockedWeakTable>(1, size, n),
            ]
        }),
        team(
            "Attribute: get, 2 threads",
            "locked weak-table",
            K3,
            |size, n| {
                [
                    teams::get::<Tag>(2, size, n),
                    teams::get::<LockedWeakTable>(2, size, n),
                ]
            },
        ),
        team("Memo: hit", "moka", K3, |size, n| {
            [
                teams::get::<Cache>(1, size, n),
                teams::get::<Moka>(1, size, n),
            ]
        })
        .goal(0.4),
        team("Memo: hit, 2 threads", "moka", K3, |size, n| {
            [
                teams::get::<Cache>(2, size, n),
                teams::get::<Moka>(2, size, n),
            ]
        })
        .goal(0.4),
    ]);
    rows
}

/// The time of an operation of all threads together: what they do at once counts once.
fn in_total(threads: usize, mut sample: Sample) -> Sample {
    Box::new(move || sample() / threads as f64)
}
