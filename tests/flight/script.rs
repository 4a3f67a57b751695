//! A random script: tasks and threads that ask for the same few keys, with computations that pend, panic, fail, and die, and
//! askers that cancel, stall, and forget. The executor is the caller's.

#[path = "script/asks.rs"]
mod asks;
#[path = "script/plans.rs"]
mod plans;

use std::any::Any;
use std::future::{Future, poll_fn};
use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicIsize, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once, Weak as ArcWeak};
use std::task::{Context, Poll, Wake, Waker};
use std::thread;
use std::time::Duration;

use weakly::concurrent::WeakValueMap;
use weakly::memo::{Computation, Dependencies};
use weakly::{Memo, Strong, Weak};

use super::tools::{Event, message, yields};
use asks::{Ended, ask, ask_blocking, join};
use plans::{Author, Control, End, Of, Plan, SLOTS, Step};

pub(crate) type Task = Pin<Box<dyn Future<Output = ()> + Send>>;
pub(crate) type Job = Box<dyn FnOnce() + Send>;

/// What runs a script.
pub(crate) trait Runtime: Send + Sync + 'static {
    /// Returns what cancels the task.
    fn spawn(&self, task: Task) -> Job;
    /// Runs it in a while, on any thread, whatever others wait for.
    fn soon(&self, job: Job);
    /// Runs it on a thread that may wait for tasks.
    fn blocking(&self, job: Job);
    fn has_threads(&self) -> bool;
}

/// Splitmix64.
pub(crate) struct Random(pub(crate) u64);

impl Random {
    pub(crate) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    pub(crate) fn below(&mut self, n: usize) -> usize {
        (self.next() % n as u64) as usize
    }

    pub(crate) fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

// === What is counted ===

/// Everything that is made, and has to be dropped.
struct Token(Arc<AtomicIsize>);

impl Token {
    fn new(live: &Arc<AtomicIsize>) -> Self {
        live.fetch_add(1, SeqCst);
        Token(Arc::clone(live))
    }
}

impl Clone for Token {
    fn clone(&self) -> Self {
        Token::new(&self.0)
    }
}

impl Drop for Token {
    fn drop(&mut self) {
        self.0.fetch_sub(1, SeqCst);
    }
}

struct Key {
    id: u64,
    busy: Arc<AtomicUsize>,
    _token: Token,
}

/// A result.
#[derive(Clone)]
struct Value {
    id: u64,
    _asks: Option<Arc<Asks>>,
    _token: Token,
}

/// Asks when the last clone of a result goes.
struct Asks(ArcWeak<World>, Plan);

impl Drop for Asks {
    fn drop(&mut self) {
        if let Some(world) = self.0.upgrade() {
            world.ask_from_destructor(self.1.clone());
        }
    }
}

struct Thing {
    name: usize,
    _token: Token,
}

/// The panic of a computation, with the number of who has passed it.
struct Boom(usize);

/// Its error.
#[derive(Debug)]
struct Failure(usize);

/// One computation at a time, of each object or name.
struct Busy {
    busy: Arc<AtomicUsize>,
    world: Arc<World>,
    /// Asks when it goes.
    asks: Option<Plan>,
    _token: Token,
}

impl Busy {
    fn begin(world: &Arc<World>, work: &Work) -> Self {
        // Nobody looks for the computations of what is dead.
        let alive = work.key.as_ref().is_none_or(|key| key.upgrade().is_some());
        let before = work.busy.fetch_add(1, SeqCst);
        // A destructor that waits lets another one begin, if what it is in is being destroyed.
        let one = alive && !world.loose && !world.destructors_ask.load(SeqCst);
        if one && before != 0 {
            world.fail(format!("two computations at once, of {:?}", work.plan.of));
        }
        Busy {
            busy: Arc::clone(&work.busy),
            world: Arc::clone(world),
            asks: work
                .plan
                .asks_when_gone
                .then(|| Plan::of_destructor(work.plan.of)),
            _token: Token::new(&world.live),
        }
    }

    /// Its computation was not destroyed.
    fn end(mut self) {
        self.asks = None;
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        self.busy.fetch_sub(1, SeqCst);
        if let Some(plan) = self.asks.take() {
            self.world.ask_from_destructor(plan);
        }
    }
}

// === The world ===

type Kept = (Vec<Strong<Key>>, Vec<Strong<Thing>>);

pub(crate) struct World {
    memo: Memo<Strong<Key>, Value>,
    names: WeakValueMap<usize, Strong<Thing>>,
    slots: [Mutex<Option<Strong<Key>>>; SLOTS],
    busy: [Arc<AtomicUsize>; SLOTS],
    /// Until they are dropped.
    kept: Mutex<Kept>,
    runtime: Arc<dyn Runtime>,
    live: Arc<AtomicIsize>,
    /// Tokens that are forgotten.
    forgotten: AtomicIsize,
    /// Keys may ask for each other.
    cyclic: bool,
    /// At most one thread blocks at a time: a cycle through two of them, and two computations of tasks, is not found.
    alone: bool,
    blocks: AtomicBool,
    /// A task does not wait any more. If keys ask for each other, two computations may own each other, where no poll has met the
    /// cycle: two threads have found each that the other one was taken, or one of the two stalled. With nobody who waits, nobody
    /// finds it.
    gave_up: AtomicBool,
    stalled: AtomicBool,
    /// Results are removed and set, after which the next computation begins.
    loose: bool,
    ids: AtomicUsize,
    failures: Mutex<Vec<String>>,
    left: Arc<Left>,
    /// No destructor asks any more.
    closed: AtomicBool,
    /// One has asked. It may have done so within a poll, and polled a computation that waits for that one.
    destructors_ask: AtomicBool,
}

#[derive(Clone, Copy)]
struct Asker {
    number: usize,
    /// Whether what it asks for may need itself.
    may_cycle: bool,
}

/// What a computation needs besides its plan.
struct Work {
    world: Arc<World>,
    plan: Plan,
    asker: Asker,
    id: u64,
    busy: Arc<AtomicUsize>,
    /// None of a name.
    key: Option<Weak<Key>>,
}

impl World {
    fn fail(&self, what: String) {
        self.failures.lock().unwrap().push(what);
    }

    fn new_key(&self) -> Strong<Key> {
        Strong::new(Key {
            id: self.ids.fetch_add(1, SeqCst) as u64,
            busy: Arc::default(),
            _token: Token::new(&self.live),
        })
    }

    fn key(&self, slot: usize) -> Strong<Key> {
        let mut place = self.slots[slot].lock().unwrap();
        place.get_or_insert_with(|| self.new_key()).clone()
    }

    fn value(&self, id: u64, asks: Option<Asks>) -> Value {
        Value {
            id,
            _asks: asks.map(Arc::new),
            _token: Token::new(&self.live),
        }
    }

    fn work(self: &Arc<Self>, plan: Plan, key: Option<&Strong<Key>>) -> Work {
        let (id, busy) = match (plan.of, key) {
            (Of::Name(name), _) => (name as u64, &self.busy[name]),
            (_, Some(key)) => (key.id, &key.busy),
            _ => unreachable!("an object has a key"),
        };
        let asker = Asker {
            number: self.ids.fetch_add(1, SeqCst),
            may_cycle: self.cyclic || plan.by_destructor,
        };
        Work {
            world: Arc::clone(self),
            plan,
            asker,
            id,
            busy: Arc::clone(busy),
            key: key.map(Strong::downgrade),
        }
    }

    /// Whether a computation may have panicked so.
    fn check_panic(&self, payload: Box<dyn Any + Send>, asker: Asker) {
        let payload = match payload.downcast::<Boom>() {
            Ok(boom) if boom.0 == asker.number => return,
            Ok(_) => return self.fail("the panic of another one's closure".into()),
            Err(payload) => payload,
        };
        let text = message(payload);
        let may_cycle = asker.may_cycle || self.destructors_ask.load(SeqCst);
        if !(may_cycle && text.starts_with("a cycle")) {
            self.fail(text);
        }
    }

    fn check<T>(
        &self,
        ended: Ended<Result<T, Failure>>,
        is: impl FnOnce(&T) -> bool,
        asker: Asker,
    ) {
        match ended {
            Ended::Answered(Ok(made)) if !is(&made) => self.fail("a wrong value".into()),
            Ended::Answered(Err(failure)) if failure.0 != asker.number => {
                self.fail("the error of another one".into());
            }
            Ended::Panicked(payload) => self.check_panic(payload, asker),
            _ => {}
        }
    }

    /// Polls once, and leaves the rest to a task.
    fn ask_from_destructor(self: &Arc<Self>, plan: Plan) {
        if self.closed.load(SeqCst) {
            return;
        }
        self.destructors_ask.store(true, SeqCst);
        let world = Arc::clone(self);
        let mut task: Task = Box::pin(async move { ask(&world, plan).await });
        let mut context = Context::from_waker(Waker::noop());
        if task.as_mut().poll(&mut context).is_pending() {
            drop(self.spawn(task));
        }
    }

    fn spawn(&self, task: Task) -> Job {
        let counted = Counted(Some(task), self.left.one_more());
        self.runtime.spawn(Box::pin(counted))
    }

    fn block(self: &Arc<Self>, plan: Plan) {
        if self.alone && self.blocks.swap(true, SeqCst) {
            return;
        }
        let (world, left) = (Arc::clone(self), self.left.one_more());
        self.runtime.blocking(Box::new(move || {
            ask_blocking(&world, plan, None);
            world.blocks.store(false, SeqCst);
            drop(world);
            drop(left);
        }));
    }
}

/// How many tasks and jobs there are, and who waits for them.
#[derive(Default)]
struct Left(Mutex<(usize, Option<Waker>)>);

struct OneLeft(Arc<Left>);

impl Left {
    fn one_more(self: &Arc<Self>) -> OneLeft {
        self.0.lock().unwrap().0 += 1;
        OneLeft(Arc::clone(self))
    }

    async fn none(&self) {
        poll_fn(|context| {
            let mut left = self.0.lock().unwrap();
            if left.0 == 0 {
                return Poll::Ready(());
            }
            left.1 = Some(context.waker().clone());
            Poll::Pending
        })
        .await;
    }
}

impl Drop for OneLeft {
    fn drop(&mut self) {
        let mut left = self.0.0.lock().unwrap();
        left.0 -= 1;
        let waker = (left.0 == 0).then(|| left.1.take()).flatten();
        drop(left);
        waker.into_iter().for_each(Waker::wake);
    }
}

/// A task that is counted until it is dropped.
struct Counted(
    Option<Task>,
    #[expect(dead_code, reason = "it is dropped")] OneLeft,
);

impl Future for Counted {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let task = self.0.as_mut().expect("it is not over");
        let polled = task.as_mut().poll(context);
        if polled.is_ready() {
            // Before it is counted off.
            self.0 = None;
        }
        polled
    }
}

// === The tasks ===

type Boxed<'a, T> = Pin<Box<dyn Future<Output = T> + Send + 'a>>;

/// What a computation depends on.
enum Inside<'a> {
    Tasks(&'a Dependencies<'a>),
    Thread(&'a Computation<'a>),
}

impl Inside<'_> {
    fn depend_on(&self, key: &Strong<Key>) {
        match self {
            Inside::Tasks(dependencies) => dependencies.depends_on(key),
            Inside::Thread(computation) => computation.depends_on(key),
        }
    }
}

impl World {
    /// What neither pends nor blocks.
    fn step(self: &Arc<Self>, step: Step, inside: Option<&Inside<'_>>) {
        match step {
            Step::Die(slot) => {
                let died = self.slots[slot].lock().unwrap().take();
                drop(died);
            }
            Step::Drop => {
                let kept = mem::take(&mut *self.kept.lock().unwrap());
                drop(kept);
            }
            Step::DependOn(keeps) => {
                let object = self.new_key();
                if let Some(inside) = inside {
                    inside.depend_on(&object);
                }
                if keeps {
                    self.kept.lock().unwrap().0.push(object);
                }
            }
            Step::Remove(slot) => {
                self.memo.remove(&self.key(slot));
                self.names.remove(&slot);
            }
            Step::Invalidate(slot) => {
                self.memo.invalidate(&self.key(slot));
            }
            Step::Insert(slot) => {
                let key = self.key(slot);
                let old = self.memo.insert(&key, self.value(key.id, None));
                drop(old);
                let named = self.thing(slot);
                self.names.insert(slot, &named);
                self.kept.lock().unwrap().1.push(named);
            }
            Step::AskBriefly(plan) => ask_blocking(self, plan, Some(Duration::ZERO)),
            Step::AskBlocking(plan) => self.block(plan),
            Step::Yield
            | Step::YieldTwice
            | Step::Event
            | Step::Ask(_)
            | Step::Join(_)
            | Step::Unordered(_) => {}
        }
    }

    fn thing(&self, name: usize) -> Strong<Thing> {
        Strong::new(Thing {
            name,
            _token: Token::new(&self.live),
        })
    }

    /// What is made as it has to end.
    fn made(self: &Arc<Self>, plan: &Plan, id: u64) -> Value {
        let asks = match plan.end {
            End::Asks(slot) => Some(Asks(
                Arc::downgrade(self),
                Plan::of_destructor(Of::Slot(slot)),
            )),
            _ => None,
        };
        self.value(id, asks)
    }
}

fn run<'a>(
    world: &'a Arc<World>,
    steps: Vec<Step>,
    inside: Option<&'a Dependencies<'a>>,
) -> Boxed<'a, ()> {
    Box::pin(async move {
        for step in steps {
            match step {
                Step::Yield => yields(1).await,
                Step::YieldTwice => {
                    let mut pended = false;
                    poll_fn(|context| {
                        if mem::replace(&mut pended, true) {
                            return Poll::Ready(());
                        }
                        context.waker().wake_by_ref();
                        context.waker().wake_by_ref();
                        Poll::Pending
                    })
                    .await;
                }
                Step::Event => {
                    let event = Event::new();
                    let happens = Arc::clone(&event);
                    world.runtime.soon(Box::new(move || happens.happen()));
                    event.wait().await;
                }
                Step::Ask(plan) => ask(world, plan).await,
                Step::Join(plans) => join(world, plans, false).await,
                Step::Unordered(plans) => join(world, plans, true).await,
                step => world.step(step, inside.map(Inside::Tasks).as_ref()),
            }
        }
    })
}

impl Work {
    /// What tasks compute.
    async fn run<T>(
        mut self,
        inside: Option<Dependencies<'_>>,
        made: impl FnOnce(&Arc<World>, &Plan, u64) -> T,
    ) -> Result<T, Failure> {
        let busy = Busy::begin(&self.world, &self);
        let steps = mem::take(&mut self.plan.steps);
        run(&self.world, steps, inside.as_ref()).await;
        busy.end();
        self.end(made)
    }

    /// What a thread computes.
    fn block<T>(
        mut self,
        inside: Option<Inside<'_>>,
        timeout: Option<Duration>,
        made: impl FnOnce(&Arc<World>, &Plan, u64) -> T,
    ) -> Result<T, Failure> {
        let busy = Busy::begin(&self.world, &self);
        for step in mem::take(&mut self.plan.steps) {
            match step {
                Step::Yield | Step::YieldTwice => thread::yield_now(),
                Step::Ask(plan) | Step::AskBlocking(plan) => {
                    ask_blocking(&self.world, plan, timeout)
                }
                step => self.world.step(step, inside.as_ref()),
            }
        }
        busy.end();
        self.end(made)
    }

    fn end<T>(self, made: impl FnOnce(&Arc<World>, &Plan, u64) -> T) -> Result<T, Failure> {
        match self.plan.end {
            // Those that cannot fail panic.
            End::Panic => resume_unwind(Box::new(Boom(self.asker.number))),
            End::Fail => Err(Failure(self.asker.number)),
            _ => Ok(made(&self.world, &self.plan, self.id)),
        }
    }

    fn begin(&self) {
        if self.plan.end == End::PanicAtOnce {
            resume_unwind(Box::new(Boom(self.asker.number)));
        }
    }
}

async fn infallible<T>(running: impl Future<Output = Result<T, Failure>>) -> T {
    match running.await {
        Ok(made) => made,
        Err(_) => unreachable!("it does not fail"),
    }
}

// === A script ===

/// Runs the script of a seed. The error is what was wrong.
pub(crate) async fn script(runtime: Arc<dyn Runtime>, seed: u64) -> Result<(), String> {
    let mut random = Random(seed);
    let threads = runtime.has_threads();
    let (cyclic, loose, asks) = (random.one_in(4), random.one_in(4), random.one_in(2));
    let live = Arc::<AtomicIsize>::default();
    let left = Arc::<Left>::default();
    let world = Arc::new(World {
        memo: Memo::new(),
        names: WeakValueMap::new(),
        slots: [const { Mutex::new(None) }; SLOTS],
        busy: Default::default(),
        kept: Mutex::default(),
        runtime,
        live: Arc::clone(&live),
        forgotten: AtomicIsize::new(0),
        cyclic,
        alone: cyclic || asks,
        blocks: AtomicBool::new(false),
        gave_up: AtomicBool::new(false),
        stalled: AtomicBool::new(false),
        loose,
        ids: AtomicUsize::new(0),
        failures: Mutex::default(),
        left: Arc::clone(&left),
        closed: AtomicBool::new(false),
        destructors_ask: AtomicBool::new(false),
    });
    let tasks = 2 + random.below(4);
    let mut author = Author {
        random,
        cyclic,
        loose,
        threads,
        asks,
    };
    let mut cancels = Vec::new();
    for _ in 0..tasks {
        let n = 1 + author.random.below(4);
        let steps: Vec<Step> = (0..n).filter_map(|_| author.step(None, 3)).collect();
        let of_task = Arc::clone(&world);
        let cancel = world.spawn(Box::pin(async move { run(&of_task, steps, None).await }));
        if author.random.one_in(6) {
            cancels.push(cancel);
        }
    }
    for cancel in cancels {
        world.gave_up.store(true, SeqCst);
        yields(author.random.below(8)).await;
        cancel();
    }
    left.none().await;
    world.end(&live)
}

impl World {
    /// Nothing runs any more.
    fn end(self: Arc<Self>, live: &AtomicIsize) -> Result<(), String> {
        self.closed.store(true, SeqCst);
        let keys = self
            .slots
            .each_ref()
            .map(|slot| slot.lock().unwrap().take());
        let kept = mem::take(&mut *self.kept.lock().unwrap());
        drop((keys, kept));
        self.memo.purge();
        self.names.purge();
        let unmet = self.runtime.has_threads() || self.stalled.load(SeqCst);
        if self.cyclic && unmet && self.gave_up.load(SeqCst) {
            let wrong = mem::take(&mut *self.failures.lock().unwrap());
            return wrong.first().cloned().map_or(Ok(()), Err);
        }
        let statistics = self.memo.statistics();
        let mut wrong = mem::take(&mut *self.failures.lock().unwrap());
        if statistics.live != 0 || statistics.failures > statistics.loads {
            wrong.push(statistics.to_string());
        }
        let lens = (self.memo.len(), self.names.len());
        if lens != (0, 0) {
            wrong.push(format!("{lens:?} entries at the end"));
        }
        let forgotten = self.forgotten.load(SeqCst);
        match Arc::try_unwrap(self) {
            Ok(world) => drop(world),
            Err(_) => wrong.push("the world is in use".into()),
        }
        let live = live.load(SeqCst);
        if live != forgotten {
            wrong.push(format!(
                "{live} objects live, and {forgotten} were forgotten"
            ));
        }
        if wrong.is_empty() {
            Ok(())
        } else {
            Err(wrong.join("; "))
        }
    }
}

/// A cycle that is found is no news.
pub(crate) fn hush() {
    static ONCE: Once = Once::new();
    ONCE.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            let text = info.payload().downcast_ref::<String>();
            if !text.is_some_and(|text| text.starts_with("a cycle")) {
                before(info);
            }
        }));
    });
}
