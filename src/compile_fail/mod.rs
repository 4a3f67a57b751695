//! Code that must not compile. Each example stands beside a similar example that compiles, so that
//! the first does not fail for another reason. Examples that only have to compile are in
//! `tests/auto_traits.rs`.

mod coercions;
mod sealed;
#[cfg(feature = "serde")]
mod serde_impls;
#[cfg(feature = "std")]
mod shared;
mod variance;

/// A map is `Send` if its values are; a map of `local` handles never is.
///
/// ```
/// # use weakly::{Strong, WeakMap};
/// let map = WeakMap::<Strong<i32>, std::sync::Arc<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakMap};
/// let map = WeakMap::<Strong<i32>, std::rc::Rc<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{WeakMap, local::Strong};
/// let map = WeakMap::<Strong<i32>, std::sync::Arc<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
///
/// A map of pairs is `Send` if both its keys and its values are: the notices of `local` handles go
/// to a queue of their own thread, whether they are keys or values.
///
/// ```
/// # use weakly::{Strong, WeakPairMap, local};
/// let map = WeakPairMap::<Strong<i32>, Strong<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakPairMap, local};
/// let map = WeakPairMap::<Strong<i32>, local::Strong<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakPairMap, local};
/// let map = WeakPairMap::<local::Strong<i32>, Strong<i32>>::new();
/// std::thread::spawn(move || drop(map));
/// ```
///
/// Threads that share an interner need a lock.
///
/// ```
/// # use weakly::{Interner, Strong};
/// # use std::sync::Mutex;
/// let names = Mutex::new(Interner::<Strong<str>>::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| names.lock().unwrap().intern_ref("one"));
///     scope.spawn(|| names.lock().unwrap().intern_ref("other"));
/// });
/// ```
/// ```compile_fail,E0499
/// # use weakly::{Interner, Strong};
/// # use std::sync::Mutex;
/// let mut names = Interner::<Strong<str>>::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| names.intern_ref("one"));
///     scope.spawn(|| names.intern_ref("other"));
/// });
/// ```
struct MapsAcrossThreads;

/// A handle is `Send` if its payload is `Send` and `Sync`.
///
/// ```
/// # use weakly::Strong;
/// let handle = Strong::new(std::sync::Mutex::new(1));
/// std::thread::spawn(move || drop(handle));
/// ```
/// ```compile_fail,E0277
/// # use weakly::Strong;
/// let handle = Strong::new(std::cell::Cell::new(1));
/// std::thread::spawn(move || drop(handle));
/// ```
/// ```compile_fail,E0277
/// # use weakly::Strong;
/// let handle = Strong::downgrade(&Strong::new(std::cell::Cell::new(1)));
/// std::thread::spawn(move || drop(handle));
/// ```
/// ```compile_fail,E0277
/// # use weakly::local::Strong;
/// let handle = Strong::new(std::sync::Mutex::new(1));
/// std::thread::spawn(move || drop(handle));
/// ```
struct HandlesAcrossThreads;

/// The captures of a finalizer must be `Send`, unless the object is `local`: then both stay on one
/// thread.
///
/// ```
/// # use weakly::{Strong, local};
/// # use std::{rc::Rc, sync::Arc};
/// let state = Arc::new(1);
/// Strong::finalize(&Strong::new(1), move || drop(state));
/// let state = Rc::new(1);
/// local::Strong::finalize(&local::Strong::new(1), move || drop(state));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, local};
/// # use std::{rc::Rc, sync::Arc};
/// let state = Rc::new(1);
/// Strong::finalize(&Strong::new(1), move || drop(state));
/// ```
///
/// A finalizer may run at any time, so it borrows nothing.
///
/// ```compile_fail,E0597
/// # use weakly::Strong;
/// let object = Strong::new(1);
/// let text = String::from("borrowed");
/// let text = &text;
/// Strong::finalize(&object, move || println!("{text}"));
/// ```
struct Finalizers;

/// Two threads cannot change or drain one map at the same time (item 71 of the behaviours).
///
/// ```
/// # use weakly::{Strong, WeakMap};
/// let (mut one, mut other) = (WeakMap::<Strong<i32>, i32>::new(), WeakMap::<Strong<i32>, i32>::new());
/// std::thread::scope(|scope| {
///     scope.spawn(|| one.purge());
///     scope.spawn(|| other.purge());
/// });
/// ```
/// ```compile_fail,E0499
/// # use weakly::{Strong, WeakMap};
/// let mut one = WeakMap::<Strong<i32>, i32>::new();
/// std::thread::scope(|scope| {
///     scope.spawn(|| one.purge());
///     scope.spawn(|| one.purge());
/// });
/// ```
struct TwoDrains;

/// A borrow in a value must outlive the map.
///
/// ```
/// # use weakly::{Strong, WeakMap};
/// let key = Strong::new(1);
/// let text = String::from("text");
/// let mut map = WeakMap::new();
/// map.insert(&key, text.as_str());
/// ```
/// ```compile_fail,E0597
/// # use weakly::{Strong, WeakMap};
/// let key = Strong::new(1);
/// let mut map = WeakMap::new();
/// let text = String::from("text");
/// map.insert(&key, text.as_str());
/// ```
///
/// A borrow in an owned key must outlive the map, too.
///
/// ```
/// # use weakly::{Strong, WeakValueMap};
/// let value = Strong::new(1);
/// let name = String::from("name");
/// let mut map = WeakValueMap::new();
/// map.insert(name.as_str(), &value);
/// ```
/// ```compile_fail,E0597
/// # use weakly::{Strong, WeakValueMap};
/// let value = Strong::new(1);
/// let mut map = WeakValueMap::new();
/// let name = String::from("name");
/// map.insert(name.as_str(), &value);
/// ```
struct BorrowedValues;

/// A borrow in a payload must outlive the handle.
///
/// ```
/// # use weakly::Strong;
/// let text = String::from("text");
/// let handle = Strong::new(text.as_str());
/// ```
/// ```compile_fail,E0505
/// # use weakly::Strong;
/// let text = String::from("text");
/// let handle = Strong::new(text.as_str());
/// drop(text);
/// drop(handle);
/// ```
struct BorrowedPayloads;

/// The result of a lookup borrows from the map.
///
/// ```
/// # use weakly::{Strong, WeakMap};
/// let key = Strong::new(1);
/// let map = WeakMap::from([(&key, 5)]);
/// let found = map.get(&key);
/// drop(key);
/// assert_eq!(found, Some(&5)); // a dead key's value stays until the map is changed
/// ```
/// ```compile_fail,E0505
/// # use weakly::{Strong, WeakMap};
/// let key = Strong::new(1);
/// let map = WeakMap::from([(&key, 5)]);
/// let found = map.get(&key);
/// drop(map);
/// assert_eq!(found, Some(&5));
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakMap};
/// let key = Strong::new(1);
/// let mut map = WeakMap::from([(&key, 5)]);
/// let found = map.get(&key);
/// map.purge();
/// assert_eq!(found, Some(&5));
/// ```
///
/// A weak value found by a lookup does not borrow from the map: the caller gets a handle, whatever
/// happens to the map. But the key beside the value borrows from the map.
///
/// ```
/// # use weakly::{Strong, WeakValueMap};
/// let value = Strong::new(5);
/// let map = WeakValueMap::from([("five", &value)]);
/// let found = map.get("five");
/// drop(map);
/// assert_eq!(found.as_deref(), Some(&5));
/// ```
/// ```compile_fail,E0505
/// # use weakly::{Strong, WeakValueMap};
/// let value = Strong::new(5);
/// let map = WeakValueMap::from([("five", &value)]);
/// let found = map.get_key_value("five");
/// drop(map);
/// assert_eq!(found, Some((&"five", value)));
/// ```
///
/// A value found by its key's content borrows from the map, although the key was upgraded for the
/// lookup.
///
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakHashMap};
/// let word: Strong<str> = "word".into();
/// let mut map = WeakHashMap::from([(&word, 5)]);
/// let found = map.get_key_value("word");
/// map.purge();
/// assert_eq!(found, Some((word, &5)));
/// ```
struct Lookups;

/// While an iterator is open, the map cannot be changed (items 89 to 91). While a closure computes
/// a value for the map, the map cannot be changed either (item 12).
///
/// ```
/// # use weakly::{Strong, WeakMap};
/// # let key = Strong::new(1);
/// # let mut map = WeakMap::from([(&key, 5)]);
/// for (key, _) in &map { assert!(map.contains_key(&key)); }
/// map.get_or_insert_with(&key, |_| 5);
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakMap};
/// # let key = Strong::new(1);
/// # let mut map = WeakMap::from([(&key, 5)]);
/// for (key, _) in &map { map.insert(&key, 6); }
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakMap};
/// # let key = Strong::new(1);
/// # let mut map = WeakMap::from([(&key, 5)]);
/// for (key, _) in &map { map.remove(&key); }
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakMap};
/// # let key = Strong::new(1);
/// # let mut map = WeakMap::from([(&key, 5)]);
/// for _ in &map { map.clear(); }
/// ```
/// ```compile_fail,E0499
/// # use weakly::{Strong, WeakMap};
/// # let key = Strong::new(1);
/// # let mut map = WeakMap::from([(&key, 5)]);
/// map.get_or_insert_with(&key, |_| map.remove(&key).unwrap());
/// ```
///
/// The same is true of the collections in which the computed value is weak.
///
/// ```
/// # use weakly::{Strong, WeakValueMap};
/// # let mut map = WeakValueMap::<&str, Strong<i32>>::new();
/// for (key, _) in &map { assert!(map.contains_key(key)); }
/// map.get_or_insert_with("five", |_| Strong::new(5));
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakValueMap};
/// # let mut map = WeakValueMap::<&str, Strong<i32>>::new();
/// for (key, _) in &map { map.remove(key); }
/// ```
/// ```compile_fail,E0499
/// # use weakly::{Strong, WeakValueMap};
/// # let mut map = WeakValueMap::<&str, Strong<i32>>::new();
/// map.get_or_insert_with("five", |key| map.remove(key).unwrap());
/// ```
/// ```compile_fail,E0499
/// # use weakly::{Strong, WeakValueMap};
/// # let mut map = WeakValueMap::<&str, Strong<i32>>::new();
/// let (one, other) = (map.entry("one"), map.entry("other"));
/// drop((one, other));
/// ```
struct OpenIterators;

/// An [`Addr`](crate::Addr) does not outlive its target.
///
/// ```
/// # use weakly::{Addr, Strong};
/// let text: Strong<str> = "text".into();
/// let addr = Addr::of(&*text);
/// drop(addr);
/// drop(text);
/// ```
/// ```compile_fail,E0505
/// # use weakly::{Addr, Strong};
/// let text: Strong<str> = "text".into();
/// let addr = Addr::of(&*text);
/// drop(text);
/// drop(addr);
/// ```
struct Addresses;

/// Only a strong handle of the key type can be inserted: no reference to the stack or to a static,
/// no weak handle, and no other kind of pointer (item 130).
///
/// ```
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set.insert(&Strong::new(5));
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set.insert(&5);
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set.insert(&Strong::downgrade(&Strong::new(5)));
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set.insert(&std::sync::Arc::new(5));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<&'static i32>::new();
/// ```
///
/// The same is true of weak values.
///
/// ```
/// # use weakly::{Strong, WeakValueMap};
/// let mut map = WeakValueMap::<i32, Strong<i32>>::new();
/// map.insert(5, &Strong::new(5));
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Strong, WeakValueMap};
/// let mut map = WeakValueMap::<i32, Strong<i32>>::new();
/// map.insert(5, &5);
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakPairMap};
/// let mut map = WeakPairMap::<Strong<i32>, &'static i32>::new();
/// ```
struct OnlyHandlesAreKeys;

/// Collections by content require `Eq` and `Hash` of the content.
///
/// ```
/// # use weakly::{Strong, WeakHashMap};
/// WeakHashMap::new().insert(&Strong::new(5), "five");
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakHashMap};
/// WeakHashMap::new().insert(&Strong::new(5.0), "five");
/// ```
struct Contents;

/// A reference that may point to a part of another object does not identify a key; see
/// [`Identify`](crate::reference::Identify).
///
/// ```
/// # use weakly::{Addr, Strong, WeakSet};
/// # let (text, set): (Strong<str>, _) = ("text".into(), WeakSet::<Strong<str>>::new());
/// set.contains(&Addr::of(&*text));
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Addr, Strong, WeakSet};
/// # let (text, set): (Strong<str>, _) = ("text".into(), WeakSet::<Strong<str>>::new());
/// set.contains(&*text);
/// ```
struct PlainReferences;

/// An anchor is a key without strong handles: no method leads from its weak handle to the value, or
/// from a map to its keys.
///
/// ```
/// # use weakly::{Anchor, WeakMap};
/// let anchor = Anchor::new();
/// assert!(!anchor.downgrade().is_expired());
/// let map = WeakMap::from([(&anchor, 1)]);
/// assert_eq!(map.values().count(), 1);
/// ```
/// ```compile_fail,E0599
/// # use weakly::{Anchor, WeakMap};
/// let anchor = Anchor::new();
/// anchor.downgrade().upgrade();
/// ```
/// ```compile_fail,E0599
/// # use weakly::{Anchor, WeakMap};
/// let anchor = Anchor::new();
/// let map = WeakMap::from([(&anchor, 1)]);
/// map.keys();
/// ```
/// ```compile_fail,E0599
/// # use weakly::{Anchor, WeakMap};
/// let anchor = Anchor::new();
/// let map = WeakMap::from([(&anchor, 1)]);
/// map.iter();
/// ```
///
/// So an anchor is the value of no map.
///
/// ```
/// # use weakly::{Anchor, Strong, WeakPairMap};
/// let map = WeakPairMap::<Anchor, Strong<i32>>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Anchor, Strong, WeakPairMap};
/// let map = WeakPairMap::<Strong<i32>, Anchor>::new();
/// ```
///
/// The key is the anchor, not the value around it.
///
/// ```
/// # use weakly::{Anchor, WeakMap};
/// # struct Node { anchor: Anchor }
/// let (map, node) = (WeakMap::<Anchor, i32>::new(), Node { anchor: Anchor::new() });
/// map.get(&node.anchor);
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Anchor, WeakMap};
/// # struct Node { anchor: Anchor }
/// let (map, node) = (WeakMap::<Anchor, i32>::new(), Node { anchor: Anchor::new() });
/// map.get(&node);
/// ```
///
/// Shared collections take no local anchors, and a finalizer of an anchor that may cross threads
/// must be `Send`.
///
/// ```
/// # use weakly::{Anchor, concurrent::WeakMap};
/// let map = WeakMap::<Anchor, i32>::new();
/// Anchor::new().finalize(|| ());
/// ```
/// ```compile_fail,E0277
/// # use weakly::{local::Anchor, concurrent::WeakMap};
/// let map = WeakMap::<Anchor, i32>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::Anchor;
/// let state = std::rc::Rc::new(1);
/// Anchor::new().finalize(move || drop(state));
/// ```
#[cfg(feature = "std")]
struct Anchors;
