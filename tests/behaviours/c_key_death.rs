//! C. The death of an entry's life, and what happens to the entry and to what the collection owns of it (items
//! 35–46, 54–57).

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::rc::Rc;

use crate::c_key_death_reentrant::live_and_die;
use crate::collections::*;
use crate::common::{Counter, Kind, scaled};
use crate::{for_each_kind, heap};

for_each_collection!(
    kit: one_of_several_handles_changes_nothing,
    weak_handles_do_not_keep_the_entry,
    a_temporary_life_leaves_nothing,
    purge_reclaims_all_the_dead,
    a_late_notice_spares_the_new_entry,
);

for_each_collection!(
    kit: a_dead_entry_is_gone_at_once,
    the_dead_are_reclaimed_by_the_next_addition_or_by_housekeeping,
    reading_destroys_nothing,
    a_table_of_the_dead_does_not_grow,
    short_lived_entries_take_no_more_and_no_more_memory,
);

for_each_changing!(
    kit: the_dead_are_reclaimed_by_the_next_removal,
    looking_to_change_destroys_nothing,
    a_removed_life_may_end_later,
    a_life_removed_and_entered_again_goes_once,
);

for_each_map!(kit: the_dead_are_reclaimed_by_the_next_entry);

for_each_owning!(
    kit: the_dead_are_reclaimed_when_they_are_requested,
    a_removed_or_replaced_value_is_dropped_at_once,
    every_collection_forgets_the_dead,
    entries_may_die_while_the_table_grows,
);

for_each_kind!(a_key_that_cannot_be_upgraded_is_absent);

/// C35: When the last strong handle is dropped, the entry is not found any more, at once.
fn a_dead_entry_is_gone_at_once(kit: Kit) {
    let (all, mut lives) = kit.numbered(2);
    let dead = ghost(&lives[1]);
    assert!(dead.is_in(&all));
    lives.pop();
    assert!(!dead.is_in(&all));
    assert_eq!((all.numbers(), all.len_live()), (vec![0], 1));
    assert_eq!(all.len(), 2 - kit.notified(1));
    assert!(all.contains(&lives[0]));
}

/// C36: As long as one strong handle is left, nothing changes.
fn one_of_several_handles_changes_nothing(kit: Kit) {
    let (mut all, lives) = kit.numbered(1);
    drop([lives[0].clone(), lives[0].clone()]);
    all.purge();
    assert_eq!(
        (all.numbers(), all.len(), all.pending_dead()),
        (vec![0], 1, 0)
    );
    assert!(all.contains(&lives[0]));
}

/// C37: Weak handles, however many, do not keep the entry alive.
fn weak_handles_do_not_keep_the_entry(kit: Kit) {
    let life = kit.life(1);
    let counter = Counter::default();
    let weak: Vec<_> = (0..5).map(|_| life.downgrade()).collect();
    let mut all = kit.of([&life], &counted(&counter));
    drop(life);
    all.purge();
    assert_eq!((all.len(), counter.get()), (0, kit.owned(1)));
    assert!(!weak.iter().any(WeakHandle::is_alive));
}

/// C38: The entry of a temporary object is gone when the statement ends.
fn a_temporary_life_leaves_nothing(kit: Kit) {
    let mut all = kit.empty();
    all.enter(&kit.life(1), &quietly());
    assert_eq!((all.len_live(), all.iter().next().is_none()), (0, true));
    all.purge();
    assert!(all.is_empty());
}

/// An operation that changes the collection, with an object numbered 1, like the dead one, and another.
type Change<'a, D> = &'a dyn Fn(&mut Box<D>, &Handle, &Handle);

/// C39: What a collection owns of an entry is dropped once, not before the entry dies, and at the latest by each
/// of these operations.
fn reclaims_the_dead<D: Collection + ?Sized>(kit: Kit<D>, changes: &[(&str, Change<D>)]) {
    for (name, change) in changes {
        let counter = Counter::default();
        let [life, twin, other] = [1, 1, 2].map(|n| kit.life(n));
        let mut all = kit.of([&life], &counted(&counter));
        assert_eq!(counter.get(), 0, "{name}: before the death");
        drop(life);
        assert_eq!(all.pending_dead(), kit.notified(1), "{name}: after it");
        change(&mut all, &twin, &other);
        assert_eq!(counter.get(), kit.owned(1), "{name}: after the change");
        assert_eq!(all.pending_dead(), 0, "{name}");
        assert_eq!(all.len(), all.len_live(), "{name}");
        drop(all);
        assert_eq!(counter.get(), kit.owned(1), "{name}: once");
    }
}

/// C39: By operations of every collection.
fn the_dead_are_reclaimed_by_the_next_addition_or_by_housekeeping(kit: Kit) {
    reclaims_the_dead(
        kit,
        &[
            ("purge", &|all, _, _| _ = all.purge()),
            ("insert", &|all, _, other| _ = all.enter(other, &quietly())),
            ("insert of the same", &|all, twin, _| {
                _ = all.enter(twin, &quietly());
            }),
            ("reserve", &|all, _, _| all.reserve(1)),
            ("try_reserve", &|all, _, _| {
                assert!(all.try_reserve(0).is_ok())
            }),
            ("shrink_to_fit", &|all, _, _| all.shrink_to_fit()),
            ("shrink_to", &|all, _, _| all.shrink_to(10)),
            ("clear", &|all, _, _| all.clear()),
            ("drop", &|all, _, _| *all = kit.empty()),
        ],
    );
}

/// C39: By removals, whether or not they find anything.
fn the_dead_are_reclaimed_by_the_next_removal(kit: Kit<dyn Changing>) {
    reclaims_the_dead(
        kit,
        &[
            ("remove", &|all, _, other| assert!(!all.drop_out(other))),
            ("remove of the same", &|all, twin, _| {
                assert!(!all.drop_out(twin))
            }),
            ("retain", &|all, _, _| all.retain(&mut |_| true)),
            ("extract_if", &|all, _, _| {
                assert!(all.extract_if(&mut |_| true).next().is_none())
            }),
            ("pop", &|all, _, _| assert!(all.pop().is_none())),
            ("extend", &|all, _, other| {
                all.extend_with(&mut [other].into_iter(), &quietly())
            }),
            ("drain", &|all, _, _| assert!(all.drain().next().is_none())),
        ],
    );
}

/// C39: By a lookup of another key's entry.
fn the_dead_are_reclaimed_by_the_next_entry(kit: Kit<dyn Mapping>) {
    reclaims_the_dead(
        kit,
        &[("entry", &|all, _, other| {
            assert_eq!(all.entry_look(other), None);
        })],
    );
}

/// C39: By requesting them.
fn the_dead_are_reclaimed_when_they_are_requested(kit: Kit<dyn Owning>) {
    reclaims_the_dead(
        kit,
        &[("drain_dead", &|all, _, _| {
            assert_eq!(all.drain_dead().next().map(|dead| dead.number), Some(1));
        })],
    );
}

/// C39: Methods that take `&self` drop nothing.
fn reading_destroys_nothing(kit: Kit) {
    let counter = Counter::default();
    let mut lives = kit.lives(2);
    let all = kit.of(&lives, &counted(&counter));
    let dead = ghost(&lives[1]);
    lives.pop();
    let pending = all.pending_dead();
    for _ in 0..100 {
        assert!(all.contains(&lives[0]) && !dead.is_in(&all));
        assert_eq!((all.iter().count(), all.len_live()), (1, 1));
        assert_eq!(all.len(), all.len());
    }
    assert_eq!((counter.get(), all.pending_dead()), (0, pending));
    assert_eq!(pending, kit.notified(1));
}

/// C39: Nor do methods that only give mutable access.
fn looking_to_change_destroys_nothing(kit: Kit<dyn Changing>) {
    let counter = Counter::default();
    let mut lives = kit.lives(2);
    let mut all = kit.of(&lives, &counted(&counter));
    lives.pop();
    let pending = all.pending_dead();
    for found in all.look_to_change(&lives[0]) {
        assert_eq!(found, [0]);
    }
    assert_eq!((counter.get(), all.pending_dead()), (0, pending));
}

/// C40, 257: After `purge`, everything that dead entries owned is dropped, and nothing else.
fn purge_reclaims_all_the_dead(kit: Kit) {
    let counter = Counter::default();
    let mut lives = kit.lives(scaled(1_000, 100));
    let mut all = kit.of(&lives, &counted(&counter));
    let entries = lives.len();
    lives.retain(|life| **life % 4 == 0);
    assert!(!all.purge());
    assert_eq!(counter.get(), kit.owned(entries - lives.len()));
    assert_eq!(all.len(), lives.len());
    assert!(lives.iter().all(|life| all.contains(life)));
}

/// C41: A removed or replaced value is returned, and dropped when the caller drops it.
fn a_removed_or_replaced_value_is_dropped_at_once(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let ends = counted(&counter);
    let life = kit.life(1);
    let mut all = kit.of([&life], &ends);
    all.enter(&life, &ends);
    assert_eq!(counter.get(), 1);
    all.drop_out(&life);
    assert_eq!(counter.get(), 2);
    all.enter(&life, &ends);
    all.retain(&mut |_| false);
    assert_eq!(counter.get(), 3);
}

/// C42: An object in several collections disappears from each; while one drops what it owned, the object is dead
/// for all.
fn every_collection_forgets_the_dead(kit: Kit<dyn Owning>) {
    let life = kit.life(1);
    let dead = Rc::new(ghost(&life));
    let seen = Rc::new(RefCell::new(Vec::new()));
    let all: Rc<[_; 3]> = Rc::new([(); 3].map(|()| RefCell::new(kit.empty())));
    for n in 0..3 {
        let (all_too, dead, seen) = (Rc::downgrade(&all), dead.clone(), seen.clone());
        let ends: Ends = Rc::new(move |_| {
            let all = all_too.upgrade().unwrap();
            let others = all.iter().filter_map(|one| one.try_borrow().ok());
            let found = others.filter(|one| dead.is_in(&**one)).count();
            seen.borrow_mut().push((n, dead.weak.is_alive(), found));
        });
        all[n].borrow_mut().enter(&life, &ends);
    }
    drop(life);
    assert!(all.iter().all(|one| !dead.is_in(&*one.borrow())));
    all.iter().for_each(|one| _ = one.borrow_mut().purge());
    let expected: Vec<_> = (0..3).map(|n| (n, false, 0)).collect();
    assert_eq!(*seen.borrow(), expected);
}

/// C43: The object of a removed entry dies later: the collection is not affected.
fn a_removed_life_may_end_later(kit: Kit<dyn Changing>) {
    let (mut all, mut lives) = kit.numbered(2);
    assert!(all.drop_out(&lives[1]));
    lives.pop();
    assert_eq!((all.len(), all.pending_dead()), (1, 0));
    all.purge();
    assert_eq!((all.len(), all.numbers()), (1, vec![0]));
}

/// C44: An object that was removed and inserted again dies: its entry ends exactly once.
fn a_life_removed_and_entered_again_goes_once(kit: Kit<dyn Changing>) {
    let counter = Counter::default();
    let ends = counted(&counter);
    let [life, other] = [1, 2].map(|n| kit.life(n));
    let mut all = kit.of([&other], &ends);
    for _ in 0..3 {
        all.drop_out(&life);
        all.enter(&life, &ends);
    }
    assert_eq!(counter.get(), kit.owned(2));
    drop(life);
    assert_eq!(all.pending_dead(), kit.notified(1));
    all.purge();
    assert_eq!(
        (counter.get(), all.len(), all.pending_dead()),
        (kit.owned(3), 1, 0)
    );
    assert_eq!(all.numbers(), [2]);
}

/// C45: New entries in the places of dead ones, whose notices arrive late, stay: also in collections keyed by
/// content, with equal content.
fn a_late_notice_spares_the_new_entry(kit: Kit) {
    let mut all = kit.with_capacity(200);
    for life in &kit.lives(100) {
        all.enter(life, &quietly());
    }
    assert_eq!(
        all.pending_dead() > 16,
        kit.notifies,
        "some notices stay pending below"
    );
    let lives = kit.lives(100);
    all.enter_all(&lives, &quietly());
    assert!(!kit.notifies || all.len() == 100);
    all.purge();
    assert_eq!((all.len(), all.pending_dead()), (100, 0));
    assert!(lives.iter().all(|life| all.contains(life)));
}

/// C54: Entries that die while the table grows, because growing drops what owns their lives, are neither lost
/// nor visited twice.
fn entries_may_die_while_the_table_grows(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let ends = counted(&counter);
    let kept = kit.lives(scaled(500, 60));
    let mut all = kit.empty();
    for life in &kept {
        // One dies at once, and two others with it, when what it owns is dropped.
        let number = 10_000 + 3 * **life;
        let [dead, first, second] = [0, 1, 2].map(|n| kit.life(number + n));
        all.enter(&first, &ends);
        all.enter(&second, &ends);
        let (ends, owned) = (ends.clone(), Cell::new(Some([first, second])));
        let last: Ends = Rc::new(move |number| {
            drop(owned.take());
            ends(number);
        });
        all.enter(&dead, &last);
        all.enter(life, &counted(&counter));
    }
    assert!(kept.iter().all(|life| all.contains(life)));
    all.purge();
    assert_eq!((all.len(), all.len_live()), (kept.len(), kept.len()));
    assert_eq!(counter.get(), 3 * kept.len());
}

/// C55: A key whose entry is found, but which can no longer be upgraded, counts as absent.
fn a_key_that_cannot_be_upgraded_is_absent<P: Kind>() {
    live_and_die::<P>(|owner| {
        let me = weakly::Addr::of(owner);
        let mut map = owner.map.borrow_mut();
        assert!(map.contains_key(&me));
        assert!(map.get_key_value(&me).is_none());
        assert!(map.remove_entry(&me).is_none());
        assert!(map.iter().next().is_none());
        assert!(map.pop().is_none());
    });
}

/// C56: When all are dead, an insertion into the full table does not make it larger.
fn a_table_of_the_dead_does_not_grow(kit: Kit) {
    let mut all = kit.with_capacity(100);
    let capacity = all.capacity();
    let lives = kit.lives(capacity);
    all.enter_all(&lives, &quietly());
    assert_eq!((all.len(), all.capacity()), (capacity, capacity));
    drop(lives);
    let life = kit.life(1);
    all.enter(&life, &quietly());
    assert!(all.capacity() <= capacity);
    assert_eq!((all.len_live(), all.numbers()), (1, vec![1]));
}

/// C57: A million short-lived entries, never more than a hundred alive, and
/// no `purge`: the table and the memory stay small.
fn short_lived_entries_take_no_more_and_no_more_memory(kit: Kit) {
    let start = heap::bytes();
    let ends = quietly();
    let mut all = kit.empty();
    let mut alive = VecDeque::new();
    let (mut most, mut capacity) = (0, 0);
    for n in 0..scaled(often(kit), 300) {
        let life = kit.life(n % 128); // so that the test itself keeps no more than that alive
        all.enter(&life, &ends);
        alive.push_back(life);
        if alive.len() > 100 {
            alive.pop_front();
        }
        most = most.max(heap::bytes() - start);
        capacity = capacity.max(all.capacity());
    }
    assert!(capacity < 500, "{capacity} places for a hundred entries");
    assert!(most < 100_000, "{most} bytes for a hundred entries");
    assert!(alive.iter().all(|life| all.contains(life)));
    drop((all, alive, ends));
    assert_eq!(heap::bytes(), start);
}
