//! Computations that fail, panic, or whose inputs do not last.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, RawWaker, RawWakerVTable, Wake, Waker};
use std::thread;

use weakly::keep::Limit;
use weakly::{Memo, Strong};

use super::common::doomed::Doomed;
use super::common::in_time;
use super::numbers::*;
use super::tools::*;

/// 244: A panic goes to the task that has passed the closure, whoever polls. The others are woken, and one of them computes.
#[test]
fn a_panic_goes_to_whose_closure_it_was() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut first = {
        let event = Arc::clone(&event);
        Task::pending(memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            panic_any(String::from("boom"))
        }))
    };
    let ask = |answer| memo.get_or_compute_async(&text, move |_, _| async move { answer });
    let (mut second, mut third) = (Task::pending(ask(2)), Task::pending(ask(3)));
    event.happen();
    assert_eq!((third.woken(), second.poll()), (1, Poll::Ready(2)));
    assert_eq!(
        (second.woken(), third.woken()),
        (0, 0),
        "it is about to be polled"
    );
    assert_eq!(third.poll(), Poll::Ready(2));
    assert_eq!(first.woken(), 1);
    let payload = catch_unwind(AssertUnwindSafe(|| first.poll())).unwrap_err();
    assert_eq!(message(payload), "boom");
    let statistics = memo.statistics();
    assert_eq!(
        (statistics.misses, statistics.discarded, memo.len()),
        (2, 1, 1)
    );
    drop(first);
    assert_eq!(block_on(ask(7)), 2);
}

/// 244: The panic of a closure itself, and of one for which nobody waits any more.
#[test]
fn a_panic_keeps_nobody_waiting() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let mut task = Task::new(memo.get_or_compute_async(&text, |_, _| {
        panic_any("at once");
        #[expect(unreachable_code, reason = "says what the closure returns")]
        async {
            0
        }
    }));
    let payload = catch_unwind(AssertUnwindSafe(|| task.poll())).unwrap_err();
    assert_eq!(message(payload), "at once");
    drop(task);

    let event = Event::new();
    let begun = {
        let event = Arc::clone(&event);
        Task::pending(memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            panic_any("nobody hears it")
        }))
    };
    let mut other = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 5 }));
    drop(begun);
    event.happen();
    assert_eq!(other.poll(), Poll::Ready(5));
}

/// 245: An error, likewise. Each task has errors of a type of its own.
#[test]
fn an_error_goes_to_whose_closure_it_was() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut first = {
        let event = Arc::clone(&event);
        Task::pending(
            memo.try_get_or_compute_async(&text, move |_, _| async move {
                event.wait().await;
                Err("no")
            }),
        )
    };
    let mut second =
        Task::pending(memo.try_get_or_compute_async(&text, |_, _| async { Err(5_u8) }));
    let mut third = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 3 }));
    event.happen();
    // It fails for the first, and then the second one fails itself.
    assert_eq!(second.poll(), Poll::Ready(Err(5)));
    assert_eq!(third.poll(), Poll::Ready(3));
    assert_eq!(first.poll(), Poll::Ready(Err("no")));
    assert_eq!((memo.get(&text), memo.statistics().discarded), (Some(3), 2));
    let ask = memo.try_get_or_compute_async(&text, |_, _| async { Err(()) });
    assert_eq!(block_on(ask), Ok(3));
}

/// 246: What dies while its result is computed: the result goes to those that wait, and is not kept.
#[test]
fn what_dies_in_flight_is_not_kept() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (one, event) = (Strong::new(4_usize), Event::new());
    let ask = |text: &Strong<usize>| {
        let event = Arc::clone(&event);
        memo.get_or_compute_async(text, move |_, _| async move {
            event.wait().await;
            4
        })
    };
    let mut all = [Task::pending(ask(&one)), Task::pending(ask(&one))];
    assert_eq!(
        Strong::strong_count(&one),
        1,
        "a flight keeps no input alive"
    );
    drop(one);
    event.happen();
    assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(4)));
    assert!(memo.is_empty());
    assert_eq!(
        (memo.statistics().invalidated, memo.statistics().misses),
        (1, 1)
    );

    // Removed, invalidated or replaced meanwhile, likewise.
    for change in [0, 1, 2] {
        let mut all = [Task::pending(ask(&text)), Task::pending(ask(&text))];
        match change {
            0 => _ = memo.remove(&text),
            1 => _ = memo.invalidate(&text),
            _ => _ = memo.insert(&text, 9),
        }
        // Whoever asks from now on does not wait for that.
        let mut later = Task::new(memo.get_or_compute_async(&text, |_, _| async { 5 }));
        let there = if change == 2 { 9 } else { 5 };
        assert_eq!(later.poll(), Poll::Ready(there));
        event.happen();
        assert!(all.iter_mut().all(|task| task.poll() == Poll::Ready(4)));
        assert_eq!(memo.get(&text), Some(there));
        memo.clear();
    }
}

/// 246: A flight of an object that is dead by the time it is polled first.
#[test]
fn what_dies_before_the_first_poll_is_computed() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let mut task = Task::new(memo.get_or_compute_async(&text, |_, _| async { 4 }));
    drop(text);
    assert_eq!(task.poll(), Poll::Ready(4));
    assert!(memo.is_empty());
}

/// 255: A clone of a value that panics is a panic of the computation.
#[test]
fn a_clone_that_panics_keeps_nobody_waiting() {
    let (memo, text) = (Memo::<Strong<usize>, Doomed>::new(), Strong::new(4_usize));
    let clones = Arc::new(AtomicUsize::new(0));
    let ask = || {
        let clones = Arc::clone(&clones);
        let bad = Doomed::default().cloning(move || {
            assert!(clones.fetch_add(1, SeqCst) != 0, "the first clone");
        });
        memo.get_or_compute_async(&text, move |_, _| async { bad })
    };
    let (mut first, mut second) = (Task::new(ask()), Task::new(ask()));
    assert!(catch_unwind(AssertUnwindSafe(|| first.poll())).is_err());
    assert!(second.poll().is_ready());
    assert_eq!(memo.len(), 1);
}

/// 255: Destructors and wakers run under no lock: they may use the memo, and ask for the same key.
#[test]
fn a_waker_may_ask() {
    static MEMO: Numbers = Numbers::new();
    struct Asks(Strong<usize>, AtomicUsize);
    impl Wake for Asks {
        fn wake(self: Arc<Self>) {
            self.1
                .fetch_add(MEMO.get_or_compute(&self.0, |_| 100), SeqCst);
        }
    }
    impl Drop for Asks {
        fn drop(&mut self) {
            assert_eq!(MEMO.get_or_compute(&self.0, |_| 100), 4);
        }
    }
    let text: Strong<usize> = Strong::new(4_usize);
    let event = Event::new();
    let asks = Arc::new(Asks(text.clone(), AtomicUsize::new(0)));
    let waker = Waker::from(Arc::clone(&asks));
    let ask = || {
        let event = Arc::clone(&event);
        MEMO.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            4
        })
    };
    let mut first = Box::pin(ask());
    let mut second = Task::pending(ask());
    assert!(
        first
            .as_mut()
            .poll(&mut Context::from_waker(&waker))
            .is_pending()
    );
    assert!(second.poll().is_pending());
    drop(waker);
    event.happen();
    assert_eq!(second.poll(), Poll::Ready(4));
    assert_eq!(
        asks.1.load(SeqCst),
        4,
        "the end has woken it, and it has found the result"
    );
    drop((asks, first));
}

/// 255: From its last poll to its end, only the thread that polls a computation goes on with it. Wakers that ask there, when they
/// are called and when they are destroyed, find the result.
#[test]
fn at_the_end_a_waker_may_ask() {
    static MEMO: Numbers = Numbers::new();
    static ASKS: Mutex<Option<Strong<usize>>> = Mutex::new(None);
    static FOUND: AtomicUsize = AtomicUsize::new(0);
    fn ask() {
        let asks = ASKS.lock().unwrap().take();
        if let Some(text) = asks {
            FOUND.store(MEMO.get_or_compute(&text, |_| 100), SeqCst);
        }
    }
    static VTABLE: RawWakerVTable = RawWakerVTable::new(
        |_| RawWaker::new(ptr::null(), &VTABLE),
        |_| ask(),
        |_| ask(),
        |_| ask(),
    );
    for asks_when_woken in [true, false] {
        in_time(move || {
            let text: Strong<usize> = Strong::new(4_usize);
            let flight = || {
                MEMO.get_or_compute_async(&text, move |_, _| {
                    let mut polls = 0;
                    poll_fn(move |context| {
                        polls += 1;
                        if polls < 3 {
                            return Poll::Pending;
                        }
                        if asks_when_woken {
                            // The task that polls is woken, and goes then.
                            context.waker().wake_by_ref();
                        }
                        Poll::Ready(4)
                    })
                })
            };
            #[allow(unsafe_code)]
            // SAFETY: it uses no data.
            let waker = unsafe { Waker::new(ptr::null(), &VTABLE) };
            let mut asking = Task::new(flight());
            let mut other = Task::pending(flight());
            assert!(
                asking
                    .poll_by(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            *ASKS.lock().unwrap() = Some(text.clone());
            if asks_when_woken {
                assert_eq!(other.poll(), Poll::Ready(4));
            } else {
                assert_eq!(
                    asking.poll_by(&mut Context::from_waker(&waker)),
                    Poll::Ready(4)
                );
            }
            assert_eq!(FOUND.swap(0, SeqCst), 4);
        });
    }
}

/// 255: A clone of the value that asks there is in a cycle, which is a panic of the computation.
#[test]
fn a_clone_that_asks_is_in_a_cycle() {
    static MEMO: Memo<Strong<usize>, Doomed> = Memo::new();
    for by_task in [false, true] {
        in_time(move || {
            let text: Strong<usize> = Strong::new(4_usize);
            let asked = text.clone();
            let asks = Doomed::default().cloning(move || {
                _ = if by_task {
                    block_on(MEMO.get_or_compute_async(&asked, |_, _| async { unreachable!() }))
                } else {
                    MEMO.get_or_compute(&asked, |_| unreachable!())
                };
            });
            let mut task = Task::new(MEMO.get_or_compute_async(&text, |_, _| async { asks }));
            let payload = catch_unwind(AssertUnwindSafe(|| task.poll().is_ready())).unwrap_err();
            assert!(message(payload).starts_with("a cycle"));
            assert!(MEMO.is_empty());
        });
    }
}

struct Panics;

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        panic_any("a waker");
    }
}

/// 255: A waker that panics when the end calls it: the others are called, the result is there for all that wait, and the panic
/// goes to the task that has polled.
#[test]
fn a_waker_that_panics_keeps_nobody_waiting() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut all = tasks((0..3).map(|_| {
        let event = Arc::clone(&event);
        memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            4
        })
    }));
    let panics = Waker::from(Arc::new(Panics));
    let mut context = Context::from_waker(&panics);
    assert!(all[0].poll_by(&mut context).is_pending());
    assert!(all[1].poll().is_pending() && all[2].poll().is_pending());
    event.happen();
    let payload = catch_unwind(AssertUnwindSafe(|| all[2].poll())).unwrap_err();
    assert_eq!(message(payload), "a waker");
    assert_eq!((all[1].woken(), memo.get(&text)), (1, Some(4)));
    assert!(
        all[..2]
            .iter_mut()
            .all(|task| task.poll() == Poll::Ready(4))
    );
}

/// 214, 244: A weight that panics is a panic of the computation: it goes to the task that has passed the closure, and whoever has
/// polled begins anew.
#[test]
fn a_weight_that_panics_goes_to_whose_closure_it_was() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    memo.set_ceiling(Limit::entries(3), |value| match value {
        0 => panic_any("a weight"),
        value => *value,
    });
    let event = Event::new();
    let mut first = {
        let event = Arc::clone(&event);
        Task::pending(memo.get_or_compute_async(&text, move |_, _| async move {
            event.wait().await;
            0
        }))
    };
    let mut second = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 5 }));
    event.happen();
    assert_eq!(second.poll(), Poll::Ready(5));
    assert_eq!(first.woken(), 1);
    let payload = catch_unwind(AssertUnwindSafe(|| first.poll())).unwrap_err();
    assert_eq!(message(payload), "a weight");
    assert_eq!((memo.get(&text), memo.retained_weight()), (Some(5), 5));
    let statistics = memo.statistics();
    assert_eq!((statistics.misses, statistics.discarded), (2, 1));
}

/// 204, 255: A waker that panics at the end of a computation, of a thread or of tasks: the entry is in the ceiling by then.
#[test]
fn a_waker_that_panics_leaves_the_limit() {
    for by_task in [false, true] {
        let memo = Numbers::new();
        memo.set_ceiling(Limit::entries(1), |_| 1);
        let texts = [1, 2, 3].map(Strong::<usize>::new);
        let mut waits = Task::new(memo.get_or_compute_async(&texts[0], |_, _| async { 5 }));
        let waker = Waker::from(Arc::new(Panics));
        let mut wait = || {
            let polled = waits.poll_by(&mut Context::from_waker(&waker));
            assert!(polled.is_pending());
        };
        let panics = if by_task {
            let event = Event::new();
            let happens = Arc::clone(&event);
            let mut first = Task::pending(memo.get_or_compute_async(
                &texts[0],
                move |_, _| async move {
                    event.wait().await;
                    4
                },
            ));
            wait();
            // It is the one to wake.
            assert!(first.poll().is_pending());
            happens.happen();
            catch_unwind(AssertUnwindSafe(|| first.poll().is_ready())).is_err()
        } else {
            let compute = || {
                memo.get_or_compute(&texts[0], |_| {
                    thread::scope(|scope| scope.spawn(&mut wait).join().unwrap());
                    4
                })
            };
            catch_unwind(AssertUnwindSafe(compute)).is_err()
        };
        // (A lookup would have the ceiling meet it.)
        assert!(panics && memo.len() == 1);
        (1..3).for_each(|at| _ = memo.get_or_compute(&texts[at], |_| 4));
        assert_eq!((memo.len(), memo.retained_weight()), (1, 1));
    }
}
