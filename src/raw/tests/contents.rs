//! The contents of a table, with one thread.

use core::cell::Cell;
use std::collections::HashMap;
use std::collections::HashSet;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::vec::Vec;

use super::super::array::{Array, by_hashes};
use super::*;

/// Runs random operations, and compares the table with the map of the standard library.
fn model(hash: impl Fn(u64) -> u64, keys: u64, steps: usize) {
    let table = RawTable::<Node>::new();
    let mut truth = HashMap::new();
    let mut random = Random(1);
    for step in 0..steps as u64 {
        let key = random.below(keys);
        let hash = hash(key);
        if random.below(200) == 0 {
            table.write().shrink_to_fit();
        }
        match random.below(8) {
            0..=2 => assert_eq!(
                table.insert(Node::new(hash, key, step)),
                truth.insert(key, step)
            ),
            3..=4 => assert_eq!(table.take(hash, key), truth.remove(&key)),
            // Only if the key is there, or only if the key is not there.
            5 => {
                let wanted = random.below(2) == 0;
                let expected = |old: Option<&Node>| old.is_some() == wanted;
                let writer = table.write();
                let mut node = table.entry(|| *Node::new(hash, key, step));
                let put = writer.put(&mut node, |a, b| a.key == b.key, expected);
                assert_eq!(
                    matches!(put, Put::Refused),
                    truth.contains_key(&key) != wanted
                );
                if !matches!(put, Put::Refused) {
                    truth.insert(key, step);
                }
            }
            _ => assert_eq!(table.value(hash, key), truth.get(&key).copied()),
        }
        assert_eq!(table.len(), truth.len());
        if step % 64 == 0 {
            let reader = table.read();
            let mut seen = HashMap::new();
            let mut hashes = HashSet::new();
            for part in by_hashes(&reader.entries()) {
                let of_part: HashSet<_> = part.iter().map(|node| node.hash).collect();
                assert!(hashes.is_disjoint(&of_part), "a hash is in two parts");
                hashes.extend(of_part);
                for node in part {
                    assert!(seen.insert(node.key, node.value).is_none());
                }
            }
            assert_eq!(seen, truth);
        }
    }
    assert!(truth.len() > 1, "the model has to hold something");
}

/// Hashes alternate in one bucket.
#[test]
fn all_entries_of_a_hash_are_in_one_part() {
    let table = RawTable::<Node>::new();
    for key in 0..12 {
        table.insert(Node::new(if key % 2 == 0 { 1 } else { 5 }, key, key));
    }
    let reader = table.read();
    let all = reader.entries();
    let parts = by_hashes(&all).filter(|part| part.iter().any(|node| node.hash == 1));
    assert!(
        parts.map(<[_]>::len).eq([12]),
        "they are in one bucket of four"
    );
}

const STEPS: usize = if cfg!(miri) { 60 } else { 10_000 };

#[test]
fn as_a_map() {
    model(spread, 300, STEPS);
}

#[test]
fn as_a_map_that_grows() {
    model(spread, STEPS as u64, STEPS);
}

/// One chain, and all tags the same.
#[test]
fn as_a_map_of_equal_hashes() {
    model(|_| 7, 40, STEPS / 4);
}

/// Few buckets and different tags, and the reverse.
#[test]
fn as_a_map_of_poor_hashes() {
    model(|key| key << 56, 60, STEPS / 4);
    model(|key| key, 60, STEPS / 4);
}

/// Thousands of equal hashes are found, one by one, and the array does not grow on and on because
/// of them.
#[test]
fn thousands_of_equal_hashes() {
    let many = if cfg!(miri) { 40 } else { 2000 };
    let table = RawTable::<Node>::new();
    for key in 0..many {
        assert_eq!(table.insert(Node::new(42, key, key)), None);
    }
    assert_eq!(table.len(), many as usize);
    for key in 0..many {
        assert_eq!(table.value(42, key), Some(key));
        assert_eq!(table.value(43, key), None);
    }
    for key in 0..many {
        assert_eq!(table.take(42, key), Some(key));
    }
    assert_eq!(table.len(), 0);
}

/// An operation that finds thousands of entries of one hash dead looks at each of them once.
#[test]
fn thousands_of_dead_entries_of_one_hash() {
    for many in if cfg!(miri) { [20, 40] } else { [500, 4_000] } {
        let table = RawTable::<Node>::new();
        (0..many).for_each(|key| _ = table.insert(Node::new(42, key, key)));
        let (reader, writer) = (table.read(), table.write());
        let dead = |_: &Node| Match::Dead;
        let operations: [&dyn Fn() -> bool; 3] = [
            &|| reader.find(42, dead).is_some(),
            &|| writer.get(42, dead).is_some(),
            &|| writer.remove_if(42, dead, |_| true).is_some(),
        ];
        for operation in operations {
            LOOKS.set(0);
            assert!(!operation());
            assert_eq!(LOOKS.get(), many as usize);
        }
    }
}

/// A removal from all buckets of a table, which may be growing, removes each unwanted entry once.
#[test]
fn unwanted_entries_are_removed_everywhere() {
    let spread_out: fn(u64) -> u64 = spread;
    for hash in [spread_out, |_| 7] {
        for many in [0, 1, 30, if cfg!(miri) { 40 } else { 1_000 }] {
            let table = RawTable::<Node>::new();
            (0..many).for_each(|key| _ = table.insert(Node::new(hash(key), key, key)));
            let mut removed = Vec::new();
            let odd = |node: &Node| node.key % 2 == 1;
            table
                .write()
                .remove_everywhere(true, odd, |node| removed.push(node.key));
            removed.sort_unstable();
            assert_eq!(removed, (1..many).step_by(2).collect::<Vec<_>>());
            for key in 0..many {
                let left = (key % 2 == 0).then_some(key);
                assert_eq!(table.value(hash(key), key), left);
            }
            assert_eq!(table.len(), many.div_ceil(2) as usize);
        }
    }
}

/// A removal asks each entry once, also if the question inserts an entry, and replaces one.
#[test]
fn a_removal_ends_though_its_question_inserts() {
    let table = RawTable::<Node>::new();
    (0..5).for_each(|key| _ = table.insert(Node::new(7, key, key)));
    let asked = Cell::new(0);
    table.write().remove_all(
        7,
        false,
        |node| {
            asked.set(asked.get() + 1);
            assert!(asked.get() < 100, "it does not end");
            table.insert(Node::new(7, 1_000 + asked.get(), 0));
            table.insert(Node::new(7, 1, asked.get()));
            node.key < 5
        },
        |_| {},
    );
    assert_eq!(asked.get(), 5);
    assert_eq!(table.len(), 6);
}

/// Comparisons see only entries with the same hash.
#[test]
fn comparisons_see_equal_hashes_only() {
    let table = RawTable::<Node>::new();
    table.allocate_for(10);
    // One bucket, and more hashes than tags.
    let keys = 0..if cfg!(miri) { 30 } else { 300 };
    for key in keys.clone() {
        table.insert(Node::new(key << 20, key, key));
    }
    let asked = Cell::new(0);
    let is = |key| {
        let asked = &asked;
        move |node: &Node| {
            asked.set(asked.get() + 1);
            node.key == key
        }
    };
    for key in keys.rev() {
        let found = table.read().get(key << 20, is(key)).map(|node| node.value);
        assert_eq!((found, asked.take()), (Some(key), 1));
        let writer = table.write();
        assert!(writer.remove_if(key << 20, is(key), |_| true).is_some());
        assert_eq!(asked.take(), 1);
    }
}

/// A comparison that panics leaves the table as it was, and the new entry is destroyed.
#[test]
fn comparisons_that_panic() {
    let table = RawTable::<Node>::new();
    table.insert(Node::new(1, 1, 10));
    let ends = Arc::default();
    let put = catch_unwind(AssertUnwindSafe(|| {
        let writer = table.write();
        writer.put(
            &mut table.entry(|| *Node::counted(1, 2, &ends)),
            |_, _| resume_unwind(Box::new("a comparison")),
            |_| true,
        );
    }));
    assert!(put.is_err());
    assert_eq!(ends.load(Relaxed), 1);
    let condition = catch_unwind(AssertUnwindSafe(|| {
        let writer = table.write();
        writer.remove_if(1, |_| true, |_| resume_unwind(Box::new("a condition")));
    }));
    assert!(condition.is_err());
    assert_eq!(table.len(), 1);
    assert_eq!(table.insert(Node::new(1, 1, 11)), Some(10));
    assert_eq!(table.take(1, 1), Some(11));
}

/// A comparison may change the table, even the same entry and the same bucket. Then the comparison
/// is called again.
#[test]
fn comparisons_that_change_the_table() {
    let table = RawTable::<Node>::new();
    table.insert(Node::new(1, 1, 10));
    let asked = Cell::new(0);
    let writer = table.write();
    let put = writer.put(
        &mut table.entry(|| *Node::new(1, 2, 20)),
        |node, there| {
            asked.set(asked.get() + 1);
            if asked.get() == 1 {
                // Another call inserts the same key.
                table.insert(Node::new(1, 2, 19));
                // The call also inserts so many other keys that the array grows.
                for key in 3..100 {
                    table.insert(Node::new(key << 40 | 1, key, key));
                }
            }
            node.key == there.key
        },
        |_| true,
    );
    match put {
        Put::Replaced { old, new } => assert_eq!((old.value, new.value), (19, 20)),
        _ => panic!("the other one was not seen"),
    }
    assert_eq!(table.len(), 99);
    // The condition removes the entry and inserts another with the same key.
    let asked = Cell::new(0);
    let removed = writer.remove_if(
        1,
        |node| node.key == 1,
        |node| {
            asked.set(asked.get() + 1);
            if asked.get() == 1 {
                assert_eq!(table.take(1, 1), Some(10));
                table.insert(Node::new(1, 1, 12));
            }
            node.value > 0
        },
    );
    assert_eq!(removed.map(|node| node.value), Some(12));
    assert_eq!(asked.get(), 2);
}

/// Halfway through the growth of a table, each entry is found once.
#[test]
fn entries_while_it_grows() {
    let many = if cfg!(miri) { 70 } else { 3000 };
    let table = RawTable::<Node>::new();
    for key in 0..many {
        table.insert(Node::new(spread(key), key, key));
        if key % 7 == 0 {
            let reader = table.read();
            let seen: HashSet<_> = reader.entries().iter().map(|node| node.key).collect();
            assert_eq!(seen.len() as u64, key + 1);
            assert_eq!(reader.entries().len() as u64, key + 1);
        }
    }
}

/// An entry lasts as long as the guard that returned it, even if the entry is unlinked and its
/// array is replaced.
#[test]
fn what_is_shown_lasts() {
    let many = if cfg!(miri) { 50 } else { 1000 };
    let table = RawTable::<Node>::new();
    table.insert(Node::new(5, 5, 55));
    let reader = table.read();
    let shown = reader.get(5, |_| true).expect("it is there");
    table.take(5, 5);
    for key in 0..many {
        table.insert(Node::new(spread(key), key, key));
    }
    assert_eq!(shown.value, 55);
    let all = reader.entries();
    for key in 0..many {
        table.take(spread(key), key);
    }
    assert_eq!(all.len(), many as usize);
    assert_eq!(
        all.iter().map(|node| node.key).sum::<u64>(),
        (0..many).sum::<u64>()
    );
}

/// An array that is too long becomes as short as a new array would be. All entries stay.
#[test]
fn shrinks() {
    let table = RawTable::<Node>::new();
    let many = if cfg!(miri) { 80 } else { 5_000 };
    for key in 0..many {
        table.insert(Node::new(spread(key), key, key));
    }
    let len = || {
        let writer = table.write();
        writer.table.array(&writer.inside).map_or(0, Array::len)
    };
    let full = len();
    table.write().shrink_to_fit();
    assert_eq!(len(), full, "it is not too long");
    for key in 10..many {
        assert_eq!(table.take(spread(key), key), Some(key));
    }
    assert_eq!(len(), full);
    table.write().shrink_to_fit();
    assert_eq!(len(), Array::<Node>::len_for(10));
    assert_eq!(
        (0..10)
            .map(|key| table.value(spread(key), key))
            .collect::<Vec<_>>(),
        (0..10).map(Some).collect::<Vec<_>>()
    );
    assert_eq!((table.len(), table.read().entries().len()), (10, 10));
    for key in 10..many {
        table.insert(Node::new(spread(key), key, key));
    }
    assert_eq!(
        (table.len(), table.value(spread(many - 1), many - 1)),
        (many as usize, Some(many - 1))
    );
}

/// Marks are not counted as entries, but take room as entries do: the array grows for marks, and
/// stays long enough for them.
#[test]
fn grows_for_marks() {
    let table = RawTable::<Node>::new();
    let many = if cfg!(miri) { 80 } else { 5_000 };
    let is_long = || {
        let writer = table.write();
        let len = writer.table.array(&writer.inside).map_or(0, Array::len);
        2 * len >= Array::<Node>::len_for(many as usize)
    };
    for key in 0..many {
        table.insert(Node::mark(spread(key), key));
    }
    table.write().shrink_to_fit();
    assert_eq!((table.len(), is_long()), (0, true));
    for key in 0..many {
        table.insert(Node::new(spread(key), key, key));
    }
    table.write().shrink_to_fit();
    assert_eq!((table.len(), is_long()), (many as usize, true));
    for key in 0..many {
        table.insert(Node::mark(spread(key), key));
        assert_eq!(table.take(spread(key), key), Some(key));
    }
    table.write().shrink_to_fit();
    assert_eq!((table.len(), is_long()), (0, false));
}

/// During a scan, longer and shorter arrays replace the array many times. The scan visits each
/// entry once, and does not branch both ways at each growth.
#[test]
fn a_scan_while_arrays_grow_and_shrink() {
    let (rounds, others) = if cfg!(miri) { (2, 30) } else { (40, 100) };
    let table = RawTable::<Node>::new();
    for key in 0..12 {
        table.insert(Node::new(spread(key), key, key));
    }
    let writer = table.write();
    let first = writer.array().unwrap();
    for _ in 0..rounds {
        for key in 100..100 + others {
            table.insert(Node::new(spread(key), key, key));
        }
        for key in 100..100 + others {
            table.take(spread(key), key);
        }
        table.write().shrink_to_fit();
    }
    assert!(first.next().is_some_and(|next| next.next().is_some()));
    let mut shown = Vec::new();
    for index in 0..first.len() {
        first.each(index, &mut |node| {
            assert!(shown.len() < 100, "entries come again and again");
            // SAFETY: the entry is linked, and no thread changes the table.
            shown.push(unsafe { &*node }.key);
        });
    }
    shown.sort_unstable();
    assert!(shown.into_iter().eq(0..12));
}
