//! The key and the watch: the traits by which a collection watches an object.
//!
//! [`WeakKey`] and [`Watch`] refer to each other, so they share this file: a key names the type of
//! its watch, and a watch names the type of its key. The two traits are one contract. The other
//! files of the room build on it: [`strong`](super::strong) adds strong handles, and each kind of
//! watch has its own file.

use alloc::vec::Vec;

use super::slot::Slot;
use crate::hash::Cookie;

/// An object that collections can watch, and identify by its address, without keeping the object
/// alive. A key by identity needs no more. A [`StrongRef`](crate::reference::StrongRef) is a
/// `WeakKey` that can also return a strong handle. An [`Anchor`](crate::Anchor) is a `WeakKey`
/// without strong handles.
///
/// # Safety
/// * [`addr`](Self::addr) is the same for all handles to an object, strong or weak. The address
///   does not change while any of these handles exists, and differs from the address of every other
///   live object of this type.
/// * [`known_addr`](Self::known_addr) is either the same address, or null; if it is null, no
///   collection has an entry for the object.
/// * With [`Swept`](crate::reference::Swept): while a weak handle exists, the address is not reused
///   for another object, even when the object is dead (the weak handle pins the allocation).
/// * With [`Notified`](crate::reference::Notified): `addr` is the address of the handle behind
///   [`Notify`](crate::reference::Notify).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a weak key: no collection learns of its death",
    label = "neither a handle nor an anchor that collections can watch",
    note = "wrap it in `Strong` (or `local::Strong`, `Arc`, `Rc`), or give the value an `Anchor` and use that as the key",
    note = "a newtype around one of these handles becomes a key by `impl_handle!`",
    note = "of a weak handle, name the strong one: `WeakMap<Strong<T>, V>` keeps its keys weakly",
    note = "in generic code the bound is `K: WeakKey`, and `K: concurrent::SharedKey` for what threads share"
)]
pub unsafe trait WeakKey: Sized {
    /// The watch, by which collections learn of a death: [`Notified`](crate::reference::Notified)
    /// or [`Swept`](crate::reference::Swept).
    type Watch: Watch<Key = Self>;
    /// The weak handle. Every clone of the weak handle identifies the object, too.
    type Weak: Clone + Identify<Self> + Identity;
    /// Returns the address of the object: the address of the data, never of a vtable. An object
    /// without an address gets an address.
    fn addr(this: &Self) -> *const ();
    /// Returns the address of the object, or null if the object has no address yet: then no
    /// collection has an entry for the object. Most objects always have an address.
    #[inline]
    fn known_addr(this: &Self) -> *const () {
        Self::addr(this)
    }
    /// Creates a weak handle to the same object.
    fn downgrade(this: &Self) -> Self::Weak;
}

/// Identifies a key of type `K` in a lookup. The argument may be a strong handle, a weak handle (an
/// expired weak handle finds nothing), a plain reference to the target, or an
/// [`Addr`](crate::Addr). Where the keys are anchors, it may be an [`Anchor`](crate::Anchor) or an
/// [`AnchorRef`](crate::AnchorRef).
///
/// A plain reference is accepted only if its target is sized and not zero-sized. Two different
/// objects can share a thin address when one object is a field of the other, or is zero-sized. So
/// `&str`, `&dyn Trait` and references to zero-sized values are rejected. If the reference surely
/// refers to the whole key, use [`Addr::of`](crate::Addr::of).
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
/// A zero-sized target is rejected at compile time:
///
/// ```compile_fail
/// # use weakly::{Strong, WeakMap};
/// # let mut map = WeakMap::<Strong<()>, i32>::new();
/// map.get(&());
/// ```
#[diagnostic::on_unimplemented(
    message = "`&{Self}` does not identify a key of type `{K}`",
    label = "pass the handle or anchor, a weak one, or a reference to the handle's target, if that is sized",
    note = "for a reference to the whole target of a key, pass `&Addr::of(reference)`",
    note = "keys of this collection are found by identity; `WeakHashMap`, `WeakHashSet` and `Interner` find them by content",
    note = "`Strong<_, Local>` is what `local::Strong<_>` names, and `Strong<_, Atomic>` what `weakly::Strong<_>` names"
)]
pub trait Identify<K: WeakKey> {
    /// Returns the address of the key, or null if the key cannot be in any map. An implementation
    /// returns the address of a live object, or of an object whose destructor is running. With the
    /// address of an object that has died, a lookup may find the entry of the dead object, or the
    /// entry of a later object at this address.
    fn addr(this: &Self) -> *const ();
}

impl<K: WeakKey> Identify<K> for K {
    #[inline]
    fn addr(this: &Self) -> *const () {
        WeakKey::known_addr(this)
    }
}

/// The identity that [`ByIdentity`](crate::ByIdentity) compares and hashes: implemented for every
/// key, and for every weak handle.
///
/// For the weak handle of your own handle, forward to the handle inside. If your handle counts on
/// its own, return the address of the target, which the weak handle pins. Do not return
/// [`WeakRef::addr`](crate::reference::WeakRef::addr) of a handle of this crate: after the object's
/// death, a later object may have the same address.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no identity",
    label = "neither a key nor the weak handle of one",
    note = "every `WeakKey` has one; for the weak handle of a handle of your own: `impl Identity for {Self}`"
)]
pub trait Identity {
    /// Returns an address. All handles of this type to one object return the same address, before
    /// and after the object's death, and every other object has another address, as long as this
    /// handle exists. All weak handles that never had an object share one address.
    fn identity(this: &Self) -> *const ();
}

// For messages: a weak handle lacks `Identity`, not `WeakKey`.
#[diagnostic::do_not_recommend]
impl<K: WeakKey> Identity for K {
    #[inline]
    fn identity(this: &Self) -> *const () {
        K::addr(this)
    }
}

/// The watch of a collection's entry on an object, which learns of the object's death:
/// [`Notified`](crate::reference::Notified) or [`Swept`](crate::reference::Swept). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no way to learn of deaths",
    label = "choose `Notified<Self>` or `Swept<Self>`",
    note = "`Notified<Self>` if the handle wraps a `Strong` (implement `Notify`), `Swept<Self>` if it counts on its own"
)]
pub trait Watch: Slot<Remains = ()> {
    /// The watched object.
    type Key: WeakKey;

    #[doc(hidden)]
    fn watch(key: &Self::Key, cookie: Cookie, queue: &mut Self::Queue) -> Self;
    /// Ends this watch, and watches the object of `key` with this cookie. If this watch is on the
    /// same object, the watch may stay as it is: `cookie` is the cookie that the watch has.
    #[doc(hidden)]
    fn rewatch(&mut self, key: &Self::Key, cookie: Cookie, queue: &mut Self::Queue);

    /// Returns the cookies of the object's entries whose notices come to this queue: the cookies
    /// with which the object was watched, each once. `None` if no notices come: then no object
    /// knows its entries.
    #[doc(hidden)]
    fn cookies_of(key: &Self::Key, queue: &Self::Queue) -> Option<Vec<Cookie>>;

    /// Returns the address of the object, live or dead.
    #[doc(hidden)]
    fn addr(&self) -> *const ();
    /// Returns whether the object is, or was, at this address, and no other object can be.
    #[doc(hidden)]
    fn is_at(&self, addr: *const ()) -> bool;
    /// Returns a weak handle to the object, if the watch can still make a weak handle. Upgrades
    /// nothing.
    #[doc(hidden)]
    fn downgrade(&self) -> Option<<Self::Key as WeakKey>::Weak>;
}
