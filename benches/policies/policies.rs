//! Policies to compare with, over objects that are numbers: SIEVE as its paper has it, and LRU. And requests.

use crate::Cache;
use crate::random::random;

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
/// NSDI 2024, line by line.
pub(crate) struct Sieve {
    size: usize,
    queue: List,
    visited: Vec<bool>,
    hand: Option<usize>,
}

impl Sieve {
    pub(crate) fn new(size: usize, universe: usize) -> Self {
        Sieve {
            size,
            queue: List::new(universe),
            visited: vec![false; universe],
            hand: None,
        }
    }
}

impl Cache for Sieve {
    fn ask(&mut self, object: usize) -> bool {
        if self.queue.holds[object] {
            self.visited[object] = true;
            return true;
        }
        if self.queue.len == self.size {
            let mut o = self.hand.or(self.queue.tail).unwrap();
            while self.visited[o] {
                self.visited[o] = false;
                o = self.queue.prev[o].or(self.queue.tail).unwrap();
            }
            self.hand = self.queue.prev[o];
            self.queue.remove(o);
        }
        self.queue.push_head(object);
        self.visited[object] = false;
        false
    }
}

pub(crate) struct Lru {
    size: usize,
    queue: List,
}

impl Lru {
    pub(crate) fn new(size: usize, universe: usize) -> Self {
        Lru {
            size,
            queue: List::new(universe),
        }
    }
}

impl Cache for Lru {
    fn ask(&mut self, object: usize) -> bool {
        let hit = self.queue.holds[object];
        if hit {
            self.queue.remove(object);
        } else if self.queue.len == self.size {
            self.queue.remove(self.queue.tail.unwrap());
        }
        self.queue.push_head(object);
        hit
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
