//! What is removed or replaced is alive at that moment, or was dead before: though another user of the object sees it gone, and
//! drops the last handle, before the operation returns it.
//!
//! The other user is called when the collection asks whether the object is dead: another thread could come at each such moment.

use std::cell::RefCell;
use std::collections::hash_map::DefaultHasher;
use std::hash::{BuildHasherDefault, Hash, Hasher};
use std::rc::Rc;

use weakly::concurrent::{WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap};
use weakly::reference::{WeakKey, WeakRef};
use weakly::{Memo, Strong};

use crate::common::lease::{self, Asked};
use crate::common::{Atomic, Kind, StdArc};

/// Equal to all others.
struct Object(usize);

type Lease = lease::Lease<Object>;

impl PartialEq for Object {
    fn eq(&self, _: &Object) -> bool {
        true
    }
}

impl Eq for Object {}

impl Hash for Object {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u8(0);
    }
}

thread_local! {
    static LAST_USER: RefCell<Option<Box<dyn FnMut()>>> = const { RefCell::new(None) };
}

impl Asked for Object {
    fn asked(_: *const Object) {
        // Not again while it runs.
        if let Some(mut user) = LAST_USER.take() {
            user();
            LAST_USER.set(Some(user));
        }
    }
}

/// Changes a collection, while another user has the last handle to the object, until it sees that gone.
fn beside_the_last_user<M: 'static, R>(
    all: M,
    object: Lease,
    is_there: impl Fn(&M, &lease::WeakLease<Object>) -> bool + 'static,
    change: impl FnOnce(&M) -> R,
) -> R {
    let (all, weak) = (Rc::new(all), Lease::downgrade(&object));
    let (seen, mut last) = (Rc::clone(&all), Some(object));
    let user = move || {
        if last.is_some() && !is_there(&seen, &weak) {
            last = None;
        }
    };
    LAST_USER.set(Some(Box::new(user)));
    let result = change(&all);
    LAST_USER.set(None);
    result
}

fn number(object: Option<Lease>) -> Option<usize> {
    object.map(|object| object.0)
}

/// 157: A value.
#[test]
fn of_a_map_with_weak_values() {
    type Map = WeakValueMap<u8, Lease>;
    let new = Lease::from(Object(2));
    let changes: [fn(&Map, &Lease) -> Option<Lease>; 4] = [
        |map, new| map.insert(0, new),
        |map, _| map.remove(&0),
        |map, _| map.remove_entry(&0).map(|(_, value)| value),
        |map, _| map.remove_if(&0, |_| true),
    ];
    for change in changes {
        let (map, old) = (Map::new(), Lease::from(Object(1)));
        map.insert(0, &old);
        let is_there = |map: &Map, _: &_| number(map.get(&0)) == Some(1);
        let shown = beside_the_last_user(map, old, is_there, |map| number(change(map, &new)));
        assert_eq!(shown, Some(1));
    }
}

/// 157: A value of a pair.
#[test]
fn of_a_pair_map() {
    type Map = WeakPairMap<Strong<u8>, Lease>;
    let (key, new) = (Strong::new(0), Lease::from(Object(2)));
    let changes: [fn(&Map, &Strong<u8>, &Lease) -> Option<Lease>; 4] = [
        |map, key, new| map.insert(key, new),
        |map, key, _| map.remove(key),
        |map, key, _| map.remove_entry(key).map(|(_, value)| value),
        |map, key, _| map.remove_if(key, |_| true),
    ];
    for change in changes {
        let (map, old) = (Map::new(), Lease::from(Object(1)));
        map.insert(&key, &old);
        let same = key.clone();
        let is_there = move |map: &Map, _: &_| number(map.get(&same)) == Some(1);
        let shown = beside_the_last_user(map, old, is_there, |map| number(change(map, &key, &new)));
        assert_eq!(shown, Some(1));
    }
}

/// 157: A key that comes back.
#[test]
fn of_a_map_and_a_set() {
    let key = Lease::from(Object(1));
    let weak = Lease::downgrade(&key);
    let map = WeakMap::from([(&key, 7)]);
    let is_there = |map: &WeakMap<Lease, u8>, key: &_| map.contains_key(key);
    let removed = beside_the_last_user(map, key, is_there, |map| map.remove_entry(&weak));
    assert_eq!(removed.map(|(key, value)| (key.0, value)), Some((1, 7)));

    let key = Lease::from(Object(1));
    let weak = Lease::downgrade(&key);
    let set = WeakSet::from([&key]);
    let is_there = |set: &WeakSet<Lease>, key: &_| set.contains(key);
    let taken = beside_the_last_user(set, key, is_there, |set| set.take(&weak));
    assert_eq!(number(taken), Some(1));
}

/// 157: A key of equal content.
#[test]
fn of_a_map_and_a_set_by_content() {
    type Hash = BuildHasherDefault<DefaultHasher>;
    let (old, new) = (Lease::from(Object(1)), Lease::from(Object(2)));
    let map = WeakHashMap::with_hasher(Hash::new());
    map.insert(&old, 1);
    let is_there = |map: &WeakHashMap<Lease, _, _>, _: &_| map.get(&Object(0)) == Some(1);
    let is_first = beside_the_last_user(map, old, is_there, |map| map.insert(&new, 2));
    assert!(!is_first);

    let old = Lease::from(Object(1));
    let set = WeakHashSet::with_hasher(Hash::new());
    set.insert(&old);
    let is_there = |set: &WeakHashSet<_, _>, _: &_| number(set.get(&Object(0))) == Some(1);
    let replaced = beside_the_last_user(set, old, is_there, |set| set.replace(&new));
    assert_eq!(number(replaced), Some(1));
}

/// 157: What a result depends on.
#[test]
fn of_a_memo() {
    type Results = Memo<Strong<usize>, usize>;
    let key = Strong::new(0);
    let changes: [fn(&Results, &Strong<usize>) -> bool; 2] = [
        |memo, key| memo.insert(key, 2) == Some(1),
        |memo, key| memo.remove(key),
    ];
    for change in changes {
        let (memo, input) = (Memo::new(), Lease::from(Object(1)));
        memo.get_or_compute(&key, |computation| {
            computation.depends_on(&input);
            1
        });
        let same = key.clone();
        let is_there = move |memo: &Results, _: &_| memo.get(&same) == Some(1);
        assert!(beside_the_last_user(memo, input, is_there, |memo| change(
            memo, &key
        )));
    }
}

/// 157: The key whose value a change is shown dies before its end: the closure is called again, or, where nobody tells of the
/// death, the key lives until then.
#[test]
fn a_key_does_not_die_unnoticed_while_its_value_is_changed() {
    fn check<P: Kind>()
    where
        P::Strong<usize>: weakly::concurrent::SharedRef<Target = usize>,
    {
        let [key, equal] = [(); 2].map(|()| P::Strong::<usize>::from(7));
        let (weak, map) = (WeakKey::downgrade(&key), WeakHashMap::new());
        map.insert(&key, 1_usize);
        let (mut last, mut shown) = (Some(key), Vec::new());
        map.compute(&equal, |old| {
            shown.push(old.copied());
            last = None;
            assert_eq!(weak.upgrade().is_some(), !P::NOTIFIES);
            Some(2)
        });
        assert!(weak.upgrade().is_none());
        assert_eq!(shown, [Some(1), None][..1 + usize::from(P::NOTIFIES)]);
    }
    check::<Atomic>();
    check::<StdArc>();
}
