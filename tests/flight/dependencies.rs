//! What a result that tasks compute depends on.

use std::mem;
use std::sync::{Arc, Mutex};
use std::task::Poll;

use weakly::memo::{Dependencies, Many, Value};
use weakly::{Anchor, Memo, Strong};

use super::numbers::*;
use super::tools::*;

/// 251: The result goes with the first object on which it depends. One that dies in flight, or is invalidated after it was
/// declared, keeps it from being kept.
#[test]
fn a_result_goes_with_what_it_depends_on() {
    let (memo, key) = (Numbers::new(), Strong::new(1));
    let ask = |event: &Arc<Event>, on: &Strong<usize>, arc: &Arc<usize>| {
        let (event, on, arc) = (
            Arc::clone(event),
            Strong::downgrade(on),
            Arc::downgrade(arc),
        );
        memo.get_or_compute_async(&key, move |_, cx| async move {
            if let Some(on) = on.upgrade() {
                cx.depends_on(&on);
            }
            if let Some(arc) = arc.upgrade() {
                cx.depends_on(&arc);
            }
            event.wait().await;
            4
        })
    };
    for way in 0..5 {
        let (on, arc, event) = (Strong::new(2), Arc::new(3), Event::new());
        let mut task = Task::pending(ask(&event, &on, &arc));
        let mut kept = (Some(on), Some(arc));
        match way {
            0 => kept.0 = None,
            1 => kept.1 = None,
            2 => assert_eq!(memo.invalidate(kept.0.as_ref().unwrap()), 0),
            _ => {}
        }
        event.happen();
        assert_eq!(task.poll(), Poll::Ready(4));
        assert_eq!(memo.get(&key), (way > 2).then_some(4), "{way}");
        if way == 3 {
            drop(kept.0);
        } else {
            drop(kept.1);
        }
        assert_eq!(memo.get(&key), None);
        memo.purge();
        memo.clear();
    }
}

/// 251: Dependencies can go to another thread. After the computation they do nothing, also if the memo is gone, or the flight
/// was forgotten.
#[test]
fn dependencies_outlive_what_they_are_for() {
    static TAKEN: Mutex<Vec<Dependencies>> = Mutex::new(Vec::new());
    let take = |memo: &Numbers, key: &Strong<usize>, ends: bool| {
        let flight = memo.get_or_compute_async(key, move |_, cx| async move {
            TAKEN.lock().unwrap().push(cx);
            if !ends {
                std::future::pending::<()>().await;
            }
            4
        });
        let mut flight = Box::pin(flight);
        let mut context = std::task::Context::from_waker(std::task::Waker::noop());
        assert_eq!(flight.as_mut().poll(&mut context).is_ready(), ends);
        mem::forget(flight);
        TAKEN.lock().unwrap().pop().unwrap()
    };
    let (key, other, on) = (Strong::new(1), Strong::new(2), Strong::new(3));
    let memo = Numbers::new();
    let after = take(&memo, &key, true);
    after.depends_on(&on);
    assert_eq!(Strong::weak_count(&on), 0);
    let before = take(&memo, &other, false);
    std::thread::scope(|scope| {
        scope.spawn(|| before.depends_on(&on));
    });
    assert_eq!(Strong::weak_count(&on), 1);
    // Removed, and so of no use.
    let removed = take(&memo, &on, false);
    memo.remove(&on);
    removed.depends_on(&other);
    drop(memo);
    assert_eq!(
        Strong::weak_count(&on),
        1,
        "its own flight, which was forgotten"
    );
    [after, before, removed]
        .iter()
        .for_each(|each| each.depends_on(&other));
    assert_eq!(Strong::weak_count(&other), 1);
    drop((key, other, on));
}

/// 251: An object that takes the place of one that has died in flight has nothing to do with that. (The address of an anchor,
/// and of a large payload, is free then.)
#[test]
fn an_address_is_not_an_object() {
    let memo = Memo::<Anchor, usize>::new();
    let event = Event::new();
    let mut place = Some(Anchor::new());
    let ask = |place: &Option<Anchor>, answer| {
        let event = Arc::clone(&event);
        memo.get_or_compute_async(place.as_ref().unwrap(), move |_, _| async move {
            event.wait().await;
            answer
        })
    };
    let mut of_the_dead = Task::pending(ask(&place, 1));
    let mut forgotten = Box::pin(ask(&place, 1));
    let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    assert!(forgotten.as_mut().poll(&mut context).is_pending());
    mem::forget(forgotten);
    place = None;
    assert!(place.is_none());
    place = Some(Anchor::new());
    let mut task = Task::pending(ask(&place, 2));
    event.happen();
    event.happen();
    assert_eq!(
        (of_the_dead.poll(), task.poll()),
        (Poll::Ready(1), Poll::Ready(2))
    );
    assert_eq!(memo.get(place.as_ref().unwrap()), Some(2));

    // A thread does not wait for it either.
    memo.clear();
    let of_the_dead = Task::pending(ask(&place, 1));
    place = None;
    assert!(place.is_none());
    place = Some(Anchor::new());
    assert_eq!(memo.get_or_compute(place.as_ref().unwrap(), |_| 3), 3);
    drop(of_the_dead);
    assert_eq!(memo.len(), 1);
}

/// 291: The closure gets the key weakly, each part of it: it can use the objects, and need not keep them alive.
#[test]
fn a_computation_gets_its_key_weakly() {
    type Key = (Strong<str>, Value<String>, Many<Arc<usize>>);
    let memo = Memo::<Key, String>::new();
    let (one, others) = (Strong::<str>::from("one"), [2, 3].map(Arc::new));
    let event = Event::new();
    let ask = |event: Arc<Event>| {
        memo.get_or_compute_async((&one, "x", &others), |(one, plain, others), _| async move {
            event.wait().await;
            let others: Vec<_> = others.iter().map(std::sync::Weak::upgrade).collect();
            format!("{:?} {plain} {others:?}", one.upgrade())
        })
    };
    let mut task = Task::pending(ask(Arc::clone(&event)));
    event.happen();
    let Poll::Ready(text) = task.poll() else {
        unreachable!();
    };
    assert_eq!(text, "Some(\"one\") x [Some(2), Some(3)]");
    assert_eq!(Arc::strong_count(&others[0]), 1);
    drop(task);
    memo.clear();

    let event = Event::new();
    let mut task = Task::pending(ask(Arc::clone(&event)));
    drop(one);
    event.happen();
    let Poll::Ready(text) = task.poll() else {
        unreachable!();
    };
    assert_eq!(text, "None x [Some(2), Some(3)]");
    assert!(memo.is_empty());
}

/// 291: That of an anchor, too.
#[test]
fn a_computation_gets_its_anchor_weakly() {
    let (memo, anchor) = (Memo::<Anchor, usize>::new(), Anchor::new());
    let same = anchor.downgrade();
    let ask = memo.get_or_compute_async(
        &anchor,
        move |key, _| async move { usize::from(key == same) },
    );
    assert_eq!(Task::new(ask).poll(), Poll::Ready(1));
}
