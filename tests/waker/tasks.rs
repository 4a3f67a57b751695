//! Tasks that poll collections, and purge them when they are told that something is pending.

use std::any::Any;
use std::future::poll_fn;
use std::pin::pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::*};
use std::sync::mpsc::channel;
use std::task::{Context, Poll, Waker};
use std::thread::{self, Thread};

use weakly::{AttributeKey, Attributes, Memo, Reclaim, Strong, WeakPairMap, local};

use crate::common::scaled;
use crate::common::subject::{Subject, Upkeep, new_lives, shared, single};
use crate::common::watchdog::watched;
use crate::shared::Unpark;
use crate::{Calls, SharedMap, idle, value};

/// What a poll says: whether something is pending.
fn is_ready(all: &mut (impl Upkeep + ?Sized), task: &Arc<Calls>) -> bool {
    let waker = Waker::from(task.clone());
    all.poll_pending(&mut Context::from_waker(&waker))
        .is_ready()
}

/// A collection of any family, with an entry for each of six lives.
struct Six {
    all: Box<dyn Upkeep>,
    lives: Vec<Box<dyn Any>>,
    /// How many calls a death makes.
    notified: usize,
    owned: usize,
}

impl Six {
    fn of<C: Subject + 'static>() -> Self {
        let lives = new_lives::<C::Life>(6);
        let all = Box::new(C::uncounted(&lives));
        let mut any = Vec::<Box<dyn Any>>::new();
        for life in lives {
            any.push(Box::new(life));
        }
        Six {
            all,
            lives: any,
            notified: C::notified(1),
            owned: C::owned(1),
        }
    }
}

/// Each collection of both families with notified handles; two with handles of one thread, and with swept ones.
const EACH: [fn() -> Six; 19] = [
    Six::of::<single::Maps<Strong<usize>>>,
    Six::of::<single::Sets<Strong<usize>>>,
    Six::of::<single::ValueMaps<Strong<usize>>>,
    Six::of::<single::PairsTwice<Strong<usize>>>,
    Six::of::<single::HashMaps<Strong<usize>>>,
    Six::of::<single::HashSets<Strong<usize>>>,
    Six::of::<single::HashPairsTwice<Strong<usize>>>,
    Six::of::<single::Interners<Strong<usize>>>,
    Six::of::<single::Maps<local::Strong<usize>>>,
    Six::of::<single::Maps<Arc<usize>>>,
    Six::of::<single::PairsByKey<Strong<usize>, Arc<usize>>>,
    Six::of::<shared::Maps<Strong<usize>>>,
    Six::of::<shared::Sets<Strong<usize>>>,
    Six::of::<shared::ValueMaps<Strong<usize>>>,
    Six::of::<shared::PairsTwice<Strong<usize>>>,
    Six::of::<shared::HashMaps<Strong<usize>>>,
    Six::of::<shared::Interners<Strong<usize>>>,
    Six::of::<shared::Maps<Arc<usize>>>,
    Six::of::<shared::HashMaps<Arc<usize>>>,
];

/// 237, 238: Each death wakes the task, which finds nothing after a purge. Handles that do not notify wake nobody.
#[test]
fn a_death_wakes() {
    for six in EACH {
        let (mut it, task) = (six(), Calls::new());
        for life in it.lives {
            assert!(!is_ready(&mut *it.all, &task));
            drop(life);
            assert_eq!(task.take(), it.notified);
            assert_eq!(is_ready(&mut *it.all, &task), it.notified == 1);
            it.all.purge();
            assert_eq!((task.take(), it.all.pending_dead()), (0, 0));
        }
        assert!(!is_ready(&mut *it.all, &task));
    }
}

/// 237: What is pending at the first poll is told; other operations take it as well, and the next death wakes.
#[test]
fn what_is_pending_is_told() {
    for six in EACH {
        let (mut it, task) = (six(), Calls::new());
        it.lives.pop();
        for _ in 0..2 {
            assert_eq!(is_ready(&mut *it.all, &task), it.notified == 1);
        }
        it.all.shrink_to_fit();
        assert!(!is_ready(&mut *it.all, &task));
        task.take();
        it.lives.pop();
        assert_eq!(task.take(), it.notified);
        while it.all.purge_some(1) != 0 {}
        assert!(!is_ready(&mut *it.all, &task));
    }
}

/// 238: Until it is asked for, whatever has unlinked it. Then no more.
#[test]
fn what_is_kept_is_pending() {
    for six in EACH {
        let (mut it, task) = (six(), Calls::new());
        it.all.set_reclaim(Reclaim::OnRequest);
        for life in it.lives {
            assert!(!is_ready(&mut *it.all, &task));
            drop(life);
            it.all.shrink_to_fit();
            assert!(it.all.pending_dead() >= it.owned);
            let is_pending = it.all.pending_dead() != 0;
            assert_eq!(is_ready(&mut *it.all, &task), is_pending);
            it.all.purge();
            task.take();
            assert!(!is_ready(&mut *it.all, &task), "it would spin");
            assert_eq!(task.take(), 0);
        }
    }
}

/// 238: Where threads share it, what is kept while the task sleeps wakes it, once. So do handles that do not notify.
#[test]
fn what_is_kept_wakes() {
    let owning: [fn() -> Six; 3] = [
        Six::of::<shared::Maps<Strong<usize>>>,
        Six::of::<shared::ValueMaps<Strong<usize>>>,
        Six::of::<shared::HashMaps<Arc<usize>>>,
    ];
    for six in owning {
        let (mut it, task) = (six(), Calls::new());
        it.all.set_reclaim(Reclaim::OnRequest);
        while !it.lives.is_empty() {
            assert!(!is_ready(&mut *it.all, &task));
            it.lives.truncate(it.lives.len() - 2);
            task.take();
            it.all.shrink_to_fit();
            assert_eq!(task.take(), 1);
            assert!(is_ready(&mut *it.all, &task));
            it.all.purge();
        }
    }
}

/// 239, 590: A collection has one waker, which is gone when it is taken out, and with the collection.
#[test]
fn the_last_task_is_woken() {
    for six in EACH {
        let (mut it, first, last) = (six(), Calls::new(), Calls::new());
        for task in [&first, &last, &last] {
            assert!(!is_ready(&mut *it.all, task));
        }
        it.lives.pop();
        assert_eq!((first.take(), last.take()), (0, it.notified));
        it.all.purge();
        it.all.set_waker(first.waker());
        it.lives.pop();
        assert_eq!((first.take(), last.take()), (it.notified, 0));
        it.all.purge();
        assert!(!is_ready(&mut *it.all, &last));
        assert_eq!(Arc::strong_count(&first), 1);
        it.all.set_waker(None);
        assert_eq!(Arc::strong_count(&last), 1);
        assert!(!is_ready(&mut *it.all, &last));
        drop(it.all);
        assert_eq!(Arc::strong_count(&last), 1);
        drop(it.lives);
        assert_eq!(last.take(), 0);
    }
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
