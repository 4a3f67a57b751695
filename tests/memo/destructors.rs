//! Destructors of results that use the memo which destroys them, and such as panic.

use std::sync::{Arc, Barrier, Mutex, OnceLock, Weak, mpsc};
use std::thread;
use std::time::Duration;

use weakly::{Memo, Reclaim, Strong};

use crate::common::{panics, quiet_panic};
use crate::tools::{Count, Witness};

type Shared<V> = Arc<Memo<Strong<usize>, V>>;

/// A result whose first clone, which is the memo's, does something in its end.
#[derive(Default)]
struct Kept(Mutex<Option<Witness>>);

impl Kept {
    fn new(end: Witness) -> Self {
        Kept(Mutex::new(Some(end)))
    }
}

impl Clone for Kept {
    fn clone(&self) -> Self {
        Kept(Mutex::new(self.0.lock().unwrap().take()))
    }
}

/// A memo of one result, kept in it alone, that depends on an `Arc` (so that its death has to be asked
/// for), and does this in its end.
fn holding(
    input: &Strong<usize>,
    end: impl FnOnce(&Memo<Strong<usize>, Witness>, &Strong<usize>) + Send + Sync + 'static,
) -> (Shared<Witness>, Arc<str>) {
    let memo = Shared::<Witness>::default();
    let dependency: Arc<str> = "dependency".into();
    let (weak, key) = (Arc::downgrade(&memo), input.clone());
    let result = memo.get_or_compute(input, |cx| {
        cx.depends_on(&dependency);
        Witness::new(move || {
            if let Some(memo) = Weak::upgrade(&weak) {
                end(&memo, &key);
            }
        })
    });
    drop(result);
    (memo, dependency)
}

/// 174: The result that goes since a new one is wanted asks for the same, which it does not need to be
/// made: no circle.
#[test]
fn a_stale_result_asks_for_its_own_key() {
    let input = Strong::new(1);
    let computed = Count::default();
    let (memo, dependency) = holding(&input, {
        let computed = computed.clone();
        move |memo, key| {
            drop(memo.get_or_compute(key, |_| {
                computed.add();
                Witness::idle()
            }))
        }
    });
    drop(dependency);
    assert!(memo.get(&input).is_none());
    drop(memo.get_or_compute(&input, |_| {
        computed.add();
        Witness::idle()
    }));
    assert_eq!((computed.get(), memo.len()), (1, 1));
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.invalidated, statistics.hits),
        (2, 1, 1)
    );
}

/// 175: It panics instead: who asked gets the panic, and who asks again an answer.
#[test]
fn a_stale_result_panics() {
    let input = Strong::new(1);
    let (memo, dependency) = holding(&input, |_, _| quiet_panic());
    drop(dependency);
    assert!(panics(|| {
        memo.get_or_compute(&input, |_| unreachable!("it has not come to that"));
    }));
    let statistics = memo.statistics();
    assert_eq!(
        (
            statistics.misses,
            statistics.invalidated,
            statistics.discarded
        ),
        (1, 1, 0)
    );
    drop(memo.get_or_compute(&input, |_| Witness::idle()));
    assert_eq!((memo.len(), memo.statistics().misses), (1, 2));
}

/// 174: The memo's copy of a result that is not kept, since something has died meanwhile, asks for the
/// same: the computation is over by then.
#[test]
fn a_result_that_is_not_kept_asks_for_its_own_key() {
    let (memo, input) = (Shared::<Kept>::default(), Strong::new(1));
    let again = Count::default();
    drop(memo.get_or_compute(&input, |cx| {
        let dependency = Strong::new(2);
        cx.depends_on(&dependency);
        let (memo, input, again) = (Arc::downgrade(&memo), input.clone(), again.clone());
        Kept::new(Witness::new(move || {
            let memo = memo.upgrade().expect("it is in use");
            drop(memo.get_or_compute(&input, |_| {
                again.add();
                Kept::default()
            }));
        }))
    }));
    assert_eq!((again.get(), memo.len()), (1, 1));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.invalidated), (2, 1));
}

/// A result whose clones, once it is armed, are made by all readers at the same time.
struct Slow {
    kept: Kept,
    inside: Arc<OnceLock<[Barrier; 2]>>,
}

impl Clone for Slow {
    fn clone(&self) -> Self {
        if let Some([come, go]) = self.inside.get() {
            come.wait();
            go.wait();
        }
        Slow {
            kept: self.kept.clone(),
            inside: Arc::clone(&self.inside),
        }
    }
}

/// 175: When very many threads are inside, what one removes is destroyed by the last of them who leaves. If its
/// destructor panics, that comes out there, and what the others do after that is as it ever was.
#[test]
fn a_destructor_panics_when_the_last_reader_leaves() {
    const READERS: usize = 20;
    let memo = Memo::<Strong<usize>, Slow>::new();
    let [read, removed, wanted] = [1, 2, 3].map(Strong::new);
    let slow = |kept| {
        let inside = Arc::default();
        Slow { kept, inside }
    };
    let end = Count::default();
    let inside = memo.get_or_compute(&read, |_| slow(Kept::default())).inside;
    drop(memo.get_or_compute(&removed, |_| {
        let end = end.clone();
        slow(Kept::new(Witness::new(move || {
            end.add();
            quiet_panic()
        })))
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
        assert!(memo.remove(&removed));
        assert_eq!(end.get(), 0, "they are inside");
        go.wait();
    });
    assert_eq!((end.get(), panicked.get()), (1, 1));
    thread::scope(|scope| {
        let mut waiter = None;
        let failed = memo.try_get_or_compute(&wanted, |_| {
            waiter = Some(scope.spawn(|| memo.get_or_compute(&wanted, |_| slow(Kept::default()))));
            // (Perhaps it waits for us by now: it goes on in any case.)
            thread::yield_now();
            Err(())
        });
        assert!(failed.is_err());
        assert!(waiter.is_some_and(|waiter| waiter.join().is_ok()));
    });
    assert_eq!((end.get(), memo.len()), (1, 2));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.discarded), (4, 2));
}

/// 185: Results of dead inputs stay until they are asked for, also those that are met by who wants a new
/// one; the statistics say what they say otherwise.
#[test]
fn results_of_the_dead_are_kept_on_request() {
    let (memo, destroyed) = (Memo::<Strong<usize>, Kept>::new(), Count::default());
    assert_eq!(memo.reclaim(), Reclaim::OnUse);
    memo.set_reclaim(Reclaim::OnRequest);
    assert_eq!(memo.reclaim(), Reclaim::OnRequest);
    for input in 0..100 {
        let input = Strong::new(input);
        memo.get_or_compute(&input, |_| Kept::new(destroyed.witness()));
    }
    let input = Strong::new(0);
    for _ in 0..3 {
        let dependency: Arc<str> = "asked for its death".into();
        memo.get_or_compute(&input, |cx| {
            cx.depends_on(&dependency);
            Kept::new(destroyed.witness())
        });
    }
    assert_eq!(destroyed.get(), 0);
    let last = memo.statistics();
    assert_eq!(
        (last.misses, last.discarded, memo.len()),
        (103, 0, 103 - last.invalidated)
    );
    memo.purge();
    assert_eq!(
        (destroyed.get(), memo.len(), memo.pending_dead()),
        (103, 0, 0)
    );
    assert_eq!(memo.statistics().invalidated, 103);

    memo.get_or_compute(&input, |_| Kept::new(destroyed.witness()));
    assert!(memo.remove(&input));
    assert_eq!(destroyed.get(), 104, "it was not a dead one's");
    memo.get_or_compute(&input, |_| Kept::new(destroyed.witness()));
    drop(input);
    memo.clear();
    assert_eq!(destroyed.get(), 105);
}

/// 174: A result that was removed while it was made is destroyed when its making is over, and holds nothing up: not
/// a purge by another thread, for which the destructor waits.
#[test]
fn a_removed_result_is_destroyed_when_nothing_is_held() {
    let memo = Shared::<Kept>::default();
    let (input, dependency) = (Strong::new(1), Strong::new(2));
    let (purged, was_purged) = mpsc::channel();
    let result = memo.get_or_compute(&input, |cx| {
        cx.depends_on(&dependency);
        memo.remove(&input);
        let memo = Arc::clone(&memo);
        Kept::new(Witness::new(move || {
            let (done, is_done) = mpsc::channel();
            thread::spawn(move || {
                memo.purge();
                done.send(()).unwrap();
            });
            _ = purged.send(is_done.recv_timeout(Duration::from_secs(5)));
        }))
    });
    drop(result);
    assert_eq!(was_purged.recv(), Ok(Ok(())), "the purge goes on");
}
