//! Random graphs of results in three memos. Each result is of one object or two in slots, which are replaced, and which change
//! in place. Its computation asks for results with lower numbers, in all ways, and declares further objects; from what it reads
//! follows what it asks. Results are removed, and set by hand.
//!
//! Each change has a stamp, and a result knows the lowest stamp of each thing that was read for it, also below other results.
//! When a call returns that ends what was computed from the things before a change, or when an object has died, the *floor* of
//! the thing rises to the stamp: no lookup that begins then may find a lower stamp. A single thread also has exactly the
//! misses, the results and the numbers of the [`model`](super::model).

use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::thread;

use weakly::Reclaim;
use weakly::keep::Limit;

use crate::common::random::random;
use crate::common::{scaled, sized};
use crate::model::Model;
use crate::world::World;

pub(crate) const SLOTS: usize = 6;
/// Of these, the first half notify.
pub(crate) const EXTRAS: usize = 4;
/// Each memo has a result for each slot. A number says both.
pub(crate) const NODES: usize = 3 * SLOTS;
/// Things that change: objects in slots, further objects, and results that are removed or set.
pub(crate) const THINGS: usize = SLOTS + EXTRAS + NODES;
/// What was not read.
const NEVER: u32 = u32::MAX;

pub(crate) type Outcome = Result<u64, ()>;

#[derive(Clone)]
pub(crate) struct Value {
    pub(crate) number: u64,
    /// The lowest stamps of what was read.
    pub(crate) read: Arc<[u32; THINGS]>,
}

impl Value {
    pub(crate) fn of(number: u64) -> Self {
        let read = Arc::new([NEVER; THINGS]);
        Value { number, read }
    }

    pub(crate) fn reads(&mut self, thing: usize, stamp: u32) {
        let known = &mut Arc::make_mut(&mut self.read)[thing];
        *known = stamp.min(*known);
    }

    fn takes(&mut self, other: &Value) {
        (0..THINGS).for_each(|thing| self.reads(thing, other.read[thing]));
        self.number = mix(self.number, other.number);
    }
}

/// How a computation asks for a result.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Asks {
    Waits,
    Races,
    Shares,
    /// As a task does.
    Awaits,
    /// On another thread, which is a part of the computation.
    Elsewhere,
    /// If it is there.
    Peeks,
    Untracked,
}

const WAYS: [Asks; 8] = [
    Asks::Waits,
    Asks::Waits,
    Asks::Races,
    Asks::Shares,
    Asks::Awaits,
    Asks::Elsewhere,
    Asks::Peeks,
    Asks::Untracked,
];

/// What a computation reads.
pub(crate) trait Env {
    /// `None` if there is none, and none was to be computed.
    fn ask(&mut self, node: usize, how: Asks) -> Option<Result<Value, ()>>;
    /// Depends on an extra object; its content.
    fn declare(&mut self, extra: usize) -> u32;
    /// Removes a result.
    fn forget(&mut self, node: usize);
}

fn mix(one: u64, other: u64) -> u64 {
    (one ^ other.rotate_left(23))
        .wrapping_add(0x9e37_79b9_7f4a_7c15)
        .wrapping_mul(0xbf58_476d_1ce4_e5b9)
        .rotate_left(31)
}

/// The slots of a result's key.
pub(crate) fn key_slots(node: usize) -> impl Iterator<Item = usize> {
    let (memo, slot) = (node % 3, node / 3);
    (0..1 + memo / 2).map(move |at| (slot + at) % SLOTS)
}

/// What each computation does: all follows from the contents of its key.
pub(crate) fn compute(node: usize, contents: &[u32], env: &mut dyn Env) -> Result<Value, ()> {
    let content = contents.iter().fold(node as u64, |number, content| {
        mix(number, u64::from(*content))
    });
    let mut choices = random(content);
    let mut choose = |count: usize| choices.next().expect("it is endless") % count;
    let mut value = Value::of(content);
    for _ in 0..choose(4) {
        if choose(4) == 0 {
            let extra = choose(EXTRAS);
            let content = env.declare(extra);
            value.reads(SLOTS + extra, content);
            value.number = mix(value.number, u64::from(content));
        }
        if node == 0 {
            continue;
        }
        let (below, how) = (choose(node), WAYS[choose(WAYS.len())]);
        match env.ask(below, how) {
            // The number would depend on what is kept, and is not read.
            Some(Ok(_)) if how == Asks::Untracked => {}
            Some(Ok(other)) => value.takes(&other),
            Some(Err(())) => value.number = mix(value.number, 1),
            None => value.number = mix(value.number, 2),
        }
        if choose(32) == 0 {
            env.forget(below);
        }
    }
    if choose(12) == 0 { Err(()) } else { Ok(value) }
}

/// How many lookups there are with each number of threads.
fn lookups() -> usize {
    let wanted = std::env::var("WEAKLY_LOOKUPS").ok();
    wanted.map_or(sized(20_000, 10_000, 100), |wanted| {
        wanted.parse().expect("a number")
    })
}

/// Says by which seed a test has failed.
struct Running(u64);

impl Drop for Running {
    fn drop(&mut self) {
        if thread::panicking() {
            eprintln!("by seed {}", self.0);
        }
    }
}

const ROUND: usize = sized(5_000, 2_500, 100);

/// 513, 541, 551: A single thread has the misses, the results and the numbers of the plain model.
#[test]
fn one_thread_computes_what_the_model_computes() {
    for seed in 0..lookups().div_ceil(ROUND) as u64 {
        let (world, mut model, _running) = (World::new(), Model::default(), Running(seed));
        if seed % 2 == 1 {
            world.set_reclaim(Reclaim::OnRequest);
        }
        let mut choices = random(seed);
        let mut choose = |count: usize| choices.next().expect("it is endless") % count;
        for at in 0..ROUND {
            if choose(8) == 0 {
                world.change(&mut choose, Some(&mut model));
            }
            let (node, how) = (choose(NODES), WAYS[choose(6)]);
            let was_there = model.has(node);
            let asked = world.look_up(node, how);
            assert_eq!(
                asked,
                model.ask_for(node),
                "step {at}, {node}, a hit: {was_there}"
            );
            assert_eq!(world.misses.load(SeqCst), model.misses, "step {at}, {node}");
        }
        for node in 0..NODES {
            assert_eq!(world.peek(node).is_some(), model.has(node));
        }
        let live = [world.one.len(), world.with_number.len(), world.two.len()];
        let counted: usize = (0..NODES).filter(|node| model.has(*node)).count();
        // Results of dead `Arc`s count until they are found dead.
        assert!(live.iter().sum::<usize>() >= counted, "{live:?}, {counted}");
    }
}

/// 542: No lookup finds a result of something that had ended before, whatever the threads change meanwhile; on request, and with
/// ceilings, which evict and refuse results. In the end, when all is quiet, the memos are as the model of a single thread.
fn threads(count: usize) {
    let rounds = lookups().div_ceil(ROUND) as u64;
    for seed in 0..rounds {
        let (mut world, _running) = (World::new(), Running(seed));
        match seed % 4 {
            1 => world.set_reclaim(Reclaim::OnRequest),
            2 => world.set_ceilings(Limit::entries(3)),
            3 => world.set_ceilings(Limit::none().weight(12)),
            _ => {}
        }
        thread::scope(|scope| {
            for thread in 0..count as u64 {
                let world = &world;
                scope.spawn(move || {
                    let mut choices = random(seed * 64 + thread);
                    let mut choose = |limit: usize| choices.next().expect("it is endless") % limit;
                    for _ in 0..ROUND.div_ceil(count) {
                        if choose(4 * count) == 0 {
                            world.change(&mut choose, None);
                        }
                        let how = WAYS[choose(7)];
                        let _ = world.look_up(choose(NODES), how);
                    }
                });
            }
        });
        (0..NODES).for_each(|node| _ = world.look_up(node, Asks::Waits));
        if seed % 4 > 1 {
            continue; // the model has no ceilings
        }
        (0..3).for_each(|memo| world.clear(memo, false));
        let mut model = world.model();
        world.misses.store(0, SeqCst);
        for _ in 0..2 {
            for node in 0..NODES {
                assert_eq!(world.look_up(node, Asks::Waits), model.ask_for(node));
                assert_eq!(world.misses.load(SeqCst), model.misses);
            }
        }
    }
}

#[test]
fn few_threads() {
    [2, 3, 4].into_iter().for_each(threads);
}

#[test]
fn some_threads() {
    [5, 6, 7, 8]
        .map(|count| scaled(count, 3))
        .into_iter()
        .for_each(threads);
}

#[test]
fn many_threads() {
    [16, 32]
        .map(|count| scaled(count, 5))
        .into_iter()
        .for_each(threads);
}
