//! loom models of the queue that any thread may drain. The table of the shared collections does not run
//! under loom: a place for one entry stands for it, with the weakest orderings that there are, so that
//! what is shown here needs nothing of the table but that it gives an entry to one.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

use core::ops::Deref;
use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::Strong;
use crate::ptr::Header;

/// An entry, and whether it is in the table.
struct Entry {
    tie: TieTo<u8>,
    linked: AtomicUsize,
}

impl Entry {
    fn linked(key: &Strong<u8>, queue: &SharedQueue) -> Self {
        let entry = Entry::new(key, queue);
        entry.link();
        entry
    }

    fn new(key: &Strong<u8>, queue: &SharedQueue) -> Self {
        Entry {
            tie: TieTo::new(key, 0, queue),
            linked: AtomicUsize::new(0),
        }
    }

    fn link(&self) {
        self.linked.store(1, Relaxed);
    }

    fn is_linked(&self) -> bool {
        self.linked.load(Relaxed) == 1
    }

    /// Takes it out; true for one.
    fn unlink(&self) -> bool {
        self.linked.compare_exchange(1, 0, Relaxed, Relaxed).is_ok()
    }

    /// As a map removes it.
    fn remove(&self) -> bool {
        let mine = self.unlink();
        if mine {
            self.tie.tie().end();
        }
        mine
    }
}

/// A map with so many places.
struct Map<const N: usize> {
    // Dropped before the queue (Q4).
    entries: [Entry; N],
    queue: SharedQueue,
}

impl<const N: usize> Map<N> {
    fn of(keys: [&Strong<u8>; N]) -> Arc<Self> {
        let queue = SharedQueue::new();
        let entries = keys.map(|key| Entry::linked(key, &queue));
        Arc::new(Map { entries, queue })
    }

    /// One turn, as the table does it. Says how many entries it has unlinked.
    fn drain(&self, patient: bool) -> usize {
        let mut buried = 0;
        for notice in self.queue.take(patient) {
            assert_eq!(notice.hash(), 0);
            let hook = notice.hook();
            // (Whether it is linked is not asked first: see `sync` for what that would hide.)
            let named = |entry: &&Entry| entry.tie.tie().is_named_by(hook) && entry.unlink();
            match self.entries.iter().find(named) {
                Some(entry) => {
                    entry.tie.tie().settle();
                    buried += 1;
                    notice.bury();
                }
                None => notice.bury_orphan(),
            }
        }
        buried
    }

    /// Nothing is left, and nothing is counted that is not there.
    fn is_spent(&self) -> bool {
        let shared = self.queue.shared();
        self.queue.is_idle()
            && shared.orphans.load(Relaxed) == 0
            && shared.registered.load(Relaxed) == 0
    }
}

/// One place.
impl Deref for Map<1> {
    type Target = Entry;

    fn deref(&self) -> &Entry {
        &self.entries[0]
    }
}

#[test]
fn two_drainers_against_a_death() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let death = thread::spawn(move || drop(key));
        let drainer = thread::spawn({
            let map = map.clone();
            move || map.drain(false)
        });
        let mut buried = map.drain(false);
        death.join().unwrap();
        buried += drainer.join().unwrap();
        buried += map.drain(true);
        assert_eq!(buried, 1, "each notice once");
        assert!(map.is_spent());
    });
}

/// Two notices that are there already go to two drainers, one of which waits for its turn.
#[test]
fn two_drainers_take_turns() {
    loom::model(|| {
        let keys = [1, 2].map(Strong::new);
        let map = Map::of(keys.each_ref());
        drop(keys);
        let drainer = thread::spawn({
            let map = map.clone();
            move || map.drain(true)
        });
        let buried = map.drain(true);
        assert_eq!(buried + drainer.join().unwrap(), 2);
        assert!(map.is_spent());
    });
}

/// Q2: Who gets the memory of a dead key, asks whether the queue is idle, and then looks, finds no entry
/// of the dead; or the queue was not idle, and then the entry says itself that it is stale.
#[test]
fn the_next_at_an_address_does_not_find_the_dead() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let payload = key.payload();
        let death = thread::spawn(move || drop(key));
        let drainer = thread::spawn({
            let map = map.clone();
            move || map.drain(false)
        });
        // SAFETY: the payload of an object.
        if unsafe { Header::<Atomic>::has_gone(payload) } {
            let idle = map.queue.is_idle();
            if map.is_linked() {
                assert!(!idle, "found");
                assert!(map.tie.tie().is_announced());
            }
        }
        death.join().unwrap();
        drainer.join().unwrap();
        map.drain(true);
        assert!(map.is_spent() && !map.is_linked());
    });
}

/// Q2: The burial of a death that comes later does not stand for that of an earlier one.
#[test]
fn a_later_burial_does_not_stand_for_an_earlier_death() {
    loom::model(|| {
        let [early, late] = [1, 2].map(Strong::new);
        let map = Map::of([&early, &late]);
        drop(early);
        let other = thread::spawn({
            let map = map.clone();
            move || {
                drop(late);
                map.drain(true)
            }
        });
        let idle = map.queue.is_idle();
        assert!(!(idle && map.entries[0].is_linked()), "found");
        assert_eq!(other.join().unwrap(), 2);
        assert!(map.is_spent());
    });
}

/// Q2: Nor does that of a later death which another thread announces, and a third works off first: a notice
/// is counted before it is there.
#[test]
fn a_burial_comes_after_its_push() {
    loom::model(|| {
        let [early, late] = [1, 2].map(Strong::new);
        let map = Map::of([&early, &late]);
        drop(early);
        let death = thread::spawn(move || drop(late));
        let drainer = thread::spawn({
            let map = map.clone();
            move || map.drain(true)
        });
        let idle = map.queue.is_idle();
        assert!(!(idle && map.entries[0].is_linked()), "found");
        death.join().unwrap();
        assert_eq!(drainer.join().unwrap() + map.drain(true), 2);
        assert!(map.is_spent());
    });
}

#[test]
fn the_end_of_a_tie_against_a_death_and_a_drainer() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let death = thread::spawn(move || drop(key));
        let drainer = thread::spawn({
            let map = map.clone();
            move || map.drain(false)
        });
        let removed = map.remove();
        death.join().unwrap();
        let buried = drainer.join().unwrap() + map.drain(true);
        assert_eq!(usize::from(removed) + buried, 1, "one has it");
        assert_eq!(map.queue.announced(), 0);
        assert!(map.is_spent());
    });
}

/// Q3: A tie ends once, whoever ends it.
#[test]
fn two_end_a_tie_at_once() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let other = thread::spawn({
            let map = map.clone();
            move || map.tie.tie().end()
        });
        map.tie.tie().end();
        other.join().unwrap();
        assert_eq!(Strong::weak_count(&key), 1, "the tie's own reference");
        drop(key);
        assert!(map.is_spent(), "nobody is told");
    });
}

/// Q3: The same if one of them has its notice.
#[test]
fn a_tie_is_settled_while_another_ends_it() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        drop(key);
        let other = thread::spawn({
            let map = map.clone();
            move || map.tie.tie().end()
        });
        for notice in map.queue.take(true) {
            map.tie.tie().settle();
            notice.bury();
        }
        other.join().unwrap();
        let registered = map.queue.shared().registered.load(Relaxed);
        assert_eq!(registered, 0, "counted off once");
    });
}

/// Q3: Who has found an entry may ask it, and upgrade it, while it is buried.
#[test]
fn a_reader_against_a_death_and_its_burial() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let other = thread::spawn({
            let map = map.clone();
            move || {
                drop(key);
                map.drain(true)
            }
        });
        if map.is_linked() {
            let tie = &map.tie;
            assert!(tie.upgrade().is_none_or(|key| *key == 1));
            assert!(!tie.tie().is_announced() || tie.tie().is_expired());
            assert!(tie.downgrade().upgrade().is_none_or(|key| *key == 1));
        }
        // Our handle may have been the last.
        let buried = other.join().unwrap() + map.drain(true);
        assert_eq!(buried, 1);
        assert!(map.is_spent());
    });
}

/// A map is dropped while its key dies.
#[test]
fn a_death_against_the_drop_of_the_queue() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let death = thread::spawn(move || drop(key));
        drop(map);
        death.join().unwrap();
    });
}

/// The same when it is another who has removed the entry.
#[test]
fn a_death_against_the_drop_of_a_queue_that_another_has_used() {
    loom::model(|| {
        let key = Strong::new(1);
        let map = Map::of([&key]);
        let death = thread::spawn(move || drop(key));
        let other = thread::spawn({
            let map = map.clone();
            move || {
                map.remove();
                map.drain(false);
            }
        });
        // Whoever comes last drops the queue.
        drop(map);
        death.join().unwrap();
        other.join().unwrap();
    });
}

/// Q4: A tie that was leaked leaves its queue where a later death finds it.
#[test]
fn a_death_against_the_drop_of_the_queue_of_a_leaked_tie() {
    loom::model(|| {
        let key = Strong::new(1);
        let queue = SharedQueue::new();
        let shared = queue.shared;
        core::mem::forget(Tie::new(&key, 0, &queue));
        let death = thread::spawn(move || drop(key));
        drop(queue);
        death.join().unwrap();
        // SAFETY: leaked.
        let shared = unsafe { shared.as_ref() };
        assert!(!shared.live.has_ended());
        assert_eq!(shared.notices.pushed(), 1);
    });
}

/// An entry that is linked when its object may have died already: if its tie says after that that nothing
/// was announced, whoever gets the notice finds the entry.
#[test]
fn a_notice_that_is_still_to_come_finds_what_is_linked_before() {
    loom::model(|| {
        let key = Strong::new(1);
        let queue = SharedQueue::new();
        let entries = [Entry::new(&key, &queue)];
        let map = Arc::new(Map { entries, queue });
        let other = thread::spawn({
            let map = map.clone();
            move || {
                drop(key);
                map.drain(true)
            }
        });
        map.link();
        let announced = map.tie.tie().was_announced();
        let found = other.join().unwrap() == 1;
        assert!(found || announced, "it has come before");
        if !found {
            assert!(map.remove());
        }
        assert!(map.is_spent());
    });
}

/// An entry is put in that depends on an object which nobody holds: as a memo puts in what it has computed.
fn put_in_what_may_have_died<const N: usize>(map: &Map<N>, entry: &Entry) {
    let held = map.queue.hold();
    if !entry.tie.tie().was_announced() {
        entry.link();
        if entry.tie.tie().was_announced() {
            entry.remove();
        }
    }
    drop(held);
}

/// Q2, and [`SharedQueue::hold`]: Who looks after the death, and finds nothing pending, does not find an entry
/// that has been put in meanwhile; who finds something pending is told by the entry. In the end it is gone.
#[test]
fn an_entry_that_depends_on_what_dies_meanwhile() {
    loom::model(|| {
        let object = Strong::new(1);
        let queue = SharedQueue::new();
        let entries = [Entry::new(&object, &queue)];
        let map = Arc::new(Map { entries, queue });
        let other = thread::spawn({
            let map = map.clone();
            move || put_in_what_may_have_died(&map, &map.entries[0])
        });
        drop(object);
        map.drain(true);
        let idle = map.queue.is_idle();
        let entry = &map.entries[0];
        if entry.is_linked() {
            assert!(!idle, "a dead one's entry seems fresh");
            assert!(entry.tie.tie().is_announced());
        }
        other.join().unwrap();
        map.drain(true);
        assert!(!entry.is_linked(), "nobody takes it out any more");
        assert!(map.queue.is_idle());
    });
}
