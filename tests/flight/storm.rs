//! Wakers that panic, on three threads with executors of their own, over one memo: tasks that are given up, computations that
//! panic, keys that die, results that are removed, invalidated and set, calls that block, and results whose destructors ask
//! while anything of that happens. Whatever panics, nobody waits for ever.
//!
//! An hour: `WEAKLY_STORM_SECONDS=3600 cargo test --release --test flight storm -- --nocapture`. `WEAKLY_STORM=17` runs the round
//! of this seed only, again and again: the threads meet otherwise each time.
//!
//! What waits for ever, as documented, does not occur. A thread blocks without a time only while it has no task: a wake may
//! have gone to one of those. And a computation asks only for keys after its own, so no two threads wait for each other.

use std::any::Any;
use std::env;
use std::future::Future;
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, OnceLock, Weak as ArcWeak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};
use std::time::{Duration, Instant};

use weakly::{Memo, Strong};

use super::common::doomed::Doomed;
use super::script::{Random, hush};
use super::tools::{Event, message, yields};
use super::watchdog::watched;

const THREADS: usize = 3;
const KEYS: usize = 5;
/// How many rounds there are, if no time is given.
const ROUNDS: u64 = if cfg!(miri) { 2 } else { 300 };

/// Asks for the result of another key.
struct Asks(ArcWeak<World>, usize);

/// The panic of a waker, and that of a computation.
struct WakerPanics;
struct Boom;

struct World {
    memo: Memo<Strong<usize>, Doomed>,
    keys: [Mutex<Option<Strong<usize>>>; KEYS],
    /// Events for which computations wait.
    events: Mutex<Vec<Arc<Event>>>,
    /// The threads that have not ended.
    left: AtomicUsize,
    threads: [OnceLock<Thread>; THREADS],
    seeds: AtomicU64,
    token: Arc<()>,
    wrong: Mutex<Vec<String>>,
}

fn catch<R>(run: impl FnOnce() -> R) -> Result<R, Box<dyn Any + Send>> {
    catch_unwind(AssertUnwindSafe(run))
}

/// So long waits a call that may not wait for ever.
fn soon(random: &mut Random) -> Duration {
    Duration::from_micros(random.below(4) as u64 * 100)
}

impl World {
    /// Others draw meanwhile, so this is no more the same each time than what the threads do.
    fn random(&self) -> Random {
        Random(self.seeds.fetch_add(0x9E37_79B9, SeqCst))
    }

    fn key(&self, slot: usize) -> Strong<usize> {
        let mut place = self.keys[slot].lock().unwrap();
        place.get_or_insert_with(|| Strong::new(slot)).clone()
    }

    fn unpark_all(&self) {
        let threads = self.threads.iter().filter_map(OnceLock::get);
        threads.for_each(Thread::unpark);
    }

    fn value(self: &Arc<Self>, of: usize, random: &mut Random) -> Doomed {
        let asks = random.one_in(4).then(|| random.below(KEYS));
        let asks = asks.map(|slot| Asks(Arc::downgrade(self), slot));
        let token = Arc::clone(&self.token);
        // The end may ask for another one.
        Doomed::new(move || drop((asks, token))).numbered(of)
    }

    fn plain(&self, of: usize) -> Doomed {
        let token = Arc::clone(&self.token);
        Doomed::new(move || drop(token)).numbered(of)
    }

    fn check(&self, value: &Doomed, slot: usize) {
        if value.number != slot {
            self.fail("a wrong value".into());
        }
    }

    fn fail(&self, what: String) {
        self.wrong.lock().unwrap().push(what);
    }

    /// Who asks from a destructor may meet a cycle.
    fn check_panic(&self, payload: Box<dyn Any + Send>) {
        if !(payload.is::<WakerPanics>() || payload.is::<Boom>()) {
            let text = message(payload);
            if !text.starts_with("a cycle") {
                self.fail(text);
            }
        }
    }

    /// An event that one of the threads has happen, when it has nothing else to do.
    async fn event(&self) {
        let event = Event::new();
        self.events.lock().unwrap().push(Arc::clone(&event));
        self.unpark_all();
        event.wait().await;
    }

    /// What waits for nobody.
    fn change(self: &Arc<Self>, random: &mut Random) {
        let slot = random.below(KEYS);
        match random.below(5) {
            0 => _ = self.memo.invalidate(&self.key(slot)),
            1 => _ = self.memo.remove(&self.key(slot)),
            2 => drop(self.memo.insert(&self.key(slot), self.value(slot, random))),
            3 => {
                let died = self.keys[slot].lock().unwrap().take();
                drop(died);
            }
            _ => _ = self.memo.purge(),
        }
    }

    /// Asks by a call that blocks, and computes itself, if nobody does: of this key, and perhaps of one after it.
    fn block(self: &Arc<Self>, slot: usize, timed: bool, random: &mut Random) {
        let key = self.key(slot);
        let compute = |random: &mut Random| {
            if random.one_in(3) && slot + 1 < KEYS {
                self.block(slot + 1, timed, random);
            }
            if random.one_in(20) {
                resume_unwind(Box::new(Boom));
            }
            self.value(slot, random)
        };
        if timed {
            let soon = soon(random);
            let asked = self
                .memo
                .get_or_compute_timeout(&key, soon, |_| compute(random));
            asked.iter().for_each(|value| self.check(value, slot));
        } else {
            let value = self.memo.get_or_compute(&key, |_| compute(random));
            self.check(&value, slot);
        }
    }
}

impl Drop for Asks {
    fn drop(&mut self) {
        let Some(world) = self.0.upgrade() else {
            return;
        };
        // It catches what panics, and goes on.
        let mut random = world.random();
        for _ in 0..2 {
            let asked = catch(|| {
                let key = world.key(self.1);
                let value = || world.plain(self.1);
                if random.one_in(2) {
                    let soon = soon(&mut random);
                    drop(world.memo.get_or_compute_timeout(&key, soon, |_| value()));
                } else {
                    let value = value();
                    let flight = world.memo.get_or_compute_async(&key, |_, _| async {
                        yields(1).await;
                        value
                    });
                    let mut context = Context::from_waker(Waker::noop());
                    drop(std::pin::pin!(flight).poll(&mut context));
                }
            });
            if let Err(payload) = asked {
                world.check_panic(payload);
            }
        }
    }
}

type Task = Pin<Box<dyn Future<Output = ()> + Send>>;

/// Asks for a key. What computes it may ask for one after it.
fn ask(world: Arc<World>, slot: usize) -> Task {
    Box::pin(async move {
        let key = world.key(slot);
        let computes = Arc::clone(&world);
        let flight = world.memo.get_or_compute_async(&key, move |_, depends| {
            let world = computes;
            let mut random = world.random();
            async move {
                for _ in 0..random.below(4) {
                    match random.below(8) {
                        0 | 1 => yields(1 + random.below(2)).await,
                        2 | 3 => world.event().await,
                        4 | 5 if slot + 1 < KEYS => {
                            let after = slot + 1 + random.below(KEYS - slot - 1);
                            ask(Arc::clone(&world), after).await;
                        }
                        6 if slot + 1 < KEYS => world.block(slot + 1, true, &mut random),
                        7 => depends.depends_on(&world.key(random.below(KEYS))),
                        _ => world.change(&mut random),
                    }
                }
                if random.one_in(20) {
                    resume_unwind(Box::new(Boom));
                }
                world.value(slot, &mut random)
            }
        });
        let value = flight.await;
        world.check(&value, slot);
    })
}

/// Asks for some keys, one after the other, and changes things in between.
fn task(world: Arc<World>) -> Task {
    Box::pin(async move {
        let mut random = world.random();
        for _ in 0..1 + random.below(3) {
            match random.below(6) {
                0 => world.change(&mut random),
                1 => world.block(random.below(KEYS), true, &mut random),
                _ => ask(Arc::clone(&world), random.below(KEYS)).await,
            }
        }
    })
}

/// What the wakers of an executor say.
#[derive(Default)]
struct Inbox {
    woken: Mutex<Vec<usize>>,
    /// The tasks whose wakers have panicked instead.
    lost: Mutex<Vec<usize>>,
}

struct TaskWaker {
    world: ArcWeak<World>,
    inbox: Arc<Inbox>,
    thread: Thread,
    at: usize,
}

impl Wake for TaskWaker {
    /// One of ten calls panics: it has woken, or not.
    fn wake(self: Arc<Self>) {
        let luck = self.world.upgrade().map(|world| world.random().below(20));
        let list = match luck {
            Some(0) => &self.inbox.lost,
            _ => &self.inbox.woken,
        };
        list.lock().unwrap().push(self.at);
        self.thread.unpark();
        if matches!(luck, Some(0 | 1)) {
            resume_unwind(Box::new(WakerPanics));
        }
    }
}

/// An executor of one thread.
struct Executor {
    world: Arc<World>,
    inbox: Arc<Inbox>,
    /// The tasks, and after how many polls they are given up.
    tasks: Vec<Option<(Task, usize)>>,
    random: Random,
}

impl Executor {
    fn spawn(&mut self) {
        let polls = match self.random.one_in(3) {
            true => self.random.below(4),
            false => usize::MAX,
        };
        self.inbox.woken.lock().unwrap().push(self.tasks.len());
        self.tasks
            .push(Some((task(Arc::clone(&self.world)), polls)));
    }

    fn is_empty(&self) -> bool {
        self.tasks.iter().all(Option::is_none)
    }

    fn end(&mut self, at: usize) {
        let task = self.tasks[at].take();
        self.caught(catch(|| drop(task)));
    }

    fn caught<R>(&self, caught: Result<R, Box<dyn Any + Send>>) -> Option<R> {
        caught
            .map_err(|payload| self.world.check_panic(payload))
            .ok()
    }

    fn poll(&mut self, at: usize) {
        let waker = Waker::from(Arc::new(TaskWaker {
            world: Arc::downgrade(&self.world),
            inbox: Arc::clone(&self.inbox),
            thread: thread::current(),
            at,
        }));
        let Some((task, polls)) = &mut self.tasks[at] else {
            return;
        };
        let left = polls.checked_sub(1);
        let polled = left.map(|left| {
            *polls = left;
            catch(|| task.as_mut().poll(&mut Context::from_waker(&waker)))
        });
        match polled {
            Some(Ok(Poll::Pending)) => {}
            Some(polled) => {
                self.caught(polled);
                self.end(at);
            }
            None => self.end(at),
        }
    }

    /// Does something. False if there is nothing to do.
    fn turn(&mut self) -> bool {
        let woken = mem::take(&mut *self.inbox.woken.lock().unwrap());
        if !woken.is_empty() {
            woken.into_iter().for_each(|at| self.poll(at));
            return true;
        }
        let event = {
            let mut events = self.world.events.lock().unwrap();
            let count = events.len();
            (count != 0).then(|| events.swap_remove(self.random.below(count)))
        };
        if let Some(event) = event {
            self.caught(catch(|| event.happen()));
            return true;
        }
        let lost = mem::take(&mut *self.inbox.lost.lock().unwrap());
        let any = !lost.is_empty();
        lost.into_iter().for_each(|at| self.end(at));
        any
    }

    /// Goes on until this is over.
    fn run(&mut self, is_over: impl Fn(&Self) -> bool) {
        while !is_over(self) {
            if !self.turn() && !is_over(self) {
                thread::park();
            }
        }
    }

    fn round(mut self) {
        for _ in 0..1 + self.random.below(3) {
            (0..self.random.below(6)).for_each(|_| self.spawn());
            self.run(Self::is_empty);
            if self.random.one_in(2) {
                let slot = self.random.below(KEYS);
                let world = Arc::clone(&self.world);
                let blocked = catch(|| world.block(slot, false, &mut self.random));
                self.caught(blocked);
            }
        }
        self.world.left.fetch_sub(1, SeqCst);
        self.world.unpark_all();
        // The tasks of others wait for events.
        self.run(|all| all.world.left.load(SeqCst) == 0);
    }
}

fn round(seed: u64) {
    let _watched = watched(format!("WEAKLY_STORM={seed}"));
    let token = Arc::new(());
    let world = Arc::new(World {
        memo: Memo::new(),
        keys: Default::default(),
        events: Mutex::default(),
        left: AtomicUsize::new(THREADS),
        threads: Default::default(),
        seeds: AtomicU64::new(Random(seed).next()),
        token: Arc::clone(&token),
        wrong: Mutex::default(),
    });
    thread::scope(|scope| {
        for at in 0..THREADS {
            let world = Arc::clone(&world);
            scope.spawn(move || {
                _ = world.threads[at].set(thread::current());
                let random = Random(seed ^ (at as u64 + 1) << 48);
                let executor = Executor {
                    world,
                    inbox: Arc::default(),
                    tasks: Vec::new(),
                    random,
                };
                executor.round();
            });
        }
    });
    let wrong = mem::take(&mut *world.wrong.lock().unwrap());
    assert!(
        wrong.is_empty(),
        "wrong with WEAKLY_STORM={seed}: {wrong:?}"
    );
    let world = Arc::into_inner(world).expect("nobody has it any more");
    drop(world);
    assert_eq!(Arc::strong_count(&token), 1, "WEAKLY_STORM={seed}");
}

/// 248, 249, 255: Three threads, whose wakers panic.
#[test]
fn a_storm_passes() {
    let asked = |name| {
        env::var(name)
            .ok()
            .map(|asked| asked.parse::<u64>().expect("a number"))
    };
    hush();
    let (began, only) = (Instant::now(), asked("WEAKLY_STORM"));
    let time = asked("WEAKLY_STORM_SECONDS").map(Duration::from_secs);
    let goes_on = |rounds| match time {
        Some(time) => began.elapsed() < time,
        None => rounds < ROUNDS,
    };
    let mut rounds = 0;
    while goes_on(rounds) {
        round(only.unwrap_or(rounds));
        rounds += 1;
    }
    println!("{rounds} rounds in {:?}", began.elapsed());
}
