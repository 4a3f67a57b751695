//! The lines of the table.

use std::rc::{self, Rc};
use std::sync::{self, Arc};

use weakly::{
    Attribute, Interner, Memo, Strong, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap,
    WeakValueMap, concurrent, local,
};

use crate::collections::{held_for_the_dead, herds};
use crate::duel::{Row, Sample, Unit};
use crate::interners::lexicons;
use crate::memory::Bulky;
use crate::peers::{self, Collection, Map, Object, Pointer};
use crate::pointers::{clone_drop, contended, new_drop, upgrade_drop};
use crate::shared::{DashMap, Locked, LockedWeakTable, Moka, Papaya};
use crate::teams;
use crate::theirs::{
    ByHand, Floor, Internment, PlainSet, WeakTable, WeakTableByContent, WeakTableOfPairs,
    WeakTableOfValues, WeakTableSet,
};

/// Operations in a sample, where one takes nanoseconds: so few that most samples lie between two
/// turns of the scheduler, which come every few milliseconds when neighbours are at work.
const MANY: usize = 1 << 14;
/// Operations of each thread in a sample: enough that to start a thread does not count.
const TOGETHER: usize = 1 << 16;
const K3: usize = 1_000;
const K5: usize = 100_000;
const K6: usize = 1_000_000;

/// Inserts in a sample where a million live: weak-table sweeps once in 2.7 million, so that each
/// sample has a sweep.
const GENERATIONS: usize = 3 * K6;

type Ours<T = u64> = WeakMap<Strong<T>, u64>;
type OursLocal = WeakMap<local::Strong<u64>, u64>;
type Theirs<T = u64> = WeakTable<sync::Weak<T>>;
type TheirsLocal = WeakTable<rc::Weak<u64>>;
type Values<V> = WeakValueMap<u64, V>;
type Words = Interner<Strong<str>>;

/// The table, from top to bottom.
pub(crate) fn all() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(pointers::<Strong<u64>, Arc<u64>>(
        [
            "new + drop",
            "clone + drop",
            "clone + drop, watched",
            "upgrade + drop",
        ],
        "Arc",
        [0.75, 1.1, 1.1, 1.15],
    ));
    rows.push(
        Row::new("clone + drop, contended by two threads", "Arc", |scale| {
            let operations = scale.of(MANY);
            [
                contended::<Strong<u64>>(operations),
                contended::<Arc<u64>>(operations),
            ]
        })
        .goal(1.3),
    );
    rows.extend(pointers::<local::Strong<u64>, Rc<u64>>(
        [
            "local: new + drop",
            "local: clone + drop",
            "local: clone + drop, watched",
            "local: upgrade + drop",
        ],
        "Rc",
        [1.1; 4],
    ));
    for (size, goal) in [(K3, 1.25), (K5, 1.25), (K6, 1.25)] {
        rows.push(get::<Ours, Floor>("get, hit", "floor", size).goal(goal));
    }
    for (size, goal) in [(K3, 0.12), (K5, 0.2), (K6, 0.25)] {
        rows.push(get::<Ours, Theirs>("get, hit", "weak-table", size).goal(goal));
    }
    rows.extend([
        churn::<Ours, Theirs>("churn", K3).goal(1.05),
        churn::<OursLocal, TheirsLocal>("local: churn", K3).goal(0.9),
        churn::<Ours, Theirs>("churn", K5).goal(0.6),
        churn::<Ours, Theirs>("churn", K6).goal(0.65),
    ]);
    rows.extend(extremes());
    rows.extend(values());
    rows.extend(churns());
    rows.extend(interners());
    rows.extend(shared());
    rows
}

/// What both kinds of pointers have in common.
fn pointers<A, B>(names: [&'static str; 4], peer: &'static str, goals: [f64; 4]) -> [Row; 5]
where
    A: Pointer<Target = u64>,
    B: Pointer<Target = u64>,
{
    let [fresh, cloned, watched, upgraded] = names;
    let clone = |name, is_watched| {
        Row::new(name, peer, move |scale| {
            let operations = scale.of(MANY);
            [
                clone_drop::<A>(operations, is_watched),
                clone_drop::<B>(operations, is_watched),
            ]
        })
    };
    let upgrade = |objects| {
        Row::new(upgraded, peer, move |scale| {
            upgrade_drop::<A, B>(scale.of(objects), scale.of(MANY))
        })
        .size(objects)
        .rounds(if objects == 1 { 301 } else { 51 })
    };
    let new = Row::new(fresh, peer, |scale| {
        let operations = scale.of(MANY);
        [new_drop::<A>(operations), new_drop::<B>(operations)]
    });
    [
        new.goal(goals[0]),
        clone(cloned, false).goal(goals[1]),
        clone(watched, true).goal(goals[2]),
        upgrade(1).goal(goals[3]),
        upgrade(K5),
    ]
}

/// A lookup that finds.
fn get<A, B>(name: &'static str, peer: &'static str, size: usize) -> Row
where
    A: Map<Object: Object<Payload = u64>>,
    B: Map<Object: Object<Payload = u64>>,
{
    let row = Row::new(name, peer, move |scale| {
        let (ours, theirs) = herds::<A, B>(scale.of(size));
        [ours.get(scale.of(MANY)), theirs.get(scale.of(MANY))]
    });
    row.size(size).rounds(rounds(size))
}

/// As many rounds as there is time for.
fn rounds(size: usize) -> usize {
    match size {
        K6 => 51,
        K5 => 101,
        _ => 301,
    }
}

/// A new object comes in, and the oldest dies.
fn churn<A, B>(name: &'static str, size: usize) -> Row
where
    A: Collection<Object: Object<Payload = u64>>,
    B: Collection<Object: Object<Payload = u64>>,
{
    with_sweeps(size, move |operations| {
        Row::new(name, "weak-table", move |scale| {
            let (ours, theirs) = herds::<A, B>(scale.of(size));
            let operations = scale.of(operations);
            [ours.churn(operations), theirs.churn(operations)]
        })
    })
}

/// A row whose samples have so many operations that each has its share of weak-table's sweeps.
fn with_sweeps(size: usize, row: impl FnOnce(usize) -> Row) -> Row {
    let row = match size {
        K6 => row(GENERATIONS).rounds(3).at_once(),
        K5 => row(K6 / 2).rounds(7),
        _ => row(MANY),
    };
    row.size(size)
}

/// Lookups of weak values.
fn values() -> impl Iterator<Item = Row> {
    const NAME: &str = "WeakValueMap: get, hit";
    [K3, K5, K6].into_iter().flat_map(|size| {
        [
            get::<Values<Strong<u64>>, ByHand>(NAME, "by hand", size).goal(1.1),
            get::<Values<Arc<u64>>, ByHand>("WeakValueMap of Arc: get, hit", "by hand", size)
                .goal(1.1),
            get::<Values<Strong<u64>>, WeakTableOfValues>(NAME, "weak-table", size).goal(0.7),
        ]
    })
}

/// Churn of the collections other than [`WeakMap`]. Among few objects there is no goal.
fn churns() -> impl Iterator<Item = Row> {
    [(K3, None), (K5, Some(0.7)), (K6, Some(0.7))]
        .into_iter()
        .flat_map(|(size, goal)| {
            let rows = [
                churn::<Values<Strong<u64>>, WeakTableOfValues>("WeakValueMap: churn", size),
                churn::<WeakPairMap<Strong<u64>, Strong<u64>>, WeakTableOfPairs>(
                    "WeakPairMap: churn",
                    size,
                ),
                churn::<WeakHashMap<Strong<u64>, u64>, WeakTableByContent>(
                    "WeakHashMap: churn",
                    size,
                ),
                churn::<WeakHashSet<Strong<u64>>, WeakTableSet<u64>>("WeakHashSet: churn", size),
            ];
            rows.map(|row| match goal {
                Some(goal) => row.goal(goal),
                None => row,
            })
        })
}

/// One handle for each word, by size: see [`Internment`].
fn interners() -> impl Iterator<Item = Row> {
    [K3, K5, K6].into_iter().flat_map(|size| {
        [
            hit::<WeakTableSet<str>>("weak-table", size).goal(1.0),
            with_sweeps(size, |operations| {
                miss::<WeakTableSet<str>>("weak-table", size, operations)
            })
            .goal(1.0),
            hit::<Internment>("internment", size).goal(1.0),
            miss::<Internment>("internment", size, MANY).goal(1.0),
            hit::<PlainSet>("plain set", size).goal(1.3),
            miss::<PlainSet>("plain set", size, MANY).goal(1.3),
        ]
    })
}

/// A word that is there.
fn hit<B: peers::Interner>(peer: &'static str, size: usize) -> Row {
    Row::new("Interner: hit", peer, move |scale| {
        let (ours, theirs) = lexicons::<Words, B>(scale.of(size));
        [ours.hit(scale.of(MANY)), theirs.hit(scale.of(MANY))]
    })
    .size(size)
    .rounds(rounds(size))
}

/// A word that is not there, and goes at once.
fn miss<B: peers::Interner>(peer: &'static str, size: usize, operations: usize) -> Row {
    Row::new("Interner: miss", peer, move |scale| {
        let (ours, theirs) = lexicons::<Words, B>(scale.of(size));
        let operations = scale.of(operations);
        [ours.miss(operations), theirs.miss(operations)]
    })
    .size(size)
    .rounds(rounds(size))
}

/// Maps that threads share. The times are those of one operation of one thread; where a side is "in total",
/// those of its threads together.
fn shared() -> Vec<Row> {
    type Map = concurrent::WeakMap<Strong<u64>, u64>;
    type Tag = Attribute<Strong<u64>, u64>;
    type Cache = Memo<Strong<u64>, u64>;
    let team = |name, peer, size, sides: fn(usize, usize) -> [Sample; 2]| {
        let row = Row::new(name, peer, move |scale| {
            sides(scale.of(size), scale.of(TOGETHER))
        });
        row.size(size).rounds(101)
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
        }),
        team("shared: churn, 2 threads", "papaya", K3, |size, n| {
            [
                teams::churn::<Map>(2, size, n),
                teams::churn::<Papaya>(2, size, n),
            ]
        }),
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

/// What an operation costs at worst, and what the dead cost until somebody cleans up.
fn extremes() -> [Row; 3] {
    [
        Row::new("purge after 1,000 deaths", "weak-table", |scale| {
            let (ours, theirs) = herds::<Ours, Theirs>(scale.of(K6));
            let deaths = scale.of(K3);
            [ours.purge(deaths), theirs.purge(deaths)]
        })
        .size(K6)
        .rounds(15)
        .goal(0.02),
        Row::new(
            "slowest insert of a churn, reserved",
            "weak-table",
            |scale| {
                let (ours, theirs) = herds::<Ours, Theirs>(scale.of(K6));
                let operations = scale.of(GENERATIONS);
                [
                    ours.slowest_insert(operations),
                    theirs.slowest_insert(operations),
                ]
            },
        )
        .size(K6)
        .rounds(3)
        .goal(0.01),
        Row::new(
            "payload held by dead keys of 4 KiB",
            "weak-table",
            |scale| {
                [
                    held_for_the_dead::<Ours<Bulky>>(scale.of(K5)),
                    held_for_the_dead::<Theirs<Bulky>>(scale.of(K5)),
                ]
            },
        )
        .size(K5)
        .unit(Unit::Bytes)
        .rounds(1)
        .goal(0.0),
    ]
}
