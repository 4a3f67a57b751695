//! What a collection needs in order to watch a key.
//!
//! [`WeakKey`] and [`Watch`] refer to each other, so they share this file: a key names the kind of watch by
//! which collections learn of its death, and a watch names the kind of key it watches. They are one contract.
//! The other files of the room build on it: [`strong`](super::strong) adds what can return a strong pointer,
//! and each kind of watch has its own file.

use super::slot::Slot;
use crate::hash::HashValue;

/// An object that collections can watch, and identify by its address, without keeping it alive. A key by
/// identity needs no more. A [`StrongRef`](crate::StrongRef) is a `WeakKey` that can also return a strong
/// pointer. An [`Anchor`](crate::Anchor) is one that cannot.
///
/// # Safety
/// * [`addr`](Self::addr) is the same for all pointers to an object, strong or weak. It does not change while
///   any of them exists, and differs from that of every other live object of this type.
/// * [`known_addr`](Self::known_addr) is either the same, or null and no collection has an entry for the object.
/// * With [`Swept`](crate::Swept): while a weak pointer exists, the address is not reused for another object,
///   even when the object is dead (the weak pointer pins the allocation).
/// * With [`Notified`](crate::Notified): `addr` is that of the handle behind [`Notify`](crate::Notify).
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be a weak key: no collection learns of its death",
    label = "neither a pointer nor an anchor that collections can watch",
    note = "wrap it in `Strong` (or `local::Strong`, `Arc`, `Rc`), or give the value an `Anchor` and use that as the key",
    note = "a newtype around one of these pointers becomes a key by `impl_handle!`",
    note = "of a weak pointer, name the strong one: `WeakMap<Strong<T>, V>` keeps its keys weakly"
)]
pub unsafe trait WeakKey: Sized {
    /// How collections learn of a death: [`Notified`](crate::Notified) or [`Swept`](crate::Swept).
    type Watch: Watch<Key = Self>;
    /// Returns the address of the object: that of its data, never of a vtable. An object that has no address yet
    /// gets one.
    fn addr(this: &Self) -> *const ();
    /// Returns the address of the object, or null if it has none yet: then no collection has an entry for it.
    /// Most objects always have one.
    #[inline]
    fn known_addr(this: &Self) -> *const () {
        Self::addr(this)
    }
}

/// How an entry of a collection watches an object and learns that it is dead: [`Notified`](crate::Notified) or
/// [`Swept`](crate::Swept). Sealed.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no way to learn of deaths",
    label = "choose `Notified<Self>` or `Swept<Self>`",
    note = "`Notified<Self>` if the pointer wraps a `Strong` (implement `Notify`), `Swept<Self>` if it counts on its own"
)]
pub trait Watch: Slot {
    /// The object that is watched.
    type Key: WeakKey;
    /// The part of the hash that an entry keyed by content stores beside the watch.
    #[doc(hidden)]
    type Hash: Copy;

    #[doc(hidden)]
    fn watch(key: &Self::Key, hash: HashValue, queue: &mut Self::Queue) -> Self;
    /// Watches another object instead, unless it is the same.
    #[doc(hidden)]
    fn rewatch(&mut self, key: &Self::Key, hash: HashValue, queue: &mut Self::Queue);
    /// The hash under which the entry is stored, if this watch is its key.
    #[doc(hidden)]
    fn hash(&self) -> HashValue;
    #[doc(hidden)]
    fn store_hash(hash: HashValue) -> Self::Hash;
    /// The hash that the watch was made with.
    #[doc(hidden)]
    fn stored_hash(&self, hash: Self::Hash) -> HashValue;

    /// The address of the object, live or dead.
    #[doc(hidden)]
    fn addr(&self) -> *const ();
    /// Whether the object is, or was, at this address, and no other object can be.
    #[doc(hidden)]
    fn is_at(&self, addr: *const ()) -> bool;
}
