//! The claim of a death: one node of a shared collection watches two objects. Both may die, on two threads; a third thread
//! removes the node, or replaces the array, and then ends the collection; a fourth looks at the node meanwhile. Sequentially
//! consistent: each edge is a lock, or an update of one word (docs/PROTOCOLS.md).

use super::search::{Broken, Model};

#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum Rule {
    /// The death claims the registration by a step of the state, before it looks for the node (C1).
    DeathClaims,
    /// A watch whose registration is claimed counts nothing (C1).
    OneCounts,
    /// A death that has not found the node gives its share up, or leaves the one of the watch (B1).
    DeathLeavesAShare,
    /// So it finds out which by the same step (B1).
    LeavesByAnUpdate,
    /// The death that unlinks the node ends the other registration, while it has the stripe.
    EndsTheOther,
    /// The unlocking is the last access to the core (C2).
    UnlockIsLast,
    /// What deaths look at is freed when the stripes have been passed (C3).
    Passes,
    /// The end waits for the stripes (C4).
    EndCloses,
    /// A death that finds them closed counts itself off (C4).
    LateDeathCounts,
    /// The node is destroyed when no thread looks at it (D2).
    Grace,
}

const OBJECTS: usize = 2;
const USER: usize = 2;
const VISITOR: usize = 3;

/// Of references to a record.
const OWN: u8 = 10;

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Block {
    Shared,
    Weak(u8),
    Dead,
    Record(Record),
    Free,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Record {
    refs: u8,
    registered: bool,
    open: bool,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Word {
    Registered,
    Ended,
    Link,
}

#[derive(Clone, Copy, PartialEq, Eq, Hash)]
enum Stripe {
    Free,
    Locked,
    Closed,
}

#[derive(Clone, PartialEq, Eq, Hash)]
pub(crate) struct State {
    blocks: [Block; OBJECTS],
    words: [Word; OBJECTS],
    /// Whether a death has found the node.
    found: [bool; OBJECTS],
    /// The array that a death has loaded.
    array: [usize; OBJECTS],
    /// The node is in the table; destroyed.
    linked: bool,
    destroyed: bool,
    looked_at: bool,
    /// Of the bucket.
    locked: bool,
    moved: bool,
    /// Where deaths begin, and which of the two arrays is freed.
    entries: usize,
    old_is_freed: bool,
    stripe: Stripe,
    core: bool,
    registered: i8,
    ended: i8,
    inflight: i8,
    steps: [u8; 4],
}

/// What the user does before the end of the collection.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) enum User {
    Removes,
    Grows,
    Ends,
}

pub(crate) struct Claim {
    pub(crate) without: Option<Rule>,
    pub(crate) user: User,
    pub(crate) visitor: bool,
}

const DONE: u8 = 99;

impl Claim {
    fn has(&self, rule: Rule) -> bool {
        self.without != Some(rule)
    }
}

impl State {
    fn core(&self) -> Result<(), Broken> {
        match self.core {
            true => Ok(()),
            false => Err("C4: the core is used after its end"),
        }
    }

    fn free_core(&mut self) -> Result<(), Broken> {
        self.core()?;
        self.core = false;
        Ok(())
    }

    /// Gives up shares or references of a block.
    fn give_up(&mut self, o: usize, count: u8) -> Result<(), Broken> {
        self.blocks[o] = match self.blocks[o] {
            Block::Weak(n) if n > count => Block::Weak(n - count),
            Block::Weak(n) if n == count => Block::Free,
            Block::Record(now) if now.refs > count => {
                let refs = now.refs - count;
                Block::Record(Record { refs, ..now })
            }
            Block::Record(now) if now.refs == count => Block::Free,
            _ => return Err("B1: a share is given up that nobody has"),
        };
        Ok(())
    }

    /// `SharedWatch::end`.
    fn end(&mut self, o: usize, claim: &Claim) -> Result<(), Broken> {
        if self.words[o] != Word::Registered {
            return Ok(());
        }
        self.words[o] = Word::Ended;
        let counts = match self.blocks[o] {
            Block::Shared => true,
            Block::Dead => !claim.has(Rule::OneCounts),
            Block::Record(now) => now.registered && now.open,
            Block::Weak(_) => false,
            Block::Free => return Err("B1: a block is used after its end"),
        };
        self.registered -= i8::from(counts);
        match &mut self.blocks[o] {
            state @ (Block::Shared | Block::Dead) => *state = Block::Weak(2),
            Block::Record(now) if counts => (now.refs, now.registered) = (now.refs + 1, false),
            _ => {}
        }
        Ok(())
    }

    /// The node is destroyed, and with it its watches.
    fn destroy(&mut self, claim: &Claim) -> Result<(), Broken> {
        if self.destroyed || self.linked {
            return Err("T2: a node is destroyed twice, or while it is linked");
        }
        self.destroyed = true;
        for o in 0..OBJECTS {
            self.end(o, claim)?;
            match self.blocks[o] {
                Block::Dead => self.blocks[o] = Block::Free,
                _ => self.give_up(o, 1)?,
            }
        }
        Ok(())
    }

    fn use_array(&self, array: usize) -> Result<(), Broken> {
        if array == 0 && self.old_is_freed {
            return Err("C3: an array is used after its end");
        }
        Ok(())
    }
}

impl Claim {
    fn death(&self, s: &mut State, o: usize) -> Result<Option<u8>, Broken> {
        Ok(Some(match s.steps[o] {
            // The count is zero, the payload gone.
            0 => match s.blocks[o] {
                Block::Shared => {
                    if self.has(Rule::DeathClaims) {
                        s.blocks[o] = Block::Dead;
                    }
                    1
                }
                Block::Record(now) => {
                    s.blocks[o] = Block::Record(Record { open: false, ..now });
                    if now.registered { 1 } else { 8 }
                }
                Block::Weak(_) => 8,
                Block::Dead | Block::Free => return Err("B1: an object dies twice"),
            },
            1 => {
                s.core()?;
                match s.stripe {
                    Stripe::Locked => return Ok(None),
                    Stripe::Free => {
                        s.stripe = Stripe::Locked;
                        2
                    }
                    Stripe::Closed if self.has(Rule::LateDeathCounts) => {
                        s.inflight -= 1;
                        if s.inflight == 0 {
                            s.free_core()?;
                        }
                        7
                    }
                    Stripe::Closed => 7,
                }
            }
            2 => {
                s.core()?;
                s.array[o] = s.entries;
                3
            }
            3 => {
                s.use_array(s.array[o])?;
                if s.array[o] == 0 && s.moved {
                    s.array[o] = 1;
                    3
                } else if s.locked {
                    return Ok(None);
                } else {
                    s.locked = true;
                    4
                }
            }
            4 => {
                s.use_array(s.array[o])?;
                s.found[o] = s.linked && s.words[o] == Word::Registered;
                s.linked &= !s.found[o];
                s.locked = false;
                5
            }
            5 => {
                if s.found[o] && self.has(Rule::EndsTheOther) {
                    s.end(1 - o, self)?;
                }
                s.core()?;
                if self.has(Rule::UnlockIsLast) {
                    s.ended += 1;
                }
                if s.found[o] {
                    s.words[o] = Word::Link;
                }
                6
            }
            6 => {
                s.core()?;
                s.stripe = Stripe::Free;
                if self.has(Rule::UnlockIsLast) { 7 } else { 10 }
            }
            10 => {
                s.core()?;
                s.ended += 1;
                7
            }
            7 => match s.blocks[o] {
                Block::Record(_) => 8,
                _ if s.found[o] => DONE,
                _ if !self.has(Rule::DeathLeavesAShare) => DONE,
                Block::Dead if self.has(Rule::LeavesByAnUpdate) => {
                    s.blocks[o] = Block::Weak(1);
                    DONE
                }
                Block::Dead => 9,
                _ => 8,
            },
            8 => {
                let count = match s.blocks[o] {
                    Block::Record(now) => OWN - u8::from(now.registered),
                    _ => 1,
                };
                s.give_up(o, count)?;
                DONE
            }
            9 => {
                s.blocks[o] = Block::Weak(1);
                DONE
            }
            _ => return Ok(None),
        }))
    }

    /// Removes the node, or moves it into the next array; then ends the collection, when the visitor has gone.
    fn user(&self, s: &mut State) -> Result<Option<u8>, Broken> {
        Ok(Some(match s.steps[USER] {
            0 if self.user == User::Ends => 20,
            0 if s.locked => return Ok(None),
            0 if self.user == User::Removes => {
                let removed = std::mem::take(&mut s.linked);
                if removed { 1 } else { 20 }
            }
            0 => {
                s.moved = true;
                10
            }
            1 => {
                s.end(0, self)?;
                2
            }
            2 => {
                s.end(1, self)?;
                3
            }
            3 if s.looked_at && self.has(Rule::Grace) => return Ok(None),
            3 => {
                s.destroy(self)?;
                20
            }
            10 => {
                s.entries = 1;
                if self.has(Rule::Passes) { 11 } else { 12 }
            }
            11 if s.stripe == Stripe::Locked => return Ok(None),
            11 => 12,
            12 => {
                s.old_is_freed = true;
                20
            }
            // Nobody uses the collection any more.
            20 if s.steps[VISITOR] < 2 => return Ok(None),
            20 if self.has(Rule::EndCloses) && s.stripe == Stripe::Locked => return Ok(None),
            20 => {
                s.core()?;
                s.stripe = Stripe::Closed;
                21
            }
            21 => {
                s.linked = false;
                if !s.destroyed {
                    s.destroy(self)?;
                }
                22
            }
            22 => {
                s.core()?;
                let owed = s.registered - s.ended;
                s.inflight += owed;
                if owed == 0 || s.inflight == 0 {
                    s.free_core()?;
                }
                DONE
            }
            _ => return Ok(None),
        }))
    }

    /// Finds the node, makes a weak pointer to the first object of it, and drops that later.
    fn visitor(&self, s: &mut State) -> Result<Option<u8>, Broken> {
        Ok(Some(match s.steps[VISITOR] {
            0 => {
                s.looked_at = s.linked;
                if s.linked { 1 } else { DONE }
            }
            1 => {
                if s.destroyed {
                    return Err("D2: a node is looked at after its end");
                }
                s.looked_at = false;
                s.blocks[0] = match s.blocks[0] {
                    Block::Shared => Block::Record(Record {
                        refs: OWN + 1,
                        registered: true,
                        open: true,
                    }),
                    Block::Weak(n) => Block::Weak(n + 1),
                    Block::Record(now) => {
                        let refs = now.refs + 1;
                        Block::Record(Record { refs, ..now })
                    }
                    Block::Dead => return Ok(Some(DONE)),
                    Block::Free => return Err("B1: a block is used after its end"),
                };
                2
            }
            2 => {
                s.give_up(0, 1)?;
                DONE
            }
            _ => return Ok(None),
        }))
    }
}

impl Model for Claim {
    type State = State;
    const THREADS: usize = 4;

    fn start(&self) -> State {
        State {
            blocks: [Block::Shared; OBJECTS],
            words: [Word::Registered; OBJECTS],
            found: [false; OBJECTS],
            array: [0; OBJECTS],
            linked: true,
            destroyed: false,
            looked_at: false,
            locked: false,
            moved: false,
            entries: 0,
            old_is_freed: false,
            stripe: Stripe::Free,
            core: true,
            registered: 2,
            ended: 0,
            inflight: 0,
            steps: [0, 0, 0, if self.visitor { 0 } else { DONE }],
        }
    }

    fn next(&self, state: &State, thread: usize) -> Result<Vec<State>, Broken> {
        let mut next = state.clone();
        let step = match thread {
            USER => self.user(&mut next)?,
            VISITOR => self.visitor(&mut next)?,
            object => self.death(&mut next, object)?,
        };
        Ok(Vec::from_iter(step.map(|step| {
            next.steps[thread] = step;
            next
        })))
    }

    fn end(&self, state: &State) -> Result<(), Broken> {
        if state.steps != [DONE; 4] {
            return Err("threads wait for each other");
        }
        if state.core {
            return Err("C4: the core is never freed");
        }
        if state.blocks != [Block::Free; OBJECTS] {
            return Err("B1: a block is never freed");
        }
        Ok(())
    }
}
