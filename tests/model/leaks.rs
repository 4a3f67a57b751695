//! All memory is freed in the end, also after panics, and what is not needed is given back before. In a process of its own, with
//! one test, since the test counts all the bytes of the process.

use std::cell::RefCell;
use std::env;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::process::Command;
use std::sync::Barrier;
use std::thread;

use weakly::{Reclaim, Strong, WeakMap, concurrent, local};

use crate::common::heap::bytes_of_all_threads;
use crate::common::{self, Atomic, Kind, Local, StdArc, StdRc, UserOwn, new, scaled, sized};
use crate::model::all::{Pointers, Shared, SharedPointers, Which};
use crate::model::op::Op;
use crate::model::world::{Key, SharedValue, Value};
use crate::model::{self, STEP};
use crate::pointers::payload::{Dyn, Probe, Tested, Text};
use crate::pointers::script;

/// Runs `scenario` for some seeds, after a run for the first, which may initialise something of the standard library.
fn frees_everything(name: &str, seeds: u64, scenario: impl Fn(u64)) {
    scenario(0);
    let before = bytes_of_all_threads();
    (0..seeds).for_each(scenario);
    assert_eq!(bytes_of_all_threads() - before, 0, "{name}");
}

/// How many scripts. With the feature `holders`, each strong handle that the library makes takes a backtrace: then one
/// shows that those are freed, too.
fn seeds() -> u64 {
    if cfg!(feature = "holders") {
        1
    } else {
        sized(4, 2, 1) as u64
    }
}

/// The same steps each time.
fn steps(seed: u64) -> impl Iterator<Item = [u8; STEP]> {
    let mut state = seed;
    let next = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        ((state >> 32) as u32).to_le_bytes()
    };
    std::iter::repeat_with(next).take(scaled(200, 30))
}

fn scripts<P: Pointers>() {
    for which in Which::ALL {
        frees_everything(&format!("{which:?}"), seeds(), |seed| {
            P::on(which, ops(seed));
        });
    }
    frees_everything("hostile", 1, |_| hostile::<P>());
}

fn shared_scripts<P: SharedPointers>() {
    for which in Shared::ALL {
        frees_everything(&format!("shared: {which:?}"), seeds(), |seed| {
            P::on_shared(which, ops(seed));
        });
    }
}

fn ops(seed: u64) -> impl Iterator<Item = Op> {
    steps(seed).map(Op::decode).filter(|op| !op.leaks())
}

fn pointers<F: Tested>() {
    let ops = |seed| steps(seed).map(script::Op::decode);
    frees_everything("sized", seeds(), |seed| {
        script::run::<Probe<F>, F>(ops(seed));
    });
    frees_everything("dyn", seeds(), |seed| script::run::<Dyn, F>(ops(seed)));
    frees_everything("str", seeds(), |seed| script::run::<Text, F>(ops(seed)));
}

/// Panics when dropped, if its text says so.
struct Bomb(String);

impl Drop for Bomb {
    fn drop(&mut self) {
        if self.0 == "armed" {
            resume_unwind(Box::new("hostile"));
        }
    }
}

fn panics(f: impl FnOnce()) {
    assert!(catch_unwind(AssertUnwindSafe(f)).is_err());
}

fn hostile<P: Kind>() {
    let bomb = |number: usize| Bomb(if number % 8 == 3 { "armed" } else { "" }.into());
    let count = 64;
    // Values, at a purge.
    let quiet = |_| new::<P, Bomb>(bomb(0));
    let keys: Vec<_> = (0..count).map(quiet).collect();
    let mut map: WeakMap<_, _> = keys.iter().zip((0..count).map(bomb)).collect();
    drop(keys);
    for _ in 0..count / 8 {
        panics(|| _ = map.purge());
    }
    map.purge();
    drop(map);
    // Payloads.
    let mut keys: Vec<_> = (0..count)
        .map(|number| new::<P, Bomb>(bomb(number)))
        .collect();
    let map: WeakMap<_, _> = keys.iter().map(|key| (key, bomb(0))).collect();
    while let Some(key) = keys.pop() {
        match key.0.as_str() {
            "armed" => panics(|| drop(key)),
            _ => drop(key),
        }
    }
    drop(map);
    // Handles that outlive the map, and a map that outlives its handles.
    let key = quiet(0);
    let weak = common::downgrade(&key);
    drop(WeakMap::from([(&key, Bomb(String::from("value")))]));
    let map = WeakMap::from([(&key, Bomb(String::from("value")))]);
    drop(key);
    assert!(!common::is_alive(&weak));
    drop(map);
}

fn finalizers() {
    for armed in [0, 1, 2] {
        let object = Strong::new(String::from("payload"));
        let state = String::from("state");
        let token = Strong::finalize(&object, move || drop(state));
        let state = String::from("state");
        Strong::finalize(&object, move || {
            if armed == 1 {
                resume_unwind(Box::new(state));
            }
        });
        if armed == 2 {
            drop(token.detach());
        }
        match armed {
            1 => panics(|| drop(object)),
            _ => drop(object),
        }
    }
    panics(|| _ = Strong::<i32>::new_cyclic(|_| resume_unwind(Box::new("unborn"))));
    // An object that its own finalizer keeps alive, until that is cancelled.
    let object = local::Strong::new(RefCell::new(None));
    let again = object.clone();
    let token = local::Strong::finalize(&object, move || drop(again));
    object.replace(Some(token));
    let token = object.take();
    drop((token.and_then(|token| token.detach()), object));
}

/// Keys that die on another thread.
fn threads() {
    let keys: Vec<_> = (0..100).map(Strong::new).collect();
    let mut map: WeakMap<_, _> = keys.iter().map(|key| (key, key.to_string())).collect();
    let killer = thread::spawn(move || drop(keys));
    while map.drain_dead().next().is_none() {
        thread::yield_now();
    }
    drop(map);
    killer.join().unwrap();
}

/// The bytes that are left of what `run` has allocated, on whatever thread.
fn left_by(run: impl FnOnce()) -> isize {
    let before = bytes_of_all_threads();
    run();
    bytes_of_all_threads() - before
}

/// A shared collection that is empty, purged and shrunk takes no more than one that never had much, whether what it
/// had was kept on request or waited for a thread inside.
fn shared_collections_give_back() {
    let many = scaled(10_000, 100);
    let map = concurrent::WeakMap::new();
    let read = Strong::new(0);
    let insert_and_drop = || {
        let keys: Vec<_> = (0..many).map(Strong::new).collect();
        for key in &keys {
            map.insert(key, key.to_string());
        }
    };
    let give_back = || {
        map.purge();
        map.shrink_to_fit();
    };
    map.insert(&read, String::new());
    let kept = left_by(|| {
        map.set_reclaim(Reclaim::OnRequest);
        insert_and_drop();
        map.purge();
        map.set_reclaim(Reclaim::OnUse);
        give_back();
    });
    assert!(kept < 8_192, "what was kept: {kept}");
    let (comes, goes) = (Barrier::new(2), Barrier::new(2));
    let mut waiting = 0;
    let waited = left_by(|| {
        thread::scope(|scope| {
            let stays = scope.spawn(|| {
                map.with(&read, |_| {
                    comes.wait();
                    goes.wait();
                });
            });
            comes.wait();
            for _ in 0..many {
                // Each waits for another visit of this thread, too.
                map.with(&read, |_| {
                    map.insert(&Strong::new(1), String::new());
                    map.purge();
                });
            }
            waiting = map.pending_dead();
            goes.wait();
            stays.join().unwrap();
        });
        give_back();
    });
    assert_eq!((waiting, map.pending_dead(), map.len()), (many, 0, 1));
    assert!(waited < 8_192, "what waited: {waited}");
}

#[cfg(not(weakly_other_handles))]
fn all_kinds() {
    scripts::<Atomic>();
    scripts::<Local>();
    scripts::<StdArc>();
    shared_scripts::<Atomic>();
    shared_scripts::<StdArc>();
}

#[cfg(weakly_other_handles)]
fn all_kinds() {
    scripts::<StdRc>();
    shared_scripts::<UserOwn>();
}

#[test]
#[cfg_attr(miri, ignore = "starts a process")]
fn all_memory_is_freed() {
    const CHILD: &str = "WEAKLY_TEST_ALL_MEMORY";
    if env::var_os(CHILD).is_some() {
        return frees_all_memory();
    }
    let child = Command::new(env::current_exe().expect("this program"))
        .args(["--exact", "leaks::all_memory_is_freed", "--nocapture"])
        .env(CHILD, "1")
        .status();
    assert!(child.expect("it runs").success());
}

fn frees_all_memory() {
    all_kinds();
    // With the maps by identity at any time: see `for_each_kind!`.
    frees_everything("a map of a user's own handles", seeds(), |seed| {
        type Map = concurrent::WeakMap<Key<UserOwn>, SharedValue>;
        model::script::run::<UserOwn, UserOwn, Map>(ops(seed));
    });
    frees_everything("a map of `Rc`", seeds(), |seed| {
        model::script::run::<StdRc, StdRc, WeakMap<Key<StdRc>, Value>>(ops(seed));
    });
    pointers::<weakly::ptr::Atomic>();
    pointers::<weakly::ptr::Local>();
    frees_everything("finalizers", 1, |_| finalizers());
    frees_everything("threads", 1, |_| threads());
    shared_collections_give_back();
}
