//! What dead entries own, taken out and destroyed under no lock of the caller.

use std::sync::atomic::{AtomicUsize, Ordering::*};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::task::{Wake, Waker};
use std::thread;

use weakly::concurrent::{WeakMap, WeakValueMap};
use weakly::{AttributeKey, Attributes, Memo, Reclaim, Strong};

use crate::common::custom::{Custom, On};
use crate::common::{panics, quiet_panic, scaled};
use crate::faces::{HashMaps, Maps, Owned, ending, token};

const COUNT: usize = 40;

/// Panics where the lock is held, as a thread would wait for itself.
fn takes(lock: &Mutex<()>) {
    drop(lock.try_lock().expect("dropped under the lock"));
}

/// A value that takes the lock when it is dropped.
fn locks(lock: &Arc<Mutex<()>>) -> Arc<Owned> {
    let lock = lock.clone();
    ending(move || takes(&lock))
}

/// A waker that counts its calls, and panics after the first.
#[derive(Default)]
struct Bomb(AtomicUsize);

impl Wake for Bomb {
    fn wake(self: Arc<Self>) {
        if self.0.fetch_add(1, Relaxed) != 0 {
            quiet_panic();
        }
    }
}

/// Takes everything out in instalments, under the lock, and drops it after the lock.
fn take_all<T>(lock: &Mutex<()>, n: usize, take: impl Fn(usize) -> Vec<T>) -> usize {
    let mut all = 0;
    loop {
        let locked = lock.lock().unwrap();
        assert!(take(0).is_empty());
        let taken = take(n);
        drop(locked);
        assert!(taken.len() <= n);
        all += taken.len();
        if taken.is_empty() {
            return all;
        }
    }
}

/// 362: Each kind of collection hands out what the dead own, all of it, and nothing else.
#[test]
fn each_collection_hands_out() {
    for reclaim in [Reclaim::OnRequest, Reclaim::OnUse] {
        hands_out(reclaim);
    }
}

fn hands_out(reclaim: Reclaim) {
    struct Mine;
    impl AttributeKey for Mine {
        type Value = Arc<Owned>;
    }
    let lock = Arc::new(Mutex::new(()));
    let owned = || locks(&lock);
    let keys: Vec<_> = (0..COUNT).map(Strong::new).collect();
    let (by_identity, by_content) = (Maps::new(), HashMaps::<Strong<usize>>::new());
    let (values, memo) = (
        WeakValueMap::<usize, Strong<usize>>::new(),
        Memo::<Strong<Custom>, _>::new(),
    );
    let (attributes, arcs) = (Attributes::new(), Maps::<Arc<usize>>::new());
    let shared: Vec<_> = (0..COUNT).map(Arc::new).collect();
    let inputs: Vec<_> = (0..COUNT).map(|n| Strong::new(Custom::from(n))).collect();
    let result = || {
        let lock = lock.clone();
        Custom::from(0).on(On::Drop, move |_| takes(&lock))
    };
    by_identity.set_reclaim(reclaim);
    by_content.set_reclaim(reclaim);
    values.set_reclaim(reclaim);
    memo.set_reclaim(reclaim);
    attributes.set_reclaim(reclaim);
    arcs.set_reclaim(reclaim);
    for (number, key) in keys.iter().enumerate() {
        by_identity.insert(key, owned());
        by_content.insert(key, owned());
        values.insert(number, key);
        memo.insert(&inputs[number], result());
        attributes.insert(key, Mine, owned());
        arcs.insert(&shared[number], owned());
    }
    assert!(by_identity.take_dead(COUNT).is_empty() && memo.take_dead(COUNT).is_empty());
    let mut keys = keys.into_iter();
    let live = keys.next().unwrap();
    keys.for_each(drop);
    let (live_arc, live_input) = (shared[0].clone(), inputs[0].clone());
    drop((shared, inputs));
    assert_eq!(take_all(&lock, 7, |n| by_identity.take_dead(n)), COUNT - 1);
    assert_eq!(take_all(&lock, 1, |n| by_content.take_dead(n)), COUNT - 1);
    let names = values.take_dead(usize::MAX);
    assert!(names.len() == COUNT - 1 && (1..COUNT).all(|n| names.contains(&n)));
    assert_eq!(take_all(&lock, 7, |n| memo.take_dead(n)), COUNT - 1);
    assert_eq!(take_all(&lock, 7, |n| attributes.take_dead(n)), COUNT - 1);
    // They do not notify.
    let mut taken = 0;
    while taken < COUNT - 1 {
        taken += arcs.take_dead(COUNT).len();
    }
    assert!(by_identity.contains_key(&live) && by_content.contains_key(&*live));
    assert!(
        values.contains_key(&0) && memo.get(&live_input).is_some() && arcs.contains_key(&live_arc)
    );
    assert_eq!((by_identity.pending_dead(), memo.pending_dead()), (0, 0));
}

/// 362, 401: By default, what operations have left is handed out, once. Entries at which a thread looks are pending, and are not.
#[test]
fn by_default_what_is_pending_is_handed_out() {
    let (map, value) = (Maps::new(), token());
    let keys: Vec<_> = (0..3).map(Strong::new).collect();
    keys.iter()
        .for_each(|key| _ = map.insert(key, value.clone()));
    assert!(map.take_dead(1).is_empty());
    map.with(&keys[0].clone(), |_| {
        drop(keys);
        assert!(map.take_dead(9).is_empty());
        assert_eq!(map.pending_dead(), 2);
    });
    assert_eq!((Arc::strong_count(&value), map.pending_dead()), (2, 1));
    let taken = map.take_dead(9);
    assert_eq!((taken.len(), map.pending_dead()), (1, 0));
    assert!(map.take_dead(9).is_empty());
    drop(taken);
    assert_eq!(Arc::strong_count(&value), 1);
}

#[derive(Default)]
struct Woken(AtomicUsize);

impl Wake for Woken {
    fn wake(self: Arc<Self>) {
        self.0.fetch_add(1, Relaxed);
    }
}

/// 362, 363: What a thread looks at is handed out when it has left, and that calls the waker, though the death has called it
/// before, and a call of this has been made since.
#[test]
fn what_a_reader_delays_calls_the_waker() {
    for take in [true, false] {
        let (map, woken, key) = (Maps::new(), Arc::new(Woken::default()), Strong::new(0));
        map.set_reclaim(Reclaim::OnRequest);
        map.set_waker(Some(Waker::from(woken.clone())));
        let reclaim = || match take {
            true => map.take_dead(9).len(),
            false => map.purge_some(9),
        };
        let times = || woken.0.swap(0, Relaxed);
        map.insert(&key, locks(&Arc::default()));
        let ((inside, is_inside), (leave, may_leave)) = (channel(), channel::<()>());
        let weak = Strong::downgrade(&key);
        thread::scope(|scope| {
            let map = &map;
            let reader = scope.spawn(move || {
                map.with(&weak, |_| {
                    inside.send(()).unwrap();
                    may_leave.recv().unwrap();
                })
            });
            is_inside.recv().unwrap();
            drop(key);
            assert_eq!(times(), 1, "the death");
            let early = reclaim();
            assert_eq!(
                (early, times()),
                (usize::from(!take), 0),
                "the thread is inside"
            );
            assert_eq!(reclaim(), 0);
            leave.send(()).unwrap();
            reader.join().unwrap();
        });
        assert_eq!(times(), 1, "the thread has left");
        assert_eq!((reclaim(), map.pending_dead(), times()), (1, 0, 0));
        // The next death calls as ever, and what this call takes calls nobody.
        for _ in 0..2 {
            let key = Strong::new(0);
            map.insert(&key, locks(&Arc::default()));
            drop(key);
            assert_eq!((times(), reclaim(), times()), (1, 1, 0));
        }
    }
}

/// 362, 363: An operation keeps dead values without a destructor, and the waker panics: each value is handed out all the same.
#[test]
fn a_waker_that_panics_loses_no_kept_value() {
    let (map, woken) = (
        WeakMap::<Strong<usize>, usize>::new(),
        Arc::new(Bomb::default()),
    );
    map.set_reclaim(Reclaim::OnRequest);
    map.set_waker(Some(Waker::from(woken.clone())));
    let keys: Vec<_> = (0..COUNT).map(Strong::new).collect();
    keys.iter().for_each(|key| _ = map.insert(key, **key));
    drop(keys);
    assert_eq!(woken.0.load(Relaxed), 1, "the first death");
    assert!(panics(|| _ = map.insert(&Strong::new(0), 0)));
    assert_eq!(woken.0.load(Relaxed), 2, "the first kept value");
    let mut taken = map.take_dead(usize::MAX);
    taken.sort_unstable();
    assert!(taken.into_iter().eq(0..COUNT));
}

/// 362: Threads that take at once get each value once.
#[test]
fn small_threads_take_at_once() {
    let (map, count) = (WeakMap::<Strong<usize>, usize>::new(), scaled(2000, 20));
    map.set_reclaim(Reclaim::OnRequest);
    let taken = Mutex::new(vec![0; count]);
    thread::scope(|scope| {
        let (map, taken) = (&map, &taken);
        for part in 0..2 {
            scope.spawn(move || {
                for number in (0..count).filter(|number| number % 2 == part) {
                    let key = Strong::new(0);
                    map.insert(&key, number);
                    drop(key);
                    let some = map.take_dead(3);
                    some.into_iter()
                        .for_each(|number| taken.lock().unwrap()[number] += 1);
                }
            });
        }
    });
    map.purge_some(0);
    map.take_dead(usize::MAX)
        .into_iter()
        .for_each(|number| taken.lock().unwrap()[number] += 1);
    assert!(taken.into_inner().unwrap().iter().all(|times| *times == 1));
}
