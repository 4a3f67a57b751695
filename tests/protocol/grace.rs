//! Grace: a thing is found through one word. A writer unlinks it, and destroys it when no visit is left that may look at it.
//! With the orderings of the code, and its `SeqCst` fences.

use super::memory::{FIRST_USE, LOCATIONS, Memory, Order, Order::*};
use super::search::{Broken, Model};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Rule {
    /// A barrier between the participant and the table (D1).
    EnterBarrier,
    /// A barrier between the unlinking and the participants (D1).
    UnlinkBarrier,
    /// Who leaves releases what it has looked at (D1).
    LeaveReleases,
    /// Who reads a participant acquires that (D1).
    VisitsAcquire,
    /// Who has named a thread looks at its visit again (D3).
    LooksAgain,
    /// A barrier between taking a batch and the participants (D7).
    BatchBarrier,
    /// The lock of a bag releases what was unlinked, and acquires it (D7).
    BagLocks,
    /// A thread is included before its barrier of entering (D7).
    IncludedFirst,
}
use Rule::*;

/// What the threads do.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Scene {
    /// A reader that comes twice, and a writer.
    TwoVisits,
    /// Two readers, and a writer.
    TwoReaders,
    /// A reader that comes twice, for the first time; a thread that unlinks a thing, and puts it into its bag; another, which is
    /// never inside, takes that thing, perhaps unlinks a second, and makes one barrier.
    Batch { unlinks: bool },
}

pub(crate) struct Grace {
    pub(crate) without: Option<Rule>,
    pub(crate) scene: Scene,
}

const FOUND: usize = 0;
/// The participants of two threads, or of one.
const VISIT: usize = 1;
/// Whether the reader is included.
const TOP: usize = 2;
/// Who is named, and the lock of the deferred list, or of the bag.
const NAMED: usize = 3;
const LOCK: usize = 5;

const OUTSIDE: u8 = 0;
const NOBODY: u8 = 9;
const READER: usize = 0;
const WRITER: usize = 2;
const DONE: u8 = 99;

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    memory: Memory<3>,
    steps: [u8; 3],
    /// What a thread has found; what it has loaded.
    found: [u8; 3],
    visits: [u8; 2],
    destroyed: u8,
    /// What waits, if something does: for these visits. Under the lock.
    waiting: Option<[u8; 2]>,
    named: u8,
}

impl State {
    fn look(&mut self, t: usize) -> Result<(), Broken> {
        if self.found[t] < self.destroyed {
            return Err("D1: a thing is looked at after its end");
        }
        self.memory.store(
            t,
            FIRST_USE + 2 * usize::from(self.found[t]) + t,
            0,
            Relaxed,
        );
        Ok(())
    }

    /// Destroys the things before this one, which are unlinked.
    fn destroy(&mut self, t: usize, upto: u8) -> Result<(), Broken> {
        if !(0..2 * usize::from(upto)).all(|at| self.memory.has_seen(t, FIRST_USE + at)) {
            return Err("D1: a thing is destroyed while another thread looks at it");
        }
        self.destroyed = upto;
        Ok(())
    }

    fn fence(&mut self, t: usize, is_there: bool, next: u8) -> u8 {
        if is_there {
            self.memory.fence(t);
        }
        next
    }

    /// For each value that a load may return, the state after it, with the next step.
    fn loads(
        &self,
        t: usize,
        at: usize,
        order: Order,
        then: impl Fn(&mut State, u8) -> u8,
    ) -> Result<Vec<(State, u8)>, Broken> {
        let all = self.memory.loads(t, at, order).into_iter();
        let after = all.map(|(value, memory)| {
            let mut s = State {
                memory,
                ..self.clone()
            };
            let next = then(&mut s, value);
            (s, next)
        });
        Ok(after.collect())
    }
}

impl Grace {
    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }

    fn is_of_visits(&self) -> bool {
        matches!(self.scene, Scene::TwoVisits | Scene::TwoReaders)
    }

    /// A reader comes again, or not.
    fn after_a_visit(&self, state: &State, t: usize) -> u8 {
        let comes_again = matches!(self.scene, Scene::TwoVisits | Scene::Batch { .. });
        let again = comes_again && t == READER && state.visits[READER] < 2;
        if again { 0 } else { DONE }
    }

    /// One step: the states after it, each with the next step.
    fn step(&self, state: &State, t: usize) -> Result<Vec<(State, u8)>, Broken> {
        let mut s = state.clone();
        let release = Release.if_(self.has(LeaveReleases));
        let acquire = Acquire.if_(self.has(VisitsAcquire));
        let visits = self.is_of_visits();
        let batch = matches!(self.scene, Scene::Batch { .. });
        let place = if visits { VISIT + t } else { VISIT };
        let next = match (t, state.steps[t]) {
            (_, DONE) => return Ok(Vec::new()),

            // A reader enters.
            (1, 0) if batch => {
                s.memory.update(t, FOUND, Some(1), AcqRel);
                60
            }
            (READER, 0) if batch && self.has(IncludedFirst) => {
                s.memory.update(t, TOP, Some(1), Relaxed);
                8
            }
            (READER, 0) if batch => 8,
            (READER, 8) => {
                s.visits[t] += 1;
                s.memory.store(t, place, s.visits[t], Release);
                1
            }
            (READER, 3) if batch && !self.has(IncludedFirst) && s.memory.last(TOP) == 0 => {
                s.memory.update(t, TOP, Some(1), Relaxed);
                3
            }
            (READER | 1, 0) => {
                s.visits[t] += 1;
                s.memory.store(t, place, s.visits[t], Release);
                1
            }
            (READER | 1, 1) => s.fence(t, self.has(EnterBarrier), 2),
            (READER | 1, 2) => {
                return s.loads(t, FOUND, Acquire, |s, found| {
                    s.found[t] = found;
                    3
                });
            }
            (READER | 1, 3) => {
                s.look(t)?;
                4
            }
            (READER | 1, 4) => {
                s.memory.store(t, place, OUTSIDE, release);
                match visits {
                    true => 5,
                    false => self.after_a_visit(&s, t),
                }
            }
            // Is it named, or one who is outside?
            (READER | 1, 5) => {
                let after = self.after_a_visit(&s, t);
                let next = |named| match named {
                    NOBODY => after,
                    named if usize::from(named) == t => 20,
                    _ => 6,
                };
                return s.loads(t, NAMED, Relaxed, |_, named| next(named));
            }
            (READER | 1, 6) => {
                let after = self.after_a_visit(&s, t);
                let next = |visit| if visit == OUTSIDE { 20 } else { after };
                return s.loads(t, VISIT + 1 - t, Relaxed, |_, visit| next(visit));
            }

            // A thread puts into its bag what it has unlinked, and another takes that.
            (1, 60) => {
                s.memory.store(t, LOCK, 1, Release.if_(self.has(BagLocks)));
                DONE
            }
            (WRITER, 0) if batch && s.memory.last(LOCK) == 0 => return Ok(Vec::new()),
            (WRITER, 0) if batch => {
                let acquire = Acquire.if_(self.has(BagLocks));
                s.memory.update(t, LOCK, Some(0), acquire);
                61
            }
            (WRITER, 61) => {
                s.found[WRITER] = 1;
                if self.scene == (Scene::Batch { unlinks: true }) {
                    s.found[WRITER] = 2;
                    s.memory.update(t, FOUND, Some(2), AcqRel);
                }
                62
            }
            (WRITER, 62) => s.fence(t, self.has(BatchBarrier), 63),
            (WRITER, 63) => {
                return s.loads(t, TOP, Relaxed, |_, top| if top == 0 { 65 } else { 64 });
            }
            (WRITER, 64) => {
                let next = |visit| if visit == OUTSIDE { 65 } else { DONE };
                return s.loads(t, VISIT, acquire, |_, visit| next(visit));
            }
            (WRITER, 65) => {
                s.destroy(t, s.found[WRITER])?;
                DONE
            }

            // The writer unlinks, and looks.
            (WRITER, 0) => {
                s.found[WRITER] += 1;
                s.memory.update(t, FOUND, Some(s.found[WRITER]), AcqRel);
                1
            }
            (WRITER, 1) => s.fence(t, self.has(UnlinkBarrier), 10),
            (WRITER, at @ (10 | 11)) => {
                let next = |visit| if visit == OUTSIDE { at + 1 } else { 20 };
                let place = VISIT + usize::from(at) - 10;
                return s.loads(t, place, acquire, |_, visit| next(visit));
            }
            (WRITER, 12) => {
                s.destroy(t, 1)?;
                DONE
            }

            // The deferred list. A writer adds what it has unlinked, and the visits that it sees.
            (_, 20) if s.memory.last(LOCK) != 0 => return Ok(Vec::new()),
            (_, 20) => {
                s.memory.update(t, LOCK, Some(1), Acquire);
                if t == WRITER { 21 } else { 23 }
            }
            (_, step @ (21 | 22)) => {
                let at = usize::from(step) - 21;
                return s.loads(t, VISIT + at, acquire, |s, visit| {
                    s.waiting.get_or_insert([OUTSIDE; 2])[at] = visit;
                    step + 1
                });
            }
            // Whoever has the lock: does a visit last?
            (_, 23) => match s.waiting {
                None => 27,
                Some([OUTSIDE, OUTSIDE]) => {
                    s.destroy(t, 1)?;
                    s.waiting = None;
                    27
                }
                Some(_) => 24,
            },
            (_, 24) => {
                let visits = s.waiting.unwrap_or_default();
                let at = usize::from(visits[1] != OUTSIDE);
                return s.loads(t, VISIT + at, acquire, |s, visit| {
                    if visit != visits[at] {
                        s.waiting.get_or_insert(visits)[at] = OUTSIDE;
                        23
                    } else if usize::from(s.named) == at {
                        27
                    } else {
                        s.named = at as u8;
                        25
                    }
                });
            }
            (_, 25) => {
                s.memory.store(t, NAMED, s.named, Release);
                26
            }
            (_, 26) if self.has(LooksAgain) => 24,
            (_, 26) => 27,
            (_, 27) => {
                if s.waiting.is_none() && s.named != NOBODY {
                    s.named = NOBODY;
                    s.memory.store(t, NAMED, NOBODY, Release);
                }
                s.memory.store(t, LOCK, 0, Release);
                self.after_a_visit(&s, t)
            }

            _ => return Err("no such step"),
        };
        Ok(vec![(s, next)])
    }
}

impl Model for Grace {
    type State = State;
    const THREADS: usize = 3;

    fn start(&self) -> State {
        let mut start = [0; LOCATIONS];
        if self.is_of_visits() {
            start[NAMED] = NOBODY;
        }
        let mut steps = [0; 3];
        if self.scene == Scene::TwoVisits {
            steps[1] = DONE;
        }
        State {
            memory: Memory::new(start),
            steps,
            found: [0; 3],
            visits: [0; 2],
            destroyed: 0,
            waiting: None,
            named: NOBODY,
        }
    }

    fn next(&self, state: &State, t: usize) -> Result<Vec<State>, Broken> {
        let all = self.step(state, t)?.into_iter().map(|(mut s, step)| {
            s.steps[t] = step;
            if step == DONE {
                s.memory.end(t);
            }
            s.memory = s.memory.tidy();
            s
        });
        Ok(all.collect())
    }

    fn end(&self, state: &State) -> Result<(), Broken> {
        if state.steps != [DONE; 3] {
            return Err("threads wait for each other");
        }
        // What waits is destroyed by the next that leaves: it finds a name, and that thread outside.
        let finds = state.waiting.is_some() && state.memory.last(NAMED) != NOBODY;
        if self.is_of_visits() && state.destroyed == 0 && !finds {
            return Err("D3: what was unlinked is left behind");
        }
        Ok(())
    }
}
