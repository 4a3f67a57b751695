//! The methods of all maps, of one owner and shared: removals, lookups and lists.

use std::cell::Cell;

use super::super::entry::Part;

/// A condition that notes what it is shown, and is met, if that is wanted, by what was shown before.
pub fn shows<V: Part>(shown: &Cell<Option<usize>>, wanted: bool) -> impl Fn(&V) -> bool {
    move |value| {
        let again = shown.replace(Some(value.id())) == Some(value.id());
        wanted && again
    }
}

/// What `remove_if` returns: the value, or whether there was one.
pub trait Gone {
    fn is(&self, shown: Option<usize>) -> bool;
}

impl Gone for bool {
    fn is(&self, shown: Option<usize>) -> bool {
        *self == shown.is_some()
    }
}

impl<V: Part> Gone for Option<V> {
    fn is(&self, shown: Option<usize>) -> bool {
        self.as_ref().map(Part::id) == shown
    }
}

/// The entry of two sides.
macro_rules! entry {
    ($key:expr, $value:expr) => {
        Entry::of(Self::BY_CONTENT, $key, $value)
    };
}

/// The entries that a map shows when it is asked by a value.
macro_rules! asked_by_value {
    ($values:ty) => {
        fn entries_of(&self, value: &Key<$values>) -> Option<Vec<Entry>> {
            let keys = self.keys_of(value);
            Some(keys.map(|key| entry!(&key, value)).collect())
        }
    };
}

/// The iterators that change values, where a map owns them.
macro_rules! mutable {
    ($map:ident, $how:ident, $list:ident) => {
        match $how {
            List::IterMut => {
                let entries = $map.iter_mut().map(|(key, value)| entry!(&key, &*value));
                entries.eq($list.iter().copied())
            }
            List::ValuesMut => {
                let values = $list.iter().filter_map(Self::value_of);
                values.eq($map.values_mut().map(|value| value.id))
            }
            _ => true,
        }
    };
}

/// Where there are none.
macro_rules! immutable {
    ($map:ident, $how:ident, $list:ident) => {
        true
    };
}

/// `$by` is the kind of lookup; `$index` one more lookup of what is there, and `$occupied` one more removal, of a `$borrow` of the map. `$upgraded`
/// is an entry of weak iteration, upgraded; `$iterators` are more of these; `$pin` keeps an entry alive.
macro_rules! map {
    (
        $by:ident, $values:ty, $iterators:ident,
        index: |$map:ident, $query:ident| $index:expr,
        occupied: |$from:ident, $how:ident, $key:ident| [$($borrow:tt)*] $occupied:expr,
        weak: |$weak:pat_param| $upgraded:expr,
        pin: |$side:pat_param| $pin:expr $(,)?
    ) => {
        fn remove(&mut self, $how: Remove, $key: &Key<P>) -> Option<Option<usize>> {
            let $from = $($borrow)* self;
            let value = match $how {
                Remove::Value(by) => $by!(by, $key, $from, |query| $from.remove(query))?.id,
                Remove::Entry(by) => {
                    let (found, value) = $by!(@only [Plain Addr] by, $key, $from, |query| $from.remove_entry(query))?;
                    assert!(found.content == $key.content);
                    value.id
                }
                Remove::If(by) => {
                    let shown = Cell::new(None);
                    for wanted in [false, true] {
                        let removed = $by!(@only [Strong Plain] by, $key, $from, |query| $from
                            .remove_if(query, shows(&shown, wanted)));
                        assert!(removed.is(shown.get().filter(|_| wanted)));
                    }
                    shown.get()?
                }
                Remove::Occupied | Remove::OccupiedEntry => {
                    $occupied
                }
            };
            Some(Some(value))
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            match how {
                Find::Get(by) => {
                    $by!(by, key, self, |query| Some(Found::value(self.get(query)?.id)))
                }
                Find::Contains(by) => $by!(@only [Strong Weak] by, key, self, |query| self
                    .contains_key(query)
                    .then(Found::default)),
                Find::KeyValue(by) => $by!(@only [Plain Addr] by, key, self, |query| {
                    let (key, value) = self.get_key_value(query)?;
                    Some(Found::entry(entry!(&key, &value)))
                }),
                Find::Index(by) => $by!(@only [Strong] by, key, self, |query| self
                    .contains_key(query)
                    .then(|| {
                        let ($map, $query) = (self, query);
                        Found::value($index.id)
                    })),
            }
        }

        $by!(@beside contains_key, |map, content| {
            let (key, value) = map.get_key_value(content)?;
            Some(Found::entry(entry!(&key, &value)))
        });

        fn list(&mut self, how: List) -> Vec<Entry> {
            let entries = self.iter().map(|(key, value)| entry!(&key, &value));
            let list: Vec<_> = entries.collect();
            let keys = list.iter().filter_map(|entry| entry.weak_key.or(entry.owned));
            let values = list.iter().filter_map(Self::value_of);
            assert!(match how {
                List::Keys => keys.eq(self.keys().map(|key| key.id)),
                List::Values => values.eq(self.values().map(|value| value.id)),
                List::Weak => {
                    let weak = self.iter_weak().map(|$weak| $upgraded);
                    weak.map(|(key, value)| entry!(&key, &value))
                        .eq(list.iter().copied())
                }
                List::Iter | List::IterMut | List::ValuesMut => $iterators!(self, how, list),
            });
            list
        }

        fn pins(&self) -> Vec<Pin<P, $values>> {
            self.iter().map(|$side| $pin).collect()
        }
    };
}

pub(super) use {asked_by_value, entry, immutable, map, mutable};
