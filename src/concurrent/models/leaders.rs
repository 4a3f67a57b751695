//! A leader and its waiters, in a table.

use core::future::{Future, pending};
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::boxed::Box;
use std::panic::{catch_unwind, resume_unwind};

use super::*;
use crate::Memo;
use crate::sync::Mutex;

type Asked<'m> = Pin<Box<dyn Future<Output = Strong<Payload>> + 'm>>;

/// Asks for a value; makes it if there is none.
fn asks<'m>(map: &'m Map, object: &'m Strong<Payload>) -> Asked<'m> {
    Box::pin(map.get_or_insert_async(0, move |_| async move { object.clone() }))
}

fn poll(asked: &mut Asked<'_>, woken: &Arc<Woken>) -> Poll<Strong<Payload>> {
    let waker = woken.waker().expect("a model has its waker");
    asked.as_mut().poll(&mut Context::from_waker(&waker))
}

/// The task that has been polled once gets a value, if it has to wait when it is woken.
fn gets(
    polled: Poll<Strong<Payload>>,
    asked: &mut Asked<'_>,
    woken: &Arc<Woken>,
) -> Strong<Payload> {
    match polled {
        Poll::Ready(value) => value,
        Poll::Pending => {
            assert!(woken.take(), "it sleeps on");
            match poll(asked, woken) {
                Poll::Ready(value) => value,
                Poll::Pending => panic!("nobody makes the value"),
            }
        }
    }
}

/// F3, F4: A leader is dropped while a task arrives. The task makes the value.
#[test]
fn a_dropped_leader_beside_an_arriving_waiter() {
    check_some(1, |maker| {
        let (map, object, woken) = (Arc::new(Map::default()), maker.object(), Woken::new());
        let its = Arc::clone(&map);
        let mut leader: Asked<'_> =
            Box::pin(async move { its.get_or_insert_async(0, |_| pending()).await });
        assert!(poll(&mut leader, &woken).is_pending());
        let mut asked = asks(&map, &object);
        let ((), polled) = both(move || drop(leader), || poll(&mut asked, &woken));
        let value = gets(polled, &mut asked, &woken);
        assert!(Strong::ptr_eq(&value, &object));
        assert!(map.contains_key(&0));
    });
}

/// F3 to F5: While a thread makes a value, or panics, a value is inserted or removed, and a task
/// asks: the task gets the inserted value, the made value, or makes a value itself.
#[test]
fn a_value_changes_while_it_is_made() {
    let changes: [fn(&Map, &Strong<Payload>); 3] = [
        |_, _| (),
        |map, ours| _ = map.insert(0, ours),
        |map, _| _ = map.remove(&0),
    ];
    for change in changes {
        for panics in [false, true] {
            check_few(2, move |maker| {
                let (map, woken) = (Arc::new(Map::default()), Woken::new());
                let (ours, theirs) = (maker.object(), maker.object());
                let (leads, made) = (Arc::clone(&map), theirs.clone());
                let leads = move || {
                    let make = |_: &u32| match panics {
                        true => resume_unwind(Box::new(())),
                        false => made,
                    };
                    let make = AssertUnwindSafe(|| drop(leads.get_or_insert_with(0, make)));
                    _ = catch_unwind(make);
                };
                let mut asked = asks(&map, &ours);
                let ((), polled) = both(leads, || {
                    change(&map, &ours);
                    poll(&mut asked, &woken)
                });
                let value = gets(polled, &mut asked, &woken);
                assert!(Strong::ptr_eq(&value, &ours) || Strong::ptr_eq(&value, &theirs));
                assert!(
                    map.get(&0)
                        .is_none_or(|there| Strong::ptr_eq(&there, &value))
                );
            });
        }
    }
}

/// A result that was computed before an invalidation is not found after it. The computation reads
/// under the lock under which the object changes.
#[test]
fn a_computation_against_an_invalidation() {
    check_some(1, |maker| {
        let memo = Arc::new(Memo::<Strong<Payload>, usize>::new());
        let (object, state) = (maker.object(), Arc::new(Mutex::new(0)));
        let computes = {
            let (memo, object, state) = (memo.clone(), object.clone(), state.clone());
            move || memo.get_or_compute(&object, |_| *state.lock())
        };
        both(computes, || {
            *state.lock() = 1;
            memo.invalidate(&object);
            assert_ne!(memo.get(&object), Some(0), "of the old state");
        });
        assert_ne!(memo.get(&object), Some(0), "of the old state, later");
    });
}

/// J4: A thread uses a reservation again, but not if another thread waits for the reservation, or
/// is about to.
#[test]
fn a_reservation_is_used_again() {
    check_few(2, |maker| {
        let map = Arc::new(Map::default());
        let (ours, theirs) = (maker.object(), maker.object());
        let (leads, made) = (Arc::clone(&map), theirs.clone());
        let leads = move || drop(leads.get_or_insert_with(0, |_| made));
        let ((), value) = both(leads, || map.get_or_insert_with(0, |_| ours.clone()));
        assert!(
            map.get(&0)
                .is_none_or(|there| Strong::ptr_eq(&value, &there))
        );
        drop(map.get_or_insert_with(1, |_| ours.clone()));
        assert!(map.contains_key(&1));
    });
}
