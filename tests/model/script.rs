//! Scripts for collections with weak keys: owners come and go among the operations of two
//! collections, and after each operation everything is compared with the model.

use std::mem::take;

use super::op::Op;
use super::routes::{Change, Find, Insert, Keep, List};
use super::subject::Subject;
use super::world::{Entries, Entry, Key, Truth, Value};
use crate::common::{Kind, downgrade, scaled};
use weakly::{StrongRef, WeakRef};

/// Places for owners: several times what one operation buries.
const SLOTS: usize = scaled(64, 20);

/// A place for owners of one object.
struct Slot<P: Kind> {
    owners: Vec<Key<P>>,
    weak: Option<(usize, <Key<P> as StrongRef>::Weak)>,
}

struct World<P: Kind, S> {
    truth: Truth,
    slots: Vec<Slot<P>>,
    subject: S,
    model: Entries,
    other: S,
    other_model: Entries,
    turn: usize,
}

/// Runs a script.
pub fn run<P: Kind, S: Subject<P>>(ops: impl IntoIterator<Item = Op>) {
    let empty = || Slot {
        owners: Vec::new(),
        weak: None,
    };
    let mut world = World::<P, S> {
        truth: Truth::default(),
        slots: (0..SLOTS).map(|_| empty()).collect(),
        subject: S::default(),
        model: Entries::new(),
        other: S::default(),
        other_model: Entries::new(),
        turn: 0,
    };
    for op in ops {
        world.apply(op);
        world.verify();
    }
    world.finish();
}

impl<P: Kind, S: Subject<P>> World<P, S> {
    fn apply(&mut self, op: Op) {
        match op {
            Op::NewOwner(slot) => self.new_owner(self.slot(slot)),
            Op::CloneOwner(slot) => {
                if let Some(owner) = self.owner(slot) {
                    self.truth.own(owner.id);
                    let slot = self.slot(slot);
                    self.slots[slot].owners.push(owner);
                }
            }
            Op::DropOwner(slot) => self.drop_owner(self.slot(slot)),
            Op::DropOwners(slot, count) => {
                for ahead in 0..count {
                    self.drop_owner(self.slot(slot.wrapping_add(ahead)));
                }
            }
            Op::Refill => {
                for slot in 0..SLOTS {
                    if self.slots[slot].owners.is_empty() {
                        self.new_owner(slot);
                    }
                }
            }
            Op::Watch(slot) => {
                let slot = self.slot(slot);
                let slot = &mut self.slots[slot];
                slot.weak = slot.owners.last().map(|owner| (owner.id, downgrade(owner)));
            }
            Op::Upgrade(slot) => self.upgrade(self.slot(slot)),
            Op::Insert { key, how, heir } => {
                if let Some(key) = self.owner(key) {
                    self.insert(&key, how, heir.and_then(|heir| self.owner(heir)));
                }
            }
            Op::InsertAll { how, step } => {
                for slot in 0..SLOTS as u8 {
                    let heir = step.and_then(|step| self.owner(slot.wrapping_add(step)));
                    if let Some(key) = self.owner(slot) {
                        self.insert(&key, how, heir);
                    }
                }
            }
            Op::Remove(slot, how) => {
                if let Some(key) = self.owner(slot) {
                    let was = self.take_from_model(key.id);
                    assert_eq!(self.subject.remove(how, &key), was.is_some());
                    self.settle(was.and_then(|entry| entry.value));
                }
            }
            Op::Change(slot, how) => self.change(slot, how),
            Op::Keep(how, rest) => self.keep(how, usize::from(rest)),
            Op::Pop => self.pop(),
            Op::Purge => {
                self.subject.purge();
                self.settle(None);
                self.no_dead();
                assert_eq!(self.subject.pending_dead(), 0);
                assert_eq!(self.subject.len(), self.subject.len_live());
            }
            Op::DrainDead(limit) => {
                // Often all, by accident of the limit.
                let count = self.subject.drain_dead(usize::from(limit));
                self.settle(None);
                if P::NOTIFIES && count < usize::from(limit) {
                    self.no_dead();
                }
            }
            Op::Reserve(additional) => {
                let additional = usize::from(additional);
                if additional % 2 == 0 {
                    self.subject.reserve(additional);
                } else {
                    assert!(self.subject.try_reserve(additional));
                    assert!(!self.subject.try_reserve(usize::MAX));
                }
                self.settle(None);
                assert!(self.subject.capacity() - self.subject.len() >= additional);
            }
            Op::ShrinkTo(min_capacity) => {
                self.subject.shrink_to(usize::from(min_capacity));
                self.settle(None);
                self.no_dead();
            }
            Op::Clear => {
                let doomed = values(&take(&mut self.model));
                self.subject.clear();
                self.settle(doomed);
                assert_eq!(self.subject.len() + self.subject.pending_dead(), 0);
            }
            Op::Take => {
                let doomed = values(&take(&mut self.model));
                drop(take(&mut self.subject));
                self.settle(doomed);
            }
            Op::Copy => self.copy(),
            Op::Absorb => self.absorb(),
            Op::Swap => {
                std::mem::swap(&mut self.subject, &mut self.other);
                std::mem::swap(&mut self.model, &mut self.other_model);
            }
        }
    }

    fn slot(&self, number: u8) -> usize {
        usize::from(number) % SLOTS
    }

    /// One more handle to the object there, which nobody counts: it must go before the next `settle`
    /// that could otherwise see a death.
    fn owner(&self, slot: u8) -> Option<Key<P>> {
        self.slots[self.slot(slot)].owners.last().cloned()
    }

    fn settle(&mut self, doomed: impl IntoIterator<Item = usize>) {
        let models = [&mut self.model, &mut self.other_model];
        self.truth.settle(models, doomed.into_iter().collect());
    }

    fn drop_owner(&mut self, slot: usize) {
        if let Some(owner) = self.slots[slot].owners.pop() {
            self.truth.disown(owner.id);
            drop(owner);
            self.settle(None);
        }
    }

    fn new_owner(&mut self, slot: usize) {
        while !self.slots[slot].owners.is_empty() {
            self.drop_owner(slot);
        }
        let object = self.truth.object::<P>();
        self.slots[slot].owners.push(object);
    }

    fn upgrade(&mut self, slot: usize) {
        let Some((object, weak)) = &self.slots[slot].weak else {
            return;
        };
        match weak.upgrade() {
            Some(owner) => {
                assert_eq!(owner.id, *object);
                self.truth.own(*object);
                // To the place of its fellows, or to one where it can be alone.
                if self.slots[slot]
                    .owners
                    .last()
                    .is_none_or(|old| old.id == owner.id)
                {
                    self.slots[slot].owners.push(owner);
                } else {
                    self.truth.disown(owner.id);
                }
            }
            None => assert!(!self.truth.is_alive(*object)),
        }
    }

    fn take_from_model(&mut self, object: usize) -> Option<Entry> {
        let place = self.model.iter().position(|entry| entry.object == object)?;
        Some(self.model.swap_remove(place))
    }

    fn insert(&mut self, key: &Key<P>, how: Insert, heir: Option<Key<P>>) {
        let value = S::VALUED.then(|| Value::new(&self.truth.ledger, None, heir));
        let id = value.as_ref().map(|value| value.id);
        let was = self.take_from_model(key.id);
        let new = self.subject.insert(how, key, value);
        assert_eq!(new.unwrap_or(was.is_none()), was.is_none());
        let (entry, out) = match was {
            Some(was) if !how.replaces() => (was, id),
            _ => (
                Entry {
                    object: key.id,
                    value: id,
                },
                was.and_then(|was| was.value),
            ),
        };
        self.model.push(entry);
        self.settle(out);
    }

    fn change(&mut self, slot: u8, how: Change) {
        let Some(key) = self.owner(slot).filter(|_| S::VALUED) else {
            return;
        };
        let Some(entry) = self.model.iter_mut().find(|entry| entry.object == key.id) else {
            return;
        };
        let dead = self.subject.pending_dead();
        let value = Value::new(&self.truth.ledger, None, None);
        let old = entry.value.replace(value.id).expect("it has a value");
        self.subject.change(how, &key, old, value);
        // The old value may have killed somebody, but nobody has been buried.
        assert!(self.subject.pending_dead() >= dead);
        self.settle([old]);
    }

    fn keep(&mut self, how: Keep, rest: usize) {
        let before = live(&self.truth, &self.model);
        let wanted = |object: usize| object % 4 != rest;
        let seen = self.subject.keep(how, wanted);
        assert!(seen.iter().all(|entry| before.contains(entry)));
        let mut doomed = Vec::new();
        for entry in seen.iter().filter(|entry| !wanted(entry.object)) {
            doomed.extend(entry.value);
            self.take_from_model(entry.object);
        }
        self.settle(doomed);
        let mut unique = seen.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), seen.len(), "an entry was visited twice");
        // Who died of it may have been seen or not.
        let missed = |entry: &Entry| self.truth.is_alive(entry.object) && !seen.contains(entry);
        assert!(!before.iter().any(missed), "an entry was not visited");
    }

    fn pop(&mut self) {
        let entry = self.subject.pop();
        if let Some(entry) = entry {
            assert_eq!(self.take_from_model(entry.object), Some(entry));
        }
        self.settle(entry.and_then(|entry| entry.value));
        assert!(entry.is_some() || live(&self.truth, &self.model).is_empty());
    }

    fn copy(&mut self) {
        let doomed = values(&take(&mut self.other_model));
        let pins = (self.subject.pins(), self.other.pins());
        let before = live(&self.truth, &self.model);
        self.other = self.subject.clone();
        assert!(self.other == self.subject);
        self.other_model = self.other.list(List::Iter);
        drop(pins);
        self.settle(doomed);
        let contents = |entries: &[Entry]| self.contents(entries);
        let copy = live(&self.truth, &self.other_model);
        let before: Vec<_> = before
            .into_iter()
            .filter(|entry| self.truth.is_alive(entry.object))
            .collect();
        assert_eq!(contents(&copy), contents(&before));
    }

    fn absorb(&mut self) {
        self.subject.purge();
        self.settle(None);
        let pins = (self.subject.pins(), self.other.pins());
        let mut expected = self.model.clone();
        let mut doomed = Vec::new();
        for theirs in live(&self.truth, &self.other_model) {
            match expected
                .iter_mut()
                .find(|ours| ours.object == theirs.object)
            {
                Some(ours) => {
                    doomed.extend(ours.value);
                    *ours = theirs;
                }
                None => expected.push(theirs),
            }
        }
        self.subject.absorb(&self.other);
        self.model = self.subject.list(List::Iter);
        drop(pins);
        self.settle(doomed);
        assert_eq!(self.contents(&self.model), self.contents(&expected));
    }

    /// Entries with what their values say, in an order of their own.
    fn contents(&self, entries: &[Entry]) -> Vec<(usize, Option<usize>)> {
        let content = |entry: &Entry| {
            let content = entry.value.map(|value| self.truth.content(value));
            (entry.object, content)
        };
        let mut contents: Vec<_> = entries.iter().map(content).collect();
        contents.sort_unstable();
        contents
    }

    fn no_dead(&self) {
        let dead = |entry: &Entry| !self.truth.is_alive(entry.object);
        assert!(!self.model.iter().any(dead), "a dead key's value is left");
    }

    /// Looks at everything, by routes that change from turn to turn.
    fn verify(&mut self) {
        self.turn += 1;
        for _ in 0..2 {
            self.verify_subject();
            self.apply(Op::Swap);
        }
        let [ours, theirs] =
            [&self.model, &self.other_model].map(|model| self.contents(&live(&self.truth, model)));
        assert_eq!(self.subject == self.other, ours == theirs);
        if let Some(answers) = self.subject.algebra(&self.other) {
            for (number, mut answer) in answers.into_iter().enumerate() {
                let wanted = |&(object, _): &(usize, _)| {
                    let in_both = (
                        ours.contains(&(object, None)),
                        theirs.contains(&(object, None)),
                    );
                    match number {
                        0 => true,
                        1 => in_both == (true, true),
                        2 => in_both == (true, false),
                        _ => in_both != (true, true),
                    }
                };
                let mut all = [ours.clone(), theirs.clone()].concat();
                all.sort_unstable();
                all.dedup();
                answer.sort_unstable();
                let ids = all.into_iter().filter(wanted).map(|(object, _)| object);
                assert_eq!(answer, ids.collect::<Vec<_>>());
            }
        }
        assert!(self.truth.is_quiet(), "a look destroyed something");
    }

    fn verify_subject(&mut self) {
        let mut live = live(&self.truth, &self.model);
        let dead = self.model.len() - live.len();
        assert_eq!(self.subject.len_live(), live.len());
        if P::NOTIFIES {
            assert_eq!(self.subject.len(), live.len());
            if S::VALUED {
                assert_eq!(self.subject.pending_dead(), dead);
            }
        } else {
            assert_eq!(self.subject.pending_dead(), 0);
            assert!(self.subject.len() >= live.len());
            if S::VALUED {
                assert_eq!(self.subject.len(), live.len() + dead);
            }
        }
        assert_eq!(self.subject.is_empty(), self.subject.len() == 0);
        for (number, slot) in self.slots.iter().enumerate() {
            if let Some(key) = slot.owners.last() {
                let expected = live.iter().find(|entry| entry.object == key.id);
                let how = Find::ALL[(number + self.turn) % Find::ALL.len()];
                assert_eq!(self.subject.find(how, key).as_ref(), expected, "{how:?}");
            }
            if let Some((object, weak)) = &slot.weak {
                let expected = live.iter().any(|entry| entry.object == *object);
                assert_eq!(self.subject.find_weak(weak), expected);
            }
        }
        let mut list = self.subject.list(List::ALL[self.turn % List::ALL.len()]);
        list.sort_unstable();
        live.sort_unstable();
        assert_eq!(list, live);
    }

    /// All owners go; then the collections.
    fn finish(mut self) {
        for slot in 0..SLOTS {
            self.slots[slot].weak = None;
            while !self.slots[slot].owners.is_empty() {
                self.drop_owner(slot);
            }
        }
        self.verify();
        for _ in 0..2 {
            self.apply(Op::Purge);
            self.verify();
            self.apply(Op::Swap);
        }
        self.apply(Op::Take);
        self.apply(Op::Swap);
        self.apply(Op::Take);
        self.truth.finish();
    }
}

fn live(truth: &Truth, model: &[Entry]) -> Entries {
    let alive = |entry: &&Entry| truth.is_alive(entry.object);
    model.iter().filter(alive).copied().collect()
}

fn values(model: &[Entry]) -> Vec<usize> {
    model.iter().filter_map(|entry| entry.value).collect()
}
