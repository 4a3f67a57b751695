//! The models of what tasks use one at a time.

use super::*;
use crate::sync::models;
use loom::sync::Arc;
use loom::thread;

type Shared = Arc<Held<u32, u32>>;

fn held(what: u32) -> Shared {
    let held = Held::new();
    assert!(held.give_back(what).is_empty());
    Arc::new(held)
}

/// O1: Two that need each other: whoever finds the other's taken is woken when that is given back.
#[test]
fn who_was_refused_is_woken() {
    models::check(|| {
        let all = [held(0), held(1)];
        // Returns whether it has found the other's, and the seats that it has to wake.
        let poll = |all: [Shared; 2], own: usize| {
            let Found::Taken(mine) = all[own].take() else {
                return (true, Vec::new()); // the other one has it, and finds mine
            };
            let (mut found, mut wakes) = (None, Vec::new());
            while found.is_none() {
                found = match all[1 - own].take() {
                    Found::Taken(theirs) => {
                        wakes.extend(all[1 - own].give_back(theirs));
                        Some(true)
                    }
                    Found::Refused => all[1 - own].wait(own as u32).then_some(false),
                    Found::Over => unreachable!("nobody ends it"),
                };
            }
            wakes.extend(all[own].give_back(mine));
            (found == Some(true), wakes)
        };
        let other = thread::spawn({
            let all = all.clone();
            move || poll(all, 1)
        });
        let (first, second) = (poll(all, 0), other.join().unwrap());
        let woken = [&*first.1, &*second.1].concat();
        for (own, found) in [first.0, second.0].into_iter().enumerate() {
            assert!(
                found || woken.contains(&(own as u32)),
                "it pends, and nobody wakes it"
            );
        }
    });
}

/// O2: Of an owner that leaves and one that joins, one gets what is there at its end, and once.
#[test]
fn the_last_owner_gets_it() {
    models::check(|| {
        let held = held(7);
        let other = thread::spawn({
            let held = Arc::clone(&held);
            move || {
                if !held.join() {
                    return None;
                }
                match held.take() {
                    Found::Taken(what) => drop(held.give_back(what)),
                    Found::Refused | Found::Over => panic!("it has joined"),
                }
                held.leave()
            }
        });
        let mine = held.leave();
        let theirs = other.join().unwrap();
        assert_eq!([mine, theirs].iter().flatten().count(), 1);
        assert!(!held.join());
    });
}

/// A3 of `work`: Whoever is an owner when it ends finds the result.
#[test]
fn each_owner_finds_the_result() {
    models::check(|| {
        let held = held(7);
        let other = thread::spawn({
            let held = Arc::clone(&held);
            move || {
                let joined = held.join();
                assert!(joined, "the first has not left");
                match held.take() {
                    Found::Taken(what) => {
                        drop(held.give_back(what));
                        true
                    }
                    Found::Refused => true,
                    Found::Over => false,
                }
            }
        });
        let what = loop {
            match held.take() {
                Found::Taken(what) => break what,
                Found::Refused => thread::yield_now(),
                Found::Over => unreachable!("this ends it"),
            }
        };
        let mut result = None;
        while !held.end(result) {
            result = Some(what);
        }
        let was_there = other.join().unwrap();
        assert!(
            !was_there || held.result() == Some(7),
            "an owner finds nothing"
        );
    });
}
