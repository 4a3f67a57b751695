//! The memos of the [`graph`](super::graph), and what happens to them.

use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex, MutexGuard};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use weakly::keep::Limit;
use weakly::memo::{Computation, Dependencies, MemoKey, MemoQuery};
use weakly::{Memo, Reclaim};

use crate::floors::{Extra, Floors, Object, extra, object};
use crate::graph::{Asks, EXTRAS, Env, NODES, Outcome, SLOTS, THINGS, Value, compute, key_slots};
use crate::model::Model;

/// The computation that asks.
#[derive(Clone, Copy)]
enum Asker<'a> {
    Thread(&'a Computation<'a>),
    Task(&'a Dependencies<'a>),
}

pub(crate) struct World {
    pub(crate) one: Memo<Object, Value>,
    pub(crate) with_number: Memo<(Object, weakly::memo::Value<usize>), Value>,
    pub(crate) two: Memo<(Object, Object), Value>,
    slots: [Mutex<Object>; SLOTS],
    extras: [Mutex<Extra>; EXTRAS],
    /// Held by who changes a thing: for a result, the things of its key, in their order.
    changing: [Mutex<()>; SLOTS + EXTRAS],
    stamps: [AtomicU32; THINGS],
    floors: Arc<Floors>,
    pub(crate) misses: AtomicU64,
    has_ceilings: bool,
}

/// Calls `$body` with `$memo` and `$key` as the memo and the key of a result.
macro_rules! with_key {
    ($world:expr, $node:expr, $objects:expr, |$memo:ident, $key:ident| $body:expr) => {{
        let (world, objects): (&World, &[Object]) = ($world, $objects);
        match $node % 3 {
            0 => {
                let ($memo, $key) = (&world.one, &objects[0]);
                $body
            }
            1 => {
                let ($memo, $key) = (&world.with_number, (&objects[0], &$node));
                $body
            }
            _ => {
                let ($memo, $key) = (&world.two, (&objects[0], &objects[1]));
                $body
            }
        }
    }};
}

impl World {
    pub(crate) fn new() -> Self {
        let floors = Arc::<Floors>::default();
        World {
            one: Memo::new(),
            with_number: Memo::new(),
            two: Memo::new(),
            slots: std::array::from_fn(|slot| Mutex::new(object(slot, 0, &floors))),
            extras: std::array::from_fn(|at| Mutex::new(extra(at, 0, &floors))),
            changing: Default::default(),
            stamps: std::array::from_fn(|_| AtomicU32::new(0)),
            floors,
            misses: AtomicU64::new(0),
            has_ceilings: false,
        }
    }

    pub(crate) fn set_reclaim(&self, reclaim: Reclaim) {
        self.one.set_reclaim(reclaim);
        self.with_number.set_reclaim(reclaim);
        self.two.set_reclaim(reclaim);
    }

    /// Some results are heavier than a limit of weight.
    pub(crate) fn set_ceilings(&mut self, limit: Limit) {
        self.has_ceilings = true;
        let weigh = |value: &Value| value.number as usize % 14;
        self.one.set_ceiling(limit, weigh);
        self.with_number.set_ceiling(limit, weigh);
        self.two.set_ceiling(limit, weigh);
    }

    pub(crate) fn key(&self, node: usize) -> Vec<Object> {
        let object = |slot: usize| self.slots[slot].lock().unwrap().clone();
        key_slots(node).map(object).collect()
    }

    fn next_stamp(&self, thing: usize) -> u32 {
        self.stamps[thing].fetch_add(1, SeqCst) + 1
    }

    /// For a change of a result.
    fn lock(&self, node: usize) -> Vec<MutexGuard<'_, ()>> {
        let mut slots: Vec<_> = key_slots(node).collect();
        slots.sort_unstable();
        slots
            .into_iter()
            .map(|slot| self.changing[slot].lock().unwrap())
            .collect()
    }

    /// No lookup finds anything that was computed from the results that a node had before, unless it has more of them: of old
    /// objects.
    fn raise(&self, node: usize, stamp: u32) {
        if key_slots(node).all(|slot| self.floors.is_alone(slot)) {
            self.floors.raise(SLOTS + EXTRAS + node, stamp);
        }
    }

    /// A result is computed.
    fn run(&self, node: usize, objects: &[Object], asker: Asker<'_>) -> Result<Value, ()> {
        self.misses.fetch_add(1, SeqCst);
        let begun = self.stamps[SLOTS + EXTRAS + node].load(SeqCst);
        let contents: Vec<_> = objects
            .iter()
            .map(|object| object.stamp.load(SeqCst))
            .collect();
        let mut value = compute(node, &contents, &mut Asking { world: self, asker })?;
        value.reads(SLOTS + EXTRAS + node, begun);
        for (slot, content) in key_slots(node).zip(contents) {
            value.reads(slot, content);
        }
        Ok(value)
    }

    fn get_or_compute(&self, node: usize, how: Asks) -> Result<Value, ()> {
        let objects = &*self.key(node);
        let compute = |cx: &Computation<'_>| self.run(node, objects, Asker::Thread(cx));
        with_key!(self, node, objects, |memo, key| ask(
            memo,
            key,
            how,
            &compute,
            &|dependencies| { self.run(node, objects, Asker::Task(dependencies)) }
        ))
    }

    pub(crate) fn peek(&self, node: usize) -> Option<Value> {
        with_key!(self, node, &self.key(node), |memo, key| memo.get(key))
    }

    fn remove(&self, node: usize) {
        let (_locked, thing) = (self.lock(node), SLOTS + EXTRAS + node);
        let stamp = self.next_stamp(thing);
        with_key!(self, node, &self.key(node), |memo, key| drop(
            memo.remove(key)
        ));
        self.raise(node, stamp);
    }

    /// Sets a result. What was computed from the result that was there has a lower stamp than this: no computation of the
    /// result begins before it is removed again, unless a ceiling evicts it.
    pub(crate) fn insert(&self, node: usize, number: u64) {
        let (_locked, thing) = (self.lock(node), SLOTS + EXTRAS + node);
        let (mut value, stamp) = (Value::of(number), self.next_stamp(thing));
        value.reads(thing, stamp + 1);
        with_key!(self, node, &self.key(node), |memo, key| drop(
            memo.insert(key, value)
        ));
        let later = self.next_stamp(thing);
        self.raise(node, if self.has_ceilings { stamp } else { later });
    }

    /// Removes all results of a memo.
    pub(crate) fn clear(&self, memo: usize, by_retain: bool) {
        let _locked: Vec<_> = self.changing[..SLOTS]
            .iter()
            .map(|lock| lock.lock().unwrap())
            .collect();
        let nodes = (0..NODES).filter(|node| node % 3 == memo);
        let stamps = nodes.map(|node| (node, self.next_stamp(SLOTS + EXTRAS + node)));
        let stamps: Vec<_> = stamps.collect();
        match (memo, by_retain) {
            (0, false) => self.one.clear(),
            (1, false) => self.with_number.clear(),
            (_, false) => self.two.clear(),
            (0, true) => self.one.retain(|_, _| false),
            (1, true) => self.with_number.retain(|_, _| false),
            (_, true) => self.two.retain(|_, _| false),
        }
        if by_retain {
            return; // it may miss what others insert meanwhile
        }
        stamps
            .into_iter()
            .for_each(|(node, stamp)| self.raise(node, stamp));
    }

    fn change_slot(&self, slot: usize, in_place: bool) {
        let _changing = self.changing[slot].lock().unwrap();
        let stamp = self.next_stamp(slot);
        if in_place {
            let object = self.slots[slot].lock().unwrap().clone();
            object.stamp.store(stamp, SeqCst);
            self.invalidate(&object);
            self.floors
                .change(slot, |alive| _ = alive.insert(object.first, stamp));
        } else {
            let new = object(slot, stamp, &self.floors);
            let old = std::mem::replace(&mut *self.slots[slot].lock().unwrap(), new);
            drop(old);
        }
    }

    fn invalidate<P: weakly::concurrent::SharedKey>(&self, object: &P) {
        self.one.invalidate(object);
        self.with_number.invalidate(object);
        self.two.invalidate(object);
    }

    fn change_extra(&self, at: usize, in_place: bool) {
        let thing = SLOTS + at;
        let _changing = self.changing[thing].lock().unwrap();
        let stamp = self.next_stamp(thing);
        if in_place {
            let there = self.extras[at].lock().unwrap().clone();
            let body = there.body();
            body.stamp.store(stamp, SeqCst);
            match &there {
                Extra::Notifies(object) => self.invalidate(object),
                Extra::IsPolled(object) => self.invalidate(object),
            }
            self.floors
                .change(thing, |alive| _ = alive.insert(body.first, stamp));
        } else {
            let new = extra(at, stamp, &self.floors);
            let old = std::mem::replace(&mut *self.extras[at].lock().unwrap(), new);
            drop(old);
        }
    }

    /// Asks for a result. It was not computed from what had ended before.
    pub(crate) fn look_up(&self, node: usize, how: Asks) -> Outcome {
        let floors = self.floors.now();
        let value = match how {
            Asks::Peeks => self.peek(node).ok_or(())?,
            _ => self.get_or_compute(node, how)?,
        };
        for (thing, (floor, stamp)) in floors.iter().zip(&*value.read).enumerate() {
            assert!(
                floor <= stamp,
                "result {node} has thing {thing} of {stamp}, not of {floor}"
            );
        }
        Ok(value.number)
    }

    /// The model of empty memos.
    pub(crate) fn model(&self) -> Model {
        let mut model = Model::default();
        for (content, slot) in model.slots.iter_mut().zip(&self.slots) {
            *content = slot.lock().unwrap().stamp.load(SeqCst);
        }
        for (content, extra) in model.extras.iter_mut().zip(&self.extras) {
            *content = extra.lock().unwrap().body().stamp.load(SeqCst);
        }
        model
    }

    /// Changes something; the model too.
    pub(crate) fn change(
        &self,
        choose: &mut impl FnMut(usize) -> usize,
        model: Option<&mut Model>,
    ) {
        let (node, slot, at, kind) = (choose(NODES), choose(SLOTS), choose(EXTRAS), choose(40));
        match kind {
            0..16 => self.change_slot(slot, kind < 6),
            16..26 => self.change_extra(at, kind < 20),
            26..33 => self.remove(node),
            33..38 => self.insert(node, node as u64),
            _ => self.clear(node % 3, kind == 38),
        }
        let Some(model) = model else { return };
        match kind {
            0..16 => {
                model.slots[slot] = self.stamps[slot].load(SeqCst);
                model.end_slot(slot);
            }
            16..26 => {
                model.extras[at] = self.stamps[SLOTS + at].load(SeqCst);
                model.end_extra(at);
            }
            26..33 => model.end_node(node),
            33..38 => model.insert(node, Ok(node as u64)),
            _ => model.end_memo(node % 3),
        }
    }
}

type Compute<'a> = dyn Fn(&Computation<'_>) -> Result<Value, ()> + 'a;
type ComputeInTask<'a> = dyn Fn(&Dependencies<'_>) -> Result<Value, ()> + 'a;

fn ask<K: MemoKey>(
    memo: &Memo<K, Value>,
    key: impl MemoQuery<K>,
    how: Asks,
    compute: &Compute<'_>,
    in_task: &ComputeInTask<'_>,
) -> Result<Value, ()> {
    match how {
        Asks::Races => memo.try_get_or_compute_racing(key, compute),
        Asks::Shares => memo.try_get_or_compute_shared(key, compute),
        Asks::Awaits => {
            let task = async |_, dependencies: Dependencies<'_>| in_task(&dependencies);
            block_on(memo.try_get_or_compute_async(key, task))
        }
        _ => memo.try_get_or_compute(key, compute),
    }
}

struct Asking<'a> {
    world: &'a World,
    asker: Asker<'a>,
}

impl Env for Asking<'_> {
    fn ask(&mut self, node: usize, how: Asks) -> Option<Result<Value, ()>> {
        let world = self.world;
        match (how, self.asker) {
            (Asks::Peeks, _) => world.peek(node).map(Ok),
            (Asks::Untracked, _) => Some(weakly::memo::untracked(|| {
                world.get_or_compute(node, Asks::Waits)
            })),
            (Asks::Elsewhere, Asker::Thread(cx)) => {
                let part = || cx.enter(|| world.get_or_compute(node, Asks::Waits));
                Some(thread::scope(|scope| scope.spawn(part).join().unwrap()))
            }
            (Asks::Elsewhere, Asker::Task(dependencies)) => {
                let part = async || world.get_or_compute(node, Asks::Waits);
                let part = || block_on(dependencies.enter(part()));
                Some(thread::scope(|scope| scope.spawn(part).join().unwrap()))
            }
            _ => Some(world.get_or_compute(node, how)),
        }
    }

    fn declare(&mut self, extra: usize) -> u32 {
        let there = self.world.extras[extra].lock().unwrap().clone();
        match (&there, self.asker) {
            (Extra::Notifies(object), Asker::Thread(cx)) => cx.depends_on(object),
            (Extra::IsPolled(object), Asker::Thread(cx)) => cx.depends_on(object),
            (Extra::Notifies(object), Asker::Task(dependencies)) => dependencies.depends_on(object),
            (Extra::IsPolled(object), Asker::Task(dependencies)) => dependencies.depends_on(object),
        }
        there.body().stamp.load(SeqCst)
    }

    fn forget(&mut self, node: usize) {
        self.world.remove(node);
    }
}

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// Runs a future to its end on this thread.
fn block_on<F: Future>(future: F) -> F::Output {
    let (mut future, waker) = (
        pin!(future),
        Waker::from(Arc::new(Unpark(thread::current()))),
    );
    loop {
        if let Poll::Ready(value) = future.as_mut().poll(&mut Context::from_waker(&waker)) {
            return value;
        }
        thread::park();
    }
}
