//! The methods of all maps: lookups, removals, and those over all the entries.

/// The entry of two sides.
macro_rules! entry {
    ($key:expr, $value:expr) => {
        Entry::of(Self::BY_CONTENT, $key, $value)
    };
}

/// `$by` is the kind of lookup, `$Entry` the type of the entry interface; `$given` turns a key into the argument
/// that takes; `$index` is the lookup that panics.
macro_rules! map {
    ($by:ident, $Entry:ident, |$key:ident| $given:expr, |$map:ident, $query:ident| $index:expr) => {
        fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
            let value = match how {
                Remove::Value(by) => $by!(by, key, |query| self.remove(query))?.id,
                Remove::Entry(by) => {
                    let (found, value) = $by!(by, key, |query| self.remove_entry(query))?;
                    assert!(found.content == key.content);
                    value.id
                }
                Remove::If(by) => {
                    let mut shown = None;
                    let refused = $by!(by, key, |query| self.remove_if(query, |value| {
                        shown = Some(value.id);
                        false
                    }));
                    assert!(refused.is_none());
                    let value = $by!(by, key, |query| self.remove_if(query, |_| true));
                    let id = value.map(|value| value.id);
                    assert_eq!(id, shown);
                    id?
                }
                Remove::Occupied | Remove::OccupiedEntry => {
                    let $key = key;
                    match (self.entry($given), how) {
                        ($Entry::Vacant(_), _) => return None,
                        ($Entry::Occupied(entry), Remove::Occupied) => entry.remove().id,
                        ($Entry::Occupied(entry), _) => {
                            let (given, value) = entry.remove_entry();
                            assert!(given.content == key.content);
                            value.id
                        }
                    }
                }
            };
            Some(Some(value))
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            $by!(how.by(), key, |query| match how {
                Find::Get(_) => Some(Found::value(self.get(query)?.id)),
                Find::Contains(_) => self.contains_key(query).then(Found::default),
                Find::KeyValue(_) => {
                    let (key, value) = self.get_key_value(query)?;
                    Some(Found::entry(entry!(&key, &value)))
                }
                Find::Index(_) => self.contains_key(query).then(|| {
                    let $map = self;
                    let $query = query;
                    Found::value($index.id)
                }),
            })
        }

        $by!(@beside contains_key, |map, content| {
            let (key, value) = map.get_key_value(content)?;
            Some(Found::entry(entry!(&key, &value)))
        });

        fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
            let mut list = Vec::new();
            let mut keep = |entry: Entry| {
                list.push(entry);
                wanted(entry.key)
            };
            match how {
                Keep::Retain => self.retain(|key, value| keep(entry!(key, &*value))),
                Keep::ExtractIf => self
                    .extract_if(|key, value| !keep(entry!(key, &*value)))
                    .for_each(drop),
                Keep::ExtractOne => {
                    let mut out = self.extract_if(|key, value| !keep(entry!(key, &*value)));
                    drop(out.next());
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
            match how {
                Take::Drop => None,
                Take::IntoKeys => {
                    let keys = self.into_keys();
                    Some(
                        keys.map(|key| Entry::element(Self::BY_CONTENT, &key).key)
                            .collect(),
                    )
                }
                Take::IntoValues => Some(self.into_values().map(|value| value.id).collect()),
            }
        }

        copies!();
        memory!();
    };
}

pub(super) use {entry, map};
