//! The maps of one owner.

use std::cell::Cell;
use std::mem::take;

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Change, Find, Insert, Keep, List, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, Value};
use super::maps::{Gone, asked_by_value, entry, immutable, map, mutable, shows};
use super::{by_content, by_handle, by_hash, by_identity, by_owned, copies, elsewhere, memory};
use crate::common::subject::Memory;
use crate::common::{Kind, downgrade, forget};
use weakly::collections::entry::{Entry as Owning, WeakEntry as Weak};
use weakly::{
    Addr, WeakHashMap, WeakHashPairMap, WeakMap, WeakPairMap, WeakValueMap,
    reference::{Identify, StrongRef, WeakKey, WeakRef},
};

/// `$Entry` is the type of the entry interface. `$as_key` and `$as_value` are what goes in, `$kept` the key that goes
/// into an owned pair, and `$made` what a closure makes; `$is` says whether that has been shown the right key. `$tried` is
/// what `try_insert` has found, `$into` takes the value out of an entry, `$fill` fills a vacant one, `$modified` modifies.
macro_rules! single {
    (
        $values:ty, $Entry:ident,
        |$given:ident, $owned:ident, $weak:ident| $as_key:expr, $as_value:expr;
        |$key:ident, $value:ident| $kept:expr, $made:expr;
        |$shown:ident| $is:expr;
        |$answer:ident, $id:ident| $tried:expr;
        $into:ident, |$vacant:ident| $fill:expr, |$modify:ident| $modified:expr;
    ) => {
        fn insert(
            &mut self,
            how: Insert,
            $given: &Key<P>,
            new: New<'_, Key<$values>>,
        ) -> Inserted<Key<P>> {
            let ($owned, $weak) = (new.owned, new.weak);
            let ($key, $value) = ($as_key, $as_value);
            let $id = $value.id;
            let now = match how {
                Insert::Insert => return Inserted::new(self.insert($key, $value).is_none()),
                Insert::OrInsert => self.entry($key).or_insert($made).id,
                Insert::OrInsertWith => self.entry($key).or_insert_with(|| $made).id,
                Insert::OrInsertWithKey => {
                    let made = self.entry($key).or_insert_with_key(|$shown| {
                        assert!($is);
                        $made
                    });
                    made.id
                }
                Insert::InsertEntry => {
                    let entry = self.entry($key).insert_entry($made);
                    assert!(entry.key().content == $given.content);
                    assert!(!Self::WEAK_KEYS || entry.key().id == $given.id);
                    assert_eq!(entry.get().id, $id);
                    entry.$into().id
                }
                Insert::TryInsert => {
                    let $answer = self.try_insert($key, $value);
                    match $tried {
                        Some(id) => id,
                        None => return Inserted::new(true),
                    }
                }
                Insert::GetOrInsert => self.get_or_insert($key, $made).id,
                Insert::GetOrInsertWith => {
                    let made = self.get_or_insert_with($key, |$shown| {
                        assert!($is);
                        $made
                    });
                    made.id
                }
                Insert::TryGetOrInsertWith => {
                    let made = self.try_get_or_insert_with($key, |$shown| {
                        assert!($is);
                        Ok::<_, ()>($made)
                    });
                    made.unwrap().id
                }
                Insert::Fail => match self.try_get_or_insert_with($key, |_| Err($made)) {
                    Ok(value) => value.id,
                    Err(value) => {
                        assert_eq!(value.id, $id);
                        return Inserted::new(true);
                    }
                },
                Insert::ExtendOwned => {
                    self.extend([($kept, $made)]);
                    return Inserted::nothing();
                }
                Insert::ExtendBorrowed => {
                    self.extend([($key, $value)]);
                    return Inserted::nothing();
                }
                Insert::ByVariant => match self.entry($key) {
                    #[allow(unused_mut)] // where values are weak
                    $Entry::Occupied(mut entry) => {
                        let old = entry.get().id;
                        assert_eq!(entry.insert($value).id, old);
                        return Inserted::new(false);
                    }
                    $Entry::Vacant($vacant) => {
                        $fill;
                        return Inserted::new(true);
                    }
                },
                Insert::AndModify => {
                    let $modify = self.entry($key);
                    return $modified;
                }
            };
            Inserted::value(now)
        }

        fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
            let mut list = Vec::new();
            let mut keep = |entry: Entry| {
                list.push(entry);
                wanted(entry.key)
            };
            match how {
                Keep::Retain => self.retain(|key, value| keep(entry!(key, &*value))),
                Keep::ExtractIf | Keep::ExtractOne => {
                    let mut out = self.extract_if(|key, value| !keep(entry!(key, &*value)));
                    while out.next().is_some() && how == Keep::ExtractIf {}
                }
                Keep::Drain => {
                    let kept: Vec<_> = self
                        .drain()
                        .filter(|(key, value)| keep(entry!(key, value)))
                        .collect();
                    assert_eq!(self.capacity(), 0);
                    self.extend(kept);
                }
                Keep::Forget => {
                    let mut drain = self.drain();
                    if let Some((key, value)) = drain.next() {
                        keep(entry!(&key, &value));
                    }
                    forget(drain);
                }
                Keep::IntoIter => {
                    let entries = take(self).into_iter();
                    let kept = entries.filter(|(key, value)| keep(entry!(key, value)));
                    *self = kept.collect();
                }
            }
            list
        }

        fn pop(&mut self) -> Option<Entry> {
            let (key, value) = self.pop()?;
            Some(entry!(&key, &value))
        }

        fn end(self, how: Take) -> Option<Vec<usize>> {
            let key = |key| Entry::element(Self::BY_CONTENT, &key).key;
            match how {
                Take::Drop => None,
                Take::IntoKeys => Some(self.into_keys().map(key).collect()),
                Take::IntoValues => Some(self.into_values().map(|value| value.id).collect()),
            }
        }

        copies!();
        memory!();
    };
}

/// A removal by the entry interface.
macro_rules! occupied {
    ($Entry:ident, $map:ident, $how:ident, $key:ident, $given:expr) => {
        match ($map.entry($given), $how) {
            ($Entry::Vacant(_), _) => return None,
            ($Entry::Occupied(entry), Remove::Occupied) => entry.remove().id,
            ($Entry::Occupied(entry), _) => {
                let (given, value) = entry.remove_entry();
                assert!(given.content == $key.content);
                value.id
            }
        }
    };
}

macro_rules! owned_values {
    ($by:ident, |$key:ident| $query:expr) => {
        single! {
            P, Owning,
            |given, owned, _weak| given, owned.expect("a map takes a value");
            |key, value| key.clone(), value;
            |shown| WeakRef::addr(shown) == WeakKey::addr(given);
            |answer, id| match answer {
                Ok(value) => {
                    assert_eq!(value.id, id);
                    None
                }
                Err(error) => {
                    assert_eq!(error.value.id, id);
                    Some(error.entry.get().id)
                }
            };
            into_mut, |entry| assert_eq!(entry.insert_with_key(|_| value).id, id), |entry| {
                let mut value = Some(value);
                let entry = entry.and_modify(|place| *place = value.take().unwrap());
                Inserted::value(entry.or_insert_with(|| value.take().unwrap()).id)
            };
        }
        map! {
            $by, P, mutable,
            index: |map, query| map[query],
            occupied: |map, how, $key| [] {
                if let (Some((there, _)), Remove::OccupiedEntry) = (map.get_key_value($query), how) {
                    // There and back again.
                    let other = elsewhere::<P>();
                    assert!(map.transfer(&there, &other).is_none() && map.get($query).is_none());
                    assert!(map.transfer(&other, &there).is_none() && map.get(&other).is_none());
                }
                occupied!(Owning, map, how, $key, $key)
            },
            weak: |(key, value)| (key.upgrade().unwrap(), value),
            pin: |(key, _)| (Some(key), None),
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
    owned_values!(by_identity, |key| key);
}

impl<K: StrongRef, S> Shape for WeakHashMap<K, Value, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakHashMap<Key<P>, Value, S> {
    owned_values!(by_content, |key| &key.content);
}

/// `$as_key` makes a key from what goes in, and `$sought` one from what is looked for.
macro_rules! weak_values {
    (
        $by:ident, $values:ty,
        |$given:ident, $owned:ident| $as_key:expr, |$kept:ident| $pair:expr, |$key:ident| $sought:expr,
        weak: |$weak:pat_param| $upgraded:expr,
        pin: |$side:pat_param| $pin:expr
    ) => {
        single! {
            $values, Weak,
            |$given, $owned, weak| $as_key, weak.expect("a map takes a value");
            |$kept, value| $pair, value.clone();
            |shown| shown.content == $given.content;
            |answer, _id| answer.err().map(|error| error.entry.get().id);
            into_value, |entry| entry.insert(value), |entry| {
                let mut seen = None;
                let entry = entry.and_modify(|value| seen = Some(value.id));
                let now = entry.or_insert_with(|| value.clone());
                assert!(seen.is_none_or(|seen| seen == now.id));
                Inserted {
                    new: Some(seen.is_none()),
                    ..Inserted::value(now.id)
                }
            };
        }
        map! {
            $by, $values, immutable,
            index: |map, query| map.expect(query),
            occupied: |map, how, $key| [] occupied!(Weak, map, how, $key, $sought),
            weak: |$weak| $upgraded,
            pin: |$side| $pin,
        }
        asked_by_value!($values);
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
    weak_values! {
        by_owned, P,
        |_key, owned| owned.expect("the map owns its keys"), |key| key, |key| Value::unlogged(key.content.number),
        weak: |(key, value)| (key, value.upgrade().unwrap()),
        pin: |(_, value)| (None, Some(value))
    }

    fn drain_dead(&mut self, limit: usize) -> usize {
        self.drain_dead().take(limit).count()
    }

    fn absorb(&mut self, other: &Self) {
        self.extend(other.iter().map(|(key, value)| (key.clone(), value)));
    }
}

macro_rules! pairs {
    ($by:ident) => {
        weak_values! {
            $by, V,
            |key, _owned| key, |key| key.clone(), |key| key,
            weak: |(key, value)| (key.upgrade().unwrap(), value.upgrade().unwrap()),
            pin: |(key, value)| (Some(key), Some(value))
        }

        fn absorb(&mut self, other: &Self) {
            self.extend(other);
        }
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
