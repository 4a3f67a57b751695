//! loom models of the queue that any thread may drain. The table of the shared collections does not run
//! under loom: places for single entries stand for it, with the weakest orderings possible. So the models need
//! nothing of the table but that it gives each entry to one thread.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

mod allocate;
mod first;
mod stripes;
mod unowned;
mod wakers;

use core::ops::Deref;
use loom::sync::Arc;
use loom::thread;

use super::stripe::{SharedNotice, Taken};
use super::{SharedQueue, SharedWatch, SharedWatchOf, Stripe};
use crate::Strong;
use crate::hash::HashValue;
use crate::ptr::models::{Large, Maker, Payload, Thing, check};
use crate::sync::{AtomicUsize, Ordering::*, UnsafeCell};

/// An entry, and whether it is in the table.
struct Entry<T: Thing = Payload> {
    watch: SharedWatchOf<T>,
    linked: AtomicUsize,
}

/// The hash of all entries here.
const HASH: u32 = 6;

impl<T: Thing> Entry<T> {
    fn linked(key: &Strong<T>, queue: &SharedQueue) -> Self {
        let entry = Entry::new(key, queue);
        entry.link();
        entry
    }

    fn new(key: &Strong<T>, queue: &SharedQueue) -> Self {
        Entry {
            watch: SharedWatchOf::new(key, HashValue::of_short(HASH), queue),
            linked: AtomicUsize::new(0),
        }
    }

    fn watch(&self) -> &SharedWatch<T> {
        self.watch.watch()
    }

    fn link(&self) {
        self.linked.store(1, Relaxed);
    }

    fn is_linked(&self) -> bool {
        self.linked.load(Relaxed) == 1
    }

    /// Takes it out; true for one thread.
    fn unlink(&self) -> bool {
        self.linked.compare_exchange(1, 0, Relaxed, Relaxed).is_ok()
    }

    /// As a map removes it.
    fn remove(&self, queue: &SharedQueue) -> bool {
        let mine = self.unlink();
        if mine {
            self.watch().end(queue);
        }
        mine
    }
}

/// One call of `take` on this thread's own stripe.
fn take(queue: &SharedQueue, patient: bool) -> Taken<'_> {
    queue.own_or_new().take(patient)
}

/// A map with `N` places.
struct Map<const N: usize, T: Thing = Payload> {
    entries: [Entry<T>; N],
    queue: SharedQueue,
}

impl<const N: usize, T: Thing> Map<N, T> {
    fn of(keys: [&Strong<T>; N]) -> Arc<Self> {
        let queue = SharedQueue::new();
        let entries = keys.map(|key| Entry::linked(key, &queue));
        Arc::new(Map { entries, queue })
    }

    /// One call of `take` on this thread's own stripe, as in the table. Returns how many entries it unlinked.
    fn drain(&self, patient: bool) -> usize {
        self.reclaim(take(&self.queue, patient))
    }

    fn reclaim(&self, taken: Taken<'_>) -> usize {
        let mut reclaimed = 0;
        for notice in taken {
            assert_eq!(notice.hash().short(), HASH);
            let hook = notice.hook();
            // (It does not load `linked` first: see `sync` for what that would hide.)
            let named = |entry: &&Entry<T>| entry.watch().is_named_by(hook) && entry.unlink();
            match self.entries.iter().find(named) {
                Some(entry) => {
                    entry.watch().complete();
                    reclaimed += 1;
                    notice.complete();
                }
                None => self.queue.complete_late(notice),
            }
        }
        reclaimed
    }

    /// Whether nothing is left, and all counts agree with that.
    fn is_spent(&self) -> bool {
        self.queue.is_idle()
            && self.queue.late.load(Relaxed) == 0
            && self.queue.stripes().all(|stripe| stripe.owed() == 0)
    }
}

/// As a table ends the entries that it has at its end (S4).
impl<const N: usize, T: Thing> Drop for Map<N, T> {
    fn drop(&mut self) {
        for entry in &self.entries {
            entry.watch().end(&self.queue);
        }
    }
}

/// A map with one place.
impl<T: Thing> Deref for Map<1, T> {
    type Target = Entry<T>;

    fn deref(&self) -> &Entry<T> {
        &self.entries[0]
    }
}

/// A model of one object, and a map with it in each place.
fn check_map<const N: usize>(model: impl Fn(Strong<Payload>, Arc<Map<N>>) + Send + Sync + 'static) {
    check(1, move |maker| {
        let key = maker.object();
        let map = Map::of([&key; N]);
        model(key, map);
    });
}

/// A model of a map with two objects, the first of which is dead.
fn check_late(model: impl Fn(Strong<Payload>, Arc<Map<2>>) + Send + Sync + 'static) {
    check(2, move |maker| {
        let [early, late] = [maker.object(), maker.object()];
        let map = Map::of([&early, &late]);
        drop(early);
        model(late, map);
    });
}

/// Runs `act` with the map on another thread.
fn with<const N: usize, T: Thing, R: 'static>(
    map: &Arc<Map<N, T>>,
    act: impl FnOnce(&Map<N, T>) -> R + 'static,
) -> thread::JoinHandle<R> {
    let map = map.clone();
    thread::spawn(move || act(&map))
}

fn drainer<const N: usize, T: Thing>(
    map: &Arc<Map<N, T>>,
    patient: bool,
) -> thread::JoinHandle<usize> {
    with(map, move |map| map.drain(patient))
}

#[test]
fn two_drainers_against_a_death() {
    check_map::<1>(|key, map| {
        let death = thread::spawn(move || drop(key));
        let drainer = drainer(&map, false);
        let mut reclaimed = map.drain(false);
        death.join().unwrap();
        reclaimed += drainer.join().unwrap();
        reclaimed += map.drain(true);
        assert_eq!(reclaimed, 1, "each notice once");
        assert!(map.is_spent());
    });
}

/// Two notices that are there already go to two drainers, one of which waits for the lock.
#[test]
fn two_drainers_take_turns() {
    check(2, |maker| {
        let keys = [maker.object(), maker.object()];
        let map = Map::of(keys.each_ref());
        drop(keys);
        let drainer = drainer(&map, true);
        let reclaimed = map.drain(true);
        assert_eq!(reclaimed + drainer.join().unwrap(), 2);
        assert!(map.is_spent());
    });
}

/// S2: a thread that reuses the memory of a dead key checks whether the queue is idle, and then looks: it finds no
/// entry for the dead key; or the queue was not idle, and then the entry itself shows that it is stale.
#[test]
fn the_next_at_an_address_does_not_find_the_dead() {
    check(1, |maker| {
        let key: Strong<Large> = maker.large();
        let map = Map::of([&key]);
        let (block, addr) = (key.block(), Strong::as_ptr(&key).cast());
        let death = thread::spawn(move || drop(key));
        let drainer = drainer(&map, false);
        if block.payload_is_freed() {
            let idle = map.queue.is_idle();
            if map.is_linked() {
                assert!(!idle, "found");
                assert!(map.watch().is_notified());
                assert!(!map.watch().block().is_at(addr));
            }
        }
        death.join().unwrap();
        drainer.join().unwrap();
        map.drain(true);
        assert!(map.is_spent() && !map.is_linked());
    });
}

/// S2: after an entry has shown that its object is dead, an idle queue does not contradict it.
#[test]
fn what_is_notified_stays_so() {
    check_late(|late, map| {
        let death = thread::spawn(move || drop(late));
        if map.entries[1].watch().is_notified() {
            map.drain(true);
            let idle = map.queue.is_idle();
            assert!(!(idle && map.entries[1].is_linked()), "found again");
        }
        death.join().unwrap();
        map.drain(true);
        assert!(map.is_spent());
    });
}

/// S2: the reclamation of a later death does not stand for that of an earlier one.
#[test]
fn a_later_reclamation_does_not_stand_for_an_earlier_death() {
    check_late(|late, map| {
        let other = with(&map, |map| {
            drop(late);
            map.drain(true)
        });
        let idle = map.queue.is_idle();
        assert!(!(idle && map.entries[0].is_linked()), "found");
        assert_eq!(other.join().unwrap(), 2);
        assert!(map.is_spent());
    });
}

/// S2: nor if another thread pushes the later death's notice, and a third drains it first: a notice is counted
/// before it is there.
#[test]
fn a_reclamation_comes_after_its_push() {
    check_late(|late, map| {
        let death = thread::spawn(move || drop(late));
        let drainer = drainer(&map, true);
        let idle = map.queue.is_idle();
        assert!(!(idle && map.entries[0].is_linked()), "found");
        death.join().unwrap();
        assert_eq!(drainer.join().unwrap() + map.drain(true), 2);
        assert!(map.is_spent());
    });
}

#[test]
fn the_end_of_a_watch_against_a_death_and_a_drainer() {
    check_map::<1>(|key, map| {
        let death = thread::spawn(move || drop(key));
        let drainer = drainer(&map, false);
        let removed = map.remove(&map.queue);
        death.join().unwrap();
        let reclaimed = drainer.join().unwrap() + map.drain(true);
        assert_eq!(usize::from(removed) + reclaimed, 1, "one thread has it");
        assert_eq!(map.queue.notified(), 0);
        assert!(map.is_spent());
    });
}

/// The same with two registrations of one object, as of two entries with one value: the notice of one may be
/// drained, and its hook freed, before the death has pushed the other.
#[test]
fn the_end_of_a_watch_between_two_notices() {
    check_map::<2>(|key, map| {
        let death = thread::spawn(move || drop(key));
        let drainer = drainer(&map, false);
        let further = &map.entries[1];
        let removed = further.remove(&map.queue);
        assert!(!removed || further.watch().was_notified());
        death.join().unwrap();
        let reclaimed = drainer.join().unwrap() + map.drain(true);
        assert_eq!(usize::from(removed) + reclaimed, 2);
        assert_eq!(map.queue.notified(), 0);
        assert!(map.is_spent());
    });
}

/// A watch is asked whether its notice has been pushed while another thread drains it.
#[test]
fn a_watch_is_asked_between_two_notices() {
    check_map::<2>(|key, map| {
        let death = thread::spawn(move || drop(key));
        let drainer = drainer(&map, false);
        let further = &map.entries[1];
        if !further.is_linked() {
            assert!(further.watch().was_notified());
        }
        further.watch().was_notified();
        death.join().unwrap();
        assert!(further.watch().was_notified());
        assert_eq!(drainer.join().unwrap() + map.drain(true), 2);
        assert!(map.is_spent());
    });
}

/// S3: a registration ends once, whichever thread has unlinked its entry; by a first hook and by a further one.
#[test]
fn two_threads_remove_an_entry() {
    for index in [0, 1] {
        check_map::<2>(move |key, map| {
            map.entries[1 - index].remove(&map.queue);
            let other = with(&map, move |map| map.entries[index].remove(&map.queue));
            let mine = map.entries[index].remove(&map.queue);
            assert!(mine != other.join().unwrap());
            assert_eq!(Strong::weak_count(&key), 2, "the watches' own references");
            drop(key);
            assert!(map.is_spent(), "no notice comes");
        });
    }
}

/// S3: a watch whose notice has been drained expects no late one.
#[test]
fn a_completed_watch_is_not_late() {
    check(1, |maker| {
        let key = maker.object();
        let queue = SharedQueue::new();
        let watch = SharedWatch::new(&key, HashValue::of_short(HASH), &queue);
        drop(key);
        for notice in take(&queue, true) {
            assert!(watch.is_named_by(notice.hook()));
            watch.complete();
            notice.complete();
        }
        drop(watch);
        assert_eq!(queue.late.load(Relaxed), 0);
        assert!(queue.is_idle());
    });
}

/// S3: a thread that has found an entry may ask and upgrade it while it is reclaimed.
#[test]
fn a_reader_against_a_death_and_its_reclamation() {
    check_map::<1>(|key, map| {
        let other = with(&map, |map| {
            drop(key);
            map.drain(true)
        });
        if map.is_linked() {
            let read = |key: Strong<Payload>| key.read();
            map.watch.upgrade().map(read);
            assert!(!map.watch().is_notified() || map.watch().is_expired());
            map.watch.downgrade().upgrade().map(read);
        }
        // Our strong pointer may have been the last.
        let reclaimed = other.join().unwrap() + map.drain(true);
        assert_eq!(reclaimed, 1);
        assert!(map.is_spent());
    });
}

/// A map is dropped while its key dies; the key is in it once, or twice.
#[test]
fn a_death_against_the_drop_of_the_queue() {
    fn check<const N: usize>() {
        check_map::<N>(|key, map| {
            let death = thread::spawn(move || drop(key));
            drop(map);
            death.join().unwrap();
        });
    }
    check::<1>();
    check::<2>();
}

/// The same after another thread has removed the entry.
#[test]
fn a_death_against_the_drop_of_a_queue_that_another_thread_has_used() {
    check_map::<1>(|key, map| {
        let death = thread::spawn(move || drop(key));
        let other = with(&map, |map| {
            map.remove(&map.queue);
            map.drain(false);
        });
        // The last thread drops the queue.
        drop(map);
        death.join().unwrap();
        other.join().unwrap();
    });
}

/// S4: the deaths of leaked watches come after the queue, whose stack waits for them.
#[test]
fn deaths_of_leaked_watches_against_the_drop_of_the_queue() {
    check(1, |maker| {
        let key = maker.object();
        let queue = SharedQueue::new();
        for _ in 0..2 {
            let watch = SharedWatch::new(&key, HashValue::of_short(HASH), &queue);
            // (It owns nothing but its reference.)
            watch.complete();
            core::mem::drop(watch);
        }
        let death = thread::spawn(move || drop(key));
        drop(queue);
        death.join().unwrap();
    });
}

/// A shared map and one with a single owner watch one object.
#[test]
fn a_shared_map_beside_another() {
    use crate::ptr::models::Map as Single;
    check(1, |maker| {
        let key = maker.object();
        let mut single = Single::of(&[&key]);
        let again = key.clone();
        let other = thread::spawn(move || {
            let map = Map::of([&again]);
            drop(again);
            map.drain(true);
        });
        single.remove(0);
        drop(key);
        other.join().unwrap();
    });
}
