//! All collections, and what is done with them: whatever takes a lock of ours, or borrows a thread-local.

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use weakly::concurrent::{
    Interner, KeepAlive, WeakHashMap, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::keep::Limit;
use weakly::{AttributeKey, Attributes, Memo, Reclaim, ReferenceQueue, Strong, local};

type Key = Strong<usize>;

/// Half of them are for operations of the allocator: what is made or computed for a key may not be asked for by that itself.
const KEYS: usize = 48;

pub(super) struct World {
    keys: Vec<Key>,
    map: WeakMap<Key, Box<usize>>,
    limited: WeakMap<Key, Box<usize>>,
    kept: WeakMap<Key, Box<usize>>,
    set: WeakSet<Key>,
    names: Interner<Key>,
    values: WeakValueMap<usize, Key>,
    pairs: WeakPairMap<Key, Key>,
    by_content: WeakHashMap<Key, Box<usize>>,
    polled: WeakMap<Arc<usize>, Box<usize>>,
    attributes: Attributes<Key>,
    memo: Memo<Key, Box<usize>>,
    base: Memo<Key, Box<usize>>,
    budget: KeepAlive<Key>,
    queue: ReferenceQueue<Box<usize>>,
}

#[derive(Clone, Copy)]
struct Note;

impl AttributeKey for Note {
    type Value = Box<usize>;
}

/// A waker with an end of its own.
struct Task(#[allow(dead_code)] Box<usize>);

impl Wake for Task {
    fn wake(self: Arc<Self>) {}
}

fn waker() -> Waker {
    Waker::from(Arc::new(Task(Box::new(1))))
}

/// Pends so often, and leaves its waker.
struct Pends(usize, Arc<Mutex<Option<Waker>>>);

impl Future for Pends {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let Some(left) = self.0.checked_sub(1) else {
            return Poll::Ready(());
        };
        self.0 = left;
        let waker = context.waker().clone();
        let old = self.1.lock().unwrap().replace(waker);
        drop(old);
        Poll::Pending
    }
}

impl World {
    pub(super) fn new() -> Self {
        let world = World {
            keys: (0..KEYS).map(Strong::new).collect(),
            map: WeakMap::new(),
            limited: WeakMap::new(),
            kept: WeakMap::new(),
            set: WeakSet::new(),
            names: Interner::new(),
            values: WeakValueMap::new(),
            pairs: WeakPairMap::new(),
            by_content: WeakHashMap::new(),
            polled: WeakMap::new(),
            attributes: Attributes::new(),
            memo: Memo::new(),
            base: Memo::new(),
            budget: KeepAlive::weighing(Limit::entries(20), |key: &Key| **key % 3),
            queue: ReferenceQueue::new(),
        };
        world.limited.set_ceiling(Limit::entries(10), |_| 1);
        world.memo.set_ceiling(Limit::none().weight(30), |_| 2);
        world.kept.set_reclaim(Reclaim::OnRequest);
        world.values.keep_in(&world.budget);
        world
    }

    /// Does something. `inside`: in the allocator.
    pub(super) fn operate(&'static self, number: usize, inside: bool) {
        let (what, number) = (number % 32, number / 32);
        let half = KEYS / 2 * usize::from(inside);
        let key = &self.keys[half + number % (KEYS / 2)];
        let other = &self.keys[half + number / KEYS % (KEYS / 2)];
        match what {
            0 => _ = self.map.insert(key, Box::new(number)),
            1 => _ = (self.map.get(key), self.map.remove(other)),
            2 => _ = self.map.get_or_insert_with(key, |_| Box::new(number)),
            3 => {
                _ = self.map.compute(key, |there| {
                    let there = there.map_or(0, |there| **there);
                    (there < 5).then(|| Box::new(there + 1))
                })
            }
            4 => _ = self.limited.insert(key, Box::new(number)),
            5 => _ = (self.limited.get(key), self.limited.get(other)),
            6 => {
                let limit = Limit::entries(number % 20);
                self.limited.set_limit(match number % 3 {
                    0 => limit.generations(2),
                    _ => limit,
                });
                self.limited.advance();
            }
            7 => {
                // The dead are kept.
                let key = Strong::new(number);
                self.kept.insert(&key, Box::new(number));
            }
            8 => {
                _ = (
                    self.kept.purge_some(number % 10),
                    self.kept.insert(key, Box::new(1)),
                )
            }
            9 => _ = (self.set.insert(key), self.set.contains(other)),
            10 => drop((self.names.intern(number % 10), self.names.intern(number))),
            11 => _ = self.values.insert(number % KEYS, key),
            12 => drop((self.values.get(&(number % KEYS)), Strong::new(number))),
            13 => {
                _ = (
                    self.values.insert(number, &Strong::new(number)),
                    self.values.remove(&number),
                )
            }
            14 => {
                _ = (
                    self.pairs.insert(key, other),
                    self.pairs.insert(key, &Strong::new(number)),
                )
            }
            15 => {
                _ = (
                    self.pairs.remove(key),
                    self.by_content.insert(key, Box::new(number)),
                )
            }
            16 => {
                // Its registrations are with all, and so is its death.
                let key = Strong::new(number);
                self.map.insert(&key, Box::new(1));
                self.limited.insert(&key, Box::new(1));
                self.set.insert(&key);
                self.pairs.insert(&key, other);
                self.budget.keep(&key, 1);
                self.attributes.insert(&key, Note, Box::new(1));
                Strong::finalize(&key, || drop(Box::new(1)));
                drop((Strong::downgrade(&key), key));
            }
            17 => _ = self.polled.insert(&Arc::new(number), Box::new(number)),
            18 => {
                _ = self.memo.get_or_compute(key, |computation| {
                    for other in &self.keys[number % KEYS..] {
                        computation.depends_on(other);
                    }
                    thread::yield_now();
                    Box::new(number)
                })
            }
            19 => _ = self.memo.remove(key),
            20 => self.fly(key, other, number),
            21 => self.wait(number),
            22 => {
                _ = self.queue.register(key, Box::new(number)).cancel();
                self.queue.register(&Strong::new(number), Box::new(number));
            }
            23 => _ = (self.queue.poll(), self.queue.poll()),
            24 => {
                self.budget.keep(key, number % 5);
                _ = (self.budget.touch(other), self.budget.release(other));
            }
            25 => {
                self.budget.advance();
                let limit = Limit::entries(number % 30);
                self.budget.set_limit(match number % 3 {
                    0 => limit.generations(3),
                    _ => limit,
                });
            }
            26 => self.purge(number),
            27 => {
                self.map.retain(|key, _| **key % 7 != number % 7);
                self.map.iter().for_each(drop);
            }
            28 => alone(number),
            29 if !inside => thread::scope(|scope| {
                // Threads that are new take numbers, and give them back.
                for more in 0..number % 5 {
                    scope.spawn(move || self.operate(number + more, false));
                }
            }),
            30 => {
                let waker = (number % 2 == 0).then(waker);
                self.map.set_waker(waker.clone());
                self.kept.set_waker(waker);
                let waker = self::waker();
                _ = self.kept.poll_pending(&mut Context::from_waker(&waker));
            }
            _ => _ = self.memo.invalidate(other),
        }
    }

    fn purge(&self, number: usize) {
        self.map.purge();
        self.kept.purge();
        self.values.purge_some(number % 20);
        self.memo.purge();
        match number % 4 {
            0 => self.map.shrink_to_fit(),
            1 => self.limited.clear(),
            2 => _ = self.map.purge_cycles(),
            _ => self.kept.set_reclaim(match number % 8 {
                0..4 => Reclaim::OnUse,
                _ => Reclaim::OnRequest,
            }),
        }
    }

    /// Computations of tasks, some of which go before they end. Two of them wait for a third.
    fn fly<'k>(&'static self, key: &'k Key, other: &'k Key, number: usize) {
        let left = Arc::new(Mutex::new(None));
        let flight = |key: &'k Key| {
            let (all, third) = (&self.keys[number % KEYS..], other.clone());
            let left = Arc::clone(&left);
            let flight = self
                .memo
                .get_or_compute_async(key, move |_, dependencies| async move {
                    all.iter().for_each(|key| dependencies.depends_on(key));
                    let third = self.base.get_or_compute_async(&third, |_, _| async {
                        Pends(3, left).await;
                        Box::new(1)
                    });
                    third.await;
                    dependencies.depends_on(&Strong::new(1));
                    Box::new(number)
                });
            Some(Box::pin(flight))
        };
        let mut flights = [flight(key), flight(key), flight(other)];
        for _ in 0..number % 7 {
            for flight in &mut flights {
                let waker = waker();
                _ = flight.take_if(|flight| {
                    let polled = flight.as_mut().poll(&mut Context::from_waker(&waker));
                    polled.is_ready()
                });
            }
            let waker = left.lock().unwrap().take();
            waker.into_iter().for_each(Waker::wake);
        }
        let most = Duration::from_micros(50);
        _ = (self.memo).get_or_compute_timeout(other, most, |_| Box::new(1));
        self.base.clear();
    }

    /// Waits for a message, in all ways.
    fn wait(&self, number: usize) {
        let waker = waker();
        let mut context = Context::from_waker(&waker);
        let mut futures: Vec<_> = (0..number % 7).map(|_| self.queue.next()).collect();
        for future in &mut futures {
            _ = pin!(future).poll(&mut context);
        }
        futures.truncate(3);
        _ = self.queue.poll_wait(&mut context);
        _ = self.queue.wait_timeout(Duration::from_micros(20));
    }

    /// When all is cleared, nothing is left of what was done with the keys.
    pub(super) fn end(&self) {
        for _ in 0..2 {
            self.map.clear();
            self.limited.clear();
            self.kept.clear();
            self.set.clear();
            self.names.clear();
            self.values.clear();
            self.pairs.clear();
            self.by_content.clear();
            self.attributes.clear();
            self.memo.clear();
            self.base.clear();
            self.budget.clear();
            self.queue.drain().for_each(drop);
            self.map.purge();
            self.kept.purge();
        }
        for key in &self.keys {
            assert_eq!((Strong::strong_count(key), Strong::weak_count(key)), (1, 0));
        }
    }
}

/// Collections that end: before their objects, or with what is kept of them.
fn alone(number: usize) {
    let keys: Vec<_> = (0..3).map(Strong::new).collect();
    let mut maps = [(); 4].map(|()| weakly::WeakMap::<Key, Box<usize>>::new());
    for map in &mut maps {
        if number % 2 == 0 {
            map.set_waker(Some(waker()));
        }
        keys.iter().for_each(|key| _ = map.insert(key, Box::new(1)));
    }
    let own = local::Strong::new(1);
    let mut local = weakly::WeakMap::new();
    local.insert(&own, Box::new(1));
    let kept = WeakMap::new();
    kept.set_reclaim(Reclaim::OnRequest);
    keys.iter()
        .for_each(|key| _ = kept.insert(key, Strong::new(1)));
    match number % 3 {
        0 => drop(keys),
        1 => drop(maps),
        _ => drop(own),
    }
}
