//! A lookup that finds nothing but a dead entry evicts that entry: of handles that do not notify, since others have none.

use std::cell::{Cell, RefCell};
use std::rc::Rc;
use std::sync::Arc;

use weakly::concurrent::{
    Interner, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
};
use weakly::{Memo, Reclaim, Strong};

use crate::common::{on_a_stack_of, scaled};

const NAME: &str = "name";

/// Lookups of each kind find nothing in a collection whose only object has died: each evicts the entry.
fn evicts<C>(
    new: impl Fn(&Arc<str>) -> C,
    len: impl Fn(&C) -> usize,
    finds: &[(&str, &dyn Fn(&C) -> bool)],
) {
    for (lookup, finds) in finds {
        let object = Arc::from(NAME);
        let all = new(&object);
        assert!(finds(&all), "{lookup}");
        assert_eq!(len(&all), 1, "{lookup}");
        drop(object);
        assert_eq!(len(&all), 1, "{lookup}: nobody has looked");
        assert!(!finds(&all), "{lookup}");
        assert_eq!(len(&all), 0, "{lookup}");
    }
}

/// 281
#[test]
fn a_map_with_weak_values_evicts_what_a_lookup_finds_dead() {
    type Map = WeakValueMap<u8, Arc<str>>;
    evicts::<Map>(
        |value| Map::from([(1, value)]),
        Map::len,
        &[
            ("get", &|map| map.get(&1).is_some()),
            ("contains_key", &|map| map.contains_key(&1)),
            ("get_key_value", &|map| map.get_key_value(&1).is_some()),
        ],
    );
}

/// 281
#[test]
fn a_pair_map_evicts_what_a_lookup_finds_dead() {
    type Map = WeakPairMap<Strong<u8>, Arc<str>>;
    let key = Strong::new(1);
    evicts::<Map>(
        |value| Map::from([(&key, value)]),
        Map::len,
        &[
            ("get", &|map| map.get(&key).is_some()),
            ("contains_key", &|map| map.contains_key(&key)),
            ("get_key_value", &|map| map.get_key_value(&key).is_some()),
        ],
    );
}

/// 281
#[test]
fn a_map_by_content_evicts_what_a_lookup_finds_dead() {
    type Map = WeakHashMap<Arc<str>, u8>;
    evicts::<Map>(
        |key| Map::from([(key, 7)]),
        Map::len,
        &[
            ("get", &|map| map.get(NAME).is_some()),
            ("contains_key", &|map| map.contains_key(NAME)),
            ("get_key_value", &|map| map.get_key_value(NAME).is_some()),
            ("with", &|map| map.with(NAME, |value| *value).is_some()),
        ],
    );
    let map = Map::new();
    map.insert(&Arc::from(NAME), 7);
    assert_eq!(map.remove(NAME), None);
    assert!(map.is_empty());
}

/// 281
#[test]
fn a_set_by_content_evicts_what_a_lookup_finds_dead() {
    type Set = WeakHashSet<Arc<str>>;
    evicts::<Set>(
        |element| Set::from([element]),
        Set::len,
        &[
            ("get", &|set| set.get(NAME).is_some()),
            ("contains", &|set| set.contains(NAME)),
        ],
    );
    type Names = Interner<Arc<str>>;
    evicts::<Names>(
        |name| {
            let names = Names::new();
            drop(names.intern(Arc::clone(name)));
            names
        },
        Names::len,
        &[("get", &|names| names.get(NAME).is_some())],
    );
}

/// 281: A result, when an input is dead.
#[test]
fn a_memo_evicts_what_a_lookup_finds_dead() {
    type Results = Memo<Strong<usize>, usize>;
    let key = Strong::new(1);
    evicts::<Results>(
        |input| {
            let memo = Results::new();
            memo.get_or_compute(&key, |computation| {
                computation.depends_on(input);
                7
            });
            memo
        },
        Results::len,
        &[
            ("get", &|memo| memo.get(&key).is_some()),
            ("contains_key", &|memo| memo.contains_key(&key)),
        ],
    );
}

/// 281, 47: Not an entry by identity, which the destructor of its key may look up.
#[test]
fn an_entry_stays_for_the_destructor_of_its_key() {
    thread_local! {
        static SEEN: Cell<Option<(bool, Option<u8>)>> = const { Cell::new(None) };
        static MAP: WeakMap<Arc<Dying>, u8> = const { WeakMap::new() };
        static SET: WeakSet<Arc<Dying>> = const { WeakSet::new() };
    }
    struct Dying(u8);

    impl Drop for Dying {
        fn drop(&mut self) {
            let key = &*self;
            let entry = MAP.with(|map| map.get_key_value(key));
            let element = SET.with(|set| set.get(key));
            let found = MAP.with(|map| map.get(key));
            let there = SET.with(|set| set.contains(key));
            assert!(entry.is_none() && element.is_none());
            SEEN.set(Some((there, found)));
        }
    }

    let key = Arc::new(Dying(7));
    MAP.with(|map| _ = map.insert(&key, key.0));
    SET.with(|set| _ = set.insert(&key));
    drop(key);
    assert_eq!(SEEN.get(), Some((true, Some(7))));
}

/// A key whose destructor looks up another one.
#[derive(PartialEq, Eq, Hash)]
struct Link(usize);

type Chain = WeakValueMap<Link, Arc<()>>;

thread_local! {
    static CHAIN: RefCell<Option<Rc<Chain>>> = const { RefCell::new(None) };
}

impl Drop for Link {
    fn drop(&mut self) {
        // (Not there any more if the test has failed.)
        let chain = CHAIN.try_with(|chain| chain.borrow().clone());
        if let Ok(Some(chain)) = chain {
            // (Forgotten: it has a destructor, too.)
            let next = std::mem::ManuallyDrop::new(Link(self.0 + 1));
            assert!(chain.get(&*next).is_none());
        }
    }
}

/// 281, 53: What is evicted is destroyed by the lookup, whose destructors may look up the next: the stack does not grow with
/// the chain.
#[test]
fn evictions_in_destructors_nest_a_few_deep() {
    on_a_stack_of(256 << 10, || {
        let chain = Rc::new(Chain::new());
        let value = Arc::new(());
        let links = scaled(20_000, 60);
        for link in 0..links {
            chain.insert(Link(link), &value);
        }
        drop(value);
        assert_eq!(chain.len(), links);
        CHAIN.set(Some(Rc::clone(&chain)));
        let first = std::mem::ManuallyDrop::new(Link(0));
        assert!(chain.get(&*first).is_none());
        assert!(chain.len() < links);
        chain.purge();
        assert!(chain.is_empty());
        CHAIN.set(None);
    });
}

/// 281: A destructor that an eviction runs inserts the same key.
#[test]
fn a_destructor_inserts_what_was_evicted() {
    thread_local! {
        static AGAIN: RefCell<Option<Rc<dyn Fn()>>> = const { RefCell::new(None) };
    }
    #[derive(PartialEq, Eq, Hash)]
    struct Key(u8);

    impl Drop for Key {
        fn drop(&mut self) {
            if let Ok(Some(again)) = AGAIN.try_with(RefCell::take) {
                again();
            }
        }
    }

    let map = Rc::new(WeakValueMap::<Key, Arc<u8>>::new());
    map.insert(Key(1), &Arc::new(1));
    let (two, same) = (Arc::new(2), Rc::clone(&map));
    let new = Arc::clone(&two);
    AGAIN.set(Some(Rc::new(move || _ = same.insert(Key(1), &new))));
    let sought = std::mem::ManuallyDrop::new(Key(1));
    assert_eq!(map.get(&*sought), None);
    assert_eq!(map.get(&*sought), Some(two));
    assert_eq!(map.len(), 1);
}

/// 281: With [`Reclaim::OnRequest`] no lookup runs a destructor: what was evicted is kept.
#[test]
fn what_is_evicted_is_kept_on_request() {
    let (map, name) = (WeakValueMap::new(), Rc::new(NAME.to_owned()));
    map.set_reclaim(Reclaim::OnRequest);
    map.insert(Rc::clone(&name), &Arc::new(1));
    assert_eq!(map.get(&name), None);
    assert!(map.is_empty());
    assert_eq!((Rc::strong_count(&name), map.pending_dead()), (2, 1));
    map.purge();
    assert_eq!((Rc::strong_count(&name), map.pending_dead()), (1, 0));
}
