//! Purges in instalments.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::Reclaim::{OnRequest, OnUse};
use weakly::concurrent::WeakSet;
use weakly::{AttributeKey, Attributes, Memo, Strong};

use crate::common::instalments::{self, MANY, each_takes_its_share, one_may_take_all};
use crate::common::{panics, quiet_panic, scaled};
use crate::faces::*;

for_each_collection!(each_takes_its_share, one_may_take_all);

for_each_owning!(it_destroys_what_it_counts);

for_each_owning!(
    kit: a_chain_goes_by_instalments,
    destructors_may_panic,
    small_what_is_looked_at_counts,
    threads_share_the_work,
);

/// 202: A removal that is refused takes some out.
fn it_destroys_what_it_counts<C: Shared<Life: Known> + Changing>() {
    instalments::it_destroys_what_it_counts::<C>(|all, life| {
        assert!(!all.leave_if(&life.clone().handle(), &mut || false));
    });
}

/// A collection with this many dead entries and as many live ones, whose lives are returned.
fn half_dead(kit: Kit<dyn Changing>, ends: &Ends) -> (Box<dyn Changing>, Vec<Handle>) {
    let mut lives = kit.lives(2 * MANY);
    let all = kit.of(&lives, ends);
    lives.truncate(MANY);
    (all, lives)
}

/// 187: A bucket has four to eight entries.
#[test]
fn each_sweeps_a_part() {
    instalments::each_sweeps_a_part::<WeakSet<Arc<usize>>>(|_| 2 * MANY);
}

/// 64, 66, 202: What dies of an instalment belongs to it or to the next, also if destructors ask for instalments
/// themselves, insert, and drop other lives.
fn a_chain_goes_by_instalments(kit: Kit<dyn Changing>) {
    let links = scaled(200, 30);
    let (all, count) = (Arc::<dyn Changing>::from(kit.empty()), Count::default());
    let mut head = None;
    for number in 0..links {
        let life = kit.life(number);
        let (next, this, count) = (
            Mutex::new(head.replace(life.clone())),
            Arc::downgrade(&all),
            count.clone(),
        );
        let ends: Ends = Arc::new(move |number| {
            count.add();
            drop(next.lock().unwrap().take());
            let all = this.upgrade().expect("it is there");
            assert!(all.purge_some(2) <= 2);
            all.enter(&kit.life(links + number), &quietly());
        });
        all.enter(&life, &ends);
    }
    drop(head);
    while all.len_live() + count.get() < links || all.len() + all.pending_dead() != 0 {
        assert!(all.purge_some(3) <= 3);
    }
    assert_eq!((count.get(), all.purge_some(3)), (links, 0));
}

/// 182, 202: Destructors that panic cost no other of their instalment its turn, and the next goes on.
fn destructors_may_panic(kit: Kit<dyn Changing>) {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let counts = count.clone();
        let bomb: Ends = Arc::new(move |_| {
            counts.add();
            quiet_panic();
        });
        let (all, _lives) = half_dead(kit, &bomb);
        all.set_reclaim(reclaim);
        while count.get() < MANY {
            let before = count.get();
            let panicked = panics(|| _ = all.purge_some(10));
            let gone = count.get() - before;
            assert!(gone <= 10 && panicked == (gone != 0));
            assert!(gone == 10 || !kit.notifies);
        }
        assert_eq!(all.counts(), (MANY, MANY, 0));
        all.set_reclaim(OnRequest);
        assert!(panics(|| drop(all)));
    }
}

/// 185, 202: What a thread is looking at goes when it leaves; on request it is kept then, and counts again. Nothing is
/// missed by who asks until there is nothing left.
fn small_what_is_looked_at_counts(kit: Kit<dyn Changing>) {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let mut lives = kit.lives(25);
        let all = kit.of(&lives, &count.ends());
        all.set_reclaim(reclaim);
        let looked_at = lives.pop().unwrap();
        let (entered, enters) = channel();
        let (leave, left) = channel();
        let all_of_them = || {
            let mut purged = 0;
            // More than a pass over this small table.
            for _ in 0..100 {
                purged += all.purge_some(4);
            }
            purged
        };
        thread::scope(|scope| {
            let (all, looked_at) = (&all, &looked_at);
            scope.spawn(move || {
                all.leave_if(looked_at, &mut || {
                    entered.send(()).unwrap();
                    left.recv().unwrap();
                    false
                });
            });
            enters.recv().unwrap();
            lives.clear();
            assert_eq!((all_of_them(), count.get()), (24, 0));
            assert_eq!(all.counts(), (1, 1, 24));
            leave.send(()).unwrap();
        });
        let kept = if reclaim == OnRequest { 24 } else { 0 };
        assert_eq!(all.pending_dead(), kept);
        assert_eq!((all_of_them(), count.get()), (kept, 24));
        assert_eq!(all.counts(), (1, 1, 0));
    }
}

/// 71, 202: Of threads that purge at once, each entry is destroyed and counted by one.
fn threads_share_the_work(kit: Kit<dyn Changing>) {
    let count = Count::default();
    let (all, _lives) = half_dead(kit, &count.ends());
    let purged: usize = thread::scope(|scope| {
        let work = || {
            let mut purged = 0;
            while count.get() < MANY {
                purged += all.purge_some(5);
            }
            purged
        };
        let workers = [(); 3].map(|()| scope.spawn(work));
        workers.map(|worker| worker.join().unwrap()).iter().sum()
    });
    assert_eq!((purged, count.get()), (MANY, MANY));
    assert_eq!(all.counts(), (MANY, MANY, 0));
}

/// 202: What is made of these collections has it too: there an entry is all that an object has.
#[test]
fn attributes_and_memos() {
    struct Name;
    impl AttributeKey for Name {
        type Value = usize;
    }
    let objects: Vec<_> = (0..10).map(Strong::new).collect();
    let (attributes, memo) = (Attributes::new(), Memo::<Strong<usize>, usize>::new());
    for object in &objects {
        attributes.insert(object, Name, 1);
        memo.get_or_compute(object, |_| 1);
    }
    drop(objects);
    let purges: [&dyn Fn() -> usize; 2] = [&|| attributes.purge_some(4), &|| memo.purge_some(4)];
    for purge in purges {
        assert_eq!([(); 4].map(|()| purge()), [4, 4, 2, 0]);
    }
    assert_eq!((attributes.pending_dead(), memo.pending_dead()), (0, 0));
}
