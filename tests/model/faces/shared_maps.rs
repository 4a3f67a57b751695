//! The maps that threads share, on one thread. Where one lacks a method, the route goes by what its documentation says
//! to use instead. They return clones of values: pointers to those that the script counts.

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Change, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Item, Key, SharedValue, Value};
use super::snapshots::{Row, Snapshots, by_snapshots};
use super::{by_content, by_identity, by_owned};
use crate::common::{Kind, downgrade, panics, quiet_panic};
use weakly::concurrent::{SharedRef, WeakHashMap, WeakMap, WeakPairMap, WeakValueMap};
use weakly::{
    Addr,
    reference::{Identify, WeakKey},
};

/// Of a map: `$as_key` and `$as_value` are what its methods take. `$put` and `$swap` return whether the key is new, `$made`
/// returns a value, `$pair` is what goes in with others; `$shown` is one more lookup, `$taken` one more removal, and
/// `$removed` tells whether one has happened.
macro_rules! map {
    (
        $by:ident, $values:ty,
        key: |$given:ident, $own:ident| $as_key:expr,
        value: |$owned:ident, $weak:ident| $as_value:expr,
        |$map:ident, $key:ident, $value:ident| {
            put: $put:expr, swap: $swap:expr, pair: $pair:expr, made: |$make:ident| $made:expr $(,)?
        },
        |$seen:ident, $query:ident| { shown: $shown:expr, taken: $taken:expr $(,)? },
        |$gone:ident| $removed:expr $(,)?
    ) => {
        fn over(how: Insert) -> Over {
            match how {
                Insert::Insert
                | Insert::InsertEntry
                | Insert::ByVariant
                | Insert::AndModify
                | Insert::ExtendOwned
                | Insert::ExtendBorrowed => Over::Moves,
                Insert::TryInsert | Insert::TryGetOrInsertWith => Over::Adopts,
                _ => Over::Stays,
            }
        }

        fn insert(
            &mut self,
            how: Insert,
            $given: &Key<P>,
            new: New<'_, Key<$values>>,
        ) -> Inserted<Key<P>> {
            let $owned = new.owned.map(SharedValue::new);
            let $weak = new.weak;
            let $own = $owned.clone();
            let $key = $as_key;
            let $value = $as_value;
            if matches!(how, Insert::ExtendOwned | Insert::ExtendBorrowed) {
                self.extend([$pair]);
                return Inserted::nothing();
            }
            let $map = &*self;
            let now = match how {
                Insert::Insert => return Inserted::new($put),
                Insert::InsertEntry => return Inserted::new($swap),
                Insert::ByVariant | Insert::AndModify => {
                    let mut was = None;
                    let now = $map.compute($key, |old| {
                        was = old.map(|old| old.id);
                        Some($value.clone())
                    });
                    return Inserted {
                        new: Some(was.is_none()),
                        ..Inserted::value(now.expect("it was set").id)
                    };
                }
                Insert::TryInsert | Insert::TryGetOrInsertWith => {
                    let now = $map.compute($key, |old| match old {
                        Some(old) => Some(old.clone()),
                        None => Some($value.clone()),
                    });
                    now.expect("it was set")
                }
                Insert::Fail => {
                    let mut found = None;
                    let $make = || quiet_panic();
                    if panics(|| found = Some($made)) {
                        return Inserted::new(true);
                    }
                    found.expect("it has not failed")
                }
                _ => {
                    let $make = || $value.clone();
                    $made
                }
            };
            Inserted::value(now.id)
        }

        fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
            let $seen = &*self;
            let number = match how {
                Remove::Value(by) => $by!(by, key, |$query| $seen.remove($query))?.id,
                Remove::Entry(by) => $by!(by, key, |$query| $taken)?.id,
                Remove::If(by) => {
                    let mut shown = None;
                    let $gone = $by!(by, key, |query| $seen.remove_if(query, |value| {
                        shown = Some(value.id);
                        false
                    }));
                    assert!(!$removed);
                    let $gone = $by!(by, key, |query| $seen
                        .remove_if(query, |value| shown == Some(value.id)));
                    assert_eq!($removed, shown.is_some());
                    shown?
                }
                Remove::Occupied | Remove::OccupiedEntry => {
                    let ($given, $own) = (key, None::<SharedValue>);
                    let mut was = None;
                    let none = $seen.compute($as_key, |old| {
                        was = old.map(|old| old.id);
                        None
                    });
                    assert!(none.is_none());
                    was?
                }
            };
            Some(Some(number))
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            let $seen = self;
            $by!(how.by(), key, |$query| match how {
                Find::Get(_) => Some(Found::value($seen.get($query)?.id)),
                Find::Contains(_) => $seen.contains_key($query).then(Found::default),
                Find::KeyValue(_) | Find::Index(_) => $shown,
            })
        }

        $by!(@beside contains_key, |$seen, $query| $shown);

        by_snapshots!($values);
    };
}

/// Of a map that owns its values, more.
macro_rules! owned_values {
    () => {
        fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value) {
            let (map, new) = (&*self, SharedValue::new(new));
            let before = match how {
                Change::GetMut => map.swap(key, new),
                Change::IterMut => {
                    let mut before = None;
                    map.compute(key, |old| {
                        before = old.cloned();
                        Some(new.clone())
                    });
                    before
                }
                Change::ValuesMut => {
                    let before = map.get(key);
                    assert!(!map.insert(key, new));
                    before
                }
            };
            assert!(before.is_some_and(|before| before.id == old));
        }
    };
}

macro_rules! owned_rows {
    (|$map:ident, $how:ident| $numbers:expr) => {
        fn rows(&self) -> Vec<Row<P, P>> {
            let row = |(key, value)| Row {
                owned: Some(value),
                ..Row::element(key)
            };
            self.iter().map(row).collect()
        }

        fn put(&mut self, rows: impl Iterator<Item = Row<P, P>>) {
            for row in rows {
                self.extend(row.key.as_ref().zip(row.owned));
            }
        }

        fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
            self.retain(|key, value| keep(Entry::of(Self::BY_CONTENT, key, value)));
        }

        fn numbers(&self, $how: List) -> Option<Vec<usize>> {
            let $map = self;
            $numbers
        }
    };
}

impl<K: SharedRef> Shape for WeakMap<K, SharedValue> {
    const BY_CONTENT: bool = false;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

impl<P: Kind> Subject<P> for WeakMap<Key<P>, SharedValue>
where
    Key<P>: SharedRef,
    Item: Identify<Key<P>>,
{
    owned_values!();
    map!(
        by_identity, P,
        key: |key, _owned| key,
        value: |owned, _weak| owned.expect("a map takes a value"),
        |map, at, value| {
            put: map.insert(at, value),
            swap: map.swap(at, value).is_none(),
            pair: (at, value),
            made: |make| map.get_or_insert_with(at, |_| make()),
        },
        |map, query| {
            shown: map.with(query, |value| Found::value(value.id)),
            taken: map.remove(query),
        },
        |removed| removed,
    );
}

impl<P: Kind> Snapshots<P> for WeakMap<Key<P>, SharedValue>
where
    Key<P>: SharedRef,
    Item: Identify<Key<P>>,
{
    owned_rows!(|map, how| match how {
        List::Keys => Some(map.keys().map(|key| key.id).collect()),
        List::Values => Some(map.values().map(|value| value.id).collect()),
        _ => None,
    });
}

impl<K: SharedRef, S> Shape for WeakHashMap<K, SharedValue, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakHashMap<Key<P>, SharedValue, S>
where
    Key<P>: SharedRef,
{
    owned_values!();
    map!(
        by_content, P,
        key: |key, _owned| key,
        value: |owned, _weak| owned.expect("a map takes a value"),
        |map, at, value| {
            put: map.insert(at, value),
            swap: map.swap(at, value).is_none(),
            pair: (at, value),
            made: |make| map.get_or_insert_with(at, |_| make()),
        },
        |map, query| {
            shown: map.with(query, |value| Found::value(value.id)),
            taken: map.remove_entry(query).map(|(_, value)| value),
        },
        |removed| removed,
    );
}

impl<P: Kind, S: Hashing> Snapshots<P> for WeakHashMap<Key<P>, SharedValue, S>
where
    Key<P>: SharedRef,
{
    owned_rows!(|map, how| (how == List::Keys).then(|| map.keys().map(|key| key.id).collect()));
}

impl<V: SharedRef, S> Shape for WeakValueMap<SharedValue, V, S> {
    const BY_CONTENT: bool = true;
    const WEAK_KEYS: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = true;
    const SHARED: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakValueMap<SharedValue, Key<P>, S>
where
    Key<P>: SharedRef,
{
    map!(
        by_owned, P,
        key: |key, owned| owned.unwrap_or_else(|| {
            SharedValue::new(Value::unlogged(key.content.number))
        }),
        value: |_owned, weak| weak.expect("a map takes a value"),
        |map, at, value| {
            put: map.insert(at, value).is_none(),
            swap: map.insert(at, value).is_none(),
            pair: (at, value),
            made: |make| map.get_or_insert_with(at, |_| make()),
        },
        |map, query| {
            shown: Some(Found::value(map.get(query)?.id)),
            taken: map.remove(query),
        },
        |removed| removed.is_some(),
    );
}

impl<P: Kind, S: Hashing> Snapshots<P> for WeakValueMap<SharedValue, Key<P>, S>
where
    Key<P>: SharedRef,
{
    fn rows(&self) -> Vec<Row<P, P>> {
        let row = |(key, value)| Row {
            key: None,
            value: Some(value),
            owned: Some(key),
        };
        self.iter().map(row).collect()
    }

    fn put(&mut self, rows: impl Iterator<Item = Row<P, P>>) {
        for row in rows {
            self.extend(row.owned.zip(row.value.as_ref()));
        }
    }

    fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        self.retain(|key, value| keep(Entry::of(true, key, value)));
    }
}

impl<K: SharedRef, V: SharedRef> Shape for WeakPairMap<K, V> {
    const BY_CONTENT: bool = false;
    const WEAK_VALUES: bool = true;
    const OWNS: bool = false;
    const SHARED: bool = true;
}

impl<P: Kind, V: Kind> Subject<P, V> for WeakPairMap<Key<P>, Key<V>>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
    Item: Identify<Key<P>>,
{
    map!(
        by_identity, V,
        key: |key, _owned| key,
        value: |_owned, weak| weak.expect("a map takes a value"),
        |map, at, value| {
            put: map.insert(at, value).is_none(),
            swap: map.insert(at, value).is_none(),
            pair: (at, value),
            made: |make| map.get_or_insert_with(at, |_| make()),
        },
        |map, query| {
            shown: {
                let (key, value) = map.get_key_value(query)?;
                Some(Found::entry(Entry::of(false, &key, &value)))
            },
            taken: map.remove(query),
        },
        |removed| removed.is_some(),
    );
}

impl<P: Kind, V: Kind> Snapshots<P, V> for WeakPairMap<Key<P>, Key<V>>
where
    Key<P>: SharedRef,
    Key<V>: SharedRef,
    Item: Identify<Key<P>>,
{
    fn rows(&self) -> Vec<Row<P, V>> {
        let row = |(key, value)| Row {
            value: Some(value),
            ..Row::element(key)
        };
        self.iter().map(row).collect()
    }

    fn put(&mut self, rows: impl Iterator<Item = Row<P, V>>) {
        for row in rows {
            self.extend(row.key.as_ref().zip(row.value.as_ref()));
        }
    }

    fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        self.retain(|key, value| keep(Entry::of(false, key, value)));
    }
}
