//! Destructors of results that use the memo that drops them, and destructors that panic.

use std::sync::{Arc, Weak, mpsc};
use std::thread;

use weakly::Strong;

use crate::asked::Memo;
use crate::common::watchdog::watched;
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
