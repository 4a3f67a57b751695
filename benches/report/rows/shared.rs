//! Rows of collections that threads share.

use weakly::{Memo, Strong, concurrent};

use super::{K3, K4, K5};
use crate::duel::{Row, Sample};
use crate::shared::{DashMap, Locked, Moka, OneLocked, Papaya, Sharded};
use crate::teams::{Clock, Plan};
use crate::together::{churn, get, hit, miss, mixed, replace, turnover};

/// Lookups of each thread in a sample: so many that the start does not count.
const TOGETHER: usize = 1 << 15;
/// The same of insertions and deaths, which take longer: so few that both threads have their processors meanwhile.
const TURNOVER: usize = 1 << 13;

type Map = concurrent::WeakMap<Strong<u64>, u64>;
type Cache = Memo<Strong<u64>, u64>;
type Words = concurrent::Interner<Strong<str>>;

/// Makes a side.
type Side = fn(Plan) -> Sample;

/// An operation, with its operations of a thread in a sample, and whether tables are rebuilt by it.
#[derive(Clone, Copy)]
struct Job(&'static str, usize, bool);

const GET: Job = Job("shared: get", TOGETHER, false);
const MIXED: Job = Job("shared: 95 % get, 5 % churn", TOGETHER, false);
const REPLACE: Job = Job("shared: replace", TURNOVER, true);
const CHURN: Job = Job("shared: churn", TURNOVER, true);
const MEMO_HIT: Job = Job("Memo: hit", TOGETHER, false);
const MEMO_MISS: Job = Job("Memo: miss", TURNOVER, true);
const INTERNER_HIT: Job = Job("shared: Interner: hit", TURNOVER, false);
const INTERNER_MISS: Job = Job("shared: Interner: miss", TURNOVER, true);
const INTERNER_CHURN: Job = Job("shared: Interner: churn", TURNOVER, true);

/// Collections that threads share. The times are the processor time of one operation of one thread.
pub(super) fn maps() -> Vec<Row> {
    let mut rows = Vec::new();
    let mut both = |job, size, [ours, papaya, dashmap]: [Side; 3]| {
        for threads in [1, 2] {
            rows.push(row(job, "papaya", threads, size, [ours, papaya]));
            rows.push(row(job, "dashmap", threads, size, [ours, dashmap]));
        }
        if job.0 != REPLACE.0 {
            rows.push(against_one(job, size, ours));
        }
    };
    for size in [1, K3, K4, K5] {
        both(GET, size, [get::<Map>, get::<Papaya>, get::<DashMap>]);
    }
    both(MIXED, K3, [mixed::<Map>, mixed::<Papaya>, mixed::<DashMap>]);
    let sides: [Side; 3] = [replace::<Map>, replace::<Papaya>, replace::<DashMap>];
    both(REPLACE, K3, sides);
    for size in [K3, K4, K5] {
        both(
            CHURN,
            size,
            [churn::<Map>, churn::<Papaya>, churn::<DashMap>],
        );
    }
    for threads in [1, 2] {
        let sides: [Side; 2] = [get::<Map>, get::<Locked>];
        rows.push(row(GET, "locked map", threads, K3, sides));
    }
    rows
}

pub(super) fn memos() -> Vec<Row> {
    // Each input of a miss is new, and its result is dropped when it dies.
    let jobs: [(Job, [Side; 2]); 2] = [
        (MEMO_HIT, [get::<Cache>, get::<Moka>]),
        (MEMO_MISS, [churn::<Cache>, churn::<Moka>]),
    ];
    let rows = jobs
        .into_iter()
        .flat_map(|(job, sides)| [1, 2].map(|threads| row(job, "moka", threads, K3, sides)));
    rows.collect()
}

pub(super) fn interners() -> Vec<Row> {
    let jobs: [(Job, [Side; 3]); 3] = [
        (
            INTERNER_HIT,
            [hit::<Words>, hit::<Sharded>, hit::<OneLocked>],
        ),
        (
            INTERNER_MISS,
            [miss::<Words>, miss::<Sharded>, miss::<OneLocked>],
        ),
        (
            INTERNER_CHURN,
            [
                turnover::<Words>,
                turnover::<Sharded>,
                turnover::<OneLocked>,
            ],
        ),
    ];
    let mut rows = Vec::new();
    for (size, threads) in [(K3, 1), (K3, 2), (K5, 1), (K5, 2)] {
        for (job, [ours, sharded, one]) in jobs {
            rows.push(row(job, "16 locked", threads, size, [ours, sharded]));
            rows.push(row(job, "one locked", threads, size, [ours, one]));
        }
    }
    rows
}

fn row(job: Job, peer: &'static str, threads: usize, size: usize, sides: [Side; 2]) -> Row {
    contest(job, peer, size, sides.map(|side| (threads, side)))
}

/// The processor time of an operation while another thread does the same, against that of a thread alone.
fn against_one(job: Job, size: usize, side: Side) -> Row {
    contest(job, "1 thread", size, [(2, side), (1, side)])
}

/// Two sides with their numbers of threads, ours first.
fn contest(job: Job, peer: &'static str, size: usize, sides: [(usize, Side); 2]) -> Row {
    let Job(operation, operations, changes) = job;
    let operation = match sides[0].0 {
        1 => operation.to_owned(),
        threads => format!("{operation}, {threads} threads"),
    };
    let row = Row::new(operation, peer, move |scale| {
        sides.map(|(threads, side)| {
            side(Plan {
                threads,
                size: scale.of(size),
                operations: scale.of(operations),
                clock: Clock::Processor,
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
