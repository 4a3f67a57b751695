//! Values by name: `get_or_insert_async`.

use std::sync::Arc;
use std::task::Poll;

use weakly::Strong;
use weakly::concurrent::WeakValueMap;

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
