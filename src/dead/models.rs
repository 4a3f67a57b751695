//! loom models of the dead queue: a map's watches against deaths on other threads. The map's own
//! table is used by its owner only, so a watch and its queue stand for the map.
//!
//! `RUSTFLAGS="--cfg weakly_loom" cargo test --release --lib models`

use loom::thread;

use crate::Strong;
use crate::dead::{DeadQueue, Inputs, Watch};
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
        let entry = queue.watch(&key, 0, &mut Inputs::alone());
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
        let entry = queue.watch(&key, 0, &mut Inputs::alone());
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
        core::mem::forget(queue.watch(&key, 0, &mut Inputs::alone()));
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
        let mut first = Some(queue.watch(&a, 0, &mut Inputs::alone()));
        let mut second = Some(queue.watch(&b, 0, &mut Inputs::alone()));
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
            // A notice is counted before it is there.
            assert!(queue.announced() <= 2 - buried);
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
        let entry = queue.watch(&key, 0, &mut Inputs::alone());
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
        let first = one.watch(&key, 0, &mut Inputs::alone());
        let second = two.watch(&key, 0, &mut Inputs::alone());
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
        let first = one.watch(&key, 0, &mut Inputs::alone());
        let again = key.clone();
        let other = thread::spawn(move || {
            let mut two = Queue::new();
            let mut entry = Some(two.watch(&again, 0, &mut Inputs::alone()));
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
            let entry = two.watch(&again, 0, &mut Inputs::alone());
            drop(again);
            drop(entry);
        });
        let mut one = Queue::new();
        let entry = one.watch(&key, 0, &mut Inputs::alone());
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
        let entry = queue.watch(&key, 0, &mut Inputs::alone());
        let other = thread::spawn(move || drop(key));
        let upgraded = entry.upgrade();
        assert!(upgraded.is_none_or(|key| *key == 1));
        other.join().unwrap();
        assert!(drain(&mut queue, &mut Some(entry)));
    });
}

/// An entry with two inputs, as a map of pairs has it: a queue for each side, one joint.
struct Pair {
    queues: [Queue; 2],
    sides: [Option<Watch<u8, Atomic>>; 2],
}

impl Pair {
    fn new(key: &Strong<u8>, value: &Strong<u8>) -> Self {
        let mut queues = [Queue::new(), Queue::new()];
        let mut inputs = Inputs::two();
        let sides = [
            Some(queues[0].watch(key, 0, &mut inputs)),
            Some(queues[1].watch(value, 0, &mut inputs)),
        ];
        Pair { queues, sides }
    }

    fn announced(&self) -> usize {
        self.queues.iter().map(Queue::announced).sum()
    }

    /// All that came is worked off, and the next death is counted.
    fn is_balanced(mut self) -> bool {
        self.sides = [None, None];
        self.drain();
        self.queues.into_iter().all(|mut queue| {
            let next = Strong::new(9);
            let mut entry = Some(queue.watch(&next, 0, &mut Inputs::alone()));
            drop(next);
            queue.announced() == 1 && drain(&mut queue, &mut entry) && queue.is_idle()
        })
    }

    /// As a map would: the side that died first goes with its notice, then the other.
    fn drain(&mut self) -> bool {
        let [keys, values] = &mut self.queues;
        let [key, value] = &mut self.sides;
        let buried = drain(keys, key) || drain(values, value);
        if buried {
            *key = None;
            *value = None;
        }
        buried
    }
}

/// Whichever order they die in, the entry is announced once; and nobody who has seen a death finds it
/// not announced.
#[test]
fn both_inputs_of_an_entry_die_at_once() {
    loom::model(|| {
        let (key, value) = (Strong::new(1), Strong::new(2));
        let mut pair = Pair::new(&key, &value);
        let other = thread::spawn(move || drop(key));
        drop(value);
        // This thread has seen one death.
        assert_eq!(pair.announced(), 1);
        other.join().unwrap();
        assert_eq!(pair.announced(), 1);
        assert!(pair.drain());
        assert_eq!(pair.announced(), 0);
        assert!(!pair.drain());
        assert!(pair.is_balanced());
    });
}

#[test]
fn a_drain_against_the_deaths_of_both_inputs() {
    loom::model(|| {
        let (key, value) = (Strong::new(1), Strong::new(2));
        let mut pair = Pair::new(&key, &value);
        let one = thread::spawn(move || drop(key));
        let two = thread::spawn(move || drop(value));
        let early = pair.drain();
        assert!(pair.announced() <= 1);
        one.join().unwrap();
        two.join().unwrap();
        assert_eq!(pair.announced(), usize::from(!early));
        assert_eq!(pair.drain(), !early);
        assert!(pair.is_balanced());
    });
}

#[test]
fn the_end_of_an_entry_against_the_deaths_of_both_inputs() {
    loom::model(|| {
        let (key, value) = (Strong::new(1), Strong::new(2));
        let mut pair = Pair::new(&key, &value);
        let one = thread::spawn(move || drop(key));
        let two = thread::spawn(move || drop(value));
        // Removed, and then the map goes.
        pair.sides = [None, None];
        assert_eq!(pair.announced(), 0);
        drop(pair);
        one.join().unwrap();
        two.join().unwrap();
    });
}

/// A value is replaced while it dies: the notice that it may have sent is not the new entry's.
#[test]
fn a_replaced_input_against_its_death() {
    loom::model(|| {
        let (key, old, new) = (Strong::new(1), Strong::new(2), Strong::new(3));
        let mut pair = Pair::new(&key, &old);
        let other = thread::spawn(move || drop(old));
        let mut inputs = Inputs::two();
        for (n, input) in [&key, &new].into_iter().enumerate() {
            pair.sides[n] = Some(pair.queues[n].watch(input, 0, &mut inputs));
        }
        drop(inputs);
        other.join().unwrap();
        assert_eq!(pair.announced(), 0);
        assert!(!pair.drain());
        drop(new);
        assert_eq!(pair.announced(), 1);
        assert!(pair.drain());
        drop(key);
        assert!(pair.is_balanced());
    });
}
