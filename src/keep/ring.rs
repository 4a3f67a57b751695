//! What is kept, and which of it goes next: the engine under floors and ceilings. It runs no code of users, and destroys
//! nothing: what goes is returned.
//!
//! The policy is SIEVE, as in Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for
//! Web Caches", NSDI 2024: a queue in the order of arrival, a hand that goes from the oldest to the newest and round
//! again, and a bit for each member, set by a hit. The hand takes the first whose bit is not set, and clears those that it
//! passes.
//!
//! * **Q1** A member is in the queue, in the index, and, where generations count, in the list by age, or in none of them.
//! * **Q2** The list by age is in the order of the generations of the last touches. So those that are too old are at its
//!   front, and [`advance`](Ring::advance) costs what goes.
//! * **Q3** A collection that has the hits *tells* one of them: the first of a member in a *round*, which it remembers in its
//!   entry. So a hit costs no lock. A member that was told in this round counts as hit until the round ends: the hand
//!   passes it, and it does not go before, except if it is removed, or if the hand finds nothing else; then a new round begins. The
//!   hand goes round once in [`ROUNDS`] rounds. So what collections tell differs from the paper by hits of the last part of
//!   a turn; what is [touched](Ring::touch) directly does not.

use alloc::vec::Vec;

use hashbrown::HashTable;

use super::limit::{Gone, Limit};
use crate::hash::HashValue;

/// No slot.
const NONE: u32 = u32::MAX;
/// How many rounds a turn of the hand takes. More are closer to the paper, and tell more hits.
const ROUNDS: usize = 8;
/// Rounds have the numbers from 1 to this one, and then again. (An entry that is not asked for during exactly so many
/// rounds fails to tell one hit.)
const LAST_ROUND: u16 = u16::MAX - 2;

/// The members of something that is bounded, by the address of each.
pub(crate) struct Ring<X> {
    limit: Limit,
    slots: Vec<Slot<X>>,
    /// The list by age, beside `slots`. Empty where generations do not count.
    ages: Vec<Links>,
    index: HashTable<u32>,
    /// In the order of arrival. The links of free slots are in a list of their own.
    queue: Ends,
    oldest: Ends,
    free: u32,
    hand: u32,
    weight: u128,
    generation: u32,
    round: u16,
    /// How far the hand has gone in this round.
    steps: usize,
}

struct Slot<X> {
    /// None if the slot is free.
    kept: Option<X>,
    addr: usize,
    weight: usize,
    links: Links,
    /// When it was kept or touched last.
    generation: u32,
    /// The round in which a hit was told last.
    told: u16,
    visited: bool,
}

/// Something that is kept no more.
pub(crate) struct Going<X> {
    pub(crate) what: X,
    pub(crate) addr: usize,
    pub(crate) weight: usize,
    pub(crate) why: Gone,
}

/// What became of something that was to be kept.
pub(crate) enum Kept<X> {
    /// It is kept now.
    New,
    /// It was kept already; this is what was given again.
    Already(X),
    /// It is heavier than the limit, and not kept. Nor is what was kept of it before.
    Refused(X, Option<X>),
}

#[derive(Clone, Copy)]
struct Links {
    older: u32,
    newer: u32,
}

/// The ends of a list of slots.
#[derive(Clone, Copy)]
struct Ends {
    oldest: u32,
    newest: u32,
}

const UNLINKED: Links = Links {
    older: NONE,
    newer: NONE,
};
const EMPTY: Ends = Ends {
    oldest: NONE,
    newest: NONE,
};

impl Ends {
    fn push<L>(&mut self, list: &mut [L], at: u32, links: impl Fn(&mut L) -> &mut Links) {
        *links(&mut list[at as usize]) = Links {
            older: self.newest,
            newer: NONE,
        };
        match self.newest {
            NONE => self.oldest = at,
            before => links(&mut list[before as usize]).newer = at,
        }
        self.newest = at;
    }

    fn unlink<L>(&mut self, list: &mut [L], at: u32, links: impl Fn(&mut L) -> &mut Links) {
        let Links { older, newer } = *links(&mut list[at as usize]);
        match older {
            NONE => self.oldest = newer,
            older => links(&mut list[older as usize]).newer = newer,
        }
        match newer {
            NONE => self.newest = older,
            newer => links(&mut list[newer as usize]).older = older,
        }
    }
}

impl<X> Ring<X> {
    pub(crate) const fn new(limit: Limit) -> Self {
        Ring {
            limit,
            slots: Vec::new(),
            ages: Vec::new(),
            index: HashTable::new(),
            queue: EMPTY,
            oldest: EMPTY,
            free: NONE,
            hand: NONE,
            weight: 0,
            generation: 0,
            round: 1,
            steps: 0,
        }
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    /// What goes because of that goes [next](Self::next_to_go).
    pub(crate) fn set_limit(&mut self, limit: Limit) {
        let had_ages = self.has_ages();
        self.limit = limit;
        if self.has_ages() == had_ages {
            return;
        }
        (self.ages, self.oldest) = (Vec::new(), EMPTY);
        if self.has_ages() {
            // Nobody knows who was touched before whom: all are of this generation.
            self.ages.resize(self.slots.len(), UNLINKED);
            let mut at = self.queue.oldest;
            while at != NONE {
                self.slots[at as usize].generation = self.generation;
                self.oldest.push(&mut self.ages, at, |links| links);
                at = self.slots[at as usize].links.newer;
            }
        }
    }

    fn has_ages(&self) -> bool {
        self.limit.generations != u32::MAX
    }

    pub(crate) fn len(&self) -> usize {
        self.index.len()
    }

    /// The sum of the weights, at most `usize::MAX`.
    pub(crate) fn weight(&self) -> usize {
        usize::try_from(self.weight).unwrap_or(usize::MAX)
    }

    /// The number of this round: never 0, nor one of the two highest.
    pub(crate) fn round(&self) -> u16 {
        self.round
    }

    /// What is kept of an object.
    pub(crate) fn get(&self, addr: usize) -> Option<&X> {
        self.slots[self.find(addr)? as usize].kept.as_ref()
    }

    fn find(&self, addr: usize) -> Option<u32> {
        let is = |at: &u32| self.slots[*at as usize].addr == addr;
        self.index.find(hash(addr), is).copied()
    }

    /// Keeps something, as the newest. If it is kept already, it is touched, and has this weight from now on.
    pub(crate) fn keep(&mut self, addr: usize, weight: usize, what: X) -> Kept<X> {
        if weight > self.limit.weight || self.limit.entries == 0 {
            let before = self.remove(addr);
            return Kept::Refused(what, before);
        }
        if self.touch(addr) {
            if let Some(at) = self.find(addr) {
                let slot = &mut self.slots[at as usize];
                self.weight = self.weight - slot.weight as u128 + weight as u128;
                slot.weight = weight;
            }
            return Kept::Already(what);
        }
        let slot = Slot {
            kept: Some(what),
            addr,
            weight,
            links: UNLINKED,
            generation: self.generation,
            told: 0,
            visited: false,
        };
        let at = self.place(slot);
        let slots = &self.slots;
        let rehash = |at: &u32| hash(slots[*at as usize].addr);
        self.index.insert_unique(hash(addr), at, rehash);
        self.queue.push(&mut self.slots, at, |slot| &mut slot.links);
        if self.has_ages() {
            self.oldest.push(&mut self.ages, at, |links| links);
        }
        self.weight += weight as u128;
        Kept::New
    }

    /// Puts it into a free slot, or a new one. Makes no more room than the limit allows for.
    fn place(&mut self, slot: Slot<X>) -> u32 {
        if self.free != NONE {
            let at = self.free;
            self.free = self.slots[at as usize].links.newer;
            self.slots[at as usize] = slot;
            return at;
        }
        let len = self.slots.len();
        if len == self.slots.capacity() {
            // One more: it comes before another goes.
            let most = self.limit.entries.saturating_add(1).max(len + 1);
            self.slots
                .reserve_exact((2 * len).clamp(4, most.max(4)) - len);
        }
        let at = u32::try_from(len).ok().filter(|at| *at != NONE);
        self.slots.push(slot);
        if self.has_ages() {
            self.ages.push(UNLINKED);
        }
        at.expect("2^32 are not kept")
    }

    /// Notes a hit. Returns whether it is kept.
    pub(crate) fn touch(&mut self, addr: usize) -> bool {
        self.find(addr).is_some_and(|at| {
            let slot = &mut self.slots[at as usize];
            slot.visited = true;
            if slot.generation != self.generation {
                slot.generation = self.generation;
                if self.has_ages() {
                    self.oldest.unlink(&mut self.ages, at, |links| links);
                    self.oldest.push(&mut self.ages, at, |links| links);
                }
            }
            true
        })
    }

    /// Notes a hit that a collection tells once in a round (Q3).
    pub(crate) fn tell(&mut self, addr: usize) -> bool {
        let there = self.touch(addr);
        if let Some(at) = self.find(addr).filter(|_| there) {
            self.slots[at as usize].told = self.round;
        }
        there
    }

    pub(crate) fn remove(&mut self, addr: usize) -> Option<X> {
        let at = self.find(addr)?;
        Some(self.take(at, Gone::Removed)?.what)
    }

    /// Takes something that its collection may still take for told: the round ends.
    pub(crate) fn release(&mut self, addr: usize) -> Option<X> {
        let removed = self.remove(addr)?;
        self.begin_round();
        Some(removed)
    }

    /// Begins a generation. Those that are too old go [next](Self::next_to_go).
    pub(crate) fn advance(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        // What is told in this generation has to be told in the next one, too.
        self.begin_round();
    }

    fn begin_round(&mut self) {
        self.round = self.round % LAST_ROUND + 1;
        self.steps = 0;
    }

    /// Takes one that has to go, if there is one: it is too old, or there are too many, or they are too heavy.
    pub(crate) fn next_to_go(&mut self) -> Option<Going<X>> {
        if self.has_ages() && self.oldest.oldest != NONE {
            let at = self.oldest.oldest;
            let age = self
                .generation
                .wrapping_sub(self.slots[at as usize].generation);
            if age > self.limit.generations {
                return self.take(at, Gone::Generation);
            }
        }
        if self.len() > self.limit.entries {
            // In the paper one goes before another comes: so not the one that has come.
            return self.evict(Gone::Entries, self.limit.entries != 0);
        }
        self.evict_above(self.limit.weight)
    }

    /// Takes one that has to go if all may weigh only so much.
    pub(crate) fn evict_above(&mut self, weight: usize) -> Option<Going<X>> {
        let newest = self.queue.newest;
        if self.weight <= weight as u128 {
            return None;
        }
        let fits = self.slots.get(newest as usize)?.weight <= weight;
        self.evict(Gone::Weight, fits && self.len() > 1)
    }

    /// Takes the one that the hand finds. Not the newest, if that is `spared`: then there is another.
    fn evict(&mut self, why: Gone, spared: bool) -> Option<Going<X>> {
        let newest = if spared { self.queue.newest } else { NONE };
        let mut told = 0;
        loop {
            if self.hand == NONE || self.hand == newest {
                self.hand = self.queue.oldest;
            }
            let at = self.hand;
            let slot = self.slots.get_mut(at as usize)?;
            self.hand = slot.links.newer;
            if slot.told == self.round {
                told += 1;
            } else if !slot.visited {
                return self.take(at, why);
            } else {
                slot.visited = false;
            }
            self.steps += 1;
            if self.steps > self.index.len() / ROUNDS || told > self.index.len() {
                self.begin_round();
            }
        }
    }

    /// Takes a member out (Q1).
    fn take(&mut self, at: u32, why: Gone) -> Option<Going<X>> {
        let slot = &mut self.slots[at as usize];
        let what = slot.kept.take()?;
        let (addr, weight) = (slot.addr, slot.weight);
        if self.hand == at {
            self.hand = slot.links.newer;
        }
        self.queue
            .unlink(&mut self.slots, at, |slot| &mut slot.links);
        if self.has_ages() {
            self.oldest.unlink(&mut self.ages, at, |links| links);
        }
        self.slots[at as usize].links.newer = self.free;
        self.free = at;
        self.weight -= weight as u128;
        let found = self.index.find_entry(hash(addr), |there| *there == at);
        if let Ok(entry) = found {
            entry.remove();
        }
        Some(Going {
            what,
            addr,
            weight,
            why,
        })
    }
}

fn hash(addr: usize) -> u64 {
    HashValue::of_addr(core::ptr::without_provenance(addr)).get()
}
