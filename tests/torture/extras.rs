//! What is no place for objects of others: limits, cycles, anchors, queues and finalizers. Each act has objects of its own, of
//! which some die on other threads.

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

use super::body::{Body, stall};
use super::places::Results;
use crate::common::owned::{self, Content};
use crate::common::subject::shared::{Ends, Maps, ValueMaps, quietly};
use weakly::concurrent::{KeepAlive, WeakMap};
use weakly::keep::Limit;
use weakly::{Anchor, ReferenceQueue, Strong};

type Object = Strong<Body>;
/// What the maps of all places own, so that these are the same maps.
type Owned = owned::Owned<Ends, Body>;

fn owned(body: Body) -> Arc<Owned> {
    Arc::new(Owned::new(body, &quietly()))
}

/// The ceiling of one map, and the floor of another.
const LIMIT: usize = 30;
const NAMES: usize = 40;
/// How many objects wait for another thread to drop them.
const SHELF: usize = 100;

/// What is due, and what has come: of each as many, and the same numbers.
#[derive(Default)]
struct Tally([AtomicUsize; 4]);

impl Tally {
    fn is_due(&self, number: usize) {
        self.0[0].fetch_add(1, Relaxed);
        self.0[1].fetch_add(number, Relaxed);
    }

    fn comes(&self, number: usize) {
        self.0[2].fetch_add(1, Relaxed);
        self.0[3].fetch_add(number, Relaxed);
    }

    fn check(&self) {
        let [due, due_numbers, came, numbers] = self.0.each_ref().map(|it| it.load(Relaxed));
        assert_eq!((due, due_numbers), (came, numbers));
    }
}

pub(crate) struct Extras {
    /// With a ceiling: entries go though their keys live.
    bounded: Maps<Object>,
    /// With a floor: its objects live though nobody uses them.
    named: ValueMaps<Object>,
    floor: KeepAlive<Object>,
    asked: AtomicUsize,
    /// Values that own keys.
    rings: WeakMap<Object, Object>,
    ring_entries: Tally,
    anchored: WeakMap<Anchor, Arc<Body>>,
    /// Results that depend on more than their keys.
    results: Results<Object>,
    deaths: ReferenceQueue<Body>,
    messages: Tally,
    home: ReferenceQueue<Body>,
    returned: Tally,
    finalized: Arc<Tally>,
    shelf: Mutex<Vec<Object>>,
}

impl Extras {
    /// How many tables they have that threads share.
    pub(crate) const TABLES: usize = 6;

    pub(crate) fn new() -> Self {
        let (bounded, named) = (Maps::new(), ValueMaps::new());
        bounded.set_ceiling(Limit::entries(LIMIT), |_| 1);
        bounded.set_listener(|_, _, _| stall());
        let floor = named.set_keep_alive(Limit::entries(LIMIT).generations(3), |_| 1);
        floor.set_listener(|_, _| stall());
        Extras {
            bounded,
            named,
            floor,
            asked: AtomicUsize::new(0),
            rings: WeakMap::new(),
            ring_entries: Tally::default(),
            anchored: WeakMap::new(),
            results: Results::new(),
            deaths: ReferenceQueue::new(),
            messages: Tally::default(),
            home: ReferenceQueue::new(),
            returned: Tally::default(),
            finalized: Arc::default(),
            shelf: Mutex::default(),
        }
    }

    pub(crate) fn act(&self, mut dice: impl Iterator<Item = usize>) {
        let mut roll = |sides| dice.next().unwrap() % sides;
        match roll(8) {
            0 => self.fill_the_bounded(),
            1 => self.ask_by_name(roll(30)),
            2 => self.close_a_ring(1 + roll(3), roll(100) == 0),
            3 => self.drop_an_anchor(),
            4 => self.await_a_death(roll(4) == 0),
            5 => self.send_home(),
            6 => self.depend(),
            _ => self.finalize(roll(4)),
        }
    }

    fn put_on_the_shelf(&self, object: Object) {
        let mut shelf = self.shelf.lock().unwrap();
        shelf.push(object);
        let other = (shelf.len() > SHELF).then(|| shelf.remove(0));
        drop(shelf);
        drop(other);
    }

    fn fill_the_bounded(&self) {
        for _ in 0..5 {
            let object = Object::new(Body::new());
            let number = object.number();
            self.bounded.insert(&object, owned((*object).clone()));
            let found = self.bounded.get(&object);
            found.inspect(|found| found.number.check(number));
            self.put_on_the_shelf(object);
        }
        // (Of each thread one more, that is on its way.)
        assert!(self.bounded.len() <= LIMIT + crate::MOST_THREADS);
    }

    /// Some threads ask for the same at a time: one makes it, others wait.
    fn ask_by_name(&self, then: usize) {
        let name = self.asked.fetch_add(1, Relaxed) / 16 % NAMES;
        let key = || owned(Body::clone_of(name));
        let make = |key: &Owned| {
            thread::sleep(Duration::from_micros(100));
            Object::new(key.number.clone())
        };
        let object = self.named.get_or_insert_with(key(), |key| make(key));
        object.check(name);
        let other = self.named.get(&key());
        other.inspect(|other| other.check(name));
        match then {
            0 => _ = self.named.remove(&key()),
            1 => self.floor.advance(),
            2 => _ = self.floor.shrink_to(LIMIT / 2),
            _ => self.put_on_the_shelf(object),
        }
    }

    /// Each value is the next key, and the last the first.
    fn close_a_ring(&self, length: usize, purge: bool) {
        let ring: Vec<_> = (0..length).map(|_| Object::new(Body::new())).collect();
        for (at, object) in ring.iter().enumerate() {
            let next = &ring[(at + 1) % length];
            assert!(self.rings.insert(object, next.clone()));
            self.ring_entries.is_due(0);
        }
        if purge {
            self.purge_cycles();
        }
        for (at, object) in ring.iter().enumerate() {
            let next = self.rings.get(object).expect("its ring is held");
            next.check(ring[(at + 1) % length].number());
        }
    }

    fn purge_cycles(&self) {
        for _ in 0..self.rings.purge_cycles().removed {
            self.ring_entries.comes(0);
        }
    }

    fn drop_an_anchor(&self) {
        let (anchor, body) = (Box::new(Anchor::new()), Arc::new(Body::new()));
        assert!(self.anchored.insert(&anchor, body.clone()));
        let found = self.anchored.get(&*anchor).expect("it is alive");
        found.check(body.number());
        let weak = anchor.downgrade();
        drop(anchor);
        assert!(weak.is_expired() && self.anchored.get(&weak).is_none());
    }

    /// The result goes with an object that is not its key.
    fn depend(&self) {
        let [key, other] = [(); 2].map(|()| Object::new(Body::new()));
        let compute = || {
            self.results.get_or_compute((&key, &0), |computation| {
                computation.depends_on(&other);
                Arc::new((*other).clone())
            })
        };
        compute().check(other.number());
        compute().check(other.number());
        drop(other);
        assert!(self.results.get((&key, &0)).is_none());
        self.put_on_the_shelf(key);
    }

    fn await_a_death(&self, cancel: bool) {
        let object = Object::new(Body::new());
        let number = object.number();
        self.messages.is_due(number);
        let ticket = self.deaths.register(&object, (*object).clone());
        let message = if cancel { ticket.cancel() } else { None };
        assert_eq!(message.is_some(), cancel);
        self.put_on_the_shelf(object);
        let message = message.or_else(|| self.deaths.wait_timeout(Duration::from_micros(10)));
        message.inspect(|it| self.messages.comes(it.number()));
    }

    fn send_home(&self) {
        let object = Strong::new_returning(Body::new(), &self.home);
        self.returned.is_due(object.number());
        self.put_on_the_shelf(object);
        let body = self.home.poll();
        body.inspect(|body| self.returned.comes(body.number()));
    }

    fn finalize(&self, how: usize) {
        let object = Object::new(Body::new());
        let (number, tally) = (object.number(), self.finalized.clone());
        tally.is_due(number);
        let token = Strong::finalize(&object, move || {
            stall();
            tally.comes(number);
        });
        match how {
            0 => assert!(token.run_now()),
            1 => token.detach().expect("it is alive")(),
            _ => {}
        }
        assert_eq!(token.is_pending(), how > 1);
        self.put_on_the_shelf(object);
    }

    /// No thread uses it: everything has come that was due, and nothing is left.
    pub(crate) fn settle(&self) {
        self.shelf.lock().unwrap().drain(..).for_each(drop);
        self.floor.clear();
        self.purge_cycles();
        self.deaths
            .drain()
            .for_each(|it| self.messages.comes(it.number()));
        self.home
            .drain()
            .for_each(|it| self.returned.comes(it.number()));
        for tally in [
            &self.ring_entries,
            &self.messages,
            &self.returned,
            &self.finalized,
        ] {
            tally.check();
        }
        macro_rules! is_empty {
            ($($map:ident)*) => {$(
                self.$map.purge();
                self.$map.shrink_to_fit();
                assert_eq!((self.$map.len(), self.$map.pending_dead()), (0, 0));
            )*};
        }
        is_empty!(bounded named rings anchored results);
        assert!(self.floor.is_empty() && self.bounded.retained_weight() == 0);
    }
}
