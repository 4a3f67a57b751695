//! What a script can do to a collection. The methods about values do not apply to sets.

use std::any::Any;
use std::mem::take;

use super::entry::Entry;
use super::routes::{Change, Find, Insert, Keep, List, Over, Remove, Take};
use super::world::{Key, Value};
use crate::common::Kind;
use crate::common::subject::{Memory, Upkeep};
use weakly::reference::WeakKey;

/// What the entries of a collection are.
pub trait Shape {
    const BY_CONTENT: bool;
    const WEAK_KEYS: bool = true;
    const WEAK_VALUES: bool = false;
    /// Whether an entry owns something: its key, or its value.
    const OWNS: bool;
    /// Whether entries can be removed, and changed.
    const OPEN: bool = true;
    /// Whether threads can share it. Then to change a value is to replace the entry, reads sweep for dead keys that do
    /// not notify, and capacity is not shown.
    const SHARED: bool = false;
    /// Whether `len` counts the dead until they are reclaimed.
    const COUNTS_DEAD: bool = false;

    /// The number of an entry's value, if it has one.
    fn value_of(entry: &Entry) -> Option<usize> {
        entry.owned.filter(|_| Self::WEAK_KEYS).or(entry.weak_value)
    }
}

/// The same of a collection whose type is not known.
#[derive(Clone, Copy)]
pub struct Form {
    pub by_content: bool,
    pub weak_keys: bool,
    pub weak_values: bool,
    pub owns: bool,
    pub open: bool,
    pub shared: bool,
    pub counts_dead: bool,
}

impl Form {
    fn of<S: Shape>() -> Self {
        Form {
            by_content: S::BY_CONTENT,
            weak_keys: S::WEAK_KEYS,
            weak_values: S::WEAK_VALUES,
            owns: S::OWNS,
            open: S::OPEN,
            shared: S::SHARED,
            counts_dead: S::COUNTS_DEAD,
        }
    }

    /// The number of an entry's value, if it has one.
    pub fn value_of(self, entry: &Entry) -> Option<usize> {
        entry.owned.filter(|_| self.weak_keys).or(entry.weak_value)
    }
}

/// A collection in a script; `P` and `V` are the kinds of its keys and of its values. (An owned side has no kind
/// of its own, and takes that of the other.)
pub trait Subject<P: Kind, V: Kind = P>: Shape + Upkeep + Default + 'static {
    fn over(how: Insert) -> Over {
        match how {
            Insert::AndModify if !Self::WEAK_VALUES => Over::Changes,
            Insert::Insert
            | Insert::InsertEntry
            | Insert::ExtendOwned
            | Insert::ExtendBorrowed
            | Insert::ByVariant => {
                if Self::WEAK_KEYS {
                    Over::Moves
                } else {
                    Over::Changes
                }
            }
            _ => Over::Stays,
        }
    }

    /// Whether there is an entry afterwards.
    fn fills(how: Insert) -> bool {
        how != Insert::Fail
    }

    fn insert(&mut self, how: Insert, key: &Key<P>, new: New<'_, Key<V>>) -> Inserted<Key<P>>;
    /// Returns whether the key was there, and which value it had.
    fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>>;
    fn find(&self, how: Find, key: &Key<P>) -> Option<Found>;
    /// By an expired handle or another, where keys are by identity.
    fn find_weak(&self, _: &<Key<P> as WeakKey>::Weak) -> Option<bool> {
        None
    }
    /// By borrowed content, where keys are by content.
    fn find_content(&self, _: usize) -> Option<Found> {
        None
    }
    /// Those with this value, if it can be asked for them.
    fn entries_of(&self, _: &Key<V>) -> Option<Vec<Entry>> {
        None
    }
    fn list(&mut self, how: List) -> Vec<Entry>;
    /// Returns the entries it has seen.
    fn keep(&mut self, how: Keep, wanted: impl Fn(usize) -> bool) -> Vec<Entry>;
    fn change(&mut self, _: Change, _: &Key<P>, _old: usize, _: Value) {
        unreachable!("only of owned values")
    }
    fn pop(&mut self) -> Option<Entry>;
    /// Drops up to `limit` of what the dead own; returns how many. If they own nothing, drains all.
    fn drain_dead(&mut self, _limit: usize) -> usize {
        let dead = self.pending_dead();
        self.purge();
        dead
    }
    /// All the live entries of another.
    fn absorb(&mut self, other: &Self);
    fn copy(&self) -> Self;
    fn equals(&self, other: &Self) -> bool;
    /// Union, intersection, difference and symmetric difference, by key, if it has these.
    fn algebra(&self, _: &Self) -> Option<[Vec<usize>; 4]> {
        None
    }
    /// Handles that keep all live entries alive.
    fn pins(&self) -> Vec<Pin<P, V>>;
    /// The keys, or the numbers of the values.
    fn end(self, how: Take) -> Option<Vec<usize>>;
    /// If it is of one owner, and so shows its memory.
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        None
    }
}

/// A collection of any type: the scripts are compiled for each kind of pointer, and not for each collection.
pub trait Face<P: Kind, V: Kind>: Upkeep {
    fn form(&self) -> Form;
    /// Another, empty one.
    fn fresh(&self) -> Box<dyn Face<P, V>>;
    fn as_any(&self) -> &dyn Any;
    fn over(&self, how: Insert) -> Over;
    fn fills(&self, how: Insert) -> bool;
    fn insert(&mut self, how: Insert, key: &Key<P>, new: New<'_, Key<V>>) -> Inserted<Key<P>>;
    fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>>;
    fn find(&self, how: Find, key: &Key<P>) -> Option<Found>;
    fn find_weak(&self, key: &<Key<P> as WeakKey>::Weak) -> Option<bool>;
    fn find_content(&self, content: usize) -> Option<Found>;
    fn entries_of(&self, value: &Key<V>) -> Option<Vec<Entry>>;
    fn list(&mut self, how: List) -> Vec<Entry>;
    fn keep(&mut self, how: Keep, wanted: &dyn Fn(usize) -> bool) -> Vec<Entry>;
    fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value);
    fn pop(&mut self) -> Option<Entry>;
    fn drain_dead(&mut self, limit: usize) -> usize;
    /// These take another of the same type.
    fn absorb(&mut self, other: &dyn Face<P, V>);
    fn equals(&self, other: &dyn Face<P, V>) -> bool;
    fn algebra(&self, other: &dyn Face<P, V>) -> Option<[Vec<usize>; 4]>;
    fn copy(&self) -> Box<dyn Face<P, V>>;
    fn pins(&self) -> Vec<Pin<P, V>>;
    /// Leaves an empty one.
    fn end(&mut self, how: Take) -> Option<Vec<usize>>;
    fn memory(&mut self) -> Option<&mut dyn Memory>;
}

fn same<P: Kind, V: Kind, S: 'static>(other: &dyn Face<P, V>) -> &S {
    let other = other.as_any().downcast_ref();
    other.expect("both are of one type")
}

impl<P: Kind, V: Kind, S: Subject<P, V>> Face<P, V> for S {
    fn form(&self) -> Form {
        Form::of::<S>()
    }
    fn fresh(&self) -> Box<dyn Face<P, V>> {
        Box::new(S::default())
    }
    fn as_any(&self) -> &dyn Any {
        self
    }
    fn over(&self, how: Insert) -> Over {
        S::over(how)
    }
    fn fills(&self, how: Insert) -> bool {
        S::fills(how)
    }
    fn insert(&mut self, how: Insert, key: &Key<P>, new: New<'_, Key<V>>) -> Inserted<Key<P>> {
        Subject::insert(self, how, key, new)
    }
    fn remove(&mut self, how: Remove, key: &Key<P>) -> Option<Option<usize>> {
        Subject::remove(self, how, key)
    }
    fn find(&self, how: Find, key: &Key<P>) -> Option<Found> {
        Subject::find(self, how, key)
    }
    fn find_weak(&self, key: &<Key<P> as WeakKey>::Weak) -> Option<bool> {
        Subject::find_weak(self, key)
    }
    fn find_content(&self, content: usize) -> Option<Found> {
        Subject::find_content(self, content)
    }
    fn entries_of(&self, value: &Key<V>) -> Option<Vec<Entry>> {
        Subject::entries_of(self, value)
    }
    fn list(&mut self, how: List) -> Vec<Entry> {
        Subject::list(self, how)
    }
    fn keep(&mut self, how: Keep, wanted: &dyn Fn(usize) -> bool) -> Vec<Entry> {
        Subject::keep(self, how, wanted)
    }
    fn change(&mut self, how: Change, key: &Key<P>, old: usize, new: Value) {
        Subject::change(self, how, key, old, new);
    }
    fn pop(&mut self) -> Option<Entry> {
        Subject::pop(self)
    }
    fn drain_dead(&mut self, limit: usize) -> usize {
        Subject::drain_dead(self, limit)
    }
    fn absorb(&mut self, other: &dyn Face<P, V>) {
        Subject::absorb(self, same(other));
    }
    fn equals(&self, other: &dyn Face<P, V>) -> bool {
        Subject::equals(self, same(other))
    }
    fn algebra(&self, other: &dyn Face<P, V>) -> Option<[Vec<usize>; 4]> {
        Subject::algebra(self, same(other))
    }
    fn copy(&self) -> Box<dyn Face<P, V>> {
        Box::new(Subject::copy(self))
    }
    fn pins(&self) -> Vec<Pin<P, V>> {
        Subject::pins(self)
    }
    fn end(&mut self, how: Take) -> Option<Vec<usize>> {
        take(self).end(how)
    }
    fn memory(&mut self) -> Option<&mut dyn Memory> {
        Subject::memory(self)
    }
}

/// Strong handles of an entry's weak sides.
pub type Pin<P, V> = (Option<Key<P>>, Option<Key<V>>);

/// What is inserted with a key: the value to own, and the one not to own.
pub struct New<'a, V> {
    pub owned: Option<Value>,
    pub weak: Option<&'a V>,
}

/// What an insert returns, as far as the route does.
pub struct Inserted<K> {
    /// Whether the key is new.
    pub new: Option<bool>,
    /// The number of the value that the key has now.
    pub value: Option<usize>,
    /// The handle to use.
    pub handle: Option<K>,
}

impl<K> Inserted<K> {
    pub fn new(new: bool) -> Self {
        Inserted {
            new: Some(new),
            ..Inserted::nothing()
        }
    }

    pub fn value(value: usize) -> Self {
        Inserted {
            value: Some(value),
            ..Inserted::nothing()
        }
    }

    pub fn nothing() -> Self {
        Inserted {
            new: None,
            value: None,
            handle: None,
        }
    }
}

/// What a lookup returns, as far as the route does.
#[derive(Default)]
pub struct Found {
    pub value: Option<usize>,
    pub entry: Option<Entry>,
}

impl Found {
    pub fn value(value: usize) -> Self {
        Found {
            value: Some(value),
            entry: None,
        }
    }

    pub fn entry(entry: Entry) -> Self {
        Found {
            value: None,
            entry: Some(entry),
        }
    }
}
