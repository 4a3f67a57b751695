//! The maps that threads share, on one thread. Where those of one owner have more methods, the route goes by what the
//! documentation says to use instead. They return clones of values: pointers to those that the script counts.

use std::cell::Cell;

use super::super::entry::{Entry, Part};
use super::super::hasher::Hashing;
use super::super::routes::{By, Change, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, SharedValue, Value};
use super::maps::{Gone, asked_by_value, entry, immutable, map, shows};
use super::snapshots::{Row, Snapshots, by_snapshots};
use super::{by_content, by_handle, by_hash, by_identity, by_owned, elsewhere};
use crate::common::subject::Answer;
use crate::common::{Kind, downgrade, panics, quiet_panic};
use weakly::concurrent::{SharedRef, WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};
use weakly::{
    Addr,
    reference::{Identify, WeakKey, WeakRef},
};

// Each of these makes one type of closure for several calls: a map compiles its methods for each type.

/// A change of an owned value: notes the one before, which stays if that is wanted, and sets `new`.
fn of_owned<V: Part + Clone>(
    was: &Cell<Option<usize>>,
    new: Option<V>,
    stays: bool,
) -> impl FnMut(Option<&V>) -> Option<V> {
    let mut change = of_weak(was, new, stays);
    move |old| change(old.cloned())
}

/// The same of a value that is not owned.
fn of_weak<V: Part + Clone>(
    was: &Cell<Option<usize>>,
    new: Option<V>,
    stays: bool,
) -> impl FnMut(Option<V>) -> Option<V> {
    move |old| {
        was.set(old.as_ref().map(Part::id));
        old.filter(|_| stays).or_else(|| new.clone())
    }
}

/// Makes the value, or panics.
fn makes<K: ?Sized, V: Clone>(value: Option<&V>) -> impl FnOnce(&K) -> V {
    move |_| value.cloned().unwrap_or_else(|| quiet_panic())
}

/// Makes the value, or fails.
fn tries<K: ?Sized, V: Clone>(value: Option<&V>) -> impl FnOnce(&K) -> Result<V, ()> {
    move |_| value.cloned().ok_or(())
}

/// Of a map: `$as_key` and `$as_value` are what goes in, `$sought` is a key to look for, and `$swap` the one that returns the value before.
/// `$row` is an entry of an iteration, and `$pair` what goes in again of a row.
macro_rules! shared {
    (
        [$($generics:tt)*] $map_of:ty, $values:ty [$($bounds:tt)*], $by:ident, $swap:ident, $changes:ident;
        |$given:ident, $owned:ident, $weak:ident| $as_key:expr, $as_value:expr; sought: |$key:ident| $sought:expr;
        |$side:pat_param| $row:expr, |$kept:ident| $pair:expr;
        index: |$map:ident, $query:ident| $index:expr;
        weak: |$each:pat_param| $upgraded:expr;
        pin: |$entry:pat_param| $pin:expr;
        $($more:tt)*
    ) => {
        impl<$($generics)*> Subject<P, $values> for $map_of
        where
            Key<P>: SharedRef,
            Key<$values>: SharedRef,
            $($bounds)*
        {
        fn over(how: Insert) -> Over {
            match how {
                Insert::Insert
                | Insert::InsertEntry
                | Insert::ByVariant
                | Insert::AndModify
                | Insert::ExtendOwned
                | Insert::ExtendBorrowed => Over::Moves,
                Insert::TryInsert => Over::Adopts,
                _ => Over::Stays,
            }
        }

        fn insert(
            &mut self,
            how: Insert,
            $given: &Key<P>,
            new: New<'_, Key<$values>>,
        ) -> Inserted<Key<P>> {
            let ($owned, $weak) = (new.owned.map(SharedValue::new), new.weak);
            let (key, value) = ($as_key, $as_value);
            if matches!(how, Insert::ExtendOwned | Insert::ExtendBorrowed) {
                self.extend([(key, value)]);
                return Inserted::nothing();
            }
            let (map, made, was) = (&*self, value.clone(), Cell::new(None));
            let now = match how {
                Insert::Insert => return Inserted::new(map.insert(key, value).is_new()),
                Insert::InsertEntry => return Inserted::new(map.$swap(key, value).is_new()),
                Insert::ByVariant | Insert::AndModify => {
                    let now = map.compute(key, $changes(&was, Some(made), false));
                    return Inserted {
                        new: Some(was.get().is_none()),
                        ..Inserted::value(now.expect("it was set").id)
                    };
                }
                Insert::TryInsert => {
                    let now = map.compute(key, $changes(&was, Some(made), true));
                    now.expect("it was set")
                }
                Insert::TryGetOrInsertWith => {
                    let made = map.try_get_or_insert_with(key, tries(Some(&made)));
                    made.unwrap()
                }
                Insert::Fail => {
                    let failed = map.try_get_or_insert_with(Clone::clone(&key), tries(None));
                    let mut found = None;
                    if panics(|| found = Some(map.get_or_insert_with(key, makes(None)))) {
                        assert!(failed.is_err());
                        return Inserted::new(true);
                    }
                    assert!(failed.is_ok());
                    found.expect("it has not failed")
                }
                _ => map.get_or_insert_with(key, makes(Some(&made))),
            };
            Inserted::value(now.id)
        }

        map! {
            $by, $values, immutable,
            index: |$map, $query| $index,
            occupied: |map, _how, $key| [&*] {
                let was = Cell::new(None);
                assert!(map.compute($sought, $changes(&was, None, false)).is_none());
                was.get()?
            },
            weak: |$each| $upgraded,
            pin: |$entry| $pin,
        }

        by_snapshots!($values);
        $($more)*
        }

        impl<$($generics)*> Snapshots<P, $values> for $map_of
        where
            Key<P>: SharedRef,
            Key<$values>: SharedRef,
            $($bounds)*
        {
            fn rows(&self) -> Vec<Row<P, $values>> {
                self.iter().map(|$side| $row).collect()
            }

            fn put(&mut self, rows: impl Iterator<Item = Row<P, $values>>) {
                for $kept in rows {
                    self.extend($pair);
                }
            }

            fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
                self.retain(|key, value| keep(entry!(key, value)));
            }
        }
    };
}

/// Of maps that own their values.
macro_rules! owned_values {
    ([$($generics:tt)*] $map_of:ty [$($bounds:tt)*], $by:ident) => {
        shared! {
            [$($generics)*] $map_of, P [$($bounds)*], $by, swap, of_owned;
            |key, owned, _weak| key, owned.expect("a map takes a value"); sought: |key| key;
            |(key, value)| Row { owned: Some(value), ..Row::element(key) },
            |row| row.key.as_ref().zip(row.owned);
            index: |map, query| map.with(query, SharedValue::clone).unwrap();
            weak: |(key, value)| (key.upgrade().unwrap(), value);
            pin: |(key, _)| (Some(key), None);

            fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value) {
                let (map, new) = (&*self, SharedValue::new(new));
                let before = match how {
                    Change::GetMut => {
                        // There and back again.
                        let (there, _) = map.get_key_value(key).expect("it is live");
                        let other = elsewhere::<P>();
                        assert!(map.transfer(&there, &other).is_none() && !map.contains_key(key));
                        assert!(map.transfer(&other, &there).is_none() && !map.contains_key(&other));
                        map.swap(key, new).map(|before| before.id)
                    }
                    Change::IterMut => {
                        let was = Cell::new(None);
                        _ = map.compute(key, of_owned(&was, Some(new), false));
                        was.get()
                    }
                    Change::ValuesMut => {
                        let before = map.get(key).map(|before| before.id);
                        assert!(!map.insert(key, new));
                        before
                    }
                };
                assert_eq!(before, Some(old));
            }
        }
    };
}

impl<K: SharedRef> Shape for WeakMap<K, SharedValue> {
    const BY_CONTENT: bool = false;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

owned_values!([P: Kind] WeakMap<Key<P>, SharedValue> [Item: Identify<Key<P>>], by_identity);

impl<K: SharedRef, S> Shape for WeakHashMap<K, SharedValue, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

owned_values!([P: Kind, S: Hashing] WeakHashMap<Key<P>, SharedValue, S> [], by_content);

impl<V: SharedRef, S> Shape for WeakValueMap<SharedValue, V, S> {
    const BY_CONTENT: bool = true;
    const WEAK_KEYS: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

shared! {
    [P: Kind, S: Hashing] WeakValueMap<SharedValue, Key<P>, S>, P [], by_owned, insert, of_weak;
    |_key, owned, weak| owned.expect("the map owns its keys"), weak.expect("a map takes a value");
    sought: |key| SharedValue::new(Value::unlogged(key.content.number));
    |(key, value)| Row { key: None, value: Some(value), owned: Some(key) },
    |row| row.owned.zip(row.value.as_ref());
    index: |map, query| map.get(query).unwrap();
    weak: |(key, value)| (key, value.upgrade().unwrap());
    pin: |(_, value)| (None, Some(value));
    asked_by_value!(P);
}

impl<K: SharedRef, V: SharedRef> Shape for WeakPairMap<K, V> {
    const BY_CONTENT: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = false;
    const SHARED: bool = true;
}

shared! {
    [P: Kind, V: Kind] WeakPairMap<Key<P>, Key<V>>, V [Item: Identify<Key<P>>], by_identity, insert, of_weak;
    |key, _owned, weak| key, weak.expect("a map takes a value"); sought: |key| key;
    |(key, value)| Row { value: Some(value), ..Row::element(key) },
    |row| row.key.as_ref().zip(row.value.as_ref());
    index: |map, query| map.get(query).unwrap();
    weak: |(key, value)| (key.upgrade().unwrap(), value.upgrade().unwrap());
    pin: |(key, value)| (Some(key), Some(value));
    asked_by_value!(V);
}
