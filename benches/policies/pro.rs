//! CLOCK-Pro, as in S. Jiang, F. Chen and X. Zhang, "CLOCK-Pro: An Effective Improvement of the CLOCK Replacement", USENIX ATC
//! 2005.

use crate::Cache;

const NONE: usize = usize::MAX;

#[derive(Clone, Copy, PartialEq)]
enum State {
    Nowhere,
    Hot,
    Cold,
    /// Not resident, but in its test period.
    Tested,
}

#[derive(Clone, Copy)]
struct Page {
    state: State,
    used: bool,
    /// Whether a cold page is in its test period.
    in_test: bool,
    older: usize,
    newer: usize,
}

/// The hands, as the indices of [`ClockPro::hands`].
const HOT: usize = 0;
const COLD: usize = 1;
const TEST: usize = 2;

pub(crate) struct ClockPro {
    size: usize,
    /// How many cold pages there should be.
    cold: usize,
    pages: Vec<Page>,
    /// Where pages are put into the clock: before this one.
    oldest: usize,
    hands: [usize; 3],
    hots: usize,
    colds: usize,
    tested: usize,
}

impl ClockPro {
    pub(crate) fn new(size: usize, universe: usize) -> Self {
        let page = Page {
            state: State::Nowhere,
            used: false,
            in_test: false,
            older: NONE,
            newer: NONE,
        };
        ClockPro {
            size,
            cold: size / 2,
            pages: vec![page; universe],
            oldest: NONE,
            hands: [NONE; 3],
            hots: 0,
            colds: 0,
            tested: 0,
        }
    }

    fn put(&mut self, at: usize, state: State, in_test: bool) {
        let oldest = if self.oldest == NONE { at } else { self.oldest };
        self.pages[at] = Page {
            state,
            used: false,
            in_test,
            older: at,
            newer: at,
        };
        if oldest == at {
            (self.oldest, self.hands) = (at, [at; 3]);
        } else {
            let newest = self.pages[oldest].older;
            (self.pages[at].older, self.pages[at].newer) = (newest, oldest);
            (self.pages[newest].newer, self.pages[oldest].older) = (at, at);
        }
    }

    fn take(&mut self, at: usize) {
        let Page { older, newer, .. } = self.pages[at];
        (self.pages[older].newer, self.pages[newer].older) = (newer, older);
        let next = if newer == at { NONE } else { newer };
        for hand in self.hands.iter_mut().chain([&mut self.oldest]) {
            if *hand == at {
                *hand = next;
            }
        }
        self.pages[at].state = State::Nowhere;
    }

    /// Moves a hand on, and returns where it was.
    fn pass(&mut self, hand: usize) -> usize {
        let at = self.hands[hand];
        self.hands[hand] = self.pages[at].newer;
        at
    }

    fn less_cold(&mut self) {
        self.cold = (self.cold - 1).max(1);
    }

    fn more_cold(&mut self) {
        self.cold = (self.cold + 1).min(self.size - 1);
    }

    fn end_test(&mut self, at: usize) {
        self.take(at);
        self.tested -= 1;
        self.less_cold();
    }

    /// Makes a hot page cold.
    fn run_hot(&mut self) {
        loop {
            let at = self.pass(HOT);
            let page = &mut self.pages[at];
            match page.state {
                State::Hot if page.used => page.used = false,
                State::Hot => {
                    (self.hots, self.colds) = (self.hots - 1, self.colds + 1);
                    self.take(at);
                    return self.put(at, State::Cold, false);
                }
                State::Tested => self.end_test(at),
                _ => {
                    let fails = std::mem::take(&mut page.in_test) && !page.used;
                    fails.then(|| self.less_cold());
                }
            }
        }
    }

    fn limit_hot(&mut self) {
        while self.hots > self.size - self.cold {
            self.run_hot();
        }
    }

    fn limit_tested(&mut self) {
        while self.tested > self.size {
            let at = self.pass(TEST);
            match self.pages[at].state {
                State::Tested => self.end_test(at),
                State::Cold => {
                    let fails = std::mem::take(&mut self.pages[at].in_test);
                    fails.then(|| self.less_cold());
                }
                _ => {}
            }
        }
    }

    /// Evicts a cold page.
    fn run_cold(&mut self) {
        loop {
            if self.colds == 0 {
                self.run_hot();
            }
            let at = self.pass(COLD);
            let Page {
                state,
                used,
                in_test,
                ..
            } = self.pages[at];
            if state != State::Cold {
                continue;
            }
            if used {
                self.take(at);
                self.put(at, if in_test { State::Hot } else { State::Cold }, !in_test);
                if in_test {
                    (self.hots, self.colds) = (self.hots + 1, self.colds - 1);
                    self.more_cold();
                    self.limit_hot();
                }
                continue;
            }
            self.colds -= 1;
            if in_test {
                self.pages[at].state = State::Tested;
                self.tested += 1;
                self.limit_tested();
            } else {
                self.take(at);
            }
            return self.limit_hot();
        }
    }
}

impl Cache for ClockPro {
    fn ask(&mut self, object: usize) -> bool {
        if let State::Hot | State::Cold = self.pages[object].state {
            self.pages[object].used = true;
            return true;
        }
        if self.hots + self.colds >= self.size {
            self.run_cold();
        }
        if self.pages[object].state == State::Tested {
            self.take(object);
            self.tested -= 1;
            self.hots += 1;
            self.put(object, State::Hot, false);
            self.more_cold();
            self.limit_hot();
        } else {
            self.colds += 1;
            self.put(object, State::Cold, true);
        }
        false
    }
}
