//! The maps whose values are weak.

use std::mem::take;

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Find, Insert, Keep, List, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, Value};
use super::maps::{entry, map};
use super::{by_content, by_identity, by_owned, copies, memory};
use crate::common::subject::Memory;
use crate::common::{Kind, downgrade, forget};
use weakly::collections::entry::WeakEntry as Place;
use weakly::{
    Addr, WeakHashPairMap, WeakPairMap, WeakValueMap,
    reference::{Identify, StrongRef, WeakKey, WeakRef},
};

/// `$given` makes a key from what goes in, `$pair` what goes into an owned pair; `$upgraded` is an
/// entry of weak iteration, upgraded.
macro_rules! weak_values {
    ($values:ty, |$key:ident, $owned:ident| $given:expr, |$pair:ident| $kept:expr, |$weak:pat_param| $upgraded:expr) => {
        fn insert(
            &mut self,
            how: Insert,
            $key: &Key<P>,
            new: New<'_, Key<$values>>,
        ) -> Inserted<Key<P>> {
            let value = new.weak.expect("a map takes a value");
            let content = $key.content.number;
            let $owned = new.owned;
            let key = $given;
            let now = match how {
                Insert::Insert => {
                    return match self.insert(key, value) {
                        Some(_) => Inserted::value(value.id),
                        None => Inserted::new(true),
                    };
                }
                Insert::OrInsert => self.entry(key).or_insert(value.clone()),
                Insert::OrInsertWith => self.entry(key).or_insert_with(|| value.clone()),
                Insert::OrInsertWithKey => self.entry(key).or_insert_with_key(|key| {
                    assert_eq!(key.content.number, content);
                    value.clone()
                }),
                Insert::InsertEntry => {
                    let entry = self.entry(key).insert_entry(value.clone());
                    assert_eq!(entry.key().content.number, content);
                    entry.into_value()
                }
                Insert::TryInsert => match self.try_insert(key, value) {
                    Ok(()) => return Inserted::new(true),
                    Err(error) => error.entry.get().clone(),
                },
                Insert::GetOrInsert => self.get_or_insert(key, value.clone()),
                Insert::GetOrInsertWith => self.get_or_insert_with(key, |key| {
                    assert_eq!(key.content.number, content);
                    value.clone()
                }),
                Insert::TryGetOrInsertWith => {
                    let make = |_: &_| Ok::<_, ()>(value.clone());
                    self.try_get_or_insert_with(key, make).unwrap()
                }
                Insert::Fail => match self.try_get_or_insert_with(key, |_| Err(())) {
                    Ok(value) => value,
                    Err(()) => return Inserted::new(true),
                },
                Insert::ExtendOwned => {
                    let $pair = key;
                    self.extend([($kept, value.clone())]);
                    return Inserted::nothing();
                }
                Insert::ExtendBorrowed => {
                    self.extend([(key, value)]);
                    return Inserted::nothing();
                }
                Insert::ByVariant => match self.entry(key) {
                    Place::Occupied(entry) => {
                        let old = entry.get().id;
                        assert_eq!(entry.insert(value).id, old);
                        return Inserted::new(false);
                    }
                    Place::Vacant(entry) => {
                        entry.insert(value);
                        return Inserted::new(true);
                    }
                },
                Insert::AndModify => {
                    let mut seen = None;
                    let entry = self.entry(key).and_modify(|value| seen = Some(value.id));
                    let now = entry.or_insert_with(|| value.clone());
                    assert!(seen.is_none_or(|seen| seen == now.id));
                    return Inserted {
                        new: Some(seen.is_none()),
                        ..Inserted::value(now.id)
                    };
                }
            };
            Inserted::value(now.id)
        }

        fn list(&mut self, how: List) -> Vec<Entry> {
            let list: Vec<_> = self
                .iter()
                .map(|(key, value)| entry!(&key, &value))
                .collect();
            let keys = list
                .iter()
                .map(|entry| entry.weak_key.or(entry.owned).unwrap());
            let values = list.iter().map(|entry| entry.weak_value.unwrap());
            assert!(match how {
                List::Iter | List::IterMut | List::ValuesMut => true,
                List::Keys => keys.eq(self.keys().map(|key| key.id)),
                List::Weak => {
                    let weak = self.iter_weak().map(|$weak| $upgraded);
                    weak.map(|(key, value)| entry!(&key, &value))
                        .eq(list.iter().copied())
                }
                List::Values => values.eq(self.values().map(|value| value.id)),
            });
            list
        }
    };
}

impl<V: StrongRef, S> Shape for WeakValueMap<Value, V, S> {
    const BY_CONTENT: bool = true;
    const WEAK_KEYS: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakValueMap<Value, Key<P>, S>
where
    Key<P>: PartialEq,
{
    fn pins(&self) -> Vec<Pin<P, P>> {
        self.values().map(|value| (None, Some(value))).collect()
    }

    fn drain_dead(&mut self, limit: usize) -> usize {
        self.drain_dead().take(limit).count()
    }

    fn absorb(&mut self, other: &Self) {
        self.extend(other.iter().map(|(key, value)| (key.clone(), value)));
    }

    weak_values!(
        P,
        |_key, owned| owned.expect("the map owns its keys"),
        |key| key,
        |(key, value)| (key, value.upgrade().unwrap())
    );
    map!(
        by_owned,
        Place,
        |key| Value::unlogged(key.content.number),
        |map, query| map.expect(query)
    );
}

macro_rules! pairs {
    ($by:ident) => {
        fn pins(&self) -> Vec<Pin<P, V>> {
            self.iter()
                .map(|(key, value)| (Some(key), Some(value)))
                .collect()
        }

        fn absorb(&mut self, other: &Self) {
            self.extend(other);
        }

        weak_values!(V, |key, _owned| key, |key| key.clone(), |(key, value)| (
            key.upgrade().unwrap(),
            value.upgrade().unwrap()
        ));
        map!($by, Place, |key| key, |map, query| map.expect(query));
    };
}

impl<K: StrongRef, V: StrongRef> Shape for WeakPairMap<K, V> {
    const BY_CONTENT: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = false;
}

impl<P: Kind, V: Kind> Subject<P, V> for WeakPairMap<Key<P>, Key<V>>
where
    Item: Identify<Key<P>>,
    Key<V>: PartialEq,
{
    pairs!(by_identity);
}

impl<K: StrongRef, V: StrongRef, S> Shape for WeakHashPairMap<K, V, S> {
    const BY_CONTENT: bool = true;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = false;
}

impl<P: Kind, V: Kind, S: Hashing> Subject<P, V> for WeakHashPairMap<Key<P>, Key<V>, S>
where
    Key<V>: PartialEq,
{
    pairs!(by_content);
}
