//! Statistics that add up.

use std::thread;

use proptest::prelude::*;
use weakly::memo::{Computation, Statistics};

use crate::asked::Memo;
use crate::common::{panics, quiet_panic, scaled};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, objects};

const OBJECTS: usize = 6;

/// An operation on a memo of pairs. Objects are identified by their places.
#[derive(Debug, Clone)]
enum Op {
    /// Asks for a pair's result, which, if it is computed, depends on another object besides. That object may
    /// die meanwhile, and the computation may fail. With a reservation, or without one.
    Ask([usize; 2], Option<(usize, bool)>, End, bool),
    Get([usize; 2]),
    Remove([usize; 2]),
    /// A new object replaces the one in this place.
    Kill(usize),
    Clear,
    Purge,
}

#[derive(Debug, Clone, Copy, PartialEq)]
enum End {
    Well,
    Fails,
    Panics,
    /// The result is removed before it is stored.
    Removed,
}

fn ops() -> impl Strategy<Value = Vec<Op>> {
    let pair = || [0..OBJECTS / 2, OBJECTS / 2 - 1..OBJECTS - 1];
    let end = prop_oneof![
        6 => Just(End::Well),
        1 => Just(End::Fails),
        1 => Just(End::Panics),
        1 => Just(End::Removed)
    ];
    let besides = proptest::option::of((0..OBJECTS, prop::bool::weighted(0.2)));
    let op = prop_oneof![
        12 => (pair(), besides, end, any::<bool>())
            .prop_map(|(pair, besides, end, races)| Op::Ask(pair, besides, end, races)),
        2 => pair().prop_map(Op::Get),
        2 => pair().prop_map(Op::Remove),
        4 => (0..OBJECTS).prop_map(Op::Kill),
        1 => Just(Op::Clear),
        2 => Just(Op::Purge)
    ];
    prop::collection::vec(op, 1..scaled(120, 20))
}

/// A stored result: the numbers of the objects that end it, and its own.
type Kept = ([usize; 2], Vec<usize>, usize);

/// The expected statistics.
#[derive(Default)]
struct Model {
    kept: Vec<Kept>,
    statistics: Statistics,
    answered: usize,
    failed: usize,
    destroyed: usize,
}

impl Model {
    fn find(&self, pair: [usize; 2]) -> Option<usize> {
        self.kept.iter().position(|kept| kept.0 == pair)
    }

    fn kill(&mut self, number: usize) {
        let before = self.kept.len();
        self.kept.retain(|kept| !kept.1.contains(&number));
        self.statistics.invalidated += (before - self.kept.len()) as u64;
    }

    fn remove(&mut self, pair: [usize; 2]) -> bool {
        let at = self.find(pair);
        if let Some(at) = at {
            self.kept.swap_remove(at);
            self.statistics.invalidated += 1;
        }
        at.is_some()
    }
}

/// A memo, its model, and the objects, each with a number that no other has had.
struct World<P: Pointer> {
    memo: Memo<(P, P), Doomed>,
    places: Vec<(P, usize)>,
    model: Model,
    /// Objects and results so far.
    numbers: usize,
    destroyed: Count,
}

impl<P: Pointer> World<P> {
    fn new() -> Self {
        let places: Vec<_> = (0..OBJECTS)
            .map(|number| (P::from(number), number))
            .collect();
        World {
            memo: Memo::new(),
            places,
            model: Model::default(),
            numbers: OBJECTS,
            destroyed: Count::default(),
        }
    }

    fn key(&self, at: [usize; 2]) -> (&P, &P) {
        (&self.places[at[0]].0, &self.places[at[1]].0)
    }

    fn named(&self, at: [usize; 2]) -> [usize; 2] {
        at.map(|at| self.places[at].1)
    }

    fn kill(&mut self, at: usize) {
        self.numbers += 1;
        let number = self.places[at].1;
        self.places[at] = (P::from(at), self.numbers);
        self.model.kill(number);
    }

    fn ask(&mut self, at: [usize; 2], besides: Option<(usize, bool)>, end: End, races: bool) {
        self.numbers += 1;
        let number = self.numbers;
        let pair = self.named(at);
        let there = self.model.find(pair).map(|at| self.model.kept[at].2);
        let mut got = None;
        let mut computed = false;
        let panicked = panics(|| {
            let compute = |cx: &Computation<'_>| {
                computed = true;
                if let Some((at, dies)) = besides {
                    let other = P::from(0);
                    cx.depends_on(if dies { &other } else { &self.places[at].0 });
                }
                match end {
                    End::Well => {}
                    End::Fails => return Err(()),
                    End::Panics => quiet_panic(),
                    End::Removed => assert!(self.memo.remove(self.key(at)).is_none()),
                }
                Ok(self.destroyed.doomed().numbered(number))
            };
            let answer = match races {
                true => self.memo.try_get_or_compute_racing(self.key(at), compute),
                false => self.memo.try_get_or_compute(self.key(at), compute),
            };
            got = answer.ok().map(|made| made.number);
        });
        assert_eq!(computed, there.is_none());
        let statistics = &mut self.model.statistics;
        if there.is_some() {
            statistics.hits += 1;
            self.model.answered += 1;
            assert_eq!((got, panicked), (there, false));
            return;
        }
        statistics.misses += 1;
        statistics.loads += 1;
        if matches!(end, End::Fails | End::Panics) {
            assert_eq!((got, panicked), (None, end == End::Panics));
            statistics.failures += 1;
            self.model.failed += 1;
            return;
        }
        self.model.answered += 1;
        assert_eq!((got, panicked), (Some(number), false));
        self.model.destroyed += 1;
        match besides {
            // (It counts once, whichever of its two ends is seen first.)
            Some((_, true)) => statistics.invalidated += 1,
            _ if end == End::Removed => statistics.invalidated += 1,
            _ => {
                let besides = besides.map(|(at, _)| self.places[at].1);
                let of = pair.into_iter().chain(besides).collect();
                self.model.kept.push((pair, of, number));
            }
        }
    }

    fn run(&mut self, op: Op) {
        match op {
            Op::Ask(at, besides, end, races) => self.ask(at, besides, end, races),
            Op::Get(at) => {
                let got = self.memo.get(self.key(at)).map(|made| made.number);
                let wanted = self.model.find(self.named(at));
                assert_eq!(got, wanted.map(|at| self.model.kept[at].2));
            }
            Op::Remove(at) => {
                let named = self.named(at);
                assert_eq!(
                    self.memo.remove(self.key(at)).is_some(),
                    self.model.remove(named)
                );
            }
            Op::Kill(at) => self.kill(at),
            Op::Clear => {
                self.memo.clear();
                self.model.statistics.invalidated += self.model.kept.len() as u64;
                self.model.kept.clear();
            }
            Op::Purge => self.check(),
        }
        let statistics = self.memo.statistics();
        let answered = self.model.answered + self.model.failed;
        assert_eq!(statistics.hits + statistics.misses, answered as u64);
    }

    fn check(&self) {
        self.memo.purge();
        let statistics = self.memo.statistics();
        let live = self.model.kept.len() as u64;
        assert_eq!(
            statistics,
            Statistics {
                live,
                ..self.model.statistics
            }
        );
        assert_eq!(self.memo.pending_dead(), 0);
        let destroyed = self.model.destroyed - self.model.kept.len();
        assert_eq!(self.destroyed.get(), destroyed, "and each once");
    }
}

fn agrees_with_the_model<P: Pointer>() {
    let config = ProptestConfig {
        cases: scaled(256, 4) as u32,
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    proptest!(config, |(ops in ops())| {
        let mut world = World::<P>::new();
        for op in ops {
            world.run(op);
        }
        world.check();
        let (destroyed, made) = (world.destroyed, world.model.destroyed);
        drop((world.memo, world.places));
        assert_eq!(destroyed.get(), made);
    });
}

for_each_pointer!(agrees_with_the_model, threads_leave_sums_that_agree);

/// 177: After all threads have finished. Objects die, results fail and are removed, on all threads at once.
fn threads_leave_sums_that_agree<P: Pointer>() {
    let threads = scaled(4, 2);
    let (memo, destroyed) = (Memo::<P, Doomed>::new(), Count::default());
    let (calls, computed, cycles) = (Count::default(), Count::default(), Count::default());
    let common = objects::<P>(scaled(16, 4));
    thread::scope(|scope| {
        for thread in 0..threads {
            let (memo, common, destroyed) = (&memo, &common, &destroyed);
            let (calls, computed, cycles) = (&calls, &computed, &cycles);
            scope.spawn(move || {
                let mut state = thread as u64;
                let mut own = objects::<P>(16);
                for step in 0..scaled(5_000, 60) {
                    state = state
                        .wrapping_mul(6_364_136_223_846_793_005)
                        .wrapping_add(1);
                    let chance = (state >> 33) as usize;
                    let input = if chance & 1 == 0 {
                        &common[chance / 32 % common.len()]
                    } else {
                        &own[chance / 32 % own.len()]
                    };
                    match chance / 2 % 16 {
                        0 => _ = memo.remove(input),
                        1 => own[step % 16] = P::from(step),
                        2 if step % 64 == 0 => memo.clear(),
                        3 => _ = memo.purge(),
                        kind => {
                            calls.add();
                            let mut begun = false;
                            let failed = panics(|| {
                                _ = memo.try_get_or_compute(input, |cx| {
                                    begun = true;
                                    computed.add();
                                    let other = P::from(step);
                                    cx.depends_on(&other);
                                    cx.depends_on(&own[step % 16]);
                                    match kind {
                                        4 => quiet_panic(),
                                        5 => Err(()),
                                        6 | 7 => Ok(destroyed.doomed()),
                                        _ => {
                                            // It lives as long as the result.
                                            let end = destroyed.clone();
                                            let keeps = move || drop((other, end.add()));
                                            Ok(Doomed::new(keeps))
                                        }
                                    }
                                });
                            });
                            if failed && !begun {
                                cycles.add();
                            }
                        }
                    }
                }
            });
        }
    });
    drop(common);
    memo.purge();
    let statistics = memo.statistics();
    assert_eq!((memo.pending_dead(), cycles.get()), (0, 0));
    assert_eq!(statistics.hits + statistics.misses, calls.get() as u64);
    assert_eq!(statistics.misses, computed.get() as u64);
    assert_eq!((statistics.live, memo.len()), (0, 0), "all inputs are dead");
}
