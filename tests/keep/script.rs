//! Random scripts, compared with a model that is a list.

use weakly::keep::{KeepAlive, Limit};

use crate::common::random::random;
use crate::common::{downgrade, is_alive, scaled};
use weakly::Strong;

type Object = Strong<usize>;

const STEPS: usize = scaled(100_000, 400);
const OBJECTS: usize = 24;

/// What is kept of an object.
#[derive(Clone, Copy)]
struct Member {
    number: usize,
    weight: usize,
    generation: usize,
    visited: bool,
}

/// The parts of a limit.
#[derive(Clone, Copy)]
struct Bounds {
    entries: usize,
    weight: Option<usize>,
    generations: Option<u32>,
}

impl Bounds {
    fn limit(self) -> Limit {
        let limit = Limit::entries(self.entries);
        let limit = match self.weight {
            Some(weight) => limit.weight(weight),
            None => limit,
        };
        match self.generations {
            Some(generations) => limit.generations(generations),
            None => limit,
        }
    }
}

/// A floor, as plain as it can be.
struct Model {
    bounds: Bounds,
    /// From the oldest to the newest.
    queue: Vec<Member>,
    hand: Option<usize>,
    /// How many the hand has still to pass in this lap, and how many it has taken after that.
    ahead: usize,
    beyond: usize,
    generation: usize,
    /// Who was kept last.
    latest: Option<usize>,
}

impl Model {
    fn place(&self, number: usize) -> Option<usize> {
        self.queue.iter().position(|it| it.number == number)
    }

    fn sum(&self) -> u128 {
        self.queue.iter().map(|it| it.weight as u128).sum()
    }

    fn weight(&self) -> usize {
        self.sum().try_into().unwrap_or(usize::MAX)
    }

    fn next(&self, at: usize) -> Option<usize> {
        Some(at + 1).filter(|next| *next < self.queue.len())
    }

    fn take(&mut self, at: usize) -> Member {
        self.hand = match self.hand {
            Some(hand) if hand == at => self.next(at).map(|_| at),
            hand => hand.map(|hand| hand - usize::from(hand > at)),
        };
        let member = self.queue.remove(at);
        self.ahead = self.ahead.min(self.queue.len());
        self.latest = self.latest.filter(|latest| *latest != member.number);
        member
    }

    /// The hand takes one; not the one that was kept last, if there is another.
    fn evict(&mut self, spares: bool) {
        let spared = self.latest.filter(|_| spares && self.queue.len() > 1);
        let visited = self.queue.iter().filter(|it| it.visited).count();
        if self.ahead == 0 && self.beyond >= visited {
            self.hand = None;
        }
        loop {
            if self.hand.is_none() {
                self.hand = Some(0);
                self.ahead = self.queue.len() - usize::from(spared.is_some());
                self.beyond = 0;
            }
            let at = self.hand.unwrap();
            self.hand = self.next(at);
            let member = &mut self.queue[at];
            if Some(member.number) == spared {
                continue;
            }
            let is_beyond = self.ahead == 0;
            self.ahead = self.ahead.saturating_sub(1);
            if !member.visited {
                self.beyond += usize::from(is_beyond);
                self.take(at);
                let hand = self
                    .hand
                    .filter(|at| Some(self.queue[*at].number) == spared);
                if let Some(hand) = hand {
                    self.hand = self.next(hand);
                }
                return;
            }
            member.visited = false;
        }
    }

    fn shrink_to(&mut self, weight: usize) -> usize {
        let before = self.queue.len();
        while self.sum() > weight as u128 {
            let mut latest = self
                .queue
                .iter()
                .filter(|it| Some(it.number) == self.latest);
            let fits = latest.any(|latest| latest.weight <= weight);
            self.evict(fits);
        }
        before - self.queue.len()
    }

    fn settle(&mut self) {
        if let Some(generations) = self.bounds.generations {
            let first = self.generation.saturating_sub(generations as usize);
            while let Some(at) = self.queue.iter().position(|it| it.generation < first) {
                self.take(at);
            }
        }
        while self.queue.len() > self.bounds.entries {
            self.evict(self.bounds.entries > 0);
        }
        if let Some(weight) = self.bounds.weight {
            self.shrink_to(weight);
        }
    }

    fn touch(&mut self, number: usize) -> bool {
        let generation = self.generation;
        let member = self.queue.iter_mut().find(|it| it.number == number);
        member.is_some_and(|member| {
            (member.visited, member.generation) = (true, generation);
            true
        })
    }

    fn keep(&mut self, number: usize, weight: usize) -> bool {
        let too_heavy = self.bounds.weight.is_some_and(|most| weight > most);
        if too_heavy || self.bounds.entries == 0 {
            if let Some(at) = self.place(number) {
                self.take(at);
            }
            return false;
        }
        if self.touch(number) {
            let at = self.place(number).unwrap();
            self.queue[at].weight = weight;
        } else {
            self.queue.push(Member {
                number,
                weight,
                generation: self.generation,
                visited: false,
            });
        }
        self.latest = Some(number);
        self.settle();
        true
    }

    fn set_limit(&mut self, bounds: Bounds) {
        self.bounds = bounds;
        self.settle();
    }

    fn clear(&mut self) {
        (self.queue, self.hand, self.latest) = (Vec::new(), None, None);
    }
}

/// 203, 204, 205, 206, 207, 208: After each step the same are kept, with the same weights; and an object lives if it is kept
/// or used.
#[test]
fn a_floor_is_as_its_model() {
    let mut random = random(11);
    let mut choice = |n: usize| random.next().unwrap() % n;
    let bounds = Bounds {
        entries: 5,
        weight: None,
        generations: None,
    };
    let mut kept = KeepAlive::<Object>::new(bounds.limit());
    let mut model = Model {
        bounds,
        queue: Vec::new(),
        hand: None,
        ahead: 0,
        beyond: 0,
        generation: 0,
        latest: None,
    };
    let mut users: [Option<Object>; OBJECTS] = Default::default();
    let objects = std::array::from_fn::<_, OBJECTS, _>(Object::from);
    let mut weak = objects.map(|object| downgrade(&object));
    // How often something of a kind has happened.
    let mut seen = [0; 5];
    for step in 0..STEPS {
        let number = choice(OBJECTS);
        match choice(40) {
            0..16 => {
                // Somebody finds it, or makes it anew.
                let object = weak[number].upgrade().unwrap_or_else(|| number.into());
                weak[number] = downgrade(&object);
                let weight = [0, 1, 2, 3, 5, 9, choice(40), usize::MAX][choice(8)];
                let is_kept = kept.keep(&object, weight);
                assert_eq!(is_kept, model.keep(number, weight), "{step}");
                seen[usize::from(is_kept)] += 1;
                users[number] = Some(object).filter(|_| choice(2) == 0);
            }
            16..24 => {
                if let Some(object) = weak[number].upgrade() {
                    assert_eq!(kept.touch(&object), model.touch(number), "{step}");
                }
            }
            24..30 => users[number] = None,
            30..32 => {
                if let Some(object) = weak[number].upgrade() {
                    let place = model.place(number);
                    assert_eq!(kept.release(&object).is_some(), place.is_some(), "{step}");
                    place.map(|at| model.take(at));
                }
            }
            32..36 => {
                kept.advance();
                model.generation += 1;
                model.settle();
            }
            36 => {
                let weight = choice(30);
                let gone = kept.shrink_to(weight);
                assert_eq!(gone, model.shrink_to(weight), "{step}");
                seen[2] += gone;
            }
            37 | 38 => {
                let bounds = Bounds {
                    entries: [0, 1, 2, 5, 12, usize::MAX][choice(6)],
                    weight: [Some(0), Some(3), Some(10), Some(30), Some(usize::MAX), None]
                        [choice(6)],
                    generations: [None, None, Some(0), Some(1), Some(2), Some(4)][choice(6)],
                };
                kept.set_limit(bounds.limit());
                model.set_limit(bounds);
            }
            _ => {
                if choice(5) == 0 {
                    kept.clear();
                    model.clear();
                }
            }
        }
        for (number, user) in users.iter().enumerate() {
            let is_kept = model.place(number).is_some();
            let lives = is_kept || user.is_some();
            assert_eq!(is_alive(&weak[number]), lives, "{step}, {number}");
            if let Some(object) = user {
                assert_eq!(kept.contains(object), is_kept, "{step}, {number}");
            }
        }
        assert_eq!(kept.len(), model.queue.len(), "{step}");
        assert_eq!(kept.retained_weight(), model.weight(), "{step}");
        seen[3] += usize::from(model.weight() == usize::MAX);
        seen[4] += usize::from(model.queue.len() > 5);
    }
    let often = seen.iter().all(|times| *times > STEPS / 200);
    assert!(cfg!(miri) || often, "{seen:?}");
}
