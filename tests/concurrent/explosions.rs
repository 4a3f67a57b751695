//! Destructors that panic, all of them: each is run none the less, before the panic of the first reaches who made
//! the operation.

use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::{Arc, Mutex};

use weakly::{Attribute, Attributes, Memo, Reclaim, Strong};

use crate::common::scaled;
use crate::faces::*;
use crate::{for_each_changing, for_each_owning};

for_each_owning!(
    all_that_purge_destroys,
    all_that_clear_destroys,
    all_that_retain_destroys,
    all_that_the_end_destroys,
    all_that_one_operation_drains,
    what_is_replaced_and_removed_and_nothing_else,
    all_that_is_kept_on_request,
    all_that_clear_destroys_and_what_was_kept,
);

for_each_changing!(small_collections_are_usable_after_that);

/// More than a drain takes at a time.
const MANY: usize = scaled(100, 24);

/// The numbers of those that have been destroyed, in order.
type Destroyed = Arc<Mutex<Vec<usize>>>;

/// Destructors all of which panic, with their number.
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

/// Runs what destroys some; how many. The panic is that of the first.
fn exploding(destroyed: &Destroyed, act: impl FnOnce()) -> usize {
    let panic = catch_unwind(AssertUnwindSafe(act)).expect_err("they all panic");
    let destroyed = std::mem::take(&mut *destroyed.lock().unwrap());
    assert_eq!(panic.downcast_ref(), destroyed.first(), "the first goes on");
    destroyed.len()
}

fn filled<C: Changing>() -> (C, Vec<Life<C::Kind>>, Destroyed) {
    let (ends, destroyed) = bombs();
    let lives = lives::<C::Kind>(MANY);
    (C::of(&lives, &ends), lives, destroyed)
}

/// 182
fn all_that_purge_destroys<C: Changing>() {
    let (all, lives, destroyed) = filled::<C>();
    drop(lives);
    assert_eq!(exploding(&destroyed, || all.purge()), MANY);
    assert_eq!(all.counts(), (0, 0, 0));
}

/// 182
fn all_that_clear_destroys<C: Changing>() {
    let (all, mut lives, destroyed) = filled::<C>();
    lives.truncate(MANY / 2);
    assert_eq!(exploding(&destroyed, || all.clear()), MANY);
    assert_eq!(all.counts(), (0, 0, 0));
}

/// 182, 185
fn all_that_clear_destroys_and_what_was_kept<C: Changing>() {
    let (all, mut lives, destroyed) = filled::<C>();
    all.set_reclaim(Reclaim::OnRequest);
    lives.truncate(MANY / 2);
    // Some are kept, and some are not found yet.
    for life in &lives {
        assert!(!all.leave_if(life, || false));
    }
    assert_eq!(exploding(&destroyed, || all.clear()), MANY);
    assert_eq!(all.counts(), (0, 0, 0));
}

/// 182
fn all_that_retain_destroys<C: Changing>() {
    let (all, lives, destroyed) = filled::<C>();
    let odd = |number| number % 2 == 1;
    assert_eq!(exploding(&destroyed, || all.retain(odd)), MANY / 2);
    assert_eq!(all.counts(), (MANY / 2, MANY / 2, 0));
    assert_eq!(exploding(&destroyed, || drop((all, lives))), MANY / 2);
}

/// 182
fn all_that_the_end_destroys<C: Changing>() {
    let (all, mut lives, destroyed) = filled::<C>();
    lives.truncate(MANY / 2);
    assert_eq!(exploding(&destroyed, || drop(all)), MANY);
}

/// 182: Of those that die each operation takes some: they all go, and no more than a step is taken.
fn all_that_one_operation_drains<C: Changing>() {
    let (all, mut lives, destroyed) = filled::<C>();
    let (left, stranger) = (lives.pop().unwrap(), MANY.into());
    drop(lives);
    let mut gone = 0;
    while gone < MANY - 1 {
        let before = all.len() + all.pending_dead();
        let step = || _ = all.leave(&stranger);
        // (A sweep may find nobody.)
        let panic = catch_unwind(AssertUnwindSafe(step)).err();
        let now = std::mem::take(&mut *destroyed.lock().unwrap());
        assert_eq!(panic.as_ref().and_then(|it| it.downcast_ref()), now.first());
        assert_eq!(all.len() + all.pending_dead() + now.len(), before);
        assert!(now.len() <= 24);
        gone += now.len();
    }
    assert_eq!(all.counts(), (1, 1, 0));
    assert!(all.has(&left));
    assert_eq!(exploding(&destroyed, || drop(all)), 1);
}

/// 182
fn what_is_replaced_and_removed_and_nothing_else<C: Changing>() {
    let (all, lives, destroyed) = filled::<C>();
    let (ends, _) = bombs();
    assert_eq!(exploding(&destroyed, || _ = all.enter(&lives[1], &ends)), 1);
    assert_eq!(exploding(&destroyed, || _ = all.leave(&lives[2])), 1);
    let removed = || _ = all.leave_if(&lives[3], || true);
    assert_eq!(exploding(&destroyed, removed), 1);
    assert_eq!(all.counts(), (MANY - 2, MANY - 2, 0));
    assert!(all.has(&lives[1]) && !all.has(&lives[2]) && all.has(&lives[4]));
    _ = catch_unwind(AssertUnwindSafe(|| drop(all)));
}

/// 182, 185
fn all_that_is_kept_on_request<C: Changing>() {
    let ways: [fn(&mut C); 4] = [
        |all| all.purge(),
        |all| all.clear(),
        |all| all.set_reclaim(Reclaim::OnUse),
        |all| drop(std::mem::take(all)),
    ];
    for (number, way) in ways.into_iter().enumerate() {
        let (mut all, lives, destroyed) = filled::<C>();
        all.set_reclaim(Reclaim::OnRequest);
        drop(lives);
        let stranger = MANY.into();
        for _ in 0..MANY {
            all.leave(&stranger);
        }
        assert_eq!(
            (all.len(), all.pending_dead()),
            (0, MANY),
            "kept, by way {number}"
        );
        assert_eq!(exploding(&destroyed, || way(&mut all)), MANY);
        assert_eq!(all.counts(), (0, 0, 0));
    }
}

/// 182, D65: A collection of what owns nothing is as good as before too.
fn small_collections_are_usable_after_that<C: Changing>() {
    let (all, lives, _) = filled::<C>();
    drop(lives);
    _ = catch_unwind(AssertUnwindSafe(|| all.purge()));
    let lives = lives_of::<C>(&all);
    assert_eq!(all.counts(), (MANY, MANY, 0));
    drop(lives);
    all.purge();
    assert_eq!(all.counts(), (0, 0, 0));
}

fn lives_of<C: Collection>(all: &C) -> Vec<Life<C::Kind>> {
    let lives = lives::<C::Kind>(MANY);
    for life in &lives {
        assert!(all.enter(life, &quietly()));
    }
    lives
}

/// What panics with its number when it is destroyed; its clones do not.
struct Bomb(Option<(usize, Ends)>);

impl Clone for Bomb {
    fn clone(&self) -> Self {
        Bomb(None)
    }
}

impl Drop for Bomb {
    fn drop(&mut self) {
        if let Some((number, ends)) = self.0.take() {
            ends(number);
        }
    }
}

/// 182: What is made of the maps does as they do.
#[test]
fn attributes_and_memos() {
    let (ends, destroyed) = bombs();
    let bomb = |number| Bomb(Some((number, ends.clone())));

    let keys: Vec<Strong<usize>> = (0..MANY).map(Strong::new).collect();
    let attribute = Attribute::<Strong<usize>, Bomb>::new();
    keys.iter()
        .for_each(|key| _ = attribute.set(key, bomb(**key)));
    let left = keys[0].clone();
    drop(keys);
    assert_eq!(exploding(&destroyed, || attribute.purge()), MANY - 1);
    assert_eq!(exploding(&destroyed, || drop(attribute)), 1);

    struct Key;
    impl weakly::AttributeKey for Key {
        type Value = Bomb;
    }
    let attributes = Attributes::<Arc<usize>>::new();
    let keys: Vec<Arc<usize>> = (0..MANY).map(Arc::new).collect();
    keys.iter()
        .for_each(|key| _ = attributes.set(key, Key, bomb(**key)));
    drop(keys);
    assert_eq!(exploding(&destroyed, || attributes.clear()), MANY);

    // The memo's own clone is the one that panics.
    struct Armed(Mutex<Bomb>);
    impl Clone for Armed {
        fn clone(&self) -> Self {
            let bomb = Bomb(self.0.lock().unwrap().0.take());
            Armed(Mutex::new(bomb))
        }
    }
    let memo = Memo::<Arc<usize>, Armed>::new();
    let keys: Vec<Arc<usize>> = (0..MANY).map(Arc::new).collect();
    for key in &keys {
        memo.get_or_compute(key, |_| Armed(Mutex::new(bomb(**key))));
    }
    drop(keys);
    assert_eq!(exploding(&destroyed, || memo.purge()), MANY);
    assert_eq!((memo.len(), memo.statistics().invalidated), (0, MANY));
    drop(left);
}
