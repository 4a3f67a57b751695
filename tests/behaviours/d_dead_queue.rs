//! D. The queue of dead entries, on one thread (items 60–66, 69, 72). The model states the others.
//!
//! The collections of the standard library's pointers have no queue: for them the same questions concern the
//! sweep, where that makes sense.
//!
//! 63, 64: a collection that drains is borrowed, so the borrow checker keeps the destructors that run then from
//! using it. Code that needs that first takes what the dead own with `drain_dead`.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::collections::*;
use crate::common::watchdog::{assert_at_most, processor_time};
use crate::common::{Counter, panics, scaled};
use crate::heap;

for_each_collection!(
    kit: an_operation_works_off_some_notices_but_not_all,
    late_notices_do_not_accumulate,
    a_death_allocates_nothing,
);

for_each_map!(kit: nothing_pending_is_no_work);

for_each_owning!(
    kit: a_destructor_may_do_anything_after_drain_dead,
    drain_dead_stays_finished,
    a_panicking_destructor_leaves_the_rest_to_be_drained,
    a_clear_that_panics_leaves_an_empty_collection,
    a_drain_may_cause_deaths_in_its_own_collection,
);

/// D60: With no notice pending, an operation costs the same in a map of any size (for pointers without notices:
/// except `purge`, which has to sweep). A mistake here takes ten thousand million steps, for a
/// [`WeakMap`](weakly::WeakMap), where to insert as many takes a hundred thousand.
fn nothing_pending_is_no_work(kit: Kit<dyn Mapping>) {
    let n = scaled(often(kit) / 10, 100);
    let lives = kit.lives(n);
    let began = processor_time();
    let mut map = kit.map(lives.iter().zip(&lives));
    let inserted = processor_time();
    for life in &lives {
        if kit.notifies {
            map.purge();
        }
        assert_eq!(map.get_or_insert_with(life, &mut || &lives[0]), **life);
    }
    assert_at_most(100, inserted - began, processor_time() - inserted);
    assert_eq!(map.len(), n);
}

/// D61: An operation drains 16 notices; the rest stay for the next.
fn an_operation_works_off_some_notices_but_not_all(kit: Kit) {
    if !kit.notifies {
        return;
    }
    let counter = Counter::default();
    let mut lives = kit.lives(41);
    let mut all = kit.of(&lives, &counted(&counter));
    let kept = lives.pop().unwrap();
    drop(lives);
    for done in [16, 32, 40] {
        all.enter(&kept, &counted(&counter));
        assert_eq!(all.pending_dead(), 40 - done);
    }
    assert_eq!((all.len(), counter.get()), (1, kit.owned(43)));
}

/// D64: A value from `drain_dead` may use the collection freely, and drop it.
fn a_destructor_may_do_anything_after_drain_dead(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let kept = kit.life(100);
    let owner = Rc::new(RefCell::new(Some(Rc::new(RefCell::new(kit.empty())))));
    let all = owner.borrow().clone().unwrap();
    let (owner_too, kept_too, count) = (owner.clone(), kept.clone(), counted(&counter));
    let ends: Ends = Rc::new(move |number| {
        count(number);
        let Some(all) = owner_too.borrow().clone() else {
            return;
        };
        let mut all = all.borrow_mut();
        match number {
            0 => _ = all.enter(&kept_too, &quietly()),
            1 => assert_eq!(all.iter().count(), all.len_live()),
            2 => _ = all.purge(),
            3 => drop(all.drop_out(&kept_too)),
            4 => drop(all.contains(&kept_too)),
            _ => drop(owner_too.take()), // the collection is dropped with this borrow
        }
    });
    for life in &kit.lives(6) {
        all.borrow_mut().enter(life, &ends);
    }
    let mut dead: Vec<Owned> = all.borrow_mut().drain_dead().collect();
    dead.sort_by_key(|owned| owned.number);
    drop(all);
    assert_eq!((dead.len(), counter.get()), (6, 0));
    drop(dead);
    assert!(
        owner.take().is_none(),
        "the last to go took the collection with it"
    );
    drop(ends);
    assert_eq!((counter.get(), kept.counts()), (6, (1, 0)));
}

/// D64: `drain_dead` yields what each dead entry owned once, and then stays at its end (it is fused).
fn drain_dead_stays_finished(kit: Kit<dyn Owning>) {
    let (mut all, mut lives) = kit.numbered(3);
    lives.pop();
    let mut dead = all.drain_dead().map(|owned| owned.number);
    assert_eq!((dead.next(), dead.next()), (Some(2), None));
    lives.pop();
    assert_eq!(dead.next(), None, "a `FusedIterator` goes on after its end");
}

/// D65: If a destructor panics during a drain, the other notices are not lost, and the collection stays usable.
fn a_panicking_destructor_leaves_the_rest_to_be_drained(kit: Kit<dyn Owning>) {
    let changes: [&dyn Fn(&mut dyn Owning); 5] = [
        &|all| _ = all.purge(),
        &|all| all.reserve(0),
        &|all| assert!(!all.drop_out(&kit.life(9))),
        &|all| all.retain(&mut |_| true),
        &|all| _ = all.enter(&kit.life(9), &quietly()),
    ];
    for change in changes {
        let counter = Counter::default();
        let count = counted(&counter);
        let ends: Ends = Rc::new(move |number| {
            count(number);
            assert_ne!(number, 1, "a bad one");
        });
        let kept = kit.life(100);
        let mut all = kit.of([&kept], &quietly());
        for life in &kit.lives(4) {
            all.enter(life, &ends);
        }
        assert!(panics(|| change(&mut *all)));
        assert!(all.contains(&kept));
        all.purge();
        let left = (counter.get(), all.len(), all.pending_dead());
        assert_eq!(left, (4, 1, 0));
        all.enter(&kept, &quietly());
        assert_eq!(all.len(), 1);
    }
}

/// D65: If a destructor panics in `clear`, the others run, and the collection is empty, and stays empty when the lives of its
/// entries end.
fn a_clear_that_panics_leaves_an_empty_collection(kit: Kit<dyn Owning>) {
    let lives = kit.lives(10);
    let counter = Counter::default();
    let counts = counted(&counter);
    let ends: Ends = Rc::new(move |number| {
        counts(number);
        assert_ne!(number % 5, 0, "a bad one");
    });
    let mut all = kit.of(&lives, &ends);
    assert!(panics(|| all.clear()));
    assert_eq!((all.len(), counter.get()), (0, 10));
    drop(lives);
    assert_eq!((all.pending_dead(), all.len()), (0, 0));
    all.purge();
    let life = kit.life(1);
    all.enter(&life, &quietly());
    assert_eq!(all.len(), 1);
}

/// D66: A drain that drops owners of lives of this collection and of another: each is dropped once.
fn a_drain_may_cause_deaths_in_its_own_collection(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let inner = Rc::new(RefCell::new(kit.empty()));
    let mut outer = kit.empty();
    let counted = |f: Box<dyn Fn()>| -> Ends {
        let count = counted(&counter);
        Rc::new(move |number| {
            count(number);
            f();
        })
    };
    for n in 0..scaled(50, 10) {
        // Dropping `first` ends `life` in `inner`, purges that, and thereby drops `second`.
        let [first, second, life] = [0, 1, 2].map(|i| kit.life(3 * n + i));
        outer.enter(&second, &counted(Box::new(|| ())));
        let second = Cell::new(Some(second));
        let ends_second = counted(Box::new(move || drop(second.take())));
        inner.borrow_mut().enter(&life, &ends_second);
        let (inner, life) = (inner.clone(), Cell::new(Some(life)));
        let ends_life = counted(Box::new(move || {
            drop(life.take());
            inner.borrow_mut().purge();
        }));
        outer.enter(&first, &ends_life);
    }
    outer.purge();
    assert_eq!(counter.get(), 3 * scaled(50, 10));
    assert_eq!((outer.len(), inner.borrow().len()), (0, 0));
}

/// D69: There are never more notices than entries; notices of removed entries are freed soon.
fn late_notices_do_not_accumulate(kit: Kit) {
    let mut all = kit.empty();
    let mut most = 0;
    let start = heap::bytes();
    for _ in 0..scaled(200, 5) {
        let lives = kit.lives(50);
        all.enter_all(&lives, &quietly());
        drop(lives);
        assert_eq!(all.len() + all.pending_dead(), 50);
        assert_eq!(all.pending_dead(), kit.notified(50));
        all.purge();
        assert_eq!((all.len(), all.pending_dead()), (0, 0));
        most = most.max(heap::bytes() - start);
    }
    assert!(most < 20_000, "{most} bytes for fifty dead");
}

/// D72: A death allocates nothing.
fn a_death_allocates_nothing(kit: Kit) {
    let n = scaled(1_000, 200);
    let (all, lives) = kit.numbered(n);
    let before = heap::allocations();
    drop(lives);
    assert_eq!(heap::allocations(), before);
    assert_eq!(all.pending_dead(), kit.notified(n));
}
