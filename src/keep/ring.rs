//! What is kept, and which of it goes next: the engine under floors and ceilings. It runs no code of users, and
//! destroys nothing: what goes is returned.
//!
//! The policy is SIEVE, as in Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key Eviction Algorithm for
//! Web Caches", NSDI 2024: a queue in the order of arrival, a hand that goes from the oldest to the newest and round
//! again, and a bit for each member, set by a hit. The hand takes the first whose bit is not set, and clears those that
//! it passes.
//!
//! * **Q1** A member is in the index, in the queue, and, where generations count, in the list by age.
//! * **Q2** The list by age is in the order of the generations of the last touches. So those that are too old are at
//!   its front, and [`advance`](Ring::advance) costs what goes.
//! * **Q3** A collection does not tell each hit, but the first of a member in each *round*, which it remembers in its
//!   entry. So a hit costs no lock. A turn of the hand takes [`ROUNDS`] rounds, so when the hand comes back to a member
//!   that it has passed, another round has begun: what was told in this round is a member until the round ends, unless
//!   it is let go; and whoever lets go of a member ends the round. Hits that come in the round in which the hand has
//!   passed are lost, if one was told before that. What is [touched](Ring::touch) directly differs from the paper in
//!   nothing.
//! * **Q4** What goes is taken by who destroys it, one at a time. What is removed by somebody who must not destroy it,
//!   or was refused, waits for that: it is no member any more, and is found only to be kept again, or taken.
//! * **Q5** Who takes what goes may have to do something about it under no lock. Until that is done, it is [going](self::going):
//!   found, so that whoever keeps it again or lets it go meanwhile can say so.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

use super::limit::{Gone, Limit};
use super::list::{EMPTY, Ends, Linked, Links, NONE, UNLINKED};
use crate::hash::HashValue;
use crate::panics::run_all;
use crate::sync::allocating;

mod going;
mod room;

/// How many rounds a turn of the hand takes. More are closer to the paper, and tell more hits.
const ROUNDS: usize = 8;
/// Rounds have the numbers from 1 to this one, and then again. So an entry that is not asked for during exactly so many
/// rounds does not tell its hits in the last of them. It is no member by then, or generations count that many.
const LAST_ROUND: u16 = u16::MAX - 2;

/// The members of something that is bounded, by the address of each.
pub(crate) struct Ring<X> {
    limit: Limit,
    slots: Vec<Slot<X>>,
    /// The list by age, beside `slots`. Empty where generations do not count.
    ages: Vec<Links>,
    /// Chains through the slots would take 6 bytes less for each, but keeping one more took up to twice as long with
    /// them.
    index: HashTable<u32>,
    /// In the order of arrival.
    queue: Ends,
    by_age: Ends,
    /// What was let go and is not taken yet: in the index, and in no other list (Q4).
    leaving: Ends,
    free: u32,
    hand: u32,
    /// The member that was kept last, if it still is.
    latest: u32,
    len: usize,
    weight: u128,
    generation: u32,
    round: u16,
    /// Whether an entry has the number of this round.
    told: bool,
    /// How far the hand has gone in this round.
    steps: usize,
    turn: u64,
}

struct Slot<X> {
    /// None if the slot is free, or what it had is going (Q5).
    kept: Option<X>,
    addr: usize,
    weight: usize,
    links: Links,
    /// When it was kept or touched last.
    generation: u32,
    visited: bool,
    /// Why it is no member any more (Q4).
    gone: Option<Gone>,
}

/// Something that is kept no more.
pub(crate) struct Going<X> {
    pub(crate) what: X,
    pub(crate) addr: usize,
    pub(crate) weight: usize,
    pub(crate) why: Gone,
    /// When: see [`Outcome::New`].
    pub(crate) turn: u64,
    /// Its slot, if it is [going](going) until who has taken it ends that.
    pub(crate) at: Option<u32>,
    /// Whether another has to go for the same reason. So who asks for one need not ask again.
    pub(crate) more: bool,
}

/// What became of something that was to be kept.
pub(crate) enum Outcome<X> {
    /// It is kept, and was not before. All that comes and goes takes turns, which have numbers.
    New { turn: u64 },
    /// It was kept already; this is what was given again.
    Already(X),
    /// It is heavier than the limit, or that is of 0 entries, and not kept. What was kept of it before goes
    /// [next](Ring::next_to_go).
    Refused(X),
}

/// Whether something was a member already, which was touched.
pub(crate) enum Told<X> {
    /// What was given again.
    Yes(X),
    No(Outcome<X>),
}

impl<X> Linked for Slot<X> {
    fn links(&mut self) -> &mut Links {
        &mut self.links
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
            by_age: EMPTY,
            leaving: EMPTY,
            free: NONE,
            hand: NONE,
            latest: NONE,
            len: 0,
            weight: 0,
            generation: 0,
            round: 1,
            told: false,
            steps: 0,
            turn: 0,
        }
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    fn has_ages(&self) -> bool {
        self.limit.generations != u32::MAX
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// The sum of the weights, at most `usize::MAX`.
    pub(crate) fn weight(&self) -> usize {
        usize::try_from(self.weight).unwrap_or(usize::MAX)
    }

    /// The number of this round, for an entry that is told in it.
    pub(crate) fn tell_round(&mut self) -> u16 {
        self.told = true;
        self.round
    }

    /// The number of this round: never 0, nor one of the two highest.
    pub(crate) fn round(&self) -> u16 {
        self.round
    }

    /// What is kept of an object.
    pub(crate) fn get(&self, addr: usize) -> Option<&X> {
        self.slots[self.member(addr)? as usize].kept.as_ref()
    }

    #[inline]
    fn member(&self, addr: usize) -> Option<u32> {
        self.find(addr).filter(|at| self.is_member(*at))
    }

    #[inline]
    fn is_member(&self, at: u32) -> bool {
        self.slots[at as usize].gone.is_none()
    }

    /// With what is [leaving](Self::leaving), or going.
    #[inline]
    fn find(&self, addr: usize) -> Option<u32> {
        let is = |at: &u32| self.slots[*at as usize].addr == addr;
        self.index.find(hash(addr), is).copied()
    }

    /// Keeps something, as the newest. If it is kept already, it is touched, and has this weight from now on.
    pub(crate) fn keep(&mut self, addr: usize, weight: usize, what: X) -> Outcome<X> {
        if !self.fits(weight) {
            self.let_go(addr, self.refusal());
            return Outcome::Refused(what);
        }
        let found = self.find(addr);
        if let Some(at) = found.filter(|at| self.is_member(*at)) {
            self.hit(at);
            let slot = &mut self.slots[at as usize];
            self.weight = self.weight - slot.weight as u128 + weight as u128;
            slot.weight = weight;
            self.latest = at;
            return Outcome::Already(what);
        }
        self.admit(found, addr, weight, what)
    }

    /// [Touches](Self::touch) a member, which keeps its weight, or else keeps something. One without a weight is refused.
    pub(crate) fn tell_or_keep(&mut self, addr: usize, weight: Option<usize>, what: X) -> Told<X> {
        let found = self.find(addr);
        if let Some(at) = found.filter(|at| self.is_member(*at)) {
            self.hit(at);
            return Told::Yes(what);
        }
        Told::No(match weight.filter(|weight| self.fits(*weight)) {
            Some(weight) => self.admit(found, addr, weight, what),
            None => Outcome::Refused(what),
        })
    }

    fn fits(&self, weight: usize) -> bool {
        self.limit.weight.is_none_or(|most| weight <= most) && self.limit.entries != 0
    }

    /// Why something does not fit.
    fn refusal(&self) -> Gone {
        match self.limit.entries {
            0 => Gone::Entries,
            _ => Gone::Weight,
        }
    }

    /// Makes something a member that is none, and was found where it is about to leave, or is going.
    fn admit(&mut self, found: Option<u32>, addr: usize, weight: usize, what: X) -> Outcome<X> {
        let leaving = match found {
            Some(at) if self.is_going(at) => {
                self.give_way(at);
                None
            }
            other => other,
        };
        let (at, given) = match leaving {
            Some(at) => {
                self.leaving.unlink(&mut self.slots, at);
                (at, Some(what))
            }
            None => (self.place(addr, what), None),
        };
        let slot = &mut self.slots[at as usize];
        slot.weight = weight;
        self.join(at);
        let turn = self.next_turn();
        given.map_or(Outcome::New { turn }, Outcome::Already)
    }

    /// Puts something that is not there to what goes [next](Self::next_to_go).
    pub(crate) fn refuse(&mut self, addr: usize, what: X) {
        if self.find(addr).is_none() {
            let at = self.place(addr, what);
            self.leave(at, self.refusal());
        }
    }

    /// Makes it a member, as the newest.
    fn join(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        slot.gone = None;
        slot.generation = self.generation;
        slot.visited = false;
        self.len += 1;
        self.latest = at;
        self.weight += slot.weight as u128;
        self.queue.push(&mut self.slots, at);
        if self.has_ages() {
            self.by_age.push(&mut self.ages, at);
        }
    }

    /// The opposite: it is in no list.
    fn part(&mut self, at: u32) {
        let slot = &self.slots[at as usize];
        if self.hand == at {
            self.hand = slot.links.newer;
        }
        if self.latest == at {
            self.latest = NONE;
        }
        self.len -= 1;
        self.weight -= slot.weight as u128;
        self.queue.unlink(&mut self.slots, at);
        if self.has_ages() {
            self.by_age.unlink(&mut self.ages, at);
        }
    }

    fn leave(&mut self, at: u32, why: Gone) {
        self.slots[at as usize].gone = Some(why);
        self.leaving.push(&mut self.slots, at);
    }

    /// Keeps it no more: it goes [next](Self::next_to_go). Returns [when](Outcome::New).
    pub(crate) fn let_go(&mut self, addr: usize, why: Gone) -> u64 {
        if let Some(at) = self.member(addr) {
            self.part(at);
            self.leave(at, why);
            // Its collection may take it for told.
            self.begin_round();
        } else if why == Gone::Removed {
            self.set_removed(addr);
        }
        self.next_turn()
    }

    /// All of them go [next](Self::next_to_go). Returns [when](Outcome::New).
    pub(crate) fn let_all_go(&mut self) -> u64 {
        while self.queue.oldest != NONE {
            let at = self.queue.oldest;
            self.part(at);
            self.leave(at, Gone::Removed);
        }
        self.begin_round();
        self.set_all_removed()
    }

    fn next_turn(&mut self) -> u64 {
        self.turn += 1;
        self.turn
    }

    /// Puts it into a free slot, or a new one, and into the index. All memory comes first: one that is in a slot, and not
    /// in the index, would be kept for ever.
    fn place(&mut self, addr: usize, what: X) -> u32 {
        // A ring that threads share has room already.
        if !self.has_room() {
            allocating(|room| self.grow(room));
        }
        let slot = Slot {
            kept: Some(what),
            addr,
            weight: 0,
            links: UNLINKED,
            generation: 0,
            visited: false,
            gone: None,
        };
        let at = if self.free == NONE {
            let at = u32::try_from(self.slots.len()).ok();
            let at = at.filter(|at| *at != NONE);
            let at = at.expect("nobody keeps 2^32 objects");
            self.slots.push(slot);
            if self.has_ages() {
                self.ages.push(UNLINKED);
            }
            at
        } else {
            let at = self.free;
            self.free = self.slots[at as usize].links.newer;
            self.slots[at as usize] = slot;
            at
        };
        let slots = &self.slots;
        let rehash = |at: &u32| hash(slots[*at as usize].addr);
        self.index.insert_unique(hash(addr), at, rehash);
        at
    }

    /// Notes a hit. Returns whether it is kept.
    pub(crate) fn touch(&mut self, addr: usize) -> bool {
        self.member(addr).map(|at| self.hit(at)).is_some()
    }

    fn hit(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        slot.visited = true;
        if slot.generation != self.generation {
            slot.generation = self.generation;
            if self.has_ages() {
                self.by_age.unlink(&mut self.ages, at);
                self.by_age.push(&mut self.ages, at);
            }
        }
    }

    /// Takes something, whether or not it is about to leave.
    pub(crate) fn remove(&mut self, addr: usize) -> Option<X> {
        self.set_removed(addr);
        let at = self.find(addr)?;
        Some(self.take(at, Gone::Removed)?.what)
    }

    /// Takes something that its collection may still take for told: the round ends. Also returns [when](Outcome::New).
    pub(crate) fn release(&mut self, addr: usize) -> (Option<X>, u64) {
        let Some(at) = self.member(addr) else {
            self.set_removed(addr);
            return (None, self.next_turn());
        };
        self.begin_round();
        let taken = self.take(at, Gone::Removed);
        (taken.map(|going| going.what), self.turn)
    }

    /// Begins a generation. Those that are too old go [next](Self::next_to_go).
    pub(crate) fn advance(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        // What is told in this generation has to be told in the next one, too.
        self.begin_round();
    }

    /// A round in which nothing was told need not end: no entry has its number.
    fn begin_round(&mut self) {
        if mem::take(&mut self.told) {
            self.round = self.round % LAST_ROUND + 1;
        }
        self.steps = 0;
    }

    /// The oldest, if it is too old.
    fn too_old(&self) -> Option<u32> {
        let at = self.by_age.oldest;
        let then = self.slots.get(at as usize)?.generation;
        let age = self.generation.wrapping_sub(then);
        (age > self.limit.generations).then_some(at)
    }

    /// Whether something was let go and is not taken yet.
    pub(crate) fn is_leaving(&self) -> bool {
        self.leaving.oldest != NONE
    }

    /// Whether one has to go.
    pub(crate) fn is_due(&self) -> bool {
        let limit = self.limit;
        let too_heavy = limit.weight.is_some_and(|most| self.is_above(most));
        let beyond = self.len > limit.entries || too_heavy;
        beyond || self.is_leaving() || self.too_old().is_some()
    }

    /// Takes one that has to go, if there is one: it was let go, it is too old, there are too many, or they are too
    /// heavy.
    pub(crate) fn next_to_go(&mut self) -> Option<Going<X>> {
        let (at, why) = self.due()?;
        let going = self.take(at, why)?;
        Some(Going {
            more: self.is_due(),
            ..going
        })
    }

    /// The one that has to go, and why.
    fn due(&mut self) -> Option<(u32, Gone)> {
        Some(if self.is_leaving() {
            (self.leaving.oldest, Gone::Removed)
        } else if let Some(at) = self.too_old() {
            (at, Gone::Generation)
        } else if self.len > self.limit.entries {
            // In the paper one goes before another comes: so not the one that has come.
            let is_other = self.limit.entries != 0;
            let spared = if is_other { self.latest } else { NONE };
            (self.victim(spared)?, Gone::Entries)
        } else {
            (self.too_heavy(self.limit.weight?)?, Gone::Weight)
        })
    }

    /// Whether all together weigh more.
    fn is_above(&self, weight: usize) -> bool {
        self.weight > weight as u128
    }

    /// The one that has to go if all may weigh only so much.
    fn too_heavy(&mut self, weight: usize) -> Option<u32> {
        if !self.is_above(weight) {
            return None;
        }
        let latest = self.slots.get(self.latest as usize);
        let is_other = self.len > 1 && latest.is_some_and(|latest| latest.weight <= weight);
        self.victim(if is_other { self.latest } else { NONE })
    }

    /// Lets go of some until the others weigh no more than this; returns how many. They go [next](Self::next_to_go).
    pub(crate) fn let_go_above(&mut self, weight: usize) -> usize {
        let mut gone = 0;
        while let Some(at) = self.too_heavy(weight) {
            self.part(at);
            self.leave(at, Gone::Weight);
            gone += 1;
        }
        self.begin_round();
        gone
    }

    /// The one that the hand finds. Not the one that is `spared`: then there is another.
    fn victim(&mut self, spared: u32) -> Option<u32> {
        loop {
            if self.hand == NONE {
                self.hand = self.queue.oldest;
            }
            let at = self.hand;
            let slot = self.slots.get_mut(at as usize)?;
            self.hand = slot.links.newer;
            if at == spared {
                continue;
            }
            let visited = mem::take(&mut slot.visited);
            self.steps += 1;
            if self.steps > self.len / ROUNDS {
                self.begin_round();
            }
            if !visited {
                if self.hand == spared {
                    // In the paper one that comes is not there yet: the hand does not wait for it.
                    let spared = self.slots.get(spared as usize);
                    self.hand = spared.map_or(NONE, |spared| spared.links.newer);
                }
                return Some(at);
            }
        }
    }

    /// Takes something out of its slot, which is free then.
    fn take(&mut self, at: u32, why: Gone) -> Option<Going<X>> {
        let going = self.take_out(at, why)?;
        self.vacate(at);
        Some(going)
    }

    /// Takes something out of its slot, and that out of all lists.
    fn take_out(&mut self, at: u32, why: Gone) -> Option<Going<X>> {
        let slot = &mut self.slots[at as usize];
        let what = slot.kept.take()?;
        let (addr, weight) = (slot.addr, slot.weight);
        let why = slot.gone.unwrap_or(why);
        if slot.gone.is_some() {
            self.leaving.unlink(&mut self.slots, at);
        } else {
            self.part(at);
        }
        self.slots[at as usize].gone = Some(why);
        Some(Going {
            what,
            addr,
            weight,
            why,
            turn: self.next_turn(),
            at: None,
            more: true,
        })
    }

    /// The slot is free, and not in the index.
    fn vacate(&mut self, at: u32) {
        self.hide(at);
        self.slots[at as usize].links.newer = self.free;
        self.free = at;
    }

    /// Takes a slot out of the index, if it is there.
    fn hide(&mut self, at: u32) {
        let addr = self.slots[at as usize].addr;
        let found = self.index.find_entry(hash(addr), |there| *there == at);
        if let Ok(entry) = found {
            entry.remove();
        }
    }
}

impl<X> Drop for Ring<X> {
    /// The end of what is kept, also if some of it panics.
    fn drop(&mut self) {
        if mem::needs_drop::<X>() {
            let mut slots = mem::take(&mut self.slots).into_iter();
            run_all(|| slots.next().map(|slot| drop(slot.kept)).is_some());
        }
    }
}

fn hash(addr: usize) -> u64 {
    HashValue::of_addr(core::ptr::without_provenance(addr)).get()
}

#[cfg(all(test, not(weakly_loom)))]
mod tests;
