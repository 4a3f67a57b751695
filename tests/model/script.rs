//! Scripts for collections: owners come and go among the operations of two collections, and after each operation
//! everything is compared with the model.

use super::entry::{Entry, Model};
use super::op::Op;
use super::pool::{CONTENTS, Pool, SLOTS};
use super::routes::{Change, Insert, Keep, List, Over, Take};
use super::subject::{Face, Form, New, Pin, Subject};
use super::world::{Heir, Key, Truth, Value};
use crate::common::{Kind, forget};
use weakly::Reclaim;

pub(super) struct World<P: Kind, V: Kind> {
    pub(super) truth: Truth,
    pub(super) keys: Pool<P>,
    /// Where values are weak.
    pub(super) values: Pool<V>,
    pub(super) form: Form,
    pub(super) subject: Box<dyn Face<P, V>>,
    pub(super) model: Model,
    pub(super) other: Box<dyn Face<P, V>>,
    pub(super) other_model: Model,
    pub(super) turn: usize,
    pub(super) reclaim: Reclaim,
}

/// Runs a script.
pub fn run<P: Kind, V: Kind, S: Subject<P, V>>(ops: impl IntoIterator<Item = Op>) {
    run_on::<P, V>(Box::new(S::default()), &mut ops.into_iter());
}

/// Runs a script on this collection, which is empty.
pub fn run_on<P: Kind, V: Kind>(subject: Box<dyn Face<P, V>>, ops: &mut dyn Iterator<Item = Op>) {
    let mut world = World::<P, V> {
        truth: Truth::default(),
        keys: Pool::new(),
        values: Pool::new(),
        form: subject.form(),
        other: subject.fresh(),
        subject,
        model: Model::default(),
        other_model: Model::default(),
        turn: 0,
        reclaim: Reclaim::OnUse,
    };
    for op in ops {
        world.apply(op);
        world.verify(op.is_about_owners());
    }
    world.finish();
}

/// Does the same to the place of an owner, of a key or of a value.
macro_rules! in_place {
    ($world:ident, $slot:expr, |$pool:ident| $do:expr) => {
        if $world.form.weak_values && $slot >= 128 {
            let $pool = &mut $world.values;
            $do
        } else {
            let $pool = &mut $world.keys;
            $do
        }
    };
}

pub(super) use in_place;

impl<P: Kind, V: Kind> World<P, V> {
    /// Whether all deaths are notified.
    pub(super) fn notifies(&self) -> bool {
        (P::NOTIFIES || !self.form.weak_keys) && (V::NOTIFIES || !self.form.weak_values)
    }
    /// Whether reads sweep, and so destroy what the dead own.
    pub(super) fn reads_reclaim(&self) -> bool {
        self.form.shared && !self.notifies()
    }

    pub(super) fn apply(&mut self, op: Op) {
        self.truth.keeps = self.keeps() && !op.reclaims();
        match op {
            Op::NewOwner {
                slot,
                content,
                heir,
            } => {
                let heir = heir.and_then(|heir| self.heir(heir));
                self.new_owner(slot, usize::from(content) % CONTENTS, heir);
            }
            Op::CloneOwner(slot) => in_place!(self, slot, |pool| {
                pool.clone_owner(slot.into(), &mut self.truth);
            }),
            Op::DropOwner(slot) => self.drop_owner(slot),
            Op::DropOwners { slot, count, both } => {
                for ahead in 0..count {
                    let slot = slot.wrapping_add(ahead);
                    self.drop_owner(slot);
                    if both {
                        self.drop_owner(slot ^ 128);
                    }
                }
            }
            Op::Refill => {
                let sides = if self.form.weak_values { 2 } else { 1 };
                for slot in (0..sides * 128).filter(|slot| slot % 128 < SLOTS) {
                    if in_place!(self, slot, |pool| pool.owner(slot).is_none()) {
                        self.new_owner(slot as u8, slot % CONTENTS, None);
                    }
                }
            }
            Op::ForgetOwner(slot) => in_place!(self, slot, |pool| {
                if let Some(owner) = pool.take(slot.into(), &mut self.truth) {
                    self.truth.lose_owner(owner.id);
                    forget(owner);
                }
            }),
            Op::Watch(slot) => in_place!(self, slot, |pool| pool.watch(slot.into())),
            Op::Upgrade(slot) => in_place!(self, slot, |pool| {
                pool.upgrade(slot.into(), &mut self.truth);
            }),
            Op::Insert {
                key,
                how,
                value,
                heir,
            } => {
                let heir = heir.and_then(|heir| self.heir(heir));
                self.insert(key, how, value, heir);
            }
            Op::InsertAll { how, step, heirs } => {
                for slot in 0..SLOTS as u8 {
                    let value = slot.wrapping_add(step);
                    let heir = heirs.then(|| self.heir(value)).flatten();
                    self.insert(slot, how, value, heir);
                }
            }
            Op::Purge => {
                self.subject.purge();
                self.settle(None);
                self.no_dead();
                assert_eq!(self.subject.pending_dead(), 0);
                assert_eq!(self.subject.len(), self.subject.len_live());
            }
            Op::PurgeSome(most) => {
                let most = usize::from(most);
                let pending = self.subject.pending_dead();
                let purged = self.subject.purge_some(most);
                self.settle(None);
                assert!(purged <= most);
                assert!(purged >= pending.min(most));
                if self.notifies() && purged == 0 && most != 0 {
                    self.no_dead();
                    assert_eq!(self.subject.pending_dead(), 0);
                }
            }
            Op::DrainDead(limit) => {
                // Often all, because of the limit.
                let count = self.subject.drain_dead(usize::from(limit));
                self.settle(None);
                if self.notifies() && count < usize::from(limit) {
                    self.no_dead();
                    assert_eq!(self.subject.pending_dead(), 0);
                }
            }
            Op::Reserve(additional) => {
                let additional = usize::from(additional);
                match self.subject.memory() {
                    None => {}
                    Some(memory) if additional % 2 == 0 => memory.reserve(additional),
                    Some(memory) => {
                        assert!(memory.try_reserve(additional).is_ok());
                        assert!(memory.try_reserve(usize::MAX).is_err());
                    }
                }
                self.settle(None);
                let memory = self.subject.memory();
                let room = memory.map(|memory| memory.capacity() - memory.len());
                assert!(room.is_none_or(|room| room >= additional));
            }
            Op::ShrinkTo(min_capacity) => {
                match self.subject.memory() {
                    Some(memory) if min_capacity > 0 => memory.shrink_to(min_capacity.into()),
                    _ => self.subject.shrink_to_fit(),
                }
                self.settle(None);
                if !self.keeps() {
                    self.no_dead();
                }
            }
            Op::Clear => {
                let doomed = self.model.clear();
                self.subject.clear();
                self.settle(doomed);
                assert_eq!(self.subject.len() + self.subject.pending_dead(), 0);
            }
            Op::Take(how) => self.take(how),
            Op::Copy => self.copy(),
            Op::Absorb => self.absorb(),
            Op::Swap => {
                std::mem::swap(&mut self.subject, &mut self.other);
                std::mem::swap(&mut self.model, &mut self.other_model);
            }
            Op::SetReclaim(reclaim) => {
                self.reclaim = reclaim;
                self.subject.set_reclaim(reclaim);
                self.other.set_reclaim(reclaim);
                self.settle(None);
            }
            Op::Remove(..) | Op::Change(..) | Op::Keep(..) | Op::Pop if !self.form.open => {}
            Op::Remove(slot, how) => {
                if let Some(key) = self.keys.owner(slot.into()) {
                    let was = self.take_from_model(self.key_of(&key));
                    let pin = was.and_then(|was| self.pin(&was));
                    let removed = self.subject.remove(how, &key);
                    assert_eq!(removed, was.map(|entry| self.form.value_of(&entry)));
                    drop((pin, key));
                    self.settle(was.and_then(|entry| entry.owned));
                }
            }
            Op::Change(slot, how) => self.change(slot, how),
            Op::Keep(Keep::Forget, _) if !self.form.shared => self.forget(),
            Op::Keep(how, rest) => self.keep(how, usize::from(rest)),
            Op::Pop => self.pop(),
        }
    }

    pub(super) fn keeps(&self) -> bool {
        self.reclaim == Reclaim::OnRequest
    }

    /// What a key is found by.
    pub(super) fn key_of(&self, key: &Key<P>) -> usize {
        if self.form.by_content {
            key.content.number
        } else {
            key.id
        }
    }

    pub(super) fn live(&self, model: &Model) -> Vec<Entry> {
        let live = |entry: &&Entry| self.truth.is_live(entry);
        model.entries.iter().filter(live).copied().collect()
    }

    pub(super) fn settle(&mut self, doomed: impl IntoIterator<Item = usize>) {
        let models = [&mut self.model, &mut self.other_model];
        self.truth.settle(models, doomed.into_iter().collect());
    }

    /// One more handle, which counts once its owner has it.
    fn heir(&self, slot: u8) -> Option<Box<dyn Heir>> {
        if self.form.weak_values {
            Some(self.values.owner(slot.into())?.again())
        } else {
            Some(self.keys.owner(slot.into())?.again())
        }
    }

    pub(super) fn drop_owner(&mut self, slot: u8) {
        in_place!(self, slot, |pool| drop(
            pool.take(slot.into(), &mut self.truth)
        ));
        self.settle(None);
    }

    fn new_owner(&mut self, slot: u8, content: usize, heir: Option<Box<dyn Heir>>) {
        // It counts from now on, because it may be the object in this place.
        let heir_id = heir.as_ref().map(|heir| heir.id());
        heir_id.into_iter().for_each(|heir| self.truth.own(heir));
        while in_place!(self, slot, |pool| pool.owner(slot.into()).is_some()) {
            self.drop_owner(slot);
        }
        in_place!(self, slot, |pool| {
            pool.put_new(slot.into(), content, heir, &mut self.truth);
        });
        heir_id.into_iter().for_each(|heir| self.truth.disown(heir));
    }

    /// The live entry of a key.
    fn take_from_model(&mut self, key: usize) -> Option<Entry> {
        let is_its = |entry: &Entry| entry.key == key && self.truth.is_live(entry);
        let place = self.model.entries.iter().position(is_its)?;
        Some(self.model.entries.swap_remove(place))
    }

    /// Keeps alive what an entry needs: what an operation reclaims first may be its last owner.
    fn pin(&self, entry: &Entry) -> Option<Pin<P, V>> {
        let id = |pin: &Pin<P, V>| match pin {
            (Some(key), _) => key.id,
            (None, value) => value.as_ref().unwrap().id,
        };
        let mut pins = self.subject.pins().into_iter().filter(|_| self.form.owns);
        pins.find(|pin| entry.weak().any(|object| object == id(pin)))
    }

    /// The entry after its key is inserted again, and the owned value or key that is dropped.
    fn over(&self, over: Over, was: Entry, new: Entry) -> (Entry, Option<usize>) {
        let (key, value) = match over {
            Over::Stays => (was, was),
            Over::Changes => (was, new),
            Over::Adopts => (new, was),
            Over::Moves => (new, new),
        };
        let owned = if self.form.weak_keys { value } else { key }.owned;
        let now = Entry {
            key: was.key,
            weak_key: key.weak_key,
            weak_value: value.weak_value,
            owned,
        };
        (now, if owned == was.owned { new } else { was }.owned)
    }

    fn insert(&mut self, slot: u8, how: Insert, value: u8, heir: Option<Box<dyn Heir>>) {
        let Some(key) = self.keys.owner(slot.into()) else {
            return;
        };
        let value = self
            .values
            .owner(value.into())
            .filter(|_| self.form.weak_values);
        if value.is_none() && self.form.weak_values {
            return;
        }
        let content = (!self.form.weak_keys).then_some(key.content.number);
        let owned = self
            .form
            .owns
            .then(|| Value::new(&self.truth.ledger, content, heir));
        let mut new = Entry {
            key: self.key_of(&key),
            weak_key: self.form.weak_keys.then_some(key.id),
            weak_value: value.as_ref().map(|value| value.id),
            owned: owned.as_ref().map(|owned| owned.id),
        };
        let was = self.take_from_model(new.key);
        let weak = value.as_ref();
        let pin = was.and_then(|was| self.pin(&was));
        let inserted = self.subject.insert(how, &key, New { owned, weak });
        if let Some(handle) = &inserted.handle {
            new.weak_key = Some(handle.id);
            assert!(was.is_none_or(|was| was.weak_key == new.weak_key));
        }
        let handle = inserted
            .handle
            .filter(|handle| self.truth.is_new(handle.id));
        let (now, out) = match was {
            Some(was) => {
                let (now, out) = self.over(self.subject.over(how), was, new);
                (Some(now), out)
            }
            None if self.subject.fills(how) => (Some(new), None),
            None => (None, new.owned),
        };
        assert_eq!(inserted.new.unwrap_or(was.is_none()), was.is_none());
        if let Some(value) = inserted.value {
            assert_eq!(
                Some(value),
                self.form.value_of(&now.expect("it has a value"))
            );
        }
        self.model.entries.extend(now);
        drop((pin, key, value));
        self.settle(out);
        if let Some(handle) = handle {
            while self.keys.owner(slot.into()).is_some() {
                self.drop_owner(slot);
            }
            self.keys.put(slot.into(), handle);
        }
    }

    fn change(&mut self, slot: u8, how: Change) {
        let has_values = self.form.owns && self.form.weak_keys;
        let Some(key) = self.keys.owner(slot.into()).filter(|_| has_values) else {
            return;
        };
        let Some(was) = self.take_from_model(self.key_of(&key)) else {
            return;
        };
        let pin = self.pin(&was);
        let dead = self.subject.pending_dead();
        let value = Value::new(&self.truth.ledger, None, None);
        let over = if self.form.shared {
            Over::Moves
        } else {
            Over::Changes
        };
        let new = Entry {
            weak_key: Some(key.id),
            owned: Some(value.id),
            ..was
        };
        let (now, old) = self.over(over, was, new);
        let old = old.expect("it has a value");
        self.model.entries.push(now);
        self.subject.change(how, &key, old, value);
        // The old value may have killed an object, but nothing has been reclaimed: no operation was called.
        assert!(self.form.shared || self.subject.pending_dead() >= dead);
        drop((pin, key));
        self.settle([old]);
    }

    fn keep(&mut self, how: Keep, rest: usize) {
        let before = self.live(&self.model);
        let wanted = |key: usize| key % 4 != rest;
        let seen = self.subject.keep(how, &wanted);
        self.subject.set_reclaim(self.reclaim); // it may be another collection
        assert!(seen.iter().all(|entry| before.contains(entry)));
        let mut doomed = Vec::new();
        for entry in seen.iter().filter(|entry| !wanted(entry.key)) {
            doomed.extend(entry.owned);
            self.model.entries.retain(|other| other != entry);
        }
        let goes = seen.iter().position(|entry| !wanted(entry.key));
        let stopped = how == Keep::ExtractOne && goes.is_some();
        assert!(!stopped || goes == Some(seen.len() - 1));
        self.settle(doomed);
        let mut unique = seen.clone();
        unique.sort_unstable();
        unique.dedup();
        assert_eq!(unique.len(), seen.len(), "an entry was visited twice");
        // Entries that died because of it may have been seen or not.
        let missed = |entry: &Entry| self.truth.is_live(entry) && !seen.contains(entry);
        assert!(
            stopped || !before.iter().any(missed),
            "an entry was not visited"
        );
    }

    /// All entries but one are in an iterator that is forgotten.
    fn forget(&mut self) {
        let before = self.live(&self.model);
        let (mut kept, ghosts) = (Vec::new(), self.model.ghosts);
        if self.keeps() {
            kept.clone_from(&self.model.entries);
            kept.retain(|entry| !before.contains(entry));
        }
        let seen = self.subject.keep(Keep::Forget, &|_| true);
        assert!(seen.len() <= 1 && seen.iter().all(|entry| before.contains(entry)));
        self.model.entries.retain(|entry| !seen.contains(entry));
        self.settle(seen.iter().filter_map(|entry| entry.owned));
        // The dead that it skipped may have owned the entry that was left.
        let missed = |entry: &Entry| self.truth.is_live(entry);
        assert!(seen.len() == 1 || !before.iter().any(missed));
        self.model.entries.retain(|entry| !kept.contains(entry));
        let lost = self.model.clear();
        lost.into_iter().for_each(|value| self.truth.lose(value));
        if self.keeps() {
            self.model.entries = kept;
            self.model.ghosts = ghosts;
        }
        assert_eq!(
            self.subject.memory().map(|memory| memory.capacity()),
            Some(0)
        );
    }

    fn pop(&mut self) {
        let popped = self.subject.pop();
        if let Some(entry) = &popped {
            assert!(self.truth.is_live(entry));
            assert_eq!(self.take_from_model(entry.key).as_ref(), popped.as_ref());
        }
        self.settle(popped.and_then(|entry| entry.owned));
        assert!(popped.is_some() || self.live(&self.model).is_empty());
    }

    fn take(&mut self, how: Take) {
        let form = self.form;
        let returned = |entry: &Entry| match how {
            Take::IntoKeys => entry.key,
            _ => form.value_of(entry).unwrap_or(entry.key),
        };
        let before = self.live(&self.model);
        let doomed = self.model.clear();
        let got = self.subject.end(how);
        self.subject.set_reclaim(self.reclaim);
        self.settle(doomed);
        if let Some(mut got) = got {
            // Entries that died because of it may have been returned or not.
            let missed =
                |entry: &Entry| self.truth.is_live(entry) && !got.contains(&returned(entry));
            assert!(!before.iter().any(missed));
            let mut all: Vec<_> = before.iter().map(returned).collect();
            for number in got.drain(..) {
                let place = all.iter().position(|&other| other == number);
                all.swap_remove(place.expect("it was there, and once"));
            }
        }
    }

    fn copy(&mut self) {
        let doomed = self.other_model.clear();
        let pins = (self.subject.pins(), self.other.pins());
        let before = self.live(&self.model);
        self.other = self.subject.copy();
        if self.form.shared || !self.form.open {
            // There is no `clone`: it is a new one.
            self.other.set_reclaim(self.reclaim);
        }
        assert!(self.other.equals(&*self.subject));
        self.other_model.entries = self.other.list(List::Iter);
        drop(pins);
        self.settle(doomed);
        let copy = self.live(&self.other_model);
        let live = |entry: &Entry| self.truth.is_live(entry);
        let before: Vec<_> = before.into_iter().filter(live).collect();
        assert_eq!(self.sides(&copy), self.sides(&before));
    }

    fn absorb(&mut self) {
        self.subject.purge();
        self.settle(None);
        let pins = (self.subject.pins(), self.other.pins());
        let mut expected = self.model.entries.clone();
        let mut doomed = Vec::new();
        for theirs in self.live(&self.other_model) {
            match expected.iter_mut().find(|ours| ours.key == theirs.key) {
                Some(ours) => {
                    // The clones of the second's values stand for their originals.
                    let (now, out) =
                        self.over(self.subject.over(Insert::ExtendOwned), *ours, theirs);
                    doomed.extend(out.filter(|_| out == ours.owned));
                    *ours = now;
                }
                None => expected.push(theirs),
            }
        }
        self.subject.absorb(&*self.other);
        self.model.entries = self.subject.list(List::Iter);
        drop(pins);
        self.settle(doomed);
        let live = |entry: &Entry| self.truth.is_live(entry);
        let ours = self.live(&self.model);
        let expected: Vec<_> = expected.into_iter().filter(live).collect();
        assert_eq!(self.sides(&ours), self.sides(&expected));
    }
}
