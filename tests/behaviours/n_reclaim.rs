//! N185: When what dead entries own is dropped.

use std::cell::Cell;
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

/// Lives come and go without any request, of other names or of one: entries do not accumulate, only what they own does.
fn the_table_does_not_grow_for_the_dead(kit: Kit) {
    let many = scaled(2_000, 200);
    for names in [many, 1] {
        let counter = Counter::default();
        let (mut all, _) = on_request(kit, 0, &quietly());
        for number in 0..many {
            let life = kit.life(number % names);
            all.enter(&life, &counted(&counter));
            assert!(all.contains(&life));
            assert!(all.capacity() <= 56, "{} of {}", all.len(), all.capacity());
        }
        assert_eq!(counter.get(), 0);
        all.purge();
        assert_eq!((counter.get(), all.len()), (kit.owned(many), 0));
    }
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
}

for_each_collection!(kit: the_table_does_not_grow_for_the_dead);

for_each_owning!(
    kit: drain_dead_may_stop_or_be_forgotten,
    destructors_may_panic,
);
