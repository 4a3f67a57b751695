//! What goes on after a failure that unwinds.

use std::cell::Cell;
use std::rc::Rc;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Wake, Waker};

use weakly::concurrent::{WeakHashSet, WeakSet, WeakValueMap};
use weakly::{ReferenceQueue, Strong};

use crate::asking;
use crate::common::heap::allocations;
use crate::common::of_values::Near;
use crate::common::scaled;
use crate::unwinding::fails_after;

type Object = Strong<usize>;

/// How many more allocations others take than there are of them, after a failure with a few.
fn beyond(
    few: &[Object],
    others: &[Object],
    insert: impl Fn(&Object),
    nth: usize,
) -> (bool, usize) {
    let failed = fails_after(nth, || few.iter().for_each(&insert));
    few.iter().for_each(&insert);
    let before = allocations();
    others.iter().for_each(insert);
    (failed, allocations() - before - others.len())
}

/// 593: A table whose array could not be allocated, or which could not move all of its buckets, still grows: else all further
/// entries would be in long chains.
#[test]
fn a_table_grows_after_a_failure() {
    let objects = |step| Vec::from_iter((0..scaled(440, 90)).map(|n| Strong::new(n * step)));
    // In one bucket, as long as there are less than so many.
    let (spread, together) = (objects(1), objects(64));
    let by_address = |nth| {
        let set = WeakSet::new();
        beyond(
            &spread[..40],
            &spread[40..],
            |object| _ = set.insert(object),
            nth,
        )
    };
    let by_content = |nth| {
        let set = WeakHashSet::with_hasher(Near::default());
        beyond(
            &together[..40],
            &together[40..],
            |object| _ = set.insert(object),
            nth,
        )
    };
    for run in [&by_address as &dyn Fn(usize) -> (bool, usize), &by_content] {
        let (_, usual) = run(usize::MAX);
        for nth in 0.. {
            let (failed, more) = run(nth);
            assert!(
                more <= usual + usual / 4 + 4,
                "allocation {nth}: {more}, {usual}"
            );
            if !failed {
                break;
            }
        }
    }
}

/// Counts its ends.
struct Message(Arc<AtomicUsize>);

impl Drop for Message {
    fn drop(&mut self) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// 593: A message for which there is no memory is dropped. All else of that death happens, and the queue goes on.
#[test]
fn a_death_without_memory_for_its_message_is_complete() {
    for nth in 0.. {
        let (queue, ends) = (ReferenceQueue::new(), Arc::new(AtomicUsize::new(0)));
        let message = || Message(ends.clone());
        let set = WeakSet::new();
        let object = Strong::new(1);
        set.insert(&object);
        let ran = Arc::new(AtomicUsize::new(0));
        let run = || {
            let ran = ran.clone();
            move || _ = ran.fetch_add(1, SeqCst)
        };
        let tokens = (
            Strong::finalize(&object, run()),
            queue.register(&object, message()),
            Strong::finalize(&object, run()),
        );
        let weak = Strong::downgrade(&object);
        let failed = fails_after(nth, || drop(object));
        assert!(weak.is_expired() && set.is_empty());
        assert_eq!((ran.load(SeqCst), tokens.1.is_pending()), (2, false));
        assert_eq!(queue.len() + ends.load(SeqCst), 1);
        assert_eq!(failed, queue.is_empty());
        for _ in 0..40 {
            queue.register(&Strong::new(2), message());
        }
        drop(tokens);
        assert_eq!(queue.drain().count(), 40 + usize::from(!failed));
        assert_eq!(ends.load(SeqCst), 41);
        if !failed {
            assert_ne!(nth, 0);
            break;
        }
    }
}

struct Calls(AtomicUsize);

impl Wake for Calls {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, SeqCst);
    }
}

/// 590: A finalizer purges, and kills another object of the same collection that has a finalizer, too: the call for the other
/// object is listed, besides that of its own. There is no memory for the list:
/// the call comes at once, and the finalizer runs all the same.
#[test]
fn a_call_that_cannot_be_listed_comes_at_once() {
    let [calls, ran] = [(); 2].map(|()| Arc::new(Calls(AtomicUsize::new(0))));
    let set = Arc::new(WeakSet::new());
    set.set_waker(Some(Waker::from(calls.clone())));
    let [object, other] = [1, 2].map(Strong::new);
    set.insert(&object);
    set.insert(&other);
    let run = ran.clone();
    let of_other = Strong::finalize(&other, move || run.wake());
    let of_finalizer = (set.clone(), other);
    let token = Strong::finalize(&object, move || {
        let (set, other) = of_finalizer;
        set.purge();
        drop(other);
    });
    let asked = Rc::new(Cell::new(0));
    let asks = asked.clone();
    let fails = move || {
        asks.set(asks.get() + 1);
        true
    };
    asking(fails, || drop(object));
    assert_eq!(asked.get(), 1);
    assert_eq!((calls.0.load(SeqCst), ran.0.load(SeqCst)), (2, 1));
    assert!(set.is_empty());
    drop((token, of_other));
    set.purge();
    assert_eq!(set.pending_dead(), 0);
}

/// 196, 593: A look at the many keys of a value that fails halfway leaves no mark at the value: all its entries are found, and go with
/// it.
#[test]
fn a_look_at_many_keys_leaves_no_mark() {
    // A few batches of them.
    let many = scaled(900, 300);
    let value = Strong::new(1);
    let map = WeakValueMap::<usize, Object>::from_iter((0..many).map(|key| (key, &value)));
    for nth in 0.. {
        if !fails_after(nth, || _ = map.keys_of(&value).count()) {
            break;
        }
        assert_eq!(map.keys_of(&value).count(), many);
    }
    drop(value);
    map.purge();
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}
