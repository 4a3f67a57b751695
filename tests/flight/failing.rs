//! Errors that callers share, races, and the statistics of tasks, threads, races and loads.

use std::future::{Future, pending};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::Poll;
use std::thread;
use std::time::Duration;

use weakly::Statistics;
use weakly::concurrent::WeakValueMap;
use weakly::{Memo, Strong};

use super::common::panics;
use super::tools::*;

/// What callers share: the same object.
type No = Arc<&'static str>;
type Numbers = Memo<Strong<usize>, usize>;
type Made = Pin<Box<dyn Future<Output = Result<usize, No>> + Send>>;

/// The ways to ask for one key, by which the same error is shared.
#[derive(Clone, Copy, PartialEq, Debug)]
enum Way {
    Memo,
    Map,
    SpawnedMemo,
    SpawnedMap,
}

const WAYS: [Way; 4] = [Way::Memo, Way::Map, Way::SpawnedMemo, Way::SpawnedMap];

/// A memo and a map, and how often their values are computed.
struct World {
    memo: &'static Numbers,
    map: &'static WeakValueMap<usize, Strong<usize>>,
    key: Strong<usize>,
    computed: AtomicUsize,
    event: Arc<Event>,
}

impl World {
    fn new() -> &'static Self {
        Box::leak(Box::new(World {
            memo: Box::leak(Box::default()),
            map: Box::leak(Box::default()),
            key: Strong::new(7),
            computed: AtomicUsize::new(0),
            event: Event::new(),
        }))
    }

    fn computed(&self) -> usize {
        self.computed.load(SeqCst)
    }

    async fn fails<V>(&'static self) -> Result<V, No> {
        self.computed.fetch_add(1, SeqCst);
        self.event.wait().await;
        Err(No::new("no"))
    }

    /// Asks, and fails if it has to compute.
    fn ask(&'static self, way: Way) -> Task<Made> {
        // The executor of the loads: each has a thread.
        let spawn = |load: Pin<Box<dyn Future<Output = ()> + Send>>| {
            _ = thread::spawn(|| block_on(load));
        };
        let (memo, map, key) = (self.memo, self.map, &self.key);
        Task::new(Box::pin(async move {
            match way {
                Way::Memo => {
                    let make = |_, _| self.fails();
                    memo.try_get_or_compute_shared_async(key, make).await
                }
                Way::SpawnedMemo => {
                    let make = |_, _| self.fails();
                    Memo::try_get_or_compute_shared_spawned(memo, key, make, spawn).await
                }
                Way::Map => {
                    let make = |_| self.fails();
                    let made = map.try_get_or_insert_shared_async(7, make).await;
                    made.map(|made| *made)
                }
                Way::SpawnedMap => {
                    let make = |_| self.fails();
                    let made =
                        WeakValueMap::try_get_or_insert_shared_spawned(map, 7, make, spawn).await;
                    made.map(|made| *made)
                }
            }
        }))
    }
}

/// The error of a task that goes on when it is woken.
fn error(mut task: Task<Made>) -> No {
    let polled = std::future::poll_fn(|context| task.poll_by(context));
    block_on(polled).expect_err("nobody makes it")
}

/// 473: 64 tasks ask, one computes, and all get its error: one object. The next begins anew.
#[test]
fn a_failure_is_computed_once() {
    for way in WAYS {
        let world = World::new();
        let mut tasks: Vec<_> = (0..64).map(|_| world.ask(way)).collect();
        assert!(tasks.iter_mut().all(|task| task.poll().is_pending()));
        world.event.happen();
        let errors: Vec<_> = tasks.into_iter().map(error).collect();
        assert!(errors.iter().all(|error| Arc::ptr_eq(error, &errors[0])));
        assert_eq!(world.computed(), 1, "{way:?}");
        world.event.happen();
        let next = error(world.ask(way));
        assert!(!Arc::ptr_eq(&next, &errors[0]));
        assert_eq!(world.computed(), 2, "{way:?}");
        let Statistics {
            hits,
            misses,
            loads,
            failures,
            ..
        } = world.memo.statistics();
        if matches!(way, Way::Memo | Way::SpawnedMemo) {
            assert_eq!([hits, misses, loads, failures], [0, 65, 2, 2]);
        }
    }
}

/// 473: An error of another type, or by a method that does not share: the caller computes itself. A shared error is not of use
/// to who has not waited for it, and neither is a panic, nor a computation that was dropped.
#[test]
fn only_what_is_shared_is_shared() {
    let world = World::new();
    let mut first = world.ask(Way::Memo);
    assert!(first.poll().is_pending());
    let other = |_, _| async { Err::<usize, u8>(3) };
    let mut of_another_type = Task::pending(Box::pin(
        world
            .memo
            .try_get_or_compute_shared_async(&world.key, other),
    ));
    let own = |_, _| async { Err::<usize, No>(No::new("own")) };
    let mut of_its_own = Task::pending(Box::pin(
        world.memo.try_get_or_compute_async(&world.key, own),
    ));
    world.event.happen();
    assert!(matches!(first.poll(), Poll::Ready(Err(no)) if *no == "no"));
    assert_eq!(of_another_type.poll(), Poll::Ready(Err(3)));
    assert!(matches!(of_its_own.poll(), Poll::Ready(Err(own)) if *own == "own"));

    // A failure that is not shared, and one that nobody has: the next that waits computes.
    let fails = |_, _| async {
        world.event.wait().await;
        Err::<usize, No>(No::new("mine"))
    };
    let mut first = Task::pending(Box::pin(
        world.memo.try_get_or_compute_async(&world.key, fails),
    ));
    let mut second = world.ask(Way::Memo);
    assert!(second.poll().is_pending());
    world.event.happen();
    assert!(matches!(first.poll(), Poll::Ready(Err(no)) if *no == "mine"));
    assert_eq!(world.computed(), 1);
    assert!(second.poll().is_pending());
    assert_eq!(world.computed(), 2, "it waits for its own");
    let mut third = world.ask(Way::Memo);
    assert!(third.poll().is_pending());
    drop(second);
    assert!(third.poll().is_pending());
    assert_eq!(world.computed(), 3, "the second has given up");
    let quits = |_, _| async { super::common::quiet_panic() };
    let mut fourth = Task::pending(Box::pin(
        world
            .memo
            .try_get_or_compute_shared_async::<_, No>(&world.key, quits),
    ));
    drop(third);
    assert!(panics(|| _ = fourth.poll()));
    world.event.happen();
    assert_eq!(*error(world.ask(Way::Memo)), "no");
}

/// 471: The result of a race is not kept if its key is touched meanwhile.
#[test]
fn a_race_whose_key_is_touched() {
    let (memo, key, other) = (&Numbers::new(), &Strong::new(1), &Strong::new(2));
    type Touch<'t> = &'t dyn Fn();
    let touches: [(Touch<'_>, bool); 5] = [
        (&|| assert_eq!(memo.invalidate(key), 0), false),
        (&|| assert!(memo.remove(key).is_none()), false),
        (&|| memo.clear(), false),
        (
            &|| assert!(memo.insert(key, 7).is_none() && memo.remove(key).is_some()),
            false,
        ),
        (
            &|| assert!(memo.insert(other, 7).is_none() && memo.invalidate(other) == 1),
            true,
        ),
    ];
    for (touch, kept) in touches {
        let raced = memo.get_or_compute_racing(key, |_| {
            touch();
            5
        });
        assert_eq!((raced, memo.remove(key)), (5, kept.then_some(5)));
    }
}

/// 177, 475: Each of these counts once, at all ways: a computation that fails, one that is dropped, a caller that gives up, one
/// that waits, a race that loses.
#[test]
fn each_counts_once() {
    let (memo, keys) = (&Numbers::new(), &[0, 1, 2].map(Strong::new));
    let key = &keys[0];
    let mut before = [0; 4];
    let mut counts = |added: [u64; 4], what| {
        let now = memo.statistics();
        let now = [now.hits, now.misses, now.loads, now.failures];
        let difference = std::array::from_fn(|at| now[at] - before[at]);
        assert_eq!(added, difference, "{what}");
        before = now;
    };
    // Hits, misses, loads, failures.
    assert!(memo.try_get_or_compute(key, |_| Err(())).is_err());
    counts([0, 1, 1, 1], "a thread whose computation fails");
    assert!(memo.try_get_or_compute_racing(key, |_| Err(())).is_err());
    counts([0, 1, 1, 1], "a race that fails");
    let fails = |_, _| async { Err::<usize, ()>(()) };
    assert!(block_on(memo.try_get_or_compute_async(key, fails)).is_err());
    counts([0, 1, 1, 1], "a task whose computation fails");
    assert!(panics(
        || _ = memo.get_or_compute(key, |_| super::common::quiet_panic())
    ));
    counts([0, 1, 1, 1], "a panic");

    let never = |_, _| pending::<usize>();
    let owner = Task::pending(memo.get_or_compute_async(key, never));
    let waiter = Task::pending(memo.get_or_compute_async(key, never));
    drop((waiter, owner));
    counts([0, 2, 1, 1], "a computation and a wait that are dropped");
    let owner = Task::pending(memo.get_or_compute_async(key, never));
    let soon = Duration::from_millis(1);
    assert!(memo.get_or_compute_timeout(key, soon, |_| 1).is_err());
    drop(owner);
    counts([0, 2, 1, 1], "a thread whose time is up");

    let event = Event::new();
    let after = |_, _| async {
        event.wait().await;
        5
    };
    let mut owner = Task::pending(memo.get_or_compute_async(key, after));
    let mut waiter = Task::pending(memo.get_or_compute_async(key, after));
    let raced = memo.get_or_compute_racing(key, |_| {
        event.happen();
        assert_eq!(
            (owner.poll(), waiter.poll()),
            (Poll::Ready(5), Poll::Ready(5))
        );
        6
    });
    assert_eq!(raced, 5);
    counts([1, 2, 2, 0], "one that waits, and a race that loses");
    assert_eq!(memo.get_or_compute_racing(key, |_| 6), 5);
    counts([1, 0, 0, 0], "a hit");
    assert_eq!((memo.get(key), memo.contains_key(key)), (Some(5), true));
    counts([0; 4], "a call that computes nothing");

    // Results that end.
    let ends = |[evicted, invalidated, live]: [u64; 3], what| {
        let now = memo.statistics();
        assert_eq!(
            [now.evicted, now.invalidated, now.live],
            [evicted, invalidated, live],
            "{what}"
        );
    };
    ends([0, 0, 1], "what was computed");
    memo.get_or_compute(&keys[1], |_| usize::from(memo.remove(&keys[1]).is_some()));
    ends([0, 1, 1], "what was removed meanwhile");
    memo.get_or_compute_racing(&keys[1], |cx| {
        cx.depends_on(&Strong::new(9));
        1
    });
    ends([0, 2, 1], "an input has died meanwhile");
    memo.insert(key, 7);
    ends([0, 3, 1], "what was replaced");
    assert_eq!(memo.invalidate(key), 1);
    ends([0, 4, 0], "what was invalidated");
    memo.set_ceiling(weakly::keep::Limit::entries(1), |_| 1);
    keys.iter()
        .for_each(|key| _ = memo.get_or_compute(key, |_| 1));
    ends([2, 4, 1], "what the ceiling has evicted");
    memo.clear();
    ends([2, 5, 0], "what was cleared");
    let shown = memo.statistics().to_string();
    assert!(
        shown.ends_with("2 evicted, 5 invalidated, 0 live, weight 0"),
        "{shown}"
    );
}
