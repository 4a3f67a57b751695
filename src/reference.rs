//! What a pointer has to be to be a key, what identifies one, and how its death is learned of.

use core::fmt;
use core::marker::PhantomData;
use hashbrown::HashTable;

use crate::dead::{DeadQueue, Watch};
use crate::hash::HashValue;
use crate::ptr::{Flavour, Handle, WeakHandle};
use crate::table::Slot;

/// A strong pointer whose target can be a key: [`Strong`](crate::Strong),
/// [`local::Strong`](crate::local::Strong), [`Arc`](alloc::sync::Arc), [`Rc`](alloc::rc::Rc), or your own.
///
/// A pointer of your own is one of two kinds:
///
/// * It wraps one of this crate's: choose `type Watch = Notified<Self>` and implement [`Notify`], and
///   its deaths are announced as those of the wrapped pointer are.
/// * It counts by itself, like `Arc`: choose `type Watch = Swept<Self>`. Collections then look for the
///   dead a few entries at a time.
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
    /// How collections learn of a death: [`Notified`] or [`Swept`].
    type Watch: Watching<Self>;
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
    fn handle(this: &Self) -> &Handle<Self::Pointee, Self::Flavour>;
    /// Wraps a handle.
    fn from_handle(handle: Handle<Self::Pointee, Self::Flavour>) -> Self;
    /// Wraps a weak handle.
    fn from_weak(weak: WeakHandle<Self::Pointee, Self::Flavour>) -> Self::Weak;
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

/// How a collection learns that a key is dead: [`Notified`] or [`Swept`]. Sealed.
pub trait Watching<K: StrongRef>: Slot {
    #[doc(hidden)]
    fn watch(key: &K, hash: HashValue, deaths: &mut Self::Deaths) -> Self;
    #[doc(hidden)]
    fn target(&self) -> *const ();
    #[doc(hidden)]
    fn is_on(&self, key: &K) -> bool;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<K>;
    #[doc(hidden)]
    fn downgrade(&self) -> K::Weak;
}

/// For pointers that announce their deaths: a death is known at once, and costs what the dead cost.
pub struct Notified<K: Notify>(Watch<K::Pointee, K::Flavour>);

impl<K: Notify> Slot for Notified<K> {
    type Deaths = DeadQueue<K::Flavour>;
    const NO_DEATHS: Self::Deaths = DeadQueue::new();
    const SWEPT: bool = false;

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_announced()
    }

    #[inline]
    fn end(&mut self) {
        self.0.end();
    }

    #[inline]
    fn is_idle(deaths: &Self::Deaths) -> bool {
        deaths.is_idle()
    }

    #[inline]
    fn announced(deaths: &Self::Deaths) -> usize {
        deaths.announced()
    }

    #[inline]
    fn unlink_next<E, R>(
        deaths: &mut Self::Deaths,
        entries: &mut HashTable<E>,
        slot: impl Fn(&E) -> &Self,
        split: impl FnOnce(E) -> (Self, R),
    ) -> Option<R> {
        while let Some(notice) = deaths.pop() {
            match entries.find_entry(notice.hash(), |entry| slot(entry).0.is_named_by(&notice)) {
                Ok(entry) => {
                    let (watch, rest) = split(entry.remove().0);
                    watch.0.settle(notice);
                    return Some(rest);
                }
                // The entry has gone already: a late notice touches nothing.
                Err(_) => notice.orphaned(),
            }
        }
        None
    }
}

impl<K: Notify> Watching<K> for Notified<K> {
    #[inline]
    fn watch(key: &K, hash: HashValue, deaths: &mut Self::Deaths) -> Self {
        Notified(deaths.watch(K::handle(key), hash.get()))
    }

    #[inline]
    fn target(&self) -> *const () {
        self.0.addr()
    }

    #[inline]
    fn is_on(&self, key: &K) -> bool {
        self.0.is_on(K::handle(key))
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> K::Weak {
        K::from_weak(self.0.downgrade())
    }
}

/// For pointers that do not announce their deaths: their collections look at a few entries at each
/// change, and at all before they grow. A dead entry is never shown, but until it is found its value
/// stays, and it counts.
pub struct Swept<K: StrongRef>(K::Weak);

/// It is always idle: an entry pins its allocation, so nobody else can have its address.
impl<K: StrongRef> Slot for Swept<K> {
    type Deaths = ();
    const NO_DEATHS: () = ();
    const SWEPT: bool = true;

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_expired()
    }
}

impl<K: StrongRef> Watching<K> for Swept<K> {
    #[inline]
    fn watch(key: &K, _: HashValue, (): &mut ()) -> Self {
        Swept(K::downgrade(key))
    }

    #[inline]
    fn target(&self) -> *const () {
        WeakRef::addr(&self.0)
    }

    /// The address is pinned, so it is proof enough.
    #[inline]
    fn is_on(&self, key: &K) -> bool {
        WeakRef::addr(&self.0) == K::addr(key)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }

    fn downgrade(&self) -> K::Weak {
        self.0.clone()
    }
}
