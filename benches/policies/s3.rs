//! S3-FIFO, as in J. Yang et al., "FIFO queues are all you need for cache eviction", SOSP 2023.

use std::collections::VecDeque;

use crate::Cache;

/// Where an object is.
#[derive(Clone, Copy, PartialEq)]
enum Place {
    Nowhere,
    Here,
    /// Evicted from the small queue, as the n-th.
    Ghost(usize),
}

pub(crate) struct S3Fifo {
    size: usize,
    small: VecDeque<usize>,
    main: VecDeque<usize>,
    ghosts: VecDeque<usize>,
    evicted: usize,
    places: Vec<Place>,
    uses: Vec<u8>,
}

impl S3Fifo {
    pub(crate) fn new(size: usize, universe: usize) -> Self {
        S3Fifo {
            size,
            small: VecDeque::new(),
            main: VecDeque::new(),
            ghosts: VecDeque::new(),
            evicted: 0,
            places: vec![Place::Nowhere; universe],
            uses: vec![0; universe],
        }
    }

    /// The sizes of the small queue and of the main one.
    fn sizes(&self) -> (usize, usize) {
        let small = (self.size / 10).max(1);
        (small, self.size - small)
    }

    fn evict(&mut self) {
        let (small, main) = self.sizes();
        if self.small.len() < small {
            return self.evict_main();
        }
        while let Some(object) = self.small.pop_front() {
            if self.uses[object] < 2 {
                return self.becomes_ghost(object);
            }
            self.uses[object] = 0;
            self.main.push_back(object);
            if self.main.len() > main {
                return self.evict_main();
            }
        }
    }

    fn becomes_ghost(&mut self, object: usize) {
        self.evicted += 1;
        self.places[object] = Place::Ghost(self.evicted);
        self.ghosts.push_back(object);
        if self.ghosts.len() > self.sizes().1 {
            let nth = self.evicted + 1 - self.ghosts.len();
            let oldest = self.ghosts.pop_front().expect("there is one");
            if self.places[oldest] == Place::Ghost(nth) {
                self.places[oldest] = Place::Nowhere;
            }
        }
    }

    fn evict_main(&mut self) {
        while let Some(object) = self.main.pop_front() {
            if self.uses[object] == 0 {
                self.places[object] = Place::Nowhere;
                return;
            }
            self.uses[object] -= 1;
            self.main.push_back(object);
        }
    }
}

impl Cache for S3Fifo {
    fn ask(&mut self, object: usize) -> bool {
        if self.places[object] == Place::Here {
            self.uses[object] = (self.uses[object] + 1).min(3);
            return true;
        }
        while self.small.len() + self.main.len() >= self.size {
            self.evict();
        }
        // The eviction may have ended the ghost.
        let queue = match self.places[object] {
            Place::Ghost(_) => &mut self.main,
            _ => &mut self.small,
        };
        queue.push_back(object);
        self.places[object] = Place::Here;
        self.uses[object] = 0;
        false
    }
}
