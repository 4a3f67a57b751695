//! Floors and ceilings that threads share.

use std::sync::{Arc, Barrier, RwLock};
use std::thread;

use weakly::concurrent::{KeepAlive, WeakMap};
use weakly::keep::Limit;
use weakly::memo::Value;
use weakly::{Memo, Strong};

use crate::common::random::random;
use crate::common::{Count, in_time, scaled, sized};
use crate::tools::{Doomed, Floored, Pointer, for_each_floored};

for_each_floored!(who_holds_an_object_is_never_told_of_another,);

const THREADS: usize = 4;

/// Random steps, of all threads together.
const STEPS: usize = sized(1_000_000, 40_000, 200);

/// O227: As long as somebody holds an object, each lookup returns that one, whatever goes from the floor. Each cell of a
/// board has a number, and what a thread has found under it, for the others to compare.
fn who_holds_an_object_is_never_told_of_another<P: Pointer, C: Floored<P>>() {
    const NUMBERS: usize = 24;
    let all = Arc::new(C::default());
    let kept = all.set_keep_alive(Limit::entries(6).generations(2), |_| 1);
    let board: Arc<[RwLock<Option<P>>; NUMBERS]> = Arc::new([const { RwLock::new(None) }; NUMBERS]);
    let run = move || {
        thread::scope(|scope| {
            for own in 0..THREADS {
                let (all, kept, board) = (&*all, &kept, &*board);
                scope.spawn(move || walk(all, kept, board, own));
            }
        });
        for cell in &*board {
            drop(cell.write().unwrap().take());
        }
        rests(&*all, &kept, NUMBERS);
    };
    in_time(run);
}

fn walk<P: Pointer, C: Floored<P>>(
    all: &C,
    kept: &KeepAlive<P>,
    board: &[RwLock<Option<P>>],
    own: usize,
) {
    let mut mine: Vec<P> = Vec::new();
    for choice in random(own as u64 + 1).take(STEPS / THREADS) {
        let number = choice % board.len();
        match choice / 64 % 16 {
            0..=4 => {
                // While the cell is read, nobody takes its object away.
                let held = board[number].read().unwrap();
                let found = all.get(number);
                if let Some(held) = &*held {
                    assert!(found.is_some_and(|found| found.is(held)));
                }
            }
            5..=7 => {
                let held = board[number].read().unwrap();
                let found = all.make(number);
                assert_eq!(*found, number);
                assert!(held.as_ref().is_none_or(|held| held.is(&found)));
            }
            8 | 9 => {
                let mut cell = board[number].write().unwrap();
                let found = all.make(number);
                assert!(cell.as_ref().is_none_or(|held| held.is(&found)));
                *cell = Some(found);
            }
            10 => drop(board[number].write().unwrap().take()),
            11 => {
                let found = all.make(number);
                if let Some(there) = mine.iter().find(|there| ***there == number) {
                    assert!(there.is(&found));
                }
                mine.push(found);
                if mine.len() > 4 {
                    mine.remove(choice / 1024 % 4);
                }
            }
            12 => drop(all.get(number).and_then(|found| kept.release(&found))),
            13 => kept.advance(),
            14 => _ = kept.shrink_to(choice / 1024 % 6),
            _ => drop(all.get(number).map(|found| kept.touch(&found))),
        }
    }
}

/// O228: Nobody uses a floor and its collection any more: what is kept is within the limit, and all that lives; the weights
/// are those of what is there.
fn rests<P: Pointer, C: Floored<P>>(all: &C, kept: &KeepAlive<P>, numbers: usize) {
    all.purge();
    let limit = 6;
    let len = kept.len();
    assert!(len <= limit, "{len}");
    assert_eq!((kept.retained_weight(), all.len()), (len, len));
    // Without the lookups that would keep them again.
    kept.clear();
    all.purge();
    assert_eq!((all.len(), kept.retained_weight()), (0, 0));
    assert!((0..numbers).all(|number| all.get(number).is_none()));
}

/// O228: A ceiling, too: when all threads are done there is no more than the limit, the weights are those of the values
/// that are there, and each value that was there is told once.
#[test]
fn a_ceiling_is_exact_at_rest() {
    type P = Strong<usize>;
    let steps = sized(100_000, 10_000, 50);
    let run = move || {
        let map = WeakMap::<P, Doomed>::new();
        let memo = Memo::<(P, Value<usize>), usize>::new();
        let (made, ended, told) = (Count::default(), Count::default(), Count::default());
        map.set_ceiling(Limit::entries(20).weight(500).generations(3), |value| {
            value.number
        });
        memo.set_ceiling(Limit::entries(20).weight(500).generations(3), |value| {
            *value
        });
        let count = told.clone();
        memo.set_listener(move |_, _, _| _ = count.add());
        let keys: Vec<RwLock<P>> = (0..32).map(|at| RwLock::new(P::from(at))).collect();
        thread::scope(|scope| {
            for own in 0..THREADS {
                let (map, memo, made, ended, keys) = (&map, &memo, &made, &ended, &keys);
                scope.spawn(move || {
                    for choice in random(own as u64 + 7).take(steps) {
                        let at = choice % keys.len();
                        let key = keys[at].read().unwrap().clone();
                        let (weight, pair) = (choice / 64 % 50, (&key, &(choice / 64 % 4)));
                        let value = || {
                            made.add();
                            let count = ended.clone();
                            Doomed::new(move || _ = count.add()).numbered(weight)
                        };
                        match choice / 4096 % 16 {
                            0..=3 => _ = map.insert(&key, value()),
                            4 | 5 => _ = map.get_or_insert_with(&key, |_| value()),
                            6 => drop(map.remove(&key)),
                            7 => drop((map.get(&key), memo.get(pair))),
                            8 => _ = memo.insert(pair, weight),
                            9..=11 => _ = memo.get_or_compute(pair, |_| weight),
                            12 => _ = memo.remove(pair),
                            13 => _ = memo.invalidate(&key),
                            14 => *keys[at].write().unwrap() = P::from(at),
                            _ if choice % 7 == 0 => {
                                map.advance();
                                memo.advance();
                            }
                            _ => _ = (map.shrink_to(400), memo.shrink_to(400)),
                        }
                    }
                });
            }
        });
        map.purge();
        memo.purge();
        let values: Vec<_> = map.values().map(|value| value.number).collect();
        assert_eq!(
            (map.len(), map.retained_weight()),
            (values.len(), values.iter().sum())
        );
        assert!(map.len() <= 20 && map.retained_weight() <= 500);
        assert_eq!(made.get() - ended.get(), map.len());
        let mut of_memo = Vec::new();
        for key in &keys {
            let key = key.read().unwrap();
            of_memo.extend((0..4).filter_map(|parameter| memo.get((&*key, &parameter))));
        }
        assert_eq!(
            (memo.len(), memo.retained_weight()),
            (of_memo.len(), of_memo.iter().sum())
        );
        assert!(memo.len() <= 20 && memo.retained_weight() <= 500);
        let all = memo.statistics();
        let gone = (all.invalidated + all.evicted) as usize;
        // Those that were computed and not kept were never there.
        assert!(told.get() <= gone && told.get() > gone / 2);
        drop(keys);
        map.purge();
        memo.purge();
        assert_eq!(
            (map.len(), map.retained_weight(), made.get()),
            (0, 0, ended.get())
        );
        assert_eq!((memo.len(), memo.retained_weight()), (0, 0));
    };
    in_time(run);
}

/// O229: Threads that begin generations at once begin one each. What is found in between stays.
#[test]
fn generations_of_two_threads() {
    type P = Strong<usize>;
    let rounds = scaled(300, 5);
    for (generations, stays) in [(4, true), (3, false)] {
        let kept = KeepAlive::<P>::new(Limit::none().generations(generations));
        let start = Barrier::new(2);
        for round in 0..rounds {
            let (object, other) = (P::from(round), P::from(round));
            kept.keep(&object, 1);
            kept.keep(&other, 1);
            let advance = || {
                start.wait();
                kept.advance();
                kept.advance();
            };
            thread::scope(|scope| {
                scope.spawn(advance);
                advance();
            });
            assert_eq!(kept.contains(&object), stays);
            assert_eq!(kept.touch(&other), stays);
            assert_eq!(kept.len(), if stays { 2 } else { 0 });
            kept.clear();
        }
    }
}
