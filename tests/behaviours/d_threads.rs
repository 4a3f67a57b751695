//! D. The queue of dead entries, with deaths on other threads (items 70, 73, 74), and the rest of C (55).
//!
//! 70 (a push while a drain runs) and 55 are loom models, beside the code that they check; here they run on real
//! threads. 71 (two threads drain at once) does not compile: draining takes `&mut` (see `src/compile_fail`).

use std::any::Any;
use std::cell::RefCell;
use std::sync::{Barrier, Mutex};
use std::thread;

use weakly::{Strong, WeakMap, WeakSet};

use crate::collections::*;
use crate::common::{Counter, scaled, sized};

for_each_shared!(
    deaths_during_a_drain_are_seen_by_this_one_or_the_next,
    a_life_may_end_while_its_thread_exits,
);

/// A collection with an entry for each life.
fn of<C: Single<Life: Known> + 'static>(lives: &[C::Life], ends: &Ends) -> Box<dyn Collection> {
    Box::new(C::of(lives, ends))
}

/// D70: Deaths on other threads while the collection drains: what each entry owns is dropped once, on the
/// collection's own thread, and none is lost.
fn deaths_during_a_drain_are_seen_by_this_one_or_the_next<C>()
where
    C: Single<Life: Known + Send> + 'static,
{
    let counter = Counter::default(); // not `Send`: the compiler checks that owned values stay here
    let is_fast = C::OWNS && !C::BY_CONTENT && !cfg!(debug_assertions);
    let entries = scaled(if is_fast { 20_000 } else { 4_000 }, 60);
    let lives = new_lives::<C::Life>(entries);
    let mut all = of::<C>(&lives, &counted(&counter));
    drains_while_all_die(&mut *all, lives);
    let left = (counter.get(), all.len(), all.pending_dead());
    assert_eq!(left, (C::owned(entries), 0, 0));
}

fn drains_while_all_die<L: Send>(all: &mut dyn Collection, mut lives: Vec<L>) {
    let barrier = Barrier::new(3);
    let half = lives.split_off(lives.len() / 2);
    thread::scope(|scope| {
        for half in [lives, half] {
            let barrier = &barrier;
            scope.spawn(move || {
                barrier.wait();
                drop(half);
            });
        }
        barrier.wait();
        let mut left = all.len();
        while left > 0 {
            all.purge();
            assert!(all.len() <= left, "only deaths happen");
            left = all.len();
            thread::yield_now();
        }
    });
    all.purge();
}

/// C55: A lookup during the death of its key gets a working strong handle, or nothing.
#[test]
fn a_lookup_racing_a_death_gets_a_live_key_or_none() {
    for _ in 0..sized(2_000, 400, 20) {
        let key = Strong::new(7_usize);
        let weak = Strong::downgrade(&key);
        let map = WeakMap::from([(&key, 7_usize)]);
        thread::scope(|scope| {
            scope.spawn(move || drop(key));
            while let Some((key, value)) = map.get_key_value(&weak) {
                assert_eq!((*key, *value), (7, 7));
            }
            assert!(map.get_key_value(&weak).is_none(), "dead is dead");
        });
        assert_eq!(map.len(), 0);
    }
}

/// D73: An object that dies with its thread, in the destructor of a thread-local, sends its notice.
fn a_life_may_end_while_its_thread_exits<C>()
where
    C: Single<Life: Known + Send> + 'static,
{
    let lives = new_lives::<C::Life>(100);
    all_end_with_a_thread(of::<C>(&lives, &quietly()), lives, C::notified(100));
}

fn all_end_with_a_thread<L: Send + 'static>(
    mut all: Box<dyn Collection>,
    lives: Vec<L>,
    notified: usize,
) {
    thread_local! {
        static HELD: RefCell<Option<Box<dyn Any>>> = const { RefCell::new(None) };
    }
    thread::spawn(move || HELD.set(Some(Box::new(lives))))
        .join()
        .unwrap();
    assert_eq!((all.len_live(), all.pending_dead()), (0, notified));
    assert_eq!(all.len(), 100 - notified);
    all.purge();
    assert_eq!((all.len(), all.pending_dead()), (0, 0));
}

/// D73: A map may die so too, with its keys alive elsewhere.
#[test]
fn a_map_may_die_while_its_thread_exits() {
    thread_local! {
        static SEEN: RefCell<WeakSet<Strong<usize>>> = const { RefCell::new(WeakSet::new()) };
    }
    let key = Strong::new(1_usize);
    thread::scope(|scope| {
        // Joined by hand: the end of a scope does not wait for the destructors of thread-locals.
        let seen = scope.spawn(|| SEEN.with_borrow_mut(|seen| seen.insert(&key)));
        assert!(seen.join().unwrap());
    });
    assert_eq!(Strong::weak_count(&key), 0);
}

/// D74: A death while this very thread has locked the map does not wait for the lock.
#[test]
fn a_death_under_the_lock_of_the_map_does_not_wait() {
    let map = Mutex::new(WeakMap::<_, usize>::new());
    let [a, b] = [1_usize, 2].map(Strong::new);
    let mut locked = map.lock().unwrap();
    locked.insert(&a, 1);
    let waits = locked.entry(&b);
    drop(a);
    waits.or_insert(2);
    assert_eq!((locked.len(), locked.get(&b)), (1, Some(&2)));
}
