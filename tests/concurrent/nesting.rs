//! Purges, and other operations, in destructors that purges of the same and of other collections run.

use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex};

use weakly::Reclaim;

use crate::common::nested::inside_purges;
use crate::common::{on_a_stack_of, scaled, sized};
use crate::faces::*;

for_each_collection!(kit: a_purge_takes_all_deep_in_purges_of_others);
for_each_owning!(
    kit: a_purge_says_whether_something_is_left,
    a_chain_through_several_collections,
);

/// More than drains of one collection may nest.
const DEEP: usize = 40;

/// 257: However a purge is done, and under either policy.
fn a_purge_takes_all_deep_in_purges_of_others(kit: Kit) {
    let ways: [fn(Kit, &dyn Collection) -> bool; 3] = [
        |_, all| all.purge(),
        |_, all| {
            while all.purge_some(100) != 0 {}
            false
        },
        |kit, all| {
            // Removes them without a destructor of theirs, and the next takes what that has left.
            all.set_reclaim(Reclaim::OnRequest);
            all.enter(&kit.life(99), &quietly());
            all.purge()
        },
    ];
    for way in ways {
        let count = Count::default();
        let all = Arc::<dyn Collection>::from(kit.empty());
        let lives = kit.lives(50);
        for life in &lives {
            all.enter(life, &count.ends());
        }
        inside_purges(DEEP, {
            let all = all.clone();
            move || {
                drop(lives);
                assert!(!way(kit, &*all));
                assert_eq!(all.counts(), (0, 0, 0));
            }
        });
        assert_eq!((all.counts(), count.get()), ((0, 0, 0), kit.owned(50)));
    }
}

/// 257: Of one collection, the purges that nest too deep leave what is dead to the outer ones, and say so.
fn a_purge_says_whether_something_is_left(kit: Kit<dyn Changing>) {
    const LINKS: usize = 60;
    let (all, count) = (Arc::<dyn Changing>::from(kit.empty()), Count::default());
    let (depth, said) = (
        Arc::new(AtomicUsize::new(0)),
        Arc::new(Mutex::new(Vec::new())),
    );
    let mut head = None;
    for number in 0..LINKS {
        let life = kit.life(number);
        let next = Mutex::new(head.replace(life.clone()));
        let (weak, count) = (Arc::downgrade(&all), count.clone());
        let (depth, said) = (depth.clone(), said.clone());
        let ends: Ends = Arc::new(move |_| {
            count.add();
            let now = depth.fetch_add(1, SeqCst) + 1;
            let killed = next.lock().unwrap().take().is_some();
            let left = weak.upgrade().expect("it is there").purge();
            said.lock().unwrap().push((now, killed, left));
            depth.fetch_sub(1, SeqCst);
        });
        all.enter(&life, &ends);
    }
    drop(head);
    assert!(!all.purge());
    assert_eq!((count.get(), all.counts()), (LINKS, (0, 0, 0)));
    let said = said.lock().unwrap();
    let deepest = said.iter().map(|(now, ..)| *now).max();
    assert_eq!(deepest, Some(16));
    for &(now, killed, left) in &*said {
        // Of a handle that does not notify, it does not know.
        let leaves = now == 16 && (killed || !kit.notifies);
        assert_eq!(left, leaves, "{now} deep, killed: {killed}");
    }
}

/// 53: A chain that leads from one collection to the next, each of which is purged in a destructor that the one before runs.
fn a_chain_through_several_collections(kit: Kit<dyn Changing>) {
    on_a_stack_of(1 << 20, move || {
        let links = if kit.notifies {
            sized(30_000, 8_000, 20)
        } else {
            scaled(300, 20)
        };
        let count = Count::default();
        let all = Arc::new([(); 3].map(|()| kit.empty()));
        let mut head = None;
        for number in 0..links {
            let life = kit.life(number);
            let next = Mutex::new(head.replace(life.clone()));
            let (others, count) = (Arc::downgrade(&all), count.clone());
            let ends: Ends = Arc::new(move |number| {
                count.add();
                drop(next.lock().unwrap().take());
                let others = others.upgrade().expect("this thread has them");
                others[(number + 2) % 3].purge();
            });
            all[number % 3].enter(&life, &ends);
        }
        drop(head);
        assert!(!all[(links - 1) % 3].purge());
        assert_eq!(count.get(), links);
        assert!(all.iter().all(|each| each.counts() == (0, 0, 0)));
    });
}
