//! The maps, as maps from numbers to numbers: keys and values are objects that the test keeps alive.

use std::ops::Deref;

use weakly::collections::entry::{Entry, WeakEntry};

use super::*;

/// A map. A key is given by its object, whatever the map makes of it; a value is given by an object, and
/// returned as its number.
pub(crate) trait Mapping: Changing {
    fn insert(&mut self, key: &Handle, value: &Handle) -> Option<usize>;
    fn get(&self, key: &Handle) -> Option<usize>;
    fn get_key_value(&self, key: &Handle) -> Option<(usize, usize)>;
    fn contains_key(&self, key: &Handle) -> bool;
    /// The number of the value if there is one, or the text of the error.
    fn try_insert(&mut self, key: &Handle, value: &Handle) -> Result<(), (usize, String)>;
    fn remove(&mut self, key: &Handle) -> Option<usize>;
    fn remove_entry(&mut self, key: &Handle) -> Option<(usize, usize)>;
    /// `wanted` is shown the number of the value.
    fn remove_if(&mut self, key: &Handle, wanted: &mut dyn FnMut(usize) -> bool) -> Option<usize>;
    fn get_or_insert(&mut self, key: &Handle, value: &Handle) -> usize;
    fn get_or_insert_with<'v>(
        &mut self,
        key: &Handle,
        make: &mut dyn FnMut() -> &'v Handle,
    ) -> usize;
    fn try_get_or_insert_with<'v>(
        &mut self,
        key: &Handle,
        make: &mut dyn FnMut() -> Result<&'v Handle, &'static str>,
    ) -> Result<usize, &'static str>;
    fn entry_or_insert(&mut self, key: &Handle, value: &Handle) -> usize;
    fn entry_or_insert_with<'v>(
        &mut self,
        key: &Handle,
        make: &mut dyn FnMut() -> &'v Handle,
    ) -> usize;
    /// The value of an occupied entry.
    fn entry_look(&mut self, key: &Handle) -> Option<usize>;
    /// Inserts by the entry, occupied or vacant.
    fn entry_insert(&mut self, key: &Handle, value: &Handle) -> Option<usize>;
    /// Inserts by the entry, and returns what the entry shows then, and what it removes: key and value.
    fn entry_insert_entry(
        &mut self,
        key: &Handle,
        value: &Handle,
        removes: bool,
    ) -> [(usize, usize); 2];
    /// Removes by the entry, if it is occupied; returns the number of the given key, and the value's.
    fn entry_remove(&mut self, key: &Handle) -> Option<(usize, usize)>;
    /// The value that `and_modify` shows.
    fn entry_modify(&mut self, key: &Handle) -> Option<usize>;

    /// By its `Clone`.
    fn copy_map(&self) -> Box<dyn Mapping>;
}

copied!(Mapping::copy_map);

impl Kit<dyn Mapping> {
    /// A map of these pairs.
    pub(crate) fn map<'a>(
        self,
        pairs: impl IntoIterator<Item = (&'a Handle, &'a Handle)>,
    ) -> Box<dyn Mapping> {
        let mut map = self.empty();
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
        impl<K: Known> Mapping for $name<K> {
            fn insert(&mut self, $k: &Handle, $v: &Handle) -> Option<usize> {
                self$(.$field)?.insert($key, $value).map(|old| old.number())
            }
            fn get(&self, $k: &Handle) -> Option<usize> {
                self$(.$field)?.get($by).map(|value| value.number())
            }
            fn get_key_value(&self, $k: &Handle) -> Option<(usize, usize)> {
                let found = self$(.$field)?.get_key_value($by);
                found.map(|(key, value)| (key.number(), value.number()))
            }
            fn contains_key(&self, $k: &Handle) -> bool {
                self$(.$field)?.contains_key($by)
            }
            fn try_insert(&mut self, $k: &Handle, $v: &Handle) -> Result<(), (usize, String)> {
                match self$(.$field)?.try_insert($key, $value) {
                    Ok(_) => Ok(()),
                    Err(error) => Err((error.entry.get().number(), error.to_string())),
                }
            }
            fn remove(&mut self, $k: &Handle) -> Option<usize> {
                self$(.$field)?.remove($by).map(|value| value.number())
            }
            fn remove_entry(&mut self, $k: &Handle) -> Option<(usize, usize)> {
                let removed = self$(.$field)?.remove_entry($by);
                removed.map(|(key, value)| (key.number(), value.number()))
            }
            fn remove_if(
                &mut self,
                $k: &Handle,
                wanted: &mut dyn FnMut(usize) -> bool,
            ) -> Option<usize> {
                let removed = self$(.$field)?.remove_if($by, |value| wanted(value.number()));
                removed.map(|value| value.number())
            }
            fn get_or_insert(&mut self, $k: &Handle, $v: &Handle) -> usize {
                self$(.$field)?.get_or_insert($key, $made).number()
            }
            fn get_or_insert_with<'v>(&mut self, $k: &Handle, make: &mut dyn FnMut() -> &'v Handle) -> usize {
                self$(.$field)?
                    .get_or_insert_with($key, |_| {
                        let $v = make();
                        $made
                    })
                    .number()
            }
            fn try_get_or_insert_with<'v>(
                &mut self,
                $k: &Handle,
                make: &mut dyn FnMut() -> Result<&'v Handle, &'static str>,
            ) -> Result<usize, &'static str> {
                let value = self$(.$field)?.try_get_or_insert_with($key, |_| make().map(|$v| $made));
                value.map(|value| value.number())
            }
            fn entry_or_insert(&mut self, $k: &Handle, $v: &Handle) -> usize {
                self$(.$field)?.entry($key).or_insert($made).number()
            }
            fn entry_or_insert_with<'v>(&mut self, $k: &Handle, make: &mut dyn FnMut() -> &'v Handle) -> usize {
                let value = self$(.$field)?.entry($key).or_insert_with(|| {
                    let $v = make();
                    $made
                });
                value.number()
            }
            fn entry_look(&mut self, $k: &Handle) -> Option<usize> {
                match self$(.$field)?.entry($key) {
                    $entries::Occupied(entry) => Some(entry.get().number()),
                    $entries::Vacant(entry) => {
                        assert_eq!(entry.key().number(), **$k);
                        None
                    }
                }
            }
            #[allow(unused_mut)] // of an owned value
            fn entry_insert(&mut self, $k: &Handle, $v: &Handle) -> Option<usize> {
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
                $k: &Handle,
                $v: &Handle,
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
            fn entry_remove(&mut self, $k: &Handle) -> Option<(usize, usize)> {
                match self$(.$field)?.entry($key) {
                    $entries::Occupied(entry) => {
                        let (key, value) = entry.remove_entry();
                        Some((key.number(), value.number()))
                    }
                    $entries::Vacant(_) => None,
                }
            }
            fn entry_modify(&mut self, $k: &Handle) -> Option<usize> {
                let mut shown = None;
                let _entry = self$(.$field)?.entry($key).and_modify(|value| shown = Some(value.number()));
                shown
            }
            fn copy_map(&self) -> Box<dyn Mapping> {
                Box::new(self.clone())
            }
        }
    )*};
}

mappings! {
    Maps, Entry, |key| K::known(key), K::known(key),
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    HashMaps, Entry, |key| K::known(key), &**key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    ValueMaps, WeakEntry, |key| Owned::new(**key, &quietly()), &**key,
        |value| K::known(value), K::known(value).clone();
    PairsByKey.all, WeakEntry, |key| K::known(key), K::known(key),
        |value| K::known(value), K::known(value).clone();
    HashPairsByKey.all, WeakEntry, |key| K::known(key), &**key,
        |value| K::known(value), K::known(value).clone();
}
