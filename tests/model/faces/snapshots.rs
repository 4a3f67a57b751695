//! What shared collections do by way of a snapshot, where those of one owner have methods.

use std::mem::take;

use super::super::entry::Entry;
use super::super::routes::Keep;
use super::super::subject::{Pin, Subject};
use super::super::world::{Key, SharedValue};
use crate::common::Kind;

/// What an entry consists of, kept alive.
pub struct Row<P: Kind, V: Kind> {
    pub key: Option<Key<P>>,
    pub value: Option<Key<V>>,
    pub owned: Option<SharedValue>,
}

impl<P: Kind, V: Kind> Row<P, V> {
    /// An element.
    pub fn element(key: Key<P>) -> Self {
        Row {
            key: Some(key),
            value: None,
            owned: None,
        }
    }

    pub fn again(self) -> Self {
        let owned = self.owned.map(|owned| owned.again());
        Row { owned, ..self }
    }

    pub fn entry(&self, by_content: bool) -> Entry {
        let (key, value, owned) = (self.key.as_ref(), self.value.as_ref(), self.owned.as_ref());
        let number = match key {
            Some(key) if !by_content => key.id,
            Some(key) => key.content.number,
            None => owned.expect("there is a key").content.number,
        };
        Entry {
            key: number,
            weak_key: key.map(|key| key.id),
            weak_value: value.map(|value| value.id),
            owned: owned.map(|owned| owned.id),
        }
    }

    /// Its key, and its value's content.
    fn shown(&self, by_content: bool) -> (usize, Option<usize>) {
        let owned = self.owned.as_ref().filter(|_| self.key.is_some());
        let value = self.value.as_ref().map(|value| value.content.number);
        let content = owned.map(|owned| owned.content.number).or(value);
        (self.entry(by_content).key, content)
    }
}

/// A collection that is shown by snapshots.
pub trait Snapshots<P: Kind, V: Kind = P>: Subject<P, V> {
    fn rows(&self) -> Vec<Row<P, V>>;
    fn put(&mut self, rows: impl Iterator<Item = Row<P, V>>);
    fn retain_entries(&mut self, keep: impl FnMut(Entry) -> bool);

    fn pinned(&self) -> Vec<Pin<P, V>> {
        let rows = self.rows().into_iter();
        rows.map(|row| (row.key, row.value)).collect()
    }

    fn entries(&self) -> Vec<Entry> {
        let rows = self.rows();
        rows.iter().map(|row| row.entry(Self::BY_CONTENT)).collect()
    }

    fn keep_of(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
        let (mut list, mut stopped) = (Vec::new(), false);
        let mut keep = |entry: Entry| {
            list.push(entry);
            wanted(entry.key)
        };
        match how {
            Keep::Retain | Keep::ExtractIf | Keep::Forget => self.retain_entries(keep),
            Keep::ExtractOne => self.retain_entries(|entry| {
                let goes = !stopped && !keep(entry);
                stopped |= goes;
                !goes
            }),
            Keep::Drain | Keep::IntoIter => {
                let mut rows = self.rows();
                rows.retain(|row| keep(row.entry(Self::BY_CONTENT)));
                if how == Keep::Drain {
                    self.clear();
                    self.put(rows.into_iter());
                } else {
                    let old = take(self);
                    self.put(rows.into_iter());
                    drop(old);
                }
            }
        }
        list
    }

    fn pop_any(&mut self) -> Option<Entry> {
        let mut popped = None;
        self.retain_entries(|entry| popped.is_some() || popped.replace(entry).is_some());
        popped
    }

    fn equals_by(&self, other: &Self) -> bool {
        let [ours, theirs] = [self, other].map(|one| {
            let rows = one.rows().into_iter();
            let mut shown: Vec<_> = rows.map(|row| row.shown(Self::BY_CONTENT)).collect();
            shown.sort_unstable();
            shown
        });
        ours == theirs
    }
}

/// The lists of a [`Subject`] that has [`Snapshots`], and no other.
macro_rules! listed {
    ($V:ty) => {
        fn list(&mut self, _: List) -> Vec<Entry> {
            Snapshots::<P, $V>::entries(self)
        }

        fn pins(&self) -> Vec<Pin<P, $V>> {
            Snapshots::<P, $V>::pinned(self)
        }
    };
}

/// Its other methods.
macro_rules! by_snapshots {
    ($V:ty) => {
        fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
            Snapshots::<P, $V>::keep_of(self, how, wanted)
        }

        fn pop(&mut self) -> Option<Entry> {
            Snapshots::<P, $V>::pop_any(self)
        }

        fn absorb(&mut self, other: &Self) {
            let rows: Vec<Row<P, $V>> = other.rows();
            self.put(rows.into_iter().map(Row::again));
        }

        fn copy(&self) -> Self {
            let mut copy = Self::default();
            Subject::<P, $V>::absorb(&mut copy, self);
            copy
        }

        fn equals(&self, other: &Self) -> bool {
            Snapshots::<P, $V>::equals_by(self, other)
        }

        fn end(self, how: Take) -> Option<Vec<usize>> {
            let entries = Snapshots::<P, $V>::entries(&self).into_iter();
            Some(match how {
                Take::Drop => return None,
                Take::IntoKeys => entries.map(|entry| entry.key).collect(),
                Take::IntoValues => entries
                    .map(|entry| Self::value_of(&entry).unwrap_or(entry.key))
                    .collect(),
            })
        }
    };
}

pub(super) use {by_snapshots, listed};
