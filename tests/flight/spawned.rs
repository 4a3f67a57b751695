//! The spawned form: `get_or_compute_spawned`, `get_or_insert_spawned`. The test is the executor of the loads.

use std::future::{pending, poll_fn, ready};
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::thread;

use weakly::concurrent::WeakValueMap;
use weakly::{Memo, Strong};

use super::common::doomed::Doomed;
use super::tools::*;

#[path = "spawned/shares.rs"]
mod shares;

type Load = Pin<Box<dyn Future<Output = ()> + Send>>;
type Made = Result<Strong<usize>, &'static str>;
type Making = Pin<Box<dyn Future<Output = Made> + Send>>;
type Caller = Task<Pin<Box<dyn Future<Output = Made> + Send>>>;
type Numbers = Memo<Strong<usize>, Strong<usize>>;

/// An executor: the loads that it got, until the test takes them.
#[derive(Clone, Default)]
struct Loads(Arc<Mutex<Vec<Load>>>);

impl Loads {
    fn spawn(&self, load: Load) {
        self.0.lock().unwrap().push(load);
    }

    /// The only load.
    fn take(&self) -> Task<Load> {
        let mut loads = self.0.lock().unwrap();
        let load = loads.pop().expect("a load was spawned");
        assert!(loads.is_empty(), "one load at a time");
        Task::new(load)
    }

    fn is_empty(&self) -> bool {
        self.0.lock().unwrap().is_empty()
    }
}

/// A key of a collection.
trait Asks: Clone + Send + 'static {
    fn new() -> Self;
    fn ask(
        self,
        make: impl FnOnce() -> Making + Send + 'static,
        spawn: impl FnOnce(Load) + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Made> + Send>>;
    fn insert(&self, value: &Strong<usize>);
    fn remove(&self);
    fn get(&self) -> Option<Strong<usize>>;

    fn asks(self, loads: &Loads, making: impl Future<Output = Made> + Send + 'static) -> Caller {
        let (loads, making): (_, Making) = (loads.clone(), Box::pin(making));
        Task::new(self.ask(move || making, move |load| loads.spawn(load)))
    }
}

#[derive(Clone)]
struct Object(Arc<Numbers>, Strong<usize>);

impl Asks for Object {
    fn new() -> Self {
        Object(Arc::default(), Strong::new(0))
    }

    fn ask(
        self,
        make: impl FnOnce() -> Making + Send + 'static,
        spawn: impl FnOnce(Load) + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Made> + Send>> {
        Box::pin(async move {
            Memo::try_get_or_compute_spawned(self.0, &self.1, |_, _| make(), spawn).await
        })
    }

    fn insert(&self, value: &Strong<usize>) {
        self.0.insert(&self.1, value.clone());
    }

    fn remove(&self) {
        self.0.remove(&self.1);
    }

    fn get(&self) -> Option<Strong<usize>> {
        self.0.get(&self.1)
    }
}

#[derive(Clone)]
struct Name(Arc<WeakValueMap<usize, Strong<usize>>>);

impl Asks for Name {
    fn new() -> Self {
        Name(Arc::default())
    }

    fn ask(
        self,
        make: impl FnOnce() -> Making + Send + 'static,
        spawn: impl FnOnce(Load) + Send + 'static,
    ) -> Pin<Box<dyn Future<Output = Made> + Send>> {
        Box::pin(WeakValueMap::try_get_or_insert_spawned(
            self.0,
            7,
            |_| make(),
            spawn,
        ))
    }

    fn insert(&self, value: &Strong<usize>) {
        self.0.insert(7, value);
    }

    fn remove(&self) {
        self.0.remove(&7);
    }

    fn get(&self) -> Option<Strong<usize>> {
        self.0.get(&7)
    }
}

/// Makes a value after an event.
fn makes(event: &Arc<Event>, value: &Strong<usize>) -> impl Future<Output = Made> + Send + 'static {
    let (event, value) = (Arc::clone(event), value.clone());
    async move {
        event.wait().await;
        Ok(value)
    }
}

fn made<T>(polled: Poll<Result<T, &'static str>>) -> T {
    match polled {
        Poll::Ready(Ok(value)) => value,
        Poll::Ready(Err(error)) => panic!("{error}"),
        Poll::Pending => panic!("pending"),
    }
}

fn panic_of<R>(run: impl FnOnce() -> R) -> String {
    match catch_unwind(AssertUnwindSafe(run)) {
        Ok(_) => "no panic".into(),
        Err(payload) => message(payload),
    }
}

const DROPPED: &str = "was dropped before its end";

/// 460: A load needs no caller: its caller is kept and not polled, or has gone, and the others get the value. A hit spawns nothing.
#[test]
fn a_load_needs_no_caller() {
    fn body<A: Asks>(asks: A) {
        for goes in [false, true] {
            let (loads, event, value) = (Loads::default(), Event::new(), Strong::new(1));
            let mut first = asks.clone().asks(&loads, makes(&event, &value));
            assert!(first.poll().is_pending());
            let mut load = loads.take();
            // Already reserved, before the executor has polled it.
            let mut second = asks.clone().asks(&loads, makes(&event, &value));
            assert!(second.poll().is_pending() && loads.is_empty());
            let first = Some(first).filter(|_| !goes);
            assert!(load.poll().is_pending());
            event.happen();
            assert!(load.poll().is_ready());
            assert_eq!(second.woken(), 1);
            assert!(Strong::ptr_eq(&made(second.poll()), &value));
            let mut third = asks.clone().asks(&loads, pending());
            assert!(Strong::ptr_eq(&made(third.poll()), &value) && loads.is_empty());
            if let Some(mut first) = first {
                assert_eq!(first.woken(), 1);
                assert!(Strong::ptr_eq(&made(first.poll()), &value));
            }
            asks.remove();
        }
    }
    body(Object::new());
    body(Name::new());
}

/// 461: The caller gets the value of its load, also if the value is not kept.
#[test]
fn the_caller_gets_the_value_of_its_load() {
    fn body<A: Asks>(asks: A, change: impl FnOnce(&A), there: Option<usize>) {
        let (loads, event, value) = (Loads::default(), Event::new(), Strong::new(1));
        let mut first = asks.clone().asks(&loads, makes(&event, &value));
        assert!(first.poll().is_pending());
        let mut load = loads.take();
        change(&asks);
        // It waits for its load, whatever others find.
        assert!(first.poll().is_pending() && load.poll().is_pending());
        event.happen();
        assert!(load.poll().is_ready());
        assert!(Strong::ptr_eq(&made(first.poll()), &value));
        assert_eq!(asks.get().as_deref(), there.as_ref());
    }
    let other = Strong::new(2);
    body(Object::new(), Object::remove, None);
    body(Object::new(), |asks| asks.insert(&other), Some(2));
    body(Object::new(), |asks| asks.0.clear(), None);
    body(Object::new(), |asks| _ = asks.0.invalidate(&asks.1), None);
    body(Name::new(), Name::remove, None);
    body(Name::new(), |asks| asks.insert(&other), Some(2));
    body(Name::new(), |asks| asks.0.clear(), None);
}

/// 462: A load that is dropped, before its first poll or after it, or whose `spawn` panics: its caller panics, the next caller's
/// load makes the value, and nothing is left.
#[test]
fn a_load_that_is_dropped_delays_nobody() {
    fn body<A: Asks>(asks: A) {
        for case in ["spawn drops", "spawn panics", "unpolled", "polled"] {
            let (loads, value, drops) = (Loads::default(), Strong::new(1), Arc::default());
            let counts = Counts(Arc::clone(&drops));
            let spawn = {
                let loads = loads.clone();
                move |load| match case {
                    "spawn drops" => drop(load),
                    "spawn panics" => panic_any("no executor"),
                    _ => loads.spawn(load),
                }
            };
            let making: Making = Box::pin(async {
                let _counts = counts;
                pending().await
            });
            let mut first = Task::new(asks.clone().ask(|| making, spawn));
            let expected = match case {
                "spawn panics" => {
                    assert_eq!(panic_of(|| first.poll()), "no executor");
                    None
                }
                "spawn drops" => Some(first),
                _ => {
                    assert!(first.poll().is_pending());
                    let mut load = loads.take();
                    let mut second = asks.clone().asks(&loads, ready(Ok(value.clone())));
                    assert!(second.poll().is_pending());
                    if case == "polled" {
                        assert!(load.poll().is_pending());
                    }
                    drop(load);
                    assert_eq!(
                        (first.woken(), second.woken(), drops.load(SeqCst)),
                        (1, 1, 1)
                    );
                    assert!(second.poll().is_pending());
                    assert!(loads.take().poll().is_ready());
                    assert!(Strong::ptr_eq(&made(second.poll()), &value));
                    Some(first)
                }
            };
            if let Some(mut first) = expected {
                let panic = panic_of(|| first.poll());
                assert!(panic.contains(DROPPED), "{panic}");
            }
            assert_eq!(drops.load(SeqCst), 1);
            let mut last = asks.clone().asks(&loads, ready(Ok(value.clone())));
            if last.poll().is_pending() {
                assert!(loads.take().poll().is_ready());
                made(last.poll());
            }
            asks.remove();
        }
    }
    body(Object::new());
    body(Name::new());
}

/// 463: A panic of a load goes to its caller or, if the caller has gone, to the task of the load. So does an error, which nobody
/// hears then. The next caller's load makes the value.
#[test]
fn a_panic_of_a_load_goes_to_its_caller() {
    fn body<A: Asks>(asks: A) {
        for (goes, panics) in [(false, true), (true, true), (false, false), (true, false)] {
            let (loads, event, value) = (Loads::default(), Event::new(), Strong::new(1));
            let making = {
                let event = Arc::clone(&event);
                async move {
                    event.wait().await;
                    if panics { panic_any("boom") } else { Err("no") }
                }
            };
            let mut first = asks.clone().asks(&loads, making);
            assert!(first.poll().is_pending());
            let mut load = loads.take();
            let mut second = asks.clone().asks(&loads, ready(Ok(value.clone())));
            assert!(second.poll().is_pending());
            let first = Some(first).filter(|_| !goes);
            event.happen();
            let expected = if goes && panics { "boom" } else { "no panic" };
            assert_eq!(panic_of(|| assert!(load.poll().is_ready())), expected);
            if let Some(mut first) = first {
                if panics {
                    assert_eq!(panic_of(|| first.poll()), "boom");
                } else {
                    assert!(matches!(first.poll(), Poll::Ready(Err("no"))));
                }
            }
            assert!(second.poll().is_pending());
            assert!(loads.take().poll().is_ready());
            assert!(Strong::ptr_eq(&made(second.poll()), &value));
            asks.remove();
        }
        // Of the closure: nothing is spawned.
        let loads = Loads::default();
        let spawn = {
            let loads = loads.clone();
            move |load| loads.spawn(load)
        };
        let mut first = Task::new(asks.clone().ask(|| panic_any("at once"), spawn));
        assert_eq!(panic_of(|| first.poll()), "at once");
        assert!(loads.is_empty());
        let mut next = asks.asks(&loads, ready(Ok(Strong::new(1))));
        assert!(next.poll().is_pending() && loads.take().poll().is_ready());
        made(next.poll());
    }
    body(Object::new());
    body(Name::new());
}

/// 463: So does the panic of a clone of the value, and of a destructor in the computation.
#[test]
fn what_a_load_ends_with_may_panic() {
    let (memo, key) = (
        Arc::new(Memo::<Strong<usize>, Doomed>::new()),
        Strong::new(0),
    );
    let ask = |value: Doomed, guard: Option<Doomed>| {
        let (memo, key) = (Arc::clone(&memo), key.clone());
        // Has the guard until its drop.
        let mut value = Some(value);
        let making = poll_fn(move |_| {
            let _guard = &guard;
            value.take().map_or(Poll::Pending, Poll::Ready)
        });
        block_on(Memo::get_or_compute_spawned(
            memo,
            &key,
            |_, _| making,
            |load| {
                thread::spawn(|| block_on(load)).join().unwrap();
            },
        ))
    };
    let bad = Doomed::default().cloning(|| panic_any("a clone"));
    assert_eq!(panic_of(|| ask(bad, None)), "a clone");
    // The value of the computation does not leak.
    let (guard, drops) = (Doomed::new(|| panic_any("a destructor")), Arc::default());
    let counts = Counts(Arc::clone(&drops));
    let value = Doomed::new(|| drop(counts));
    assert_eq!(panic_of(|| ask(value, Some(guard))), "a destructor");
    assert_eq!(drops.load(SeqCst), 1);
    assert!(memo.is_empty());
    drop(ask(Doomed::default(), None));
    assert_eq!(memo.len(), 1);
}

/// 466: A load that comes to need itself panics, also through other loads, and nobody waits for ever.
#[test]
fn loads_in_a_cycle_panic() {
    static MEMO: Memo<Strong<usize>, usize> = Memo::new();
    fn ask(keys: Arc<[Strong<usize>]>, at: usize) -> Pin<Box<dyn Future<Output = usize> + Send>> {
        Box::pin(async move {
            let next = ask(Arc::clone(&keys), (at + 1) % keys.len());
            let spawn = |load: Load| _ = thread::spawn(|| block_on(load));
            Memo::get_or_compute_spawned(&MEMO, &keys[at], |_, _| next, spawn).await
        })
    }
    for len in 1..=3 {
        let keys: Arc<[_]> = (0..len).map(Strong::new).collect();
        let panic = panic_of(|| block_on(ask(keys, 0)));
        assert!(panic.starts_with("a cycle"), "{panic}");
        assert!(MEMO.is_empty());
    }
}
