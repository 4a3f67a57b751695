//! H. Entries of two weak sides under keys by content (items 114, 115, 117, 118).

use weakly::{
    Strong, WeakHashPairMap, local,
    reference::{StrongRef, WeakKey},
};

use crate::common::pairs::end_in_any_order;
use crate::common::{Key, Kind, downgrade, new};
use crate::for_each_kind;

for_each_kind!(
    a_pair_lives_as_long_as_both,
    a_half_dead_pair_is_never_shown,
    insert_replaces_the_key_object_and_entry_does_not,
    a_key_that_dies_behind_its_entry_is_replaced,
    a_half_dead_pair_is_replaced,
    lookups_keep_nothing,
);

fn check_pairs<K, V>(exact: bool)
where
    K: StrongRef<Target = usize> + From<usize> + std::ops::Deref<Target = usize>,
    V: StrongRef<Target = usize> + From<usize> + std::ops::Deref<Target = usize>,
{
    let look = |map: &WeakHashPairMap<K, V>, keys: &[Option<K>], value: &Option<V>| {
        let mut live = 0;
        for (n, key) in keys.iter().enumerate() {
            let is_there = key.is_some() && value.is_some();
            assert_eq!(map.get(&n).is_some(), is_there);
            assert_eq!(map.contains_key(&n), is_there);
            live += usize::from(is_there);
        }
        assert_eq!((map.len_live(), map.iter().count()), (live, live));
        assert!(!exact || map.len() == live);
        assert!(
            !exact || map.len() + map.pending_dead() == 3,
            "once, though both have died"
        );
    };
    end_in_any_order(look, |mut map| {
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
    });
}

/// H114, H118: An entry lives as long as both its sides, in whatever order they die, of whatever kinds of pointer;
/// other entries are not affected; it counts once.
fn a_pair_lives_as_long_as_both<P: Kind>() {
    check_pairs::<Key<P>, Key<P>>(P::NOTIFIES);
    check_pairs::<Key<P>, Strong<usize>>(P::NOTIFIES);
    check_pairs::<Key<P>, local::Strong<usize>>(P::NOTIFIES);
    check_pairs::<Key<P>, std::rc::Rc<usize>>(false);
}

type Text<P> = <P as Kind>::Strong<String>;
type Pairs<P> = WeakHashPairMap<Text<P>, Key<P>>;

fn text<P: Kind>(text: &str) -> Text<P> {
    new::<P, _>(text.to_owned())
}

/// H115: A half-dead entry is never shown, whichever half it is: by no lookup, by no iterator.
fn a_half_dead_pair_is_never_shown<P: Kind>() {
    for the_key_dies in [true, false] {
        let (key, value) = (text::<P>("key"), new::<P, usize>(1));
        let mut map = Pairs::<P>::from([(&key, &value)]);
        let kept = if the_key_dies {
            drop(key);
            (None, Some(value))
        } else {
            drop(value);
            (Some(key), None)
        };
        assert!(map.get("key").is_none() && map.get_key_value("key").is_none());
        assert!(!map.contains_key("key"));
        assert_eq!((map.keys().count(), map.values().count()), (0, 0));
        assert_eq!(map.iter_weak().count(), 0);
        assert_eq!((map.iter().count(), map.len_live()), (0, 0));
        assert_eq!(map.is_empty(), P::NOTIFIES);
        assert!(map.remove_entry("key").is_none() && map.pop().is_none());
        map.retain(|_, _| panic!("a half-dead entry"));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0));
        if let Some(key) = kept.0 {
            assert_eq!(P::counts(&key), (1, 0));
        }
        if let Some(value) = kept.1 {
            assert_eq!(P::counts(&value), (1, 0));
        }
    }
}

/// H117: What sets a value replaces the key by an object of equal content, and the entry lives as long as that;
/// what leaves the value leaves the key.
fn insert_replaces_the_key_object_and_entry_does_not<P: Kind>() {
    type Way<P> = fn(&mut Pairs<P>, &Text<P>, &Key<P>);
    let ways: [(Way<P>, bool); 7] = [
        (
            |map, key, value| assert_eq!(map.insert(key, value).as_deref(), Some(&1)),
            true,
        ),
        (
            |map, key, value| drop(map.entry(key).insert_entry(value.clone())),
            true,
        ),
        (|map, key, value| map.extend([(key, value)]), true),
        (
            |map, key, value| {
                let error = map.try_insert(key, value).unwrap_err();
                assert_eq!(*error.entry.insert(value), 1);
            },
            true,
        ),
        (
            |map, key, value| assert_eq!(*map.get_or_insert(key, value.clone()), 1),
            false,
        ),
        (
            |map, key, _| assert_eq!(*map.get_or_insert_with(key, |_| panic!("it is there")), 1),
            false,
        ),
        (
            |map, key, value| assert!(map.try_insert(key, value).is_err()),
            false,
        ),
    ];
    for (n, (way, replaces)) in ways.into_iter().enumerate() {
        let [first, second] = ["same"; 2].map(text::<P>);
        let [one, two] = [1, 2].map(new::<P, usize>);
        let mut map = Pairs::<P>::from([(&first, &one)]);
        way(&mut map, &second, &two);
        let (key, value) = map.get_key_value("same").unwrap();
        assert_eq!(*value, if replaces { 2 } else { 1 }, "way {n}");
        let expected = if replaces { &second } else { &first };
        assert!(WeakKey::addr(&key) == WeakKey::addr(expected), "way {n}");
        drop((key, value));
        let ((stays, goes), (value, unused)) = if replaces {
            ((second, first), (two, one))
        } else {
            ((first, second), (one, two))
        };
        drop((goes, unused));
        assert_eq!((map.len(), map.len_live()), (1, 1), "way {n}");
        assert!(map.contains_key("same"), "way {n}");
        drop(stays);
        assert!(map.get("same").is_none() && map.len_live() == 0, "way {n}");
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (0, 0), "way {n}");
        assert_eq!(P::counts(&value), (1, 0), "way {n}");
    }
}

/// H117, C55: The key object of an occupied entry may die while the entry is open: a value inserted then belongs
/// to the given key.
fn a_key_that_dies_behind_its_entry_is_replaced<P: Kind>() {
    let [first, second] = ["same"; 2].map(text::<P>);
    let [one, two] = [1, 2].map(new::<P, usize>);
    let mut map = Pairs::<P>::from([(&first, &one)]);
    let weakly::collections::weak_hash_pair_map::Entry::Occupied(entry) = map.entry(&second) else {
        panic!("both live");
    };
    drop(first);
    assert_eq!(*entry.insert(&two), 1);
    assert_eq!((map.len(), map.len_live(), map.pending_dead()), (1, 1, 0));
    map.purge();
    assert_eq!((map.len(), map.get("same").as_deref()), (1, Some(&2)));
    drop(second);
    assert_eq!(map.len_live(), 0);
}

/// H115, C46: An entry of which one side is dead does not stand in the way of a new one, and its late notice
/// leaves that alone.
fn a_half_dead_pair_is_replaced<P: Kind>() {
    for the_key_dies in [true, false] {
        let key = text::<P>("same");
        let mut value = Some(new::<P, usize>(1));
        let mut map = Pairs::<P>::from([(&key, value.as_ref().unwrap())]);
        let first = if the_key_dies {
            drop(key);
            None
        } else {
            value = None;
            Some(key)
        };
        let (second, two) = (text::<P>("same"), new::<P, usize>(2));
        assert!(map.insert(&second, &two).is_none());
        assert_eq!((map.len_live(), map.get("same").as_deref()), (1, Some(&2)));
        drop((first, value));
        assert_eq!((map.len_live(), map.get("same").as_deref()), (1, Some(&2)));
        map.purge();
        assert_eq!((map.len(), map.pending_dead()), (1, 0));
        assert!(map.contains_key("same"));
    }
}

/// H117: A lookup keeps neither side longer than it takes.
fn lookups_keep_nothing<P: Kind>() {
    let (key, value) = (text::<P>("key"), new::<P, usize>(1));
    let mut map = Pairs::<P>::from([(&key, &value)]);
    assert!(map.contains_key("key") && *map.expect("key") == 1);
    assert!(map.get("key").is_some() && map.get_key_value("key").is_some());
    assert!(map.get("none").is_none() && map.remove("none").is_none());
    assert_eq!((P::counts(&key).0, P::counts(&value).0), (1, 1));
    assert_eq!(map.remove("key").as_deref(), Some(&1));
    assert_eq!((P::counts(&key), P::counts(&value)), ((1, 0), (1, 0)));
    let weak = downgrade(&key);
    map.insert(&key, &value);
    drop(key);
    assert!(!crate::common::is_alive(&weak), "the map keeps no key");
}

/// H117: Its keys may be of any size, and its hasher a constant.
#[test]
fn keys_of_any_size_and_constant_hashers() {
    use std::hash::{BuildHasherDefault, DefaultHasher};
    use std::sync::Mutex;

    type Hasher = BuildHasherDefault<DefaultHasher>;
    type Styles = WeakHashPairMap<Strong<str>, Strong<[u8]>, Hasher>;
    static STYLES: Mutex<Styles> = Mutex::new(WeakHashPairMap::with_hasher(Hasher::new()));
    let mut styles = STYLES.lock().unwrap();
    let (name, style) = (
        Strong::<str>::from("title"),
        Strong::<[u8]>::from(&[1, 2][..]),
    );
    assert!(styles.try_insert(&name, &style).is_ok());
    assert!(Strong::ptr_eq(&styles.expect("title"), &style));
    styles.extend([(name.clone(), style.clone())]);
    assert_eq!(styles.len(), 1);
    assert!(*styles == styles.clone());
    assert_eq!(format!("{styles:?}"), r#"{"title": [1, 2]}"#);
    drop(name);
    assert!(styles.is_empty());
}
