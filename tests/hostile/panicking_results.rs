//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::cell::RefCell;
use std::mem;
use std::rc::Rc;

use crate::common::custom::{self, Code, Custom};
use crate::common::subject::Owned;
use crate::common::subject::single::{Ends, HashPairsTwice, ValueMaps, quietly};
use crate::common::{panics, quiet_panic};
use weakly::collections::weak_value_map;
use weakly::local::Strong;

type Object = Strong<Custom>;

thread_local! {
    /// Dropped by the next comparison. The table then has the last handle to an object.
    static LAST: RefCell<Option<Object>> = const { RefCell::new(None) };
}

/// All have the same hash.
struct Killing;

impl Code for Killing {
    fn hash(&self, _: &Custom) -> usize {
        0
    }

    fn eq(&self, one: &Custom, other: &Custom) -> bool {
        drop(LAST.take());
        one.number == other.number
    }
}

fn content() -> Custom {
    Custom::with(&Killing, 0, 0)
}

/// Panics when it is dropped.
fn armed() -> Custom {
    content().and_ends(|_| quiet_panic())
}

fn with(token: &Rc<()>) -> Custom {
    let token = token.clone();
    content().and_ends(move |_| _ = &token)
}

fn armed_owned() -> Owned<Ends, Custom> {
    let end: Ends = Rc::new(|_| {
        quiet_panic();
    });
    custom::owned(0, &end)
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
type Occupied<'a> = weak_value_map::OccupiedEntry<'a, Owned<Ends, Custom>, Object>;

/// 182: The value that an operation returns, when a key panics that it removes or does not need.
#[test]
fn values_of_owned_keys() {
    let (token, new) = (Rc::new(()), Strong::new(Custom::new(0)));
    let quiet = || custom::owned(0, &quietly());
    let mut leaks = Vec::new();
    let mut check = |name, stored: Owned<Ends, Custom>, act: &dyn Fn(&mut Values)| {
        let value = Strong::new(with(&token));
        let mut map = Values::from([(stored, &value)]);
        assert!(panics(|| act(&mut map)), "{name}");
        drop(value);
        if Rc::strong_count(&token) > 1 + leaks.len() {
            leaks.push(name);
        }
    };
    check("remove", armed_owned(), &|map| {
        drop(map.remove(&Custom::new(0)));
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
