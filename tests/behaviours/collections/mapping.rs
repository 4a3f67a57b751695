//! The maps, as maps from numbers to numbers: keys and values are objects that the test keeps alive.

use std::ops::Deref;

use weakly::collections::entry::{Entry, WeakEntry};

use super::*;

/// A map. A key is given by its object, whatever the map makes of it; a value is given by an object, and
/// returned as its number.
pub(crate) trait Mapping: Changing {
    fn insert(&mut self, key: &Self::Life, value: &Self::Life) -> Option<usize>;
    fn get(&self, key: &Self::Life) -> Option<usize>;
    fn get_key_value(&self, key: &Self::Life) -> Option<(usize, usize)>;
    fn contains_key(&self, key: &Self::Life) -> bool;
    /// The number of the value if there is one, or the text of the error.
    fn try_insert(&mut self, key: &Self::Life, value: &Self::Life) -> Result<(), (usize, String)>;
    fn remove(&mut self, key: &Self::Life) -> Option<usize>;
    fn remove_entry(&mut self, key: &Self::Life) -> Option<(usize, usize)>;
    /// `wanted` is shown the number of the value.
    fn remove_if(&mut self, key: &Self::Life, wanted: impl FnOnce(usize) -> bool) -> Option<usize>;
    fn get_or_insert(&mut self, key: &Self::Life, value: &Self::Life) -> usize;
    fn get_or_insert_with<'v>(
        &mut self,
        key: &Self::Life,
        make: impl FnOnce() -> &'v Self::Life,
    ) -> usize;
    fn try_get_or_insert_with<'v, E>(
        &mut self,
        key: &Self::Life,
        make: impl FnOnce() -> Result<&'v Self::Life, E>,
    ) -> Result<usize, E>;
    fn entry_or_insert(&mut self, key: &Self::Life, value: &Self::Life) -> usize;
    fn entry_or_insert_with<'v>(
        &mut self,
        key: &Self::Life,
        make: impl FnOnce() -> &'v Self::Life,
    ) -> usize;
    /// The value of an occupied entry.
    fn entry_look(&mut self, key: &Self::Life) -> Option<usize>;
    /// Inserts by the entry, occupied or vacant.
    fn entry_insert(&mut self, key: &Self::Life, value: &Self::Life) -> Option<usize>;
    /// Inserts by the entry, and returns what the entry shows then, and what it removes: key and value.
    fn entry_insert_entry(
        &mut self,
        key: &Self::Life,
        value: &Self::Life,
        removes: bool,
    ) -> [(usize, usize); 2];
    /// Removes by the entry, if it is occupied; returns the number of the given key, and the value's.
    fn entry_remove(&mut self, key: &Self::Life) -> Option<(usize, usize)>;
    /// The value that `and_modify` shows.
    fn entry_modify(&mut self, key: &Self::Life) -> Option<usize>;

    /// A map of these pairs.
    fn map<'a>(pairs: impl IntoIterator<Item = (&'a Self::Life, &'a Self::Life)>) -> Self {
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

impl<L: Deref<Target = usize>> Numbered for L {
    fn number(&self) -> usize {
        **self
    }
}

/// `$key` is the expression for a key that the map keeps, `$name` for one that it looks up; `$value` is that for
/// a value by name, `$made` for one that it is given.
macro_rules! mappings {
    ($($name:ident $(.$field:ident)?, $entries:ident, |$k:ident| $key:expr, $by:expr, |$v:ident| $value:expr, $made:expr;)*) => {$(
        impl<K: Life> Mapping for $name<K> {
            fn insert(&mut self, $k: &K, $v: &K) -> Option<usize> {
                self$(.$field)?.insert($key, $value).map(|old| old.number())
            }
            fn get(&self, $k: &K) -> Option<usize> {
                self$(.$field)?.get($by).map(|value| value.number())
            }
            fn get_key_value(&self, $k: &K) -> Option<(usize, usize)> {
                let found = self$(.$field)?.get_key_value($by);
                found.map(|(key, value)| (key.number(), value.number()))
            }
            fn contains_key(&self, $k: &K) -> bool {
                self$(.$field)?.contains_key($by)
            }
            fn try_insert(&mut self, $k: &K, $v: &K) -> Result<(), (usize, String)> {
                match self$(.$field)?.try_insert($key, $value) {
                    Ok(_) => Ok(()),
                    Err(error) => Err((error.entry.get().number(), error.to_string())),
                }
            }
            fn remove(&mut self, $k: &K) -> Option<usize> {
                self$(.$field)?.remove($by).map(|value| value.number())
            }
            fn remove_entry(&mut self, $k: &K) -> Option<(usize, usize)> {
                let removed = self$(.$field)?.remove_entry($by);
                removed.map(|(key, value)| (key.number(), value.number()))
            }
            fn remove_if(
                &mut self,
                $k: &K,
                wanted: impl FnOnce(usize) -> bool,
            ) -> Option<usize> {
                let removed = self$(.$field)?.remove_if($by, |value| wanted(value.number()));
                removed.map(|value| value.number())
            }
            fn get_or_insert(&mut self, $k: &K, $v: &K) -> usize {
                self$(.$field)?.get_or_insert($key, $made).number()
            }
            fn get_or_insert_with<'v>(&mut self, $k: &K, make: impl FnOnce() -> &'v K) -> usize {
                self$(.$field)?
                    .get_or_insert_with($key, |_| {
                        let $v = make();
                        $made
                    })
                    .number()
            }
            fn try_get_or_insert_with<'v, E>(
                &mut self,
                $k: &K,
                make: impl FnOnce() -> Result<&'v K, E>,
            ) -> Result<usize, E> {
                let value = self$(.$field)?.try_get_or_insert_with($key, |_| make().map(|$v| $made));
                value.map(|value| value.number())
            }
            fn entry_or_insert(&mut self, $k: &K, $v: &K) -> usize {
                self$(.$field)?.entry($key).or_insert($made).number()
            }
            fn entry_or_insert_with<'v>(&mut self, $k: &K, make: impl FnOnce() -> &'v K) -> usize {
                let value = self$(.$field)?.entry($key).or_insert_with(|| {
                    let $v = make();
                    $made
                });
                value.number()
            }
            fn entry_look(&mut self, $k: &K) -> Option<usize> {
                match self$(.$field)?.entry($key) {
                    $entries::Occupied(entry) => Some(entry.get().number()),
                    $entries::Vacant(entry) => {
                        assert_eq!(entry.key().number(), **$k);
                        None
                    }
                }
            }
            #[allow(unused_mut)] // of an owned value
            fn entry_insert(&mut self, $k: &K, $v: &K) -> Option<usize> {
                match self$(.$field)?.entry($key) {
                    $entries::Occupied(mut entry) => Some(entry.insert($value).number()),
                    $entries::Vacant(entry) => {
                        entry.insert($value);
                        None
                    }
                }
            }
            fn entry_insert_entry(
                &mut self,
                $k: &K,
                $v: &K,
                removes: bool,
            ) -> [(usize, usize); 2] {
                let entry = self$(.$field)?.entry($key).insert_entry($made);
                let shown = (entry.key().number(), entry.get().number());
                if !removes {
                    return [shown; 2];
                }
                let (key, value) = entry.remove_entry();
                [shown, (key.number(), value.number())]
            }
            fn entry_remove(&mut self, $k: &K) -> Option<(usize, usize)> {
                match self$(.$field)?.entry($key) {
                    $entries::Occupied(entry) => {
                        let (key, value) = entry.remove_entry();
                        Some((key.number(), value.number()))
                    }
                    $entries::Vacant(_) => None,
                }
            }
            fn entry_modify(&mut self, $k: &K) -> Option<usize> {
                let mut shown = None;
                let _entry = self$(.$field)?.entry($key).and_modify(|value| shown = Some(value.number()));
                shown
            }
        }
    )*};
}

mappings! {
    Maps, Entry, |key| key, key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    HashMaps, Entry, |key| key, &**key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    ValueMaps, WeakEntry, |key| Owned::new(**key, &quietly()), &**key,
        |value| value, value.clone();
    PairsByKey.all, WeakEntry, |key| key, key, |value| value, value.clone();
    HashPairsByKey.all, WeakEntry, |key| key, &**key, |value| value, value.clone();
}
