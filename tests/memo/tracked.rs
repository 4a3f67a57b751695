//! A computation depends on the results that it asks for.

use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::sync::mpsc::channel;
use std::sync::{Arc, Barrier, LazyLock};
use std::task::{Wake, Waker};
use std::thread;
use std::time::Duration;

use weakly::concurrent::WeakMap;
use weakly::memo::{Many, Value, untracked};
use weakly::{Memo, Strong, keep::Limit};

use crate::common::{panics, quiet_panic};
use crate::for_each_pointer;
use crate::tools::{Count, Doomed, Pointer, objects};

for_each_pointer!(
    each_way_to_ask_is_a_dependence,
    a_death_ends_the_dependents,
    an_end_during_the_computation,
);

type Numbers<P> = Memo<P, usize>;
type Ask<P> = fn(&Numbers<P>, &P) -> usize;

/// All ways to ask for the result of a key, which is 7.
fn ways<P: Pointer>() -> [Ask<P>; 8] {
    [
        |memo, key| memo.get_or_compute(key, |_| 7),
        |memo, key| memo.get_or_compute_racing(key, |_| 7),
        |memo, key| {
            memo.get_or_compute_timeout(key, Duration::MAX, |_| 7)
                .unwrap()
        },
        |memo, key| memo.try_get_or_compute(key, |_| Ok::<_, ()>(7)).unwrap(),
        |memo, key| {
            memo.try_get_or_compute_racing(key, |_| Ok::<_, ()>(7))
                .unwrap()
        },
        |memo, key| {
            memo.try_get_or_compute_shared(key, |_| Ok::<_, ()>(7))
                .unwrap()
        },
        |memo, key| {
            memo.insert(key, 7);
            memo.get(key).unwrap()
        },
        |memo, key| {
            memo.insert(key, 7);
            7 * usize::from(memo.contains_key(key))
        },
    ]
}

/// 511: By each way to ask, for a result that is there, and for one that is made now.
fn each_way_to_ask_is_a_dependence<P: Pointer>() {
    for (at, ask) in ways::<P>().into_iter().enumerate() {
        for there in [false, true] {
            let (memo, sums) = (Numbers::<P>::new(), Numbers::<Strong<usize>>::new());
            let (key, other) = (P::from(1), Strong::new(2));
            if there {
                memo.get_or_compute(&key, |_| 7);
            }
            for _ in 0..2 {
                assert_eq!(sums.get_or_compute(&other, |_| ask(&memo, &key) + 1), 8);
                assert_eq!(sums.get_or_compute(&other, |_| unreachable!()), 8, "{at}");
                assert_eq!(memo.remove(&key), Some(7));
                assert_eq!(sums.get(&other), None, "{at} {there}");
            }
        }
    }
}

/// 512: The death of a key ends its result, and what was computed from the result, also if the key does not notify.
fn a_death_ends_the_dependents<P: Pointer>() {
    let (memo, sums) = (Numbers::<P>::new(), Numbers::<Strong<usize>>::new());
    let (key, [other, third]) = (P::from(1), [2, 3].map(Strong::new));
    let sum = || sums.get_or_compute(&other, |_| memo.get_or_compute(&key, |_| 7));
    assert_eq!((sums.get_or_compute(&third, |_| sum()), sums.len()), (7, 2));
    drop(key);
    assert_eq!((sums.get(&other), sums.get(&third)), (None, None));
}

/// 514: No dependence is a `get` that finds nothing, another result, a value of a map, and what is asked for apart. A
/// computation that begins apart has its own.
#[test]
fn no_dependence() {
    let (memo, sums) = (
        Numbers::<Strong<usize>>::new(),
        Numbers::<Strong<usize>>::new(),
    );
    let map = WeakMap::<Strong<usize>, usize>::new();
    let [key, other, third, fourth] = [1, 2, 3, 4].map(Strong::new);
    memo.insert(&third, 5);
    map.insert(&third, 5);
    let sum = sums.get_or_compute(&other, |cx| {
        assert!(memo.get(&key).is_none() && !memo.contains_key(&key));
        let apart =
            untracked(|| memo.get_or_compute(&fourth, |_| memo.get_or_compute(&third, |_| 1) + 1));
        assert_eq!(format!("{cx:?}"), "Computation { dependencies: 0 }");
        apart + map.get(&third).unwrap()
    });
    assert_eq!(sum, 11);
    memo.insert(&key, 1);
    map.clear();
    memo.remove(&third);
    assert_eq!(memo.get(&fourth), None, "its own dependence");
    assert_eq!(sums.get(&other), Some(11));
}

thread_local! {
    /// Called by the code of users that the library runs.
    static ASKS: Cell<Option<fn()>> = const { Cell::new(None) };
}

fn asks() {
    ASKS.get().into_iter().for_each(|asks| asks());
}

static MEMO: Numbers<Strong<usize>> = Numbers::new();
static KEY: LazyLock<Strong<usize>> = LazyLock::new(|| Strong::new(1));

fn ask(called: &Count) {
    called.add();
    assert_eq!(MEMO.get(&*KEY), Some(1));
}

/// A part of a key whose hash, comparison and clone ask a memo.
#[derive(Debug)]
struct Asks(usize);

impl Hash for Asks {
    fn hash<H: Hasher>(&self, state: &mut H) {
        asks();
        self.0.hash(state);
    }
}

impl PartialEq for Asks {
    fn eq(&self, other: &Self) -> bool {
        asks();
        self.0 == other.0
    }
}

impl Eq for Asks {}

impl Clone for Asks {
    fn clone(&self) -> Self {
        asks();
        Asks(self.0)
    }
}

impl Drop for Asks {
    fn drop(&mut self) {
        asks();
    }
}

/// 515: What an operation of a memo calls is no part of the computation: `Hash`, `Eq`, `Clone` and destructors. Nor are
/// destructors that operations of other collections run, listeners, weights and wakers.
#[test]
fn code_that_the_library_calls_is_apart() {
    MEMO.insert(&*KEY, 1);
    let (sums, inner) = (
        Numbers::<Strong<usize>>::new(),
        Memo::<(Strong<usize>, Value<Asks>), Asks>::new(),
    );
    let (other, called) = (Strong::new(2), Count::default());
    let map = WeakMap::<Strong<usize>, Doomed>::new();
    let told = WeakMap::<Strong<usize>, usize>::new();
    let (tell, wake, weigh) = (called.clone(), called.clone(), called.clone());
    told.set_ceiling(Limit::none().weight(3), move |_| {
        ask(&weigh);
        1
    });
    told.set_listener(move |_, _, _| ask(&tell));
    let waking = WeakMap::<Strong<usize>, usize>::new();
    waking.set_waker(Some(Waker::from(Arc::new(Wakes(wake)))));
    let key = Strong::new(3);
    sums.get_or_compute(&other, |cx| {
        let query = Asks(5);
        ASKS.set(Some(|| assert_eq!(MEMO.get(&*KEY), Some(1))));
        for _ in 0..2 {
            let value = inner.get_or_compute((&key, &query), |_| Asks(6));
            let found = inner.get((&key, &query));
            ASKS.set(None);
            drop((value, found));
            ASKS.set(Some(|| assert_eq!(MEMO.get(&*KEY), Some(1))));
        }
        ASKS.set(None);
        let is_apart = |what| {
            assert_eq!(
                format!("{cx:?}"),
                "Computation { dependencies: 1 }",
                "{what}"
            );
        };
        is_apart("the inner result");
        let (second, values) = (Asks(7), [8, 9].map(Asks));
        ASKS.set(Some(|| assert_eq!(MEMO.get(&*KEY), Some(1))));
        let replaced = values.map(|value| inner.insert((&key, &second), value));
        let removed = inner.remove((&key, &second));
        ASKS.set(None);
        assert!(replaced[1].is_some() && removed.is_some());
        drop((replaced, removed));
        is_apart("an insertion and a removal");
        let before = called.get();
        let of_map = called.clone();
        let dies = Strong::new(4);
        map.insert(&dies, Doomed::new(move || ask(&of_map)));
        drop(dies);
        map.purge();
        assert_eq!(called.get(), before + 1);
        is_apart("a destructor");
        let keys = objects::<Strong<usize>>(20);
        keys.iter().for_each(|key| _ = told.insert(key, 1));
        assert!(called.get() >= before + 1 + 20 + 17);
        is_apart("weights and listeners");
        let before = called.get();
        let dies = Strong::new(5);
        waking.insert(&dies, 1);
        drop(dies);
        assert_eq!(called.get(), before + 1);
        is_apart("a waker");
        1
    });
    MEMO.clear();
    assert_eq!(sums.get(&other), Some(1));
}

struct Wakes(Count);

impl Wake for Wakes {
    fn wake(self: Arc<Self>) {
        ask(&self.0);
    }
}

/// 516: A computation that has asked for a result that was not kept is not kept: the other has failed or panicked, was
/// removed, has lost an input, or was too heavy. The next call computes anew.
#[test]
fn what_asks_for_what_is_not_kept() {
    type Asked = fn(&Numbers<Strong<usize>>, &Strong<usize>);
    let asked: [Asked; 8] = [
        |memo, key| _ = memo.try_get_or_compute(key, |_| Err(())),
        |memo, key| _ = memo.try_get_or_compute_shared(key, |_| Err(())),
        |memo, key| _ = memo.try_get_or_compute_racing(key, |_| Err(())),
        |memo, key| assert!(panics(|| _ = memo.get_or_compute(key, |_| panic!("caught")))),
        |memo, key| {
            memo.get_or_compute(key, |_| {
                memo.remove(key);
                7
            });
        },
        |memo, key| {
            memo.get_or_compute(key, |_| {
                memo.invalidate(key);
                7
            });
        },
        |memo, key| {
            memo.get_or_compute(key, |cx| {
                let object = Strong::new(1);
                cx.depends_on(&object);
                7
            });
        },
        |memo, key| {
            memo.set_ceiling(Limit::none().weight(1), |_| 2);
            memo.get_or_compute(key, |_| 7);
        },
    ];
    for (at, ask) in asked.into_iter().enumerate() {
        let (memo, sums) = (Numbers::new(), Numbers::<Strong<usize>>::new());
        let [key, other, third] = [1, 2, 3].map(Strong::new);
        sums.get_or_compute(&third, |_| {
            sums.get_or_compute(&other, |_| {
                ask(&memo, &key);
                1
            })
        });
        assert_eq!((sums.get(&other), sums.get(&third)), (None, None), "{at}");
        assert_eq!(sums.get_or_compute(&other, |_| 2), 2);
        assert_eq!(sums.get(&other), Some(2));
    }
}

/// 517: Who loses a race depends on the result of the winner.
#[test]
fn the_loser_of_a_race() {
    let (memo, sums) = (
        Numbers::<Strong<usize>>::new(),
        Numbers::<Strong<usize>>::new(),
    );
    let (key, other) = (Strong::new(1), Strong::new(2));
    let sum = sums.get_or_compute(&other, |_| {
        memo.get_or_compute_racing(&key, |_| {
            thread::scope(|scope| {
                let wins = || memo.get_or_compute_racing(&key, |_| 3);
                assert_eq!(scope.spawn(wins).join().unwrap(), 3);
            });
            4
        })
    });
    assert_eq!(
        (sum, sums.get(&other), memo.get(&key)),
        (3, Some(3), Some(3))
    );
    memo.remove(&key);
    assert_eq!(sums.get(&other), None);
}

/// 518: A result that ends after it was asked for, and before the end of the computation.
fn an_end_during_the_computation<P: Pointer>() {
    let (memo, sums) = (Numbers::<P>::new(), Numbers::<Strong<usize>>::new());
    let (mut key, other) = (P::from(1), Strong::new(2));
    for elsewhere in [false, true] {
        for dies in [false, true] {
            let sum = sums.get_or_compute(&other, |_| {
                let result = memo.get_or_compute(&key, |_| 7);
                let mut end = || match dies {
                    false => _ = memo.remove(&key),
                    true => key = P::from(1),
                };
                match elsewhere {
                    false => end(),
                    true => thread::scope(|scope| scope.spawn(end).join().unwrap()),
                }
                result
            });
            assert_eq!((sum, sums.get(&other), sums.len()), (7, None, 0));
        }
    }
}

/// 519: Parts on other threads enter the computation. There, too, a cycle panics.
#[test]
fn parts_enter_the_computation() {
    let (memo, sums) = (
        Numbers::<Strong<usize>>::new(),
        Memo::<Many<Strong<usize>>, usize>::new(),
    );
    let keys = objects::<Strong<usize>>(8);
    let sum = |enters: bool| {
        sums.get_or_compute(&keys, |cx| {
            thread::scope(|scope| {
                let parts = keys.iter().map(|key| {
                    let memo = &memo;
                    let part = move || memo.get_or_compute(key, |_| **key);
                    scope.spawn(move || if enters { cx.enter(part) } else { part() })
                });
                let parts: Vec<_> = parts.collect();
                parts.into_iter().map(|part| part.join().unwrap()).sum()
            })
        })
    };
    for key in &keys {
        assert_eq!(sum(true), 28);
        assert!(sums.contains_key(&keys));
        memo.remove(key);
        assert!(!sums.contains_key(&keys));
    }
    assert_eq!(sum(false), 28);
    memo.clear();
    assert!(sums.contains_key(&keys), "elsewhere nothing is tracked");
    sums.clear();
    let cycle = sums.get_or_compute(&keys, |cx| {
        let part = || cx.enter(|| panics(|| _ = sums.get_or_compute(&keys, |_| 0)));
        usize::from(thread::scope(|scope| scope.spawn(part).join().unwrap()))
    });
    assert_eq!((cycle, sums.len()), (1, 0));
}

/// 520: A computation that waits for another thread depends on the result of that thread.
#[test]
fn who_waits_depends() {
    let (memo, sums) = (
        Numbers::<Strong<usize>>::new(),
        Numbers::<Strong<usize>>::new(),
    );
    let (key, others) = (Strong::new(1), objects::<Strong<usize>>(4));
    let meet = Barrier::new(others.len() + 1);
    thread::scope(|scope| {
        for other in &others {
            let (memo, sums, key, meet) = (&memo, &sums, &key, &meet);
            scope.spawn(move || {
                sums.get_or_compute(other, |_| {
                    meet.wait();
                    memo.get_or_compute(key, |_| unreachable!())
                })
            });
        }
        memo.get_or_compute(&key, |_| {
            meet.wait();
            thread::sleep(Duration::from_millis(10));
            7
        });
    });
    assert!(others.iter().all(|other| sums.get(other) == Some(7)));
    memo.remove(&key);
    assert_eq!(sums.len(), 0);
}

/// 521: The computation of a map's value passes what it asks for on to the computation around it.
#[test]
fn through_a_map() {
    let (memo, sums) = (
        Numbers::<Strong<usize>>::new(),
        Numbers::<Strong<usize>>::new(),
    );
    let map = WeakMap::<Strong<usize>, usize>::new();
    let (key, other) = (Strong::new(1), Strong::new(2));
    sums.get_or_compute(&other, |_| {
        map.get_or_insert_with(&key, |_| memo.get_or_compute(&key, |_| 7))
    });
    memo.remove(&key);
    assert_eq!((sums.get(&other), map.get(&key)), (None, Some(7)));
}

/// 522: Who waits gets the error of a computation only if the key is as it was, and all inputs live.
#[test]
fn an_error_that_is_out_of_date() {
    type Change = fn(&Numbers<Strong<usize>>, &Strong<usize>, Strong<usize>);
    let changes: [(Change, bool); 5] = [
        (|_, _, object| std::mem::forget(object), true),
        (
            |memo, key, object| {
                memo.remove(key);
                std::mem::forget(object)
            },
            false,
        ),
        (
            |memo, key, object| {
                memo.invalidate(key);
                std::mem::forget(object)
            },
            false,
        ),
        (|_, _, object| drop(object), false),
        // It asks for a result that ends before it is there.
        (
            |memo, _, object| {
                memo.get_or_compute(&object, |_| {
                    memo.remove(&object);
                    3
                });
                std::mem::forget(object)
            },
            false,
        ),
    ];
    for (at, (change, shared)) in changes.into_iter().enumerate() {
        let (memo, key) = (Numbers::new(), Strong::new(1));
        let waits = || memo.try_get_or_compute_shared(&key, |_| Ok::<_, u8>(8));
        thread::scope(|scope| {
            let mut waiter = None;
            let failed = memo.try_get_or_compute_shared(&key, |cx| {
                waiter = Some(scope.spawn(waits));
                thread::sleep(Duration::from_millis(30));
                let object = Strong::new(2);
                cx.depends_on(&object);
                change(&memo, &key, object);
                Err(1_u8)
            });
            assert_eq!(failed, Err(1));
            let waited = waiter.unwrap().join().unwrap();
            assert_eq!(waited, if shared { Err(1) } else { Ok(8) }, "{at}");
        });
    }
}

thread_local! {
    /// What the next clone of an error on this thread runs.
    static ON_CLONE: RefCell<Option<Box<dyn FnOnce()>>> = const { RefCell::new(None) };
    /// The number of calls until one panics.
    static LEFT: Cell<usize> = const { Cell::new(0) };
}

#[derive(Debug, PartialEq)]
struct Fails;

impl Clone for Fails {
    fn clone(&self) -> Self {
        ON_CLONE.take().into_iter().for_each(|run| run());
        Fails
    }
}

/// 563: Who begins to ask after the death of an input gets no error of the old state, also if the input dies while its maker
/// clones the error. With another maker, or without.
#[test]
fn an_error_from_before_a_death() {
    static FAILING: Numbers<Strong<usize>> = Numbers::new();
    for raced in [false, true] {
        let (key, object) = (Strong::new(1), Strong::new(2));
        let ((answer, answered), (ends, end)) = (channel(), channel::<()>());
        let mut racer = None;
        let failed = FAILING.try_get_or_compute_shared(&key, |cx| {
            cx.depends_on(&object);
            if raced {
                let ((begins, begun), key) = (channel(), key.clone());
                racer = Some(thread::spawn(move || {
                    FAILING.get_or_compute_racing(&key, |_| {
                        begins.send(()).unwrap();
                        _ = end.recv();
                        9
                    })
                }));
                begun.recv().unwrap();
            }
            let key = key.clone();
            ON_CLONE.set(Some(Box::new(move || {
                drop(object);
                let ask = move || FAILING.try_get_or_compute_shared(&key, |_| Ok::<_, Fails>(8));
                thread::spawn(move || answer.send(ask()));
                thread::sleep(Duration::from_millis(50));
            })));
            Err::<usize, _>(Fails)
        });
        assert_eq!(failed, Err(Fails));
        assert_eq!(answered.recv(), Ok(Ok(8)), "{raced}");
        drop(ends);
        racer.into_iter().for_each(|racer| _ = racer.join());
    }
}

/// 564: A computation is not kept that catches the panic of user code in an operation of a memo that it has asked.
#[test]
fn a_panic_within_an_operation() {
    type Inner = Memo<(Strong<usize>, Value<Asks>), Asks>;
    type Ask = fn(&Inner, &Strong<usize>, &Asks) -> Option<Asks>;
    let asks: [(bool, Ask); 4] = [
        (true, |inner, key, query| inner.get((key, query))),
        (true, |inner, key, query| {
            Some(inner.get_or_compute((key, query), |_| unreachable!()))
        }),
        (false, |inner, key, query| {
            Some(inner.get_or_compute((key, query), |_| Asks(6)))
        }),
        (false, |inner, key, query| {
            Some(inner.get_or_compute_racing((key, query), |_| Asks(6)))
        }),
    ];
    for (at, (there, ask)) in asks.into_iter().enumerate() {
        for calls in 0.. {
            let (inner, sums) = (Inner::new(), Numbers::<Strong<usize>>::new());
            let [key, other] = [1, 2].map(Strong::new);
            let query = Asks(5);
            if there {
                inner.get_or_compute((&key, &query), |_| Asks(6));
            }
            let panicked = sums.get_or_compute(&other, |_| {
                LEFT.set(calls);
                ASKS.set(Some(|| match LEFT.get() {
                    0 => {
                        ASKS.set(None);
                        quiet_panic()
                    }
                    left => LEFT.set(left - 1),
                }));
                usize::from(panics(|| {
                    let found = ask(&inner, &key, &query);
                    ASKS.set(None);
                    drop(found);
                }))
            });
            ASKS.set(None);
            let kept = (panicked == 0).then_some(0);
            assert_eq!(sums.get(&other), kept, "{at} {calls}");
            if kept.is_some() {
                assert!(calls > 1, "{at}");
                break;
            }
        }
    }
}
