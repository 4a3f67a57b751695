//! loom models of the dead queue: a map's watches against deaths on other threads. The map's own
//! table is used by its owner only, so a watch and its queue stand for the map.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

use loom::thread;

use crate::Strong;
use crate::dead::{DeadQueue, Watch};
use crate::ptr::{Atomic, Header};

type Queue = DeadQueue<Atomic>;

/// Works off all notices as a map with this one entry would; true if the entry was buried.
fn drain(queue: &mut Queue, entry: &mut Option<Watch<u8, Atomic>>) -> bool {
    let mut buried = false;
    while let Some(notice) = queue.pop() {
        match entry.take_if(|watch| watch.is_named_by(&notice)) {
            Some(watch) => {
                watch.settle(notice);
                buried = true;
            }
            None => notice.orphaned(),
        }
    }
    buried
}

#[test]
fn death_against_deregistration() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut queue = Queue::new();
        let entry = queue.watch(&key, 0);
        let other = thread::spawn(move || drop(key));
        drop(entry);
        other.join().unwrap();
        assert_eq!(queue.announced(), 0);
        drain(&mut queue, &mut None);
        assert!(queue.is_idle());
    });
}

#[test]
fn death_against_the_drop_of_the_map() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut queue = Queue::new();
        let entry = queue.watch(&key, 0);
        let other = thread::spawn(move || drop(key));
        drop(entry);
        drop(queue);
        other.join().unwrap();
    });
}

#[test]
fn death_against_a_forgotten_map() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut queue = Queue::new();
        core::mem::forget(queue.watch(&key, 0));
        let other = thread::spawn(move || drop(key));
        drop(queue);
        other.join().unwrap();
    });
}

#[test]
fn push_against_drain() {
    loom::model(|| {
        let (a, b) = (Strong::new(1), Strong::new(2));
        let mut queue = Queue::new();
        let mut first = Some(queue.watch(&a, 0));
        let mut second = Some(queue.watch(&b, 0));
        let one = thread::spawn(move || drop(a));
        let two = thread::spawn(move || drop(b));
        let mut buried = 0;
        while buried < 2 {
            while let Some(notice) = queue.pop() {
                let entry = if first.as_ref().is_some_and(|w| w.is_named_by(&notice)) {
                    first.take()
                } else {
                    second.take()
                };
                entry.expect("each once").settle(notice);
                buried += 1;
            }
            thread::yield_now();
        }
        one.join().unwrap();
        two.join().unwrap();
        assert!(queue.is_idle());
    });
}

/// Nothing pending proves that no entry is stale: who gets the memory of a dead key finds its notice.
#[test]
fn the_notice_comes_before_the_memory_goes() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut queue = Queue::new();
        let entry = queue.watch(&key, 0);
        let payload = key.payload();
        let other = thread::spawn(move || drop(key));
        // SAFETY: the payload of an object.
        if unsafe { Header::<Atomic>::has_gone(payload) } {
            assert!(!queue.is_idle());
            assert!(entry.is_announced());
            assert!(drain(&mut queue, &mut Some(entry)));
        }
        other.join().unwrap();
    });
}

#[test]
fn death_against_two_maps() {
    loom::model(|| {
        let key = Strong::new(1);
        let (mut one, mut two) = (Queue::new(), Queue::new());
        let first = one.watch(&key, 0);
        let second = two.watch(&key, 0);
        let other = thread::spawn(move || drop(key));
        drop(first);
        drop(one);
        other.join().unwrap();
        assert!(drain(&mut two, &mut Some(second)));
    });
}

#[test]
fn deregistration_against_the_watch_of_another_map() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut one = Queue::new();
        let first = one.watch(&key, 0);
        let again = key.clone();
        let other = thread::spawn(move || {
            let mut two = Queue::new();
            let mut entry = Some(two.watch(&again, 0));
            drop(again);
            drain(&mut two, &mut entry);
        });
        drop(first);
        drop(key);
        other.join().unwrap();
    });
}

#[test]
fn two_maps_watch_an_unwatched_object() {
    loom::model(|| {
        let key = Strong::new(1);
        let again = key.clone();
        let other = thread::spawn(move || {
            let mut two = Queue::new();
            let entry = two.watch(&again, 0);
            drop(again);
            drop(entry);
        });
        let mut one = Queue::new();
        let entry = one.watch(&key, 0);
        drop(key);
        other.join().unwrap();
        assert!(drain(&mut one, &mut Some(entry)));
    });
}

#[test]
fn death_against_the_upgrade_of_an_entry() {
    loom::model(|| {
        let key = Strong::new(1);
        let mut queue = Queue::new();
        let entry = queue.watch(&key, 0);
        let other = thread::spawn(move || drop(key));
        let upgraded = entry.upgrade();
        assert!(upgraded.is_none_or(|key| *key == 1));
        other.join().unwrap();
        assert!(drain(&mut queue, &mut Some(entry)));
    });
}
