//! The spawned form, on tokio and on smol's executor: each test runs on both.

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::{Pin, pin};
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Weak};
use std::task::Poll;
use std::thread;

use futures_lite::FutureExt;
use futures_lite::future::poll_once;
use tokio::sync::{Mutex as Lock, oneshot};
use weakly::{Memo, Strong};

#[allow(dead_code, reason = "other tests use the rest")]
#[path = "../../tests/flight/tools.rs"]
mod tools;
#[path = "../../tests/common/watchdog.rs"]
mod watchdog;

use tools::{Event, block_on, message, yields};

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
type Numbers = Memo<Strong<usize>, usize>;

/// An executor with two threads.
struct Running {
    executor: Executor,
    /// Drops all tasks.
    shut_down: Box<dyn FnOnce()>,
}

impl Running {
    fn on_tokio() -> Self {
        let mut builder = tokio::runtime::Builder::new_multi_thread();
        let runtime = builder.worker_threads(2).build().expect("a runtime");
        Running {
            executor: Executor::Tokio(runtime.handle().clone()),
            shut_down: Box::new(|| drop(runtime)),
        }
    }

    fn on_smol() -> Self {
        let executor = Arc::new(async_executor::Executor::new());
        let (stops, threads): (Vec<_>, Vec<_>) = (0..2)
            .map(|_| {
                let (executor, (stop, mut stopped)) =
                    (Arc::clone(&executor), oneshot::channel::<()>());
                let mut run = move || _ = block_on(executor.run(&mut stopped));
                // As smol does: a panic ends its task.
                let goes_on = move || while catch_unwind(AssertUnwindSafe(&mut run)).is_err() {};
                (stop, thread::spawn(goes_on))
            })
            .unzip();
        Running {
            executor: Executor::Smol(Arc::downgrade(&executor)),
            shut_down: Box::new(|| {
                drop(stops);
                threads
                    .into_iter()
                    .for_each(|thread| thread.join().unwrap());
                drop(executor);
            }),
        }
    }
}

#[derive(Clone)]
enum Executor {
    Tokio(tokio::runtime::Handle),
    Smol(Weak<async_executor::Executor<'static>>),
}

impl Executor {
    fn spawn(&self, task: Task) {
        match self {
            Executor::Tokio(runtime) => drop(runtime.spawn(task)),
            Executor::Smol(executor) => {
                if let Some(executor) = executor.upgrade() {
                    executor.spawn(task).detach();
                }
            }
        }
    }

    /// Runs a task whose value or panic comes back.
    fn start<T: Send + 'static>(
        &self,
        task: impl Future<Output = T> + Send + 'static,
    ) -> oneshot::Receiver<Result<T, String>> {
        let (send, receive) = oneshot::channel();
        self.spawn(Box::pin(async {
            let ended = AssertUnwindSafe(task).catch_unwind().await;
            _ = send.send(ended.map_err(message));
        }));
        receive
    }
}

/// Runs a test on each executor, with a second one of the other kind.
fn on_each(test: impl Fn(Running, Running)) {
    test(Running::on_tokio(), Running::on_smol());
    test(Running::on_smol(), Running::on_tokio());
}

/// A request for a key, whose load waits for the event and is counted.
#[derive(Clone)]
struct Requests {
    executor: Executor,
    memo: Arc<Numbers>,
    key: Strong<usize>,
    event: Arc<Event>,
    loads: Arc<AtomicUsize>,
    panics: bool,
}

impl Requests {
    fn new(running: &Running) -> Self {
        Requests {
            executor: running.executor.clone(),
            memo: Arc::default(),
            key: Strong::new(0),
            event: Event::new(),
            loads: Arc::default(),
            panics: false,
        }
    }

    async fn get(&self) -> usize {
        let (loads, event, panics) = (
            Arc::clone(&self.loads),
            Arc::clone(&self.event),
            self.panics,
        );
        let load = |_, _| async move {
            loads.fetch_add(1, SeqCst);
            event.wait().await;
            if panics { panic_any("boom") } else { 4 }
        };
        let spawn = |load| self.executor.spawn(load);
        Memo::get_or_compute_spawned(Arc::clone(&self.memo), &self.key, load, spawn).await
    }
}

/// Polls both, `two` last or first, until one of them is ready. Returns whether it was `one`, which is not dropped.
async fn first(
    one: &mut (impl Future + Unpin),
    two: impl Future<Output = ()>,
    two_last: bool,
) -> bool {
    let mut two = pin!(two);
    poll_fn(|context| {
        if !two_last && two.as_mut().poll(context).is_ready() {
            return Poll::Ready(false);
        }
        if Pin::new(&mut *one).poll(context).is_ready() {
            return Poll::Ready(true);
        }
        if two_last {
            two.as_mut().poll(context).map(|()| false)
        } else {
            Poll::Pending
        }
    })
    .await
}

/// 467: *Futurelock*: task A asks, loses patience, keeps its future, and waits for a lock; task B has the lock, and asks for the same
/// key. Both end, in whatever order A polls its future and its patience, and B is polled.
#[test]
fn a_futurelock_ends() {
    on_each(|running, _| {
        let executor = &running.executor;
        for case in 0..4 {
            let (polls_last, asks_first) = (case & 1 != 0, case & 2 != 0);
            let requests = Requests::new(&running);
            let (lock, patience) = (Arc::new(Lock::new(())), Event::new());
            let (asked, b_asks) = (Event::new(), Event::new());
            let a = {
                let (requests, lock) = (requests.clone(), Arc::clone(&lock));
                let (patience, asked) = (Arc::clone(&patience), Arc::clone(&asked));
                executor.start(async move {
                    let mut get = pin!(requests.get());
                    asked.happen();
                    if !first(&mut get, patience.wait(), polls_last).await {
                        drop(lock.lock().await);
                    }
                })
            };
            let b = {
                let (requests, asked) = (requests.clone(), Arc::clone(&asked));
                let (lock, b_asks) = (Arc::clone(&lock), Arc::clone(&b_asks));
                executor.start(async move {
                    let _guard = lock.lock().await;
                    if !asks_first {
                        asked.wait().await;
                    }
                    b_asks.happen();
                    requests.get().await
                })
            };
            block_on(b_asks.wait());
            patience.happen();
            block_on(yields(3));
            requests.event.happen();
            assert_eq!(block_on(b).unwrap(), Ok(4));
            assert_eq!(block_on(a).unwrap(), Ok(()));
            assert_eq!(requests.loads.load(SeqCst), 1);
        }
    });
}

/// 467: Twenty requests, each of which gives up before the load has ended, and asks again, get the value of one load.
#[test]
fn impatient_requests_get_the_value_of_one_load() {
    const PATIENCE: usize = 3;
    const TIMES: usize = 5;
    on_each(|running, _| {
        let requests = Requests::new(&running);
        let given_up = Arc::new(AtomicUsize::new(0));
        let all: Vec<_> = (0..20)
            .map(|_| {
                let (requests, given_up) = (requests.clone(), Arc::clone(&given_up));
                running.executor.start(async move {
                    let mut times = 0;
                    loop {
                        let mut get = Box::pin(requests.get());
                        if first(&mut get, yields(PATIENCE), true).await {
                            return;
                        }
                        drop(get);
                        times += 1;
                        if times == TIMES && given_up.fetch_add(1, SeqCst) == 19 {
                            requests.event.happen();
                        }
                    }
                })
            })
            .collect();
        all.into_iter()
            .for_each(|request| block_on(request).unwrap().unwrap());
        assert_eq!(
            (given_up.load(SeqCst), requests.loads.load(SeqCst)),
            (20, 1)
        );
        assert_eq!(requests.memo.get(&requests.key), Some(4));
    });
}

/// 468: An executor that shuts down while its load waits: a caller elsewhere panics, and says why. A caller with another executor
/// loads anew, and gets the value.
#[test]
fn an_executor_shuts_down_in_the_middle() {
    on_each(|running, other| {
        let requests = Requests::new(&running);
        let first = other.executor.start({
            let requests = requests.clone();
            async move { requests.get().await }
        });
        while requests.loads.load(SeqCst) == 0 {
            thread::yield_now();
        }
        let there = running.executor.start({
            let requests = requests.clone();
            async move { requests.get().await }
        });
        let second = other.executor.start({
            let (mut requests, executor) = (requests.clone(), other.executor.clone());
            (requests.executor, requests.event) = (executor, Event::new());
            requests.event.happen();
            async move { requests.get().await }
        });
        (running.shut_down)();
        let panic = block_on(first).unwrap().unwrap_err();
        assert!(panic.contains("was dropped before its end"), "{panic}");
        // The task has gone with its executor; or the executor has polled the task once more before, and the task has got an answer,
        // or has begun a load that nobody runs.
        _ = block_on(there);
        assert_eq!(block_on(second).unwrap(), Ok(4));
        assert!((2..=3).contains(&requests.loads.load(SeqCst)));
        (other.shut_down)();
        assert_eq!(Arc::strong_count(&requests.memo), 1);
    });
}

/// 468: A panic in a load goes to its caller. If the caller is gone, it ends the task of the load, and the executor goes on.
#[test]
fn a_panic_in_a_load_ends_no_executor() {
    on_each(|running, other| {
        for goes in [false, true] {
            let mut requests = Requests::new(&running);
            requests.panics = true;
            let caller = requests.clone();
            let mut get = Box::pin(async move { caller.get().await });
            assert!(block_on(poll_once(&mut get)).is_none());
            let first = Some(get)
                .filter(|_| !goes)
                .map(|get| other.executor.start(get));
            requests.panics = false;
            let second = running.executor.start({
                let requests = requests.clone();
                async move { requests.get().await }
            });
            requests.event.happen();
            if let Some(first) = first {
                assert_eq!(block_on(first).unwrap(), Err("boom".into()));
            }
            requests.event.happen();
            assert_eq!(block_on(second).unwrap(), Ok(4));
            assert_eq!(requests.loads.load(SeqCst), 2);
        }
        (running.shut_down)();
    });
}

/// The recipe of the guide; `tests/house` checks that the guide shows this file.
mod recipe {
    include!("spawned/recipe.rs");

    use super::{Event, SeqCst};
    use std::sync::atomic::{AtomicBool, AtomicUsize};
    use std::thread;

    use futures_lite::future::poll_once;
    use tokio::runtime::Builder;

    /// Its answers wait for an event each. It has the number of queries.
    #[derive(Clone, Default)]
    struct Database(Arc<(Event, AtomicUsize, AtomicBool)>);

    #[derive(Debug, PartialEq)]
    struct Down;

    impl Database {
        async fn prices(self) -> Result<Vec<u32>, Down> {
            let query = self.0.1.fetch_add(1, SeqCst);
            self.0.0.wait().await;
            let is_down = self.0.2.load(SeqCst);
            if is_down {
                Err(Down)
            } else {
                Ok(vec![query as u32])
            }
        }

        /// Waits for so many queries.
        fn queries(&self, count: usize) {
            while self.0.1.load(SeqCst) < count {
                thread::yield_now();
            }
            assert_eq!(self.0.1.load(SeqCst), count);
        }
    }

    /// 469: All get the present list, while one load makes the next. A load that fails leaves the present list, and the next
    /// request loads; an invalidation drops the present list.
    #[test]
    fn the_present_list_while_a_load_makes_the_next() {
        let runtime = Builder::new_multi_thread()
            .worker_threads(2)
            .build()
            .unwrap();
        let database = Database::default();
        let (event, is_down) = (&database.0.0, &database.0.2);
        let shop = Strong::new(Shop {
            database: database.clone(),
            version: AtomicU64::new(0),
        });
        let (fresh, old) = (Duration::from_secs(100_000), Duration::ZERO);
        let list = |prices: Result<Arc<Prices>, Down>| prices.map(|prices| prices.list[0]);
        let waits = |older| runtime.block_on(async { list(prices(&shop, older).await) });
        let at_once = |older| {
            runtime.block_on(async { list(poll_once(prices(&shop, older)).await.unwrap()) })
        };
        // The load of a version ends, and its list is there.
        let load_ends = |version| {
            event.happen();
            while PRICES.get((&shop, &version)).is_none() {
                thread::yield_now();
            }
        };
        event.happen();
        assert_eq!((waits(fresh), at_once(fresh)), (Ok(0), Ok(0)));
        let all = (0..64).map(|_| {
            let shop = shop.clone();
            runtime.spawn(async move { prices(&shop, old).await })
        });
        for one in all.collect::<Vec<_>>() {
            assert_eq!(list(runtime.block_on(one).unwrap()), Ok(0));
        }
        database.queries(2);
        load_ends(1);
        assert_eq!((at_once(fresh), PRICES.len()), (Ok(1), 2)); // and the list before
        is_down.store(true, SeqCst);
        assert_eq!(at_once(old), Ok(1));
        database.queries(3);
        event.happen();
        while PRICES.statistics().failures == 0 {
            thread::yield_now();
        }
        is_down.store(false, SeqCst);
        // The failure is counted before the reservation ends, so a request may still find the load that has failed.
        while database.0.1.load(SeqCst) < 4 {
            assert_eq!(at_once(old), Ok(1));
            thread::yield_now();
        }
        database.queries(4);
        load_ends(2);
        assert_eq!((at_once(fresh), PRICES.len()), (Ok(3), 2));
        assert_eq!(PRICES.invalidate(&shop), 2);
        event.happen();
        assert_eq!(waits(fresh), Ok(4));
        drop((runtime, shop));
        assert!(PRICES.is_empty());
    }
}
