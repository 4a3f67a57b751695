//! loom models of a ring that threads share. A number stands for an object. The models count the
//! handles that the ring keeps and returns.

use std::vec::Vec;

use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::keep::ring::Going;
use crate::keep::{Gone, Limit};
use crate::sync::{AtomicUsize, models};

/// The object of the entry, and a second object.
const OBJECT: usize = 16;
const OTHER: usize = 32;

/// A floor, and an entry of the collection above the floor.
struct Floor {
    ring: SharedRing<usize>,
    stamp: Stamp,
}

impl Floor {
    fn new(limit: Limit) -> Arc<Self> {
        Arc::new(Floor {
            ring: SharedRing::new(Ring::new(limit)),
            stamp: Stamp::new(),
        })
    }

    /// Creates a floor that keeps the object. A hit of the object was reported in this round.
    fn told(limit: Limit) -> Arc<Self> {
        let floor = Self::new(limit);
        floor.admit();
        floor.admit();
        assert!(!floor.ring.round().needs_admission(&floor.stamp));
        floor
    }

    /// Inserts or finds the entry as a table does. Returns the handle that the ring did not take.
    fn admit(&self) -> Option<usize> {
        if !self.ring.round().needs_admission(&self.stamp) || self.ring.tell(OBJECT, &self.stamp) {
            return None;
        }
        match self.ring.join(OBJECT, 1, OBJECT, &self.stamp).0 {
            Outcome::New => None,
            Outcome::Already(object) | Outcome::Refused(object) => Some(object),
        }
    }

    fn keep(&self, object: usize) {
        self.ring.with(|ring| ring.keep(object, 1, object));
    }

    /// Takes all victims.
    fn evict_victims(&self) -> Vec<usize> {
        let next = || self.ring.with(Ring::next_to_go);
        std::iter::from_fn(next)
            .map(|Going { what, .. }| what)
            .collect()
    }

    /// Removes the entry.
    fn remove(&self) {
        if self.stamp.end() {
            self.ring.with(|ring| ring.let_go(OBJECT, Gone::Removed));
        }
    }

    fn keeps(&self, object: usize) -> bool {
        self.ring.with(|ring| ring.get(object).is_some())
    }

    /// S3
    fn check(&self) {
        assert!(self.ring.round().needs_admission(&self.stamp) || self.keeps(OBJECT));
    }
}

fn model(limit: Limit, first: fn(&Floor), other: fn(&Floor), after: fn(&Floor)) {
    models::check(move || {
        let floor = Floor::told(limit);
        let thread = thread::spawn({
            let floor = floor.clone();
            move || first(&floor)
        });
        other(&floor);
        thread.join().unwrap();
        after(&floor);
    });
}

/// S3: A hit of an object that was evicted, or is being evicted, keeps the object again.
#[test]
fn a_hit_and_an_eviction() {
    let evict = |floor: &Floor| {
        floor.keep(OTHER);
        floor.evict_victims();
    };
    let hit = |floor: &Floor| {
        floor.admit();
        floor.evict_victims();
    };
    model(Limit::entries(1), evict, hit, |floor| {
        floor.check();
        assert!(floor.keeps(OBJECT) != floor.keeps(OTHER));
        floor.admit();
        assert!(floor.keeps(OBJECT));
        floor.evict_victims();
        assert!(!floor.keeps(OTHER));
    });
}

/// Two threads find an evicted object: the ring keeps one handle, and returns the second.
#[test]
fn two_hits_of_what_has_gone() {
    models::check(|| {
        let floor = Floor::told(Limit::entries(1));
        floor.ring.with(|ring| ring.release(OBJECT));
        let thread = thread::spawn({
            let floor = floor.clone();
            move || floor.admit()
        });
        let given = [floor.admit(), thread.join().unwrap()];
        assert!(given.iter().flatten().count() <= 1);
        assert!(floor.keeps(OBJECT));
        floor.check();
    });
}

/// S2: The ring does not keep the object of a removed entry, whether or not a hit comes in between.
#[test]
fn a_hit_and_a_removal() {
    let remove = |floor: &Floor| floor.remove();
    let hit = |floor: &Floor| _ = floor.admit();
    model(Limit::entries(1), remove, hit, |floor| {
        assert!(!floor.keeps(OBJECT));
        assert!(floor.evict_victims().len() <= 1);
        floor.check();
    });
}

/// S2: The same for the first hit, which is an insertion.
#[test]
fn an_insertion_and_a_removal() {
    models::check(|| {
        let floor = Floor::new(Limit::entries(1));
        let thread = thread::spawn({
            let floor = floor.clone();
            move || floor.remove()
        });
        let given = floor.admit();
        thread.join().unwrap();
        // If the removal comes first, nothing is kept. If the removal comes last, it makes the
        // object leave.
        assert!(!floor.keeps(OBJECT));
        assert_eq!(given.into_iter().chain(floor.evict_victims()).count(), 1);
    });
}

/// S3: The limit refuses the object until another limit is set. Then the next hit keeps the object.
#[test]
fn a_refusal_and_another_limit() {
    models::check(|| {
        let floor = Floor::new(Limit::none().weight(0));
        let thread = thread::spawn({
            let floor = floor.clone();
            move || floor.ring.set_limit(Limit::none().weight(1))
        });
        floor.admit();
        thread.join().unwrap();
        floor.admit();
        assert!(floor.keeps(OBJECT));
        floor.check();
    });
}

/// Two threads advance. Each call begins a generation, and the object is evicted once.
#[test]
fn two_advance() {
    let advance = |floor: &Floor| {
        floor.ring.with(Ring::advance);
        floor.evict_victims();
    };
    model(Limit::none().generations(1), advance, advance, |floor| {
        assert!(!floor.keeps(OBJECT));
        floor.check();
    });
}

/// A hit in the new generation keeps the object through this generation. A hit before it need not
/// be reported again.
#[test]
fn a_hit_and_a_generation() {
    let advance = |floor: &Floor| {
        floor.ring.with(Ring::advance);
        floor.evict_victims();
    };
    let hit = |floor: &Floor| _ = floor.admit();
    model(Limit::none().generations(0), advance, hit, |floor| {
        floor.check();
        floor.admit();
        assert!(floor.keeps(OBJECT));
    });
}

/// Q5: A thread frees an evicted entry, and another thread inserts an entry at the same address:
/// the new entry stays. (A number stands for the entry that is linked at the address.)
#[test]
fn what_goes_and_another_at_its_address() {
    models::check(|| {
        let all = Floor::new(Limit::entries(0));
        let linked = Arc::new(AtomicUsize::new(0));
        all.ring.with(|ring| ring.refuse(OBJECT, OBJECT));
        let (other, links) = (all.clone(), Arc::clone(&linked));
        let thread = thread::spawn(move || {
            // The entry ends, unlinked by a death. Then its memory is used again.
            other.ring.with(|ring| ring.remove(OBJECT));
            links.store(OTHER, Release);
        });
        if let Some(going) = all.ring.with(Ring::next_going) {
            let found = linked.load(Acquire);
            let is_gone = all.ring.with(|ring| ring.end_going(&going));
            assert!(found == 0 || !is_gone);
        }
        thread.join().unwrap();
        assert!(!all.ring.with(|ring| ring.is_leaving()));
    });
}

/// A listener is replaced during its call: the closure lives until the call returns, and is not
/// called again.
#[test]
fn a_listener_is_taken_away_while_it_is_called() {
    models::check(|| {
        let listener = Arc::new(Listener::<dyn Fn() + Send + Sync>::new());
        let tell = |listener: &Listener<dyn Fn() + Send + Sync>| {
            if let Some(hears) = listener.get() {
                hears();
            }
        };
        let heard = Arc::new(AtomicUsize::new(0));
        let hears = Arc::clone(&heard);
        listener.set(Some(std::sync::Arc::new(move || {
            hears.fetch_add(1, Relaxed);
        })));
        let teller = Arc::clone(&listener);
        let thread = thread::spawn(move || tell(&teller));
        listener.set(None);
        thread.join().unwrap();
        let before = heard.load(Relaxed);
        tell(&listener);
        assert_eq!(heard.load(Relaxed), before);
        // The last caller of the closure has destroyed the values that the closure owned.
        assert_eq!(Arc::strong_count(&heard), 1);
    });
}
