//! What a thread does in a breath: it makes objects, asks for them in all places, and lets them go, or others do.

use std::mem;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Barrier, Mutex};
use std::thread;
use std::time::Duration;

use super::body::{Body, died_here, stall};
use super::places::{Life, Own, Place, Shareable, own_places};
use crate::common::owned::Content;
use weakly::reference::WeakRef;

/// How many residents all threads take out and put back.
pub(crate) const HOT: usize = 4;
/// How many objects are on their way to another thread.
const ON_THE_WAY: usize = 200;

/// What lasts for the whole run.
pub(crate) struct World<L: Life> {
    pub(crate) places: Vec<Shareable<L>>,
    pub(crate) residents: Vec<L>,
}

/// An object with an owner, and where it is.
struct Owner<L: Life> {
    object: L,
    /// A bit for each.
    places: u64,
    /// In whose own places it may be.
    maker: usize,
}

impl<L: Life> Owner<L> {
    fn is_in(&self, which: usize) -> bool {
        self.places >> which & 1 != 0
    }
}

/// What is left of an object that is dead.
struct Ghost<L: Life>(Body, L::Weak);

/// What the threads of a breath share.
pub(crate) struct Breath<'w, L: Life> {
    pub(crate) world: &'w World<L>,
    on_the_way: Mutex<Vec<Owner<L>>>,
    /// For each thread, the ghosts of objects that it made.
    mail: Vec<Mutex<Vec<Ghost<L>>>>,
    /// The place, shared or of each thread, that all objects enter.
    largest: usize,
    size: usize,
    barrier: Barrier,
    pub(crate) checked: AtomicUsize,
}

impl<'w, L: Life> Breath<'w, L> {
    pub(crate) fn new(world: &'w World<L>, threads: usize, size: usize, largest: usize) -> Self {
        Breath {
            world,
            on_the_way: Mutex::default(),
            mail: (0..threads).map(|_| Mutex::default()).collect(),
            largest,
            size,
            barrier: Barrier::new(threads),
            checked: AtomicUsize::new(0),
        }
    }
}

pub(crate) struct Actor<'b, 'w, L: Life, D> {
    breath: &'b Breath<'w, L>,
    me: usize,
    dice: D,
    pool: Vec<Owner<L>>,
    own: Vec<Own<L>>,
    checked: usize,
}

impl<'b, 'w, L: Life, D: Iterator<Item = usize>> Actor<'b, 'w, L, D> {
    pub(crate) fn new(breath: &'b Breath<'w, L>, me: usize, dice: D) -> Self {
        Actor {
            breath,
            me,
            dice,
            pool: Vec::new(),
            own: own_places(),
            checked: 0,
        }
    }

    fn roll(&mut self, sides: usize) -> usize {
        self.dice.next().unwrap() % sides
    }

    fn any(&mut self) -> Option<usize> {
        (!self.pool.is_empty()).then(|| self.roll(self.pool.len()))
    }

    /// Grows, works and shrinks; then all threads have let go of everything, and its own places are empty.
    pub(crate) fn live(mut self) {
        // All at once, so that each has a number of its own.
        self.breath.barrier.wait();
        let lived = catch_unwind(AssertUnwindSafe(|| {
            self.meet_all_places();
            self.breathe();
        }));
        // Also if it panics: the others would wait for ever.
        self.breath.barrier.wait();
        lived.unwrap_or_else(|panic| resume_unwind(panic));
        self.read_mail();
        for (kind, place) in self.own.iter().enumerate() {
            place.purge();
            place.shrink();
            assert_eq!(place.counts(), (0, 0), "own place {kind}");
        }
        self.breath.checked.fetch_add(self.checked, Relaxed);
    }

    fn breathe(&mut self) {
        let share = self.breath.size.div_ceil(self.breath.mail.len());
        for _ in 0..share {
            self.make();
            if self.roll(8) == 0 {
                self.act();
            }
        }
        for _ in 0..share.max(100) {
            self.act();
        }
        if self.roll(4) == 0 {
            // Also while their objects live.
            self.own.clear();
        }
        while let Some(at) = self.any() {
            match self.roll(8) {
                0 => self.pass_on(at),
                1 => self.look(at),
                _ => self.let_go(at),
            }
        }
        loop {
            let owner = self.breath.on_the_way.lock().unwrap().pop();
            let Some(owner) = owner else { break };
            self.end(owner);
        }
    }

    fn act(&mut self) {
        let any = self.any();
        match (self.roll(90), any) {
            (0..30, Some(at)) => self.look(at),
            (30..40, Some(at)) => self.let_go(at),
            (40..50, Some(at)) => self.pass_on(at),
            (50..60, Some(at)) => self.move_out(at),
            (60..66, _) => self.look_at_a_resident(),
            (66..74, _) => self.change_a_hot_one(),
            (74..78, _) => self.read_mail(),
            (78..84, _) => self.upkeep(),
            // As many times in a breath, whatever its size.
            (84.., Some(at)) if self.roll((self.breath.size / 20).max(40)) == 0 => self.sift(at),
            _ => self.make(),
        }
    }

    /// Of the places: first those that are shared, then this thread's own.
    fn place(&self, which: usize) -> &dyn Place<L> {
        let shared = &self.breath.world.places;
        match which.checked_sub(shared.len()) {
            None => &*shared[which],
            Some(own) => &*self.own[own],
        }
    }

    /// How many places this thread knows of an object: in its own is only what it made.
    fn known(&self, maker: usize) -> usize {
        let own = if maker == self.me { self.own.len() } else { 0 };
        self.breath.world.places.len() + own
    }

    /// What a thread takes in a collection, it takes at its first visit.
    fn meet_all_places(&self) {
        let World { places, residents } = self.breath.world;
        for place in places {
            assert!(place.has(&residents[HOT]));
            if place.lets_go() {
                place.leave(&residents[self.me % HOT]);
            }
            place.purge_some();
        }
    }

    fn make(&mut self) {
        let mut owner = Owner {
            object: Body::new().into(),
            places: 0,
            maker: self.me,
        };
        let known = self.known(self.me);
        self.enter(&mut owner, self.breath.largest % known);
        for _ in 0..self.roll(4) * self.roll(2) {
            let other = self.roll(known);
            self.enter(&mut owner, other);
        }
        self.pool.push(owner);
        if self.pool.len() > self.breath.size {
            self.let_go(0);
        }
    }

    fn enter(&self, owner: &mut Owner<L>, which: usize) {
        let place = self.place(which);
        assert_eq!(place.has_any(&owner.object), owner.is_in(which), "{which}");
        place.enter(&owner.object);
        assert!(place.has(&owner.object), "{which}");
        owner.places |= 1 << which;
    }

    fn look(&mut self, at: usize) {
        let owner = &self.pool[at];
        for which in 0..self.known(owner.maker) {
            let (place, there) = (self.place(which), owner.is_in(which));
            let found = if there {
                place.has(&owner.object)
            } else {
                place.has_any(&owner.object)
            };
            assert_eq!(found, there, "{which}");
        }
        self.checked += self.known(owner.maker);
    }

    fn move_out(&mut self, at: usize) {
        let mut owner = self.pool.swap_remove(at);
        let which = self.roll(self.known(owner.maker));
        let place = self.place(which);
        if !owner.is_in(which) {
            self.enter(&mut owner, which);
        } else if place.lets_go() {
            assert!(place.leave(&owner.object), "{which}");
            assert!(!place.has_any(&owner.object), "{which}");
            owner.places &= !(1 << which);
        }
        self.checked += 1;
        self.pool.push(owner);
    }

    /// All entries are shown, each while its object lives. One object of this thread's has to go.
    fn sift(&mut self, at: usize) {
        let mut owner = self.pool.swap_remove(at);
        let which = self.roll(self.known(owner.maker));
        let (place, victim) = (self.place(which), owner.object.number());
        let (mut shown, mut pause) = (false, Duration::from_millis(10));
        place.sift(&mut |body| {
            stall();
            // While others wait for nothing of this.
            thread::sleep(mem::take(&mut pause));
            shown |= body.number() == victim;
            body.number() != victim
        });
        assert_eq!(shown, owner.is_in(which) && place.shows(), "{which}");
        if shown && place.lets_go() {
            assert!(!place.has_any(&owner.object), "{which}");
            owner.places &= !(1 << which);
        }
        self.pool.push(owner);
    }

    fn look_at_a_resident(&mut self) {
        let World { places, residents } = self.breath.world;
        let resident = &residents[HOT + self.roll(residents.len() - HOT)];
        assert!(places.iter().all(|place| place.has(resident)));
        self.checked += places.len();
    }

    fn change_a_hot_one(&mut self) {
        let World { places, residents } = self.breath.world;
        let (place, hot) = (&places[self.roll(places.len())], &residents[self.roll(HOT)]);
        match self.roll(4) {
            0 if place.lets_go() => _ = place.leave(hot),
            1 => place.enter(hot),
            _ => _ = place.has(hot),
        }
    }

    fn upkeep(&mut self) {
        let which = self.roll(self.known(self.me));
        let is_rare = self.roll(self.breath.size.max(200) / 20) == 0;
        let place = self.place(which);
        if is_rare {
            place.shrink();
        } else {
            place.purge_some();
        }
    }

    /// Another thread gets it, and may drop it.
    fn pass_on(&mut self, at: usize) {
        let owner = self.pool.swap_remove(at);
        let other = self.dice.next().unwrap();
        let mut on_the_way = self.breath.on_the_way.lock().unwrap();
        on_the_way.push(owner);
        if on_the_way.len() > ON_THE_WAY {
            let at = other % on_the_way.len();
            let other = on_the_way.swap_remove(at);
            drop(on_the_way);
            self.pool.push(other);
        }
    }

    fn let_go(&mut self, at: usize) {
        let owner = self.pool.swap_remove(at);
        self.end(owner);
    }

    /// If that was the last handle, nothing of the object is found afterwards: here, and in the places of its maker.
    fn end(&mut self, owner: Owner<L>) {
        let Owner { object, maker, .. } = owner;
        if self.roll(3) > 0 {
            return;
        }
        let number = object.number();
        let ghost = Ghost(Body::clone_of(number), L::downgrade(&object));
        drop(object);
        // Else another thread looks at it at this moment.
        if died_here(number) {
            self.check_dead(&ghost, maker);
            if maker != self.me {
                self.breath.mail[maker].lock().unwrap().push(ghost);
            }
        }
    }

    fn read_mail(&mut self) {
        let mail = mem::take(&mut *self.breath.mail[self.me].lock().unwrap());
        for ghost in mail {
            self.check_dead(&ghost, self.me);
        }
    }

    fn check_dead(&mut self, Ghost(content, weak): &Ghost<L>, maker: usize) {
        assert!(weak.upgrade().is_none());
        for which in 0..self.known(maker) {
            let found = self.place(which).has_dead(content, weak);
            assert_ne!(found, Some(true), "{which}");
            self.checked += usize::from(found.is_some());
        }
    }
}
