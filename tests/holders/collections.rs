//! 421: Handles that collections make name the caller of the collection, not a line of this crate.

use super::lines;
use weakly::{
    Interner, Strong, WeakHashMap, WeakHashSet, WeakMap, WeakPairMap, WeakSet, WeakValueMap,
    concurrent, local,
};

#[test]
fn lookups() {
    let object = Strong::new(5);
    let made = line!() - 1;
    let values = WeakValueMap::from([("five", &object)]);
    let pairs = WeakPairMap::from([(&object, &object)]);
    let set = WeakHashSet::from([&object]);
    let identities = WeakSet::from([&object]);
    let map = WeakMap::from([(&object, ())]);
    let found = (
        values.get("five"),
        pairs.get(&object),
        set.get(&5),
        identities.get(&object),
        map.get_key_value(&object),
        values.get_key_value("five"),
        values.expect("five"),
    );
    let expected: Vec<_> = [0, 8, 9, 10, 11, 12, 13, 14].map(|line| made + line).into();
    assert_eq!(lines!(&object), expected);
    drop(found);
    assert_eq!(lines!(&object), [made]);
}

#[test]
fn lookups_of_shared_collections() {
    let object = Strong::new(5);
    let made = line!() - 1;
    let values = concurrent::WeakValueMap::<_, _>::from_iter([("five", &object)]);
    let set = concurrent::WeakHashSet::<_>::from_iter([&object]);
    let pairs = concurrent::WeakPairMap::<_, _>::from_iter([(&object, &object)]);
    let map = concurrent::WeakHashMap::<_, _>::from_iter([(&object, object.clone())]);
    let found = (
        values.get("five"),
        set.get(&5),
        pairs.get(&object),
        map.get(&5),
    );
    let expected: Vec<_> = [0, 5, 7, 8, 9, 10].map(|line| made + line).into();
    assert_eq!(lines!(&object), expected);
    drop(found);
}

#[test]
fn iterators() {
    let object = local::Strong::new(5);
    let made = line!() - 1;
    let map = WeakHashMap::from([(&object, ())]);
    for (key, ()) in &map {
        assert_eq!(lines!(&key), [made, made + 3]);
    }
    let mut keys = map.keys();
    let key = keys.next();
    assert_eq!(lines!(&object), [made, made + 7]);
    drop(key);
    // The iterators of both sets are called by the standard library, which is not the caller.
    let (one, other) = (WeakHashSet::from([&object]), WeakHashSet::new());
    let mut union = one.union(&other);
    let key = union.next();
    assert_eq!(lines!(&object), [made, made + 13]);
    drop(key);
    let mut keys = map.into_keys();
    let key = keys.next();
    assert_eq!(lines!(&object), [made, made + 17]);
    drop(key);
}

#[test]
fn interned_handles_are_made_by_the_caller_even_through_into() {
    let mut words = Interner::<Strong<str>>::new();
    let word = words.intern("word");
    let made = line!() - 1;
    let again = words.intern(String::from("word"));
    let copied = words.intern_ref("word");
    assert_eq!(lines!(&word), [made, made + 2, made + 3]);
    let words = concurrent::Interner::<Strong<str>>::new();
    let shared = words.intern("word");
    assert_eq!(lines!(&shared), [made + 6]);
    drop((again, copied));
}

/// O217: A floor is a holder, until it lets go. Its handle names the caller that has brought the object, or found it again.
#[test]
fn a_floor_is_named() {
    let names = concurrent::Interner::<Strong<str>>::new();
    let kept = names.set_keep_alive(weakly::keep::Limit::none(), |_| 1);
    let name = names.intern_ref("name");
    let made = line!() - 1;
    assert_eq!(lines!(&name), [made, made]);
    kept.clear();
    assert_eq!(lines!(&name), [made]);
    drop(names.get("name"));
    assert_eq!(lines!(&name), [made, made + 5]);
}
