//! Policies to compare with, over objects that are numbers: SIEVE as its paper has it, with laps, and LRU. And requests.

use crate::common::random::random;

/// A cache of a number of objects.
pub(crate) trait Policy {
    fn new(size: usize, universe: usize) -> Self;
    fn contains(&self, object: usize) -> bool;
    /// Asks for an object. It is in the cache afterwards. Returns which one went instead, if one did.
    fn request(&mut self, object: usize) -> Option<usize>;
}

/// A doubly linked list of numbers.
struct List {
    head: Option<usize>,
    tail: Option<usize>,
    /// Towards the head.
    prev: Vec<Option<usize>>,
    /// Towards the tail.
    next: Vec<Option<usize>>,
    holds: Vec<bool>,
    len: usize,
}

impl List {
    fn new(universe: usize) -> Self {
        List {
            head: None,
            tail: None,
            prev: vec![None; universe],
            next: vec![None; universe],
            holds: vec![false; universe],
            len: 0,
        }
    }

    fn push_head(&mut self, object: usize) {
        (self.prev[object], self.next[object]) = (None, self.head);
        match self.head {
            Some(head) => self.prev[head] = Some(object),
            None => self.tail = Some(object),
        }
        self.head = Some(object);
        self.holds[object] = true;
        self.len += 1;
    }

    fn remove(&mut self, object: usize) {
        let (prev, next) = (self.prev[object], self.next[object]);
        match prev {
            Some(prev) => self.next[prev] = next,
            None => self.head = next,
        }
        match next {
            Some(next) => self.prev[next] = prev,
            None => self.tail = prev,
        }
        self.holds[object] = false;
        self.len -= 1;
    }
}

/// Algorithm 1 of Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for Web Caches",
/// NSDI 2024, line by line; with `LAPS` the added rule: when the hand has passed as many objects as there were at the tail, it
/// evicts at most as many newer ones as are visited, and goes on to the tail.
pub(crate) struct Sieve<const LAPS: bool> {
    size: usize,
    queue: List,
    visited: Vec<bool>,
    hand: Option<usize>,
    /// How many the hand has still to pass.
    ahead: usize,
    /// How many it has evicted after that.
    beyond: usize,
    /// How many are visited.
    used: usize,
}

impl<const LAPS: bool> Policy for Sieve<LAPS> {
    fn new(size: usize, universe: usize) -> Self {
        Sieve {
            size,
            queue: List::new(universe),
            visited: vec![false; universe],
            hand: None,
            ahead: 0,
            beyond: 0,
            used: 0,
        }
    }

    fn contains(&self, object: usize) -> bool {
        self.queue.holds[object]
    }

    fn request(&mut self, object: usize) -> Option<usize> {
        if self.contains(object) {
            self.used += usize::from(!std::mem::replace(&mut self.visited[object], true));
            return None;
        }
        let mut gone = None;
        if self.queue.len == self.size {
            if LAPS && self.ahead == 0 && self.beyond >= self.used {
                self.hand = None;
            }
            let mut o = self.pass();
            while self.visited[o] {
                self.visited[o] = false;
                self.used -= 1;
                self.ahead = self.ahead.saturating_sub(1);
                o = self.pass();
            }
            self.beyond += usize::from(self.ahead == 0);
            self.ahead = self.ahead.saturating_sub(1);
            self.queue.remove(o);
            gone = Some(o);
        }
        self.queue.push_head(object);
        self.visited[object] = false;
        gone
    }
}

impl<const LAPS: bool> Sieve<LAPS> {
    /// The hand goes on. Returns where it was.
    fn pass(&mut self) -> usize {
        if self.hand.is_none() {
            (self.ahead, self.beyond) = (self.queue.len, 0);
        }
        let o = self.hand.or(self.queue.tail).unwrap();
        self.hand = self.queue.prev[o];
        o
    }
}

pub(crate) struct Lru {
    size: usize,
    queue: List,
}

impl Policy for Lru {
    fn new(size: usize, universe: usize) -> Self {
        Lru {
            size,
            queue: List::new(universe),
        }
    }

    fn contains(&self, object: usize) -> bool {
        self.queue.holds[object]
    }

    fn request(&mut self, object: usize) -> Option<usize> {
        let mut gone = None;
        if self.contains(object) {
            self.queue.remove(object);
        } else if self.queue.len == self.size {
            gone = self.queue.tail;
            self.queue.remove(gone.unwrap());
        }
        self.queue.push_head(object);
        gone
    }
}

/// Zipf: the object with rank r is asked for in proportion to 1 / r^skew. Ranks are not the numbers in order.
pub(crate) fn zipf(skew: f64, universe: usize, seed: u64) -> impl Iterator<Item = usize> {
    let mut sum = 0.0;
    let sums = Vec::from_iter((1..=universe).map(|rank| {
        sum += (rank as f64).powf(-skew);
        sum
    }));
    random(seed).map(move |number| {
        let at = (number % (1 << 40)) as f64 / (1_u64 << 40) as f64 * sum;
        let rank = sums.partition_point(|sum| *sum <= at);
        rank.min(universe - 1)
    })
}

/// The objects one after the other, and again.
pub(crate) fn looped(universe: usize) -> impl Iterator<Item = usize> {
    (0..universe).cycle()
}

/// Zipf requests of skew 1 for one half of the objects, and scans of the other half in between: of 200 objects after each
/// 400 requests.
pub(crate) fn scans(universe: usize, seed: u64) -> impl Iterator<Item = usize> {
    let half = universe / 2;
    let mut hot = zipf(1.0, half, seed);
    let mut scanned = looped(universe - half).map(move |object| half + object);
    (0..600).cycle().map(move |at| {
        let from: &mut dyn Iterator<Item = usize> = if at < 400 { &mut hot } else { &mut scanned };
        from.next().unwrap()
    })
}

/// What is asked for moves on: Zipf of skew 0.7 over a window of the objects, which has another beginning after each 50
/// requests.
pub(crate) fn drift(universe: usize, seed: u64) -> impl Iterator<Item = usize> {
    let requests = zipf(0.7, universe / 4, seed).enumerate();
    requests.map(move |(at, object)| (at / 50 + object) % universe)
}

/// What is asked for is another tenth of the objects after each so many requests: Zipf of skew 1, or one after the other.
pub(crate) fn shifts(universe: usize, often: usize, seed: u64) -> impl Iterator<Item = usize> {
    let part = universe / 10;
    let mut drawn = zipf(1.0, part, seed);
    let mut looped = looped(part / 2);
    (0..).map(move |at: usize| {
        let nth = at / often;
        let from: &mut dyn Iterator<Item = usize> = match nth % 2 {
            0 => &mut drawn,
            _ => &mut looped,
        };
        (nth * part + from.next().unwrap()) % universe
    })
}
