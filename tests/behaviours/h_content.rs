//! H. Keys by content (item 117; 27, 29, 30, 31 and 41 for contents): which object stays, when user code is
//! called, and hashers.

use std::cell::{Cell, RefCell};
use std::hash::{BuildHasher, BuildHasherDefault, DefaultHasher, Hash, Hasher, RandomState};
use std::rc::Rc;
use std::sync::Mutex;

use equivalent::Equivalent;
use weakly::{
    Interner, Strong, WeakHashMap, WeakHashSet, WeakPairMap, WeakValueMap, reference::WeakKey,
};

use crate::collections::{Owned, counted};
use crate::common::{Counter, Key, Kind, is_alive, new};
use crate::for_each_kind;

for_each_kind!(
    insert_replaces_the_key_object_and_entry_does_not,
    a_set_keeps_its_element_and_replace_does_not,
    a_replaced_key_object_may_die_later,
    a_key_that_dies_behind_its_entry_is_replaced,
    nothing_is_asked_of_the_dead,
    a_lookup_keeps_its_key_no_longer_than_it_takes,
    keys_are_found_by_equivalent_contents,
    colliding_contents_are_distinguished,
    a_clone_hashes_nothing_and_finds_everything,
);

/// A hasher that counts what it is asked for, in all its clones.
#[derive(Clone, Default)]
struct Counting(Rc<Cell<usize>>);

impl BuildHasher for Counting {
    type Hasher = DefaultHasher;

    fn build_hasher(&self) -> DefaultHasher {
        self.0.set(self.0.get() + 1);
        DefaultHasher::new()
    }
}

fn a_clone_hashes_nothing_and_finds_everything<P: Kind>() {
    let texts: Vec<Text<P>> = (0..50).map(|n| text::<P>(&n.to_string())).collect();
    let mut map = WeakHashMap::with_hasher(Counting::default());
    map.extend(texts.iter().zip(0_usize..));
    let asked = map.hasher().0.get();
    let copy = map.clone();
    assert_eq!(map.hasher().0.get(), asked);
    assert!(
        texts
            .iter()
            .zip(0_usize..)
            .all(|(text, n)| copy.get(&**text) == Some(&n))
    );
    assert!(copy == map && copy.len() == 50);
    // Each watches on its own.
    map.clear();
    assert_eq!((copy.len_live(), copy.get("7")), (50, Some(&7)));
    drop(texts);
    assert_eq!((copy.len_live(), copy.get("7")), (0, None));
}

type Text<P> = <P as Kind>::Strong<String>;

fn text<P: Kind>(text: &str) -> Text<P> {
    new::<P, _>(text.to_owned())
}

fn is<P: Kind>(one: &Text<P>, other: &Text<P>) -> bool {
    WeakKey::addr(one) == WeakKey::addr(other)
}

/// H117: `insert` with another object of equal content replaces the first key with it, and the value lives as
/// long as it; `entry` and what is built on it leave the first, unless they insert over its value.
fn insert_replaces_the_key_object_and_entry_does_not<P: Kind>() {
    type Map<P> = WeakHashMap<Text<P>, usize>;
    type Way<P> = fn(&mut Map<P>, &Text<P>);
    let ways: [(Way<P>, bool); 8] = [
        (|map, key| assert_eq!(map.insert(key, 2), Some(1)), true),
        (
            |map, key| assert_eq!(*map.entry(key).insert_entry(2).get(), 2),
            true,
        ),
        (|map, key| map.extend([(key, 2)]), true),
        (
            |map, key| assert_eq!(*map.entry(key).or_insert(2), 1),
            false,
        ),
        (
            |map, key| assert_eq!(*map.get_or_insert_with(key, |_| 2), 1),
            false,
        ),
        (
            |map, key| *map.entry(key).and_modify(|value| *value += 1).or_default() += 1,
            false,
        ),
        (
            |map, key| assert_eq!(map.try_insert(key, 2).unwrap_err().value, 2),
            false,
        ),
        (|map, key| *map.get_mut(key.as_str()).unwrap() = 2, false),
    ];
    for (n, (way, replaces)) in ways.into_iter().enumerate() {
        let [first, second] = ["same"; 2].map(text::<P>);
        let mut map = Map::<P>::from([(&first, 1_usize)]);
        way(&mut map, &second);
        assert_eq!((map.len(), map.pending_dead()), (1, 0), "way {n}");
        let (key, _) = map.get_key_value("same").unwrap();
        assert!(
            is::<P>(&key, if replaces { &second } else { &first }),
            "way {n}"
        );
        drop(key);
        let [stays, goes] = if replaces {
            [second, first]
        } else {
            [first, second]
        };
        drop(goes);
        assert_eq!((map.len(), map.pending_dead()), (1, 0), "way {n}");
        assert!(map.contains_key("same"), "way {n}");
        drop(stays);
        assert_eq!((map.get("same"), map.len_live()), (None, 0), "way {n}");
    }
}

/// H117: In a set, `insert` leaves the element of equal content, and `replace` replaces it with the new one.
fn a_set_keeps_its_element_and_replace_does_not<P: Kind>() {
    let [first, second] = ["same"; 2].map(text::<P>);
    let mut set = WeakHashSet::from([&first]);
    assert!(!set.insert(&second));
    assert!(is::<P>(&set.get("same").unwrap(), &first));
    assert!(is::<P>(&set.replace(&second).unwrap(), &first));
    assert!(is::<P>(&set.get("same").unwrap(), &second));
    drop(first);
    assert_eq!(
        (set.len(), set.pending_dead(), set.contains("same")),
        (1, 0, true)
    );
    drop(second);
    assert!(!set.contains("same") && set.take("same").is_none());
    let third = text::<P>("same");
    assert!(set.replace(&third).is_none());
    set.purge();
    assert_eq!((set.len(), set.pending_dead()), (1, 0));
}

/// H117, C46: A key object that was replaced dies late, with its notice behind others, or early: the entry of
/// the new one stays, with its value.
fn a_replaced_key_object_may_die_later<P: Kind>() {
    let counter = Counter::default();
    let ends = counted(&counter);
    let [first, second] = [100; 2].map(new::<P, usize>);
    let crowd: Vec<_> = (0..40).map(new::<P, usize>).collect();
    let mut map = WeakHashMap::from([(&first, Owned::new(100, &ends))]);
    map.extend(crowd.iter().map(|key| (key, Owned::new(**key, &ends))));
    drop(first);
    drop(crowd);
    assert!(
        map.insert(&second, Owned::new(100, &ends)).is_none(),
        "the first is dead"
    );
    assert!(!P::NOTIFIES || (map.len(), map.pending_dead() > 16) == (1, true));
    map.purge();
    assert_eq!((map.len(), map.pending_dead(), counter.get()), (1, 0, 41));
    assert!(map.contains_key(&100));
}

/// H117, C55: The key object of an occupied entry may die while the entry is open, since the lookup drops its
/// handle: a value inserted then belongs to the given key.
fn a_key_that_dies_behind_its_entry_is_replaced<P: Kind>() {
    let [first, second] = ["same"; 2].map(text::<P>);
    let mut map = WeakHashMap::from([(&first, 1_usize)]);
    let weakly::collections::weak_hash_map::Entry::Occupied(mut entry) = map.entry(&second) else {
        panic!("the first lives");
    };
    drop(first);
    assert_eq!((*entry.get(), entry.insert(2)), (1, 1));
    assert_eq!((map.len(), map.len_live(), map.pending_dead()), (1, 1, 0));
    assert_eq!(map.get("same"), Some(&2));
    map.purge();
    assert_eq!(
        (map.len(), map.pending_dead(), map.get("same")),
        (1, 0, Some(&2))
    );
    drop(second);
    assert_eq!((map.get("same"), map.len_live()), (None, 0));
}

thread_local! {
    /// Contents whose `hash` or `eq` was called.
    static ASKED: RefCell<Vec<(u32, &'static str)>> = const { RefCell::new(Vec::new()) };
    static DEAD: RefCell<Vec<u32>> = const { RefCell::new(Vec::new()) };
}

/// A content that records these calls. All have the same hash, so that all are compared.
struct Asked(u32, u8);

impl Asked {
    fn asked(&self, what: &'static str) {
        ASKED.with_borrow_mut(|asked| asked.push((self.0, what)));
        assert!(
            DEAD.with_borrow(|dead| !dead.contains(&self.0)),
            "a dead one is asked"
        );
    }
}

impl PartialEq for Asked {
    fn eq(&self, other: &Self) -> bool {
        self.asked("eq");
        other.asked("eq");
        self.1 == other.1
    }
}

impl Eq for Asked {}

impl Hash for Asked {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.asked("hash");
        0.hash(state);
    }
}

impl Drop for Asked {
    fn drop(&mut self) {
        DEAD.with_borrow_mut(|dead| dead.push(self.0));
    }
}

/// H117, B29, B30: A dead key's content is never hashed or compared: not by lookups that meet its entry, not by
/// growth, not by a purge. And no content is, except by lookups.
fn nothing_is_asked_of_the_dead<P: Kind>() {
    DEAD.take();
    ASKED.take();
    let asked_of = |n: u32| ASKED.take().iter().filter(|(asked, _)| *asked == n).count();
    let mut map = WeakHashMap::<_, usize>::new();
    let live = new::<P, _>(Asked(0, 0));
    map.insert(&live, 0);
    let dead: Vec<_> = (1..30).map(|n| new::<P, _>(Asked(n, n as u8))).collect();
    for key in &dead {
        map.insert(key, 1);
    }
    assert!(
        asked_of(5) > 1,
        "each is asked by its own insert and by those after it"
    );
    drop(dead);
    let twin = new::<P, _>(Asked(100, 5));
    for _ in 0..3 {
        assert_eq!((map.get(&*twin), map.get(&*live)), (None, Some(&0)));
        assert!(!map.contains_key(&*twin) && map.get_mut(&*twin).is_none());
        assert_eq!(map.remove(&*twin), None);
    }
    ASKED.take();
    assert_eq!(
        (map.iter().count(), map.len_live(), map.keys().count()),
        (1, 1, 1)
    );
    map.reserve(500);
    map.purge();
    map.shrink_to_fit();
    map.retain(|_, _| true);
    assert_eq!(ASKED.take(), [], "an entry knows its hash");
    map.insert(&twin, 2);
    assert_eq!(
        (map.len(), map.get(&*live), map.get(&*twin)),
        (2, Some(&0), Some(&2))
    );
    let copy = map.clone();
    assert!(copy == map);
}

/// H117: A lookup keeps the key that it compares alive, and none longer than necessary.
fn a_lookup_keeps_its_key_no_longer_than_it_takes<P: Kind>() {
    let key = text::<P>("key");
    let weak = P::Strong::downgrade(&key);
    let mut map = WeakHashMap::from([(&key, 1_usize)]);
    let found = map.get("key");
    assert_eq!(P::counts(&key).0, 1);
    assert_eq!(found, Some(&1));
    let value = map.get_mut("key").unwrap();
    drop(key);
    assert!(!is_alive(&weak));
    *value += 1; // it is there until the map changes
    assert_eq!(map.get("key"), None);
}

/// A case-insensitive name.
struct AnyCase<'a>(&'a str);

impl Hash for AnyCase<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.to_lowercase().hash(state);
    }
}

impl Equivalent<String> for AnyCase<'_> {
    fn equivalent(&self, key: &String) -> bool {
        self.0.eq_ignore_ascii_case(key)
    }
}

/// H117, B27: Keys are found by anything [`Equivalent`] to their content: borrowed, or a type of the user's.
fn keys_are_found_by_equivalent_contents<P: Kind>() {
    let key = text::<P>("key");
    let mut map = WeakHashMap::from([(&key, 1_usize)]);
    let mut set = WeakHashSet::from([&key]);
    let mut words = Interner::<Text<P>>::new();
    let value = new::<P, usize>(1);
    let mut values = WeakValueMap::<String, _>::from([("key".to_owned(), &value)]);
    assert!(is::<P>(&words.intern(key.clone()), &key));
    assert!(map.contains_key("key") && map.contains_key(&"key".to_owned()));
    assert!(map.contains_key(&AnyCase("KEY")) && !map.contains_key("KEY"));
    assert!(is::<P>(&set.get(&AnyCase("Key")).unwrap(), &key));
    assert!(is::<P>(&words.get(&AnyCase("Key")).unwrap(), &key));
    assert_eq!(
        (*values.expect(&AnyCase("KEY")), *values.expect("key")),
        (1, 1)
    );
    *map.get_mut(&AnyCase("kEy")).unwrap() += 1;
    assert_eq!(
        (map.get_key_value(&AnyCase("keY")).unwrap().1, map["key"]),
        (&2, 2)
    );
    assert_eq!(map.remove_entry(&AnyCase("KEY")).unwrap().1, 2);
    assert!(set.remove(&AnyCase("KEY")) && set.is_empty());
    assert!(values.remove(&AnyCase("KEY")).is_some() && values.is_empty());
}

/// The worst hasher: all collide.
#[derive(Clone, Copy, Default)]
struct Same;

impl Hasher for Same {
    fn finish(&self) -> u64 {
        7
    }
    fn write(&mut self, _: &[u8]) {}
}

/// One that is made in a constant.
#[derive(Clone, Copy)]
struct Fixed;

impl BuildHasher for Fixed {
    type Hasher = DefaultHasher;
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
}

/// H117: Under a hasher that makes all hashes collide, contents are distinguished, the dead among them are
/// skipped, and each notice finds its own entry.
fn colliding_contents_are_distinguished<P: Kind>() {
    type Colliding = BuildHasherDefault<Same>;
    let mut keys: Vec<_> = (0..30).map(|n: usize| text::<P>(&n.to_string())).collect();
    let mut map = WeakHashMap::<Text<P>, usize, Colliding>::default();
    let mut set = WeakHashSet::<Text<P>, Colliding>::default();
    let mut numbers: Vec<_> = (0..30).map(new::<P, usize>).collect();
    let mut values = WeakValueMap::<String, Key<P>, Colliding>::default();
    let mut words = Interner::<Text<P>, Colliding>::default();
    for (n, key) in keys.iter().enumerate() {
        map.insert(key, n);
        set.insert(key);
        values.insert(key.to_string(), &numbers[n]);
        _ = words.intern(key.clone());
    }
    keys.truncate(10);
    numbers.truncate(10);
    for _drained in [false, true] {
        for n in 0..30 {
            let lives = n < 10;
            let text = n.to_string();
            assert_eq!(map.get(&text).copied(), lives.then_some(n));
            assert_eq!(
                (set.contains(&text), values.contains_key(&text)),
                (lives, lives)
            );
            assert_eq!(words.get(&text).is_some_and(|word| *word == text), lives);
        }
        map.purge();
        set.purge();
        values.purge();
        words.purge();
    }
    assert_eq!([map.len(), set.len(), values.len(), words.len()], [10; 4]);
}

/// H117: A user's hasher is used, is kept by a copy, and may be a constant: such a map is made at compile time.
#[test]
fn hashers_may_be_chosen() {
    static WORDS: Mutex<Interner<Strong<String>, Fixed>> = Mutex::new(Interner::with_hasher(Fixed));
    static MAP: Mutex<WeakHashMap<Strong<String>, usize, Fixed>> =
        Mutex::new(WeakHashMap::with_hasher(Fixed));
    static SET: Mutex<WeakHashSet<Strong<String>, Fixed>> =
        Mutex::new(WeakHashSet::with_hasher(Fixed));
    static VALUES: Mutex<WeakValueMap<usize, Strong<usize>, Fixed>> =
        Mutex::new(WeakValueMap::with_hasher(Fixed));
    static PAIRS: Mutex<WeakPairMap<Strong<usize>, Strong<usize>>> = Mutex::new(WeakPairMap::new());
    let word = WORDS.lock().unwrap().intern("word".to_owned());
    let one = Strong::new(1_usize);
    MAP.lock().unwrap().insert(&word, 1);
    SET.lock().unwrap().insert(&word);
    VALUES.lock().unwrap().insert(1, &one);
    PAIRS.lock().unwrap().insert(&one, &one);
    assert_eq!(MAP.lock().unwrap().get("word"), Some(&1));
    assert!(SET.lock().unwrap().clone().contains("word"));
    assert!(Strong::ptr_eq(&VALUES.lock().unwrap().expect(&1), &one));
    assert!(Strong::ptr_eq(&PAIRS.lock().unwrap().expect(&one), &one));
    let hash = Fixed.hash_one("word");
    assert_eq!(MAP.lock().unwrap().hasher().hash_one("word"), hash);
    let values = VALUES.lock().unwrap().clone();
    assert_eq!(values.hasher().hash_one("word"), hash);
    let state = RandomState::new();
    let numbers =
        WeakValueMap::<usize, Strong<usize>, _>::with_capacity_and_hasher(9, state.clone());
    assert_eq!(numbers.hasher().hash_one(5), state.hash_one(5));
}

/// H117: The default hasher has a new seed for each collection; a copy has its original's.
#[cfg(feature = "std")]
#[test]
fn default_hashers_differ_and_their_copies_do_not() {
    use weakly::DefaultHashBuilder;

    let (a, b) = (
        WeakHashMap::<Strong<String>, usize>::new(),
        WeakHashMap::<Strong<String>, usize>::new(),
    );
    let hash = |hasher: &DefaultHashBuilder| hasher.hash_one("word");
    assert_ne!(hash(a.hasher()), hash(b.hasher()));
    assert_eq!(hash(a.hasher()), hash(a.clone().hasher()));
    assert_eq!(hash(a.hasher()), hash(&a.hasher().clone()));
    let (a, b) = (
        Interner::<Strong<String>>::new(),
        Interner::<Strong<String>>::with_capacity(5),
    );
    assert_ne!(hash(a.hasher()), hash(b.hasher()));
    let shown = format!("{:?}", a.hasher());
    assert!(shown.starts_with("DefaultHashBuilder") && !shown.contains(char::is_numeric));
}
