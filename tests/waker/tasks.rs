//! Tasks that poll collections, and purge them when they are told that something is pending.

use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};

use weakly::{AttributeKey, Attributes, Memo, Reclaim, Strong};
use weakly::{WeakPairMap, WeakValueMap};

use crate::common::scaled;
use crate::common::subject::{Subject, Upkeep, new_lives};
use crate::common::watchdog::watched;
use crate::shared::Unpark;
use crate::{Calls, SharedMap, idle, value};

/// What a poll says: whether something is pending.
fn is_ready(all: &mut impl Upkeep, task: &Arc<Calls>) -> bool {
    let waker = Waker::from(task.clone());
    all.poll_pending(&mut Context::from_waker(&waker))
        .is_ready()
}

/// 237, 238: Each death wakes the task, which finds nothing after a purge. Handles that do not notify wake nobody.
fn a_death_wakes<C: Subject>() {
    let lives = new_lives::<C::Life>(5);
    let (mut all, task) = (C::uncounted(&lives), Calls::new());
    for life in lives {
        assert!(!is_ready(&mut all, &task));
        drop(life);
        assert_eq!(task.take(), C::notified(1));
        assert_eq!(is_ready(&mut all, &task), C::NOTIFIES);
        all.purge();
        assert_eq!((task.take(), all.pending_dead()), (0, 0));
    }
    assert!(!is_ready(&mut all, &task));
}

/// 237: What is pending at the first poll is told; other operations take it as well, and the next death wakes.
fn what_is_pending_is_told<C: Subject>() {
    let mut lives = new_lives::<C::Life>(4);
    let (mut all, task) = (C::uncounted(&lives), Calls::new());
    drop(lives.pop());
    assert_eq!(is_ready(&mut all, &task), C::NOTIFIES);
    assert_eq!(is_ready(&mut all, &task), C::NOTIFIES, "it is not taken");
    all.shrink_to_fit();
    assert!(!is_ready(&mut all, &task));
    task.take();
    drop(lives.pop());
    assert_eq!(task.take(), C::notified(1));
    while all.purge_some(1) != 0 {}
    assert!(!is_ready(&mut all, &task));
}

/// 238: Until it is asked for, whatever has unlinked it. Then no more.
fn what_is_kept_is_pending<C: Subject>() {
    let lives = new_lives::<C::Life>(5);
    let (mut all, task) = (C::uncounted(&lives), Calls::new());
    all.set_reclaim(Reclaim::OnRequest);
    for life in lives {
        assert!(!is_ready(&mut all, &task));
        drop(life);
        all.shrink_to_fit();
        assert!(all.pending_dead() >= C::owned(1));
        assert_eq!(is_ready(&mut all, &task), all.pending_dead() != 0);
        all.purge();
        task.take();
        assert!(!is_ready(&mut all, &task), "it would spin");
        assert_eq!(task.take(), 0);
    }
}

/// 238: Where threads share it, what is kept while the task sleeps wakes it, once. So do handles that do not notify.
fn what_is_kept_wakes<C: Subject>() {
    let mut lives = new_lives::<C::Life>(6);
    let (mut all, task) = (C::uncounted(&lives), Calls::new());
    all.set_reclaim(Reclaim::OnRequest);
    while !lives.is_empty() {
        assert!(!is_ready(&mut all, &task));
        lives.truncate(lives.len() - 2);
        task.take();
        all.shrink_to_fit();
        assert_eq!(task.take(), 1);
        assert!(is_ready(&mut all, &task));
        all.purge();
    }
}

/// 239: A collection has one waker, which is gone when it is taken out, and with the collection.
fn the_last_task_is_woken<C: Subject>() {
    let mut lives = new_lives::<C::Life>(4);
    let (mut all, first, last) = (C::uncounted(&lives), Calls::new(), Calls::new());
    for task in [&first, &last, &last] {
        assert!(!is_ready(&mut all, task));
    }
    drop(lives.pop());
    assert_eq!((first.take(), last.take()), (0, C::notified(1)));
    all.purge();
    all.set_waker(first.waker());
    drop(lives.pop());
    assert_eq!((first.take(), last.take()), (C::notified(1), 0));
    all.purge();
    assert!(!is_ready(&mut all, &last));
    assert_eq!(Arc::strong_count(&first), 1);
    all.set_waker(None);
    assert_eq!(Arc::strong_count(&last), 1);
    assert!(!is_ready(&mut all, &last));
    drop(all);
    assert_eq!(Arc::strong_count(&last), 1);
    drop(lives);
    assert_eq!(last.take(), 0);
}

mod one_owner {
    use super::*;

    crate::subjects! {
        $ in [crate::common::subject::single];

        for_each [atomic: Atomic, local: Local, std_arc: StdArc, std_rc: StdRc]
            [map: Maps, set: Sets, values: ValueMaps, pairs: PairsTwice, pairs_by_key: PairsByKey,
             pairs_by_value: PairsByValue, hash_pairs: HashPairsTwice, hash_map: HashMaps, hash_set: HashSets,
             interner: Interners];
    }

    for_each!(
        a_death_wakes,
        what_is_pending_is_told,
        what_is_kept_is_pending,
        the_last_task_is_woken
    );
}

mod threads_share {
    use super::*;

    crate::subjects! {
        $ in [crate::common::subject::shared];

        for_each [atomic: Atomic, std_arc: StdArc]
            [map: Maps, set: Sets, values: ValueMaps, pairs: PairsTwice, pairs_by_key: PairsByKey,
             pairs_by_value: PairsByValue, hash_map: HashMaps, hash_set: HashSets, interner: Interners];
        for_each_owning [atomic: Atomic, std_arc: StdArc] [map: Maps, values: ValueMaps, hash_map: HashMaps];
    }

    for_each!(
        a_death_wakes,
        what_is_pending_is_told,
        what_is_kept_is_pending,
        the_last_task_is_woken
    );
    for_each_owning!(what_is_kept_wakes);
}

/// 237: Memos and attributes too.
#[test]
fn small_memos_and_attributes() {
    struct Name;
    impl AttributeKey for Name {
        type Value = usize;
    }
    let (memo, attributes) = (Memo::<Strong<usize>, usize>::new(), Attributes::new());
    let (task, object) = (Calls::new(), Strong::new(1));
    let waker = Waker::from(task.clone());
    let mut context = Context::from_waker(&waker);
    memo.get_or_compute(&object, |_| 1);
    attributes.insert(&object, Name, 1);
    assert!(memo.poll_pending(&mut context).is_pending());
    assert!(attributes.poll_pending(&mut context).is_pending());
    drop(object);
    assert_eq!(task.take(), 2);
    assert!(memo.poll_pending(&mut context).is_ready());
    assert!(attributes.poll_pending(&mut context).is_ready());
    memo.purge();
    attributes.purge();
    assert!(memo.poll_pending(&mut context).is_pending());
    assert!(attributes.poll_pending(&mut context).is_pending());
}

/// 238: A notice whose entry has gone is not pending: also if no waker was there when that went.
#[test]
fn late_notices_are_not_pending() {
    for is_first_poll in [false, true] {
        let (task, mut map) = (Calls::new(), WeakValueMap::<usize, _>::new());
        if !is_first_poll {
            assert!(!is_ready(&mut map, &task));
        }
        // One operation drains 16 notices; that of the first death is the last to be drained, and its entry goes
        // before.
        let values: Vec<_> = (0..17_usize).map(Strong::new).collect();
        map.extend(values.iter().map(|value| (**value, value)));
        drop(values);
        task.take();
        let value = Strong::new(100);
        map.insert(0, &value);
        assert!(!is_ready(&mut map, &task));
        drop(value);
        assert_eq!(task.take(), 1);
    }
}

/// 238: What a thread looks at counts, but no purge destroys it. When the thread leaves, it is destroyed, or kept: then
/// that wakes the task.
#[test]
fn small_what_waits_for_a_thread_inside() {
    let map = SharedMap::new();
    let [one, other, inside] = [1, 2, 3].map(Strong::new);
    for key in [&one, &other, &inside] {
        map.insert(key, idle());
    }
    let task = Calls::new();
    let waker = Waker::from(task.clone());
    let context = || Context::from_waker(&waker);
    for (reclaim, key) in [(Reclaim::OnUse, one), (Reclaim::OnRequest, other)] {
        map.set_reclaim(reclaim);
        assert!(map.poll_pending(&mut context()).is_pending());
        map.with(&inside, |_| {
            drop(key);
            assert_eq!(task.take(), 1);
            assert!(map.poll_pending(&mut context()).is_ready());
            map.purge();
            assert_eq!(map.pending_dead(), 1);
            assert!(map.poll_pending(&mut context()).is_pending());
            assert_eq!(task.take(), 0);
        });
        let is_kept = reclaim == Reclaim::OnRequest;
        assert_eq!(
            (task.take(), map.pending_dead()),
            (is_kept.into(), is_kept.into())
        );
        assert_eq!(map.poll_pending(&mut context()).is_ready(), is_kept);
        map.purge();
        assert_eq!(map.pending_dead(), 0);
    }
}

/// Polls on this thread, which sleeps until it is woken.
fn block_on<T>(future: impl Future<Output = T>) -> T {
    let _watched = watched("a task");
    let mut future = pin!(future);
    let waker = Arc::new(Unpark(thread::current())).into();
    loop {
        if let Poll::Ready(done) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return done;
        }
        thread::park();
    }
}

const ROUNDS: usize = scaled(3_000, 10);

/// Ends a task when this is dropped, also by a panic.
struct End<'a>(&'a AtomicBool, Thread);

impl Drop for End<'_> {
    fn drop(&mut self) {
        self.0.store(true, Release);
        self.1.unpark();
    }
}

/// 237: Only a task destroys what dies on other threads, and each death waits for that: no wake-up is lost. Meanwhile
/// others insert, which unlinks the dead, and look at entries, so that what they own is kept when they leave.
#[test]
fn small_a_task_destroys_what_dies_on_other_threads() {
    let map = SharedMap::new();
    map.set_reclaim(Reclaim::OnRequest);
    let over = AtomicBool::new(false);
    let end = Arc::new(End(&over, thread::current()));
    thread::scope(|scope| {
        for _ in 0..2 {
            let (map, end) = (&map, end.clone());
            scope.spawn(move || {
                let _end = end;
                let (closing, closed) = channel();
                for number in 0..ROUNDS {
                    let key = Strong::new(number);
                    let closing = closing.clone();
                    map.insert(&key, value(move || _ = closing.send(())));
                    drop(key);
                    closed.recv().expect("the task destroys it");
                }
            });
        }
        drop(end);
        scope.spawn(|| {
            let key = Strong::new(0);
            map.insert(&key, idle());
            while !over.load(Acquire) {
                map.with(&key, |_| thread::yield_now());
            }
        });
        block_on(poll_fn(|context| {
            while map.poll_pending(context).is_ready() {
                map.purge();
            }
            if over.load(Acquire) {
                Poll::Ready(())
            } else {
                Poll::Pending
            }
        }));
    });
}

/// 237: The same of a map of one owner, whose keys and values die on two threads.
#[test]
fn small_a_task_of_one_owner_reclaims_what_dies_on_other_threads() {
    let (key, value) = (Strong::new(0), Strong::new(0));
    let mut map = WeakPairMap::new();
    thread::scope(|scope| {
        let killers = [(); 2].map(|()| {
            let (kill, to_kill) = channel::<Strong<usize>>();
            scope.spawn(move || to_kill.into_iter().for_each(drop));
            kill
        });
        for number in 1..=ROUNDS {
            let objects = [number, number].map(Strong::new);
            map.insert(&objects[0], &value);
            map.insert(&key, &objects[1]);
            for (kill, object) in killers.iter().zip(objects) {
                kill.send(object).unwrap();
            }
            block_on(poll_fn(|context| {
                while map.poll_pending(context).is_ready() {
                    map.purge();
                }
                if map.is_empty() {
                    Poll::Ready(())
                } else {
                    Poll::Pending
                }
            }));
        }
    });
}
