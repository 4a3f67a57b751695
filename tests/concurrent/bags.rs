//! What threads have unlinked, where many use a collection: it waits in their bags until there is a batch.

use std::sync::{Arc, Barrier, Mutex, OnceLock, mpsc};
use std::task::{Context, Poll, Waker};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::keep::Limit;
use weakly::{Reclaim, Strong};

use crate::common::{Count, in_time, panics, quiet_panic, scaled};
use crate::faces::{Ends, Maps, ending, owned, quietly, token};

/// How many entries a thread gathers, at most.
pub(crate) const BAG: usize = 16;
/// So many threads that each gathers.
const CROWD: usize = 12;
/// How many values with destructors a test puts into batches: more than a thread gathers.
const BATCHED: usize = 2 * BAG;
/// How many changes of another thread a bag that is left alone takes, for each thread.
const CHANGES: usize = 32;

type Key = Strong<usize>;

fn keys(number: usize) -> Vec<Key> {
    (0..number).map(Strong::new).collect()
}

/// Calls `run` while so many other threads live, each of which has run `visit`.
fn beside<R>(threads: usize, visit: impl Fn() + Sync, run: impl FnOnce() -> R) -> R {
    let [all_there, go] = [(); 2].map(|()| Barrier::new(threads + 1));
    thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                visit();
                all_there.wait();
                go.wait();
            });
        }
        all_there.wait();
        let result = std::panic::catch_unwind(std::panic::AssertUnwindSafe(run));
        go.wait();
        result.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
    })
}

/// Inserts an entry, and removes it.
fn change<V: Send + Sync>(map: &WeakMap<Key, V>, value: V) {
    let key = Strong::new(0);
    map.insert(&key, value);
    assert!(map.remove_if(&key, |_| true));
}

/// 320: Two threads remove an entry each, and end. Another thread, which only makes changes, destroys both.
#[test]
fn small_what_ended_threads_have_removed_is_destroyed_by_another() {
    let (map, keys) = (WeakMap::new(), keys(2));
    keys.iter().for_each(|key| _ = map.insert(key, 0));
    let together = Barrier::new(2);
    let remove = || {
        thread::scope(|scope| {
            for key in &keys {
                scope.spawn(|| {
                    together.wait();
                    map.remove(key);
                    together.wait();
                });
            }
        });
    };
    beside(CROWD, || _ = map.get(&keys[0]), remove);
    assert_eq!(map.pending_dead(), 2, "in two bags");
    let absent = Strong::new(0);
    // So many for each bag, and some for the numbers of threads that have none.
    let most = 2 * CHANGES + 4_096;
    let taken = (0..most).position(|_| {
        map.remove(&absent);
        map.pending_dead() == 0
    });
    assert!(taken.is_some(), "{} are left", map.pending_dead());
}

/// 320, 501: Up to seven threads, a removal destroys the entry, and ends the registration of its object; more gather a few of
/// those.
#[test]
fn small_a_removed_entry_waits_only_beside_many_threads() {
    for threads in [1, 2, 6, CROWD] {
        let (map, mut key) = (WeakMap::new(), Strong::new(0));
        let remove = || {
            map.purge();
            map.insert(&key, 0);
            map.remove(&key);
            map.pending_dead()
        };
        let waiting = beside(threads, || change(&map, 0), remove);
        let is_unwatched = Strong::get_mut(&mut key).is_some();
        assert_eq!((waiting == 0, is_unwatched), (threads < 7, threads < 7));
        let (map, count) = (Maps::new(), Count::default());
        let ends = count.ends();
        let value = || owned(0, &ends);
        beside(
            threads,
            || change(&map, value()),
            || {
                map.purge();
                let before = count.get();
                let keys = keys(scaled(100, 24));
                for (removed, key) in (1..).zip(&keys) {
                    map.insert(key, value());
                    assert!(map.remove_if(key, |_| true));
                    let waiting = before + removed - count.get();
                    if threads < 7 {
                        assert_eq!(waiting, 0, "{threads}");
                    }
                    assert!(waiting < BAG, "{waiting} wait");
                }
                map.purge();
                assert_eq!(count.get(), before + keys.len());
            },
        );
    }
}

/// 320: What waits in bags is pending for a task that polls. From then on nobody gathers: the task would not be woken.
#[test]
fn small_a_task_that_polls_ends_gathering() {
    let (map, keys) = (WeakMap::new(), keys(4));
    keys.iter().for_each(|key| _ = map.insert(key, 0));
    let mut context = Context::from_waker(Waker::noop());
    beside(
        CROWD,
        || change(&map, 0),
        || {
            map.remove(&keys[0]);
            assert_ne!(map.pending_dead(), 0);
            assert_eq!(map.poll_pending(&mut context), Poll::Ready(()));
            assert!(!map.purge());
            assert_eq!(map.poll_pending(&mut context), Poll::Pending);
            map.remove(&keys[1]);
            assert_eq!(map.pending_dead(), 0);
            map.set_waker(None);
        },
    );
}

/// 320: Where a ceiling counts entries, and tells why they go, nobody gathers.
#[test]
fn small_a_ceiling_is_told_at_once() {
    let (map, told) = (WeakMap::new(), Count::default());
    map.set_ceiling(Limit::entries(10), |_| 1);
    let teller = told.clone();
    map.set_listener(move |_, _, _| _ = teller.add());
    beside(
        CROWD,
        || change(&map, 0),
        || {
            let key = Strong::new(0);
            // Threads that leave at once may miss each other (D3): then the next thread destroys what waits.
            map.get(&key);
            assert_eq!((told.get(), map.pending_dead()), (CROWD, 0));
            map.insert(&key, 0);
            map.remove(&key);
            assert_eq!((told.get(), map.pending_dead()), (CROWD + 1, 0));
        },
    );
}

/// 320, 185: On request, what has died is kept by way of a bag, and what was removed is destroyed.
#[test]
fn small_the_dead_are_kept_by_way_of_a_bag() {
    let (map, count) = (Maps::new(), Count::default());
    map.set_reclaim(Reclaim::OnRequest);
    let ends = count.ends();
    let value = || owned(0, &ends);
    beside(
        CROWD,
        || change(&map, value()),
        || {
            map.purge();
            let before = count.get();
            let keys = keys(40);
            keys.iter().for_each(|key| _ = map.insert(key, value()));
            drop(keys);
            (0..200).for_each(|_| assert!(!map.remove_if(&Strong::new(0), |_| true)));
            assert_eq!((count.get(), map.pending_dead()), (before, 40));
            map.purge();
            assert_eq!((count.get(), map.pending_dead()), (before + 40, 0));
        },
    );
}

/// Fills the bag of this thread with values that run `end`; then empties it by further changes.
fn batches(map: &Maps<Key>, end: impl Fn(usize) + Send + Sync + 'static) {
    let ends: Ends = Arc::new(end);
    for ends in [ends, quietly()] {
        (0..BATCHED).for_each(|number| change(map, owned(number, &ends)));
    }
}

/// 320, 173: A destructor in a batch changes the same collection, whose batches are destroyed meanwhile, too.
#[test]
fn small_a_destructor_in_a_batch_changes_the_collection() {
    in_time(|| {
        let map = Arc::new(Maps::new());
        let ended = Count::default();
        beside(
            CROWD,
            || change(&map, token()),
            || {
                let (inner, count) = (Arc::clone(&map), ended.clone());
                batches(&map, move |_| {
                    count.add();
                    (0..3).for_each(|_| change(&inner, owned(0, &count.ends())));
                    inner.purge_some(1);
                });
                map.purge();
                assert_eq!(ended.get(), 4 * BATCHED);
            },
        );
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    });
}

/// 320, 182: Destructors in a batch panic: all run, once, and the panic of a first one of each batch reaches the caller.
#[test]
fn small_destructors_in_a_batch_panic() {
    let (map, ended) = (Maps::new(), Count::default());
    let mut panicked = 0;
    beside(
        CROWD,
        || change(&map, token()),
        || {
            for _ in 0..BATCHED {
                let count = ended.clone();
                let value = ending(move || {
                    count.add();
                    quiet_panic();
                });
                panicked += usize::from(panics(|| change(&map, value)));
            }
            panicked += usize::from(panics(|| _ = map.purge()));
        },
    );
    assert_eq!(ended.get(), BATCHED);
    assert!((1..BATCHED).contains(&panicked), "{panicked}");
    assert_eq!((map.len(), map.pending_dead()), (0, 0));
}

/// 320: The end of a map whose bags are not empty.
#[test]
fn small_a_map_ends_with_its_bags() {
    let (map, ended) = (Maps::new(), Count::default());
    let ends = ended.ends();
    beside(CROWD, || change(&map, owned(0, &ends)), || ());
    drop(map);
    assert_eq!(ended.get(), CROWD);
}

/// 320: Threads change the same collection all the time. A purge beside them ends, and takes what was there before.
#[test]
fn small_a_purge_beside_threads_that_gather_ends() {
    in_time(|| {
        let (map, stop) = (WeakMap::new(), OnceLock::new());
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    while stop.get().is_none() {
                        change(&map, 0);
                    }
                });
            }
            for _ in 0..scaled(1_000, 10) {
                map.purge();
            }
            stop.set(()).unwrap();
        });
        assert!(!map.purge());
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    });
}

/// 402: Each destructor that a purge runs lets another thread kill a further entry. The purge ends, and says that more is left.
#[test]
fn small_a_purge_leaves_what_other_threads_kill_meanwhile() {
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        let (map, ended, mut keys) = (Maps::new(), Count::default(), keys(30));
        map.set_reclaim(reclaim);
        let (ask, asked) = mpsc::channel();
        let (tell, told) = mpsc::channel();
        let told = Arc::new(Mutex::new(told));
        for key in &keys {
            let (ended, ask, told) = (ended.clone(), ask.clone(), Arc::clone(&told));
            let end = move || {
                ended.add();
                if ask.send(()).is_ok() {
                    _ = told.lock().unwrap().recv();
                }
            };
            map.insert(key, ending(end));
        }
        let number = keys.len();
        drop(keys.pop());
        let killer = thread::spawn(move || {
            while let (Ok(()), Some(key)) = (asked.recv(), keys.pop()) {
                drop(key);
                _ = tell.send(());
            }
        });
        assert!(map.purge(), "more is left");
        assert!(ended.get() <= 4, "{}", ended.get());
        while map.purge() {}
        killer.join().unwrap();
        assert_eq!((ended.get(), map.len()), (number, 0));
    }
}

/// 165: A thread whose thread-locals are gone purges what is in a bag, while another thread takes over the number that it has
/// borrowed. (Miri sees it read what the other writes.)
#[test]
fn small_a_late_thread_purges_beside_one_that_comes() {
    struct Late(Arc<Maps<Key>>, Key);

    impl Drop for Late {
        fn drop(&mut self) {
            self.0.remove_if(&self.1, |_| true);
            self.0.purge();
        }
    }

    std::thread_local! {
        static LATE: std::cell::RefCell<Option<Late>> = const { std::cell::RefCell::new(None) };
    }

    let (map, key) = (Arc::new(Maps::new()), Strong::new(0));
    let (ended, ends) = mpsc::channel();
    let (came, comes) = mpsc::channel::<()>();
    let comes = Mutex::new(comes);
    map.insert(
        &key,
        ending(move || {
            ended.send(()).unwrap();
            _ = comes.lock().unwrap().recv();
        }),
    );
    beside(CROWD, || _ = map.with(&key, |_| ()), || ());
    in_time(move || {
        let (its_map, its_key) = (Arc::clone(&map), key.clone());
        let comes = thread::spawn(move || {
            ends.recv().unwrap();
            its_map.with(&its_key, |_| ());
            came.send(()).unwrap();
        });
        let late = thread::spawn(move || {
            // First: so its destructor runs after ours.
            LATE.with(|late| *late.borrow_mut() = Some(Late(map.clone(), key.clone())));
            map.with(&key, |_| ());
        });
        late.join().unwrap();
        comes.join().unwrap();
    });
}
