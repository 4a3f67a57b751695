//! What must not compile, each beside something that is nearly the same and does: so that an example
//! does not fail for a reason of its own. What must compile on its own is in `tests/auto_traits.rs`.

mod shared;

/// A map crosses threads if its values do; a map of one thread's handles never does.
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
/// A map of pairs does if both sides do: the notices of one thread's handles go to a queue of that thread,
/// whichever side they are on.
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
/// Threads that intern together need a lock.
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

/// A handle crosses threads if its payload can be shared.
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

/// What a finalizer owns crosses threads with it, unless object and finalizer stay on one.
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
/// It may run at any time, so it borrows nothing.
///
/// ```compile_fail,E0597
/// # use weakly::Strong;
/// let object = Strong::new(1);
/// let text = String::from("borrowed");
/// let text = &text;
/// Strong::finalize(&object, move || println!("{text}"));
/// ```
struct Finalizers;

/// Two threads cannot change one map at once, nor drain it (item 71 of the behaviours).
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

/// What a value borrows must outlive the map.
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
/// So must what an owned key borrows.
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

/// So must what a payload borrows outlive the handle.
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

/// What a lookup has found is borrowed from the map.
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
/// A weak value is not: it is the caller's own handle, whatever becomes of the map. But the key beside it is.
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
/// Nor does a value that is found by its key's content outlive the map by the key that was held for that.
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

/// While an iterator is open, the map does not change (items 89 to 91); nor while a closure makes a
/// value for it (item 12).
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
/// Nor do the other collections, where what is being made is weak.
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

/// Only a strong handle is inserted: nothing on the stack, nothing that is never freed, no weak
/// handle, and none of another kind (item 130).
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
/// The same goes for values that are held weakly.
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

/// What is told apart by its content needs one that can be told apart.
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

/// A reference that may be to a part of another object does not identify a key; see
/// [`Identify`](crate::Identify).
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

/// A set is not changed with itself (item 104 of the behaviours): a copy is.
///
/// ```
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set -= &set.clone();
/// ```
/// ```compile_fail,E0502
/// # use weakly::{Strong, WeakSet};
/// let mut set = WeakSet::<Strong<i32>>::new();
/// set -= &set;
/// ```
struct SetsWithThemselves;
