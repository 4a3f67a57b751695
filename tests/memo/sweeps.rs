//! Results of inputs without death notices, such as `Arc`s: found while the memo only hits, or hardly misses.

use std::sync::Arc;

use weakly::Strong;

use crate::asked::Memo;
use crate::common::scaled;
use crate::tools::{Count, Doomed, Pointer, objects};

const DEAD: usize = scaled(10_000, 60);
/// As many changes as a sweep over so many results takes, and as many reads.
const ROUND: usize = DEAD / 4 + 2;
const READS: usize = 32 * ROUND;

/// A memo with a result for each of many inputs, of which only the last is alive.
fn dying<P: Pointer>() -> (Memo<P, Doomed>, P, Count) {
    let (memo, destroyed) = (Memo::<P, Doomed>::new(), Count::default());
    let mut inputs = objects::<P>(DEAD + 1);
    for input in &inputs {
        memo.get_or_compute(input, |_| destroyed.doomed());
    }
    let left = inputs.pop().unwrap();
    (memo, left, destroyed)
}

/// 187: Hits alone, of both kinds.
#[test]
fn hits_find_dead_results() {
    for asks in [false, true] {
        let (memo, left, destroyed) = dying::<Arc<usize>>();
        for _ in 0..READS {
            if asks {
                memo.get_or_compute(&left, |_| unreachable!("it is present"));
            } else {
                assert!(memo.get(&left).is_some());
            }
        }
        assert_eq!((memo.len(), destroyed.get()), (1, DEAD));
    }
}

/// 187: Of several inputs one that notifies and one that does not; or one of them as a dependency.
#[test]
fn one_input_without_notices_is_enough() {
    let notifying = Strong::new(0);
    let (memo, destroyed) = (
        Memo::<(Strong<usize>, Arc<usize>), _>::new(),
        Count::default(),
    );
    let mut silent = objects::<Arc<usize>>(DEAD + 1);
    for silent in &silent {
        memo.get_or_compute((&notifying, silent), |_| destroyed.doomed());
    }
    let left = silent.pop().unwrap();
    drop(silent);
    for _ in 0..READS {
        assert!(memo.get((&notifying, &left)).is_some());
    }
    assert_eq!((memo.len(), destroyed.get()), (1, DEAD));

    let (memo, destroyed) = (Memo::<Strong<usize>, Doomed>::new(), Count::default());
    let inputs = objects::<Strong<usize>>(DEAD + 1);
    let besides = objects::<Arc<usize>>(DEAD + 1);
    for (input, besides) in inputs.iter().zip(&besides) {
        memo.get_or_compute(input, |cx| {
            cx.depends_on(besides);
            destroyed.doomed()
        });
    }
    let _left = besides.last().cloned();
    drop(besides);
    for _ in 0..READS {
        assert!(memo.get(&inputs[DEAD]).is_some());
    }
    assert_eq!((memo.len(), destroyed.get()), (1, DEAD));
}
