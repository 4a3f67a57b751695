//! Computations that come to need themselves.

use std::future::poll_fn;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Barrier, Mutex};
use std::task::Poll;
use std::thread;

use weakly::{Memo, Strong};

use super::numbers::*;
use super::tools::*;

fn leaked<T>(value: T) -> &'static T {
    Box::leak(Box::new(value))
}

#[track_caller]
fn is_cycle<T>(run: impl FnOnce() -> T) {
    let Err(payload) = catch_unwind(AssertUnwindSafe(run)) else {
        panic!("no cycle was found")
    };
    let text = message(payload);
    assert!(
        text.starts_with("a cycle: making the value (usize)"),
        "{text}"
    );
}

/// 248: A computation that needs itself panics, by `await` as by a blocking call.
#[test]
fn a_computation_that_needs_itself_panics() {
    static MEMO: Numbers = Numbers::new();
    let one = leaked(Strong::new(1));
    is_cycle(|| {
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move {
            yields(2).await;
            MEMO.get_or_compute_async(one, move |_, _| async move { 1 })
                .await
        }))
    });
    is_cycle(|| {
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move {
            yields(2).await;
            MEMO.get_or_compute(one, |_| 1)
        }))
    });
    is_cycle(|| {
        MEMO.get_or_compute(one, |_| {
            block_on(MEMO.get_or_compute_async(one, move |_, _| async move { 1 }))
        })
    });
    assert_eq!(
        block_on(MEMO.get_or_compute_async(one, move |_, _| async move { 2 })),
        2
    );
}

/// Makes an answer of an event, and then of another computation, if there is one.
fn needs<'a>(
    memo: &'a Numbers,
    key: &'a Strong<usize>,
    event: &Arc<Event>,
    then: Option<&'a Strong<usize>>,
) -> Answer<'a> {
    let event = Arc::clone(event);
    memo.get_or_compute_async(key, move |_, _| async move {
        event.wait().await;
        match then {
            Some(key) => memo.get_or_compute_async(key, |_, _| async { 1 }).await + 1,
            None => 1,
        }
    })
}

/// Awaits two futures in turn, as `join!` does.
async fn both(mut one: Answer<'_>, mut other: Answer<'_>) -> usize {
    let mut values = [None; 2];
    poll_fn(|context| {
        for (asked, value) in [&mut one, &mut other].into_iter().zip(&mut values) {
            if value.is_none() {
                if let Poll::Ready(made) = asked.as_mut().poll(context) {
                    *value = Some(made);
                }
            }
        }
        match values {
            [Some(one), Some(other)] => Poll::Ready(one + other),
            _ => Poll::Pending,
        }
    })
    .await
}

/// 452: A computation that joins waits for several others at once: each of the edges may be that of a cycle, wherever the
/// reservation is, with this computation or inside it.
#[test]
fn a_computation_that_joins_has_an_edge_for_each() {
    for inside in [false, true] {
        for at in [0, 1] {
            let (memo, keys) = (Numbers::new(), [0, 1, 2, 3].map(Strong::<usize>::new));
            let events = [(); 3].map(|()| Event::new());
            let mut others = [1, 2].map(|other| {
                let then = (other == at + 1).then_some(&keys[0]);
                Task::pending(needs(&memo, &keys[other], &events[other], then))
            });
            let joins = || {
                let ask = |at: usize| memo.get_or_compute_async(&keys[at], |_, _| async { 9 });
                both(ask(1), ask(2))
            };
            let mut joins = Task::pending(memo.get_or_compute_async(&keys[0], |_, _| async {
                match inside {
                    false => joins().await,
                    true => memo.get_or_compute_async(&keys[3], |_, _| joins()).await,
                }
            }));
            events[at + 1].happen();
            is_cycle(|| others[at].poll());
            events[2 - at].happen();
            assert_eq!(others[1 - at].poll(), Poll::Ready(1));
            assert_eq!(joins.poll(), Poll::Ready(10));
        }
    }
}

/// 452: What is computed inside one branch of a join does not wait for the other branch.
#[test]
fn the_branches_of_a_join_do_not_wait_for_each_other() {
    let (memo, keys) = (Numbers::new(), [0, 1, 2, 3].map(Strong::<usize>::new));
    let events = [(); 4].map(|()| Event::new());
    // 0 joins 3, which is inside it, and 1; 1 needs 2, which needs 3.
    let mut one = Task::pending(needs(&memo, &keys[1], &events[1], Some(&keys[2])));
    let mut two = Task::pending(needs(&memo, &keys[2], &events[2], Some(&keys[3])));
    let mut joins = Task::pending(memo.get_or_compute_async(&keys[0], |_, _| {
        let inside = needs(&memo, &keys[3], &events[3], None);
        both(
            inside,
            memo.get_or_compute_async(&keys[1], |_, _| async { 9 }),
        )
    }));
    events[1].happen();
    events[2].happen();
    assert!(two.poll().is_pending() && one.poll().is_pending() && joins.poll().is_pending());
    events[3].happen();
    assert!(joins.poll().is_pending());
    assert_eq!((two.poll(), one.poll()), (Poll::Ready(2), Poll::Ready(3)));
    assert_eq!(joins.poll(), Poll::Ready(4));
}

/// 452: A future that a computation has begun, and passes on, waits in the name of whoever polls it.
#[test]
fn a_future_that_is_passed_on_waits_elsewhere() {
    for leads in [true, false] {
        let (memo, keys) = (Numbers::new(), [0, 1, 2].map(Strong::<usize>::new));
        let event = Event::new();
        let leader = (!leads).then(|| needs(&memo, &keys[1], &event, Some(&keys[0])));
        let mut leader = leader.map(Task::pending);
        let passed = Mutex::new(None);
        let mut first = Task::pending(memo.get_or_compute_async(&keys[0], |_, _| async {
            let mut asked = needs(&memo, &keys[1], &event, Some(&keys[0]));
            poll_fn(|context| {
                assert!(asked.as_mut().poll(context).is_pending());
                Poll::Ready(())
            })
            .await;
            *passed.lock().unwrap() = Some(asked);
            yields(1).await;
            5
        }));
        let mut asked = Task::pending(passed.lock().unwrap().take().unwrap());
        event.happen();
        if let Some(leader) = &mut leader {
            assert!(leader.poll().is_pending());
        }
        assert!(
            asked.poll().is_pending(),
            "no cycle: nobody polls it in the first"
        );
        assert_eq!(first.poll(), Poll::Ready(5));
        if let Some(leader) = &mut leader {
            assert_eq!(leader.poll(), Poll::Ready(6));
        }
        assert_eq!(asked.poll(), Poll::Ready(6));
    }
}

/// 248: A cycle through two memos, of threads and tasks.
#[test]
fn a_cycle_may_lead_through_two_memos() {
    for at in 0..if cfg!(miri) { 4 } else { 200 } {
        let (one, two) = (Numbers::new(), Memo::<Strong<usize>, String>::new());
        let (key, meet) = (Strong::new(1_usize), Barrier::new(2));
        let by_task = |memo: &Numbers| {
            block_on(memo.get_or_compute_async(&key, |_, _| async {
                meet.wait();
                two.get_or_compute_async(&key, |_, _| async { "task".into() })
                    .await
                    .len()
            }))
        };
        let by_thread = || {
            two.get_or_compute(&key, |_| {
                meet.wait();
                match at % 2 {
                    0 => one.get_or_compute(&key, |_| 7).to_string(),
                    _ => block_on(one.get_or_compute_async(&key, |_, _| async { 7 })).to_string(),
                }
            })
        };
        thread::scope(|scope| {
            let other = scope.spawn(|| catch_unwind(AssertUnwindSafe(by_thread)));
            let found = catch_unwind(AssertUnwindSafe(|| by_task(&one)));
            let other = other.join().unwrap();
            assert!(found.is_err() || other.is_err(), "no cycle was found");
            let (found, other) = (found.err(), other.err());
            for payload in found.into_iter().chain(other) {
                assert!(message(payload).starts_with("a cycle"));
            }
        });
    }
}
