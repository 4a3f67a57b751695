//! Rows of collections that threads share.

use weakly::{Memo, Strong, concurrent};

use super::{K3, K4, K5};
use crate::duel::{Row, Sample};
use crate::shared::{
    Awaited, DashMap, DashMapOfDestructibles, Destructible, Locked, LockedWeakTable, MemoOfMany,
    MemoOfNumber, MemoOfThree, Moka, MokaOfNumber, OneLocked, Owned, Papaya, PapayaOfDestructibles,
    Reserved, Sharded,
};
use crate::teams::{Clock, Plan};
use crate::together::{
    churn, churn_beside, end, get, hit, longest_death, miss, mixed, newcomer, replace, turnover,
};

/// Lookups of each thread in a sample: so many that the start does not count.
const TOGETHER: usize = 1 << 15;
/// The same of insertions and deaths, which take longer: so few that both threads have their processors meanwhile.
const TURNOVER: usize = 1 << 13;
/// Deaths, and ends, beside threads that churn.
const FEW: usize = 1 << 10;

/// Threads that live beside one that uses a map alone.
pub(super) const LIVING: usize = 4_000;

const GET: &str = "shared: get";
const GET_DESTRUCTIBLE: &str = "shared: get, values with destructors";
const MIXED: &str = "shared: 95 % get, 5 % churn";
const REPLACE: &str = "shared: replace";
const CHURN: &str = "shared: churn";
const DEATH: &str = "shared: longest death beside";
const END: &str = "shared: end of a map of ten, beside";
const MEMO_MISS: &str = "Memo: miss";
const INTERNER_HIT: &str = "Interner: hit";
const INTERNER_MISS: &str = "Interner: miss";
const INTERNER_CHURN: &str = "Interner: churn";
/// In place of a death, an object or entry goes for the new one.
pub(super) const EVICT: &str = "insert + evict";
const ONE_LOCKED: &str = "one locked";

type Map = concurrent::WeakMap<Strong<u64>, u64>;
type Destructibles = concurrent::WeakMap<Strong<u64>, Destructible>;
type Cache = Memo<Strong<u64>, u64>;
type Words = concurrent::Interner<Strong<str>>;

/// Makes a side.
pub(super) type Side = fn(Plan) -> Sample;

/// Collections that threads share. The times are the processor time of one operation of one thread; of deaths and
/// ends the elapsed time.
pub(super) fn maps() -> Vec<Row> {
    let mut rows = lookups();
    rows.extend(changes());
    rows.extend(existing());
    rows.extend(beside());
    rows
}

fn lookups() -> Vec<Row> {
    let mut rows = Vec::new();
    let (ours, destructible): (Side, Side) = (get::<Map>, get::<Destructibles>);
    for (size, goal) in [(1, 0.9), (K3, 0.75), (K4, 0.85), (K5, 1.0)] {
        for threads in [1, 2] {
            let row = |operation, peer, sides| row(operation, peer, threads, size, sides);
            let dashmap = row(GET, "dashmap", [ours, get::<DashMap>]);
            rows.extend([
                row(GET, "papaya", [ours, get::<Papaya>]).goal(goal),
                match (size, threads) {
                    // Where the threads contend for the same lock.
                    (1, 2) => dashmap.goal(0.25),
                    (K4, 1) => dashmap.goal(0.9),
                    _ => dashmap,
                },
                row(
                    GET_DESTRUCTIBLE,
                    "papaya",
                    [destructible, get::<PapayaOfDestructibles>],
                )
                .goal(1.05),
                row(
                    GET_DESTRUCTIBLE,
                    "dashmap",
                    [destructible, get::<DashMapOfDestructibles>],
                ),
            ]);
        }
        rows.push(against_one(GET, size, ours).goal(1.06));
    }
    for (threads, goal) in [(1, 1.2), (2, 0.3)] {
        let row = |peer, sides| row(GET, peer, threads, K3, sides);
        rows.extend([
            row("locked map", [ours, get::<Locked>]).goal(goal),
            row("locked weak-table", [ours, get::<LockedWeakTable>]),
        ]);
    }
    rows
}

fn changes() -> Vec<Row> {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let row = |peer, sides| row(MIXED, peer, threads, K3, sides);
        rows.extend([
            row("papaya", [mixed::<Map>, mixed::<Papaya>]).goal(0.7),
            row("dashmap", [mixed::<Map>, mixed::<DashMap>]),
        ]);
    }
    for threads in [1, 2] {
        let row = |peer, sides| row(REPLACE, peer, threads, K3, sides);
        rows.extend([
            row("papaya", [replace::<Map>, replace::<Papaya>]),
            row("dashmap", [replace::<Map>, replace::<DashMap>]),
        ]);
    }
    rows.push(against_one(MIXED, K3, mixed::<Map>).goal(1.2));
    for size in [K3, K4, K5] {
        for (threads, goal) in [(1, 1.5), (2, 1.2)] {
            let row = |peer, sides| row(CHURN, peer, threads, size, sides);
            let dashmap = row("dashmap", [churn::<Map>, churn::<DashMap>]);
            rows.extend([
                row("papaya", [churn::<Map>, churn::<Papaya>]).goal(goal),
                match (size, threads) {
                    (K3, 1) => dashmap.goal(1.4),
                    (K4, 1) => dashmap.goal(1.6),
                    (K3, 2) => dashmap.goal(0.9),
                    (K5, 2) => dashmap.goal(1.7),
                    _ => dashmap,
                },
            ]);
        }
        rows.push(against_one(CHURN, size, churn::<Map>).goal(1.3));
    }
    // Each operation misses, and a death follows on both sides.
    let made = format!("{CHURN}, get_or_insert_with");
    let sides: [Side; 2] = [churn::<Reserved>, churn::<Map>];
    rows.push(row(&made, "insert", 1, K3, sides).goal(2.5));
    rows
}

/// What a thread pays because other threads exist.
fn existing() -> Vec<Row> {
    let mut rows = Vec::new();
    rows.extend(parked::<16>());
    rows.extend(parked::<64>());
    rows.extend(parked::<256>());
    let operation = format!("shared: churn, new, beside {LIVING} living");
    let sides: [Side; 2] = [newcomer::<Map, LIVING>, newcomer::<Map, 0>];
    // Each sample starts all these threads.
    rows.push(row(&operation, "alone", 1, K3, sides).rounds(11).goal(1.05));
    rows
}

/// Others have used the map, and are parked.
fn parked<const PARKED: usize>() -> [Row; 3] {
    let operation = format!("{CHURN} beside {PARKED} parked");
    let ours: Side = churn_beside::<Map, PARKED>;
    let row = |peer, theirs| row(&operation, peer, 1, K3, [ours, theirs]);
    [
        row("none parked", churn::<Map>).goal(1.25),
        row("papaya", churn_beside::<Papaya, PARKED>),
        row("dashmap", churn_beside::<DashMap, PARKED>),
    ]
}

/// What a thread pays beside others that churn.
fn beside() -> Vec<Row> {
    let beside = |operation, peer, [ours, theirs]: [(usize, Side); 2]| {
        contest(operation, peer, K3, Clock::First, [ours, theirs])
    };
    let deaths = [1, 8].map(|others| {
        let sides: [Side; 2] = [longest_death::<Map>, longest_death::<DashMap>];
        let operation = format!("{DEATH} {others}");
        beside(operation, "dashmap", sides.map(|side| (1 + others, side)))
    });
    let ends = [16].map(|others| {
        let operation = format!("{END} {others}");
        beside(
            operation,
            "alone",
            [(1 + others, end::<Map>), (1, end::<Map>)],
        )
    });
    deaths.into_iter().chain(ends).collect()
}

pub(super) fn memos() -> Vec<Row> {
    let mut rows = Vec::new();
    for threads in [1, 2] {
        let sides: [Side; 2] = [get::<Cache>, get::<Moka>];
        rows.push(row("Memo: hit", "moka", threads, K3, sides).goal(0.2));
    }
    let hit = |key, peer, sides| row(&format!("Memo: hit, {key}"), peer, 1, K3, sides);
    rows.push(hit("awaited", "blocking", [get::<Awaited>, get::<Cache>]).goal(1.1));
    let [ours, one]: [Side; 2] = [get::<MemoOfNumber>, get::<Cache>];
    rows.extend([
        hit("object and number", "moka", [ours, get::<MokaOfNumber>]).goal(0.35),
        hit("object and number", "object", [ours, one]).goal(1.25),
        hit(
            "list of three",
            "tuple",
            [get::<MemoOfMany>, get::<MemoOfThree>],
        )
        .goal(1.15),
    ]);
    for threads in [1, 2] {
        // Each input is new, and its result is dropped when it dies.
        let sides: [Side; 2] = [churn::<Cache>, churn::<Moka>];
        rows.push(row(MEMO_MISS, "moka", threads, K3, sides).goal(0.7));
    }
    rows
}

pub(super) fn interners() -> Vec<Row> {
    let mut rows = Vec::new();
    for (size, hit_goal) in [(K3, 0.95), (K5, 1.0)] {
        for (threads, churn_goal) in [(1, 1.4), (2, 0.9)] {
            let row = |operation, peer, sides| {
                row(&format!("shared: {operation}"), peer, threads, size, sides)
            };
            rows.extend([
                row(INTERNER_HIT, "16 locked", [hit::<Words>, hit::<Sharded>]).goal(hit_goal),
                row(INTERNER_HIT, ONE_LOCKED, [hit::<Words>, hit::<OneLocked>]),
                row(INTERNER_MISS, "16 locked", [miss::<Words>, miss::<Sharded>]).goal(1.1),
                row(
                    INTERNER_MISS,
                    ONE_LOCKED,
                    [miss::<Words>, miss::<OneLocked>],
                ),
                row(
                    INTERNER_CHURN,
                    ONE_LOCKED,
                    [turnover::<Words>, turnover::<OneLocked>],
                )
                .goal(churn_goal),
            ]);
        }
        // What the lock costs an owner whom nobody disturbs.
        let row = |operation, sides| row(operation, ONE_LOCKED, 1, size, sides);
        rows.extend([
            row(INTERNER_HIT, [hit::<Owned>, hit::<OneLocked>]),
            row(INTERNER_MISS, [miss::<Owned>, miss::<OneLocked>]),
            row(INTERNER_CHURN, [turnover::<Owned>, turnover::<OneLocked>]),
        ]);
    }
    rows
}

/// By processor time.
pub(super) fn row(
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
    let changes = [
        CHURN,
        REPLACE,
        MEMO_MISS,
        INTERNER_MISS,
        INTERNER_CHURN,
        EVICT,
    ]
    .iter()
    .any(|name| operation.contains(name));
    let operations = match clock {
        Clock::First => FEW,
        _ if changes || operation.contains(INTERNER_HIT) => TURNOVER,
        _ => TOGETHER,
    };
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
    // At least fifty samples.
    match (size, changes) {
        // A table that is rebuilt after as many changes as it has objects does that in each round.
        (K4.., true) => row.rounds(7).turns(32),
        _ => row.rounds(51),
    }
}
