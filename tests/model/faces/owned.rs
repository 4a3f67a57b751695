//! The maps that own their values.

use std::mem::take;

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Change, Find, Insert, Keep, List, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, Value};
use super::maps::{entry, map};
use super::{by_content, by_identity, copies, memory};
use crate::common::subject::Memory;
use crate::common::{Kind, downgrade, forget};
use weakly::collections::entry::Entry as Place;
use weakly::{
    Addr, WeakHashMap, WeakMap,
    reference::{Identify, StrongRef, WeakKey, WeakRef},
};

macro_rules! owned_values {
    (|$key:ident| $query:expr) => {
        fn insert(&mut self, how: Insert, key: &Key<P>, new: New<'_, Key<P>>) -> Inserted<Key<P>> {
            let value = new.owned.expect("a map takes a value");
            let id = value.id;
            let is_key = |weak: &<Key<P> as WeakKey>::Weak| {
                assert_eq!(WeakRef::addr(weak), WeakKey::addr(key));
            };
            let now = match how {
                Insert::Insert => return Inserted::new(self.insert(key, value).is_none()),
                Insert::OrInsert => self.entry(key).or_insert(value).id,
                Insert::OrInsertWith => self.entry(key).or_insert_with(|| value).id,
                Insert::OrInsertWithKey => {
                    let make = |weak: &_| {
                        is_key(weak);
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
                        assert_eq!(value.id, id);
                        return Inserted::new(true);
                    }
                    Err(error) => {
                        assert_eq!(error.value.id, id);
                        error.entry.get().id
                    }
                },
                Insert::GetOrInsert => self.get_or_insert(key, value).id,
                Insert::GetOrInsertWith => {
                    let make = |weak: &_| {
                        is_key(weak);
                        value
                    };
                    self.get_or_insert_with(key, make).id
                }
                Insert::TryGetOrInsertWith => {
                    let make = |weak: &_| {
                        is_key(weak);
                        Ok::<_, ()>(value)
                    };
                    self.try_get_or_insert_with(key, make).unwrap().id
                }
                Insert::Fail => match self.try_get_or_insert_with(key, |_| Err(value)) {
                    Ok(value) => value.id,
                    Err(value) => {
                        assert_eq!(value.id, id);
                        return Inserted::new(true);
                    }
                },
                Insert::ExtendOwned => {
                    self.extend([(key.clone(), value)]);
                    return Inserted::nothing();
                }
                Insert::ExtendBorrowed => {
                    self.extend([(key, value)]);
                    return Inserted::nothing();
                }
                Insert::ByVariant => match self.entry(key) {
                    Place::Occupied(mut entry) => {
                        drop(entry.insert(value));
                        entry.into_mut().id
                    }
                    Place::Vacant(entry) => {
                        let value = entry.insert_with_key(|_| value);
                        assert_eq!(value.id, id);
                        return Inserted::new(true);
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
            Inserted::value(now)
        }

        fn list(&mut self, how: List) -> Vec<Entry> {
            let list: Vec<_> = self
                .iter()
                .map(|(key, value)| entry!(&key, value))
                .collect();
            let keys = list.iter().map(|entry| entry.weak_key.unwrap());
            let values = list.iter().map(|entry| entry.owned.unwrap());
            assert!(match how {
                List::Iter => true,
                List::IterMut => {
                    let entries = self.iter_mut().map(|(key, value)| entry!(&key, &*value));
                    entries.eq(list.iter().copied())
                }
                List::Keys => keys.eq(self.keys().map(|key| key.id)),
                List::Weak => {
                    let entry = |(key, value): (<Key<P> as WeakKey>::Weak, _)| {
                        entry!(&key.upgrade().unwrap(), value)
                    };
                    self.iter_weak().map(entry).eq(list.iter().copied())
                }
                List::Values => values.eq(self.values().map(|value| value.id)),
                List::ValuesMut => values.eq(self.values_mut().map(|value| value.id)),
            });
            list
        }

        fn change(&mut self, how: Change, $key: &Key<P>, old: usize, new: Value) {
            let place = match how {
                Change::GetMut => self.get_mut($query),
                Change::IterMut => self
                    .iter_mut()
                    .find_map(|(_, value)| (value.id == old).then_some(value)),
                Change::ValuesMut => self.values_mut().find(|value| value.id == old),
            };
            *place.expect("the value is there") = new;
        }

        fn drain_dead(&mut self, limit: usize) -> usize {
            self.drain_dead().take(limit).count()
        }

        fn absorb(&mut self, other: &Self) {
            self.extend(other.iter().map(|(key, value)| (key, value.clone())));
        }

        fn pins(&self) -> Vec<Pin<P, P>> {
            self.keys().map(|key| (Some(key), None)).collect()
        }
    };
}

impl<K: StrongRef> Shape for WeakMap<K, Value> {
    const BY_CONTENT: bool = false;
    const OWNS: bool = true;
}

impl<P: Kind> Subject<P> for WeakMap<Key<P>, Value>
where
    Item: Identify<Key<P>>,
{
    owned_values!(|key| key);
    map!(by_identity, Place, |key| key, |map, query| map[query]);
}

impl<K: StrongRef, S> Shape for WeakHashMap<K, Value, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakHashMap<Key<P>, Value, S> {
    owned_values!(|key| &key.content);
    map!(by_content, Place, |key| key, |map, query| map[query]);
}
