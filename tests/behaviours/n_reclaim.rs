//! N185: When what dead entries own is dropped.

use std::cell::{Cell, RefCell};
use std::rc::Rc;

use crate::collections::*;
use crate::common::{Counter, forget, panics, quiet_panic, scaled};
use weakly::Reclaim::{OnRequest, OnUse};

/// More than one operation reclaims.
const MANY: usize = scaled(100, 40);

/// A collection that keeps what the dead own, with the entries `0..n`, and their lives.
fn on_request<D: Collection + ?Sized>(kit: Kit<D>, n: usize, ends: &Ends) -> (Box<D>, Vec<Handle>) {
    let lives = kit.lives(n);
    let mut all = kit.empty();
    all.set_reclaim(OnRequest);
    all.enter_all(&lives, ends);
    (all, lives)
}

/// Lives come and go without any request: entries do not accumulate, only what they own does.
fn the_table_does_not_grow_for_the_dead(kit: Kit) {
    let counter = Counter::default();
    let (mut all, _) = on_request(kit, 0, &quietly());
    let many = scaled(2_000, 200);
    for number in 0..many {
        all.enter(&kit.life(number), &counted(&counter));
        assert!(all.capacity() <= 56, "{} of {}", all.len(), all.capacity());
    }
    assert_eq!(counter.get(), 0);
    all.purge();
    assert_eq!((counter.get(), all.len()), (kit.owned(many), 0));
}

/// One name over and over: the dead of that name do not accumulate and slow down the next.
fn the_dead_of_one_name_do_not_pile_up(kit: Kit) {
    let (mut all, _) = on_request(kit, 0, &quietly());
    let many = scaled(2_000, 200);
    for _ in 0..many {
        let life = kit.life(7);
        all.enter(&life, &quietly());
        assert!(all.contains(&life));
        assert!(all.capacity() <= 56, "{} of {}", all.len(), all.capacity());
    }
    all.shrink_to_fit();
    assert_eq!((all.len(), all.capacity()), (0, 0));
}

/// What it has not yielded stays, even if it is forgotten.
fn drain_dead_may_stop_or_be_forgotten(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let (mut all, lives) = on_request(kit, 3 * MANY, &counted(&counter));
    drop(lives);
    all.shrink_to_fit();
    drop(all.drain_dead().next());
    let mut dead = all.drain_dead();
    drop(dead.next());
    forget(dead);
    assert_eq!((counter.get(), all.pending_dead()), (2, 3 * MANY - 2));
    assert_eq!(all.drain_dead().count(), 3 * MANY - 2);
    assert_eq!(counter.get(), 3 * MANY);
}

/// A destructor uses the collection, which is in a `RefCell`, and never runs while that is borrowed.
fn a_destructor_may_use_its_collection_in_a_ref_cell(kit: Kit<dyn Owning>) {
    let shared = Rc::new(RefCell::new(kit.empty()));
    let runs = Rc::new(Cell::new(0));
    let (this, count) = (Rc::downgrade(&shared), runs.clone());
    let late = Cell::new(1_000);
    let uses: Ends = Rc::new(move |_| {
        let Some(this) = this.upgrade() else { return };
        let mut all = this.borrow_mut(); // or panics
        late.set(late.get() + 1);
        let life = kit.life(late.get());
        all.enter(&life, &quietly());
        assert!(all.contains(&life));
        count.set(count.get() + 1);
    });

    // As under `OnUse`.
    let lives = kit.lives(2);
    shared.borrow_mut().enter(&lives[0], &uses);
    drop(lives);
    assert!(panics(|| shared.borrow_mut().reserve(1_000)));
    shared.borrow_mut().purge();

    shared.borrow_mut().set_reclaim(OnRequest);
    for number in 0..MANY {
        let life = kit.life(number);
        shared.borrow_mut().enter(&life, &uses);
    }
    assert_eq!(runs.get(), 0);
    let dead: Vec<_> = shared.borrow_mut().drain_dead().collect();
    assert_eq!(dead.len(), MANY);
    drop(dead);
    assert_eq!(runs.get(), MANY);
    assert_eq!(shared.borrow_mut().drain_dead().count(), MANY);
}

/// Entries each of which owns the life of the next: one purge, and no deep recursion.
fn a_chain_goes_with_one_purge(kit: Kit<dyn Owning>) {
    let counter = Counter::default();
    let many = scaled(400, 40);
    let (mut all, head) = chain(kit, many, &counted(&counter));
    all.set_reclaim(OnRequest);
    drop(head);
    all.enter(&kit.life(many), &quietly());
    all.shrink_to_fit();
    assert_eq!(
        (counter.get(), all.len()),
        (0, many - 1),
        "no other has died of it"
    );
    all.purge();
    assert_eq!((counter.get(), all.len(), all.pending_dead()), (many, 0, 0));

    let (mut all, head) = chain(kit, many, &counted(&counter));
    all.set_reclaim(OnRequest);
    drop(head);
    assert_eq!(
        all.drain_dead().count(),
        many,
        "each dropped before the next is asked for"
    );
    assert_eq!(counter.get(), 2 * many);
}

/// A destructor that panics prevents no other drop, and leaves the policy unchanged. The next call goes on with the rest; but
/// `clear` has dropped all.
fn destructors_may_panic(kit: Kit<dyn Owning>) {
    let ways: [(fn(&mut dyn Owning), usize); 3] = [
        (|all| _ = all.purge(), 1),
        (|all| all.set_reclaim(OnUse), 1),
        (|all| all.clear(), MANY),
    ];
    for (way, dropped) in ways {
        let counter = Counter::default();
        let (fuse, ends) = (Rc::new(Cell::new(false)), counted(&counter));
        let burns = fuse.clone();
        let bomb: Ends = Rc::new(move |number| {
            ends(number);
            if burns.take() {
                quiet_panic();
            }
        });
        let (mut all, lives) = on_request(kit, MANY, &bomb);
        drop(lives);
        all.shrink_to_fit();
        fuse.set(true);
        assert!(panics(|| way(&mut *all)));
        assert_eq!((counter.get(), all.reclaim()), (dropped, OnRequest));
        assert_eq!(all.pending_dead(), MANY - dropped);
        all.enter(&kit.life(0), &bomb);
        way(&mut *all);
        all.purge();
        assert_eq!(
            (counter.get(), all.len(), all.pending_dead()),
            (MANY + 1, 0, 0)
        );
    }
    // The first panic ends the drop of the collection, and reaches its owner.
    let counter = Counter::default();
    let (fuse, ends) = (Rc::new(Cell::new(true)), counted(&counter));
    let bomb: Ends = Rc::new(move |number| {
        ends(number);
        if fuse.take() {
            quiet_panic();
        }
    });
    let (mut all, lives) = on_request(kit, MANY, &bomb);
    drop(lives);
    all.shrink_to_fit();
    assert!(panics(|| drop(all)));
    assert_eq!(counter.get(), MANY);
}

for_each_collection!(
    kit: the_table_does_not_grow_for_the_dead,
    the_dead_of_one_name_do_not_pile_up,
);

for_each_owning!(
    kit: drain_dead_may_stop_or_be_forgotten,
    a_destructor_may_use_its_collection_in_a_ref_cell,
    a_chain_goes_with_one_purge,
    destructors_may_panic,
);
