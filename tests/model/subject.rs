//! What a script can do to a collection with weak keys, by every route there is.

use std::mem::take;

use weakly::{Addr, Identify, StrongRef, WeakMap, WeakRef, WeakSet, weak_map};

use super::routes::{Change, Find, Insert, Keep, List, Remove};
use super::world::{Entry, Item, Key, Value};
use crate::common::{Kind, downgrade};

/// A collection in a script.
pub trait Subject<P: Kind>: Default + Clone + PartialEq {
    /// Whether its entries have values.
    const VALUED: bool;

    /// Says whether the key is new, where the route tells.
    fn insert(&mut self, how: Insert, key: &Key<P>, value: Option<Value<P>>) -> Option<bool>;
    /// Says whether the key was there.
    fn remove(&mut self, how: Remove, key: &Key<P>) -> bool;
    fn find(&self, how: Find, key: &Key<P>) -> Option<Entry>;
    fn find_weak(&self, key: &<Key<P> as StrongRef>::Weak) -> bool;
    fn list(&mut self, how: List) -> Vec<Entry>;
    /// Returns what it has seen.
    fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry>;
    fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value<P>);
    fn pop(&mut self) -> Option<Entry>;
    /// Drops up to `limit` values of dead keys; says how many.
    fn drain_dead(&mut self, limit: usize) -> usize;
    /// All the live entries of another.
    fn absorb(&mut self, other: &Self);
    /// Union, intersection, difference and symmetric difference, if it has these.
    fn algebra(&self, other: &Self) -> Option<[Vec<usize>; 4]>;
    fn pins(&self) -> Vec<Key<P>>;
    fn len(&self) -> usize;
    fn is_empty(&self) -> bool;
    fn len_live(&self) -> usize;
    fn pending_dead(&self) -> usize;
    fn capacity(&self) -> usize;
    fn purge(&mut self);
    fn clear(&mut self);
    fn reserve(&mut self, additional: usize);
    fn try_reserve(&mut self, additional: usize) -> bool;
    fn shrink_to(&mut self, min_capacity: usize);
}

macro_rules! delegate {
    () => {
        fn len(&self) -> usize {
            self.len()
        }
        fn is_empty(&self) -> bool {
            self.is_empty()
        }
        fn len_live(&self) -> usize {
            self.len_live()
        }
        fn pending_dead(&self) -> usize {
            self.pending_dead()
        }
        fn capacity(&self) -> usize {
            self.capacity()
        }
        fn purge(&mut self) {
            self.purge();
        }
        fn clear(&mut self) {
            self.clear();
        }
        fn reserve(&mut self, additional: usize) {
            self.reserve(additional);
        }
        fn try_reserve(&mut self, additional: usize) -> bool {
            self.try_reserve(additional).is_ok()
        }
        fn shrink_to(&mut self, min_capacity: usize) {
            if min_capacity == 0 {
                self.shrink_to_fit();
            } else {
                self.shrink_to(min_capacity);
            }
        }
    };
}

fn seen<P: Kind>(key: &Key<P>, value: &Value<P>) -> Entry {
    Entry {
        object: key.id,
        value: Some(value.id),
    }
}

fn element<P: Kind>(key: &Key<P>) -> Entry {
    Entry {
        object: key.id,
        value: None,
    }
}

impl<P: Kind> Subject<P> for WeakMap<Key<P>, Value<P>>
where
    Item: Identify<Key<P>>,
{
    const VALUED: bool = true;

    fn insert(&mut self, how: Insert, key: &Key<P>, value: Option<Value<P>>) -> Option<bool> {
        let value = value.expect("a map takes a value");
        let id = value.id;
        let mut new = None;
        let now = match how {
            Insert::Insert => {
                new = Some(self.insert(key, value).is_none());
                id
            }
            Insert::OrInsert => self.entry(key).or_insert(value).id,
            Insert::OrInsertWith => self.entry(key).or_insert_with(|| value).id,
            Insert::OrInsertWithKey => {
                let make = |weak: &<Key<P> as StrongRef>::Weak| {
                    assert_eq!(WeakRef::addr(weak), StrongRef::addr(key));
                    value
                };
                self.entry(key).or_insert_with_key(make).id
            }
            Insert::InsertEntry => {
                let entry = self.entry(key).insert_entry(value);
                assert_eq!(entry.key().id, key.id);
                entry.get().id
            }
            Insert::TryInsert => match self.try_insert(key, value) {
                Ok(value) => {
                    new = Some(true);
                    value.id
                }
                Err(error) => {
                    new = Some(false);
                    assert_eq!(error.value.id, id);
                    error.entry.get().id
                }
            },
            Insert::GetOrInsert => self.get_or_insert(key, value).id,
            Insert::GetOrInsertWith => self.get_or_insert_with(key, |_| value).id,
            Insert::ExtendOwned => {
                self.extend([(key.clone(), value)]);
                id
            }
            Insert::ExtendBorrowed => {
                self.extend([(key, value)]);
                id
            }
            Insert::ByVariant => match self.entry(key) {
                weak_map::Entry::Occupied(mut entry) => {
                    new = Some(false);
                    drop(entry.insert(value));
                    entry.into_mut().id
                }
                weak_map::Entry::Vacant(entry) => {
                    new = Some(true);
                    entry.insert_with_key(|_| value).id
                }
            },
            Insert::AndModify => {
                let mut value = Some(value);
                let entry = self
                    .entry(key)
                    .and_modify(|place| *place = value.take().unwrap());
                entry.or_insert_with(|| value.take().unwrap()).id
            }
        };
        assert!(now == id || !how.replaces());
        new.or((!how.replaces()).then_some(now == id))
    }

    fn remove(&mut self, how: Remove, key: &Key<P>) -> bool {
        match how {
            Remove::ByStrong => self.remove(key).is_some(),
            Remove::ByWeak => self.remove(&downgrade(key)).is_some(),
            Remove::ByPlain => self.remove::<Item>(key).is_some(),
            Remove::EntryByAddr => match self.remove_entry(&Addr::of(&**key)) {
                Some((found, _)) => found.id == key.id,
                None => false,
            },
            Remove::Occupied => match self.entry(key) {
                weak_map::Entry::Occupied(entry) => {
                    drop(entry.remove());
                    true
                }
                weak_map::Entry::Vacant(_) => false,
            },
            Remove::OccupiedEntry => match self.entry(key) {
                weak_map::Entry::Occupied(entry) => entry.remove_entry().0.id == key.id,
                weak_map::Entry::Vacant(_) => false,
            },
        }
    }

    fn find(&self, how: Find, key: &Key<P>) -> Option<Entry> {
        let value = match how {
            Find::ByStrong => self.get(key),
            Find::ByWeak => self.get(&downgrade(key)),
            Find::ByPlain => self.get::<Item>(key),
            Find::ByAddr => self.get(&Addr::of(&**key)),
            Find::KeyValue => {
                let (found, value) = self.get_key_value(key)?;
                assert_eq!(found.id, key.id);
                Some(value)
            }
            Find::Index => self.contains_key(key).then(|| &self[key]),
        };
        Some(seen::<P>(key, value?))
    }

    fn find_weak(&self, key: &<Key<P> as StrongRef>::Weak) -> bool {
        self.contains_key(key)
    }

    fn list(&mut self, how: List) -> Vec<Entry> {
        let by_key = |key: Key<P>| seen::<P>(&key, &self[&key]);
        match how {
            List::Iter => self
                .iter()
                .map(|(key, value)| seen::<P>(&key, value))
                .collect(),
            List::IterMut => {
                let values: Vec<_> = self.values_mut().map(|value| value.id).collect();
                let list: Vec<_> = self
                    .iter_mut()
                    .map(|(key, value)| seen::<P>(&key, value))
                    .collect();
                assert!(list.iter().map(|entry| entry.value.unwrap()).eq(values));
                list
            }
            List::Keys => self.keys().map(by_key).collect(),
            List::WeakKeys => {
                assert_eq!(self.values().count(), self.weak_keys().count());
                let key = |weak: <Key<P> as StrongRef>::Weak| by_key(weak.upgrade().unwrap());
                self.weak_keys().map(key).collect()
            }
        }
    }

    fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
        let mut list = Vec::new();
        let mut keep = |key: &Key<P>, value: &Value<P>| {
            list.push(seen::<P>(key, value));
            wanted(key.id)
        };
        match how {
            Keep::Retain => self.retain(|key, value| keep(key, value)),
            Keep::ExtractIf => {
                let out = self.extract_if(|key, value| !keep(key, value));
                out.for_each(drop);
            }
            Keep::Drain => {
                let kept: Vec<_> = self
                    .drain()
                    .filter(|(key, value)| keep(key, value))
                    .collect();
                assert_eq!(self.capacity(), 0);
                self.extend(kept);
            }
            Keep::IntoIter => {
                let entries = take(self).into_iter();
                *self = entries.filter(|(key, value)| keep(key, value)).collect();
            }
        }
        list
    }

    fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value<P>) {
        let place = match how {
            Change::GetMut => self.get_mut(key),
            Change::IterMut => self
                .iter_mut()
                .find_map(|(found, value)| (found.id == key.id).then_some(value)),
            Change::ValuesMut => self.values_mut().find(|value| value.id == old),
        };
        *place.expect("the value is there") = new;
    }

    fn pop(&mut self) -> Option<Entry> {
        self.pop().map(|(key, value)| seen::<P>(&key, &value))
    }

    fn drain_dead(&mut self, limit: usize) -> usize {
        self.drain_dead().take(limit).count()
    }

    fn absorb(&mut self, other: &Self) {
        self.extend(other.iter().map(|(key, value)| (key, value.clone())));
    }

    fn algebra(&self, _: &Self) -> Option<[Vec<usize>; 4]> {
        None
    }

    fn pins(&self) -> Vec<Key<P>> {
        self.keys().collect()
    }

    delegate!();
}

impl<P: Kind> Subject<P> for WeakSet<Key<P>>
where
    Item: Identify<Key<P>>,
{
    const VALUED: bool = false;

    fn insert(&mut self, how: Insert, key: &Key<P>, _: Option<Value<P>>) -> Option<bool> {
        match how {
            Insert::ExtendOwned => self.extend([key.clone()]),
            Insert::ExtendBorrowed => self.extend([key]),
            Insert::OrInsert => *self |= &WeakSet::from([key]),
            _ => return Some(self.insert(key)),
        }
        None
    }

    fn remove(&mut self, how: Remove, key: &Key<P>) -> bool {
        match how {
            Remove::ByStrong => self.remove(key),
            Remove::ByWeak => self.remove(&downgrade(key)),
            Remove::ByPlain => self.remove::<Item>(key),
            Remove::EntryByAddr => self.remove(&Addr::of(&**key)),
            Remove::Occupied => self.take(key).is_some_and(|found| found.id == key.id),
            Remove::OccupiedEntry => {
                let len = self.len_live();
                *self -= &WeakSet::from([key]);
                self.len_live() < len
            }
        }
    }

    fn find(&self, how: Find, key: &Key<P>) -> Option<Entry> {
        let found = match how {
            Find::ByStrong | Find::Index => self.contains(key),
            Find::ByWeak => self.contains(&downgrade(key)),
            Find::ByPlain => self.contains::<Item>(key),
            Find::ByAddr => self.contains(&Addr::of(&**key)),
            Find::KeyValue => self.get(key).is_some_and(|found| found.id == key.id),
        };
        found.then(|| element::<P>(key))
    }

    fn find_weak(&self, key: &<Key<P> as StrongRef>::Weak) -> bool {
        self.contains(key)
    }

    fn list(&mut self, how: List) -> Vec<Entry> {
        match how {
            List::WeakKeys => self
                .iter_weak()
                .map(|weak| element::<P>(&weak.upgrade().unwrap()))
                .collect(),
            _ => self.iter().map(|key| element::<P>(&key)).collect(),
        }
    }

    fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
        let mut list = Vec::new();
        let mut keep = |key: &Key<P>| {
            list.push(element::<P>(key));
            wanted(key.id)
        };
        match how {
            Keep::Retain => self.retain(keep),
            Keep::ExtractIf => self.extract_if(|key| !keep(key)).for_each(drop),
            Keep::Drain => {
                let kept: Vec<_> = self.drain().filter(keep).collect();
                self.extend(kept);
            }
            Keep::IntoIter => *self = take(self).into_iter().filter(keep).collect(),
        }
        list
    }

    fn change(&mut self, _: Change, _: &Key<P>, _: usize, _: Value<P>) {
        unreachable!("a set has no values");
    }

    fn pop(&mut self) -> Option<Entry> {
        self.pop().map(|key| element::<P>(&key))
    }

    fn drain_dead(&mut self, _: usize) -> usize {
        let pending = self.pending_dead();
        self.purge();
        pending
    }

    fn absorb(&mut self, other: &Self) {
        self.extend(other);
    }

    fn algebra(&self, other: &Self) -> Option<[Vec<usize>; 4]> {
        let ids = |set: WeakSet<Key<P>>| set.iter().map(|key| key.id).collect();
        Some([
            ids(self | other),
            ids(self & other),
            ids(self - other),
            ids(self ^ other),
        ])
    }

    fn pins(&self) -> Vec<Key<P>> {
        self.iter().collect()
    }

    delegate!();
}
