//! What a memo says of its keys.

use weakly::ByIdentity;
use weakly::memo::{Many, Value};
use weakly::reference::WeakRef;

use super::asked::Memo;
use super::tools::{Count, Doomed, Pointer, objects};
use crate::common::pointers::for_each_pointer;

for_each_pointer!(
    contains_key_is_no_hit,
    keys_are_those_of_live_results,
    retain_sees_each_once
);

/// 290: Whether there is a result, by each kind of key; neither a hit nor a miss, and no clone of the result.
fn contains_key_is_no_hit<P: Pointer>() {
    let [a, b] = [1, 2].map(P::from);
    let (memo, cloned) = (Memo::<(P, Value<String>), Doomed>::new(), Count::default());
    assert!(!memo.contains_key((&a, "x")));
    let counts = cloned.clone();
    memo.get_or_compute((&a, "x"), |_| {
        Doomed::default().cloning(move || _ = counts.add())
    });
    assert_eq!(cloned.get(), 1);
    assert!(memo.contains_key((&a, "x")) && !memo.contains_key((&a, "y")));
    assert!(!memo.contains_key((&b, Value(String::from("x")))));
    assert_eq!(cloned.get(), 1);
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (0, 1));

    /// Results that are no `Clone`.
    fn has<P: Pointer, V>(memo: &weakly::Memo<P, V>, key: &P) -> bool {
        memo.contains_key(key)
    }
    assert!(!has(&Memo::<P, usize>::new(), &a));
    let lists = Memo::<Many<P>, Doomed>::new();
    lists.insert(&[&a, &b], Doomed::default());
    assert!(lists.contains_key(&[&a, &b]) && !lists.contains_key(&[&b, &a]));

    let dependent = Memo::<P, usize>::new();
    dependent.get_or_compute(&a, |cx| {
        cx.depends_on(&b);
        1
    });
    assert!(dependent.contains_key(&a));
    drop(b);
    assert!(!dependent.contains_key(&a));
}

/// 290: The keys of what is there, weakly: none of a dead input, and none that is removed before its turn.
fn keys_are_those_of_live_results<P: Pointer>() {
    let memo = Memo::<(P, Value<usize>), usize>::new();
    assert_eq!(memo.keys().count(), 0);
    let mut all = objects::<P>(4);
    for (number, object) in all.iter().enumerate() {
        memo.get_or_compute((object, &number), |_| number);
    }
    let extra = P::from(9);
    memo.get_or_compute((&all[0], &7), |cx| {
        cx.depends_on(&extra);
        assert_eq!(memo.keys().count(), 4); // what is being computed is not there yet
        7
    });
    let keys = memo.keys();
    drop(extra);
    drop(all.pop());
    memo.remove((&all[1], &1));
    memo.insert((&all[1], &2), 3); // was not there
    let mut found: Vec<_> = keys
        .map(|(key, number)| (*key.upgrade().unwrap(), *number))
        .collect();
    found.sort();
    assert_eq!(found, [(0, 0), (2, 2)]);
    let mut found: Vec<_> = memo.keys().map(|(_, number)| *number).collect();
    found.sort();
    assert_eq!(found, [0, 2, 2]);
    let keys: Vec<_> = memo.keys().collect();
    drop(all);
    assert!(keys.iter().all(|(key, _)| key.is_expired()));
    assert_eq!(memo.keys().count(), 0);
}

/// 290: The closure sees each result once, with its key, and what it does not want goes.
fn retain_sees_each_once<P: Pointer>() {
    let memo = Memo::<(P, P), Doomed>::new();
    let all = objects::<P>(3);
    for one in &all {
        for other in &all {
            memo.insert((one, other), (10 * **one + **other).into());
        }
    }
    let mut seen = Vec::new();
    memo.retain(|(one, other), value| {
        let at = 10 * *one.upgrade().unwrap() + *other.upgrade().unwrap();
        assert_eq!(*value, at);
        seen.push(at);
        ByIdentity(one.clone()) == ByIdentity(other.clone())
    });
    seen.sort();
    assert_eq!(seen, [0, 1, 2, 10, 11, 12, 20, 21, 22]);
    assert_eq!(memo.len(), 3);
    assert!(memo.contains_key((&all[1], &all[1])) && !memo.contains_key((&all[1], &all[0])));
    assert_eq!(memo.statistics().invalidated, 6);
    // It may use the memo.
    memo.retain(|_, _| {
        memo.insert((&all[0], &all[1]), Doomed::default());
        memo.remove((&all[2], &all[2]));
        true
    });
    assert_eq!(memo.len(), 3);
    drop(all);
    memo.retain(|_, _| unreachable!("all are dead"));
    memo.purge();
    assert!(memo.is_empty());
}
