//! What a result depends on besides its inputs: it is never returned after one of them has died.

use std::sync::Arc;
use std::sync::mpsc::channel;
use std::thread;

use weakly::Strong;
use weakly::concurrent::SharedKey;

use crate::asked::Memo;
use crate::common::scaled;
use crate::for_each_pointer;
use crate::tools::{Count, Pointer};

for_each_pointer!(
    a_dependency_ends_the_result,
    a_dependency_dies_at_the_publication,
);

/// The keys notify, so that only the dependency may not.
type Memos<V> = Memo<Strong<usize>, V>;

/// 172: At its death, and not before; then the result is computed anew.
fn a_dependency_ends_the_result<P: Pointer>() {
    let (memo, results) = (Memos::new(), Count::default());
    let (input, dependency) = (Strong::new(1), P::from(2));
    let weak = P::downgrade(&dependency);
    drop(memo.get_or_compute(&input, |cx| {
        cx.depends_on(&dependency);
        results.doomed()
    }));
    assert!(memo.get(&input).is_some());
    drop(dependency);
    assert!(
        weakly::reference::WeakRef::upgrade(&weak).is_none(),
        "it is not kept alive"
    );
    assert!(memo.get(&input).is_none(), "at once");
    assert!(memo.remove(&input).is_none(), "there is none");
    drop(memo.get_or_compute(&input, |_| results.doomed()));
    assert_eq!((results.get(), memo.len()), (1, 1));
    let statistics = memo.statistics();
    assert_eq!((statistics.hits, statistics.misses), (0, 2));
    assert_eq!((statistics.invalidated, statistics.live), (1, 1));
}

/// The numbers `0..n`, each as often as so many rounds, in an order that changes.
fn in_turns(n: usize, rounds: usize) -> impl Iterator<Item = usize> {
    (0..rounds).flat_map(move |round| (0..n).map(move |at| (at * 7 + round * 3) % n))
}

/// 172: However often an object is declared, and with however many others, it has one registration.
fn is_registered_once<P: SharedKey + From<usize> + 'static>(weak_count: fn(&P) -> usize) {
    let memo = Memos::<usize>::new();
    let input = Strong::new(1);
    for distinct in [1, 2, 5, 16, 17, 18, 33, 100, scaled(3_000, 200)] {
        // Seven divides none of them.
        let objects: Vec<_> = (0..distinct).map(P::from).collect();
        memo.get_or_compute(&input, |cx| {
            in_turns(distinct, 4).for_each(|at| cx.depends_on(&objects[at]));
            assert_eq!(
                format!("{cx:?}"),
                format!("Computation {{ dependencies: {distinct} }}")
            );
            1
        });
        assert!(objects.iter().all(|object| weak_count(object) == 1));
        for at in [0, distinct / 2, distinct - 1] {
            assert!(memo.get(&input).is_some());
            assert_eq!(memo.invalidate(&objects[at]), 1);
            memo.get_or_compute(&input, |cx| {
                in_turns(distinct, 2).for_each(|at| cx.depends_on(&objects[at]));
                1
            });
        }
        drop(objects);
        assert!(memo.get(&input).is_none());
        memo.purge();
    }
}

/// 172
#[test]
fn an_object_is_registered_once() {
    is_registered_once::<Strong<usize>>(Strong::weak_count);
    is_registered_once::<Arc<usize>>(Arc::weak_count);
}

/// 172: Another thread drops a dependency, between the middle of the computation and some time after it. Once it
/// is known to be dead, no caller gets the result, and the result is dropped.
fn a_dependency_dies_at_the_publication<P: Pointer>() {
    let (memo, input) = (Memos::<usize>::new(), Strong::new(1));
    let (hand, other) = channel::<(P, usize)>();
    let (done, dead) = channel();
    let rounds = scaled(5_000, 20);
    thread::scope(|scope| {
        scope.spawn(|| {
            for (dependency, delay) in other {
                for _ in 0..delay {
                    std::hint::spin_loop();
                }
                drop(dependency);
                // Its notice may be drained before the entry exists.
                memo.purge();
                done.send(()).unwrap();
            }
        });
        for round in 0..rounds {
            let result = memo.get_or_compute(&input, |cx| {
                let dependency = P::from(2);
                cx.depends_on(&dependency);
                hand.send((dependency, round % 97 * 8)).unwrap();
                round
            });
            assert_eq!(result, round);
            dead.recv().unwrap();
            assert_eq!(memo.get(&input), None, "round {round}");
        }
        drop(hand);
    });
    memo.purge();
    assert_eq!((memo.len(), memo.pending_dead()), (0, 0));
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.invalidated),
        (rounds as u64, rounds as u64)
    );
}
