//! H. Keys by content (item 117; 27, 29, 30, 31 and 41 for contents): which object stays, when user code is
//! called, and hashers.

use std::cell::RefCell;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::sync::Mutex;

use weakly::{Interner, Strong, WeakHashMap, WeakHashSet, WeakPairMap, WeakValueMap};

use crate::common::{Kind, new};
use crate::for_each_kind;

for_each_kind!(
    a_key_that_dies_behind_its_entry_is_replaced,
    nothing_is_asked_of_the_dead,
);

type Text<P> = <P as Kind>::Strong<String>;

fn text<P: Kind>(text: &str) -> Text<P> {
    new::<P, _>(text.to_owned())
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

/// One that is made in a constant.
#[derive(Clone, Copy)]
struct Fixed;

impl BuildHasher for Fixed {
    type Hasher = DefaultHasher;
    fn build_hasher(&self) -> DefaultHasher {
        DefaultHasher::new()
    }
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
