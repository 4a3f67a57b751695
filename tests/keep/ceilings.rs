//! Ceilings: entries that go though their keys live.

use std::fmt;
use std::future::Future;
use std::pin::pin;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::task::{Context, Waker};
use std::thread;

use weakly::concurrent::WeakMap;
use weakly::keep::{Gone, Limit};
use weakly::memo::{Computation, Value};
use weakly::{Memo, Reclaim, Strong};

use crate::common::{in_time, panics, place_of_panic, quiet_panic, scaled};
use crate::tools::{Pointer, Told, for_each_pointer};

/// A collection whose entries can be bounded: numbers, for lives of a test's own.
trait Bounded: Default {
    type Life: fmt::Debug;
    fn life(number: usize) -> Self::Life;
    /// Brings a value, unless there is one.
    fn bring(&self, life: &Self::Life, value: usize) -> usize {
        self.bring_with(life, &|| value)
    }
    fn bring_with(&self, life: &Self::Life, make: &dyn Fn() -> usize) -> usize;
    /// Sets a value.
    fn set(&self, life: &Self::Life, value: usize) -> Option<usize>;
    fn find(&self, life: &Self::Life) -> Option<usize>;
    fn take(&self, life: &Self::Life) -> bool;
    // What all of them have.
    fn set_ceiling(&self, limit: Limit, weigh: impl Fn(&usize) -> usize + Send + Sync + 'static);
    fn set_limit(&self, limit: Limit);
    fn set_listener(&self, listener: impl Fn(&usize, Gone) + Send + Sync + 'static);
    fn set_reclaim(&self, reclaim: Reclaim);
    fn shrink_to(&self, weight: usize) -> usize;
    fn retained_weight(&self) -> usize;
    fn len(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn advance(&self);
    fn purge(&self);
    fn clear(&self);
}

macro_rules! bounded {
    ($([$($generics:tt)*] $name:ty, $life:ty: |$all:ident, $number:ident, $key:ident, $make:ident, $value:ident|
        $new:expr, $bring:expr, $set:expr, $find:expr, $take:expr;)*) => {$(
        impl<$($generics)*> Bounded for $name {
            type Life = $life;
            fn life($number: usize) -> $life {
                $new
            }
            fn bring_with(&self, $key: &$life, $make: &dyn Fn() -> usize) -> usize {
                let $all = self;
                $bring
            }
            fn set(&self, $key: &$life, $value: usize) -> Option<usize> {
                let $all = self;
                $set
            }
            fn find(&self, $key: &$life) -> Option<usize> {
                let $all = self;
                $find
            }
            fn take(&self, $key: &$life) -> bool {
                let $all = self;
                $take
            }
            #[track_caller]
            fn set_ceiling(
                &self,
                limit: Limit,
                weigh: impl Fn(&usize) -> usize + Send + Sync + 'static,
            ) {
                let weigh: Box<dyn Fn(&usize) -> usize + Send + Sync> = Box::new(weigh);
                self.set_ceiling(limit, weigh);
            }
            #[track_caller]
            fn set_limit(&self, limit: Limit) {
                self.set_limit(limit);
            }
            #[track_caller]
            fn set_listener(&self, listener: impl Fn(&usize, Gone) + Send + Sync + 'static) {
                let listener: Box<dyn Fn(&usize, Gone) + Send + Sync> = Box::new(listener);
                self.set_listener(move |_, value, why| listener(value, why));
            }
            fn set_reclaim(&self, reclaim: Reclaim) {
                self.set_reclaim(reclaim);
            }
            fn shrink_to(&self, weight: usize) -> usize {
                self.shrink_to(weight)
            }
            fn retained_weight(&self) -> usize {
                self.retained_weight()
            }
            fn len(&self) -> usize {
                self.len()
            }
            fn pending_dead(&self) -> usize {
                self.pending_dead()
            }
            fn advance(&self) {
                self.advance();
            }
            fn purge(&self) {
                self.purge();
            }
            fn clear(&self) {
                self.clear();
            }
        }
    )*};
}

/// Asks a memo: compiled once for all closures.
fn ask<P: Pointer>(
    memo: &Memo<P, usize>,
    key: &P,
    make: &dyn Fn(&Computation<'_>) -> usize,
) -> usize {
    memo.get_or_compute(key, make)
}

type Plain<P> = Memo<(P, Value<usize>), usize>;

bounded! {
    [P: Pointer] WeakMap<P, usize>, P: |all, number, key, make, value|
        P::from(number),
        all.get_or_insert_with(key, |_| make()),
        all.swap(key, value),
        all.get(key),
        all.remove(key).is_some();
    [P: Pointer] Plain<P>, (P, usize): |all, number, key, make, value|
        (P::from(number), number),
        all.get_or_compute((&key.0, &key.1), |_| make()),
        all.insert((&key.0, &key.1), value),
        all.get((&key.0, &key.1)),
        all.remove((&key.0, &key.1)).is_some();
}

/// Makes a `#[test]` for each collection, with one of the kinds of handles each.
macro_rules! for_each_bounded {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            use super::*;

            #[test]
            fn map_strong() {
                super::$test::<WeakMap<Strong<usize>, usize>>();
            }
            #[test]
            fn memo_arc() {
                super::$test::<Plain<Arc<usize>>>();
            }
        }
    )*};
}

for_each_bounded!(
    too_many,
    too_heavy,
    too_old,
    another_limit,
    what_dies_makes_room,
    an_operation_destroys_few_dead,
    each_is_told_once,
    on_request,
    weighed_once,
    a_weight_that_panics,
    one_limit,
);

fn lives<C: Bounded>(n: usize) -> Vec<C::Life> {
    (0..n).map(C::life).collect()
}

/// The numbers of the lives that have a value.
fn there<C: Bounded>(all: &C, lives: &[C::Life]) -> Vec<usize> {
    let there = lives.iter().enumerate();
    let there = there.filter_map(|(at, life)| all.find(life).map(|_| at));
    there.collect()
}

fn listened<C: Bounded>(limit: Limit) -> (C, Told<usize>) {
    let (all, told) = (C::default(), Told::default());
    all.set_ceiling(limit, |value| *value);
    let hears = told.clone();
    all.set_listener(move |value, why| hears.tell(value, why));
    (all, told)
}

/// O218: Entries go though their keys live: those that came first, where there are too many.
fn too_many<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::entries(3));
    let lives = lives::<C>(10);
    for (at, life) in lives.iter().enumerate() {
        assert_eq!(all.bring(life, at), at);
        assert_eq!(all.len(), 3.min(at + 1));
    }
    assert_eq!(
        told.take(),
        [0, 1, 2, 3, 4, 5, 6].map(|at| (at, Gone::Entries))
    );
    assert_eq!(
        (there(&all, &lives), all.retained_weight()),
        (vec![7, 8, 9], 24)
    );
    // Who comes back is made anew.
    assert_eq!(all.bring(&lives[0], 5), 5);
    assert_eq!((all.len(), told.take().len()), (3, 1));
}

/// O218: What is too heavy goes, at once if it alone is heavier than the limit. Who has made it gets it all the same.
fn too_heavy<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::none().weight(10));
    let lives = lives::<C>(6);
    for (life, value) in lives.iter().zip([4, 3, 2, 0, 11]) {
        assert_eq!(all.bring(life, value), value);
    }
    assert_eq!(told.take(), [(11, Gone::Weight)]);
    assert_eq!(
        (there(&all, &lives), all.retained_weight()),
        (vec![0, 1, 2, 3], 9)
    );
    all.set_limit(Limit::none().weight(9));
    assert_eq!(told.take(), []);
    assert_eq!(
        (all.set(&lives[4], 12), all.set(&lives[5], 9)),
        (None, None)
    );
    let gone = told.take();
    assert_eq!(gone[0], (12, Gone::Weight));
    assert_eq!(gone[1..].iter().map(|(weight, _)| weight).sum::<usize>(), 9);
    assert_eq!((all.find(&lives[5]), all.retained_weight()), (Some(9), 9));
    // What replaces another counts instead of it; what is heavier than the limit takes that with it.
    assert_eq!(all.set(&lives[5], 6), Some(9));
    assert_eq!(
        (told.take(), all.retained_weight()),
        (vec![(9, Gone::Removed)], 6)
    );
    assert_eq!(all.set(&lives[5], 10), Some(6));
    assert_eq!(all.find(&lives[5]), None);
    assert_eq!(told.take(), [(6, Gone::Removed), (10, Gone::Weight)]);
    assert_eq!(all.retained_weight(), 0);
}

/// O218: What was neither found nor inserted in the last generations goes when the next begins.
fn too_old<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::none().generations(1));
    let lives = lives::<C>(4);
    lives
        .iter()
        .enumerate()
        .for_each(|(at, life)| _ = all.bring(life, at));
    all.advance();
    assert!(all.find(&lives[1]).is_some());
    assert_eq!(all.bring(&lives[2], 9), 2);
    assert_eq!(all.set(&lives[3], 7), Some(3));
    assert_eq!(told.take(), [(3, Gone::Removed)]);
    all.advance();
    assert_eq!((told.take(), all.len()), (vec![(0, Gone::Generation)], 3));
    all.advance();
    let mut gone = told.take();
    gone.sort_by_key(|(value, _)| *value);
    assert_eq!(gone, [1, 2, 7].map(|value| (value, Gone::Generation)));
    assert_eq!((all.len(), all.retained_weight()), (0, 0));
}

/// O218: What is there when the limit is set counts, and what is beyond another limit goes at once.
fn another_limit<C: Bounded>() {
    let all = C::default();
    let lives = lives::<C>(10);
    lives.iter().for_each(|life| _ = all.bring(life, 2));
    assert_eq!((all.retained_weight(), all.shrink_to(0)), (0, 0));
    all.set_ceiling(Limit::entries(8), |value| *value);
    assert_eq!((all.len(), all.retained_weight()), (8, 16));
    all.set_limit(Limit::none().weight(13));
    assert_eq!((all.len(), all.retained_weight()), (6, 12));
    assert_eq!((all.shrink_to(7), all.len()), (3, 3));
    assert_eq!((all.shrink_to(7), there(&all, &lives).len()), (0, 3));
    all.set_limit(Limit::none());
    lives.iter().for_each(|life| _ = all.bring(life, 2));
    assert_eq!((all.len(), all.shrink_to(0), all.len()), (10, 10, 0));
}

/// O219: What has died makes room: no live entry goes for it.
fn what_dies_makes_room<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::entries(10));
    let mut lives = lives::<C>(10);
    lives.iter().for_each(|life| _ = all.bring(life, 1));
    let more: Vec<C::Life> = (0..10).map(C::life).collect();
    lives.truncate(4);
    // Handles that do not notify are found dead by a purge.
    all.purge();
    assert_eq!(told.take(), [(1, Gone::Died); 6]);
    more.iter().take(6).for_each(|life| _ = all.bring(life, 1));
    assert_eq!(told.take(), []);
    assert_eq!(
        (there(&all, &lives).len(), there(&all, &more).len()),
        (4, 6)
    );
    drop(lives);
    all.purge();
    more.iter().for_each(|life| _ = all.bring(life, 1));
    assert_eq!(told.take(), [(1, Gone::Died); 4]);
    assert_eq!((there(&all, &more).len(), all.retained_weight()), (10, 10));
}

/// 410: An operation destroys at most 16 dead entries, those that have to make room, and 16 more. No live entry goes for them.
fn an_operation_destroys_few_dead<C: Bounded>() {
    type Act<C> = fn(&C, &<C as Bounded>::Life, usize);
    const ROOM: usize = 50;
    let n = scaled(2_000, 200);
    let acts: [(usize, Act<C>); 10] = [
        (0, |all, other, _| _ = all.set(other, ROOM)),
        (9, |all, other, _| _ = all.set(other, ROOM + 9)),
        (9, |all, other, _| _ = all.bring(other, ROOM + 9)),
        (0, |all, _, _| _ = all.shrink_to(usize::MAX)),
        (9, |all, _, n| _ = all.shrink_to(n - 9)),
        (0, |all, _, _| all.advance()),
        (0, |all, _, _| all.set_limit(Limit::none())),
        (0, |all, _, _| all.set_limit(Limit::none().generations(1))),
        (9, |all, _, n| all.set_limit(Limit::none().weight(n - 9))),
        (9, |all, _, n| all.set_limit(Limit::entries(n - 9))),
    ];
    for reclaim in [Reclaim::OnUse, Reclaim::OnRequest] {
        for (at, (needed, act)) in acts.iter().enumerate() {
            let (all, told) = listened::<C>(Limit::none().weight(n + ROOM));
            all.set_reclaim(reclaim);
            let (mut lives, other) = (lives::<C>(n), C::life(n));
            lives.iter().for_each(|life| _ = all.bring(life, 1));
            lives.truncate(20);
            let pending = all.pending_dead();
            act(&all, &other, n);
            let gone = told.take();
            assert!(gone.len() <= needed + 32, "{at}: {}", gone.len());
            // Handles that do not notify are found dead by sweeps.
            if pending != 0 {
                assert!(gone.iter().all(|(_, why)| *why == Gone::Died), "{at}");
                assert_eq!(there(&all, &lives).len(), 20, "{at}");
            }
        }
    }
}

/// O221: Each value that goes is told once, with its reason; what is there at the end of the collection is not.
fn each_is_told_once<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::entries(5).generations(0));
    let mut lives = lives::<C>(20);
    lives
        .iter()
        .take(6)
        .enumerate()
        .for_each(|(at, life)| _ = all.bring(life, at));
    assert_eq!(told.take(), [(0, Gone::Entries)]);
    assert!(all.take(&lives[1]) && !all.take(&lives[1]));
    assert_eq!(told.take(), [(1, Gone::Removed)]);
    lives.drain(..3);
    all.purge();
    assert_eq!(told.take(), [(2, Gone::Died)]);
    assert_eq!(all.shrink_to(9), 1);
    assert_eq!(told.take(), [(3, Gone::Weight)]);
    all.advance();
    assert_eq!(told.take(), [(4, Gone::Generation), (5, Gone::Generation)]);
    lives.iter().take(3).for_each(|life| _ = all.bring(life, 7));
    all.clear();
    assert_eq!(told.take(), [(7, Gone::Removed); 3]);
    // What was not inserted does not go.
    assert!(panics(|| _ = all.bring_with(&lives[0], &|| quiet_panic())));
    all.purge();
    lives.iter().take(2).for_each(|life| _ = all.bring(life, 8));
    drop(all);
    assert_eq!(told.take(), []);
}

/// O221: On request: a value is told when it is kept for who asks, and not again when it is destroyed.
fn on_request<C: Bounded>() {
    let (all, told) = listened::<C>(Limit::entries(2));
    all.set_reclaim(Reclaim::OnRequest);
    let mut lives = lives::<C>(5);
    lives
        .iter()
        .enumerate()
        .for_each(|(at, life)| _ = all.bring(life, at));
    assert_eq!(told.take(), [0, 1, 2].map(|at| (at, Gone::Entries)));
    lives.pop();
    all.purge();
    assert_eq!(told.take(), [(4, Gone::Died)]);
    assert_eq!(
        (all.len(), all.retained_weight(), all.pending_dead()),
        (1, 3, 0)
    );
    all.bring(&lives[0], 10);
    assert_eq!((told.take(), there(&all, &lives)), (vec![], vec![0, 3]));
}

/// O214: A weight is asked for once for each value, and not by hits.
fn weighed_once<C: Bounded>() {
    let (all, asked) = (C::default(), Arc::new(AtomicUsize::new(0)));
    let counted = asked.clone();
    all.set_ceiling(Limit::entries(4), move |_| counted.fetch_add(1, SeqCst));
    let lives = lives::<C>(4);
    for _ in 0..50 {
        lives
            .iter()
            .for_each(|life| _ = (all.bring(life, 1), all.find(life)));
    }
    assert_eq!(asked.swap(0, SeqCst), 4);
    assert_eq!(all.set(&lives[0], 2), Some(1));
    assert!(all.find(&lives[0]).is_some());
    assert_eq!(asked.swap(0, SeqCst), 1);
}

/// O214: A weight that panics: nothing is inserted or replaced, no later lookup panics, and the limit holds.
fn a_weight_that_panics<C: Bounded>() {
    let (all, told) = (C::default(), Told::default());
    let weigh = |value: &usize| match value {
        0 => quiet_panic(),
        value => *value,
    };
    all.set_ceiling(Limit::entries(3), weigh);
    let hears = told.clone();
    all.set_listener(move |value, why| hears.tell(value, why));
    let lives = lives::<C>(30);
    for life in &lives {
        assert!(panics(|| _ = all.bring(life, 0)));
        assert_eq!(
            (all.find(life), all.len(), all.pending_dead()),
            (None, 0, 0)
        );
    }
    assert_eq!(all.bring(&lives[0], 5), 5);
    assert!(panics(|| _ = all.set(&lives[0], 0)));
    assert!(panics(|| _ = all.set(&lives[1], 0)));
    assert_eq!((there(&all, &lives), all.retained_weight()), (vec![0], 5));
    assert_eq!((all.set(&lives[0], 3), all.retained_weight()), (Some(5), 3));
    assert_eq!(told.take(), [(5, Gone::Removed)]);
    // Of what is there when the limit comes, that goes as what is too heavy.
    let all = C::default();
    for (at, life) in lives.iter().take(9).enumerate() {
        all.bring(life, at % 3);
    }
    assert!(panics(|| all.set_ceiling(Limit::entries(20), weigh)));
    assert_eq!(there(&all, &lives), [1, 2, 4, 5, 7, 8]);
    assert_eq!((all.len(), all.retained_weight()), (6, 9));
}

type Change<'a> = &'a dyn Fn(Option<&usize>) -> Option<usize>;

fn compute<P: Pointer>(map: &WeakMap<P, usize>, key: &P, change: Change<'_>) -> Option<usize> {
    map.compute(key, change)
}

/// O214: A weight that asks for the value it weighs is told so, and nobody waits for ever.
#[test]
fn a_weight_that_asks_for_what_it_weighs() {
    type P = Strong<usize>;
    let memo = Arc::new(Memo::<P, usize>::new());
    let key = P::from(1);
    let (all, own) = (Arc::downgrade(&memo), key.clone());
    memo.set_ceiling(Limit::entries(3), move |value| {
        let memo = all.upgrade().unwrap();
        ask(&memo, &own, &|_| *value)
    });
    in_time({
        let (memo, key) = (memo.clone(), key.clone());
        move || assert!(panics(|| _ = ask(&memo, &key, &|_| 1)))
    });
    assert_eq!((memo.get(&key), memo.len()), (None, 0));
    in_time({
        let (memo, key) = (memo.clone(), key.clone());
        move || {
            let mut context = Context::from_waker(Waker::noop());
            let mut task = pin!(memo.get_or_compute_async(&key, |_, _| async { 1 }));
            assert!(panics(|| _ = task.as_mut().poll(&mut context)));
        }
    });
    assert_eq!((memo.get(&key), memo.len()), (None, 0));
}

/// O215: A collection has one ceiling, whose limit can be changed. A second ceiling panics at the caller's line, as does
/// another limit of none.
fn one_limit<C: Bounded>() {
    let all = C::default();
    let panics_here = |here: u32, f: &dyn Fn()| {
        assert_eq!(place_of_panic(f), (file!().to_owned(), here));
    };
    panics_here(line!(), &|| all.set_limit(Limit::none()));
    panics_here(line!(), &|| all.set_listener(|_, _| ()));
    all.advance();
    all.set_ceiling(Limit::entries(1), |_| 1);
    panics_here(line!(), &|| all.set_ceiling(Limit::none(), |_| 1));
    (0..2).for_each(|at| _ = all.bring(&C::life(at), at));
    assert!(all.len() <= 1);
}

/// O220: The weight of what is computed follows the values.
#[test]
fn a_map_that_computes() {
    type P = Strong<usize>;
    let (map, told) = (WeakMap::<P, usize>::new(), Told::default());
    map.set_ceiling(Limit::none().weight(10), |value| *value);
    let hears = told.clone();
    map.set_listener(move |_, value, why| hears.tell(value, why));
    let (key, other) = (P::from(1), P::from(2));
    let add = |more: usize| move |now: Option<&usize>| Some(now.copied().unwrap_or(0) + more);
    for sum in 1..=4 {
        assert_eq!(compute(&map, &key, &add(1)), Some(sum));
        assert_eq!(map.retained_weight(), sum);
    }
    assert_eq!(told.take(), [1, 2, 3].map(|sum| (sum, Gone::Removed)));
    assert_eq!(compute(&map, &other, &add(5)), Some(5));
    assert_eq!((map.retained_weight(), map.len()), (9, 2));
    // One more than the limit: another goes for it.
    assert_eq!(compute(&map, &other, &add(2)), Some(7));
    assert_eq!(told.take(), [(5, Gone::Removed), (4, Gone::Weight)]);
    assert_eq!((map.retained_weight(), map.len()), (7, 1));
    assert_eq!(compute(&map, &other, &add(4)), Some(11));
    assert_eq!(told.take(), [(7, Gone::Removed), (11, Gone::Weight)]);
    assert_eq!(compute(&map, &other, &|now| now.copied()), None);
    assert_eq!(compute(&map, &key, &add(3)), Some(3));
    assert_eq!(compute(&map, &key, &|_| None), None);
    assert_eq!(told.take(), [(3, Gone::Removed)]);
    map.insert(&key, 1);
    map.insert(&other, 2);
    assert!(map.remove_if(&key, |_| true));
    map.retain(|_, value| *value != 2);
    assert_eq!(told.take(), [(1, Gone::Removed), (2, Gone::Removed)]);
    assert_eq!((map.retained_weight(), map.len()), (0, 0));
}

/// O222: The statistics of a memo add up under a ceiling, whatever goes.
#[test]
fn the_statistics_add_up() {
    type P = Strong<usize>;
    let memo = Memo::<(P, Value<usize>), usize>::new();
    memo.set_ceiling(Limit::entries(7).weight(60).generations(2), |value| *value);
    let mut objects: Vec<P> = (0..4).map(P::from).collect();
    for (step, at) in crate::common::random::random(1).take(2000).enumerate() {
        let (object, parameter) = (&objects[at % 4], at / 4 % 8);
        let key = (object, &parameter);
        match at / 64 % 16 {
            0 => _ = memo.insert(key, at % 20),
            1 => _ = memo.remove(key),
            2 => memo.advance(),
            3 => _ = memo.invalidate(object),
            4 => _ = memo.shrink_to(at % 60),
            5 => objects[at % 4] = P::from(at),
            6 => _ = memo.try_get_or_compute(key, |_| Err(())),
            7 if step % 50 == 0 => memo.clear(),
            _ => _ = memo.get_or_compute(key, |_| at % 70),
        }
        memo.purge();
        let sum: usize = (0..4)
            .flat_map(|at| (0..8).map(move |parameter| (at, parameter)))
            .filter_map(|(at, parameter)| memo.get((&objects[at], &parameter)))
            .sum();
        assert_eq!(memo.retained_weight(), sum, "step {step}");
        assert!(memo.len() <= 7 && sum <= 60, "step {step}");
    }
    let all = memo.statistics();
    assert!(
        all.hits > 50 && all.evicted > 100 && all.invalidated > 50,
        "{all:?}"
    );
}

/// O601: A thread has found an entry that is replaced, and then there is a ceiling: the replaced entry does not count.
#[test]
fn a_replaced_entry_does_not_count_under_a_new_ceiling() {
    for on_a_thread in [false, true] {
        let map = WeakMap::<Strong<usize>, usize>::new();
        let key = Strong::new(1);
        map.insert(&key, 10);
        map.with(&key, |_| {
            let insert = || _ = map.insert(&key, 20);
            match on_a_thread {
                true => thread::scope(|scope| scope.spawn(insert).join().unwrap()),
                false => insert(),
            }
            map.set_ceiling(Limit::none(), |weight| *weight);
        });
        map.purge();
        assert_eq!(map.retained_weight(), 20);
        assert_eq!(map.remove(&key), Some(20));
        assert_eq!(map.retained_weight(), 0);
    }
}

for_each_pointer!(a_transfer_makes_its_own_room);

/// 656: A transfer under a ceiling evicts nothing, though for a moment there is one entry more. Its listener is told of what
/// the other key had, and of the entry that has gone.
fn a_transfer_makes_its_own_room<P: Pointer>() {
    let keys: Vec<_> = (0..4).map(P::from).collect();
    for limit in [Limit::entries(3), Limit::none().weight(6)] {
        let (map, told) = (WeakMap::<P, usize>::new(), Arc::<Mutex<Vec<_>>>::default());
        map.set_ceiling(limit, |value| value % 10);
        let tells = told.clone();
        map.set_listener(move |_, value, why| tells.lock().unwrap().push((*value, why)));
        for (key, value) in keys.iter().zip([11, 22, 33]) {
            map.insert(key, value);
        }
        assert_eq!(map.transfer(&keys[0], &keys[3]), None);
        assert_eq!((map.len(), map.retained_weight()), (3, 6));
        map.purge();
        assert_eq!(*told.lock().unwrap(), [(11, Gone::Removed)]);
        assert_eq!(map.transfer(&keys[3], &keys[1]), Some(22));
        assert_eq!((map.len(), map.retained_weight()), (2, 4));
        map.purge();
        let mut told = told.lock().unwrap().split_off(1);
        told.sort_unstable_by_key(|(value, _)| *value);
        assert_eq!(told, [(11, Gone::Removed), (22, Gone::Removed)]);
    }
}
