//! The end of a result ends the results that were computed from it, before the call that ends it returns.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Barrier, Mutex};
use std::thread;

use weakly::keep::Limit;
use weakly::memo::Value;
use weakly::{Reclaim, Strong};

use crate::asked::Memo;
use crate::common::scaled;
use crate::levels::{ENDS, IN_A_CLONE, Levels};
use crate::tools::Doomed;

const THREADS: [usize; 9] = [0, 1, 2, 4, 7, 8, 9, 16, 32];

/// Runs a test with few and many levels, in one memo and in several, for each way in which a result ends, after each of
/// these numbers of threads has used the memos.
fn each(threads: &[usize], test: impl Fn(&str, fn(&Levels), Arc<Levels>)) {
    for (name, end) in ENDS {
        let most = scaled(5, 3);
        for (levels, is_one) in [(2, false), (2, true), (most, false), (most, true)] {
            for &threads in &threads[..scaled(threads.len(), 1)] {
                let chain = Arc::new(Levels::new(levels, is_one));
                chain.are_used_by(threads);
                let name =
                    format!("{name}, {levels} levels, one memo: {is_one}, {threads} threads");
                test(&name, end, chain);
            }
        }
    }
}

/// 512, 531: Each result above is computed anew, once, and no other. On request, too.
#[test]
fn no_result_outlives_its_inputs() {
    each(&THREADS, |name, end, chain| {
        let on_request = chain.levels() == 2;
        chain.set_reclaim(if on_request {
            Reclaim::OnRequest
        } else {
            Reclaim::OnUse
        });
        assert_eq!((chain.top(), chain.top()), (chain.plain(), chain.plain()));
        let all = chain.levels() + 1; // of two sources, and of each level above
        assert_eq!(chain.computed.get(), all, "{name}");
        end(&chain);
        assert_eq!(chain.top(), chain.plain(), "{name}");
        let again = chain.computed.get() - all;
        // The other source's result may go with the memo, or with all.
        assert!(
            (chain.levels() - 1..=all).contains(&again),
            "{name}: {again}"
        );
        assert_eq!(
            (chain.top(), chain.computed.get()),
            (chain.plain(), all + again)
        );
    });
}

/// 532: A thread that looks at one of the results, and stays inside of its memo, delays no end.
#[test]
fn a_reader_inside_delays_no_end() {
    each(&[0, 8], |name, end, chain| {
        if name.starts_with("the end") {
            return; // nobody can look at its results
        }
        chain.top();
        let levels = chain.levels();
        let (inside, ended) = (Barrier::new(levels + 1), Barrier::new(levels + 1));
        let (inside, ended) = (Arc::new(inside), Arc::new(ended));
        thread::scope(|scope| {
            for level in 0..levels {
                let (chain, inside, ended) = (&chain, inside.clone(), ended.clone());
                scope.spawn(move || {
                    let stay = move || {
                        inside.wait();
                        ended.wait();
                    };
                    IN_A_CLONE.set(Some(Box::new(stay)));
                    assert!(chain.look(level).is_some());
                });
            }
            inside.wait();
            end(&chain);
            let asked = [chain.top(), chain.top()];
            ended.wait();
            assert_eq!(asked, [chain.plain(); 2], "{name}");
        });
        assert_eq!(chain.top(), chain.plain(), "{name}");
    });
}

/// 533: Of the object that dies, when its results may still be there, and of a result, also within a computation: no result is
/// there that was computed from it.
#[test]
fn destructors_may_ask_for_results() {
    each(&[0, 8], |name, end, chain| {
        let wrong = Arc::new(AtomicUsize::new(0));
        let weak = Arc::downgrade(&chain);
        chain.in_the_destructor(move || _ = weak.upgrade().map(|chain| chain.top()));
        let (weak, found) = (Arc::downgrade(&chain), Arc::clone(&wrong));
        *chain.at_the_end.lock().unwrap() = Doomed::new(move || {
            let Some(chain) = weak.upgrade() else { return };
            let top = chain.look(chain.levels() - 1);
            found.fetch_add(
                usize::from(top.is_some_and(|top| top != chain.plain())),
                SeqCst,
            );
        });
        chain.top();
        end(&chain);
        assert_eq!(chain.top(), chain.plain(), "{name}");
        for level in 0..chain.levels() {
            chain.memo(level).purge();
            assert_eq!(chain.top(), chain.plain(), "{name}");
        }
        assert_eq!(wrong.load(SeqCst), 0, "{name}");
    });
}

/// 534: Threads ask all the time. None of them finds an old result after it has seen that the call has returned.
#[test]
fn no_thread_finds_an_old_result() {
    for threads in [1, 3, 8] {
        for (name, end) in ENDS {
            if name == "the end of the memo" {
                continue; // while somebody asks it, it does not end
            }
            for _ in 0..scaled(10, 1) {
                let chain = Levels::new(4, false);
                let (old, asks) = (chain.top(), AtomicUsize::new(0));
                let has_ended = Arc::new(AtomicBool::new(false));
                if name.starts_with("a death") {
                    // A computation may have the old source in its hands for a while.
                    let has_ended = Arc::clone(&has_ended);
                    Strong::finalize(&chain.source(), move || has_ended.store(true, SeqCst));
                }
                thread::scope(|scope| {
                    let ask = || {
                        while !has_ended.load(SeqCst) {
                            chain.top();
                            asks.fetch_add(1, SeqCst);
                        }
                        assert_ne!(chain.top(), old, "{name}");
                    };
                    (0..threads).for_each(|_| _ = scope.spawn(ask));
                    while asks.load(SeqCst) < threads {
                        thread::yield_now();
                    }
                    end(&chain);
                    if !name.starts_with("a death") {
                        has_ended.store(true, SeqCst);
                        assert_ne!(chain.top(), old, "{name}");
                    }
                });
                assert_eq!(chain.top(), chain.plain(), "{name}");
            }
        }
    }
}

/// 534: Two threads end a result at once, by one input each: neither of them finds afterwards what was computed from it, though
/// the other may be at work on it.
#[test]
fn two_threads_end_a_result_at_once() {
    let length = scaled(300, 5);
    for round in 0..scaled(200, 3) {
        let memo = Memo::<(Strong<usize>, Value<usize>), Doomed>::new();
        let (key, inputs) = (Strong::new(0), [1, 2].map(Strong::new));
        for at in 0..length {
            drop(memo.get_or_compute((&key, &at), |cx| {
                match at {
                    0 => inputs.iter().for_each(|input| cx.depends_on(input)),
                    _ => drop(memo.get((&key, &(at - 1)))),
                }
                Doomed::default()
            }));
        }
        assert_eq!(memo.len(), length);
        let begin = Barrier::new(2);
        let end = |input: Strong<usize>| {
            begin.wait();
            match round % 3 {
                0 => drop(input),
                1 => _ = memo.invalidate(&input),
                _ => _ = memo.remove((&key, &0)),
            }
            assert!((0..length).all(|at| memo.get((&key, &at)).is_none()));
        };
        let end = &end;
        thread::scope(|scope| inputs.map(|input| _ = scope.spawn(move || end(input))));
    }
}

type Keyed = Memo<Strong<usize>, Doomed>;

/// 534: Who asks after the end, and waits for a computation that has asked before, does not get its result.
#[test]
fn a_request_after_the_end_gets_no_older_result() {
    type End = fn(&Keyed, &Mutex<Strong<usize>>);
    let ends: [End; 4] = [
        |_, object| *object.lock().unwrap() = Strong::new(2),
        |below, object| _ = below.invalidate(&*object.lock().unwrap()),
        |below, object| drop(below.remove(&*object.lock().unwrap())),
        |below, object| drop(below.insert(&*object.lock().unwrap(), 2.into())),
    ];
    for end in ends {
        for races in [false, true] {
            let (below, above) = (Keyed::new(), Keyed::new());
            let (object, user) = (Mutex::new(Strong::new(1)), Strong::new(0));
            let version = AtomicUsize::new(1);
            let of_object = || {
                let object = object.lock().unwrap();
                let compute = || version.load(SeqCst).into();
                below.get_or_compute(&*object, |_| compute())
            };
            let [asked, ended] = [(); 2].map(|()| Barrier::new(2));
            let [mut old, mut new] = [0; 2];
            thread::scope(|scope| {
                scope.spawn(|| {
                    let compute = || {
                        let result = of_object();
                        asked.wait();
                        ended.wait();
                        result
                    };
                    let result = match races {
                        true => above.get_or_compute_racing(&user, |_| compute()),
                        false => above.get_or_compute(&user, |_| compute()),
                    };
                    old = result.number;
                });
                asked.wait();
                version.store(2, SeqCst);
                end(&below, &object);
                let waiter = scope.spawn(|| above.get_or_compute(&user, |_| of_object()).number);
                (0..100).for_each(|_| thread::yield_now());
                ended.wait();
                new = waiter.join().unwrap();
            });
            assert_eq!(new, 2, "{races}");
            // A race is lost to a result that was there first.
            assert!(old == 1 || races, "{old}");
            assert_eq!(above.get(&user).map(|result| result.number), Some(2));
        }
    }
}

/// 535: No ceiling evicts a result from which others were computed. Their end makes it a victim again.
#[test]
fn a_ceiling_evicts_no_result_with_dependents() {
    let (below, above) = (Keyed::new(), Keyed::new());
    below.set_ceiling(Limit::entries(4), |_| 1);
    let objects: Vec<_> = (0..scaled(200, 40)).map(Strong::new).collect();
    let of = |at: usize| below.get_or_compute(&objects[at], |_| at.into()).number;
    let users: Vec<_> = (0..4).map(Strong::new).collect();
    for (at, user) in users.iter().enumerate() {
        let _ = above.get_or_compute(user, |_| of(at).into());
    }
    (4..objects.len()).for_each(|at| _ = of(at));
    assert!((0..4).all(|at| below.get(&objects[at]).is_some()));
    assert!(users.iter().all(|user| above.get(user).is_some()));
    assert!(below.len() <= 4 + 4 + 1, "{}", below.len());
    drop(users);
    assert!(above.is_empty());
    for _ in 0..4 {
        (4..objects.len()).for_each(|at| _ = of(at));
    }
    assert!((0..4).all(|at| below.get(&objects[at]).is_none()));
    assert!(below.len() <= 4, "{}", below.len());
}

/// 531: So does the removal of a result that keeps itself alive.
#[test]
fn a_cycle_of_owners_ends_its_dependents() {
    let (below, above) = (Keyed::new(), Keyed::new());
    let [object, user] = [1, 2].map(Strong::new);
    let of_object = || below.get_or_compute(&object, |_| Doomed::owning(&object));
    let _ = above.get_or_compute(&user, |_| of_object().number.into());
    drop(object);
    assert!(
        above.get(&user).is_some(),
        "the result below owns the object"
    );
    assert_eq!(below.purge_cycles().removed, 1);
    assert!(above.get(&user).is_none());
}
