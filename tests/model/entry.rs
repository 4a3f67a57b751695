//! The models' view of a collection: a list.

use super::world::{Item, SharedValue, Value};
use std::ops::Deref;
use weakly::reference::StrongRef;

/// The model of an entry.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its key: the number of an object, or a content.
    pub key: usize,
    /// The object that is its key, where that is weak.
    pub weak_key: Option<usize>,
    /// The object that is its value, where that is weak.
    pub weak_value: Option<usize>,
    /// The key or the value that the collection owns.
    pub owned: Option<usize>,
}

impl Entry {
    /// The objects that keep it alive.
    pub fn weak(&self) -> impl Iterator<Item = usize> {
        self.weak_key.into_iter().chain(self.weak_value)
    }
}

/// One side of an entry, as collections show it.
pub trait Part {
    fn id(&self) -> usize;
    fn content(&self) -> usize;
    fn is_owned(&self) -> bool;
}

macro_rules! owned {
    ($($type:ty),*) => {$(
        impl Part for $type {
            fn id(&self) -> usize {
                self.id
            }

            fn content(&self) -> usize {
                self.content.number
            }

            fn is_owned(&self) -> bool {
                true
            }
        }
    )*};
}

owned!(Value, &Value, SharedValue);

impl<K: StrongRef + Deref<Target = Item>> Part for K {
    fn id(&self) -> usize {
        self.id
    }

    fn content(&self) -> usize {
        self.content.number
    }

    fn is_owned(&self) -> bool {
        false
    }
}

impl Entry {
    /// An entry of a set.
    pub fn element(by_content: bool, key: &impl Part) -> Self {
        Entry {
            key: if by_content { key.content() } else { key.id() },
            weak_key: (!key.is_owned()).then(|| key.id()),
            weak_value: None,
            owned: key.is_owned().then(|| key.id()),
        }
    }

    /// An entry of a map.
    pub fn of(by_content: bool, key: &impl Part, value: &impl Part) -> Self {
        let mut entry = Entry::element(by_content, key);
        if value.is_owned() {
            assert!(entry.owned.is_none());
            entry.owned = Some(value.id());
        } else {
            entry.weak_value = Some(value.id());
        }
        entry
    }
}

/// The model of a collection: all entries, including those of the dead until what they own has been dropped.
#[derive(Default)]
pub struct Model {
    pub entries: Vec<Entry>,
    /// How many dead entries that own nothing may still be unreclaimed.
    pub ghosts: usize,
}

impl Model {
    /// Removes the dead that own nothing: their reclamation is not observable.
    pub fn forget_dead(&mut self, is_expired: impl Fn(&Entry) -> bool) {
        let before = self.entries.len();
        self.entries
            .retain(|entry| entry.owned.is_some() || !is_expired(entry));
        self.ghosts += before - self.entries.len();
    }

    pub fn take_owner_of(&mut self, value: usize) -> Option<Entry> {
        let owner = |entry: &Entry| entry.owned == Some(value);
        let place = self.entries.iter().position(owner)?;
        Some(self.entries.swap_remove(place))
    }

    /// Removes everything; returns what was owned.
    pub fn clear(&mut self) -> Vec<usize> {
        self.ghosts = 0;
        let owned = self.entries.drain(..).filter_map(|entry| entry.owned);
        owned.collect()
    }
}
