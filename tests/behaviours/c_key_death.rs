//! C. The death of an entry's life, and what happens to the entry and to what the collection owns of it (items
//! 39–42, 54, 56). The model states the others.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::collections::*;
use crate::common::{Counter, scaled};

for_each_collection!(
    kit: purge_reclaims_all_the_dead,
    the_dead_are_reclaimed_by_the_next_addition_or_by_housekeeping,
    a_table_of_the_dead_does_not_grow,
);

for_each_changing!(kit: the_dead_are_reclaimed_by_the_next_removal);

for_each_owning!(
    kit: every_collection_forgets_the_dead,
    entries_may_die_while_the_table_grows,
);

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

/// A21, C40, 257: After `purge`, everything that dead entries owned is dropped, and nothing else.
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
