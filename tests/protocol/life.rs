//! The life of an object: count, state, record, `get_mut`, and the end of payload and block. With the orderings of the code.

use super::memory::{FIRST_USE, LOCATIONS, Memory, Order::*};
use super::search::{Broken, Model};

/// What the argument relies on; a model may be without one of them.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Rule {
    /// The drop of a strong pointer releases.
    DropReleases,
    /// The last drop acquires the others.
    LastDropAcquires,
    /// Zero is final (B2).
    ZeroIsFinal,
    /// `get_mut` locks the state before it looks at the count.
    GetMutLocks,
    /// That lock acquires the drops of weak pointers.
    LockAcquires,
    /// `get_mut` acquires the drops of strong pointers.
    CountAcquires,
    /// That look comes before the state is unlocked.
    CountUnderLock,
    /// The store that unlocks releases. Not relied on by what is modelled here.
    UnlockReleases,
    /// Under `CHECKING`, `get_mut` acquires the drops of references.
    CheckAcquires,
    /// A downgrade waits while `CHECKING`.
    DowngradeWaits,
    /// A token leaves the bystanders before it gives its reference up.
    TokenLeavesFirst,
    /// Who gives up a share releases (B1).
    ShareReleases,
    /// Who finds that its share is the last acquires the others (B1).
    LastShareAcquires,
    /// The object's share goes after the death has written the layout (B2).
    ObjectGivesUpLast,
}

/// What a thread does, one after the other. What it cannot do it skips.
#[derive(Clone, Copy)]
pub(crate) enum Op {
    Read,
    Drop,
    Downgrade,
    Upgrade,
    DropWeak,
    GetMut,
    Finalize,
    DropToken,
}

pub(crate) const THREADS: usize = 3;

/// How many strong and weak pointers a thread has, and what it does.
pub(crate) type Script = (u8, u8, &'static [Op]);

/// The atomics, the payload as each thread reads it, and the block as each uses it. And who has written the payload.
const COUNT: usize = 0;
const STATE: usize = 1;
const REFS: usize = 2;
const GATE: usize = 3;
const PAYLOAD: usize = FIRST_USE;
const BLOCK: usize = PAYLOAD + THREADS;
const WRITTEN: usize = BLOCK + THREADS;

const DEAD: u8 = 255;
/// States: `WEAK(n)` is n + 1.
const NONE: u8 = 0;
const LOCKED: u8 = 1;
const RECORD: u8 = 20;
const fn weak(n: u8) -> u8 {
    n + 1
}
/// References.
const OWN: u8 = 64;
const CHECKING: u8 = 128;
/// The gate: flags, and bystanders.
const TAKEN: u8 = 1;
const CLOSED: u8 = 2;
const BYSTANDER: u8 = 4;

#[derive(Clone, Copy, Default, PartialEq, Eq, Hash)]
struct Thread {
    op: usize,
    step: u8,
    strong: u8,
    weak: u8,
    token: bool,
    /// What the state was before it was locked, and whether `get_mut` is alone.
    saved: u8,
    alone: bool,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    memory: Memory<THREADS>,
    threads: [Thread; THREADS],
    /// Who has mutable access.
    writer: Option<usize>,
    destroyed: bool,
    freed: bool,
}

pub(crate) struct Life {
    pub(crate) without: Option<Rule>,
    /// Whether there is a record from the start.
    pub(crate) record: bool,
    pub(crate) threads: [Script; THREADS],
}

impl Life {
    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

impl State {
    /// Looks at the payload. Every use follows what was written there.
    fn read(&mut self, t: usize) -> Result<(), Broken> {
        if self.destroyed {
            return Err("count: the payload is used after its end");
        }
        if self.writer.is_some_and(|writer| writer != t) || !self.memory.has_seen(t, WRITTEN) {
            return Err("get_mut: the payload is read while it is written");
        }
        self.memory.store(t, PAYLOAD + t, 0, Relaxed);
        Ok(())
    }

    /// Whether all other threads' uses happen before.
    fn owns(&self, t: usize, what: usize) -> bool {
        (what..what + THREADS).all(|at| self.memory.has_seen(t, at))
    }

    fn touch(&mut self, t: usize) -> Result<(), Broken> {
        if self.freed {
            return Err("B1: the block is used after its end");
        }
        self.memory.store(t, BLOCK + t, 0, Relaxed);
        Ok(())
    }

    fn free(&mut self, t: usize) -> Result<(), Broken> {
        if self.freed || !self.owns(t, BLOCK) {
            return Err("B1: the block is freed while another thread uses it");
        }
        if !self.destroyed || !matches!(self.memory.last(COUNT), 0 | DEAD) {
            return Err("B1: the block of a living object is freed");
        }
        self.freed = true;
        Ok(())
    }

    /// Gives references up.
    fn release(&mut self, t: usize, refs: u8, life: &Life) -> Result<(), Broken> {
        let left = self.memory.last(REFS) - refs;
        let release = Release.if_(life.has(Rule::ShareReleases));
        self.memory.update(t, REFS, Some(left), release);
        if left == 0 {
            let acquire = Acquire.if_(life.has(Rule::LastShareAcquires));
            self.memory.update(t, REFS, None, acquire);
            self.free(t)?;
        }
        Ok(())
    }

    /// Gives a share of `WEAK` up, or finds the record: then it is to be released next.
    fn leave(&mut self, t: usize, life: &Life) -> Result<bool, Broken> {
        match self.memory.last(STATE) {
            RECORD => {
                self.memory.update(t, STATE, None, Acquire);
                return Ok(false);
            }
            state if state == weak(1) => {
                let acquire = Acquire.if_(life.has(Rule::LastShareAcquires));
                self.memory.update(t, STATE, None, acquire);
                self.free(t)?;
            }
            state => {
                let release = Release.if_(life.has(Rule::ShareReleases));
                self.memory.update(t, STATE, Some(state - 1), release);
            }
        }
        Ok(true)
    }

    /// Takes the gate. False if another thread has it.
    fn take_gate(&mut self, t: usize) -> bool {
        let gate = self.memory.last(GATE);
        if gate & TAKEN == 0 {
            self.memory.update(t, GATE, Some(gate | TAKEN), Acquire);
        }
        gate & TAKEN == 0
    }

    fn give_gate(&mut self, t: usize, to: u8) {
        self.memory.store(t, GATE, to & !TAKEN, Release);
    }
}

impl Model for Life {
    type State = State;
    const THREADS: usize = THREADS;

    fn start(&self) -> State {
        let strong = self.threads.iter().map(|thread| thread.0).sum();
        let weaks: u8 = self.threads.iter().map(|thread| thread.1).sum();
        let mut start = [0; LOCATIONS];
        start[COUNT] = strong;
        start[STATE] = match (self.record, weaks) {
            (true, _) => RECORD,
            (false, 0) => NONE,
            (false, n) => weak(n + 1),
        };
        start[REFS] = OWN + weaks;
        let threads = self.threads.map(|(strong, weak, _)| Thread {
            strong,
            weak,
            ..Thread::default()
        });
        State {
            memory: Memory::new(start),
            threads,
            writer: None,
            destroyed: false,
            freed: false,
        }
    }

    fn next(&self, state: &State, t: usize) -> Result<Vec<State>, Broken> {
        let Thread { op, step, .. } = state.threads[t];
        let Some(&what) = self.threads[t].2.get(op) else {
            return Ok(Vec::new());
        };
        let mut all = Vec::new();
        // The next step of the operation, or the next operation.
        let mut go = |mut to: State, step: Option<u8>| {
            let thread = &mut to.threads[t];
            thread.step = step.unwrap_or(0);
            if step.is_none() {
                (thread.saved, thread.alone) = (0, false);
                thread.op += 1;
                if thread.op == self.threads[t].2.len() {
                    to.memory.end(t);
                }
            }
            to.memory = to.memory.tidy();
            all.push(to);
        };
        let mut s = state.clone();
        let me = s.threads[t];
        let now = s.memory.last(STATE);
        match (what, step) {
            (Op::Read | Op::Drop | Op::Downgrade | Op::Finalize, 0) if me.strong == 0 => {
                go(s, None)
            }
            (Op::Upgrade | Op::DropWeak, 0) if me.weak == 0 => go(s, None),
            (Op::GetMut, 0) if me.strong != 1 => go(s, None),
            (Op::DropToken, 0) if !me.token => go(s, None),

            (Op::Read, _) => {
                s.read(t)?;
                go(s, None);
            }

            (Op::Upgrade, _) => {
                s.touch(t)?;
                let count = s.memory.last(COUNT);
                if count != DEAD && (count != 0 || !self.has(Rule::ZeroIsFinal)) {
                    s.memory.update(t, COUNT, Some(count + 1), Acquire);
                    s.threads[t].strong += 1;
                }
                go(s, None);
            }

            (Op::Drop, 0) => {
                s.touch(t)?;
                s.threads[t].strong -= 1;
                let left = s.memory.last(COUNT) - 1;
                let release = Release.if_(self.has(Rule::DropReleases));
                s.memory.update(t, COUNT, Some(left), release);
                go(s, (left == 0).then_some(1));
            }
            (Op::Drop, 1) => {
                let acquire = Acquire.if_(self.has(Rule::LastDropAcquires));
                s.memory.update(t, COUNT, None, acquire);
                if s.destroyed || !s.owns(t, PAYLOAD) || !s.memory.has_seen(t, WRITTEN) {
                    return Err("count: the payload is destroyed while another thread uses it");
                }
                s.destroyed = true;
                s.touch(t)?;
                let after = if self.has(Rule::ObjectGivesUpLast) {
                    2
                } else {
                    3
                };
                for (state, memory) in s.memory.loads(t, STATE, Acquire) {
                    let mut s = State {
                        memory,
                        ..s.clone()
                    };
                    if state == NONE {
                        s.free(t)?;
                    }
                    go(s, (state != NONE).then_some(after));
                }
            }
            (Op::Drop, 2) => {
                s.touch(t)?;
                s.memory.store(t, COUNT, DEAD, Relaxed);
                go(s, self.has(Rule::ObjectGivesUpLast).then_some(3));
            }
            (Op::Drop, 3) => {
                s.touch(t)?;
                let left = s.leave(t, self)?;
                let after = (!self.has(Rule::ObjectGivesUpLast)).then_some(2);
                go(s, if left { after } else { Some(4) });
            }
            (Op::Drop, 4) => {
                s.touch(t)?;
                if s.take_gate(t) {
                    go(s, Some(5));
                }
            }
            (Op::Drop, 5) => {
                s.give_gate(t, CLOSED);
                go(s, Some(6));
            }
            (Op::Drop, _) => {
                s.release(t, OWN, self)?;
                let after = (!self.has(Rule::ObjectGivesUpLast)).then_some(2);
                go(s, after);
            }

            (Op::Downgrade, 0) => {
                s.touch(t)?;
                if now == RECORD {
                    s.memory.update(t, STATE, None, Acquire);
                    go(s, Some(1));
                } else if now != LOCKED {
                    let n = if now == NONE { weak(2) } else { now + 1 };
                    s.memory.update(t, STATE, Some(n), Release);
                    s.threads[t].weak += 1;
                    go(s, None);
                }
            }
            (Op::Downgrade, 1) => {
                let refs = s.memory.last(REFS);
                s.memory.update(t, REFS, Some(refs + 1), Relaxed);
                s.threads[t].weak += 1;
                let waits = refs & CHECKING != 0 && self.has(Rule::DowngradeWaits);
                go(s, waits.then_some(2));
            }
            (Op::Downgrade, _) => {
                for (refs, memory) in s.memory.loads(t, REFS, Relaxed) {
                    if refs & CHECKING == 0 {
                        go(
                            State {
                                memory,
                                ..s.clone()
                            },
                            None,
                        );
                    }
                }
            }

            (Op::DropWeak, 0) => {
                s.touch(t)?;
                s.threads[t].weak -= 1;
                let left = s.leave(t, self)?;
                go(s, (!left).then_some(1));
            }
            (Op::DropWeak, _) => {
                s.touch(t)?;
                s.release(t, 1, self)?;
                go(s, None);
            }

            (Op::GetMut, 0) => {
                s.touch(t)?;
                s.threads[t].saved = now;
                if now == RECORD {
                    s.memory.update(t, STATE, None, Acquire);
                    go(s, Some(5));
                } else if now == NONE || now == weak(1) {
                    let to = self.has(Rule::GetMutLocks).then_some(LOCKED);
                    let acquire = Acquire.if_(self.has(Rule::LockAcquires));
                    s.memory.update(t, STATE, to, acquire);
                    let first = self.has(Rule::CountUnderLock);
                    go(s, Some(if first { 1 } else { 2 }));
                } else {
                    go(s, None);
                }
            }
            // The count, under either lock.
            (Op::GetMut, 1 | 7) => {
                let acquire = Acquire.if_(self.has(Rule::CountAcquires));
                for (count, memory) in s.memory.loads(t, COUNT, acquire) {
                    let mut s = State {
                        memory,
                        ..s.clone()
                    };
                    s.threads[t].alone = count == 1;
                    let unlocked = !self.has(Rule::CountUnderLock);
                    let after = if count == 1 { Some(3) } else { None };
                    go(s, if unlocked { after } else { Some(step + 1) });
                }
            }
            (Op::GetMut, 2) => {
                let release = Release.if_(self.has(Rule::UnlockReleases));
                if self.has(Rule::GetMutLocks) {
                    s.memory.store(t, STATE, me.saved, release);
                }
                let unlocked = !self.has(Rule::CountUnderLock);
                let after = if me.alone { Some(3) } else { None };
                go(s, if unlocked { Some(1) } else { after });
            }
            (Op::GetMut, 3) => {
                let others = (0..THREADS).any(|other| other != t && s.threads[other].strong != 0);
                if others || !s.owns(t, PAYLOAD) || !s.memory.has_seen(t, WRITTEN) {
                    return Err("get_mut: another thread uses the payload");
                }
                s.writer = Some(t);
                s.memory.store(t, WRITTEN, 0, Relaxed);
                go(s, Some(4));
            }
            (Op::GetMut, 4) => {
                s.writer = None;
                go(s, None);
            }
            (Op::GetMut, 5) => {
                if s.take_gate(t) {
                    go(s, Some(6));
                }
            }
            (Op::GetMut, 6) => {
                let unwatched = OWN + s.memory.last(GATE) / BYSTANDER;
                let is_unwatched = s.memory.last(REFS) == unwatched;
                let acquire = Acquire.if_(self.has(Rule::CheckAcquires) && is_unwatched);
                let to = is_unwatched.then_some(unwatched | CHECKING);
                s.memory.update(t, REFS, to, acquire);
                go(s, Some(if is_unwatched { 7 } else { 9 }));
            }
            (Op::GetMut, 8) => {
                let refs = s.memory.last(REFS) & !CHECKING;
                s.memory.update(t, REFS, Some(refs), Relaxed);
                go(s, Some(9));
            }
            (Op::GetMut, _) => {
                let gate = s.memory.last(GATE);
                s.give_gate(t, gate);
                go(s, me.alone.then_some(3));
            }

            (Op::Finalize, 0) => {
                s.touch(t)?;
                if now == RECORD {
                    s.memory.update(t, STATE, None, Acquire);
                } else if now == LOCKED {
                    return Ok(all);
                } else {
                    let others = now.saturating_sub(weak(1));
                    // What it was before is of another record, or of none.
                    s.memory.store(t, REFS, OWN + others, Relaxed);
                    s.memory.update(t, STATE, Some(RECORD), AcqRel);
                }
                go(s, Some(1));
            }
            (Op::Finalize, 1) => {
                if s.take_gate(t) {
                    go(s, Some(2));
                }
            }
            (Op::Finalize, 2) => {
                let refs = s.memory.last(REFS);
                s.memory.update(t, REFS, Some(refs + 1), Relaxed);
                go(s, Some(3));
            }
            (Op::Finalize, _) => {
                let gate = s.memory.last(GATE);
                s.give_gate(t, gate + BYSTANDER);
                s.threads[t].token = true;
                go(s, None);
            }

            (Op::DropToken, 0) if !self.has(Rule::TokenLeavesFirst) => {
                s.release(t, 1, self)?;
                s.threads[t].token = false;
                s.threads[t].saved = 1;
                go(s, Some(1));
            }
            (Op::DropToken, 0 | 1) => {
                s.touch(t)?;
                if s.memory.last(GATE) & CLOSED != 0 {
                    go(s, Some(3));
                } else if s.take_gate(t) {
                    go(s, Some(2));
                }
            }
            (Op::DropToken, 2) => {
                let gate = s.memory.last(GATE);
                s.give_gate(t, gate - BYSTANDER);
                go(s, Some(3));
            }
            (Op::DropToken, _) => {
                if me.saved == 0 {
                    s.touch(t)?;
                    s.release(t, 1, self)?;
                    s.threads[t].token = false;
                }
                go(s, None);
            }
        }
        Ok(all)
    }

    fn end(&self, state: &State) -> Result<(), Broken> {
        let ended = |t: usize| state.threads[t].op == self.threads[t].2.len();
        if !(0..THREADS).all(ended) {
            return Err("threads wait for each other");
        }
        let none = |thread: &Thread| thread.strong == 0 && thread.weak == 0 && !thread.token;
        if state.threads.iter().all(none) && !(state.destroyed && state.freed) {
            return Err("B1: the block is never freed");
        }
        Ok(())
    }
}
