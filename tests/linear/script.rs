//! A script: what each thread does, and what must be so in the end.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::{collections::BTreeMap, hint, iter, thread};

use weakly::Reclaim;

use super::spec::check;
use super::turn::{Face, Turn};
use super::world::{Hand, Handle, World, set_pauses, take_ends};
use crate::common::scaled;

/// How many choices a step takes, more or less.
const CHOICES: usize = 8;

/// What the first choices say.
struct Plan {
    threads: usize,
    steps: usize,
    objects: usize,
    contents: usize,
    /// How many entries the table has from the start: so many that it grows soon, and perhaps in several steps.
    fillers: usize,
    on_request: bool,
    /// Whether the threads drop what they have.
    drops: bool,
}

impl Plan {
    fn new(choices: &mut dyn Iterator<Item = usize>) -> Self {
        let mut choose = |n: usize| choices.next().unwrap_or(0) % n;
        let objects = 1 + choose(3);
        Plan {
            threads: 2 + choose(scaled(3, 2)),
            steps: scaled(3 + choose(13), 2 + choose(5)),
            objects,
            contents: 1 + choose(objects),
            fillers: match choose(16) {
                0 => scaled(250, 16),
                n => n % 3 * 8,
            },
            on_request: choose(4) == 0,
            drops: choose(2) == 0,
        }
    }
}

fn step<K: Handle>(all: &dyn Face<K>, turn: &Turn<K>) {
    match turn.choose(32) {
        0..4 => turn.drops_one(),
        4..7 => turn.revives_one(),
        7 => turn.renews_one(),
        8 => _ = turn.timed(|| all.purge()),
        9..12 => turn.fills(all),
        12 => turn.walks(all),
        13 => turn.removes_some(all),
        _ => {
            let hands = turn.hands.borrow();
            let hand = &hands[turn.choose(hands.len())];
            all.act(turn, hand, turn.choose(all.operations()));
        }
    }
    turn.sort_received();
    turn.pause();
}

/// Until so many threads are here.
fn wait_for_all(here: &AtomicUsize, threads: usize) {
    here.fetch_add(1, SeqCst);
    while here.load(SeqCst) < threads {
        hint::spin_loop();
        thread::yield_now();
    }
}

/// Runs a script; checks the history of each key, and what is left.
pub fn run<K: Handle, F: Face<K> + Default + 'static>(choices: &mut dyn Iterator<Item = usize>) {
    run_on::<K>(Box::<F>::default(), choices);
}

fn run_on<K: Handle>(mut all: Box<dyn Face<K>>, choices: &mut dyn Iterator<Item = usize>) {
    let plan = Plan::new(choices);
    let world = Arc::new(World::default());
    if plan.on_request {
        all.set_reclaim(Reclaim::OnRequest);
    }
    let objects: Vec<Hand<K>> = (0..plan.objects)
        .map(|n| Hand::new(world.object((n % plan.contents) as u32).into()))
        .collect();
    let mut choices_of = vec![Vec::new(); plan.threads];
    let most = plan.threads * plan.steps * CHOICES;
    for (at, choice) in choices.take(most).enumerate() {
        choices_of[at % plan.threads].push(choice);
    }
    // Each object is owned by some thread, and by others or not.
    let hands = |thread: usize, choices: &[usize]| {
        let hand = |(n, hand): (usize, &Hand<K>)| {
            let mut hand = hand.again();
            let owns = choices.get(n).is_some_and(|choice| choice % 2 == 0);
            hand.strong = hand.strong.filter(|_| owns || n % plan.threads == thread);
            hand
        };
        objects.iter().enumerate().map(hand).collect()
    };
    let turns: Vec<Turn<K>> = (0..)
        .zip(choices_of)
        .map(|(thread, choices)| {
            let hands = hands(thread, &choices);
            Turn::new(thread, &world, choices, hands)
        })
        .collect();
    drop(objects);
    let fillers: Vec<K> = (0..plan.fillers)
        .map(|n| K::from(world.filler(n as u32)))
        .collect();
    fillers.iter().for_each(|filler| all.fill(&world, filler));
    let here = AtomicUsize::new(0);
    let act = |turn: Turn<K>| {
        let patterns = [0x1111_1111, 0x0101_0101, 0];
        wait_for_all(&here, plan.threads);
        set_pauses(patterns[turn.choose(3)]);
        (0..plan.steps).for_each(|_| step(&*all, &turn));
        set_pauses(0);
        if plan.drops {
            turn.drops_all();
        }
        turn
    };
    let mut turns = turns.into_iter();
    let first = turns.next().expect("there are two");
    let turns: Vec<Turn<K>> = thread::scope(|scope| {
        let others: Vec<_> = turns.map(|turn| scope.spawn(|| act(turn))).collect();
        let first = act(first);
        let others = others.into_iter().map(|other| other.join().unwrap());
        [first].into_iter().chain(others).collect()
    });
    drop(fillers);
    at_rest(&*all, &world, &turns);
    let keys = (0..world.objects()).flat_map(|key| iter::once(key).chain(all.twin(key)));
    let keys: Vec<u32> = keys.collect();
    drop(all);
    assert_eq!(world.kept.load(SeqCst), 0, "it was lost");
    _ = take_ends();
    if world.unclear.load(SeqCst) {
        return;
    }
    let events: Vec<_> = turns.into_iter().flat_map(Turn::into_events).collect();
    for key in keys {
        let of_key = events.iter().filter(|(about, _)| about.has(key));
        if let Err(wrong) = check(of_key.map(|(_, event)| *event).collect()) {
            panic!("key {key}: {wrong}");
        }
    }
}

/// No thread uses it any more: what is there is seen, and counted; then all objects die.
fn at_rest<K: Handle>(all: &dyn Face<K>, world: &World, turns: &[Turn<K>]) {
    let turn = &turns[0];
    turns.iter().for_each(Turn::drops_fillers);
    let mut hands: BTreeMap<u32, Hand<K>> = BTreeMap::new();
    for turn in turns {
        for hand in &*turn.hands.borrow() {
            if hand.strong.is_some() || !hands.contains_key(&all.key(hand)) {
                hands.insert(all.key(hand), hand.again());
            }
        }
    }
    let there = hands.values().filter(|hand| all.look(turn, hand)).count();
    drop(hands);
    turn.drops_received();
    turn.walks(all);
    is_left(all, world, there, "at rest");
    turns.iter().for_each(Turn::drops_all);
    assert_eq!(world.alive.load(SeqCst), 0, "an object lives on");
    turn.walks(all);
    is_left(all, world, 0, "when all have died");
}

/// Whether there are so many entries, and what they own.
fn is_left<K: Handle>(all: &dyn Face<K>, world: &World, entries: usize, when: &str) {
    all.check_at_rest();
    if K::NOTIFIES {
        assert_eq!(all.len(), entries, "{when}");
    }
    all.purge();
    let owned = all.owned(entries);
    let left = (all.len(), all.pending_dead(), world.kept.load(SeqCst));
    assert_eq!(left, (entries, 0, owned), "{when}, after a purge");
    all.check_at_rest();
}
