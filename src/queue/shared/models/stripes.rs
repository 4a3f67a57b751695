//! S2 with two stripes: threads of one keep busy, drain and check what is registered with the other.

use super::unowned::{insert_what_may_have_died, look_after_the_death};
use super::*;
use crate::thread::ThreadNumber;

/// Takes everything that is due, as a purge does.
fn drain_all<const N: usize>(map: &Map<N>) -> usize {
    let mut reclaimed = 0;
    while let Some(stripe) = map.queue.due() {
        reclaimed += map.reclaim(stripe.take(true));
    }
    reclaimed
}

/// A reclamation on one stripe does not stand for a death on the other.
#[test]
fn a_reclamation_on_one_stripe_is_none_on_the_other() {
    for number in [0, 1] {
        check(2, move |maker| {
            let [early, late] = [maker.object(), maker.object()];
            let queue = SharedQueue::new();
            ThreadNumber::set(number);
            let first = Entry::linked(&early, &queue);
            ThreadNumber::set(1 - number);
            let entries = [first, Entry::linked(&late, &queue)];
            let map = Arc::new(Map { entries, queue });
            drop(early);
            let other = thread::spawn({
                let map = map.clone();
                move || {
                    ThreadNumber::set(1 - number);
                    drop(late);
                    drain_all(&map)
                }
            });
            let idle = map.queue.is_idle();
            assert!(!(idle && map.entries[0].is_linked()), "found");
            assert_eq!(other.join().unwrap() + drain_all(&map), 2);
            assert!(map.is_spent());
        });
    }
}

/// A thread keeps one stripe busy while it inserts an entry that is registered with the other; a thread that has
/// seen the death sees that.
#[test]
fn one_stripe_is_kept_busy_and_a_notice_comes_on_the_other() {
    for number in [0, 1] {
        check(1, move |maker| {
            let object = maker.object();
            let queue = SharedQueue::new();
            ThreadNumber::set(number);
            let entries = [Entry::new(&object, &queue)];
            let map = Arc::new(Map { entries, queue });
            let other = thread::spawn({
                let map = map.clone();
                move || {
                    ThreadNumber::set(1 - number);
                    insert_what_may_have_died(&map, &map.entries[0]);
                }
            });
            drop(object);
            let entry = look_after_the_death(&map);
            other.join().unwrap();
            drain_all(&map);
            assert!(!entry.is_linked() && map.queue.is_idle());
        });
    }
}
