//! What an operation returns when a destructor panics at its end: it is dropped, not leaked.

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::hash::{Hash, Hasher};
use std::mem;
use std::rc::Rc;

use crate::common::{panics, quiet_panic};
use weakly::local::Strong;
use weakly::{
    Interner, WeakHashMap, WeakHashPairMap, WeakMap, WeakPairMap, WeakValueMap,
    collections::weak_value_map,
};

thread_local! {
    /// Dropped by the next comparison. The table then has the last handle to an object.
    static LAST: RefCell<Option<Strong<Content>>> = const { RefCell::new(None) };
}

/// All have the same hash, and are equal except for those that differ. Those that are armed panic when they are
/// dropped.
#[derive(Default)]
struct Content {
    armed: Cell<bool>,
    differs: bool,
    token: Option<Rc<()>>,
}

impl Content {
    fn armed() -> Self {
        let content = Content::default();
        content.armed.set(true);
        content
    }

    fn with(token: &Rc<()>) -> Self {
        let mut content = Content::default();
        content.token = Some(token.clone());
        content
    }
}

impl PartialEq for Content {
    fn eq(&self, other: &Self) -> bool {
        drop(LAST.take());
        !self.differs && !other.differs
    }
}

impl Eq for Content {}

impl Hash for Content {
    fn hash<H: Hasher>(&self, _: &mut H) {}
}

impl Drop for Content {
    fn drop(&mut self) {
        if self.armed.get() {
            quiet_panic();
        }
    }
}

/// Panics; and then nothing but what the test itself has is left of the token.
fn panics_and_leaks_nothing<R>(token: &Rc<()>, act: impl FnOnce() -> R) {
    assert!(panics(|| drop(act())));
    assert_eq!(Rc::strong_count(token), 1);
}

/// A map with one key, armed, which dies in the next comparison.
fn map_of_a_dying_key(token: &Rc<()>) -> WeakHashMap<Strong<Content>, Rc<()>> {
    let key = Strong::new(Content::armed());
    let map = WeakHashMap::from([(&key, token.clone())]);
    LAST.set(Some(key));
    map
}

/// 182: The value that is removed, when its key dies in the lookup.
#[test]
fn removed_values_of_keys_that_die() {
    let token = Rc::new(());
    let mut map = map_of_a_dying_key(&token);
    panics_and_leaks_nothing(&token, || map.remove(&Content::default()));
    assert!(map.is_empty());
}

/// 182: The value that is replaced, when its key dies in the lookup.
#[test]
fn replaced_values_of_keys_that_die() {
    let token = Rc::new(());
    let mut map = map_of_a_dying_key(&token);
    let new = Strong::new(Content::default());
    panics_and_leaks_nothing(&token, || map.insert(&new, Rc::default()));
    assert_eq!(map.len(), 1);
}

/// 182: The value that a place keeps alive, when its key dies in the lookup.
#[test]
fn places_of_keys_that_die() {
    let token = Rc::new(());
    let new = Strong::new(Content::default());
    let other = Strong::new(Rc::default());
    type Pairs = WeakHashPairMap<Strong<Content>, Strong<Rc<()>>>;
    let check = |name, act: &dyn Fn(&mut Pairs)| {
        let (key, value) = (Strong::new(Content::armed()), Strong::new(token.clone()));
        let mut map = Pairs::from([(&key, &value)]);
        LAST.set(Some(key));
        assert!(panics(|| act(&mut map)), "{name}");
        assert_eq!(Strong::strong_count(&value), 1, "{name}");
    };
    check("get", &|map| drop(map.get(&Content::default())));
    check("remove", &|map| drop(map.remove(&Content::default())));
    check("remove_if", &|map| {
        drop(map.remove_if(&Content::default(), |_| true))
    });
    check("insert", &|map| drop(map.insert(&new, &other)));
    check("entry", &|map| drop(map.entry(&new)));
    check("try_insert", &|map| drop(map.try_insert(&new, &other)));
    check("get_or_insert", &|map| {
        drop(map.get_or_insert(&new, other.clone()))
    });
}

type Values = WeakValueMap<Content, Strong<Rc<()>>>;
type Occupied<'a> = weak_value_map::OccupiedEntry<'a, Content, Strong<Rc<()>>>;

/// 182: The value that an operation returns, when a key panics that it removes or does not need.
#[test]
fn values_of_owned_keys() {
    let (token, new) = (Rc::new(()), Strong::new(Rc::default()));
    let mut leaks = Vec::new();
    let mut check = |name, stored: Content, act: &dyn Fn(&mut Values)| {
        let value = Strong::new(token.clone());
        let mut map = Values::from([(stored, &value)]);
        assert!(panics(|| act(&mut map)), "{name}");
        drop(value);
        if Rc::strong_count(&token) > 1 + leaks.len() {
            leaks.push(name);
        }
    };
    check("remove", Content::armed(), &|map| {
        drop(map.remove(&Content::default()));
    });
    check("into_values", Content::armed(), &|map| {
        mem::take(map).into_values().for_each(drop);
    });
    check("insert", Content::default(), &|map| {
        drop(map.insert(Content::armed(), &new));
    });
    check("get_or_insert", Content::default(), &|map| {
        drop(map.get_or_insert(Content::armed(), new.clone()));
    });
    check("try_get_or_insert_with", Content::default(), &|map| {
        let made = || -> Result<_, ()> { Ok(new.clone()) };
        drop(map.try_get_or_insert_with(Content::armed(), |_| made()));
    });
    let mut entry = |name, act: &dyn Fn(Occupied<'_>) -> Strong<Rc<()>>| {
        check(
            name,
            Content::default(),
            &|map| match map.entry(Content::armed()) {
                weak_value_map::Entry::Occupied(entry) => drop(act(entry)),
                weak_value_map::Entry::Vacant(_) => unreachable!(),
            },
        );
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
    let mut map = WeakValueMap::<_, Strong<()>>::new();
    panics_and_leaks_nothing(&token, || {
        map.try_get_or_insert_with(Content::armed(), |_| Err(token.clone()))
    });
}

/// 182: The value that is found, when the one that would have been inserted panics.
#[test]
fn values_that_are_not_needed() {
    let (token, key) = (Rc::new(()), Strong::new(1));
    let value = Strong::new(Content::with(&token));
    let mut map = WeakPairMap::from([(&key, &value)]);
    assert!(panics(|| drop(
        map.get_or_insert(&key, Strong::new(Content::armed()))
    )));
    drop(value);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// 182: The keys of a map, when a value panics.
#[test]
fn keys_of_values_that_panic() {
    let token = Rc::new(());
    let key = Strong::new(token.clone());
    let map = WeakMap::from([(&key, Content::armed())]);
    assert!(panics(|| map.into_keys().for_each(drop)));
    drop(key);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// Converts into a handle to what it borrows as, and panics when it is dropped instead.
struct Source(Option<Content>);

impl Borrow<Content> for Source {
    fn borrow(&self) -> &Content {
        self.0.as_ref().expect("it is taken by the conversion")
    }
}

impl From<Source> for Strong<Content> {
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
    let mut interner = Interner::<Strong<Content>>::new();
    let handle = interner.intern(Content::with(&token));
    assert!(panics(|| drop(
        interner.intern(Source(Some(Content::default())))
    )));
    drop(handle);
    assert_eq!(Rc::strong_count(&token), 1);
}

/// 182: The handle that is made, when one of equal hash and other content dies in the comparison.
#[test]
fn interned_handles_beside_one_that_dies() {
    let token = Rc::new(());
    let mut interner = Interner::<Strong<Content>>::new();
    let other = interner.intern(Content {
        armed: Cell::new(false),
        differs: true,
        token: None,
    });
    other.armed.set(true);
    // The interner looks twice: before it makes a handle, and then for its place. It is to die the second time.
    struct Late(Content, RefCell<Option<Strong<Content>>>);
    impl Borrow<Content> for Late {
        fn borrow(&self) -> &Content {
            &self.0
        }
    }
    impl From<Late> for Strong<Content> {
        fn from(late: Late) -> Self {
            LAST.set(late.1.take());
            Strong::new(late.0)
        }
    }
    let late = Late(Content::with(&token), RefCell::new(Some(other)));
    panics_and_leaks_nothing(&token, || interner.intern(late));
}
