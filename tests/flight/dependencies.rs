//! What a result that tasks compute depends on.

use std::sync::Arc;
use std::task::Poll;

use weakly::memo::{Many, Value};
use weakly::{Memo, Strong};

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
}
