//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use crate::common::subject::Owned;
use crate::common::subject::single::{
    Ends, HashMaps, HashPairsTwice, Maps, PairsTwice, ValueMaps, quietly,
};
use crate::common::wild::{self, Code, Wild};
use crate::common::{panics, quiet_panic};
use weakly::local::Strong;
use weakly::{Interner, collections::weak_value_map};

type Object = Strong<Wild>;

thread_local! {
    /// Dropped by the next comparison. The table then has the last handle to an object.
    static LAST: RefCell<Option<Object>> = const { RefCell::new(None) };
}

/// All have the same hash.
struct Killing;

impl Code for Killing {
    fn hash(&self, _: &Wild) -> usize {
        0
    }

    fn eq(&self, one: &Wild, other: &Wild) -> bool {
        drop(LAST.take());
        one.number == other.number
    }
}

fn content() -> Wild {
    Wild::with(&Killing, 0, 0)
}

/// Panics when it is dropped.
fn armed() -> Wild {
    content().and_ends(|_| quiet_panic())
}

fn with(token: &Rc<()>) -> Wild {
    let token = token.clone();
    content().and_ends(move |_| _ = &token)
}

/// As the value of a weak key, or the key of a weak value.
fn owned(token: &Rc<()>) -> Owned<Ends, Wild> {
    let token = token.clone();
    wild::owned(0, &(Rc::new(move |_| _ = &token) as Ends))
}

fn armed_owned() -> Owned<Ends, Wild> {
    let end: Ends = Rc::new(|_| {
        quiet_panic();
    });
    wild::owned(0, &end)
}

/// Panics; and then nothing but what the test itself has is left of the token.
fn panics_and_leaks_nothing<R>(token: &Rc<()>, act: impl FnOnce() -> R) {
    assert!(panics(|| drop(act())));
    assert_eq!(Rc::strong_count(token), 1);
}

/// A map with one key, armed, which dies in the next comparison.
fn map_of_a_dying_key(token: &Rc<()>) -> HashMaps<Object> {
    let key = Strong::new(armed());
    let map = HashMaps::from([(&key, owned(token))]);
    LAST.set(Some(key));
    map
}

/// 182: The value that is removed, when its key dies in the lookup.
#[test]
fn removed_values_of_keys_that_die() {
    let token = Rc::new(());
    let mut map = map_of_a_dying_key(&token);
    panics_and_leaks_nothing(&token, || map.remove(&content()));
    assert!(map.is_empty());
}

/// 182: The value that is replaced, when its key dies in the lookup.
#[test]
fn replaced_values_of_keys_that_die() {
    let token = Rc::new(());
    let mut map = map_of_a_dying_key(&token);
    let new = Strong::new(content());
    panics_and_leaks_nothing(&token, || map.insert(&new, owned(&Rc::default())));
    assert_eq!(map.len(), 1);
}

/// 182: The value that a place keeps alive, when its key dies in the lookup.
#[test]
fn places_of_keys_that_die() {
    let [new, other] = [content(), content()].map(Strong::new);
    type Pairs = HashPairsTwice<Object>;
    let check = |name, act: &dyn Fn(&mut Pairs)| {
        let [key, value] = [armed(), content()].map(Strong::new);
        let mut map = Pairs::from([(&key, &value)]);
        LAST.set(Some(key));
        assert!(panics(|| act(&mut map)), "{name}");
        assert_eq!(Strong::strong_count(&value), 1, "{name}");
    };
    check("get", &|map| drop(map.get(&content())));
    check("remove", &|map| drop(map.remove(&content())));
    check("remove_if", &|map| {
        drop(map.remove_if(&content(), |_| true))
    });
    check("insert", &|map| drop(map.insert(&new, &other)));
    check("entry", &|map| drop(map.entry(&new)));
    check("try_insert", &|map| drop(map.try_insert(&new, &other)));
    check("get_or_insert", &|map| {
        drop(map.get_or_insert(&new, other.clone()))
    });
}

type Values = ValueMaps<Object>;
type Occupied<'a> = weak_value_map::OccupiedEntry<'a, Owned<Ends, Wild>, Object>;

/// 182: The value that an operation returns, when a key panics that it removes or does not need.
#[test]
fn values_of_owned_keys() {
    let (token, new) = (Rc::new(()), Strong::new(Wild::new(0)));
    let quiet = || wild::owned(0, &quietly());
    let mut leaks = Vec::new();
    let mut check = |name, stored: Owned<Ends, Wild>, act: &dyn Fn(&mut Values)| {
        let value = Strong::new(with(&token));
        let mut map = Values::from([(stored, &value)]);
        assert!(panics(|| act(&mut map)), "{name}");
        drop(value);
        if Rc::strong_count(&token) > 1 + leaks.len() {
            leaks.push(name);
        }
    };
    check("remove", armed_owned(), &|map| {
        drop(map.remove(&Wild::new(0)));
    });
    check("into_values", armed_owned(), &|map| {
        mem::take(map).into_values().for_each(drop);
    });
    check("insert", quiet(), &|map| {
        drop(map.insert(armed_owned(), &new));
    });
    check("get_or_insert", quiet(), &|map| {
        drop(map.get_or_insert(armed_owned(), new.clone()));
    });
    check("try_get_or_insert_with", quiet(), &|map| {
        let made = || -> Result<_, ()> { Ok(new.clone()) };
        drop(map.try_get_or_insert_with(armed_owned(), |_| made()));
    });
    let mut entry = |name, act: &dyn Fn(Occupied<'_>) -> Object| {
        check(name, quiet(), &|map| match map.entry(armed_owned()) {
            weak_value_map::Entry::Occupied(entry) => drop(act(entry)),
            weak_value_map::Entry::Vacant(_) => unreachable!(),
        });
    };
    entry("entry.remove", &|entry| entry.remove());
    entry("entry.into_value", &|entry| entry.into_value());
    entry("entry.insert", &|entry| entry.insert(&new));
    assert!(leaks.is_empty(), "{leaks:?}");
}

/// 182: The error of a maker, when the key panics.
#[test]
fn errors_of_makers() {
    let token = Rc::new(());
    let mut map = Values::new();
    panics_and_leaks_nothing(&token, || {
        map.try_get_or_insert_with(armed_owned(), |_| Err(token.clone()))
    });
}

/// 182: The value that is found, when the one that would have been inserted panics.
#[test]
fn values_that_are_not_needed() {
    let (token, key) = (Rc::new(()), Strong::new(Wild::new(1)));
    let value = Strong::new(with(&token));
    let mut map = PairsTwice::from([(&key, &value)]);
    assert!(panics(|| drop(
        map.get_or_insert(&key, Strong::new(armed()))
    )));
    drop(value);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// 182: The keys of a map, when a value panics.
#[test]
fn keys_of_values_that_panic() {
    let token = Rc::new(());
    let key = Strong::new(with(&token));
    let map = Maps::from([(&key, armed_owned())]);
    assert!(panics(|| map.into_keys().for_each(drop)));
    drop(key);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// Converts into a handle to what it borrows as, and panics when it is dropped instead.
struct Source(Option<Wild>);

impl Borrow<Wild> for Source {
    fn borrow(&self) -> &Wild {
        self.0.as_ref().expect("it is taken by the conversion")
    }
}

impl From<Source> for Object {
    fn from(source: Source) -> Self {
        let mut source = source;
        let content = source.0.take().expect("it is taken once");
        Strong::new(content)
    }
}

impl Drop for Source {
    fn drop(&mut self) {
        if self.0.is_some() {
            quiet_panic();
        }
    }
}

/// 182: The handle that an interner returns, when the value that it does not need panics.
#[test]
fn interned_handles() {
    let token = Rc::new(());
    let mut interner = Interner::<Object>::new();
    let handle = interner.intern(with(&token));
    assert!(panics(|| drop(interner.intern(Source(Some(content()))))));
    drop(handle);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// 182: The handle that is made, when one of equal hash and other content dies in the comparison.
#[test]
fn interned_handles_beside_one_that_dies() {
    let token = Rc::new(());
    let mut interner = Interner::<Object>::new();
    let other = interner.intern(Wild::with(&Killing, 1, 0).and_ends(|_| quiet_panic()));
    // The interner looks twice: before it makes a handle, and then for its place. It is to die the second time.
    struct Late(Wild, RefCell<Option<Object>>);
    impl Borrow<Wild> for Late {
        fn borrow(&self) -> &Wild {
            &self.0
        }
    }
    impl From<Late> for Object {
        fn from(late: Late) -> Self {
            LAST.set(late.1.take());
            Strong::new(late.0)
        }
    }
    let late = Late(with(&token), RefCell::new(Some(other)));
    panics_and_leaks_nothing(&token, || interner.intern(late));
}
