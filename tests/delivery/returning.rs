//! Objects whose payloads return to a queue at their death. The numbers are those of the behaviours.

#![allow(unsafe_code)]

#[path = "returning/access.rs"]
mod access;
#[path = "returning/threads.rs"]
mod threads;

use std::any::Any;
use std::fmt::Debug;
use std::mem::MaybeUninit;
use std::ptr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::task::{Context, Wake, Waker};
use std::thread;

use crate::Woken;
use crate::common::{self, Count, Log, forget, panics, quiet_panic};
use weakly::{
    ReferenceQueue, Strong, WeakMap, WeakSet, assert_dead, concurrent, impl_trace,
    leaks::LeakWatch, unsize,
};

/// A handle whose type is not that of its object: collections of such handles are compiled once.
type Erased = Strong<dyn Any + Send + Sync>;

fn erased<T: Any + Send + Sync>(object: &Strong<T>) -> Erased {
    unsize!(object.clone() => dyn Any + Send + Sync)
}

/// A payload that notes its destruction.
struct Noted(Log, &'static str);

impl Drop for Noted {
    fn drop(&mut self) {
        self.0.note(self.1);
    }
}

/// What waits in a queue.
fn all<T>(queue: &ReferenceQueue<T>) -> Vec<T> {
    queue.drain().collect()
}

/// 230: The last handle moves the payload into the queue, on whatever thread it is dropped; no other handle does.
#[test]
fn the_last_drop_returns_the_payload() {
    let (queue, log) = (ReferenceQueue::new(), Log::default());
    let object = Strong::new_returning(Noted(log.clone(), "destroyed"), &queue);
    let clone = object.clone();
    drop(object);
    assert!(queue.is_empty());
    thread::spawn(move || drop(clone)).join().unwrap();
    let returned = all(&queue);
    assert_eq!((returned.len(), log.take().len()), (1, 0));
    drop(returned);
    assert_eq!(log.take(), ["destroyed"]);
}

/// 230: The bytes are those of the payload, whatever its size and alignment, and so with a weak handle beside.
#[test]
fn payloads_of_each_layout_return() {
    #[derive(Debug, PartialEq, Clone, Copy)]
    #[repr(align(128))]
    struct Aligned(u8);
    #[derive(Debug, PartialEq, Clone, Copy)]
    #[repr(align(1024))]
    struct Page(u8);
    fn returns<T: Copy + PartialEq + Debug + Send + Sync + 'static>(value: T) {
        let queue = ReferenceQueue::new();
        drop(Strong::new_returning(value, &queue));
        assert_eq!(all(&queue), [value]);
        let object = Strong::new_returning(value, &queue);
        let weak = Strong::downgrade(&object);
        let mut map = WeakMap::from_iter([(&erased(&object), 1)]);
        let shared = concurrent::WeakMap::from_iter([(&erased(&object), 1)]);
        drop(object);
        assert_eq!((all(&queue), weak.is_expired()), (vec![value], true));
        assert!(map.is_empty() && shared.is_empty());
        map.purge();
        drop(weak);
        // As a slot for the next, whose address may be the same.
        drop(Strong::new_returning(value, &queue));
        assert_eq!(queue.len(), 1);
    }
    returns(());
    returns(7_u8);
    returns([1_usize, 2, 3]);
    returns([5_u8; 240]);
    returns([6_u8; 241]);
    returns([usize::MAX; 100]);
    returns(Aligned(1));
    returns(Page(2));
    returns([Page(3); 2]);
}

/// 230: Handles to a `dyn Trait`, a slice, or none of its own type any more, know nothing of the payload's type: it
/// returns as what it was made.
#[test]
fn an_unsized_handle_returns_what_it_was() {
    let (queue, log) = (ReferenceQueue::new(), Log::default());
    let noted = |name| Strong::new_returning([Noted(log.clone(), name)], &queue);
    drop(unsize!(noted("slice") => [Noted]));
    drop(unsize!(noted("any") => dyn Any + Send));
    let weak = Strong::downgrade(&unsize!(noted("weak") => dyn Any));
    assert!(weak.is_expired());
    let raw = Strong::into_raw(unsize!(noted("raw") => [Noted]));
    // SAFETY: from `into_raw`.
    drop(unsafe { Strong::from_raw(raw) });
    let some: Strong<dyn Any> = unsize!(noted("down") => dyn Any);
    drop(some.downcast::<[Noted; 1]>().unwrap());
    assert_eq!(log.take(), [""; 0]);
    let names: Vec<_> = queue.drain().map(|[noted]| noted.1).collect();
    assert_eq!(names, ["slice", "any", "weak", "raw", "down"]);
    assert_eq!(log.take(), names);
}

/// 230: A payload that was made later returns in the type that it had.
#[test]
fn an_uninitialised_payload_returns() {
    let queue = ReferenceQueue::new();
    let mut object = Strong::new_returning(MaybeUninit::<Box<u8>>::uninit(), &queue);
    queue.get_mut(&mut object).unwrap().write(Box::new(5));
    // SAFETY: written just now; again, it comes as it went in.
    unsafe {
        drop(object.assume_init());
        assert_eq!(*queue.poll().unwrap().assume_init(), 5);
    }
}

/// 230: A handle that is forgotten returns nothing.
#[test]
fn a_forgotten_handle_returns_nothing() {
    let queue = ReferenceQueue::new();
    let object = Strong::new_returning(1, &queue);
    forget(object.clone());
    drop(object);
    assert!(queue.is_empty());
}

/// 231: When the payload is in the queue, weak handles are expired, no collection finds the object, and the finalizers
/// have run, newest first. A cancelled one has not.
#[test]
fn the_payload_comes_last() {
    let (queue, log) = (ReferenceQueue::new(), Log::default());
    let object = Strong::new_returning(Noted(log.clone(), "destroyed"), &queue);
    let weak = Strong::downgrade(&object);
    let mut map = WeakMap::from_iter([(&object, ())]);
    let other = WeakSet::from_iter([&object]);
    let shared = Arc::new(concurrent::WeakSet::from_iter([&object]));
    let note = |name: &'static str| {
        let (log, queue, weak) = (log.clone(), queue.clone(), weak.clone());
        let shared = shared.clone();
        Strong::finalize(&object, move || {
            assert!(weak.upgrade().is_none() && queue.is_empty() && shared.is_empty());
            log.note(name);
        })
    };
    let (first, cancelled) = (note("first"), note("cancelled"));
    note("last");
    assert!(cancelled.detach().is_some() && first.is_pending());
    let delivered = ReferenceQueue::new();
    delivered.register(&object, ());
    drop(object);
    assert!(!first.is_pending());
    assert_eq!((log.take(), delivered.len()), (vec!["last", "first"], 1));
    assert_eq!((map.len(), other.len(), weak.strong_count()), (0, 0, 0));
    map.purge();
    let returned = all(&queue);
    assert_eq!((returned.len(), log.take().len()), (1, 0));
    drop(returned);
    assert_eq!(log.take(), ["destroyed"]);
}

/// 231: A finalizer that panics keeps neither the others from running, nor the payload from returning.
#[test]
fn a_panic_of_a_finalizer_goes_on() {
    fn returns<T: Clone + PartialEq + Debug + Send + 'static>(value: T) {
        let (queue, runs) = (ReferenceQueue::new(), Count::default());
        let object = Strong::new_returning(value.clone(), &queue);
        let weak = Strong::downgrade(&object);
        let (before, after) = (runs.clone(), runs.clone());
        Strong::finalize(&object, move || _ = before.add());
        Strong::finalize(&object, || quiet_panic());
        Strong::finalize(&object, move || _ = after.add());
        assert!(panics(move || drop(object)));
        assert_eq!((runs.get(), all(&queue)), (2, vec![value]));
        assert!(weak.is_expired());
    }
    returns(vec![7]);
    returns([7; 100]);
}

/// 232: Who takes the payload has it, and nothing is sent. The finalizers run; the entries go.
#[test]
fn a_payload_that_is_taken_does_not_return() {
    let (queue, log) = (ReferenceQueue::new(), Log::default());
    let make = || {
        let object = Strong::new_returning(Rced(log.clone()), &queue);
        let log = log.clone();
        Strong::finalize(&object, move || log.note("finalized"));
        let weak = Strong::downgrade(&object);
        (object, weak)
    };
    #[derive(Clone)]
    struct Rced(Log);
    let (object, weak) = make();
    let clone = object.clone();
    let object = Strong::try_unwrap(object).map(|_| ()).unwrap_err();
    drop(clone);
    let taken = Strong::try_unwrap(object).ok().unwrap();
    assert_eq!(taken.0.take(), ["finalized"]);
    assert!(weak.is_expired());

    let (object, weak) = make();
    let clone = object.clone();
    assert!(Strong::into_inner(object).is_none());
    let taken = Strong::into_inner(clone).unwrap();
    assert_eq!(taken.0.take(), ["finalized"]);
    assert!(weak.is_expired());

    let (object, weak) = make();
    let taken = Strong::unwrap_or_clone(object);
    assert_eq!(taken.0.take(), ["finalized"]);
    assert!(weak.is_expired() && queue.is_empty());

    let (object, _) = make();
    let clone = object.clone();
    drop(Strong::unwrap_or_clone(object));
    assert!(queue.is_empty());
    drop(clone);
    assert_eq!(queue.len(), 1, "the other handle was the last");
}

/// 233: `make_mut` clones, wherever it finds the object: alone, watched, or shared. The clone is
/// another value, and does not return. The payload returns when its last handle goes.
#[test]
fn make_mut_clones_what_returns() {
    let queue = ReferenceQueue::new();
    let mut object = Strong::new_returning(vec![0], &queue);
    let place = Strong::as_ptr(&object);
    Strong::make_mut(&mut object).push(1);
    assert_ne!(place, Strong::as_ptr(&object));
    assert_eq!((&*object, all(&queue)), (&vec![0, 1], vec![vec![0]]));
    Strong::get_mut(&mut object).unwrap().push(2);
    drop(object);
    assert!(queue.is_empty());

    let mut object = Strong::new_returning(vec![0], &queue);
    let (weak, runs) = (Strong::downgrade(&object), Count::default());
    let counted = runs.clone();
    Strong::finalize(&object, move || _ = counted.add());
    let set = WeakSet::from_iter([&object]);
    Strong::make_mut(&mut object).push(2);
    assert!(weak.is_expired() && set.is_empty());
    assert_eq!((runs.get(), all(&queue)), (1, vec![vec![0]]));

    let object = Strong::new_returning(vec![0], &queue);
    let mut clone = object.clone();
    Strong::make_mut(&mut clone).push(4);
    drop(clone);
    assert!(queue.is_empty(), "a clone is another value");
    drop(object);
    assert_eq!(all(&queue), [vec![0]]);
}

/// 233: A clone that panics leaves everything as it was. Finalizers that do keep the payload from
/// nothing.
#[test]
fn a_panic_in_make_mut_loses_no_payload() {
    struct Panics(u8, bool);
    impl Clone for Panics {
        fn clone(&self) -> Self {
            if self.1 {
                quiet_panic();
            }
            Panics(self.0 + 1, self.1)
        }
    }
    let queue = ReferenceQueue::new();
    for shared in [false, true] {
        let mut object = Strong::new_returning(Panics(1, true), &queue);
        let other = shared.then(|| object.clone());
        let weak = Strong::downgrade(&object);
        assert!(panics(|| Strong::make_mut(&mut object).0 = 2));
        assert!(Strong::ptr_eq(&object, &weak.upgrade().unwrap()) && queue.is_empty());
        drop((object, other));
        assert_eq!(all(&queue).len(), 1);
    }
    let mut object = Strong::new_returning(Panics(1, false), &queue);
    Strong::finalize(&object, || quiet_panic());
    assert!(panics(|| Strong::make_mut(&mut object).0 = 9));
    assert_eq!((object.0, queue.poll().map(|it| it.0)), (2, Some(1)));
    drop(object);
    assert!(queue.is_empty());
}

/// 233: The promise is no handle: a queue's `get_mut` works beside it, and it is not counted.
/// `Strong::get_mut` refuses.
#[test]
fn the_promise_does_not_count() {
    let queue = ReferenceQueue::new();
    let mut object = Strong::new_returning(1, &queue);
    let token = Strong::finalize(&object, || ());
    assert_eq!(
        (Strong::strong_count(&object), Strong::weak_count(&object)),
        (1, 0)
    );
    assert!(Strong::get_mut(&mut object).is_none());
    *queue.get_mut(&mut object).unwrap() = 2;
    let weak = Strong::downgrade(&object);
    assert_eq!(Strong::weak_count(&object), 1);
    assert!(queue.get_mut(&mut object).is_none());
    drop(weak);
    let mut map = WeakMap::from_iter([(&object, ())]);
    assert!(queue.get_mut(&mut object).is_none());
    map.clear();
    *queue.get_mut(&mut object).unwrap() = 3;
    let clone = object.clone();
    assert!(queue.get_mut(&mut object).is_none());
    drop((clone, token));
    *queue.clone().get_mut(&mut object).unwrap() = 4;
    assert!(Strong::get_mut(&mut object).is_none());
    drop(object);
    assert_eq!(queue.poll(), Some(4));
}

/// 234: Where the queue has gone, the payload is destroyed where it is, after the finalizers.
#[test]
fn without_a_queue_the_payload_is_destroyed_in_place() {
    struct Placed(Log, Arc<AtomicUsize>, #[allow(dead_code)] [u8; 100]);
    impl Drop for Placed {
        fn drop(&mut self) {
            assert_eq!(self.1.load(Relaxed), ptr::from_ref(self).addr());
            self.0.note("destroyed");
        }
    }
    let (log, queue) = (Log::default(), ReferenceQueue::new());
    let place = Arc::new(AtomicUsize::new(0));
    let object = Strong::new_returning(Placed(log.clone(), place.clone(), [0; 100]), &queue);
    place.store(Strong::as_ptr(&object).addr(), Relaxed);
    let (weak, its, last) = (Strong::downgrade(&object), log.clone(), queue);
    Strong::finalize(&object, move || {
        // The queue may go as late as here.
        drop(last);
        its.note("finalized");
    });
    drop(object);
    assert_eq!(log.take(), ["finalized", "destroyed"]);
    assert!(weak.is_expired());
}

/// 234: What waits in a queue is destroyed with its last handle; what its destructor returns there, too.
#[test]
fn what_waits_goes_with_the_queue() {
    struct Link(Log, #[allow(dead_code)] Option<Strong<Link>>);
    impl Drop for Link {
        fn drop(&mut self) {
            self.0.note("destroyed");
        }
    }
    let (log, queue) = (Log::default(), ReferenceQueue::new());
    let inner = Strong::new_returning(Link(log.clone(), None), &queue);
    let outer = Strong::new_returning(Link(log.clone(), Some(inner)), &queue);
    drop(outer);
    assert_eq!((queue.len(), log.take().len()), (1, 0));
    let clone = queue.clone();
    drop(queue);
    assert_eq!(log.take().len(), 0);
    drop(clone);
    assert_eq!(log.take(), ["destroyed"; 2]);
}

/// 236: A death wakes who waits for the queue; a waker that panics loses no payload.
#[test]
fn a_return_wakes_who_waits() {
    struct Panics(Count);
    impl Wake for Panics {
        fn wake(self: Arc<Self>) {
            self.0.add();
            quiet_panic();
        }
    }
    let (queue, wakes) = (ReferenceQueue::new(), Count::default());
    let waker = Waker::from(Arc::new(Panics(wakes.clone())));
    let mut context = Context::from_waker(&waker);
    assert!(queue.poll_wait(&mut context).is_pending());
    let object = Strong::new_returning([1; 100], &queue);
    let weak = Strong::downgrade(&object);
    assert!(panics(move || drop(object)));
    assert_eq!((wakes.get(), queue.poll()), (1, Some([1; 100])));
    assert!(weak.is_expired());

    let object = Strong::new_returning([2; 100], &queue);
    thread::scope(|scope| {
        let waits = scope.spawn(|| queue.wait());
        drop(object);
        assert_eq!(waits.join().unwrap(), [2; 100]);
    });
}

/// 236: An object whose entry keeps it alive returns when `purge_cycles` finds that, once.
#[test]
fn a_cycle_that_is_purged_returns() {
    struct Node(Count, Option<Strong<Node>>);
    impl_trace!(Node: 1);
    impl Drop for Node {
        fn drop(&mut self) {
            self.0.add();
        }
    }
    let (queue, drops) = (ReferenceQueue::new(), Count::default());
    let key = Strong::new_returning(Node(drops.clone(), None), &queue);
    let owner = Strong::new_returning(Node(drops.clone(), Some(key.clone())), &queue);
    let mut map = WeakMap::from_iter([(&key, owner)]);
    assert_eq!(map.purge_cycles().removed, 0);
    drop(key);
    assert_eq!((map.purge_cycles().removed, map.len()), (1, 0));
    // The owner has returned, and keeps the key.
    let owner = queue.poll().unwrap();
    assert_eq!((queue.len(), drops.get()), (0, 0));
    drop(owner);
    assert_eq!((queue.len(), drops.get()), (1, 1));
    drop(queue);
    assert_eq!(drops.get(), 2);
}

/// 236: What looks for leaks sees the object, and not the payload that waits.
#[test]
fn a_returned_payload_is_no_leak() {
    let (queue, watch) = (ReferenceQueue::new(), LeakWatch::new());
    let object = Strong::new_returning(1, &queue);
    watch.expect_dead(&object, "one");
    assert_eq!(watch.alive().len(), 1);
    let weak = Strong::downgrade(&object);
    drop(object);
    assert_dead!(weak);
    assert_eq!((watch.alive().len(), queue.len()), (0, 1));
}

/// 366: A death in two steps, on two threads: shared maps, wakers and the queue hear of the second step only.
#[test]
fn a_payload_returns_in_the_second_step() {
    let (queue, calls) = (ReferenceQueue::new(), Arc::new(Woken::default()));
    let map = concurrent::WeakMap::new();
    let object = Strong::new_returning(7, &queue);
    map.insert(&erased(&object), 1);
    map.set_waker(Some(Waker::from(calls.clone())));
    queue.set_waker(Some(Waker::from(calls.clone())));
    let weak = Strong::downgrade(&erased(&object));
    let dying = Strong::begin_death(object).unwrap();
    assert_eq!((weak.upgrade().is_none(), map.get(&weak)), (true, None));
    map.purge();
    assert_eq!((queue.poll(), calls.times()), (None, 0));
    thread::scope(|scope| _ = scope.spawn(|| drop(dying)));
    assert_eq!((queue.poll(), calls.times(), map.len()), (Some(7), 2, 0));
}

/// 366: Of threads that upgrade and the first step one has the object.
#[test]
fn an_upgrade_against_the_first_step() {
    for number in 0..common::scaled(2_000, 20) {
        let object = Strong::new(number);
        let weak = Strong::downgrade(&object);
        let (upgraded, begun) = thread::scope(|scope| {
            let begins = scope.spawn(|| Strong::begin_death(object));
            (weak.upgrade(), begins.join().unwrap())
        });
        assert_eq!(upgraded.is_some(), begun.is_err(), "one of both has it");
        assert_eq!(upgraded.is_some(), weak.upgrade().is_some());
    }
}
