//! E. Size (items 76–83). The cheap count is `len`: exact for this crate's own pointers, an upper
//! bound for the standard library's.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use weakly::{WeakPairMap, local};

use crate::collections::*;
use crate::common::{Counter, OnDrop, place_of_panic};

for_each_collection!(
    kit: len_is_never_less_than_len_live,
    len_live_is_exact,
    after_a_purge_all_counts_agree,
    deaths_never_increase_len,
    an_open_iterator_keeps_no_more_than_the_current_life,
    len_is_right_when_more_enter_with_a_death_outstanding,
    is_empty_agrees_with_len,
    shrinking_drops_the_dead_first,
    reserving_drops_the_dead_first,
    a_size_that_no_memory_has_is_refused_at_the_caller,
);

for_each_changing!(kit: len_is_right_through_every_change_with_a_death_outstanding);

/// A collection of `n` entries, every other one of which is dead.
fn half_dead(kit: Kit, n: usize) -> (Box<dyn Collection>, Vec<Handle>) {
    let (all, mut lives) = kit.numbered(n);
    lives.retain(|life| **life % 2 == 0);
    (all, lives)
}

/// E76: `len` is never less than the number of live entries; with death notices, it is that number, and all
/// others are pending.
fn len_is_never_less_than_len_live(kit: Kit) {
    let (mut all, mut lives) = half_dead(kit, 60);
    while let Some(life) = lives.pop() {
        assert_eq!(all.len_live(), lives.len() + 1);
        assert!(all.len() >= all.len_live());
        assert!(!kit.notifies || all.len() == all.len_live());
        if *life % 3 == 0 {
            all.purge();
        }
    }
    assert_eq!(all.len_live(), 0);
}

/// E77: `len_live` is exact at the time of the call, with and without dead entries.
fn len_live_is_exact(kit: Kit) {
    let (all, mut lives) = half_dead(kit, 60);
    assert_eq!(all.len_live(), 30);
    lives.truncate(3);
    assert_eq!(all.len_live(), 3);
}

/// E78: After a purge, `len`, `len_live` and the number of items of an iterator are the same.
fn after_a_purge_all_counts_agree(kit: Kit) {
    let (mut all, lives) = half_dead(kit, 60);
    all.purge();
    let counts = [all.len(), all.len_live(), all.iter().count()];
    assert_eq!(counts, [lives.len(); 3]);
    assert_eq!(all.pending_dead(), 0);
}

/// E79: With deaths only, `len` never grows, and never falls below zero: an entry counts as long as it lives,
/// then it is pending, once, even if both its sides have died.
fn deaths_never_increase_len(kit: Kit) {
    let (all, mut lives) = half_dead(kit, 60);
    let mut before = all.len();
    while lives.pop().is_some() {
        assert!(all.len() <= before);
        before = all.len();
        assert_eq!(all.pending_dead() + before, 60);
    }
    assert_eq!(before, 60 - kit.notified(60));
}

/// E80: While an iterator is open and all lives end, at most the current one is left.
fn an_open_iterator_keeps_no_more_than_the_current_life(kit: Kit) {
    let (all, lives) = kit.numbered(10);
    let mut iter = all.iter();
    let current = iter.next().unwrap();
    drop(lives);
    assert_eq!(all.len_live(), 1);
    assert!(!kit.notifies || all.len() == 1);
    assert!(iter.next().is_none());
    drop(current);
    assert_eq!(all.len_live(), 0);
}

/// E81: `len` is right after an insertion, a replacement, or an insertion over a dead entry, with one death
/// outstanding.
fn len_is_right_when_more_enter_with_a_death_outstanding(kit: Kit) {
    type Change<'a> = &'a dyn Fn(&mut dyn Collection, &[Handle]);
    let changes: [(Change, usize); 5] = [
        (&|all, _| _ = all.enter(&kit.life(9), &quietly()), 3), // dead by now
        (&|all, lives| _ = all.enter(&lives[0], &quietly()), 3),
        (&|all, _| _ = all.enter(&kit.life(3), &quietly()), 3), // with the content of the dead one
        (&|all, _| all.reserve(1_000), 3),
        (&|all, _| all.clear(), 0),
    ];
    for (change, len) in changes {
        let (mut all, mut lives) = kit.numbered(4);
        lives.pop();
        assert!(!kit.notifies || (all.len(), all.pending_dead()) == (3, 1));
        change(&mut *all, &lives);
        assert_eq!(all.len_live(), len);
        assert!(!kit.notifies || all.len() == len);
        all.purge();
        assert_eq!((all.len(), all.pending_dead()), (len, 0));
        drop(lives);
        assert_eq!(
            (all.len(), all.pending_dead()),
            (len - kit.notified(len), kit.notified(len))
        );
    }
}

/// E81: `len` is right after every removal with one death outstanding.
fn len_is_right_through_every_change_with_a_death_outstanding(kit: Kit<dyn Changing>) {
    type Change = fn(&mut dyn Changing, &Handle, &Handle);
    let changes: [(Change, usize); 10] = [
        (|all, _, other| _ = all.enter(other, &quietly()), 4),
        (|all, life, _| _ = all.enter(life, &quietly()), 3),
        (|all, life, _| assert!(all.drop_out(life)), 2),
        (|all, _, other| assert!(!all.drop_out(other)), 3),
        (|all, _, _| assert!(all.pop().is_some()), 2),
        (|all, _, _| all.retain(&mut |number| number == 1), 1),
        (
            |all, _, _| drop(all.extract_if(&mut |number| number == 1).next()),
            2,
        ),
        (
            |all, life, _| all.extend_with(&mut [life].into_iter(), &quietly()),
            3,
        ),
        (|all, _, _| all.clear(), 0),
        (|all, _, _| drop(all.drain()), 0),
    ];
    for (change, len) in changes {
        let (mut all, mut lives) = kit.numbered(4);
        lives.pop();
        assert!(!kit.notifies || (all.len(), all.pending_dead()) == (3, 1));
        change(&mut *all, &lives[0], &kit.life(9));
        let temporary = usize::from(len == 4); // the other life is over by now
        assert_eq!(all.len_live(), len - temporary);
        assert!(!kit.notifies || all.len() == len - temporary);
        all.purge();
        assert_eq!((all.len(), all.pending_dead()), (len - temporary, 0));
    }
}

/// E82: `is_empty` agrees with `len`: for own pointers also when all are dead and nothing was purged.
fn is_empty_agrees_with_len(kit: Kit) {
    let (mut all, mut lives) = kit.numbered(3);
    assert!(!all.is_empty());
    lives.clear();
    assert_eq!(all.is_empty(), kit.notifies);
    assert_eq!((all.len_live(), all.len()), (0, 3 - kit.notified(3)));
    all.purge();
    assert!(all.is_empty());
}

/// E83: Shrinking first reclaims the dead, and then returns their memory.
fn shrinking_drops_the_dead_first(kit: Kit) {
    let counter = Counter::default();
    let mut lives = kit.lives(200);
    let mut all = kit.of(&lives, &counted(&counter));
    assert!(all.capacity() >= 200);
    lives.truncate(10);
    all.shrink_to(50);
    assert_eq!((all.len(), counter.get()), (10, kit.owned(190)));
    assert!((50..200).contains(&all.capacity()));
    all.shrink_to_fit();
    assert!((10..50).contains(&all.capacity()));
    assert!(lives.iter().all(|life| all.contains(life)));
}

/// E83: So does reserving, if it needs more memory; more than the address space cannot be reserved.
fn reserving_drops_the_dead_first(kit: Kit) {
    let mut all = kit.with_capacity(100);
    let capacity = all.capacity();
    assert!(capacity >= 100);
    let lives = kit.lives(capacity);
    all.enter_all(&lives, &quietly());
    assert_eq!((all.len(), all.capacity()), (capacity, capacity));
    drop(lives);
    all.reserve(capacity);
    assert_eq!((all.len(), all.pending_dead()), (0, 0));
    assert!(all.try_reserve(usize::MAX).is_err());
    assert!(all.try_reserve(2 * capacity).is_ok());
    assert!(all.capacity() >= 2 * capacity);
}

/// 432: The panic names the line that asked for the room.
fn a_size_that_no_memory_has_is_refused_at_the_caller(kit: Kit) {
    let mut all = kit.empty();
    let lives = kit.lives(3);
    all.enter_all(&lives, &quietly());
    for many in [usize::MAX, usize::MAX / 8, isize::MAX as usize / 16] {
        let reserves = place_of_panic(|| all.reserve(many));
        let makes = place_of_panic(|| drop(kit.with_capacity(many)));
        for (file, _) in [reserves, makes] {
            assert!(file.contains("subject"), "{file}"); // the tests call each collection there
        }
    }
    assert_eq!(all.len_live(), 3);
}

/// E82: Also in a destructor, beside pairs of which both objects have died, so that there are more notices than dead entries.
#[test]
fn is_empty_agrees_with_len_in_a_destructor() {
    type Key = local::Strong<OnDrop>;
    let map = Rc::new(RefCell::new(WeakPairMap::<Key, local::Strong<usize>>::new()));
    let seen = Rc::new(Cell::new(None));
    let look = {
        let (map, seen) = (Rc::downgrade(&map), seen.clone());
        move || {
            let map = map.upgrade().unwrap();
            let map = map.borrow();
            seen.set(Some((map.len(), map.is_empty())));
        }
    };
    let (dying, key) = (Key::new(OnDrop::new(look)), Key::new(OnDrop::new(|| ())));
    let [value, other] = [1, 2].map(local::Strong::<usize>::new);
    map.borrow_mut().insert(&key, &value);
    map.borrow_mut().insert(&dying, &other);
    drop((key, value));
    drop(dying);
    let (len, is_empty) = seen.get().unwrap();
    assert_eq!(is_empty, len == 0, "{len}");
}
