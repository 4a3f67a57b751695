//! The spawned form: a load on one thread, its caller and a further waiter on the other.

use core::future::Future;
use core::pin::Pin;
use core::task::Context;
use std::boxed::Box;
use std::sync::Mutex;

use super::super::Load;
use super::*;
use crate::Memo;

type Numbers = Memo<Strong<Payload>, usize>;
type Caller = Pin<Box<dyn Future<Output = usize>>>;

fn poll(task: &mut Pin<Box<impl Future + ?Sized>>, woken: &Arc<Woken>) -> bool {
    let waker = woken.waker().expect("a model has its waker");
    task.as_mut()
        .poll(&mut Context::from_waker(&waker))
        .is_ready()
}

/// A caller that waits, and its load.
fn spawned(memo: &Arc<Numbers>, object: &Strong<Payload>, woken: &Arc<Woken>) -> (Caller, Load) {
    let load = Arc::new(Mutex::new(None));
    let (memo, object, place) = (Arc::clone(memo), object.clone(), Arc::clone(&load));
    let mut caller: Caller = Box::pin(async move {
        let spawn = move |load| *place.lock().unwrap() = Some(load);
        Memo::get_or_compute_spawned(memo, &object, |_, _| async { 4 }, spawn).await
    });
    assert!(!poll(&mut caller, woken));
    let load = load.lock().unwrap().take();
    (caller, load.expect("it was spawned"))
}

/// L1: The load ends while its caller, or another waiter, is polled once more: each of the two has
/// the value, or is woken.
#[test]
fn a_load_ends_beside_its_caller() {
    for is_caller in [true, false] {
        check(1, move |maker| {
            let (memo, object) = (Arc::new(Numbers::new()), maker.object());
            let (first, woken) = (Woken::new(), Woken::new());
            let (caller, mut load) = spawned(&memo, &object, &first);
            let mut waits = match is_caller {
                true => caller,
                false => {
                    let (memo, object) = (Arc::clone(&memo), object.clone());
                    Box::pin(
                        async move { memo.get_or_compute_async(&object, |_, _| async { 5 }).await },
                    )
                }
            };
            let there = Arc::clone(&first);
            let (ended, polled) =
                both(move || poll(&mut load, &there), || poll(&mut waits, &woken));
            assert!(ended);
            assert!(polled || woken.take(), "it waits for ever");
            assert!(polled || poll(&mut waits, &woken));
            assert_eq!(memo.get(&object), Some(4));
        });
    }
}

/// L1: The load is dropped, polled or not, while another task begins to wait: the task makes the
/// value, or is woken, and then makes the value.
#[test]
fn a_load_is_dropped_beside_a_waiter() {
    check(1, |maker| {
        let (memo, object) = (Arc::new(Numbers::new()), maker.object());
        let (first, woken) = (Woken::new(), Woken::new());
        let (caller, load) = spawned(&memo, &object, &first);
        let mut waits = Box::pin(memo.get_or_compute_async(&object, |_, _| async { 5 }));
        let ((), polled) = both(move || drop(load), || poll(&mut waits, &woken));
        assert!(first.take(), "the caller waits for ever");
        assert!(polled || woken.take(), "it waits for ever");
        assert!(polled || poll(&mut waits, &woken));
        assert_eq!(memo.get(&object), Some(5));
        drop(caller);
    });
}
