//! Rows of collections that threads share.

use weakly::{Attribute, Memo, Strong, concurrent};

use super::{K3, K5};
use crate::duel::{Row, Sample};
use crate::shared::{
    DashMap, Destructible, Locked, LockedWeakTable, Moka, Papaya, PapayaOfDestructibles, Sharded,
};
use crate::teams::{Clock, Plan, churn, get, hit, miss, mixed};

/// Lookups of each thread in a sample: so many that the start does not count.
const TOGETHER: usize = 1 << 16;
/// The same of insertions and deaths, which take longer.
const TURNOVER: usize = 1 << 15;

const GET: &str = "shared: get";
const GET_DESTRUCTIBLE: &str = "shared: get, values with destructors";
const MIXED: &str = "shared: 95 % get, 5 % churn";
const CHURN: &str = "shared: churn";
const MEMO_MISS: &str = "Memo: miss";
const INTERNER_MISS: &str = "shared: Interner: miss";

type Map = concurrent::WeakMap<Strong<u64>, u64>;
type Destructibles = concurrent::WeakMap<Strong<u64>, Destructible>;
type Tag = Attribute<Strong<u64>, u64>;
type Cache = Memo<Strong<u64>, u64>;
type Words = concurrent::Interner<Strong<str>>;

/// Makes a side.
type Side = fn(Plan) -> Sample;

/// Collections that threads share. The times are the processor time of one operation of one thread, unless the
/// row says "wall"; "in total" is the elapsed time divided by the operations of all threads together.
pub(super) fn maps() -> Vec<Row> {
    let mut rows = lookups();
    rows.extend(changes());
    rows
}

fn lookups() -> Vec<Row> {
    let mut rows = Vec::new();
    for (size, goal) in [(1, 0.9), (K3, 0.9), (K5, 1.0)] {
        for threads in [1, 2] {
            rows.extend([
                row(GET, "papaya", threads, size, [get::<Map>, get::<Papaya>]).goal(goal),
                row(
                    GET_DESTRUCTIBLE,
                    "papaya",
                    threads,
                    size,
                    [get::<Destructibles>, get::<PapayaOfDestructibles>],
                )
                .goal(1.05),
            ]);
        }
        let waited = wall(GET, "dashmap", 2, size, [get::<Map>, get::<DashMap>]);
        rows.extend([
            row(GET, "dashmap", 1, size, [get::<Map>, get::<DashMap>]),
            // Where the threads contend for the same lock.
            if size == 1 { waited.goal(0.25) } else { waited },
            in_total(GET, size, get::<Map>).goal(0.556),
            against_one(GET, size, get::<Map>).goal(1.06),
        ]);
    }
    rows
}

fn changes() -> Vec<Row> {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let sides: [Side; 2] = [mixed::<Map>, mixed::<Papaya>];
        rows.extend([
            row(MIXED, "papaya", threads, K3, sides).goal(0.85),
            row(
                MIXED,
                "dashmap",
                threads,
                K3,
                [mixed::<Map>, mixed::<DashMap>],
            ),
        ]);
    }
    rows.push(against_one(MIXED, K3, mixed::<Map>).goal(1.2));
    for size in [K3, K5] {
        for (threads, goal) in [(1, 1.5), (2, 1.2)] {
            let sides: [Side; 2] = [churn::<Map>, churn::<Papaya>];
            rows.extend([
                row(CHURN, "papaya", threads, size, sides).goal(goal),
                row(
                    CHURN,
                    "dashmap",
                    threads,
                    size,
                    [churn::<Map>, churn::<DashMap>],
                ),
            ]);
        }
        rows.push(against_one(CHURN, size, churn::<Map>).goal(1.3));
    }
    rows.push(in_total(CHURN, K3, churn::<Map>).goal(1.0));
    rows
}

pub(super) fn attributes_and_memos() -> Vec<Row> {
    let tag = "Attribute: get";
    let locked: [Side; 2] = [get::<Tag>, get::<Locked>];
    let locked_weak_table: [Side; 2] = [get::<Tag>, get::<LockedWeakTable>];
    let mut rows = vec![
        row(tag, "locked map", 1, K3, locked).goal(1.2),
        wall(tag, "locked map", 2, K3, locked).goal(0.3),
        row(tag, "locked weak-table", 1, K3, locked_weak_table),
        wall(tag, "locked weak-table", 2, K3, locked_weak_table),
    ];
    for threads in [1, 2] {
        let sides: [Side; 2] = [get::<Cache>, get::<Moka>];
        rows.push(row("Memo: hit", "moka", threads, K3, sides).goal(0.2));
    }
    for threads in [1, 2] {
        // Each input is new, and its result is dropped when it dies.
        let sides: [Side; 2] = [churn::<Cache>, churn::<Moka>];
        rows.push(row(MEMO_MISS, "moka", threads, K3, sides).goal(0.7));
    }
    rows
}

pub(super) fn interners() -> Vec<Row> {
    let mut rows = Vec::new();
    for size in [K3, K5] {
        for threads in [1, 2] {
            let (hits, misses): ([Side; 2], [Side; 2]) = (
                [hit::<Words>, hit::<Sharded>],
                [miss::<Words>, miss::<Sharded>],
            );
            rows.extend([
                row("shared: Interner: hit", "16 locked", threads, size, hits).goal(1.1),
                row(INTERNER_MISS, "16 locked", threads, size, misses).goal(1.1),
            ]);
        }
    }
    rows
}

/// By processor time.
fn row(
    operation: &str,
    peer: &'static str,
    threads: usize,
    size: usize,
    [ours, theirs]: [Side; 2],
) -> Row {
    let operation = name(operation, threads);
    let sides = [(threads, ours), (threads, theirs)];
    contest(operation, peer, size, Clock::Processor, sides)
}

/// By elapsed time.
fn wall(
    operation: &str,
    peer: &'static str,
    threads: usize,
    size: usize,
    [ours, theirs]: [Side; 2],
) -> Row {
    let operation = format!("{}, wall", name(operation, threads));
    let sides = [(threads, ours), (threads, theirs)];
    contest(operation, peer, size, Clock::Wall, sides)
}

/// The throughput of two threads, against one.
fn in_total(operation: &str, size: usize, side: Side) -> Row {
    let operation = format!("{} in total", name(operation, 2));
    let sides = [(2, side), (1, side)];
    contest(operation, "1 thread", size, Clock::WallInTotal, sides)
}

/// The processor time of an operation while another thread does the same, against that of a thread alone.
fn against_one(operation: &str, size: usize, side: Side) -> Row {
    let sides = [(2, side), (1, side)];
    contest(
        name(operation, 2),
        "1 thread",
        size,
        Clock::Processor,
        sides,
    )
}

fn name(operation: &str, threads: usize) -> String {
    match threads {
        1 => operation.to_owned(),
        _ => format!("{operation}, {threads} threads"),
    }
}

/// Two sides with their numbers of threads, ours first.
fn contest(
    operation: String,
    peer: &'static str,
    size: usize,
    clock: Clock,
    sides: [(usize, Side); 2],
) -> Row {
    let changes = [CHURN, MEMO_MISS, INTERNER_MISS]
        .iter()
        .any(|name| operation.starts_with(name));
    let operations = if changes { TURNOVER } else { TOGETHER };
    let row = Row::new(operation, peer, move |scale| {
        sides.map(|(threads, side)| {
            side(Plan {
                threads,
                size: scale.of(size),
                operations: scale.of(operations),
                clock,
            })
        })
    });
    let row = row.size(size);
    match (size, changes) {
        // A table that is rebuilt after as many changes as it has objects does that in each round.
        (K5, true) => row.rounds(7).turns(8),
        (K5, false) | (_, true) => row.rounds(31),
        _ => row.rounds(75),
    }
}
