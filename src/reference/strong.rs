//! What a pointer has to be to be held weakly, and what identifies one.

use core::fmt;
use core::marker::PhantomData;
use core::ops::Deref;

use super::watch::Watching;
use crate::collections::shown::Keyed;
use crate::ptr::{Flavour, Strong, Weak};

/// A strong pointer whose target can be held weakly, as a key or a value: [`Strong`](crate::Strong),
/// [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or your own.
///
/// A pointer of your own is one of two kinds:
///
/// * It wraps one of this crate's: choose `type Watch = Notified<Self>` and implement [`Notify`], and
///   its deaths are announced as those of the wrapped pointer are.
/// * It counts by itself, like `Arc`: choose `type Watch = Swept<Self>`. Collections then look for the
///   dead a few entries at a time.
///
/// A collection of such pointers crosses threads as their [`Weak`](Self::Weak) does.
///
/// # Safety
/// * [`addr`](Self::addr) is the same for all clones of a pointer and for its weak pointers, does not
///   change while any of them exists, and differs from that of every other live target of such a
///   pointer.
/// * With `Swept`: while a weak pointer exists, the address is not used for another target, even when
///   the target is dead (the weak pointer pins the allocation).
/// * With `Notified`: `addr` is that of the handle behind [`Notify`].
///
/// ```
/// use weakly::{Identify, Notified, Notify, Strong, StrongRef, Weak, WeakMap, WeakRef};
///
/// /// A node of a document.
/// #[derive(Clone)]
/// struct Node(Strong<String>);
/// #[derive(Clone)]
/// struct WeakNode(Weak<String>);
///
/// // SAFETY: all questions are passed on to `Strong`.
/// unsafe impl StrongRef for Node {
///     type Target = String;
///     type Weak = WeakNode;
///     type Watch = Notified<Self>;
///     fn downgrade(this: &Self) -> WeakNode { WeakNode(Strong::downgrade(&this.0)) }
///     fn addr(this: &Self) -> *const () { StrongRef::addr(&this.0) }
/// }
/// // SAFETY: likewise.
/// unsafe impl WeakRef for WeakNode {
///     type Strong = Node;
///     fn upgrade(&self) -> Option<Node> { self.0.upgrade().map(Node) }
///     fn addr(&self) -> *const () { WeakRef::addr(&self.0) }
/// }
/// // SAFETY: `handle` is the one that `addr` speaks of.
/// unsafe impl Notify for Node {
///     type Pointee = String;
///     type Flavour = weakly::Atomic;
///     fn handle(this: &Self) -> &Strong<String> { &this.0 }
///     fn from_handle(handle: Strong<String>) -> Self { Node(handle) }
///     fn from_weak(weak: Weak<String>) -> WeakNode { WeakNode(weak) }
/// }
/// impl Identify<Node> for WeakNode {
///     fn addr(&self) -> *const () { Identify::<Strong<String>>::addr(&self.0) }
/// }
///
/// let mut titles = WeakMap::new();
/// let node = Node(Strong::new("body".into()));
/// titles.insert(&node, "Title");
/// assert_eq!(titles.get(&node), Some(&"Title"));
/// drop(node);
/// assert_eq!(titles.len(), 0);
/// ```
pub unsafe trait StrongRef: Sized {
    /// What it points to.
    type Target: ?Sized;
    /// Its weak pointer.
    type Weak: WeakRef<Strong = Self> + Identify<Self>;
    /// How collections learn of a death: [`Notified`](crate::Notified) or [`Swept`](crate::Swept).
    type Watch: Watching<Pointer = Self> + Keyed<()>;
    /// A weak pointer to the same target.
    fn downgrade(this: &Self) -> Self::Weak;
    /// The address of the target: data only, never a vtable.
    fn addr(this: &Self) -> *const ();
}

/// The weak pointer of a [`StrongRef`].
///
/// # Safety
/// See [`StrongRef`]. A dead target is never brought back.
pub unsafe trait WeakRef: Clone {
    /// Its strong pointer.
    type Strong: StrongRef<Weak = Self>;
    /// A strong pointer, while the target lives.
    fn upgrade(&self) -> Option<Self::Strong>;
    /// The address of the target, dead or alive.
    fn addr(&self) -> *const ();
    /// Whether the target is dead: no upgrade can succeed any more.
    ///
    /// The default asks by upgrading; if the upgraded pointer turns out to be the last, the target
    /// dies here. Better ask a count.
    fn is_expired(&self) -> bool {
        self.upgrade().is_none()
    }
}

/// A [`StrongRef`] that wraps a [`Strong`](crate::Strong) or a [`local::Strong`](crate::local::Strong),
/// and passes its notices on.
///
/// # Safety
/// `handle` always returns the handle of the same object for one pointer and its clones, and its
/// address is what [`StrongRef::addr`] says.
pub unsafe trait Notify: StrongRef {
    /// What the wrapped handle points to.
    type Pointee: ?Sized;
    /// Its flavour.
    type Flavour: Flavour;
    /// The wrapped handle.
    fn handle(this: &Self) -> &Strong<Self::Pointee, Self::Flavour>;
    /// Wraps a handle.
    fn from_handle(handle: Strong<Self::Pointee, Self::Flavour>) -> Self;
    /// Wraps a weak handle.
    fn from_weak(weak: Weak<Self::Pointee, Self::Flavour>) -> Self::Weak;
}

/// What identifies a key of type `K` in a lookup: a strong pointer, a weak pointer (an expired one
/// finds nothing), a plain reference to the target, or an [`Addr`].
///
/// Plain references are taken for sized targets that have a size. Two different objects can share a
/// thin address when one is a field of the other, or when one has no size; therefore `&str`,
/// `&dyn Trait` and references to zero-sized values are not taken as they are. Where you know that
/// the reference is to the key itself, say so with [`Addr::of`].
///
/// ```
/// use weakly::{Addr, Strong, WeakMap};
///
/// struct Node { name: &'static str }
/// let node = Strong::new(Node { name: "a" });
/// let mut seen = WeakMap::new();
/// seen.insert(&node, true);
/// let plain: &Node = &node;
/// assert!(seen.contains_key(&node));
/// assert!(seen.contains_key(&Strong::downgrade(&node)));
/// assert!(seen.contains_key(plain));
///
/// let text: Strong<str> = "unsized".into();
/// let mut length = WeakMap::new();
/// length.insert(&text, 7);
/// assert_eq!(length.get(&Addr::of(&*text)), Some(&7));
/// # assert_eq!(plain.name, "a");
/// ```
///
/// A zero-sized target is refused when the program is compiled:
///
/// ```compile_fail
/// # use weakly::{Strong, WeakMap};
/// # let mut map = WeakMap::<Strong<()>, i32>::new();
/// map.get(&());
/// ```
pub trait Identify<K: StrongRef> {
    /// The address of the key; null if it cannot be in any map.
    fn addr(&self) -> *const ();
}

impl<K: StrongRef> Identify<K> for K {
    #[inline]
    fn addr(&self) -> *const () {
        StrongRef::addr(self)
    }
}

/// The address of a target: identifies a key where a plain reference is not taken. See [`Identify`].
pub struct Addr<'a, T: ?Sized>(*const (), PhantomData<&'a T>);

impl<'a, T: ?Sized> Addr<'a, T> {
    /// The address of a value that is the target of a key, and not merely a part of one.
    #[must_use]
    #[inline]
    pub fn of(target: &'a T) -> Self {
        Addr(core::ptr::from_ref(target).cast(), PhantomData)
    }
}

impl<T: ?Sized> Clone for Addr<'_, T> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<T: ?Sized> Copy for Addr<'_, T> {}

impl<T: ?Sized> fmt::Debug for Addr<'_, T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Pointer::fmt(&self.0, f)
    }
}

impl<T: ?Sized, K: StrongRef<Target = T>> Identify<K> for Addr<'_, T> {
    #[inline]
    fn addr(&self) -> *const () {
        self.0
    }
}

/// A [`StrongRef`] whose target can be read: what keys by content need. Every one that implements
/// [`Deref`] is.
pub trait Content: StrongRef {
    /// The target.
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
