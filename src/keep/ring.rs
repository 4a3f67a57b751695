//! The engine under floors and ceilings: a ring holds the kept objects or entries, here called
//! *members*, and chooses the next victim. A ring runs no user code and destroys nothing: the ring
//! returns each victim to the caller.
//!
//! The policy is SIEVE, as in Y. Zhang et al., "SIEVE is Simpler than LRU: an Efficient Turn-Key
//! Eviction Algorithm for Web Caches", NSDI 2024. A queue holds the members in the order of
//! arrival, and each member has a bit. A hit sets the bit. A hand moves from the oldest member to
//! the newest, and then begins again with the oldest. The hand clears each bit that is set, and
//! stops at the first member whose bit is not set. This member is the victim.
//!
//! One rule is added to the paper. The way of the hand from the oldest member is a *lap*. After the
//! hand has passed as many members as the ring had at the beginning of the lap, the hand goes on to
//! newer members, but stops at most at as many newer members as there are members with a set bit.
//! Without the rule, the hand would follow the newest members while none of these has a hit, and
//! older members would stay for ever. Let n be the number of members. With the rule, a member
//! without a hit is evicted before 5n other members are: a lap evicts at most twice as many, the
//! next lap clears the bit, and the first part of the lap after that evicts the member. (Tried and
//! lost, `benches/policies`: the paper's policy, where the demand shifts; a lap that ends with the
//! members of its beginning, which is the policy CLOCK, where the demand is skewed.)
//!
//! * **Q1** A member is in the index, in the queue, and in the list by age.
//! * **Q2** The list by age is sorted by the generation of the last touch. So the members that are
//!   too old are at the front, and [`advance`](Ring::advance), with the eviction of these members,
//!   costs O(victims).
//! * **Q3** Time is divided into *rounds*. One revolution of the hand takes [`ROUNDS`] rounds. A
//!   collection reports only the first hit of a member in each round, and notes the round in the
//!   entry. So most hits take no lock. A member whose hit was reported in a round stays a member
//!   until the round ends, for two reasons. The hand returns to the member only in a later round,
//!   since each lap begins a round. And a caller that ends the membership of an item also ends the
//!   round; only [`remove`](Ring::remove) does not, because its caller has unlinked the entry. If
//!   the hand passes a member after the report, later hits in the same round are lost. A caller
//!   that [touches](Ring::touch) a member at each hit gets exactly the policy.
//! * **Q4** The thread that takes a victim destroys the victim, one victim at a time. A caller that
//!   ends the membership of an item, but must not destroy the item at once, makes it a *leaving*
//!   item. A refused item can become a leaving item, too. A leaving item is no member. The ring
//!   finds a leaving item only to keep it again or to return it as a victim.

use alloc::vec::Vec;
use core::mem;

use hashbrown::HashTable;

use super::limit::{Gone, Limit};
use crate::hash::HashValue;
use crate::list::{Ends, Linked, Links, NONE, UNLINKED};
use crate::panics::run_all;
use crate::sync::allocating;

mod memory;

#[cfg(feature = "std")]
pub(crate) use memory::allocate;

/// The number of rounds in one revolution of the hand. With more rounds, the policy is closer to
/// the paper, and more hits are reported.
const ROUNDS: usize = 8;
/// Rounds are numbered from 1 to this number, and then from 1 again. So a number returns after
/// `LAST_ROUND` rounds. If an entry had no hit for exactly this long, its next hits are not
/// reported until the round ends. By then the entry is no longer a member, unless the limit allows
/// more generations than this.
pub(super) const LAST_ROUND: u16 = u16::MAX - 17;

/// The members, by the addresses of the objects.
pub(crate) struct Ring<X> {
    limit: Limit,
    slots: Vec<Slot<X>>,
    /// The slot of each address. (Chains through the slots would take 6 bytes less for each member,
    /// but with chains, keeping an object took up to twice as long.)
    index: HashTable<u32>,
    /// The members in the order of arrival.
    queue: Ends<QUEUE>,
    by_age: Ends<AGES>,
    /// The leaving items: each is in the index, and in no list except this (Q4).
    leaving: Ends<QUEUE>,
    free: u32,
    hand: u32,
    /// The member that was kept last, while the object is still a member.
    latest: u32,
    len: usize,
    weight: u128,
    generation: u32,
    round: u16,
    /// Whether the number of this round is in an entry.
    told: bool,
    /// The number of members that the hand has visited in this round.
    steps: usize,
    /// The number of members that the hand has still to pass before it is beyond the members with
    /// which the lap began.
    ahead: usize,
    /// The number of victims beyond these members.
    beyond: usize,
    /// The number of members whose bit is set.
    visited: usize,
}

pub(crate) struct Slot<X> {
    /// None if the slot is free.
    kept: Option<X>,
    addr: usize,
    weight: usize,
    links: Links,
    /// The links of the list by age.
    ages: Links,
    /// The generation in which the member was kept or touched last.
    generation: u32,
    visited: bool,
    /// Why the item is no longer a member (Q4).
    gone: Option<Gone>,
}

/// A victim, taken out of the ring.
pub(crate) struct Victim<X> {
    pub(crate) what: X,
    pub(crate) addr: usize,
    pub(crate) why: Gone,
    /// The weight of the victim, if the victim was a member until now.
    pub(crate) weight: Option<usize>,
}

/// The outcome of keeping an item. Contains the item that the caller has passed, if the ring has
/// not taken it.
pub(crate) enum Outcome<X> {
    /// The object was a member already, and the member was touched.
    Touched(X),
    /// The object is a member from now on. A leaving item keeps the item that it had.
    Joined(Option<X>),
    /// The item is not kept, because it is heavier than the limit, or the limit is 0 entries. If
    /// [`keep`](Ring::keep) refuses a member, the member is a [victim](Ring::next_victim) now.
    Refused(X),
}

/// The links of the queue, and of the list of leaving items.
const QUEUE: usize = 0;
const AGES: usize = 1;

impl<X> Linked<QUEUE> for Slot<X> {
    fn links(&mut self) -> &mut Links {
        &mut self.links
    }
}

impl<X> Linked<AGES> for Slot<X> {
    fn links(&mut self) -> &mut Links {
        &mut self.ages
    }
}

impl<X> Ring<X> {
    pub(crate) const fn new(limit: Limit) -> Self {
        Ring {
            limit,
            slots: Vec::new(),
            index: HashTable::new(),
            queue: Ends::EMPTY,
            by_age: Ends::EMPTY,
            leaving: Ends::EMPTY,
            free: NONE,
            hand: NONE,
            latest: NONE,
            len: 0,
            weight: 0,
            generation: 0,
            round: 1,
            told: false,
            steps: 0,
            ahead: 0,
            beyond: 0,
            visited: 0,
        }
    }

    pub(crate) fn limit(&self) -> Limit {
        self.limit
    }

    /// Sets another limit. The members beyond the limit become [victims](Self::next_victim).
    pub(crate) fn set_limit(&mut self, limit: Limit) {
        self.limit = limit;
        // An entry whose object was refused in this round does not report its next hit (S3 of
        // `keep::shared`). The object may fit now, so a new round begins.
        self.begin_round();
    }

    pub(crate) fn len(&self) -> usize {
        self.len
    }

    /// Returns the sum of the weights, at most `usize::MAX`.
    pub(crate) fn weight(&self) -> usize {
        usize::try_from(self.weight).unwrap_or(usize::MAX)
    }

    /// Returns the number of this round, for an entry that reports a hit.
    pub(crate) fn tell_round(&mut self) -> u16 {
        self.told = true;
        self.round
    }

    /// Returns the number of this round: never 0, and never one of the 17 highest numbers.
    pub(crate) fn round(&self) -> u16 {
        self.round
    }

    /// Returns the kept item of an object.
    pub(crate) fn get(&self, addr: usize) -> Option<&X> {
        self.slots[self.member(addr)? as usize].kept.as_ref()
    }

    /// Returns the slot of an object that is a member.
    #[inline]
    fn member(&self, addr: usize) -> Option<u32> {
        self.find(addr).filter(|at| self.is_member(*at))
    }

    /// Returns whether a slot in use has a member, not a leaving item.
    #[inline]
    fn is_member(&self, at: u32) -> bool {
        self.slots[at as usize].gone.is_none()
    }

    /// Returns whether the ring has an item of the object, also a leaving item.
    pub(crate) fn has(&self, addr: usize) -> bool {
        self.find(addr).is_some()
    }

    /// Returns the slot of an object: the slot of a member or of a [leaving](Self::leaving) item.
    #[inline]
    fn find(&self, addr: usize) -> Option<u32> {
        let is = |at: &u32| self.slots[*at as usize].addr == addr;
        self.index.find(hash(addr), is).copied()
    }

    /// Keeps an item as the newest member. If the object is a member already, touches the member
    /// and replaces its weight.
    pub(crate) fn keep(&mut self, addr: usize, weight: usize, what: X) -> Outcome<X> {
        if !self.fits(weight) {
            self.let_go(addr, self.refusal());
            return Outcome::Refused(what);
        }
        let outcome = self.touch_or_join(addr, Some(weight), what);
        if let (Outcome::Touched(_), Some(at)) = (&outcome, self.member(addr)) {
            let slot = &mut self.slots[at as usize];
            self.weight = self.weight - slot.weight as u128 + weight as u128;
            slot.weight = weight;
            self.latest = at;
        }
        outcome
    }

    /// If the object is a member, [touches](Self::touch) the member, and does not change its
    /// weight. Otherwise makes the item the newest member: a leaving item of the object becomes the
    /// member, and `what` goes back to the caller. Refuses an item that does not fit, and an item
    /// without a weight (the closure that weighs items has panicked).
    pub(crate) fn touch_or_join(
        &mut self,
        addr: usize,
        weight: Option<usize>,
        what: X,
    ) -> Outcome<X> {
        let found = self.find(addr);
        if let Some(at) = found.filter(|at| self.is_member(*at)) {
            self.hit(at);
            return Outcome::Touched(what);
        }
        let Some(weight) = weight.filter(|weight| self.fits(*weight)) else {
            return Outcome::Refused(what);
        };
        let (at, unused) = match found {
            // A leaving item: its slot has an item, and the index names the slot.
            Some(at) => {
                self.leaving.unlink(&mut self.slots, at);
                (at, Some(what))
            }
            None => (self.place(addr, what), None),
        };
        let slot = &mut self.slots[at as usize];
        (slot.weight, slot.gone, slot.visited) = (weight, None, false);
        slot.generation = self.generation;
        self.len += 1;
        self.latest = at;
        self.weight += weight as u128;
        self.queue.push(&mut self.slots, at);
        self.by_age.push(&mut self.slots, at);
        Outcome::Joined(unused)
    }

    /// Makes a victim that was a member the newest member of the queue, if it fits. The member that
    /// was kept last is still spared. Returns whether the object is a member now.
    #[cfg(feature = "std")]
    pub(crate) fn take_back(&mut self, victim: &Victim<X>) -> bool
    where
        X: Copy,
    {
        let latest = self.latest;
        let outcome = match victim.weight {
            Some(_) => self.touch_or_join(victim.addr, victim.weight, victim.what),
            None => return false,
        };
        self.latest = latest;
        !matches!(outcome, Outcome::Refused(_))
    }

    /// Returns whether the limit allows a member of this weight.
    fn fits(&self, weight: usize) -> bool {
        self.limit.weight.is_none_or(|most| weight <= most) && self.limit.entries != 0
    }

    /// Returns the reason for which an item does not fit.
    fn refusal(&self) -> Gone {
        match self.limit.entries {
            0 => Gone::Entries,
            _ => Gone::Weight,
        }
    }

    /// Makes an item a [victim](Self::next_victim), with the cause for which the item does not fit.
    /// Does nothing if the ring has an item of the object: a member, or a leaving item, which is a
    /// victim already.
    pub(crate) fn refuse(&mut self, addr: usize, what: X) {
        if self.find(addr).is_none() {
            let at = self.place(addr, what);
            self.leave(at, self.refusal());
        }
    }

    /// Takes a member out of the queue, out of the list by age, and out of the counts. The member
    /// keeps its slot and its place in the index.
    fn unlink_member(&mut self, at: u32) {
        let slot = &self.slots[at as usize];
        if self.hand == at {
            self.hand = slot.links.newer;
        }
        if self.latest == at {
            self.latest = NONE;
        }
        self.len -= 1;
        // The ring does not know whether the hand has passed the member, so `ahead` may stay too
        // large: then fewer newer members count as such in this lap.
        self.ahead = self.ahead.min(self.len);
        self.visited -= usize::from(slot.visited);
        self.weight -= slot.weight as u128;
        self.queue.unlink(&mut self.slots, at);
        self.by_age.unlink(&mut self.slots, at);
    }

    /// Makes a member a leaving item.
    fn expel(&mut self, at: u32, why: Gone) {
        self.unlink_member(at);
        self.leave(at, why);
    }

    /// Makes an item that is in no list a leaving item.
    fn leave(&mut self, at: u32, why: Gone) {
        self.slots[at as usize].gone = Some(why);
        self.leaving.push(&mut self.slots, at);
    }

    /// Makes a member a [victim](Self::next_victim).
    pub(crate) fn let_go(&mut self, addr: usize, why: Gone) {
        if let Some(at) = self.member(addr) {
            self.expel(at, why);
            // An entry may still have the number of this round, and would not report its next hit
            // (Q3).
            self.begin_round();
        }
    }

    /// Makes all members [victims](Self::next_victim).
    pub(crate) fn let_all_go(&mut self) {
        while self.queue.oldest != NONE {
            self.expel(self.queue.oldest, Gone::Removed);
        }
        self.begin_round();
    }

    /// Puts an item into a free slot or a new slot, and into the index. Memory is allocated first:
    /// an item in a slot, but not in the index, would be kept for ever.
    fn place(&mut self, addr: usize, what: X) -> u32 {
        // In a ring that threads share, the caller has made room.
        if !self.has_room() {
            allocating(|memory| self.grow(memory));
        }
        let slot = Slot {
            kept: Some(what),
            addr,
            weight: 0,
            links: UNLINKED,
            ages: UNLINKED,
            generation: 0,
            visited: false,
            gone: None,
        };
        let at = if self.free == NONE {
            let at = u32::try_from(self.slots.len()).ok();
            let at = at.filter(|at| *at != NONE);
            let at = at.expect("nobody keeps 2^32 objects");
            self.slots.push(slot);
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

    /// Notes a hit. Returns whether the object is a member.
    pub(crate) fn touch(&mut self, addr: usize) -> bool {
        self.member(addr).map(|at| self.hit(at)).is_some()
    }

    /// Notes a hit of a member: sets the bit, and touches the member in this generation.
    fn hit(&mut self, at: u32) {
        let slot = &mut self.slots[at as usize];
        self.visited += usize::from(!mem::replace(&mut slot.visited, true));
        if slot.generation != self.generation {
            slot.generation = self.generation;
            self.by_age.unlink(&mut self.slots, at);
            self.by_age.push(&mut self.slots, at);
        }
    }

    /// Takes out a member or a leaving item.
    pub(crate) fn remove(&mut self, addr: usize) -> Option<X> {
        let at = self.find(addr)?;
        Some(self.take(at, Gone::Removed)?.what)
    }

    /// Takes out a member, and ends the round, since an entry may still have the number of this
    /// round.
    pub(crate) fn release(&mut self, addr: usize) -> Option<X> {
        let at = self.member(addr)?;
        self.begin_round();
        Some(self.take(at, Gone::Removed)?.what)
    }

    /// Begins a generation. Members older than the limit become [victims](Self::next_victim).
    pub(crate) fn advance(&mut self) {
        self.generation = self.generation.wrapping_add(1);
        // A member that was reported in the old generation has to be reported in the new
        // generation, too.
        self.begin_round();
    }

    /// Ends the round if an entry has its number. Otherwise the number can be used on.
    fn begin_round(&mut self) {
        if mem::take(&mut self.told) {
            self.round = self.round % LAST_ROUND + 1;
        }
        self.steps = 0;
    }

    /// Returns the member whose last touch is the oldest, if the member is too old.
    fn too_old(&self) -> Option<u32> {
        let at = self.by_age.oldest;
        let then = self.slots.get(at as usize)?.generation;
        let age = self.generation.wrapping_sub(then);
        (age > self.limit.generations).then_some(at)
    }

    /// Returns whether the list of leaving items has an item.
    pub(crate) fn has_leaving(&self) -> bool {
        self.leaving.oldest != NONE
    }

    /// Returns whether there is a victim.
    pub(crate) fn has_victim(&self) -> bool {
        self.exceeds_limit() || self.has_leaving() || self.too_old().is_some()
    }

    /// Returns whether the members are too many or too heavy.
    pub(crate) fn exceeds_limit(&self) -> bool {
        let limit = self.limit;
        self.len > limit.entries || limit.weight.is_some_and(|most| self.is_above(most))
    }

    /// Takes the next victim, if there is one: a leaving item, or a member that is too old, or, if
    /// the members are too many or too heavy, the member that SIEVE chooses.
    pub(crate) fn next_victim(&mut self) -> Option<Victim<X>> {
        let (at, why) = if self.has_leaving() {
            (self.leaving.oldest, Gone::Removed)
        } else if let Some(at) = self.too_old() {
            (at, Gone::Generation)
        } else if self.len > self.limit.entries {
            // In the paper, the victim goes before the new member arrives: so spare the new member.
            let is_other = self.limit.entries != 0;
            let spared = if is_other { self.latest } else { NONE };
            (self.victim(spared)?, Gone::Entries)
        } else {
            (self.too_heavy(self.limit.weight?)?, Gone::Weight)
        };
        self.take(at, why)
    }

    /// Returns whether the members together weigh more than `weight`.
    pub(crate) fn is_above(&self, weight: usize) -> bool {
        self.weight > weight as u128
    }

    /// Returns the next victim under a limit of `weight` for all members together.
    fn too_heavy(&mut self, weight: usize) -> Option<u32> {
        if !self.is_above(weight) {
            return None;
        }
        let latest = self.slots.get(self.latest as usize);
        let is_other = self.len > 1 && latest.is_some_and(|latest| latest.weight <= weight);
        self.victim(if is_other { self.latest } else { NONE })
    }

    /// Makes members [victims](Self::next_victim) until the remaining members weigh at most
    /// `weight`. Returns the number of victims.
    pub(crate) fn let_go_above(&mut self, weight: usize) -> usize {
        let mut gone = 0;
        while let Some(at) = self.too_heavy(weight) {
            self.expel(at, Gone::Weight);
            gone += 1;
        }
        // Q3: the memberships of the victims have ended.
        self.begin_round();
        gone
    }

    /// Returns the victim that the hand finds, which is never `spared`. The caller knows that
    /// `spared` is not the only member.
    fn victim(&mut self, spared: u32) -> Option<u32> {
        if self.ahead == 0 && self.beyond >= self.visited {
            self.hand = NONE;
        }
        loop {
            if self.hand == NONE {
                self.begin_lap(spared);
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
            let is_beyond = self.ahead == 0;
            self.ahead = self.ahead.saturating_sub(1);
            self.visited -= usize::from(visited);
            if !visited {
                self.beyond += usize::from(is_beyond);
                if self.hand == spared {
                    // In the paper, the new member has not arrived yet: the hand does not stop at
                    // the new member.
                    let spared = self.slots.get(spared as usize);
                    self.hand = spared.map_or(NONE, |spared| spared.links.newer);
                }
                return Some(at);
            }
        }
    }

    /// Moves the hand to the oldest member, and ends the round (Q3).
    fn begin_lap(&mut self, spared: u32) {
        self.hand = self.queue.oldest;
        self.ahead = self.len - usize::from(spared != NONE);
        self.beyond = 0;
        self.begin_round();
    }

    /// Takes an item out of its slot and out of all lists, and frees the slot. `why` is the reason
    /// if the item is a member.
    fn take(&mut self, at: u32, why: Gone) -> Option<Victim<X>> {
        let gone = self.slots[at as usize].gone;
        match gone {
            Some(_) => self.leaving.unlink(&mut self.slots, at),
            None => self.unlink_member(at),
        }
        let slot = &mut self.slots[at as usize];
        let victim = Victim {
            what: slot.kept.take()?,
            addr: slot.addr,
            why: gone.unwrap_or(why),
            weight: gone.is_none().then_some(slot.weight),
        };
        slot.links.newer = mem::replace(&mut self.free, at);
        let found = (self.index).find_entry(hash(victim.addr), |there| *there == at);
        if let Ok(entry) = found {
            entry.remove();
        }
        Some(victim)
    }
}

impl<X> Drop for Ring<X> {
    /// Drops all items, even if the destructors of some items panic.
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
