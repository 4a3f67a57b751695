//! The sets, and the interner.

use std::borrow::Borrow;
use std::mem::take;

use super::super::entry::Entry;
use super::super::hasher::Hashing;
use super::super::routes::{By, Find, Insert, Keep, List, Over, Remove, Take};
use super::super::subject::{Found, Inserted, New, Pin, Shape, Subject};
use super::super::world::{Content, Item, Key};
use super::{by_content, by_handle, by_hash, by_identity, copies, memory};
use crate::common::subject::Memory;
use crate::common::{Kind, downgrade, forget};
use weakly::{
    Addr, Interner, WeakHashSet, WeakSet,
    reference::{Identify, StrongRef, WeakKey, WeakRef},
};

macro_rules! element {
    ($key:expr) => {
        Entry::element(Self::BY_CONTENT, $key)
    };
}

/// `$by` is the kind of lookup.
macro_rules! set {
    ($by:ident) => {
        fn fills(_: Insert) -> bool {
            true
        }

        fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
            let removed = match how {
                Remove::Value(by) | Remove::If(by) => $by!(by, key, self, |query| self.remove(query)),
                Remove::Entry(by) => match $by!(@only [Plain Addr] by, key, self, |query| self.take(query)) {
                    Some(found) => found.content == key.content,
                    None => false,
                },
                Remove::Occupied | Remove::OccupiedEntry => {
                    let by = By::Strong;
                    $by!(by, key, self, |query| self.remove(query))
                }
            };
            removed.then_some(None)
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            match how {
                Find::KeyValue(by) => $by!(@only [Plain Addr] by, key, self, |query| {
                    let found = self.get(query)?;
                    Some(Found::entry(Entry::element(Self::BY_CONTENT, &found)))
                }),
                _ => $by!(how.by(), key, self, |query| self.contains(query).then(Found::default)),
            }
        }

        $by!(@beside contains, |set, content| Some(Found::entry(element!(&set.get(content)?))));

        fn list(&mut self, how: List) -> Vec<Entry> {
            let list: Vec<_> = self.iter().map(|key| element!(&key)).collect();
            if how == List::Weak {
                let weak = self.iter_weak().map(|weak| weak.upgrade().unwrap().id);
                assert!(weak.eq(list.iter().map(|entry| entry.weak_key.unwrap())));
            }
            list
        }

        fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry> {
            let mut list = Vec::new();
            let mut keep = |key: &Key<P>| {
                let entry = element!(key);
                list.push(entry);
                wanted(entry.key)
            };
            match how {
                Keep::Retain => self.retain(keep),
                Keep::ExtractIf | Keep::ExtractOne => {
                    let mut out = self.extract_if(|key| !keep(key));
                    while out.next().is_some() && how == Keep::ExtractIf {}
                }
                Keep::Drain => {
                    let kept: Vec<_> = self.drain().filter(keep).collect();
                    self.extend(kept);
                }
                Keep::Forget => {
                    let mut drain = self.drain();
                    drain.next().map(|key| keep(&key));
                    forget(drain);
                }
                Keep::IntoIter => *self = take(self).into_iter().filter(keep).collect(),
            }
            list
        }

        fn pop(&mut self) -> Option<Entry> {
            self.pop().map(|key| element!(&key))
        }

        fn absorb(&mut self, other: &Self) {
            self.extend(other);
        }

        fn algebra(&self, other: &Self) -> Option<[Vec<usize>; 4]> {
            let keys = |set: Self| set.iter().map(|key| element!(&key).key).collect();
            Some([
                keys(self | other),
                keys(self & other),
                keys(self - other),
                keys(self ^ other),
            ])
        }

        fn pins(&self) -> Vec<Pin<P, P>> {
            self.iter().map(|key| (Some(key), None)).collect()
        }

        fn end(self, how: Take) -> Option<Vec<usize>> {
            match how {
                Take::IntoKeys => Some(self.into_iter().map(|key| element!(&key).key).collect()),
                _ => None,
            }
        }

        copies!();
        memory!();
    };
}

impl<K: StrongRef> Shape for WeakSet<K> {
    const BY_CONTENT: bool = false;
    const OWNS: bool = false;
}

impl<P: Kind> Subject<P> for WeakSet<Key<P>>
where
    Item: Identify<Key<P>>,
{
    fn over(_: Insert) -> Over {
        Over::Stays
    }

    fn insert(&mut self, how: Insert, key: &Key<P>, _: New<'_, Key<P>>) -> Inserted<Key<P>> {
        match how {
            Insert::ExtendOwned => self.extend([key.clone()]),
            Insert::ExtendBorrowed => self.extend([key]),
            _ => return Inserted::new(self.insert(key)),
        }
        Inserted::nothing()
    }

    set!(by_identity);
}

impl<K: StrongRef, S> Shape for WeakHashSet<K, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = false;
}

impl<P: Kind, S: Hashing> Subject<P> for WeakHashSet<Key<P>, S> {
    fn over(how: Insert) -> Over {
        match how {
            Insert::InsertEntry | Insert::ByVariant => Over::Moves,
            _ => Over::Stays,
        }
    }

    fn insert(&mut self, how: Insert, key: &Key<P>, _: New<'_, Key<P>>) -> Inserted<Key<P>> {
        match how {
            Insert::ExtendOwned => self.extend([key.clone()]),
            Insert::ExtendBorrowed => self.extend([key]),
            Insert::InsertEntry | Insert::ByVariant => match self.replace(key) {
                Some(old) => {
                    assert!(old.content == key.content);
                    return Inserted::new(false);
                }
                None => return Inserted::new(true),
            },
            _ => return Inserted::new(self.insert(key)),
        }
        Inserted::nothing()
    }

    set!(by_content);
}

/// What an interner of one owner does, and one that threads share. What it gives out is put into the owners' places: so its
/// handles come and go as those of the others.
macro_rules! interner {
    () => {
        fn over(_: Insert) -> Over {
            Over::Stays
        }

        fn fills(_: Insert) -> bool {
            true
        }

        fn insert(&mut self, how: Insert, key: &Key<P>, _: New<'_, Key<P>>) -> Inserted<Key<P>> {
            let one = match how {
                Insert::Insert | Insert::OrInsert | Insert::ExtendOwned => self.intern(key.clone()),
                Insert::TryInsert | Insert::GetOrInsert | Insert::InsertEntry => {
                    self.intern(Item::new(key.content.clone(), None))
                }
                Insert::OrInsertWith => {
                    self.intern_with(&key.content, |content| Item::new(content.clone(), None))
                }
                Insert::GetOrInsertWith => {
                    let number = key.content.number;
                    let hashed = by_hash(self.hasher().hash_one(number), number);
                    self.intern_with(&hashed, |_| Item::new(key.content.clone(), None))
                }
                _ => self.intern_ref(&key.content),
            };
            assert!(one.content == key.content);
            Inserted {
                handle: Some(one),
                ..Inserted::nothing()
            }
        }

        fn remove(&mut self, _: Remove, _: &Key<P>) -> Option<Option<usize>> {
            unreachable!("nothing is taken out")
        }

        fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
            let found = by_content!(how.by(), key, self, |query| self.get(query))?;
            Some(Found::entry(Entry::element(true, &found)))
        }

        fn find_content(&self, content: usize) -> Option<Found> {
            let (found, twin) = (self.get(&content), self.get(&by_handle(content)));
            assert_eq!(found.is_some(), twin.is_some());
            let found = found?;
            Some(Found::entry(Entry::element(true, &found)))
        }
    };
}

#[cfg(feature = "std")]
pub(super) use interner;

impl<K: StrongRef, S> Shape for Interner<K, S> {
    const BY_CONTENT: bool = true;
    const OWNS: bool = false;
    const OPEN: bool = false;
}

impl<P: Kind, S: Hashing> Subject<P> for Interner<Key<P>, S>
where
    Key<P>: Borrow<Item> + for<'a> From<&'a Content>,
{
    interner!();

    fn list(&mut self, _: List) -> Vec<Entry> {
        self.iter().map(|key| element!(&key)).collect()
    }

    fn keep(&mut self, _: Keep, _: impl Fn(usize) -> bool) -> Vec<Entry> {
        unreachable!("nothing is taken out")
    }

    fn pop(&mut self) -> Option<Entry> {
        unreachable!("nothing is taken out")
    }

    fn absorb(&mut self, other: &Self) {
        for handle in other.iter() {
            _ = self.intern(handle);
        }
    }

    fn copy(&self) -> Self {
        let mut copy = Self::default();
        Subject::<P>::absorb(&mut copy, self);
        copy
    }

    fn equals(&self, other: &Self) -> bool {
        let there = |key: Key<P>| other.get(&key.content).is_some();
        self.iter().all(there) && self.len_live() == other.len_live()
    }

    fn pins(&self) -> Vec<Pin<P, P>> {
        self.iter().map(|key| (Some(key), None)).collect()
    }

    fn end(self, _: Take) -> Option<Vec<usize>> {
        None
    }

    memory!();
}
