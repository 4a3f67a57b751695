//! What nobody would do, for as long as one likes. A run is a series of *breaths*. For each, 2 to 64 threads are born, fill
//! the collections with 10 to 10^6 objects, work, and let go of everything; then they end. Threads stall where user code
//! runs: in `Hash` and `Eq`, destructors, computations, and while they are shown the entries of a table. The shared collections
//! last for the whole run, with some thousand residents; each thread has collections of its own. Most objects die on other
//! threads than those that made them.
//!
//! What is true is known for each object, which has a number that no other ever has, and checked at each lookup
//! (`torture/actor.rs`): where it has entered, its own entry is found; where it has not, and where it is dead, none. After
//! each breath, all that was made and is no resident's has been dropped, once; purged and shrunk, the collections have the
//! entries of the residents, and nothing is pending.
//!
//! What threads that have ended have left in bags and in lists does not wait for them: after each breath, some thousand changes
//! of one thread destroy it, but for what that thread's own bag holds.
//!
//! After a breath, and a small one of all threads, the allocator's live bytes are read, and the resident set of the process,
//! when the C library has given back what it can. From a sixth of the run to its end, all readings of the bytes are as far from
//! the last one before as the bags and the participants of all threads at all tables take, at most ([`bound`]). The resident
//! set has holes of what was freed, too: in each sixth of the run the median (of the means of the lines of the table) is within
//! 10 % of the first sixth's, and those bytes. That is checked if a time is given, and the C library has one heap: of all others
//! it keeps what is free at their ends, by what it has learnt, which are some MiB each.
//!
//! An hour: `MALLOC_ARENA_MAX=1 WEAKLY_TORTURE_SECONDS=3600 cargo test --release --test torture -- --nocapture`;
//! `WEAKLY_TORTURE_SEED=2` for another one. Without, it takes a few small breaths.

#[macro_use]
mod common;
#[path = "torture/actor.rs"]
mod actor;
#[path = "torture/body.rs"]
mod body;
#[path = "torture/memory.rs"]
mod memory;
#[path = "torture/places.rs"]
mod places;

use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::time::{Duration, Instant};
use std::{env, thread};

use actor::{Actor, Breath, World};
use body::{Body, DESTROYED, MADE};
use common::random::random;
use common::watchdog::watched;
use common::{scaled, sized};
use memory::Book;
use places::{Life, Place, shared_places};
use weakly::Strong;

const RESIDENTS: usize = scaled(4000, 40);
const MOST_THREADS: usize = scaled(64, 3);
/// How many breaths there are, and how large, if no time is given.
const BREATHS: usize = sized(12, 6, 2);
const SMALL: usize = scaled(2000, 10);
/// How many entries a thread gathers in its bag, at most.
const BAG: usize = 16;
/// What a thread that has used a table leaves there: a bag with room for pairs of words, a participant, and its share of
/// directories.
const BYTES_OF_A_THREAD: usize = (128 + BAG * 16) + 128 + 128;
/// How many changes of one thread destroy all that a bag holds; and all that a list of the dead does.
const CHANGES: usize = 32;

impl<L: Life> World<L> {
    fn new() -> Self {
        let world = World {
            places: shared_places(),
            residents: (0..RESIDENTS).map(|_| Body::new().into()).collect(),
        };
        for place in &world.places {
            world.residents.iter().for_each(|it| place.enter(it));
        }
        world
    }

    /// All residents are where they belong, once those that actors take out are back, and nothing else is anywhere.
    fn settle(&self, size: usize) {
        // For each bag, for each list of the dead, and for what is in these lists.
        let most = CHANGES * (2 * MOST_THREADS + 64) + 2 * size;
        let (hot, others) = self.residents.split_at(actor::HOT);
        for (which, place) in self.places.iter().enumerate() {
            assert!(others.iter().all(|it| place.has(it)), "{which}");
            let away = hot.iter().filter(|it| !place.has(it));
            away.for_each(|it| place.enter(it));
            if place.lets_go() {
                let changes = change(&**place, most);
                assert!(changes.is_some(), "{which}: {:?} wait", place.counts());
            }
            place.purge();
            place.shrink();
            assert_eq!(place.counts(), (RESIDENTS, 0), "place {which}");
        }
    }

    /// One breath; returns how many lookups were checked.
    fn breathe(&self, seed: u64, threads: usize, size: usize) -> usize {
        let largest = random(seed).nth(9).unwrap();
        let breath = Breath::new(self, threads, size, largest);
        thread::scope(|scope| {
            let live = |me| {
                let dice = random(seed ^ (me as u64 + 1) << 32);
                let breath = &breath;
                scope.spawn(move || Actor::new(breath, me, dice).live())
            };
            // Joined, they have ended; the scope waits for their closures only.
            let threads: Vec<_> = (0..threads).map(live).collect();
            for thread in threads {
                thread.join().expect("an actor has failed");
            }
        });
        breath.checked.into_inner()
    }
}

/// Changes that find nothing, until no more waits than the bag of this thread may hold: how many, if `most` are enough.
fn change<L: Life>(place: &dyn Place<L>, most: usize) -> Option<usize> {
    let absent = Body::new().into();
    (0..most).position(|_| {
        place.leave(&absent);
        place.counts().1 <= BAG
    })
}

/// How many bytes the readings may differ by.
fn bound(tables: usize) -> isize {
    // Besides the threads of a breath, some others have numbers.
    (tables * (MOST_THREADS + 2) * BYTES_OF_A_THREAD) as isize
}

fn number(name: &str) -> Option<u64> {
    let text = env::var(name).ok()?;
    Some(text.parse().expect("a number"))
}

/// 159, 161, 165
#[test]
fn torture() {
    let seed = number("WEAKLY_TORTURE_SEED").unwrap_or(1);
    let time = number("WEAKLY_TORTURE_SECONDS").map(Duration::from_secs);
    println!("WEAKLY_TORTURE_SEED={seed}");
    let (ours, std) = (World::<Strong<Body>>::new(), World::<Arc<Body>>::new());
    let mut dice = random(seed);
    let (mut book, mut lasting) = (Book::new(), None);
    let began = Instant::now();
    for breath in 0.. {
        let mut roll = || dice.next().unwrap();
        let largest = if time.is_some() { 1_000_000 } else { SMALL };
        // Each power of ten as often as the others.
        let part = (roll() % 1000) as f64 / 999.0;
        let size = 10.0 * (largest as f64 / 10.0).powf(part);
        let drawn = (2 + roll() % (MOST_THREADS - 1), size as usize);
        let mut checked = 0;
        // The second leaves all heaps of the C library alike, so that readings can be compared.
        for (threads, size) in [drawn, (MOST_THREADS, SMALL)] {
            let (seed, name) = (roll() as u64, format!("{threads} threads, {size} objects"));
            let _watched = watched(format!("breath {breath}, {name}"));
            checked += if breath % 2 == 0 {
                ours.breathe(seed, threads, size)
            } else {
                std.breathe(seed, threads, size)
            };
            ours.settle(size);
            std.settle(size);
            let alive = MADE.load(Relaxed) - DESTROYED.load(Relaxed);
            assert_eq!(*lasting.get_or_insert(alive), alive, "bodies are left");
        }
        let done = time.map_or((breath + 1) as f64 / BREATHS as f64, |time| {
            began.elapsed().as_secs_f64() / time.as_secs_f64()
        });
        let made = MADE.load(Relaxed);
        book.enter(done, [drawn.0, drawn.1, made, checked]);
        if done >= 1.0 {
            break;
        }
    }
    let tables = ours.places.len() + std.places.len();
    book.check(
        bound(tables),
        time.is_some() && number("MALLOC_ARENA_MAX") == Some(1),
    );
}
