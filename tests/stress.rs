//! Everything at once, for some processor time: threads insert objects into shared collections, read, drop owners, purge,
//! iterate, compute values of the same keys, and replace whole collections. These invariants are checked:
//!
//! * An object has a number that no other ever has. A lookup by an object finds its number: never that of
//!   another that was at its address before.
//! * A thread that has inserted an object, and keeps it alive, finds it, as long as the collections are not
//!   replaced.
//! * Equal live contents have one handle.
//! * In the end, everything that was made was dropped, once.
//!
//! For longer, as an idle machine with two processors takes: `WEAKLY_STRESS_SECONDS=600 cargo test --release --test stress`

mod common;
#[allow(dead_code)] // this program uses a part
#[path = "concurrent/faces.rs"]
mod faces;

use std::collections::HashSet;
use std::env;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering::*};
use std::sync::{Arc, Mutex, RwLock};
use std::thread;
use std::time::Duration;

use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::reference::WeakKey;

use common::watchdog::processor_time;
use faces::Kind;

for_each_pointer!(all_at_once);

const THREADS: usize = 4;
/// How many owners a thread has, and how many are on their way to another.
const POOL: usize = 48;
/// Keys of which all threads ask for the values.
const HOT: usize = 4;
const WORDS: u64 = 64;

/// Counts what is alive, and what has been.
#[derive(Default)]
struct Ledger {
    made: AtomicU64,
    destroyed: AtomicU64,
}

/// Something that is made and dropped once, and knows its number.
struct Thing {
    number: u64,
    is_here: AtomicBool,
    ledger: Arc<Ledger>,
}

impl Thing {
    fn new(number: u64, ledger: &Arc<Ledger>) -> Self {
        ledger.made.fetch_add(1, Relaxed);
        let is_here = AtomicBool::new(true);
        let ledger = ledger.clone();
        Thing {
            number,
            is_here,
            ledger,
        }
    }

    fn check(&self, number: u64) {
        assert!(self.is_here.load(Relaxed), "destroyed");
        assert_eq!(self.number, number, "another's");
    }
}

impl Drop for Thing {
    fn drop(&mut self) {
        assert!(self.is_here.swap(false, Relaxed), "destroyed twice");
        self.ledger.destroyed.fetch_add(1, Relaxed);
    }
}

type Object<P> = <P as Kind>::Strong<Thing>;
type Word<P> = <P as Kind>::Strong<u64>;

/// All the collections, which are dropped together.
struct World<P: Kind> {
    serial: usize,
    map: WeakMap<Object<P>, Arc<Thing>>,
    set: WeakSet<Object<P>>,
    values: WeakValueMap<u64, Object<P>>,
    words: Interner<Word<P>>,
    /// Facts about words, and the words that have one.
    facts: WeakHashMap<Word<P>, Arc<Thing>>,
    stated: WeakHashSet<Word<P>>,
    /// Objects of even numbers to hot ones, others to any that may die.
    pairs: WeakPairMap<Object<P>, Object<P>>,
    /// Their numbers are the highest.
    hot: Vec<Object<P>>,
}

impl<P: Kind> World<P> {
    fn new(serial: usize, ledger: &Arc<Ledger>) -> Arc<Self> {
        let hot = |n| Thing::new(hot(n), ledger).into();
        Arc::new(World {
            serial,
            map: WeakMap::new(),
            set: WeakSet::new(),
            values: WeakValueMap::new(),
            words: Interner::new(),
            facts: WeakHashMap::new(),
            stated: WeakHashSet::new(),
            pairs: WeakPairMap::new(),
            hot: (0..HOT).map(hot).collect(),
        })
    }
}

fn hot(n: usize) -> u64 {
    u64::MAX - n as u64
}

/// An object with an owner, and the world into which it was inserted.
struct Owner<P: Kind> {
    object: Object<P>,
    serial: usize,
}

/// What threads share.
struct Stage<P: Kind> {
    world: RwLock<Arc<World<P>>>,
    on_the_way: Mutex<Vec<Owner<P>>>,
    next: AtomicU64,
    worlds: AtomicUsize,
    ledger: Arc<Ledger>,
    /// Counts of what was checked, to see that something was.
    found: AtomicU64,
}

/// Marsaglia's xorshift.
struct Dice(u64);

impl Dice {
    fn roll(&mut self, sides: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 16) as usize % sides
    }
}

struct Actor<'a, P: Kind> {
    stage: &'a Stage<P>,
    dice: Dice,
    pool: Vec<Owner<P>>,
    words: Vec<Word<P>>,
}

impl<P: Kind> Actor<'_, P> {
    fn act(&mut self) {
        let world = self.stage.world.read().unwrap().clone();
        match self.dice.roll(100) {
            0..30 => self.insert_new(&world),
            30..55 => self.look(&world),
            55..65 => _ = self.any().map(|at| self.pool.swap_remove(at)),
            65..72 => self.pass_on(),
            72..78 => self.remove(&world),
            78..84 => self.ask(&world),
            84..92 => self.state_fact(&world),
            92..95 => self.purge(&world),
            95..99 => self.look_at_all(&world),
            _ => self.replace_the_world(),
        }
    }

    fn any(&mut self) -> Option<usize> {
        (!self.pool.is_empty()).then(|| self.dice.roll(self.pool.len()))
    }

    /// A new object: first known to this thread, then to all.
    fn insert_new(&mut self, world: &World<P>) {
        let ledger = &self.stage.ledger;
        let number = self.stage.next.fetch_add(1, Relaxed);
        let object = Object::<P>::from(Thing::new(number, ledger));
        assert!(!world.map.contains_key(&object) && !world.set.contains(&object));
        assert!(world.map.get(&object).is_none());
        assert!(
            world
                .map
                .insert(&object, Arc::new(Thing::new(number, ledger)))
        );
        assert!(world.set.insert(&object));
        assert!(world.values.insert(number, &object).is_none());
        assert!(!world.pairs.contains_key(&object));
        let other = match self.any() {
            Some(at) if number % 2 != 0 => &self.pool[at].object,
            _ => &world.hot[self.dice.roll(HOT)],
        };
        assert!(world.pairs.insert(&object, other).is_none());
        if self.pool.len() == POOL {
            self.pool.remove(0);
        }
        let serial = world.serial;
        self.pool.push(Owner { object, serial });
    }

    fn look(&mut self, world: &World<P>) {
        let Some(at) = self.any() else { return };
        let Owner { object, serial } = &self.pool[at];
        let number = object.number;
        let there = *serial == world.serial;
        let by_closure = world.map.with(object, |value| value.check(number));
        assert_eq!(by_closure.is_some(), there);
        assert_eq!(
            world.map.get(object).inspect(|v| v.check(number)).is_some(),
            there
        );
        assert_eq!(world.set.contains(object), there);
        let other = world.pairs.get(object);
        assert!(number % 2 != 0 || other.is_some() == there);
        other.inspect(|other| other.check(other.number));
        let value = world.values.get(&number);
        assert_eq!(value.is_some(), there);
        value.inspect(|value| value.check(number));
        self.stage.found.fetch_add(u64::from(there), Relaxed);
    }

    /// Another thread gets it, and may drop it.
    fn pass_on(&mut self) {
        let Some(at) = self.any() else { return };
        let owner = self.pool.swap_remove(at);
        let mut on_the_way = self.stage.on_the_way.lock().unwrap();
        on_the_way.push(owner);
        if on_the_way.len() > POOL {
            let at = self.dice.roll(on_the_way.len());
            let other = on_the_way.swap_remove(at);
            drop(on_the_way);
            self.pool.push(other);
        }
    }

    /// Removes an object from its world: only its owner does that.
    fn remove(&mut self, world: &World<P>) {
        let Some(at) = self.any() else { return };
        let Owner { object, serial } = self.pool.swap_remove(at);
        let number = object.number;
        let there = serial == world.serial;
        assert_eq!(
            world.map.remove_if(&object, |value| value.number == number),
            there
        );
        assert_eq!(world.set.remove(&object), there);
        assert_eq!(world.values.remove(&number).is_some(), there);
        let other = world.pairs.remove(&object);
        assert!(number % 2 != 0 || other.is_some() == there);
        assert!(!world.pairs.contains_key(&object));
        assert!(!world.map.contains_key(&object));
    }

    /// All threads change the same few entries.
    fn ask(&mut self, world: &World<P>) {
        let which = self.dice.roll(HOT);
        let (key, number) = (&world.hot[which], hot(which));
        let ledger = &self.stage.ledger;
        let make = || Arc::new(Thing::new(number, ledger));
        match self.dice.roll(6) {
            0 => drop(world.map.remove(key)),
            1 => drop(world.map.swap(key, make()).inspect(|old| old.check(number))),
            2 => drop(world.map.compute(key, |old| {
                old.inspect(|old| old.check(number));
                Some(make())
            })),
            3 => drop(
                world
                    .values
                    .remove(&number)
                    .inspect(|old| old.check(number)),
            ),
            _ => {
                world.map.get_or_insert_with(key, |_| make()).check(number);
                let new = |_: &u64| Thing::new(number, ledger).into();
                let got: Object<P> = world.values.get_or_insert_with(number, new);
                got.check(number);
            }
        }
    }

    fn state_fact(&mut self, world: &World<P>) {
        let number = self.dice.roll(WORDS as usize) as u64;
        let one = world.words.intern(number);
        let other = world.words.intern(Word::<P>::from(number));
        assert_eq!(*one, number);
        assert!(
            Word::<P>::addr(&one) == Word::<P>::addr(&other),
            "two for {number}"
        );
        let fact = || Arc::new(Thing::new(number, &self.stage.ledger));
        world.facts.insert(&one, fact());
        let fact = world.facts.get(&number).expect("its word is alive");
        fact.check(number);
        world.stated.insert(&one);
        let stated = world.stated.get(&number).expect("likewise");
        assert!(Word::<P>::addr(&one) == Word::<P>::addr(&stated));
        if self.words.len() == POOL {
            let at = self.dice.roll(POOL);
            self.words.swap_remove(at);
        }
        self.words.push(one);
    }

    fn purge(&mut self, world: &World<P>) {
        match self.dice.roll(7) {
            0 => world.map.purge(),
            1 => world.set.purge(),
            2 => world.values.purge(),
            3 => world.facts.purge(),
            4 => world.stated.purge(),
            5 => world.pairs.purge(),
            _ => world.words.purge(),
        };
    }

    fn look_at_all(&mut self, world: &World<P>) {
        let mut seen = HashSet::new();
        match self.dice.roll(7) {
            0 => {
                for (key, value) in &world.map {
                    value.check(key.number);
                    // (Entries that others remove and insert again meanwhile may be seen again.)
                    assert!(seen.insert(key.number) || key.number > hot(HOT), "twice");
                }
            }
            1 => {
                for key in &world.set {
                    assert!(seen.insert(key.number), "twice");
                }
            }
            2 => {
                for (key, value) in &world.values {
                    value.check(key);
                    assert!(seen.insert(key) || key > hot(HOT), "twice");
                }
            }
            3 => world.map.retain(|key, value| {
                value.check(key.number);
                key.number < hot(HOT) || seen.insert(key.number)
            }),
            4 => {
                for (word, fact) in &world.facts {
                    fact.check(*word);
                }
                world.stated.retain(|word| **word < WORDS);
            }
            5 => {
                for (key, value) in &world.pairs {
                    value.check(value.number);
                    assert!(seen.insert(key.number), "twice");
                }
            }
            _ => {
                let words: Vec<_> = world.words.iter().collect();
                assert!(words.iter().all(|word| **word < WORDS));
            }
        }
    }

    /// The last reader of the old world drops it, while its objects die.
    fn replace_the_world(&mut self) {
        if self.dice.roll(10) > 0 {
            return;
        }
        let serial = self.stage.worlds.fetch_add(1, Relaxed) + 1;
        let new = World::new(serial, &self.stage.ledger);
        let old = std::mem::replace(&mut *self.stage.world.write().unwrap(), new);
        drop(old);
    }
}

fn all_at_once<P: Kind>() {
    let seconds = env::var("WEAKLY_STRESS_SECONDS")
        .map_or(2, |seconds| seconds.parse().expect("a number of seconds"));
    // Of the time of two processors, what a thread of a test has: the two tests run at a time.
    let share = Duration::from_secs(seconds) / THREADS as u32;
    let ledger = Arc::new(Ledger::default());
    let stage = Stage::<P> {
        world: RwLock::new(World::new(0, &ledger)),
        on_the_way: Mutex::default(),
        next: AtomicU64::new(0),
        worlds: AtomicUsize::new(0),
        ledger: ledger.clone(),
        found: AtomicU64::new(0),
    };
    thread::scope(|scope| {
        for n in 0..THREADS {
            let stage = &stage;
            scope.spawn(move || {
                let mut actor = Actor {
                    stage,
                    dice: Dice(0x9E37_79B9_7F4A_7C15 + n as u64),
                    pool: Vec::new(),
                    words: Vec::new(),
                };
                let began = processor_time();
                while if cfg!(miri) {
                    stage.next.load(Relaxed) < 60
                } else {
                    processor_time() - began < share
                } {
                    for _ in 0..50 {
                        actor.act();
                    }
                }
            });
        }
    });
    assert!(
        cfg!(miri) || stage.found.load(Relaxed) > 100,
        "nothing was found"
    );
    assert!(
        cfg!(miri) || stage.worlds.load(Relaxed) > 1,
        "the world was the same"
    );
    stage.on_the_way.lock().unwrap().clear();
    // No thread runs any more: the counts are exact.
    let world = stage.world.read().unwrap().clone();
    for purge in [true, false] {
        if purge {
            world.map.purge();
            world.set.purge();
            world.values.purge();
            world.words.purge();
            world.facts.purge();
            world.stated.purge();
            world.pairs.purge();
        }
        assert_eq!(world.map.len(), world.map.len_live());
        assert_eq!(world.set.len(), 0);
        assert_eq!((world.values.len(), world.words.len()), (0, 0));
        let by_content = (world.facts.len(), world.stated.len());
        assert_eq!((by_content, world.pairs.len()), ((0, 0), 0));
        let pending = [
            world.map.pending_dead(),
            world.set.pending_dead(),
            world.facts.pending_dead(),
            world.pairs.pending_dead(),
        ];
        assert_eq!(pending, [0; 4]);
    }
    assert!(world.map.len() <= HOT);
    drop((world, stage));
    let (made, destroyed) = (ledger.made.load(Relaxed), ledger.destroyed.load(Relaxed));
    assert_eq!(made, destroyed);
}
