//! Destructors that all panic: each still runs, before the panic of the first reaches the caller of the
//! operation.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use weakly::Reclaim;

use crate::common::scaled;
use crate::faces::*;

for_each_owning!(
    kit: all_that_an_operation_destroys,
    all_that_one_operation_drains,
    replaced_and_removed_values_and_nothing_else,
    all_though_what_their_panics_carry_panics,
);

/// More than one drain takes.
const MANY: usize = scaled(100, 24);

/// The numbers of the values that were dropped, in order.
type Destroyed = Arc<Mutex<Vec<usize>>>;

/// Destructors that all panic, after recording their number.
fn bombs() -> (Ends, Destroyed) {
    let destroyed = Destroyed::default();
    let ends = {
        let destroyed = destroyed.clone();
        Arc::new(move |number: usize| {
            destroyed.lock().unwrap().push(number);
            resume_unwind(Box::new(number));
        })
    };
    (ends, destroyed)
}

/// Runs an operation that drops values; returns how many. The panic is that of the first.
fn panicking(destroyed: &Destroyed, act: impl FnOnce()) -> usize {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err("they all panic");
    let destroyed = std::mem::take(&mut *destroyed.lock().unwrap());
    assert_eq!(
        panic.downcast_ref(),
        destroyed.first(),
        "the panic of the first propagates"
    );
    destroyed.len()
}

fn filled(kit: Kit<dyn Changing>) -> (Box<dyn Changing>, Vec<Handle>, Destroyed) {
    let (ends, destroyed) = bombs();
    let lives = kit.lives(MANY);
    (kit.of(&lives, &ends), lives, destroyed)
}

/// 182: What the later panics carry is dropped, and that may panic, too.
fn all_though_what_their_panics_carry_panics(kit: Kit<dyn Changing>) {
    struct Carried;
    impl Drop for Carried {
        fn drop(&mut self) {
            resume_unwind(Box::new("again"));
        }
    }
    let destroyed = Destroyed::default();
    let ends: Ends = {
        let destroyed = destroyed.clone();
        Arc::new(move |number: usize| {
            destroyed.lock().unwrap().push(number);
            resume_unwind(Box::new(Carried));
        })
    };
    let lives = kit.lives(MANY);
    let all = kit.of(&lives, &ends);
    drop(lives);
    let panic = catch_unwind(AssertUnwindSafe(|| all.purge())).expect_err("they all panic");
    assert!(panic.is::<Carried>());
    mem::forget(panic);
    assert_eq!(destroyed.lock().unwrap().len(), MANY);
    assert_eq!(all.counts(), (0, 0, 0));
}

/// 182, 185: Whatever destroys them; on request, those of the dead are kept by then.
fn all_that_an_operation_destroys(kit: Kit<dyn Changing>) {
    let ways: [fn(Kit<dyn Changing>, &mut Box<dyn Changing>); 4] = [
        |_, all| all.clear(),
        |kit, all| drop(mem::replace(all, kit.empty())),
        |_, all| _ = all.purge(),
        |_, all| all.set_reclaim(Reclaim::OnUse),
    ];
    for (kept, ways) in [(false, &ways[..3]), (true, &ways)] {
        for (way, left) in ways.iter().zip([MANY / 2, MANY / 2, 0, 0]) {
            let (mut all, mut lives, destroyed) = filled(kit);
            lives.truncate(left);
            if kept {
                all.set_reclaim(Reclaim::OnRequest);
                let absent = kit.life(MANY);
                (0..MANY).for_each(|_| _ = all.leave(&absent));
                assert_eq!((all.len(), all.pending_dead()), (left, MANY - left));
            }
            assert_eq!(panicking(&destroyed, || way(kit, &mut all)), MANY);
            assert_eq!(all.counts(), (0, 0, 0));
        }
    }
}

/// 182: Each operation drains a bounded number of the dead: in the end all are gone, and no operation drains
/// more than its bound.
fn all_that_one_operation_drains(kit: Kit<dyn Changing>) {
    let (all, mut lives, destroyed) = filled(kit);
    let (left, absent) = (lives.pop().unwrap(), kit.life(MANY));
    drop(lives);
    let mut gone = 0;
    while gone < MANY - 1 {
        let before = all.len() + all.pending_dead();
        let step = || _ = all.leave(&absent);
        // (A sweep may find none.)
        let panic = catch_unwind(AssertUnwindSafe(step)).err();
        let now = std::mem::take(&mut *destroyed.lock().unwrap());
        assert_eq!(panic.as_ref().and_then(|it| it.downcast_ref()), now.first());
        assert_eq!(all.len() + all.pending_dead() + now.len(), before);
        assert!(now.len() <= 24);
        gone += now.len();
    }
    assert_eq!(all.counts(), (1, 1, 0));
    assert!(all.has(&left));
    assert_eq!(panicking(&destroyed, || drop(all)), 1);
}

/// 182
fn replaced_and_removed_values_and_nothing_else(kit: Kit<dyn Changing>) {
    let (all, lives, destroyed) = filled(kit);
    let (ends, _) = bombs();
    assert_eq!(panicking(&destroyed, || _ = all.enter(&lives[1], &ends)), 1);
    assert_eq!(panicking(&destroyed, || _ = all.leave(&lives[2])), 1);
    let removed = || _ = all.leave_if(&lives[3], &mut || true);
    assert_eq!(panicking(&destroyed, removed), 1);
    assert_eq!(all.counts(), (MANY - 2, MANY - 2, 0));
    assert!(all.has(&lives[1]) && !all.has(&lives[2]) && all.has(&lives[4]));
    _ = catch_unwind(AssertUnwindSafe(|| drop(all)));
}
