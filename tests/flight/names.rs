//! Values by name: `get_or_insert_async`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::task::Poll;

use weakly::Strong;
use weakly::concurrent::WeakValueMap;
use weakly::keep::Limit;

use super::tools::*;

/// 253: By name the value comes back; the map does not keep it alive. Those that wait do, and then the caller.
#[test]
fn by_name_the_value_comes_back() {
    let tenants = WeakValueMap::<usize, Strong<usize>>::new();
    let event = Event::new();
    let ask = |name| {
        let event = Arc::clone(&event);
        tenants.get_or_insert_async(name, move |name| async move {
            event.wait().await;
            Strong::new(name + 1)
        })
    };
    let (mut one, mut other) = (Task::pending(ask(7)), Task::pending(ask(7)));
    assert!(tenants.is_empty());
    event.happen();
    let Poll::Ready(tenant) = one.poll() else {
        panic!("it has happened")
    };
    assert_eq!(*tenant, 8);
    assert!(Strong::ptr_eq(&block_on(ask(7)), &tenant), "there already");
    drop(tenant);
    assert!(tenants.contains_key(&7), "the other one has it");
    assert!(other.poll().map(|tenant| assert_eq!(*tenant, 8)).is_ready());
    assert!(!tenants.contains_key(&7));
    drop((one, other));

    // A waiter that is dropped, or a thread that waits, keeps nothing for longer.
    let (mut one, other) = (Task::pending(ask(7)), Task::pending(ask(7)));
    event.happen();
    assert!(one.poll().is_ready() && tenants.contains_key(&7));
    drop(other);
    assert!(!tenants.contains_key(&7));
    drop(one);

    event.happen();
    let again = block_on(ask(7));
    assert_eq!(Strong::strong_count(&again), 1);
    assert!(Strong::ptr_eq(
        &tenants.get_or_insert_with(7, |_| unreachable!()),
        &again
    ));
}

/// 253: A value that waiting tasks keep alive goes with the last of them, also if a thread is inside the map meanwhile.
#[test]
fn nothing_of_a_reservation_keeps_its_value() {
    let (names, event) = (WeakValueMap::<usize, Strong<usize>>::new(), Event::new());
    let ask = || {
        let event = Arc::clone(&event);
        names.get_or_insert_async(7, |name| async move {
            event.wait().await;
            Strong::new(name)
        })
    };
    let nothing = names.compute(9, |_| {
        let (mut leads, mut waits, goes) = (Task::pending(ask()), Task::pending(ask()), ask());
        let goes = Task::pending(goes);
        event.happen();
        drop(leads.poll());
        assert!(names.contains_key(&7));
        drop(waits.poll());
        assert!(names.contains_key(&7));
        drop(waits);
        assert!(names.contains_key(&7));
        drop(goes);
        assert!(!names.contains_key(&7));
        drop(leads);
        None
    });
    assert!(nothing.is_none());
}

/// 253: Of handles that do not notify, likewise; errors and panics are those of the caller's closure.
#[test]
fn a_name_may_fail() {
    let files = WeakValueMap::<usize, Arc<usize>>::new();
    let fails = files.try_get_or_insert_async(1, |key| async move { Err(key) });
    assert_eq!(block_on(fails), Err(1));
    let value =
        block_on(files.try_get_or_insert_async(1, |key| async move { Ok::<_, ()>(Arc::new(key)) }));
    assert_eq!(value.as_deref(), Ok(&1));
    let same = block_on(files.get_or_insert_async(1, |_| async { unreachable!() }));
    assert!(Arc::ptr_eq(&same, &value.unwrap()));
    drop(same);
    let needs = catch_unwind(AssertUnwindSafe(|| {
        static FILES: std::sync::LazyLock<WeakValueMap<usize, Arc<usize>>> =
            std::sync::LazyLock::new(WeakValueMap::new);
        block_on(FILES.get_or_insert_async(1, |_| async {
            FILES
                .get_or_insert_async(1, |_| async { unreachable!() })
                .await
        }))
    }));
    assert!(message(needs.unwrap_err()).starts_with("a cycle"));
}

/// 253: With a floor, a value outlives those that wait.
#[test]
fn a_floor_keeps_what_tasks_have_made() {
    let tenants = WeakValueMap::<usize, Strong<usize>>::new();
    let kept = tenants.set_keep_alive(Limit::entries(1), |_: &Strong<usize>| 1);
    for name in 0..3 {
        block_on(tenants.get_or_insert_async(name, |name| async move { Strong::new(name) }));
    }
    assert_eq!((tenants.len(), kept.len()), (1, 1));
    assert!(tenants.contains_key(&2));
}
