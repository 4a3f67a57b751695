//! Who is woken.

use std::future::poll_fn;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Wake, Waker};
use std::thread;

use weakly::memo::Dependencies;
use weakly::{Strong, Weak};

use super::common::heap;
use super::numbers::*;
use super::tools::*;

/// A computation that takes so many events.
fn waits(
    event: &Arc<Event>,
    times: usize,
) -> impl FnOnce(Weak<usize>, Dependencies) -> Answer + Send + 'static {
    let event = Arc::clone(event);
    move |_, _| {
        Box::pin(async move {
            for _ in 0..times {
                event.wait().await;
            }
            4
        })
    }
}

/// 249: A wake of the computation wakes one task, that which was polled last; its end wakes all.
#[test]
fn one_is_woken_and_at_the_end_all() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let ask = |_| memo.get_or_compute_async(&text, waits(&event, 2));
    let mut all = tasks((0..3).map(ask));
    all.iter_mut()
        .for_each(|task| assert!(task.poll().is_pending()));
    let woken = |all: &[Task<_>]| all.iter().map(Task::woken).collect::<Vec<_>>();
    assert_eq!(woken(&all), [0, 0, 0]);
    event.wake();
    assert_eq!(woken(&all), [0, 0, 1], "the last");
    event.wake();
    assert_eq!(
        woken(&all),
        [0, 1, 0],
        "it was not polled since: another one"
    );
    assert!(all[0].poll().is_pending());
    event.wake();
    assert_eq!(woken(&all), [1, 0, 0]);
    event.happen();
    event.happen();
    assert_eq!(woken(&all), [0, 0, 0], "none of them was polled since");
    assert!(all[2].poll().is_ready());
    assert_eq!(woken(&all), [0, 0, 0], "those are about to come");
    assert!(all[1].poll().is_ready() && all[0].poll().is_ready());
}

/// 249: The end wakes all that wait.
#[test]
fn the_end_wakes_all() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut all = tasks((0..3).map(|_| memo.get_or_compute_async(&text, waits(&event, 1))));
    all.iter_mut()
        .for_each(|task| assert!(task.poll().is_pending()));
    event.happen();
    assert!(all[1].poll().is_ready());
    assert_eq!(all.iter().map(Task::woken).collect::<Vec<_>>(), [1, 0, 1]);
}

/// 249: If the one that was woken goes without having been polled, another one is woken. Not if it was polled.
#[test]
fn who_goes_passes_the_wake_on() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let ask = |_| memo.get_or_compute_async(&text, waits(&event, 1));
    let mut all = tasks((0..3).map(ask));
    all.iter_mut()
        .for_each(|task| assert!(task.poll().is_pending()));
    event.wake();
    drop(all.pop());
    assert_eq!(all.iter().map(Task::woken).collect::<Vec<_>>(), [0, 1]);
    assert!(all[1].poll().is_pending());
    drop(all.pop());
    assert_eq!(all[0].woken(), 0, "nothing was to be polled");
    event.happen();
    assert_eq!((all[0].woken(), all[0].poll()), (1, Poll::Ready(4)));
}

/// 249: A task that is moved, and polled with another waker, is woken by the last.
#[test]
fn the_last_waker_counts() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut flight = Box::pin(memo.get_or_compute_async(&text, waits(&event, 1)));
    let mut first = Task::new(poll_fn(|context| flight.as_mut().poll(context)));
    assert!(first.poll().is_pending());
    let woken = first.wakes();
    drop(first);
    let mut second = Task::new(poll_fn(|context| flight.as_mut().poll(context)));
    assert!(second.poll().is_pending());
    event.happen();
    assert_eq!((woken.take(), second.woken()), (0, 1));
}

/// 249: A thousand tasks that wait for a computation that pends ten times.
#[test]
fn a_wake_costs_one_poll() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (event, n) = (Event::new(), if cfg!(miri) { 12 } else { 1000 });
    let mut all = tasks((0..n).map(|_| memo.get_or_compute_async(&text, waits(&event, 10))));
    let (polls, mut done) = (AtomicUsize::new(0), 0);
    let mut poll = |task: &mut Task<_>| {
        polls.fetch_add(1, SeqCst);
        done += usize::from(task.poll().is_ready());
    };
    all.iter_mut().for_each(&mut poll);
    for _ in 0..10 {
        event.happen();
        // What an executor does: polls those that were woken, until there are none.
        loop {
            let mut woken: Vec<_> = all.iter_mut().filter(|task| task.woken() > 0).collect();
            if woken.is_empty() {
                break;
            }
            woken.iter_mut().for_each(|task| poll(task));
        }
    }
    assert_eq!(done, n);
    let polls = polls.into_inner();
    assert!(polls <= 2 * n + 20, "{polls} polls");
}

/// 249: Whoever is polled finds the computation; the contract of `Future` is not asked for more.
#[test]
fn nobody_is_woken_for_nothing() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut all = tasks((0..3).map(|_| memo.get_or_compute_async(&text, waits(&event, 1))));
    for _ in 0..3 {
        all.iter_mut()
            .for_each(|task| assert!(task.poll().is_pending()));
    }
    assert_eq!(all.iter().map(Task::woken).sum::<usize>(), 0);
}

/// 249: Where other computations wait for one, a wake of that goes to a task that waits for it itself, or to a task of each of them.
#[test]
fn a_wake_goes_to_a_task_or_to_all_computations() {
    let memo: &'static Numbers = Box::leak(Box::default());
    let keys: &'static [Strong<usize>; 3] = Box::leak(Box::new([0, 1, 2].map(Strong::new)));
    let event = Event::new();
    let within = |at: usize| {
        let event = Arc::clone(&event);
        memo.get_or_compute_async(&keys[at], move |_, _| async move {
            memo.get_or_compute_async(&keys[0], waits(&event, 1)).await + at
        })
    };
    let mut own = Task::pending(memo.get_or_compute_async(&keys[0], waits(&event, 1)));
    let mut all = tasks([1, 1, 2].map(within));
    let pends = |all: &mut [Task<_>]| all.iter_mut().all(|task| task.poll().is_pending());
    let woken = |all: &[Task<_>]| all.iter().map(Task::woken).collect::<Vec<_>>();
    assert!(pends(&mut all));
    event.wake();
    assert_eq!((own.woken(), woken(&all)), (1, vec![0, 0, 0]));
    event.wake();
    assert_eq!((own.woken(), woken(&all)), (0, vec![0, 1, 1]));
    assert!(own.poll().is_pending() && pends(&mut all));
    drop(own);
    event.wake();
    assert_eq!(woken(&all), [0, 1, 1]);
    event.happen();
    assert_eq!(woken(&all), [0, 0, 0], "none of them was polled since");
    assert_eq!(all[0].poll(), Poll::Ready(5));
    assert_eq!(all[1].poll(), Poll::Ready(5));
    assert_eq!(all[2].poll(), Poll::Ready(6));
}

/// 249: A task that was woken by the computation, and found that another thread polls it, still owes a poll: if it goes then,
/// another one is woken. Before that thread has ended its poll, or after.
#[test]
fn who_could_not_poll_passes_the_wake_on() {
    for early in [true, false] {
        let (memo, text) = (Numbers::new(), Strong::new(4_usize));
        let (begun, go, woke, end) = (channel(), channel::<()>(), channel(), channel::<()>());
        let mut first = Task::new(memo.get_or_compute_async(&text, move |_, _| async move {
            let mut polled = false;
            poll_fn(move |context| {
                if mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                begun.0.send(()).unwrap();
                go.1.recv().unwrap();
                context.waker().wake_by_ref();
                woke.0.send(()).unwrap();
                end.1.recv().unwrap();
                Poll::Pending
            })
            .await;
            4
        }));
        let wakes = first.wakes();
        thread::scope(|scope| {
            let polls = scope.spawn(|| assert!(first.poll().is_pending()));
            begun.1.recv().unwrap();
            let mut second = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 5 }));
            go.0.send(()).unwrap();
            woke.1.recv().unwrap();
            assert_eq!(second.woken(), 1);
            assert!(second.poll().is_pending(), "the first polls it");
            if early {
                drop(second);
                end.0.send(()).unwrap();
                polls.join().unwrap();
            } else {
                end.0.send(()).unwrap();
                polls.join().unwrap();
                assert_eq!((second.woken(), wakes.take()), (1, 0));
                drop(second);
            }
        });
        assert_eq!(wakes.take(), 1, "nobody polls the computation");
        assert_eq!(first.poll(), Poll::Ready(4));
    }
}

/// Panics when it is called, or when it is destroyed.
struct Panics {
    when_called: bool,
}

impl Panics {
    fn waker(when_called: bool) -> Waker {
        Arc::new(Panics { when_called }).into()
    }
}

impl Wake for Panics {
    fn wake(self: Arc<Self>) {
        if self.when_called {
            resume_unwind(Box::new("called"));
        }
    }
}

impl Drop for Panics {
    fn drop(&mut self) {
        if !self.when_called {
            resume_unwind(Box::new("destroyed"));
        }
    }
}

fn panics(run: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(run)).is_err()
}

/// 249: A waker that panics has perhaps woken nobody: all others that wait are woken, and whoever called it gets the panic.
#[test]
fn a_waker_that_panics_passes_the_wake_on() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let event = Event::new();
    let mut all = tasks((0..3).map(|_| memo.get_or_compute_async(&text, waits(&event, 1))));
    assert!(all[0].poll().is_pending() && all[1].poll().is_pending());
    let waker = Panics::waker(true);
    let mut context = Context::from_waker(&waker);
    assert!(all[2].poll_by(&mut context).is_pending());
    assert!(panics(|| event.happen()));
    assert_eq!(all[..2].iter().map(Task::woken).collect::<Vec<_>>(), [1, 1]);
    assert_eq!(all[0].poll(), Poll::Ready(4));
    assert!(
        all.iter_mut()
            .skip(1)
            .all(|task| task.poll() == Poll::Ready(4))
    );
}

/// 249: A task that was woken, and could not poll, goes: when its waker is destroyed, which panics, or when it is polled with
/// another one, which destroys that waker, too.
#[test]
fn a_waker_whose_destructor_panics_passes_the_wake_on() {
    for polled_again in [false, true] {
        let (memo, text) = (Numbers::new(), Strong::new(4_usize));
        let (begun, go, woke, end) = (channel(), channel::<()>(), channel(), channel::<()>());
        let mut first = Task::new(memo.get_or_compute_async(&text, move |_, _| async move {
            let mut polled = false;
            poll_fn(move |context| {
                if mem::replace(&mut polled, true) {
                    return Poll::Ready(());
                }
                begun.0.send(()).unwrap();
                go.1.recv().unwrap();
                context.waker().wake_by_ref();
                woke.0.send(()).unwrap();
                end.1.recv().unwrap();
                Poll::Pending
            })
            .await;
            4
        }));
        let wakes = first.wakes();
        thread::scope(|scope| {
            let polls = scope.spawn(|| assert!(first.poll().is_pending()));
            begun.1.recv().unwrap();
            let mut second = Task::pending(memo.get_or_compute_async(&text, |_, _| async { 5 }));
            go.0.send(()).unwrap();
            woke.1.recv().unwrap();
            assert_eq!((second.woken(), wakes.take()), (1, 0));
            let waker = Panics::waker(false);
            assert!(
                second
                    .poll_by(&mut Context::from_waker(&waker))
                    .is_pending()
            );
            // From now on the flight has the last one.
            assert!(!panics(|| drop(waker)));
            if polled_again {
                assert!(panics(|| _ = second.poll()));
            }
            assert_eq!(panics(|| drop(second)), !polled_again);
            end.0.send(()).unwrap();
            polls.join().unwrap();
        });
        assert_eq!(wakes.take(), 1, "nobody polls the computation");
        assert_eq!(first.poll(), Poll::Ready(4));
    }
}

/// 249: Tasks that are polled again and again while another thread polls take no more room by that.
#[test]
fn who_cannot_poll_takes_room_once() {
    let (memo, text) = (Numbers::new(), Strong::new(4_usize));
    let (begun, go) = (channel(), channel::<()>());
    let mut first = Task::new(memo.get_or_compute_async(&text, move |_, _| async move {
        begun.0.send(()).unwrap();
        go.1.recv().unwrap();
        4
    }));
    thread::scope(|scope| {
        scope.spawn(|| assert_eq!(first.poll(), Poll::Ready(4)));
        begun.1.recv().unwrap();
        let mut others =
            tasks((0..3).map(|_| memo.get_or_compute_async(&text, |_, _| async { 5 })));
        let mut poll = || (others.iter_mut()).for_each(|task| assert!(task.poll().is_pending()));
        poll();
        let before = heap::bytes();
        (0..if cfg!(miri) { 30 } else { 10_000 }).for_each(|_| poll());
        let more = heap::bytes() - before;
        go.0.send(()).unwrap();
        assert!(more < 100, "{more} bytes");
    });
}

/// 249: Two computations that need each other, of which neither poll has found the cycle, since each found the other one taken.
/// The wakes go to tasks, and not round between the two: so if one of the tasks goes, the other one
/// finds the cycle.
#[test]
fn wakes_do_not_go_round_in_a_cycle() {
    let memo: &'static Numbers = Box::leak(Box::default());
    let keys: &'static [Strong<usize>; 2] = Box::leak(Box::new([0, 1].map(Strong::new)));
    // Asks for the other one, when this is polled first after something has happened, and then lets something happen.
    let needs = move |other: usize, before: Box<dyn Fn() + Send>, after: Box<dyn Fn() + Send>| {
        move |_, _| {
            let mut first = true;
            let mut asked = memo.get_or_compute_async(&keys[other], |_, _| async { 5 });
            poll_fn(move |context| {
                if first {
                    before();
                }
                let polled = Pin::new(&mut asked).poll(context);
                if mem::replace(&mut first, false) {
                    after();
                }
                polled
            })
        }
    };
    let (begun, refused, gone) = (channel(), channel(), channel());
    let mut of_0 = Task::new(memo.get_or_compute_async(
        &keys[0],
        needs(
            1,
            Box::new(move || {
                begun.0.send(()).unwrap();
                refused.1.recv().unwrap();
            }),
            Box::new(|| ()),
        ),
    ));
    let mut of_1 = Task::new(memo.get_or_compute_async(
        &keys[1],
        needs(
            0,
            Box::new(move || begun.1.recv().unwrap()),
            Box::new(move || {
                refused.0.send(()).unwrap();
                gone.1.recv().unwrap();
            }),
        ),
    ));
    thread::scope(|scope| {
        let polls = scope.spawn(|| assert!(of_1.poll().is_pending()));
        assert!(of_0.poll().is_pending());
        drop(of_0);
        gone.0.send(()).unwrap();
        polls.join().unwrap();
    });
    assert!(of_1.woken() > 0, "nobody looks for the cycle");
    assert_eq!(
        of_1.poll(),
        Poll::Ready(5),
        "nobody wants the value of the one that panics"
    );
}
