//! Of what threads share.

/// What is said under a key is of the key's type, and who asks gets that.
///
/// ```
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::new());
/// attributes.set(&node, Depth, 3);
/// let depth: Option<u32> = attributes.get(&node, Depth);
/// ```
/// ```compile_fail,E0308
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::new());
/// attributes.set(&node, Depth, "three");
/// ```
/// ```compile_fail,E0308
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # impl AttributeKey for Depth { type Value = u32; }
/// # let (node, attributes) = (Strong::new("node"), Attributes::<Strong<&str>>::new());
/// let depth: Option<String> = attributes.get(&node, Depth);
/// ```
///
/// What has not been declared a key is none.
///
/// ```compile_fail,E0277
/// # use weakly::{AttributeKey, Attributes, Strong};
/// # struct Depth;
/// # let (node, attributes) = (Strong::new("node"), Attributes::<Strong<&str>>::new());
/// attributes.has(&node, Depth);
/// ```
///
/// Threads share a namespace, so a value can be shared too.
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
struct AttributeKeys;

/// An attribute is of objects that live on any thread.
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
/// A static one is shared, and so are its values.
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
/// What writes takes the pointer, of which a dying object has none any more.
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
///         NOTE.set(self, "last words".into());
///     }
/// }
/// ```
struct AttributesAcrossThreads;

/// A memo is keyed by pointers that threads share, and hands out clones.
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
/// A computation is of one thread, and does not outlast itself.
///
/// ```
/// # use weakly::{Memo, Strong};
/// # let (memo, one, other) = (Memo::<Strong<u32>, u32>::new(), Strong::new(1), Strong::new(2));
/// memo.get_or_compute(&one, |cx| {
///     cx.depends_on(&other);
///     1
/// });
/// ```
/// ```compile_fail,E0277
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
struct Memos;

/// Both sides of a pair are pointers that threads share, and so are keys by content, which can be compared and
/// hashed.
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
/// ```compile_fail,E0277
/// # use weakly::{Strong, concurrent::WeakHashMap};
/// let map = WeakHashMap::<Strong<f32>, u32>::default();
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, concurrent::WeakHashSet};
/// let set = WeakHashSet::<Strong<f32>>::default();
/// ```
///
/// What is found is given out as a handle, or shown for the time of a closure.
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
