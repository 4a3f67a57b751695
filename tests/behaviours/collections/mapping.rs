//! The maps, as maps from numbers to numbers: keys and values are objects that the test keeps alive.

use std::ops::Deref;

use super::*;

/// A map. A key is given by its object, whatever the map makes of it; a value is given by an object, and
/// returned as its number.
pub(crate) trait Mapping: Changing {
    fn insert(&mut self, key: &Handle, value: &Handle) -> Option<usize>;
    fn get(&self, key: &Handle) -> Option<usize>;
    /// `wanted` is shown the number of the value.
    fn remove_if(&mut self, key: &Handle, wanted: &mut dyn FnMut(usize) -> bool) -> Option<usize>;
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
    fn entry_or_insert_with<'v>(
        &mut self,
        key: &Handle,
        make: &mut dyn FnMut() -> &'v Handle,
    ) -> usize;
}

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
    ($($name:ident $(.$field:ident)?, |$k:ident| $key:expr, $by:expr, |$v:ident| $value:expr, $made:expr;)*) => {$(
        impl<K: Known> Mapping for $name<K> {
            fn insert(&mut self, $k: &Handle, $v: &Handle) -> Option<usize> {
                self$(.$field)?.insert($key, $value).map(|old| old.number())
            }
            fn get(&self, $k: &Handle) -> Option<usize> {
                self$(.$field)?.get($by).map(|value| value.number())
            }
            fn remove_if(
                &mut self,
                $k: &Handle,
                wanted: &mut dyn FnMut(usize) -> bool,
            ) -> Option<usize> {
                let removed = self$(.$field)?.remove_if($by, |value| wanted(value.number()));
                removed.map(|value| value.number())
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
            fn entry_or_insert_with<'v>(&mut self, $k: &Handle, make: &mut dyn FnMut() -> &'v Handle) -> usize {
                let value = self$(.$field)?.entry($key).or_insert_with(|| {
                    let $v = make();
                    $made
                });
                value.number()
            }
        }
    )*};
}

mappings! {
    Maps, |key| K::known(key), K::known(key),
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    HashMaps, |key| K::known(key), &**key,
        |value| Owned::new(**value, &quietly()), Owned::new(**value, &quietly());
    ValueMaps, |key| Owned::new(**key, &quietly()), &**key,
        |value| K::known(value), K::known(value).clone();
    PairsByKey.all, |key| K::known(key), K::known(key),
        |value| K::known(value), K::known(value).clone();
    HashPairsByKey.all, |key| K::known(key), &**key,
        |value| K::known(value), K::known(value).clone();
}
