//! Places for the owners of objects of one kind.

use super::world::{Heir, Key, Truth};
use crate::common::{Kind, downgrade, scaled};
use weakly::reference::{WeakKey, WeakRef};

/// Places for owners: several times what one operation reclaims.
pub const SLOTS: usize = scaled(64, 20);

/// The number of contents: so few that many objects have equal content; still more than one operation reclaims.
pub const CONTENTS: usize = scaled(40, 12);

/// A weak handle, and its object.
pub type Watched<P> = (usize, <Key<P> as WeakKey>::Weak);

/// A place for owners of one object.
struct Slot<P: Kind> {
    owners: Vec<Key<P>>,
    weak: Option<Watched<P>>,
}

pub struct Pool<P: Kind>(Vec<Slot<P>>);

impl<P: Kind> Pool<P> {
    pub fn new() -> Self {
        let empty = |_| Slot {
            owners: Vec::new(),
            weak: None,
        };
        Pool((0..SLOTS).map(empty).collect())
    }

    fn slot(&mut self, number: usize) -> &mut Slot<P> {
        &mut self.0[number % SLOTS]
    }

    /// One more handle to the object there, which the truth does not count: it must be dropped before the next
    /// `settle` that could otherwise see a death.
    pub fn owner(&self, number: usize) -> Option<Key<P>> {
        self.0[number % SLOTS].owners.last().cloned()
    }

    /// A handle of each object.
    pub fn owners(&self) -> impl Iterator<Item = &Key<P>> {
        self.0.iter().filter_map(|slot| slot.owners.last())
    }

    pub fn weaks(&self) -> impl Iterator<Item = &Watched<P>> {
        self.0.iter().filter_map(|slot| slot.weak.as_ref())
    }

    /// Puts a handle there that the truth counts.
    pub fn put(&mut self, number: usize, owner: Key<P>) {
        self.slot(number).owners.push(owner);
    }

    pub fn put_new(
        &mut self,
        number: usize,
        content: usize,
        heir: Option<Box<dyn Heir>>,
        truth: &mut Truth,
    ) {
        self.put(number, truth.object::<P>(content, heir));
    }

    /// The caller drops it.
    #[must_use]
    pub fn take(&mut self, number: usize, truth: &mut Truth) -> Option<Key<P>> {
        let owner = self.slot(number).owners.pop()?;
        truth.disown(owner.id);
        Some(owner)
    }

    pub fn clone_owner(&mut self, number: usize, truth: &mut Truth) {
        if let Some(owner) = self.owner(number) {
            truth.own(owner.id);
            self.put(number, owner);
        }
    }

    pub fn watch(&mut self, number: usize) {
        let slot = self.slot(number);
        slot.weak = slot.owners.last().map(|owner| (owner.id, downgrade(owner)));
    }

    pub fn upgrade(&mut self, number: usize, truth: &mut Truth) {
        let slot = self.slot(number);
        let Some((object, weak)) = &slot.weak else {
            return;
        };
        match weak.upgrade() {
            Some(owner) => {
                assert_eq!(owner.id, *object);
                truth.own(*object);
                // To the place of its siblings, or to an empty one.
                if slot.owners.last().is_none_or(|old| old.id == owner.id) {
                    slot.owners.push(owner);
                } else {
                    truth.disown(owner.id);
                }
            }
            None => assert!(!truth.is_alive(*object)),
        }
    }

    pub fn drop_weaks(&mut self) {
        self.0.iter_mut().for_each(|slot| slot.weak = None);
    }
}
