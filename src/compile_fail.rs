//! What must not compile, each beside something that is nearly the same and does: so that an example
//! does not fail for a reason of its own. What must compile on its own is in `tests/auto_traits.rs`.

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
struct OnlyHandlesAreKeys;

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
