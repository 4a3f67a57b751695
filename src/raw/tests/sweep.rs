//! The sweep: which entries it visits, and how many at a time.

use core::cell::Cell;
use std::collections::{HashMap, HashSet};
use std::thread;
use std::vec::Vec;

use super::super::bucket::SLOTS;
use super::super::sweep::SweepPosition;
use super::*;

/// The largest number of entries visited at a time.
const MOST: usize = 4 * SLOTS;

/// Returns the steps in which a sweep goes round this number of entries, of which few have
/// neighbours: a quarter of the number, where a bucket has six slots.
const fn round(entries: usize) -> usize {
    3 * entries / (2 * SLOTS) + 2
}

/// Returns the same for entries with one hash.
const fn round_of_equals(entries: usize) -> usize {
    round(entries) + entries / MOST
}

/// Sweeps `times` times. Returns the visited entries, and the largest number of visits of one
/// entry.
fn shown(table: &RawTable<Node>, position: &SweepPosition, times: usize) -> (HashSet<u64>, usize) {
    let mut times_shown = HashMap::new();
    for _ in 0..times {
        let mut at_once = 0;
        table.write().sweep(position, |node| {
            at_once += 1;
            *times_shown.entry(node.value).or_insert(0) += 1;
        });
        assert!(at_once <= MOST);
    }
    let most = times_shown.values().copied().max().unwrap_or(0);
    (times_shown.into_keys().collect(), most)
}

fn filled(entries: u64, hash: impl Fn(u64) -> u64) -> RawTable<Node> {
    let table = RawTable::<Node>::new();
    for key in 0..entries {
        table.insert(Node::new(hash(key), key, key));
    }
    table
}

/// A round visits each entry once, in a quarter as many steps as there are entries, and the next
/// round begins from the beginning.
#[test]
fn a_round_shows_each_once() {
    let largest = if cfg!(miri) { 4 } else { 5 };
    for entries in [1, 2, 9, 40, 1_000].into_iter().take(largest) {
        let table = filled(entries, spread);
        let position = SweepPosition::new();
        let mut steps = 0;
        let mut all = HashSet::new();
        // The round may begin at a later bucket, because the position was advanced while the table
        // was empty.
        while all.len() < entries as usize {
            let (now, most) = shown(&table, &position, 1);
            assert!(most <= 1 && now.is_disjoint(&all), "once in a round");
            all.extend(now);
            steps += 1;
            assert!(steps <= round(entries as usize), "{steps} of {entries}");
        }
        let (again, _) = shown(&table, &position, round(entries as usize));
        assert_eq!(again, all);
    }
}

/// Entries with thousands of neighbours are visited, too, a bounded number at a time.
#[test]
fn equal_hashes_are_shown_in_pages() {
    let entries = if cfg!(miri) { 30 } else { 1_000 };
    let table = filled(entries, |_| 5);
    let position = SweepPosition::new();
    let round = round_of_equals(entries as usize);
    let (all, most) = shown(&table, &position, round);
    assert_eq!(all.len(), entries as usize);
    assert!(most <= 2, "{most}");
    // Some entries are removed, and the others are still visited.
    for key in (0..entries).filter(|key| key % 3 != 0) {
        table.take(5, key);
    }
    let (all, _) = shown(&table, &position, round);
    assert_eq!(all.len(), entries.div_ceil(3) as usize);
}

/// A sweep that removes every visited entry leaves no entry after a round, even with one hash.
#[test]
fn what_is_removed_meanwhile_hides_no_other() {
    let entries = if cfg!(miri) { 30 } else { 800 };
    for hash in [spread, |_| 3] {
        let table = filled(entries, hash);
        let position = SweepPosition::new();
        for _ in 0..round_of_equals(entries as usize) {
            let writer = table.write();
            writer.sweep(&position, |node| {
                table.take(node.hash, node.key);
            });
        }
        assert_eq!(table.len(), 0);
    }
}

/// While entries move to another array, and after the move, each entry is visited within one round
/// and a half.
#[test]
fn it_follows_what_moves() {
    let entries = if cfg!(miri) { 100 } else { 1_200_u64 };
    let table = RawTable::<Node>::new();
    let position = SweepPosition::new();
    let last_shown: Vec<Cell<u64>> = (0..entries).map(Cell::new).collect();
    for now in 0..entries {
        table.insert(Node::new(spread(now), now, now));
        table.write().sweep(&position, |node| {
            last_shown[node.value as usize].set(now);
        });
        for (key, last) in last_shown[..=now as usize].iter().enumerate() {
            let ago = (now - last.get()) as usize;
            let most = round(3 * now as usize / 2) + 2;
            assert!(ago <= most, "{key} was shown {ago} of {now} ago");
        }
    }
}

/// A table whose entries are in two arrays: no entry is left out.
#[test]
fn in_the_middle_of_a_move() {
    let buckets = if cfg!(miri) { 64 } else { 256 };
    let table = RawTable::<Node>::new();
    table.allocate_for(4 * buckets);
    let mut moving = 0;
    for key in 0..7 * buckets as u64 {
        table.insert(Node::new(spread(key), key, key));
        let writer = table.write();
        let array = writer.array().expect("it has entries");
        if array.next().is_some() {
            moving += 1;
            // Some buckets have one entry more than a page. Buckets with fewer slots are more often
            // too long.
            let longer = if SLOTS == 6 { 16 } else { 4 };
            let round = array.len() / 2 + array.len() / longer;
            let (all, most) = shown(&table, &SweepPosition::new(), round);
            assert_eq!(all.len() as u64, key + 1);
            assert!(most <= 2);
        }
    }
    assert_ne!(moving, 0);
}

/// Threads that sweep at the same time share a round.
#[test]
fn threads_share_a_round() {
    let entries = if cfg!(miri) { 50 } else { 4_000 };
    let table = filled(entries, spread);
    let position = SweepPosition::new();
    let each = round(entries as usize) / 4 + 1;
    let seen: Vec<HashSet<u64>> = thread::scope(|scope| {
        let threads: Vec<_> = (0..4)
            .map(|_| scope.spawn(|| shown(&table, &position, each).0))
            .collect();
        threads.into_iter().map(|it| it.join().unwrap()).collect()
    });
    let all: HashSet<u64> = seen.iter().flatten().copied().collect();
    assert_eq!(all.len(), entries as usize, "between them they go round");
}

#[test]
fn an_empty_table_shows_nothing() {
    let table = RawTable::<Node>::new();
    let position = SweepPosition::new();
    assert!(shown(&table, &position, 3).0.is_empty());
    table.insert(Node::new(1, 1, 1));
    table.take(1, 1);
    assert!(shown(&table, &position, 3).0.is_empty());
}
