//! Purges in instalments.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};
use std::thread;

use weakly::Reclaim::{OnRequest, OnUse};
use weakly::concurrent::WeakSet;
use weakly::{AttributeKey, Attributes, Memo, Strong};

use crate::common::{panics, quiet_panic, scaled};
use crate::faces::*;

for_each_collection!(each_takes_its_share);

for_each_owning!(
    it_destroys_what_it_counts,
    a_chain_goes_by_instalments,
    destructors_may_panic,
    small_what_is_looked_at_counts,
    threads_share_the_work,
);

const MANY: usize = scaled(1_000, 50);

/// A collection with this many dead entries and as many live ones, whose lives are returned.
fn half_dead<C: Shared>(ends: &Ends) -> (C, Vec<C::Life>) {
    let mut lives = new_lives::<C::Life>(2 * MANY);
    let all = C::of(&lives, ends);
    lives.truncate(MANY);
    (all, lives)
}

/// 61, 202: Each takes its share, until nothing is left; what lives stays.
fn each_takes_its_share<C: Shared>() {
    for reclaim in [OnUse, OnRequest] {
        let (all, lives) = half_dead::<C>(&quietly());
        all.set_reclaim(reclaim);
        let before = all.counts();
        assert_eq!((all.purge_some(0), all.counts()), (0, before));
        let mut left = MANY;
        // Where deaths are not notified, an instalment may find none on its way.
        while left != 0 {
            let purged = all.purge_some(7);
            assert!(purged <= 7);
            left -= purged;
            if C::NOTIFIES {
                assert_eq!(purged, 7.min(left + purged));
                assert_eq!(all.counts(), (MANY, MANY, left));
            }
            assert_eq!((all.len_live(), all.reclaim()), (MANY, reclaim));
        }
        assert_eq!(all.counts(), (MANY, MANY, 0));
        assert_eq!((all.purge_some(7), all.purge_some(usize::MAX)), (0, 0));
        assert!(lives.iter().all(|life| all.has(life)));
    }
    let empty = C::default();
    assert_eq!((empty.purge_some(1), empty.counts()), (0, (0, 0, 0)));
}

/// 39, 185, 202: What it returns is how many it has destroyed, of those that are dead and those that are kept.
fn it_destroys_what_it_counts<C: Changing>() {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let (all, lives) = half_dead::<C>(&count.ends());
        all.set_reclaim(reclaim);
        // Takes some out.
        all.leave_if(&lives[0], || false);
        let mut gone = count.get();
        while gone < MANY {
            gone += all.purge_some(30);
            assert_eq!(count.get(), gone);
        }
        assert_eq!((gone, all.purge_some(1)), (MANY, 0));
    }
}

/// 64, 66, 202: What dies of an instalment belongs to it or to the next, also if destructors ask for instalments
/// themselves, insert, and drop other lives.
fn a_chain_goes_by_instalments<C: Changing>() {
    let links = scaled(200, 30);
    let (all, count) = (Arc::new(C::default()), Count::default());
    let mut head = None;
    for number in 0..links {
        let life = C::Life::from(number);
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
            all.enter(&(links + number).into(), &quietly());
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
fn destructors_may_panic<C: Changing>() {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let counts = count.clone();
        let bomb: Ends = Arc::new(move |_| {
            counts.add();
            quiet_panic();
        });
        let (all, _lives) = half_dead::<C>(&bomb);
        all.set_reclaim(reclaim);
        while count.get() < MANY {
            let before = count.get();
            let panicked = panics(|| _ = all.purge_some(10));
            let gone = count.get() - before;
            assert!(gone <= 10 && panicked == (gone != 0));
            assert!(gone == 10 || !C::NOTIFIES);
        }
        assert_eq!(all.counts(), (MANY, MANY, 0));
        all.set_reclaim(OnRequest);
        assert!(panics(|| drop(all)));
    }
}

/// 185, 202: What a thread is looking at goes when it leaves; on request it is kept then, and counts again. Nothing is
/// missed by who asks until there is nothing left.
fn small_what_is_looked_at_counts<C: Changing>() {
    for reclaim in [OnUse, OnRequest] {
        let count = Count::default();
        let mut lives = new_lives::<C::Life>(25);
        let all = C::of(&lives, &count.ends());
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
                all.leave_if(looked_at, || {
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
fn threads_share_the_work<C: Changing>() {
    let count = Count::default();
    let (all, _lives) = half_dead::<C>(&count.ends());
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

/// 61, 187: Of handles that do not notify, it looks at a bounded part of the table, and the next at the next part.
#[test]
fn each_sweeps_a_part() {
    let lives: Vec<Arc<usize>> = new_lives(8 * MANY);
    let all: WeakSet<_> = lives.iter().collect();
    let mut calls = 0;
    for life in lives.into_iter().take(10) {
        drop(life);
        let before = calls;
        while all.purge_some(1) == 0 {
            calls += 1;
        }
        assert!(calls - before <= 8 * MANY);
    }
    assert!(calls > MANY / 2, "{calls}");
}
