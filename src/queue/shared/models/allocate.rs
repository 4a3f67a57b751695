//! S5: a stripe is allocated when something is registered with it, or it is kept busy.

use super::*;

fn watch(key: &Strong<Payload>, queue: &SharedQueue) -> SharedWatch<Payload> {
    SharedWatch::new(key, HashValue::of_short(HASH), queue)
}

/// Drains what is there.
fn drain(queue: &SharedQueue) -> usize {
    take(queue, true).map(SharedNotice::complete).count()
}

/// Two threads register at once with an empty queue, and a third asks whether it is idle: all use the same
/// stripe.
#[test]
fn two_registrations() {
    check(2, |maker| {
        let keys = [maker.object(), maker.object()];
        let queue = Arc::new(SharedQueue::new());
        let threads = keys.map(|key| {
            let queue = queue.clone();
            thread::spawn(move || {
                let watch = watch(&key, &queue);
                drop(key);
                watch.complete();
            })
        });
        queue.is_idle();
        for thread in threads {
            thread.join().unwrap();
        }
        assert_eq!(queue.pending(), 2);
        assert_eq!(drain(&queue), 2);
        assert!(queue.is_idle());
    });
}

/// An empty queue is kept busy while another thread registers with it.
#[test]
fn an_empty_queue_is_kept_busy_against_a_registration() {
    check(1, |maker| {
        let key = maker.object();
        let queue = Arc::new(SharedQueue::new());
        let other = thread::spawn({
            let queue = queue.clone();
            move || {
                let watch = watch(&key, &queue);
                drop(key);
                watch.complete();
                assert!(!queue.is_idle());
            }
        });
        let busy = queue.keep_busy();
        assert!(!queue.is_idle());
        drop(busy);
        other.join().unwrap();
        assert_eq!(drain(&queue), 1);
        assert!(queue.is_idle());
    });
}

/// A thread that has seen a death and finds the queue idle does not find an entry for the dead object, though that
/// entry was the first, and nothing kept the object alive when it was inserted. (The entry is found as in the
/// table, where a release links it.)
#[test]
fn a_death_of_the_first() {
    struct World {
        queue: SharedQueue,
        entry: UnsafeCell<Option<Entry>>,
        linked: AtomicUsize,
        died: AtomicUsize,
    }
    // SAFETY: the cell is written before it is linked.
    unsafe impl Sync for World {}

    check(1, |maker| {
        let key = maker.object();
        let world = Arc::new(World {
            queue: SharedQueue::new(),
            entry: UnsafeCell::new(None),
            linked: AtomicUsize::new(0),
            died: AtomicUsize::new(0),
        });
        let other = thread::spawn({
            let (world, key) = (world.clone(), key.clone());
            move || {
                let entry = Entry::new(&key, &world.queue);
                drop(key);
                world.died.store(1, Release);
                let busy = world.queue.keep_busy();
                let mut linked = false;
                if !entry.watch().was_notified() {
                    // SAFETY: no thread reads it before it is linked.
                    world
                        .entry
                        .with_mut(|place| unsafe { *place = Some(entry) });
                    world.linked.store(1, Release);
                    linked = true;
                } else {
                    entry.watch().end(&world.queue);
                }
                drop(busy);
                linked
            }
        });
        drop(key);
        if world.died.load(Acquire) == 1 {
            // It is dead: we have seen both strong pointers go.
            let idle = world.queue.is_idle();
            if world.linked.load(Acquire) == 1 {
                assert!(!idle, "the entry of a dead object seems live");
                // SAFETY: written before it was linked.
                let entry = world.entry.with(|entry| unsafe { (*entry).as_ref() });
                assert!(entry.unwrap().watch().is_notified());
            }
        }
        if other.join().unwrap() {
            // SAFETY: no other thread is left.
            let entry = world.entry.with_mut(|entry| unsafe { (*entry).take() });
            entry.unwrap().watch().end(&world.queue);
        }
        for notice in take(&world.queue, true) {
            world.queue.complete_late(notice);
        }
        assert!(world.queue.is_idle());
    });
}
