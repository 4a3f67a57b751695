//! What is destroyed between the beginning of a flight and that of its computation. (Here by an `Eq` that removes an entry while
//! the flight's mark is inserted.)

use std::hash::{BuildHasherDefault, DefaultHasher, Hash, Hasher};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, JoinHandle};

use weakly::concurrent::WeakValueMap;

use super::common::in_time;
use super::tools::*;

type Map = WeakValueMap<Key, Arc<u32>, BuildHasherDefault<DefaultHasher>>;
type Asked = Pin<Box<dyn Future<Output = Arc<u32>> + Send>>;

static MAP: Map = WeakValueMap::with_hasher(BuildHasherDefault::new());
/// Which comparison removes the entry.
static COMPARED: AtomicUsize = AtomicUsize::new(0);
/// What the key of that runs when it is destroyed.
static RUNS: Mutex<fn()> = Mutex::new(|| ());
/// What the comparison runs instead.
static COMPARES: Mutex<Option<fn()>> = Mutex::new(None);
/// Of the tests, which share all of this.
static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());

#[derive(Clone)]
struct Key(u32);

impl Drop for Key {
    fn drop(&mut self) {
        if self.0 == 3 {
            let run = *RUNS.lock().unwrap();
            run();
        }
    }
}

impl Hash for Key {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl PartialEq for Key {
    fn eq(&self, other: &Self) -> bool {
        if COMPARED.fetch_sub(1, SeqCst) == 1 {
            let compares = *COMPARES.lock().unwrap();
            compares.unwrap_or(|| MAP.retain(|key, _| key.0 != 3))();
        }
        self.0 == other.0
    }
}

impl Eq for Key {}

/// Has each of the first comparisons of `ask` remove the entry, and so destroy its key somewhere.
fn each(runs: fn(), ask: impl Fn()) {
    let (two, three) = (Arc::new(2), Arc::new(3));
    for nth in 1..if cfg!(miri) { 10 } else { 20 } {
        COMPARED.store(1 << 20, SeqCst);
        MAP.clear();
        MAP.insert(Key(2), &two);
        MAP.insert(Key(3), &three);
        *RUNS.lock().unwrap() = runs;
        COMPARED.store(nth, SeqCst);
        ask();
        COMPARED.store(1 << 20, SeqCst);
        *RUNS.lock().unwrap() = || ();
    }
}

fn poll(asked: &mut Asked) -> Poll<Arc<u32>> {
    asked.as_mut().poll(&mut Context::from_waker(Waker::noop()))
}

fn pending(key: u32) -> Asked {
    Box::pin(MAP.get_or_insert_async(Key(key), |_| std::future::pending()))
}

/// 243: A destructor that runs there may ask for the same key: the flight begins anew. And a task of another thread that has
/// joined it before leaves the one that has begun, and not the other.
#[test]
fn a_flight_that_is_called_off_begins_anew() {
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    static ASKED: AtomicUsize = AtomicUsize::new(0);
    fn ask() -> Arc<u32> {
        block_on(MAP.get_or_insert_async(Key(1), |_| async { Arc::new(1) }))
    }
    fn ask_again() {
        ASKED.fetch_add(1, SeqCst);
        assert_eq!(*ask(), 1);
    }
    each(ask_again, || assert_eq!(*ask(), 1));
    assert_ne!(ASKED.load(SeqCst), 0);

    static JOINED: Mutex<Vec<Asked>> = Mutex::new(Vec::new());
    fn join() {
        let joins = thread::spawn(|| {
            let mut asked = pending(1);
            assert!(poll(&mut asked).is_pending());
            JOINED.lock().unwrap().push(asked);
        });
        joins.join().unwrap();
        // It pends, and so calls off what stands by.
        assert!(poll(&mut pending(9)).is_pending());
    }
    each(join, || {
        let mut asked = pending(1);
        assert!(poll(&mut asked).is_pending());
        COMPARED.store(1 << 20, SeqCst);
        let joined = mem::take(&mut *JOINED.lock().unwrap());
        drop(asked);
        drop(joined);
        let mut after = Task::new(MAP.get_or_insert_async(Key(1), |_| async { Arc::new(1) }));
        assert!(after.poll().is_ready(), "a flight of nobody is left");
    });
}

/// 243: A task of another thread has joined the flight before the computation begins, and the waker of this task panics when the
/// computation is there. The task that has begun the computation has joined the flight by then: its drop destroys the computation.
#[test]
fn a_waker_that_panics_at_the_beginning_leaves_no_flight() {
    struct Panics;
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            panic!("a waker");
        }
    }
    static JOINED: Mutex<Vec<Asked>> = Mutex::new(Vec::new());
    static PANICKED: AtomicUsize = AtomicUsize::new(0);
    fn join() {
        let joins = thread::spawn(|| {
            let mut asked = pending(1);
            let waker = Waker::from(Arc::new(Panics));
            let polled = asked.as_mut().poll(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
            JOINED.lock().unwrap().push(asked);
        });
        joins.join().unwrap();
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    each(join, || {
        let mut asked = pending(1);
        let polled = catch_unwind(AssertUnwindSafe(|| poll(&mut asked)));
        PANICKED.fetch_add(usize::from(polled.is_err()), SeqCst);
        COMPARED.store(1 << 20, SeqCst);
        for asked in mem::take(&mut *JOINED.lock().unwrap())
            .into_iter()
            .chain([asked])
        {
            _ = catch_unwind(AssertUnwindSafe(|| drop(asked)));
        }
        let mut after = Task::new(MAP.get_or_insert_async(Key(1), |_| async { Arc::new(1) }));
        assert!(after.poll().is_ready(), "a flight of nobody is left");
    });
    assert_ne!(PANICKED.load(SeqCst), 0);
}

/// 248: An `Eq` that asks for the key of its own computation, also where the entry is put into the table: this is a cycle, or the
/// value is there.
#[test]
fn an_eq_that_asks_for_what_is_computed_is_in_a_cycle() {
    static CYCLES: AtomicUsize = AtomicUsize::new(0);
    fn ask() {
        let asked = catch_unwind(|| MAP.get_or_insert_with(Key(1), |_| Arc::new(1)));
        if let Err(payload) = asked {
            let text = message(payload);
            assert!(text.starts_with("a cycle"), "{text}");
            CYCLES.fetch_add(1, SeqCst);
        }
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    *COMPARES.lock().unwrap() = Some(ask);
    in_time(|| {
        each(
            || (),
            || {
                let made = MAP.get_or_insert_async(Key(1), |_| async { Arc::new(1) });
                assert_eq!(*block_on(made), 1);
            },
        );
    });
    *COMPARES.lock().unwrap() = None;
    assert_ne!(CYCLES.load(SeqCst), 0);
}

/// 243: A task has joined a flight, and loses its processor while it is polled. Meanwhile the flight is called off, and the
/// computation begins with another one. The task does not poll it for the first: nobody who waits would be woken.
#[test]
fn who_has_joined_a_flight_that_is_called_off_polls_for_no_other() {
    /// Stalls the poll of a task that has been polled with this before.
    struct Stalls(Sender<()>, Mutex<Receiver<()>>);
    impl Wake for Stalls {
        fn wake(self: Arc<Self>) {}
    }
    impl Drop for Stalls {
        fn drop(&mut self) {
            _ = self.0.send(());
            _ = self.1.get_mut().unwrap().recv();
        }
    }
    type Joined = (Sender<()>, JoinHandle<Asked>);
    static JOINED: Mutex<Option<Joined>> = Mutex::new(None);
    static MET: AtomicUsize = AtomicUsize::new(0);
    fn join() {
        let ((stalls, stalled), (go, goes)) = (channel(), channel());
        let joins = thread::spawn(move || {
            let mut asked: Asked =
                Box::pin(MAP.get_or_insert_async(Key(1), |_| async { Arc::new(1) }));
            let waker = Waker::from(Arc::new(Stalls(stalls, Mutex::new(goes))));
            let first = asked.as_mut().poll(&mut Context::from_waker(&waker));
            drop(waker);
            if first.is_pending() {
                _ = poll(&mut asked);
                MET.fetch_add(1, SeqCst);
            }
            asked
        });
        stalled.recv().unwrap();
        assert!(poll(&mut pending(9)).is_pending());
        *JOINED.lock().unwrap() = Some((go, joins));
    }
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    each(join, || {
        let event = Event::new();
        let waits = Arc::clone(&event);
        let mut asked = Task::new(MAP.get_or_insert_async(Key(1), move |_| async move {
            waits.wait().await;
            Arc::new(1)
        }));
        let polled = asked.poll();
        COMPARED.store(1 << 20, SeqCst);
        let joined = JOINED.lock().unwrap().take();
        if let Some((go, joins)) = joined {
            drop(go);
            drop(joins.join().unwrap());
        }
        if polled.is_ready() {
            // The other one has come first, and has made the value.
            return;
        }
        event.happen();
        assert!(asked.woken() > 0, "nobody polls the computation");
        let made = asked.poll();
        assert_eq!(made, Poll::Ready(Arc::new(1)));
        assert_eq!(poll(&mut pending(1)), made, "a flight of nobody is left");
    });
    assert_ne!(MET.load(SeqCst), 0);
}
