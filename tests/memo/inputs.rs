//! Results are computed once for each live tuple of inputs, which they do not keep alive.

use weakly::memo::Many;

use crate::asked::{Memo, Parts};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer};

for_each_pointer!(
    it_is_computed_once,
    the_input_is_not_kept,
    each_input_of_a_key_ends_it,
    a_result_that_owns_its_input_keeps_it,
);

/// 172, 433: And again after it, or all results, have been removed.
fn it_is_computed_once<P: Pointer>() {
    let (memo, [one, other]) = (Memo::<P, usize>::new(), [1, 2].map(P::from));
    let computed = Count::default();
    let ask = |input: &P| {
        memo.get_or_compute(input, |_| {
            computed.add();
            **input * 10
        })
    };
    assert_eq!(memo.get(&one), None);
    assert_eq!([ask(&one), ask(&one.clone()), ask(&other)], [10, 10, 20]);
    assert_eq!((computed.get(), memo.len()), (2, 2));
    assert_eq!(memo.get(&one), Some(10));
    assert_eq!((memo.remove(&one), memo.remove(&one)), (Some(10), None));
    assert_eq!((memo.get(&one), memo.get(&other)), (None, Some(20)));
    assert_eq!((ask(&one), computed.get()), (10, 3));
    memo.clear();
    assert!(memo.is_empty());
    assert_eq!([ask(&one), ask(&other)], [10, 20]);
    assert_eq!(computed.get(), 5);
}

/// 172: The result is dropped with its input: by the next change at the latest, by a purge at once.
fn the_input_is_not_kept<P: Pointer>() {
    let (memo, results) = (Memo::<P, _>::new(), Count::default());
    let input = P::from(1);
    let weak = P::downgrade(&input);
    drop(memo.get_or_compute(&input, |_| results.doomed()));
    drop(input);
    assert!(weakly::reference::WeakRef::upgrade(&weak).is_none());
    assert_eq!(results.get(), 0);
    assert_eq!(memo.pending_dead(), usize::from(P::NOTIFIES));
    memo.purge();
    assert_eq!((results.get(), memo.len(), memo.pending_dead()), (1, 0, 0));

    let input = P::from(2);
    drop(memo.get_or_compute(&input, |_| results.doomed()));
    drop(input);
    let other = P::from(3);
    drop(memo.get_or_compute(&other, |_| results.doomed()));
    if P::NOTIFIES {
        assert_eq!((results.get(), memo.len()), (2, 1), "by the next change");
    }
}

/// For each position in a key of this type, an action that kills the object there.
macro_rules! places {
    ($count:literal, $P:ident, $Key:ty, $inputs:pat => $key:expr) => {
        macro_rules! of {
            ($from:ident) => {{
                let $inputs = &$from;
                $key
            }};
        }
        for place in 0..$count {
            let (memo, results) = (Memo::<$Key, _>::new(), Count::default());
            let mut inputs: [$P; $count] = std::array::from_fn($P::from);
            let spare: [$P; $count] = std::array::from_fn($P::from);
            for _ in 0..2 {
                drop(memo.get_or_compute(of!(inputs), |_| results.doomed()));
            }
            drop(memo.get_or_compute(of!(spare), |_| results.doomed()));
            let of_both = [memo.get(of!(inputs)), memo.get(of!(spare))];
            assert!(of_both.iter().all(Option::is_some) && memo.len() == 2);
            drop(of_both);
            assert_eq!(memo.statistics().misses, 2);
            inputs[place] = spare[place].clone();
            assert_eq!(memo.get(of!(inputs)).is_some(), $count == 1, "another key");
            memo.purge();
            assert_eq!((results.get(), memo.len()), (1, 1), "at its first death");
            drop(inputs);
            memo.purge();
            assert_eq!((results.get(), memo.len()), (1, 1), "the others' are late");
            drop(spare);
            memo.purge();
            assert_eq!((results.get(), memo.len(), memo.pending_dead()), (2, 0, 0));
            let statistics = memo.statistics();
            assert_eq!((statistics.invalidated, statistics.failures), (2, 0));
        }
    };
}

/// 172: Whichever it is, of one to four, also beside plain values and in a list.
fn each_input_of_a_key_ends_it<P: Pointer>() {
    places!(1, P, P, [a] => a);
    places!(4, P, (P, P, P, P), [a, b, c, d] => (a, b, c, d));
    places!(3, P, Many<P>, all => &all[..]);
    places!(3, P, Parts<P>, [ab @ .., c] => (&ab[..], "text", c, &7));
}

/// 173: As documented: until it is removed, or the memo is dropped.
fn a_result_that_owns_its_input_keeps_it<P: Pointer>() {
    let memo = Memo::<P, Doomed>::new();
    let [one, other] = [1, 2].map(P::from);
    let weak = [&one, &other].map(P::downgrade);
    let lives = |at: usize| weakly::reference::WeakRef::upgrade(&weak[at]).is_some();
    for input in [&one, &other] {
        let its = input.clone();
        drop(memo.get_or_compute(input, |_| Doomed::new(|| drop(its))));
    }
    drop(other);
    memo.purge();
    assert!(lives(0) && lives(1) && memo.len() == 2);
    assert!(memo.remove(&one).is_some());
    drop(one);
    assert!(!lives(0) && lives(1));
    drop(memo);
    assert!(!lives(1));
}
