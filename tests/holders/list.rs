//! The list of all shared collections.

use std::mem;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::thread;

use weakly::concurrent::{Collection, Interner, WeakMap, WeakSet, WeakValueMap, collections};
use weakly::keep::Limit;
use weakly::{Attributes, Memo, Strong};

/// The listed collection of this name. (Other tests have collections, too.)
fn named(name: &str) -> Option<Collection> {
    let mut all = collections().to_vec().into_iter();
    all.find(|one| one.name.as_deref() == Some(name))
}

/// 640: A collection is listed from its first entry on until it ends, wherever it is moved, with its type, its name, the line
/// of the first entry and its counts.
#[test]
fn a_collection_is_listed_from_its_first_entry_on() {
    let key = Strong::new(1);
    let map = WeakMap::<Strong<i32>, u8>::new();
    map.set_name("640");
    assert!(named("640").is_none());
    map.insert(&key, 1);
    let line = line!() - 1;
    let listed = named("640").unwrap();
    assert_eq!(
        listed.type_name,
        std::any::type_name::<WeakMap<Strong<i32>, u8>>()
    );
    assert_eq!(listed.first_entry.location().file(), file!());
    assert_eq!(listed.first_entry.location().line(), line);
    assert_eq!(listed.statistics.live, 1);
    let moved = Box::new([map]);
    moved[0].get_or_insert_with(&Strong::new(2), |_| 2);
    moved[0].set_name("640, moved");
    let listed = named("640, moved").unwrap();
    assert!(named("640").is_none());
    assert_eq!(listed.statistics, moved[0].statistics());
    assert_eq!((listed.statistics.loads, listed.statistics.live), (1, 1));
    drop(moved);
    assert!(named("640, moved").is_none());
}

/// 640: Collections of each type are listed, in the order of their first entries, and the list is a table.
#[test]
fn collections_of_each_type_are_listed() {
    static MEMO: Memo<Strong<i32>, i32> = Memo::new();
    let key = Strong::new(1);
    let (set, names) = (WeakSet::new(), Interner::<Strong<str>>::new());
    let (values, attributes) = (WeakValueMap::new(), Attributes::new());
    struct Depth;
    impl weakly::AttributeKey for Depth {
        type Value = u8;
    }
    values.set_keep_alive(Limit::none().weight(9), |_| 7);
    values.insert(1, &key);
    set.insert(&key);
    attributes.insert(&key, Depth, 1);
    let name = names.intern_ref("name");
    MEMO.get_or_compute(&key, |_| 1);
    let room = WeakMap::<Strong<i32>, u8>::with_capacity(9);
    values.set_name("of each: values");
    set.set_name("of each: set");
    attributes.set_name("of each: attributes");
    names.set_name("of each: names");
    MEMO.set_name("of each: memo");
    room.set_name("of each: with room");
    let all = collections();
    let ours = |one: &&Collection| {
        one.name
            .as_ref()
            .is_some_and(|name| name.starts_with("of each"))
    };
    let found: Vec<_> = all.iter().filter(ours).collect();
    let shown: Vec<_> = found
        .iter()
        .map(|one| (&one.name.as_ref().unwrap()[9..], one.statistics.live))
        .collect();
    let expected = [
        ("values", 1),
        ("set", 1),
        ("attributes", 1),
        ("names", 1),
        ("memo", 1),
        ("with room", 0),
    ];
    assert_eq!(shown, expected);
    assert_eq!(found[0].statistics.retained_weight, 7);
    let text = all.to_string();
    assert_eq!(text.lines().count(), all.len() + 1);
    let line = text
        .lines()
        .find(|line| line.contains("of each: memo"))
        .unwrap();
    assert!(
        line.contains("memo::cache::Memo<") && line.contains("holders/list.rs:"),
        "{line}"
    );
    assert!(
        line.starts_with("        1         0         1         0 "),
        "{line}"
    );
    drop((room, name));
}

/// 641: A collection that was forgotten stays listed, also one whose values borrow.
#[test]
fn a_forgotten_collection_stays_listed() {
    let (key, word) = (Strong::new(1), String::from("borrowed"));
    let map = WeakMap::<Strong<i32>, &str>::new();
    map.insert(&key, &word);
    map.set_name("641, forgotten");
    mem::forget(map);
    drop((word, key));
    assert_eq!(named("641, forgotten").unwrap().statistics.live, 0);
}

/// Uses the list, and other collections, when it is destroyed.
struct Lists(&'static AtomicUsize);

impl Drop for Lists {
    fn drop(&mut self) {
        let (key, map) = (Strong::new(1), WeakMap::new());
        map.insert(&key, 1);
        map.set_name("641, in a destructor");
        assert!(named("641, in a destructor").is_some());
        drop(map);
        _ = self.0.fetch_add(1, Relaxed);
    }
}

/// 641: A destructor that a collection runs, also when the collection ends, may list, make, name and drop collections.
#[test]
fn a_destructor_uses_the_list() {
    static DROPPED: AtomicUsize = AtomicUsize::new(0);
    let keys = [1, 2, 3].map(Strong::new);
    let map = WeakMap::new();
    keys.iter()
        .for_each(|key| _ = map.insert(key, Lists(&DROPPED)));
    map.remove_if(&keys[0], |_| true);
    map.clear();
    assert_eq!(DROPPED.load(Relaxed), 3);
    keys.iter()
        .for_each(|key| _ = map.insert(key, Lists(&DROPPED)));
    drop(map);
    assert_eq!(DROPPED.load(Relaxed), 6);
}

/// 641: Threads make, use and drop collections while another thread lists them: no count is read of what has ended.
#[test]
fn threads_drop_what_is_listed() {
    let (done, rounds) = (AtomicBool::new(false), if cfg!(miri) { 4 } else { 200 });
    thread::scope(|scope| {
        let users = [0, 1].map(|number| {
            scope.spawn(move || {
                for round in 0..rounds {
                    let (key, map) = (Strong::new(round), WeakMap::new());
                    map.set_ceiling(Limit::entries(1), |_| 1);
                    map.insert(&key, 1);
                    map.set_name(&format!("641, thread {number}"));
                    assert_eq!(map.get(&key), Some(1));
                }
            })
        });
        scope.spawn(|| {
            while !done.load(Relaxed) {
                for one in collections().iter().filter(|one| one.name.is_some()) {
                    assert!(one.statistics.hits <= one.statistics.live + 100);
                }
                thread::yield_now();
            }
        });
        users.into_iter().for_each(|user| user.join().unwrap());
        done.store(true, Relaxed);
    });
    assert!(named("641, thread 0").is_none() && named("641, thread 1").is_none());
}
