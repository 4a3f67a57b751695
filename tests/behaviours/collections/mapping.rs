//! The maps, as maps from numbers to numbers: keys and values are objects that the test keeps alive.

use std::ops::Deref;

use weakly::{
    StrongRef, weak_hash_map, weak_hash_pair_map, weak_map, weak_pair_map, weak_value_map,
};

use super::*;

/// A map. A key is given by its object, whatever the map makes of it; a value is given by an object, and
/// returned as its number.
pub(crate) trait Mapping: Changing {
    fn insert(&mut self, key: &Key<Self::Kind>, value: &Key<Self::Kind>) -> Option<usize>;
    fn get(&self, key: &Key<Self::Kind>) -> Option<usize>;
    fn get_key_value(&self, key: &Key<Self::Kind>) -> Option<(usize, usize)>;
    fn contains_key(&self, key: &Key<Self::Kind>) -> bool;
    /// The number of the value if there is one, or the text of the error.
    fn try_insert(
        &mut self,
        key: &Key<Self::Kind>,
        value: &Key<Self::Kind>,
    ) -> Result<(), (usize, String)>;
    fn remove(&mut self, key: &Key<Self::Kind>) -> Option<usize>;
    fn remove_entry(&mut self, key: &Key<Self::Kind>) -> Option<(usize, usize)>;
    /// `wanted` is shown the number of the value.
    fn remove_if(
        &mut self,
        key: &Key<Self::Kind>,
        wanted: impl FnOnce(usize) -> bool,
    ) -> Option<usize>;
    fn get_or_insert(&mut self, key: &Key<Self::Kind>, value: &Key<Self::Kind>) -> usize;
    fn get_or_insert_with<'v>(
        &mut self,
        key: &Key<Self::Kind>,
        make: impl FnOnce() -> &'v Key<Self::Kind>,
    ) -> usize;
    fn try_get_or_insert_with<'v, E>(
        &mut self,
        key: &Key<Self::Kind>,
        make: impl FnOnce() -> Result<&'v Key<Self::Kind>, E>,
    ) -> Result<usize, E>;
    fn entry_or_insert(&mut self, key: &Key<Self::Kind>, value: &Key<Self::Kind>) -> usize;
    fn entry_or_insert_with<'v>(
        &mut self,
        key: &Key<Self::Kind>,
        make: impl FnOnce() -> &'v Key<Self::Kind>,
    ) -> usize;
    /// The value of an occupied entry.
    fn entry_look(&mut self, key: &Key<Self::Kind>) -> Option<usize>;
    /// Inserts by the entry, occupied or vacant.
    fn entry_insert(&mut self, key: &Key<Self::Kind>, value: &Key<Self::Kind>) -> Option<usize>;
    /// Inserts by the entry, and returns what the entry shows then, and what it removes: key and value.
    fn entry_insert_entry(
        &mut self,
        key: &Key<Self::Kind>,
        value: &Key<Self::Kind>,
        removes: bool,
    ) -> [(usize, usize); 2];
    /// Removes by the entry, if it is occupied; returns the number of the given key, and the value's.
    fn entry_remove(&mut self, key: &Key<Self::Kind>) -> Option<(usize, usize)>;
    /// The value that `and_modify` shows.
    fn entry_modify(&mut self, key: &Key<Self::Kind>) -> Option<usize>;

    /// A map of these pairs.
    fn map<'a>(
        pairs: impl IntoIterator<Item = (&'a Key<Self::Kind>, &'a Key<Self::Kind>)>,
    ) -> Self {
        let mut map = Self::default();
        for (key, value) in pairs {
            map.insert(key, value);
        }
        map
    }
}

/// The number of a key or a value, however it comes.
trait Numbered {
    fn number(&self) -> usize;
}

impl Numbered for Owned {
    fn number(&self) -> usize {
        self.number
    }
}

impl<K: StrongRef + Deref<Target = usize>> Numbered for K {
    fn number(&self) -> usize {
        **self
    }
}

/// `$key` is the expression for a key that the map keeps, `$name` for one that it looks up; `$value` is that for
/// a value by name, `$made` for one that it is given.
macro_rules! mappings {
    ($($name:ident, $entries:ident, |$k:ident| $key:expr, $by:expr, |$v:ident| $value:expr, $made:expr;)*) => {$(
        impl<P: Kind> Mapping for $name<P>
        where
            Key<P>: PartialEq,
        {
            fn insert(&mut self, $k: &Key<P>, $v: &Key<P>) -> Option<usize> {
                self.inner.insert($key, $value).map(|old| old.number())
            }
            fn get(&self, $k: &Key<P>) -> Option<usize> {
                self.inner.get($by).map(|value| value.number())
            }
            fn get_key_value(&self, $k: &Key<P>) -> Option<(usize, usize)> {
                let found = self.inner.get_key_value($by);
                found.map(|(key, value)| (key.number(), value.number()))
            }
            fn contains_key(&self, $k: &Key<P>) -> bool {
                self.inner.contains_key($by)
            }
            fn try_insert(&mut self, $k: &Key<P>, $v: &Key<P>) -> Result<(), (usize, String)> {
                match self.inner.try_insert($key, $value) {
                    Ok(_) => Ok(()),
                    Err(error) => Err((error.entry.get().number(), error.to_string())),
                }
            }
            fn remove(&mut self, $k: &Key<P>) -> Option<usize> {
                self.inner.remove($by).map(|value| value.number())
            }
            fn remove_entry(&mut self, $k: &Key<P>) -> Option<(usize, usize)> {
                let removed = self.inner.remove_entry($by);
                removed.map(|(key, value)| (key.number(), value.number()))
            }
            fn remove_if(
                &mut self,
                $k: &Key<P>,
                wanted: impl FnOnce(usize) -> bool,
            ) -> Option<usize> {
                let removed = self.inner.remove_if($by, |value| wanted(value.number()));
                removed.map(|value| value.number())
            }
            fn get_or_insert(&mut self, $k: &Key<P>, $v: &Key<P>) -> usize {
                self.inner.get_or_insert($key, $made).number()
            }
            fn get_or_insert_with<'v>(&mut self, $k: &Key<P>, make: impl FnOnce() -> &'v Key<P>) -> usize {
                self.inner
                    .get_or_insert_with($key, |_| {
                        let $v = make();
                        $made
                    })
                    .number()
            }
            fn try_get_or_insert_with<'v, E>(
                &mut self,
                $k: &Key<P>,
                make: impl FnOnce() -> Result<&'v Key<P>, E>,
            ) -> Result<usize, E> {
                let value = self.inner.try_get_or_insert_with($key, |_| make().map(|$v| $made));
                value.map(|value| value.number())
            }
            fn entry_or_insert(&mut self, $k: &Key<P>, $v: &Key<P>) -> usize {
                self.inner.entry($key).or_insert($made).number()
            }
            fn entry_or_insert_with<'v>(&mut self, $k: &Key<P>, make: impl FnOnce() -> &'v Key<P>) -> usize {
                let value = self.inner.entry($key).or_insert_with(|| {
                    let $v = make();
                    $made
                });
                value.number()
            }
            fn entry_look(&mut self, $k: &Key<P>) -> Option<usize> {
                match self.inner.entry($key) {
                    $entries::Entry::Occupied(entry) => Some(entry.get().number()),
                    $entries::Entry::Vacant(entry) => {
                        assert_eq!(entry.key().number(), **$k);
                        None
                    }
                }
            }
            #[allow(unused_mut)] // of an owned value
            fn entry_insert(&mut self, $k: &Key<P>, $v: &Key<P>) -> Option<usize> {
                match self.inner.entry($key) {
                    $entries::Entry::Occupied(mut entry) => Some(entry.insert($value).number()),
                    $entries::Entry::Vacant(entry) => {
                        entry.insert($value);
                        None
                    }
                }
            }
            fn entry_insert_entry(
                &mut self,
                $k: &Key<P>,
                $v: &Key<P>,
                removes: bool,
            ) -> [(usize, usize); 2] {
                let entry = self.inner.entry($key).insert_entry($made);
                let shown = (entry.key().number(), entry.get().number());
                if !removes {
                    return [shown; 2];
                }
                let (key, value) = entry.remove_entry();
                [shown, (key.number(), value.number())]
            }
            fn entry_remove(&mut self, $k: &Key<P>) -> Option<(usize, usize)> {
                match self.inner.entry($key) {
                    $entries::Entry::Occupied(entry) => {
                        let (key, value) = entry.remove_entry();
                        Some((key.number(), value.number()))
                    }
                    $entries::Entry::Vacant(_) => None,
                }
            }
            fn entry_modify(&mut self, $k: &Key<P>) -> Option<usize> {
                let mut shown = None;
                let _entry = self.inner.entry($key).and_modify(|value| shown = Some(value.number()));
                shown
            }
        }
    )*};
}

mappings! {
    Maps, weak_map, |key| key, key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    HashMaps, weak_hash_map, |key| key, &**key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    ValueMaps, weak_value_map, |key| Owned::new(**key, &quietly()), &**key,
        |value| value, value.clone();
    PairsByKey, weak_pair_map, |key| key, key, |value| value, value.clone();
    HashPairsByKey, weak_hash_pair_map, |key| key, &**key, |value| value, value.clone();
}
