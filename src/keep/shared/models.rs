//! loom models of a ring that threads share. A number stands for an object. The models count the
//! handles that the ring keeps and returns.

use std::vec::Vec;

use loom::sync::Arc;
use loom::thread;

use super::*;
use crate::keep::ring::Victim;
use crate::keep::{Gone, Limit};
use crate::sync::{AtomicUsize, models};

/// The object of the entry, and a second object.
const OBJECT: usize = 16;
const OTHER: usize = 32;

/// A floor, and an entry of the collection above the floor.
struct Floor {
    ring: SharedRing<usize>,
    entry: Membership,
}

impl Floor {
    fn new(limit: Limit) -> Arc<Self> {
        Arc::new(Floor {
            ring: SharedRing::new(limit),
            entry: Membership::new(),
        })
    }

    /// Creates a floor that keeps the object. A hit of the object was reported in this round.
    fn told(limit: Limit) -> Arc<Self> {
        let floor = Self::new(limit);
        floor.admit();
        floor.admit();
        assert!(!floor.needs_admission());
        floor
    }

    fn needs_admission(&self) -> bool {
        self.ring.published().needs_admission(&self.entry)
    }

    /// Inserts or finds the entry as a table does. Returns the handle that the ring has refused.
    fn admit(&self) -> Option<usize> {
        if !self.needs_admission() {
            return None;
        }
        let mut refusal = None;
        let refused = |ring: &mut Ring<_>, _, object| {
            self.entry.report(ring);
            refusal = Some(object);
            None
        };
        let item = (OBJECT, |_: &usize| 1);
        self.ring.admit(OBJECT, &self.entry, None, item, refused);
        refusal
    }

    fn keep(&self, object: usize) {
        self.ring.with(|ring| ring.keep(object, 1, object));
    }

    /// Takes all victims.
    fn evict_victims(&self) -> Vec<usize> {
        std::iter::from_fn(|| self.ring.next_victim())
            .map(|Victim { what, .. }| what)
            .collect()
    }

    /// Removes the entry.
    fn remove(&self) {
        if self.entry.end(Gone::Removed) {
            self.ring.with(|ring| ring.let_go(OBJECT, Gone::Removed));
        }
    }

    fn keeps(&self, object: usize) -> bool {
        self.ring.with(|ring| ring.get(object).is_some())
    }

    /// S3
    fn check(&self) {
        assert!(self.needs_admission() || self.keeps(OBJECT));
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

/// Two threads find an evicted object: the ring keeps one handle.
#[test]
fn two_hits_of_what_has_gone() {
    let hit = |floor: &Floor| _ = floor.admit();
    models::check(move || {
        let floor = Floor::told(Limit::entries(1));
        floor.ring.with(|ring| ring.release(OBJECT));
        let thread = thread::spawn({
            let floor = floor.clone();
            move || hit(&floor)
        });
        hit(&floor);
        thread.join().unwrap();
        assert!(floor.keeps(OBJECT) && floor.evict_victims().is_empty());
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
        let refused = floor.admit();
        thread.join().unwrap();
        // If the removal comes first, nothing is kept. If the removal comes last, it makes the
        // object leave.
        assert!(refused.is_none() && !floor.keeps(OBJECT));
        assert!(floor.evict_victims().len() <= 1);
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

/// S4: A thread frees a victim, and inserts another entry at the same address: the other entry
/// stays. (A number stands for the entry that is linked at the address.)
#[test]
fn a_victim_and_another_at_its_address() {
    models::check(|| {
        let floor = Floor::told(Limit::entries(1));
        floor.ring.with(|ring| ring.let_go(OBJECT, Gone::Weight));
        let all = Arc::new((floor, Membership::new(), AtomicUsize::new(OBJECT)));
        let thread = thread::spawn({
            let all = all.clone();
            move || {
                let (floor, new, linked) = &*all;
                // The entry ends, unlinked by a death. Then its memory is used again.
                floor.ring.with(|ring| ring.remove(OBJECT));
                linked.store(OTHER, Release);
                let item = (OBJECT, |_: &usize| 1);
                floor.ring.admit(OBJECT, new, None, item, |_, _, _| None);
            }
        });
        let (floor, new, linked) = &*all;
        if floor.ring.next_victim().is_some() {
            match linked.load(Acquire) {
                OTHER => assert!(!floor.ring.is_evicted(OBJECT, new)),
                _ => _ = floor.ring.is_evicted(OBJECT, &floor.entry),
            }
        }
        thread.join().unwrap();
        assert!(floor.keeps(OBJECT) && !floor.ring.has_victim());
    });
}

/// S4: A victim that is found again is no victim any more, and a victim that is not found is one.
#[test]
fn a_victim_and_a_hit() {
    models::check(|| {
        let floor = Floor::told(Limit::entries(1));
        floor.ring.with(|ring| ring.let_go(OBJECT, Gone::Weight));
        let thread = thread::spawn({
            let floor = floor.clone();
            move || floor.admit()
        });
        let victim = floor.ring.next_victim();
        let is_evicted = victim.is_some() && floor.ring.is_evicted(OBJECT, &floor.entry);
        thread.join().unwrap();
        // The hit has put the entry back before the eviction, or after it.
        assert!(floor.keeps(OBJECT));
        assert!(victim.is_some() || !is_evicted);
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
