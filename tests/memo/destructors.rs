//! Destructors of results that use the memo that drops them, and destructors that panic.

use std::sync::{Arc, Barrier, OnceLock, Weak, mpsc};
use std::thread;

use weakly::{Reclaim, Strong};

use crate::asked::Memo;
use crate::common::{panics, quiet_panic, watchdog::watched};
use crate::tools::{Count, Doomed};

type Shared = Arc<Memo<Strong<usize>, Doomed>>;

/// A memo with one result, stored only there, that depends on an `Arc` (so that its death must be polled), and
/// runs an action when it is dropped.
fn memo_with(
    input: &Strong<usize>,
    end: impl FnOnce(&Memo<Strong<usize>, Doomed>, &Strong<usize>) + Send + Sync + 'static,
) -> (Shared, Arc<str>) {
    let memo = Shared::default();
    let dependency: Arc<str> = "dependency".into();
    let (weak, key) = (Arc::downgrade(&memo), input.clone());
    let result = memo.get_or_compute(input, |cx| {
        cx.depends_on(&dependency);
        Doomed::new(move || {
            if let Some(memo) = Weak::upgrade(&weak) {
                end(&memo, &key);
            }
        })
    });
    drop(result);
    (memo, dependency)
}

/// 174: A stale result, which is dropped because a new one is needed, asks for the same key. The new computation
/// does not depend on that: no cycle.
#[test]
fn a_stale_result_asks_for_its_own_key() {
    let input = Strong::new(1);
    let computed = Count::default();
    let (memo, dependency) = memo_with(&input, {
        let computed = computed.clone();
        move |memo, key| {
            drop(memo.get_or_compute(key, |_| {
                computed.add();
                Doomed::default()
            }))
        }
    });
    drop(dependency);
    assert!(memo.get(&input).is_none());
    drop(memo.get_or_compute(&input, |_| {
        computed.add();
        Doomed::default()
    }));
    assert_eq!((computed.get(), memo.len()), (1, 1));
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.invalidated, statistics.hits),
        (2, 1, 1)
    );
}

/// 175: It panics instead: the caller gets the panic, and the next caller a result.
#[test]
fn a_stale_result_panics() {
    let input = Strong::new(1);
    let (memo, dependency) = memo_with(&input, |_, _| quiet_panic());
    drop(dependency);
    assert!(panics(|| {
        memo.get_or_compute(&input, |_| unreachable!("the panic comes first"));
    }));
    let statistics = memo.statistics();
    assert_eq!(
        (
            statistics.misses,
            statistics.invalidated,
            statistics.failures
        ),
        (2, 1, 0)
    );
    drop(memo.get_or_compute(&input, |_| Doomed::default()));
    assert_eq!((memo.len(), memo.statistics().loads), (1, 2));
}

/// 174: The memo's copy of a result that is not stored, because a dependency has died meanwhile, asks for the
/// same key: the computation is over by then.
#[test]
fn a_result_that_is_not_kept_asks_for_its_own_key() {
    let (memo, input) = (Shared::default(), Strong::new(1));
    let again = Count::default();
    drop(memo.get_or_compute(&input, |cx| {
        let dependency = Strong::new(2);
        cx.depends_on(&dependency);
        let (memo, input, again) = (Arc::downgrade(&memo), input.clone(), again.clone());
        Doomed::new(move || {
            let memo = memo.upgrade().expect("the memo is in use");
            drop(memo.get_or_compute(&input, |_| {
                again.add();
                Doomed::default()
            }));
        })
        .of_the_memo()
    }));
    assert_eq!((again.get(), memo.len()), (1, 1));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.invalidated), (2, 1));
}

/// 175: While very many threads are inside, a purge leaves a removed result to the last of them that leaves. If its
/// destructor panics, the panic surfaces there, and later operations of the others are unaffected.
#[test]
fn a_destructor_panics_when_the_last_reader_leaves() {
    const READERS: usize = 20;
    let memo = Memo::<Strong<usize>, Doomed>::new();
    let [read, removed, wanted] = [1, 2, 3].map(Strong::new);
    // Once it is armed, the clones of a result are made by all readers at the same time.
    let inside = Arc::new(OnceLock::<[Barrier; 2]>::new());
    let armed = Arc::clone(&inside);
    let slow = Doomed::default().cloning(move || {
        if let Some([come, go]) = armed.get() {
            come.wait();
            go.wait();
        }
    });
    let end = Count::default();
    drop(memo.get_or_compute(&read, |_| slow));
    drop(memo.get_or_compute(&removed, |_| {
        let end = end.clone();
        Doomed::new(move || {
            end.add();
            quiet_panic()
        })
    }));
    let barriers = [(); 2].map(|()| Barrier::new(READERS + 1));
    let [come, go] = inside.get_or_init(|| barriers);
    let panicked = Count::default();
    thread::scope(|scope| {
        for _ in 0..READERS {
            scope.spawn(|| {
                if panics(|| drop(memo.get(&read))) {
                    panicked.add();
                }
            });
        }
        come.wait();
        assert!(memo.remove(&removed).is_some());
        memo.purge();
        assert_eq!(end.get(), 0, "they have pinned it");
        go.wait();
    });
    assert_eq!((end.get(), panicked.get()), (1, 1));
    thread::scope(|scope| {
        let mut waiter = None;
        let failed = memo.try_get_or_compute(&wanted, |_| {
            waiter = Some(scope.spawn(|| memo.get_or_compute(&wanted, |_| Doomed::default())));
            // (Perhaps it waits for this thread by now: it continues in any case.)
            thread::yield_now();
            Err(())
        });
        assert!(failed.is_err());
        assert!(waiter.is_some_and(|waiter| waiter.join().is_ok()));
    });
    assert_eq!((end.get(), memo.len()), (1, 2));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.failures), (4, 1));
    assert_eq!(statistics.invalidated, 1);
}

/// 185: Results of dead inputs stay until they are requested, also those found by a caller that needs a new one;
/// the statistics are the same as without.
#[test]
fn results_of_the_dead_are_kept_on_request() {
    let (memo, destroyed) = (Memo::<Strong<usize>, Doomed>::new(), Count::default());
    assert_eq!(memo.reclaim(), Reclaim::OnUse);
    memo.set_reclaim(Reclaim::OnRequest);
    assert_eq!(memo.reclaim(), Reclaim::OnRequest);
    for input in 0..100 {
        let input = Strong::new(input);
        memo.get_or_compute(&input, |_| destroyed.doomed());
    }
    let input = Strong::new(0);
    for _ in 0..3 {
        let dependency: Arc<str> = "polled for its death".into();
        memo.get_or_compute(&input, |cx| {
            cx.depends_on(&dependency);
            destroyed.doomed()
        });
    }
    assert_eq!(destroyed.get(), 0);
    let last = memo.statistics();
    assert_eq!(
        (last.misses, last.failures, last.live),
        (103, 0, 103 - last.invalidated)
    );
    memo.purge();
    assert_eq!(
        (destroyed.get(), memo.len(), memo.pending_dead()),
        (103, 0, 0)
    );
    assert_eq!(memo.statistics().invalidated, 103);

    memo.get_or_compute(&input, |_| destroyed.doomed());
    assert!(memo.remove(&input).is_some());
    assert_eq!(destroyed.get(), 104, "it was not a dead one's");
    memo.get_or_compute(&input, |_| destroyed.doomed());
    drop(input);
    memo.clear();
    assert_eq!(destroyed.get(), 105);
}

/// 174: A result that was removed during its computation is dropped when the computation is over, and blocks
/// nothing: not a purge by another thread, for which the destructor waits.
#[test]
fn a_removed_result_is_dropped_without_any_lock() {
    let _watched = watched("a removed result");
    let memo = Shared::default();
    let (input, dependency) = (Strong::new(1), Strong::new(2));
    let (purged, was_purged) = mpsc::channel();
    let result = memo.get_or_compute(&input, |cx| {
        cx.depends_on(&dependency);
        memo.remove(&input);
        let memo = Arc::clone(&memo);
        Doomed::new(move || {
            let (done, is_done) = mpsc::channel();
            thread::spawn(move || {
                memo.purge();
                done.send(()).unwrap();
            });
            _ = purged.send(is_done.recv());
        })
        .of_the_memo()
    });
    drop(result);
    assert_eq!(was_purged.recv(), Ok(Ok(())), "the purge goes on");
}
