//! Strong handles as keys and values: [`StrongRef`]; its weak handle, [`WeakRef`]; [`Upgrade`], a
//! watch that can return a strong handle; [`Wrapper`], a newtype around a strong handle. These
//! traits refer to each other, as [`WeakKey`] and [`Watch`] do, so they share this file.

use core::ops::Deref;

use super::key::{Watch, WeakKey};
use super::permit::Permit;

/// A strong handle whose target collections can refer to weakly, as a key or a value:
/// [`Strong`](crate::Strong), [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc),
/// [`Rc`](alloc::rc::Rc), or your own.
///
/// A newtype around one of these handles becomes a `StrongRef` by
/// [`impl_handle!`](crate::impl_handle), without `unsafe`. Any other handle of your own is of one
/// of two kinds:
///
/// * The handle wraps a handle of this crate: choose `type Watch = Notified<Self>` and implement
///   [`Notify`](crate::reference::Notify). Collections are then notified of deaths through the
///   wrapped handle.
/// * The handle counts on its own, like `Arc`: choose `type Watch = Swept<Self>`. Collections then
///   find dead entries by sweeping a few entries at a time.
///
/// The destructor of your weak handle runs wherever a collection frees an entry; in a shared
/// collection perhaps after the operation that removed the entry. Let the destructor do no more
/// than count down.
///
/// Keys by content also need `Deref<Target = Self::Target>`, an interner's `intern_ref` needs
/// `From<&Q>`, and `purge_cycles` needs [`Trace`](crate::cycles::Trace). Lookups take your strong
/// and weak handles; wrap a plain reference in [`Addr::of`](crate::Addr::of).
///
/// A collection of these handles is `Send` and `Sync` if their [`Weak`](WeakKey::Weak) is.
///
/// # Safety
/// The requirements of [`WeakKey`] hold for the handle, its clones and its weak handles.
///
/// The work of `impl_handle!`, by hand:
///
/// ```
/// use weakly::reference::{Identify, Identity, Notified, Notify, Permit};
/// use weakly::reference::{StrongRef, WeakKey, WeakRef};
/// use weakly::{Strong, Weak, WeakMap};
///
/// /// A node of a document.
/// #[derive(Clone)]
/// struct Node(Strong<String>);
/// #[derive(Clone)]
/// struct WeakNode(Weak<String>);
///
/// // SAFETY: all calls are forwarded to `Strong`.
/// unsafe impl WeakKey for Node {
///     type Watch = Notified<Self>;
///     type Weak = WeakNode;
///     fn addr(this: &Self) -> *const () { WeakKey::addr(&this.0) }
///     fn downgrade(this: &Self) -> WeakNode { WeakNode(Strong::downgrade(&this.0)) }
/// }
/// // SAFETY: likewise.
/// unsafe impl StrongRef for Node {
///     type Target = String;
/// }
/// // SAFETY: likewise.
/// unsafe impl WeakRef for WeakNode {
///     type Strong = Node;
///     fn upgrade(&self) -> Option<Node> { self.0.upgrade().map(Node) }
///     fn addr(&self) -> *const () { WeakRef::addr(&self.0) }
/// }
/// // SAFETY: `handle` is the one whose address `addr` returns.
/// unsafe impl Notify for Node {
///     type Pointee = String;
///     type Flavour = weakly::ptr::Atomic;
///     fn handle(this: &Self) -> &Strong<String> { &this.0 }
///     fn from_handle(handle: Strong<String>, _: Permit<Self>) -> Self { Node(handle) }
///     fn from_weak(weak: Weak<String>, _: Permit<Self>) -> WeakNode { WeakNode(weak) }
/// }
/// impl Identity for WeakNode {
///     fn identity(this: &Self) -> *const () { Identity::identity(&this.0) }
/// }
/// impl Identify<Node> for WeakNode {
///     fn addr(this: &Self) -> *const () { Identify::<Strong<String>>::addr(&this.0) }
/// }
///
/// let mut titles = WeakMap::new();
/// let node = Node(Strong::new("body".into()));
/// titles.insert(&node, "Title");
/// assert_eq!(titles.get(&node), Some(&"Title"));
/// drop(node);
/// assert_eq!(titles.len(), 0);
/// ```
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a strong handle that collections can refer to weakly",
    label = "use `Strong`, `local::Strong`, `Arc` or `Rc`",
    note = "a newtype around one of these becomes one by `impl_handle!`",
    note = "an `Anchor` is only a key by identity: it returns no handle, so it is no weak value and no key by content"
)]
pub unsafe trait StrongRef:
    WeakKey<Watch: Upgrade<Pointer = Self>, Weak: WeakRef<Strong = Self>>
{
    /// The target type.
    type Target: ?Sized;
    /// Returns the size of the target, if the size is known. For messages.
    fn size(_this: &Self) -> Option<usize> {
        None
    }
}

/// The weak handle of a [`StrongRef`].
///
/// # Safety
/// See [`StrongRef`]. Once dead, a target stays dead.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no weak handle",
    label = "pass the weak handle, which was made before the last strong one was dropped"
)]
pub unsafe trait WeakRef: Clone {
    /// The strong handle type.
    type Strong: StrongRef<Weak = Self>;
    /// Returns a strong handle if the target is live.
    #[must_use]
    fn upgrade(&self) -> Option<Self::Strong>;
    /// Returns the address of the target, live or dead.
    fn addr(&self) -> *const ();
    /// Returns whether the target is dead: no upgrade can succeed any more.
    ///
    /// The default tries to upgrade. If the upgraded handle turns out to be the last handle, the
    /// target dies during this call. Read a count instead if the handle has a count.
    fn is_expired(&self) -> bool {
        self.upgrade().is_none()
    }
    /// Returns the number of strong handles, if the number is known. For messages.
    fn strong_count(&self) -> Option<usize> {
        None
    }
}

/// A watch that can return a handle to the object while the object is live. Sealed.
pub trait Upgrade: Watch<Key = <Self as Upgrade>::Pointer> {
    /// The handle to the object.
    type Pointer: StrongRef;
    /// The same kind of watch for a newtype around the handle.
    #[doc(hidden)]
    type Around<K: Wrapper<Inner = Self::Pointer>>: Upgrade<Pointer = K>;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Pointer>;
}

/// A [`StrongRef`] whose target can be read, as keys by content require. Implemented for every
/// `StrongRef` that implements [`Deref`].
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a key by content: it does not show its target",
    label = "a strong handle with `Deref`, such as `Strong`, `local::Strong`, `Arc` or `Rc`",
    note = "for a handle of your own: `impl Deref<Target = …>`, with the target of its `StrongRef`"
)]
pub trait Content: StrongRef {
    /// Returns the target.
    fn content(this: &Self) -> &Self::Target;
}

impl<K> Content for K
where
    K: StrongRef + Deref<Target = <K as StrongRef>::Target>,
{
    #[inline]
    fn content(this: &Self) -> &<K as StrongRef>::Target {
        this
    }
}

/// A tuple struct with a single field, as in [`impl_handle!`](crate::impl_handle).
///
/// # Safety
/// `inner` returns the field, and `wrap` makes a newtype of the field; neither does anything else.
pub unsafe trait Newtype: Sized {
    /// The type of the field.
    type Inner;
    /// Returns the field.
    fn inner(this: &Self) -> &Self::Inner;
    /// Makes a newtype of a handle that was the field of another newtype of this type.
    fn wrap(inner: Self::Inner, permit: Permit<Self>) -> Self;
}

/// A strong handle that is a newtype around another strong handle; its weak handle is a newtype
/// around the other weak handle.
// The message is the message of `Notify`: the compiler also looks for `Notify` behind this trait.
#[diagnostic::on_unimplemented(
    message = "`{Self}` does not say which `Strong` it wraps",
    label = "this has to implement `Notify`",
    note = "a handle that wraps none chooses `type Watch = Swept<Self>`"
)]
pub trait Wrapper:
    Newtype<Inner: StrongRef>
    + StrongRef<Weak: Newtype<Inner = <<Self as Newtype>::Inner as WeakKey>::Weak>>
{
}
