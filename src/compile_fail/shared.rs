//! The collections that threads share.

/// The value of an attribute has the type that its key declares.
///
/// ```
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::new());
/// attributes.insert(&node, Depth, 3);
/// let depth: Option<u32> = attributes.get(&node, Depth);
/// ```
/// ```compile_fail,E0308
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::new());
/// attributes.insert(&node, Depth, "three");
/// ```
/// ```compile_fail,E0308
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::<Strong<&str>>::new());
/// let depth: Option<String> = attributes.get(&node, Depth);
/// ```
///
/// A type without a declaration as a key cannot be used as a key.
///
/// ```compile_fail,E0277
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # let (node, attributes) = (Strong::new("node"), Attributes::<Strong<&str>>::new());
/// attributes.contains_key(&node, Depth);
/// ```
///
/// Threads share a namespace, so its values must be `Sync`.
///
/// ```
/// # use weakly::AttributeKey;
/// # struct Cursor;
/// impl AttributeKey for Cursor { type Value = std::sync::Mutex<u32>; }
/// ```
/// ```compile_fail,E0277
/// # use weakly::AttributeKey;
/// # struct Cursor;
/// impl AttributeKey for Cursor { type Value = std::cell::Cell<u32>; }
/// ```
///
/// Values of one thread are for namespaces of one owner.
///
/// ```
/// # use weakly::local::{AttributeKey, Attributes, Strong};
/// # struct Cursor;
/// impl AttributeKey for Cursor { type Value = std::cell::Cell<u32>; }
/// Attributes::new().insert(&Strong::new("node"), Cursor, 1.into());
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Attributes, Strong, local::AttributeKey};
/// # struct Cursor;
/// impl AttributeKey for Cursor { type Value = std::cell::Cell<u32>; }
/// Attributes::new().insert(&Strong::new("node"), Cursor, 1.into());
/// ```
struct AttributeKeys;

/// The pointers to the objects of an attribute must be `Send` and `Sync`.
///
/// ```
/// # use weakly::{Attribute, Strong};
/// let attribute = Attribute::<Strong<u32>, String>::new();
/// let attribute = Attribute::<std::sync::Arc<u32>, String>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Attribute, local::Strong};
/// let attribute = Attribute::<Strong<u32>, String>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::Attribute;
/// let attribute = Attribute::<std::rc::Rc<u32>, String>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Attribute, Strong};
/// let attribute = Attribute::<Strong<std::cell::Cell<u32>>, String>::new();
/// ```
///
/// A static attribute is shared, and so are its values.
///
/// ```
/// # use weakly::{Attribute, Strong};
/// # use std::sync::atomic::AtomicU32;
/// static VISITS: Attribute<Strong<u32>, AtomicU32> = Attribute::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Attribute, Strong};
/// # use std::cell::Cell;
/// static VISITS: Attribute<Strong<u32>, Cell<u32>> = Attribute::new();
/// ```
///
/// Methods that write take a handle to the object, and a dying object has no handle any more.
///
/// ```
/// # use weakly::{Attribute, Strong};
/// # static NOTE: Attribute<Strong<Node>, String> = Attribute::new();
/// struct Node(u32);
/// impl Drop for Node {
///     fn drop(&mut self) {
///         NOTE.remove(self);
///     }
/// }
/// ```
/// ```compile_fail,E0308
/// # use weakly::{Attribute, Strong};
/// # static NOTE: Attribute<Strong<Node>, String> = Attribute::new();
/// struct Node(u32);
/// impl Drop for Node {
///     fn drop(&mut self) {
///         NOTE.insert(self, "last words".into());
///     }
/// }
/// ```
struct AttributesAcrossThreads;

/// The keys of a memo are pointers that threads share, and its lookups return clones.
///
/// ```
/// # use weakly::{Memo, Strong};
/// let memo = Memo::<(Strong<u32>, std::sync::Arc<u32>), u32>::new();
/// memo.get_or_compute((&Strong::new(1), &std::sync::Arc::new(2)), |_| 3);
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Memo, Strong};
/// let memo = Memo::<(Strong<u32>, std::rc::Rc<u32>), u32>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Memo, local::Strong};
/// let memo = Memo::<Strong<u32>, u32>::new();
/// ```
///
/// A computation's context does not outlive the computation.
///
/// ```
/// # use weakly::{Memo, Strong};
/// # let (memo, one, other) = (Memo::<Strong<u32>, u32>::new(), Strong::new(1), Strong::new(2));
/// memo.get_or_compute(&one, |cx| {
///     std::thread::scope(|scope| { scope.spawn(|| cx.depends_on(&other)); });
///     1
/// });
/// ```
/// ```compile_fail,E0521
/// # use weakly::{Memo, Strong};
/// # let (memo, one, other) = (Memo::<Strong<u32>, u32>::new(), Strong::new(1), Strong::new(2));
/// let mut kept = None;
/// memo.get_or_compute(&one, |cx| {
///     kept = Some(cx);
///     1
/// });
/// ```
///
/// A part of a computation by tasks borrows the memo.
///
/// ```
/// # use weakly::{Memo, Strong};
/// # use std::{future::{Future, ready}, task::{Context, Waker}};
/// # let (key, mut kept) = (Strong::new(1), Vec::new());
/// # let mut context = Context::from_waker(Waker::noop());
/// static MEMO: Memo<Strong<u32>, u32> = Memo::new();
/// {
///     let mut asked = Box::pin(MEMO.get_or_compute_async(&key, |_, dependencies| {
///         kept.push(Box::pin(dependencies.enter(ready(2))));
///         ready(1)
///     }));
///     asked.as_mut().poll(&mut context);
///     std::mem::forget(asked);
/// }
/// kept[0].as_mut().poll(&mut context);
/// ```
/// ```compile_fail,E0597
/// # use weakly::{Memo, Strong};
/// # use std::{future::{Future, ready}, task::{Context, Waker}};
/// # let (key, mut kept) = (Strong::new(1), Vec::new());
/// # let mut context = Context::from_waker(Waker::noop());
/// {
///     let memo = Memo::<Strong<u32>, u32>::new();
///     let mut asked = Box::pin(memo.get_or_compute_async(&key, |_, dependencies| {
///         kept.push(Box::pin(dependencies.enter(ready(2))));
///         ready(1)
///     }));
///     asked.as_mut().poll(&mut context);
///     std::mem::forget(asked);
/// }
/// kept[0].as_mut().poll(&mut context);
/// ```
struct Memos;

/// Keys and values of a pair map are pointers that threads share. So are keys by content, which
/// also need `Eq` and `Hash`.
///
/// ```
/// # use weakly::{Strong, concurrent::{WeakHashMap, WeakHashSet, WeakPairMap}};
/// let pairs = WeakPairMap::<Strong<u32>, std::sync::Arc<u32>>::new();
/// let map = WeakHashMap::<Strong<u32>, f32>::new();
/// let set = WeakHashSet::<Strong<u32>>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, concurrent::WeakPairMap};
/// let pairs = WeakPairMap::<Strong<u32>, std::rc::Rc<u32>>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, concurrent::WeakPairMap, local};
/// let pairs = WeakPairMap::<local::Strong<u32>, Strong<u32>>::new();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{concurrent::WeakHashMap, local::Strong};
/// let map = WeakHashMap::<Strong<u32>, f32>::default();
/// ```
/// ```compile_fail,E0599
/// # use weakly::{Strong, concurrent::WeakHashMap};
/// WeakHashMap::<Strong<f32>, u32>::default().insert(&Strong::new(0.5), 1);
/// ```
/// ```compile_fail,E0599
/// # use weakly::{Strong, concurrent::WeakHashSet};
/// WeakHashSet::<Strong<f32>>::default().insert(&Strong::new(0.5));
/// ```
///
/// A lookup returns a handle, or passes a reference to a closure.
///
/// ```
/// # use weakly::{Strong, concurrent::WeakHashMap};
/// # let (word, map) = (Strong::<str>::from("word"), WeakHashMap::<Strong<str>, String>::new());
/// let found = map.with("word", |value| value.len());
/// ```
/// ```compile_fail
/// # use weakly::{Strong, concurrent::WeakHashMap};
/// # let (word, map) = (Strong::<str>::from("word"), WeakHashMap::<Strong<str>, String>::new());
/// let found = map.with("word", |value| value);
/// ```
struct SharedContentsAndPairs;
