//! Traits that only this crate implements. (`Cyclic` and `MemoKey` are in `tests/ui`: no other
//! crate can write their methods.)

/// A key chooses one of the existing watches. A foreign watch could keep registrations unknown to
/// its collection, and read a freed object through them.
///
/// ```
/// # use weakly::{Strong, WeakMap, reference::{Identify, Identity, StrongRef, Swept, WeakKey, WeakRef}};
/// # use std::rc::{Rc, Weak};
/// # struct Node(Rc<str>);
/// # #[derive(Clone)]
/// # struct WeakNode(Weak<str>);
/// # unsafe impl StrongRef for Node {
/// #     type Target = str;
/// # }
/// # unsafe impl WeakRef for WeakNode {
/// #     type Strong = Node;
/// #     fn upgrade(&self) -> Option<Node> { self.0.upgrade().map(Node) }
/// #     fn addr(&self) -> *const () { self.0.as_ptr().cast() }
/// # }
/// # impl Identity for WeakNode {
/// #     fn identity(this: &Self) -> *const () { Identity::identity(&this.0) }
/// # }
/// # impl Identify<Node> for WeakNode {
/// #     fn addr(this: &Self) -> *const () { WeakRef::addr(this) }
/// # }
/// unsafe impl WeakKey for Node {
///     type Watch = Swept<Self>;
/// #     type Weak = WeakNode;
/// #     fn downgrade(this: &Self) -> WeakNode { WeakNode(Rc::downgrade(&this.0)) }
///     fn addr(this: &Self) -> *const () { WeakKey::addr(&this.0) }
/// }
/// let mut map = WeakMap::new();
/// map.insert(&Node("a".into()), 1);
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, WeakMap, reference::{Notified, Swept, Upgrade, Watch, WeakKey}};
/// # use std::{cell::RefCell, rc::Rc};
/// # struct Node(Strong<[u64; 4]>);
/// struct Mine(Inner);
/// type Inner = Notified<Strong<[u64; 4]>>;
/// type Queue = <Inner as Watch>::Queue;
/// type Hash = <Swept<Rc<()>> as Watch>::Hash;
/// thread_local!(static KEPT: RefCell<Option<Inner>> = const { RefCell::new(None) });
///
/// impl Watch for Mine {
///     type Key = Node;
///     type Queue = Queue;
///     type Hash = ();
///     fn watch(key: &Node, hash: Hash, queue: &mut Queue) -> Self {
///         KEPT.set(Some(Inner::watch(&key.0, hash, queue)));
///         Mine(Inner::watch(&key.0, hash, queue))
///     }
///     // ...
/// #     fn rewatch(&mut self, _: &Node, _: Hash, _: &mut Queue) {}
/// #     fn hash(&self) -> Hash { self.0.hash() }
/// #     fn store_hash(_: Hash) {}
/// #     fn stored_hash(&self, _: ()) -> Hash { self.0.hash() }
/// #     fn addr(&self) -> *const () { Watch::addr(&self.0) }
/// #     fn is_at(&self, addr: *const ()) -> bool { self.0.is_at(addr) }
/// #     fn is_expired(&self) -> bool { self.0.is_expired() }
/// }
/// unsafe impl WeakKey for Node {
///     type Watch = Mine;
///     fn addr(this: &Self) -> *const () { WeakKey::addr(&this.0) }
/// }
/// let mut map = WeakMap::new();
/// map.insert(&Node(Strong::new([1; 4])), 1);
/// map.purge();
/// KEPT.take().unwrap().upgrade();
/// ```
///
/// So a foreign watch is no `Upgrade`, and no watch of shared collections.
///
/// ```compile_fail,E0277
/// # use weakly::{Strong, Weak, reference::Upgrade};
/// struct Mine(Weak<str>);
/// impl Upgrade for Mine {
///     type Pointer = Strong<str>;
///     fn upgrade(&self) -> Option<Strong<str>> { self.0.upgrade() }
///     fn downgrade(&self) -> Option<Weak<str>> { None }
/// }
/// ```
/// ```compile_fail,E0277
/// # use weakly::{Strong, concurrent::Sharing, reference::Notified};
/// struct Mine;
/// impl Sharing for Mine {
///     type SharedWatch = <Notified<Strong<str>> as Sharing>::SharedWatch;
/// }
/// ```
struct Watches;

/// There are two flavours of pointers.
///
/// ```
/// # use weakly::ptr::{Flavour, Local};
/// fn objects<F: Flavour>() {}
/// objects::<Local>();
/// ```
/// ```compile_fail,E0277
/// # use weakly::ptr::{Flavour, Local};
/// #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
/// struct Mine;
/// impl Flavour for Mine {
///     const SHARED: bool = false;
///     type Half = <Local as Flavour>::Half;
///     type Word = <Local as Flavour>::Word;
///     type Link = <Local as Flavour>::Link;
///     const NULL: Self::Link = Local::NULL;
///     type Callback = dyn FnOnce();
///     fn call(callback: Box<dyn FnOnce()>) { callback(); }
/// }
/// ```
struct Flavours;
