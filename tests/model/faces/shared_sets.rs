//! The sets that threads share, and the interner, on one thread.

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Content, Item, Key};
use super::sets::interner;
use super::snapshots::{Row, Snapshots, by_snapshots, listed};
use super::{by_content, by_handle, by_hash, by_identity};
use crate::common::{Kind, downgrade};
use std::borrow::Borrow;
use weakly::concurrent::{Interner, SharedRef, WeakHashSet, WeakSet};
use weakly::{
    Addr,
    reference::{Identify, WeakKey},
};

/// Of a set: `$take` removes an element and returns it, where a set does.
macro_rules! set {
    ($by:ident, |$set:ident, $key:ident| replace: $replace:expr, |$from:ident, $query:ident| take: $take:expr, get: $get:expr) => {
        fn over(how: Insert) -> Over {
            match how {
                Insert::InsertEntry | Insert::ByVariant if Self::BY_CONTENT => Over::Moves,
                _ => Over::Stays,
            }
        }

        fn fills(_: Insert) -> bool {
            true
        }

        fn insert(&mut self, how: Insert, $key: &Key<P>, _: New<'_, Key<P>>) -> Inserted<Key<P>> {
            if matches!(how, Insert::ExtendOwned | Insert::ExtendBorrowed) {
                self.extend([$key]);
                return Inserted::nothing();
            }
            let $set = &*self;
            match how {
                Insert::InsertEntry | Insert::ByVariant => Inserted::new($replace),
                _ => Inserted::new($set.insert($key)),
            }
        }

        fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
            let $from = &*self;
            let removed = match how {
                Remove::Value(by) | Remove::If(by) => $by!(by, key, $from, |query| $from.remove(query)),
                Remove::Entry(by) => $by!(@only [Plain Addr] by, key, $from, |$query| $take),
                Remove::Occupied | Remove::OccupiedEntry => {
                    let (is_its, mut was) = (Entry::element(Self::BY_CONTENT, key).key, false);
                    Snapshots::<P>::retain_entries(self, |entry| {
                        was |= entry.key == is_its;
                        entry.key != is_its
                    });
                    was
                }
            };
            removed.then_some(None)
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            let $from = self;
            match how {
                Find::KeyValue(by) => $by!(@only [Plain Addr] by, key, $from, |$query| $get),
                _ => $by!(how.by(), key, $from, |$query| $from.contains($query).then(Found::default)),
            }
        }

        $by!(@beside contains, |$from, $query| $get);

        listed!(P);
        by_snapshots!(P);
    };
}

macro_rules! elements {
    (|$set:ident, $keys:ident| $put:expr) => {
        fn rows(&self) -> Vec<Row<P, P>> {
            self.iter().map(Row::element).collect()
        }

        fn put(&mut self, rows: impl Iterator<Item = Row<P, P>>) {
            let $set = self;
            let $keys = rows.filter_map(|row| row.key);
            $put
        }
    };
}

impl<K: SharedRef> Shape for WeakSet<K> {
    const BY_CONTENT: bool = false;
    const OWNS: bool = false;
    const SHARED: bool = true;
}

impl<P: Kind> Subject<P> for WeakSet<Key<P>>
where
    Key<P>: SharedRef,
    Item: Identify<Key<P>>,
{
    set!(
        by_identity,
        |set, key| replace: set.insert(key),
        |set, query| take: set.remove(query), get: set.contains(query).then(Found::default)
    );
}

impl<P: Kind> Snapshots<P> for WeakSet<Key<P>>
where
    Key<P>: SharedRef,
    Item: Identify<Key<P>>,
{
    elements!(|set, keys| set.extend(&keys.collect::<Vec<_>>()));

    fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        self.retain(|key| keep(Entry::element(false, key)));
    }
}

impl<K: SharedRef, S> Shape for WeakHashSet<K, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = false;
    const SHARED: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakHashSet<Key<P>, S>
where
    Key<P>: SharedRef,
{
    set!(
        by_content,
        |set, key| replace: match set.replace(key) {
            Some(old) => {
                assert!(old.content == key.content);
                false
            }
            None => true,
        },
        |set, query| take: set.take(query).is_some(), get: {
            let found = set.get(query)?;
            Some(Found::entry(Entry::element(true, &found)))
        }
    );
}

impl<P: Kind, S: Hashing> Snapshots<P> for WeakHashSet<Key<P>, S>
where
    Key<P>: SharedRef,
{
    elements!(|set, keys| set.extend(&keys.collect::<Vec<_>>()));

    fn retain_entries(&mut self, mut keep: impl FnMut(Entry) -> bool) {
        self.retain(|key| keep(Entry::element(true, key)));
    }
}

impl<K: SharedRef, S> Shape for Interner<K, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = false;
    const OPEN: bool = false;
    const SHARED: bool = true;
}

impl<P: Kind, S: Hashing> Subject<P> for Interner<Key<P>, S>
where
    Key<P>: SharedRef + Borrow<Item> + for<'a> From<&'a Content>,
{
    interner!();
    listed!(P);
    by_snapshots!(P);
}

impl<P: Kind, S: Hashing> Snapshots<P> for Interner<Key<P>, S>
where
    Key<P>: SharedRef + Borrow<Item> + for<'a> From<&'a Content>,
{
    elements!(|interner, keys| keys.for_each(|key| drop(interner.intern(key))));

    fn retain_entries(&mut self, _: impl FnMut(Entry) -> bool) {
        unreachable!("nothing is taken out")
    }
}
