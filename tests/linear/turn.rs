//! What a thread of a script has and does, and how that is noted.

use std::cell::{Cell, RefCell};
use std::hint::spin_loop;
use std::sync::Arc;
use std::sync::atomic::Ordering::SeqCst;
use std::{mem, thread, vec};

use weakly::Reclaim;

use super::spec::{Entry, Event, Objects, Then, Was};
use super::world::{End, FILLER, Hand, Handle, Owned, World, take_clones, take_ends};
use crate::common::{panics, quiet_panic};

/// A collection, as scripts use it. What its keys are, and how an operation is noted, is its own.
pub trait Face<K: Handle>: Sync {
    /// How many operations on a key there are.
    fn operations(&self) -> usize;

    fn key(&self, hand: &Hand<K>) -> u32;
    /// Another key of the object with this one, if it has two.
    fn twin(&self, _key: u32) -> Option<u32> {
        None
    }
    fn act(&self, turn: &Turn<K>, hand: &Hand<K>, operation: usize);
    /// Whether the key has an entry, which is noted.
    fn look(&self, turn: &Turn<K>, hand: &Hand<K>) -> bool;
    /// Inserts an entry for an object that is no key of the script.
    fn fill(&self, world: &Arc<World>, object: &K);
    /// Shows all entries: the key, the value, the object of the key if it shows that. Returns whether it can.
    fn each(&self, _see: &mut dyn FnMut(u32, u32, Option<u32>)) -> bool {
        false
    }
    /// Keeps some.
    fn retain_some(&self, _keep: &mut dyn FnMut(u32, u32) -> bool) {}
    /// How many things it owns, with so many entries and none that is dead.
    fn owned(&self, entries: usize) -> usize;
    /// What must be so when no thread uses it.
    fn check_at_rest(&self) {}

    fn len(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn purge(&self) -> bool;
    fn clear(&self);
    fn shrink_to_fit(&self);
    fn set_reclaim(&mut self, reclaim: Reclaim);
}

/// The methods about the whole.
macro_rules! whole {
    ($face:ty) => {
        $crate::forwards! {
            $face, self, *self;
            & len() -> usize;
            & pending_dead() -> usize;
            & purge() -> bool;
            & clear() -> ();
            & shrink_to_fit() -> ();
            mut set_reclaim(reclaim: weakly::Reclaim);
        }
    };
}
pub(crate) use whole;

/// The keys that an event is about.
pub enum About {
    One(u32),
    All,
    AllBut(Vec<u32>),
}

impl About {
    pub fn has(&self, key: u32) -> bool {
        match self {
            About::One(one) => *one == key,
            About::All => true,
            About::AllBut(but) => !but.contains(&key),
        }
    }
}

/// When something has happened: between two moments.
#[derive(Clone, Copy)]
pub struct Span(pub(super) u64, pub(super) u64);

pub struct Turn<K: Handle> {
    thread: usize,
    pub world: Arc<World>,
    choices: RefCell<vec::IntoIter<usize>>,
    pub hands: RefCell<Vec<Hand<K>>>,
    fillers: RefCell<Vec<K>>,
    /// What operations have returned.
    received: RefCell<Vec<K>>,
    events: RefCell<Vec<(About, Event)>>,
    /// When the operation that is under way has begun.
    since: Cell<Option<u64>>,
    flights: Cell<u32>,
}

impl<K: Handle> Turn<K> {
    pub fn new(
        thread: usize,
        world: &Arc<World>,
        choices: Vec<usize>,
        hands: Vec<Hand<K>>,
    ) -> Self {
        Turn {
            thread,
            world: world.clone(),
            choices: RefCell::new(choices.into_iter()),
            hands: RefCell::new(hands),
            fillers: RefCell::default(),
            received: RefCell::default(),
            events: RefCell::default(),
            since: Cell::new(None),
            flights: Cell::new(0),
        }
    }

    pub fn into_events(self) -> Vec<(About, Event)> {
        self.events.take()
    }

    /// One of `n`.
    pub fn choose(&self, n: usize) -> usize {
        self.choices.borrow_mut().next().unwrap_or(0) % n
    }

    /// Lets others go first, or not.
    pub fn pause(&self) {
        match self.choose(8) {
            4 => (0..20).for_each(|_| spin_loop()),
            5 => (0..200).for_each(|_| spin_loop()),
            6 => thread::yield_now(),
            7 => (0..3).for_each(|_| thread::yield_now()),
            _ => {}
        }
    }

    pub(super) fn note_at(
        &self,
        about: About,
        Span(from, to): Span,
        name: &'static str,
        (was, then): (Was, Then),
        may_miss: bool,
    ) {
        let thread = self.thread;
        let event = Event {
            from,
            to,
            thread,
            name,
            was,
            then,
            may_miss,
        };
        self.events.borrow_mut().push((about, event));
    }

    pub fn note(&self, about: About, span: Span, name: &'static str, what: (Was, Then)) {
        self.note_at(about, span, name, what, false);
    }

    /// Notes what has ended on this thread: objects in this time.
    fn note_ends(&self, span: Span) {
        for end in take_ends() {
            match end {
                End::Object(FILLER) => {}
                End::Object(object) => {
                    self.note(About::All, span, "death", (Was::Any, Then::Die(object)));
                }
                End::Owned { number, key, at } => {
                    let gone = (Was::Not(number), Then::Nothing);
                    self.note(About::One(key), Span(at, at), "destruction", gone);
                }
            }
        }
    }

    /// Runs something, in which objects may die.
    pub fn timed<R>(&self, run: impl FnOnce() -> R) -> (R, Span) {
        let (mut run, mut result) = (Some(run), None);
        let span = self.span_of(&mut || result = run.take().map(|run| run()));
        (result.expect("it has run"), span)
    }

    fn span_of(&self, run: &mut dyn FnMut()) -> Span {
        let from = self.world.now();
        let outer = self.since.get();
        self.note_ends(Span(outer.unwrap_or(from), from));
        self.since.set(Some(from));
        run();
        let span = Span(from, self.world.now());
        self.note_ends(span);
        self.since.set(outer);
        span
    }

    /// Runs an operation on a key, which says what it showed and did.
    pub fn does(&self, key: u32, name: &'static str, run: &mut dyn FnMut() -> (Was, Then)) {
        let (what, span) = self.timed(run);
        self.note(About::One(key), span, name, what);
    }

    /// The same, where it is known what it does.
    pub fn asks<W: Into<Was>>(
        &self,
        key: u32,
        name: &'static str,
        then: Then,
        run: &mut dyn FnMut() -> W,
    ) {
        self.does(key, name, &mut || (run().into(), then));
    }

    /// The same of one that changes nothing; returns whether it has found something.
    pub fn finds(&self, key: u32, run: &mut dyn FnMut() -> Option<u32>) -> bool {
        let (found, span) = self.timed(run);
        self.note(About::One(key), span, "look", (found.into(), Then::Nothing));
        found.is_some()
    }

    /// Runs an operation that may remove an entry, if a closure says so.
    pub fn may_remove(
        &self,
        key: u32,
        wanted: bool,
        run: &mut dyn FnMut(&dyn Fn(u32) -> bool) -> bool,
    ) {
        let shown = Cell::new(None);
        let show = |value| {
            shown.set(Some(value));
            self.pause();
            wanted
        };
        self.does(key, "remove_if", &mut || match (run(&show), shown.get()) {
            (true, shown) => (shown.into(), Then::Clear),
            (false, Some(shown)) if !wanted => (Some(shown).into(), Then::Nothing),
            (false, _) => (Was::Nothing, Then::Nothing),
        });
    }

    /// Runs a transfer from one key to another, for an object that the entry lives as long as. What it has moved is what it
    /// has cloned first. It is three operations: a look at the one key, an insertion under the other, and the removal of
    /// what was seen, unless something has come between.
    pub fn transfers(
        &self,
        [from, to]: [u32; 2],
        lives: Objects,
        run: &mut dyn FnMut() -> Option<u32>,
    ) {
        take_clones();
        let (old, span) = self.timed(run);
        let clones = take_clones();
        let Some(&moved) = clones.first() else {
            assert!(old.is_none(), "nothing was moved");
            return;
        };
        // If the transfer has begun anew, meanwhile another value may have come.
        if clones.iter().any(|&it| it != moved && Some(it) != old) {
            self.world.unclear.store(true, SeqCst);
        }
        let seen = (Was::Seen(moved, None), Then::Nothing);
        self.note(About::One(from), span, "transfer, look", seen);
        let was = match old {
            // Its own entry was replaced.
            None if from == to => Was::NothingOr(moved),
            old => old.into(),
        };
        let value = moved;
        let put = (was, Then::Put(Entry { value, lives }));
        self.note(About::One(to), span, "transfer", put);
        if from != to {
            let gone = (Was::Any, Then::ClearValue(moved));
            self.note_at(About::One(from), span, "transfer, removal", gone, true);
        }
    }

    /// Runs an operation that asks for a value, and may make it, while something else happens. It says what the value is,
    /// and what that lives as long as, besides what is known before.
    pub fn flies(
        &self,
        key: u32,
        lives: Objects,
        meanwhile: &dyn Fn(),
        call: &mut dyn FnMut(&Flight<'_, K>) -> Option<(u32, Objects)>,
    ) {
        let flights = self.flights.replace(self.flights.get() + 1);
        let flight = Flight {
            turn: self,
            meanwhile,
            number: flights << 8 | self.thread as u32,
            fate: self.choose(12),
            made: Cell::default(),
        };
        let mut found = None;
        let (panicked, Span(from, to)) = self.timed(|| panics(|| found = call(&flight)));
        assert!(!panicked || flight.fate == PANICS, "it panicked");
        let Some((begun, ended)) = flight.made.get() else {
            let (value, _) = found.expect("it was there");
            let seen = (Some(value).into(), Then::Nothing);
            return self.note(About::One(key), Span(from, to), "find", seen);
        };
        let number = flight.number;
        let begin = (Was::Nothing, Then::Begin(number, lives));
        self.note(About::One(key), Span(from, begun), "begin", begin);
        let end = match found {
            Some((value, lives)) => Then::Keep(number, Entry { value, lives }),
            None => Then::Fail(number),
        };
        self.note(About::One(key), Span(ended, to), "end", (Was::Any, end));
    }

    /// What a collection owns for a key.
    pub fn owned(&self, key: u32) -> Owned {
        self.world.owned(key)
    }

    /// A new object.
    pub fn object(&self, content: u32) -> K {
        self.world.object(content).into()
    }

    /// The object of any hand.
    pub fn any_object(&self) -> Option<K> {
        let hands = self.hands.borrow();
        hands[self.choose(hands.len())].strong.clone()
    }

    /// Takes what an operation returns; returns its number.
    pub fn receive(&self, object: K) -> u32 {
        let number = object.number;
        self.received.borrow_mut().push(object);
        number
    }

    /// Drops what may be the last handle.
    pub fn drops(&self, object: K) {
        self.timed(|| drop(object));
    }

    /// Keeps some of what was received.
    pub fn sort_received(&self) {
        for object in mem::take(&mut *self.received.borrow_mut()) {
            if self.choose(4) == 0 {
                self.takes(object);
            } else {
                self.drops(object);
            }
        }
    }

    /// Puts an object into the next hand with an object of this content: so there is always one.
    fn takes(&self, object: K) {
        let mut hands = self.hands.borrow_mut();
        let first = self.choose(hands.len());
        let at = (0..hands.len())
            .map(|n| (first + n) % hands.len())
            .find(|at| hands[*at].content == object.content)
            .expect("each content is in a hand");
        let before = mem::replace(&mut hands[at], Hand::new(object));
        drop(hands);
        if let Some(object) = before.strong {
            self.drops(object);
        }
    }

    pub fn drops_one(&self) {
        let mut hands = self.hands.borrow_mut();
        let at = self.choose(hands.len());
        let object = hands[at].strong.take();
        drop(hands);
        if let Some(object) = object {
            self.drops(object);
        }
    }

    pub fn drops_received(&self) {
        let received = self.received.take();
        received.into_iter().for_each(|object| self.drops(object));
    }

    pub fn drops_fillers(&self) {
        let fillers = self.fillers.take();
        fillers.into_iter().for_each(|object| self.drops(object));
    }

    pub fn drops_all(&self) {
        let hands = &mut *self.hands.borrow_mut();
        let objects = hands.iter_mut().filter_map(|hand| hand.strong.take());
        objects.for_each(|object| self.drops(object));
    }

    /// Gets a strong handle again: to the same object, or a new one.
    pub fn revives_one(&self) {
        use weakly::reference::WeakRef;
        let (number, content, weak) = {
            let hands = self.hands.borrow();
            let hand = &hands[self.choose(hands.len())];
            (hand.number, hand.content, hand.weak.clone())
        };
        let (object, span) = self.timed(|| weak.upgrade());
        let was = match object {
            Some(_) => Was::Alive(number),
            None => Was::Dead(number),
        };
        self.note(About::All, span, "upgrade", (was, Then::Nothing));
        self.takes(object.unwrap_or_else(|| self.object(content)));
    }

    pub fn renews_one(&self) {
        let content = {
            let hands = self.hands.borrow();
            hands[self.choose(hands.len())].content
        };
        self.takes(self.object(content));
    }

    /// Makes the table grow, or shrink.
    pub fn fills(&self, all: &dyn Face<K>) {
        let fillers = if self.choose(2) == 0 {
            (0..1 + self.choose(24))
                .map(|n| K::from(self.world.filler(n as u32)))
                .collect()
        } else {
            Vec::new()
        };
        self.timed(|| {
            for object in &fillers {
                all.fill(&self.world, object);
            }
            drop(self.fillers.replace(fillers));
            if self.choose(2) == 0 {
                all.shrink_to_fit();
            }
        });
    }
}

/// A flight with this fate panics, with that one fails.
const PANICS: usize = 11;
const FAILS: usize = 10;

/// An operation that may make a value.
pub struct Flight<'a, K: Handle> {
    turn: &'a Turn<K>,
    meanwhile: &'a dyn Fn(),
    pub number: u32,
    fate: usize,
    /// When that began and ended.
    made: Cell<Option<(u64, u64)>>,
}

impl<K: Handle> Flight<'_, K> {
    pub fn makes<T>(&self, make: &mut dyn FnMut() -> T) -> Result<T, ()> {
        let begun = self.turn.world.now();
        self.made.set(Some((begun, begun)));
        match self.turn.choose(4) {
            0 => (self.meanwhile)(),
            _ => self.turn.pause(),
        }
        let made = make();
        self.made.set(Some((begun, self.turn.world.now())));
        match self.fate {
            PANICS => quiet_panic(),
            FAILS => Err(()),
            _ => Ok(made),
        }
    }
}
