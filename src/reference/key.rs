//! What a collection needs in order to watch a key.
//!
//! [`WeakKey`] and [`Watch`] name each other, and therefore share this file: a key says how collections learn
//! of its death, and a watch says whose death that is. They are one contract. The other files of the room
//! go on from here: [`strong`](super::strong) has what can give a strong pointer back besides, and each kind
//! of watch has a file.

use crate::hash::HashValue;
use crate::queue::NoticeQueue;

/// An object that collections can watch, and tell from all others by its address, without keeping it alive:
/// what a key by identity has to be. Every [`StrongRef`](crate::StrongRef) is one, which can give a strong
/// pointer back besides.
///
/// # Safety
/// * [`addr`](Self::addr) is the same for all pointers to an object, strong or weak, does not change while
///   any of them exists, and differs from that of every other live object of this type.
/// * With [`Swept`](crate::Swept): while a weak pointer exists, the address is not used for another object,
///   even when the object is dead (the weak pointer pins the allocation).
/// * With [`Notified`](crate::Notified): `addr` is that of the handle behind [`Notify`](crate::Notify).
pub unsafe trait WeakKey: Sized {
    /// How collections learn of a death: [`Notified`](crate::Notified) or [`Swept`](crate::Swept).
    type Watch: Watch<Key = Self>;
    /// The address of the object: data only, never a vtable.
    fn addr(this: &Self) -> *const ();
}

/// How an entry of a collection watches an object, and learns that it is dead: [`Notified`](crate::Notified)
/// or [`Swept`](crate::Swept). Sealed.
pub trait Watch: Sized {
    /// What is watched.
    type Key: WeakKey;
    /// Where the notices of deaths come in; one for all the entries of a collection.
    #[doc(hidden)]
    type Queue: NoticeQueue;
    /// What an entry keyed by content keeps of its hash beside this.
    #[doc(hidden)]
    type Hash: Copy;

    /// Whether nobody tells of deaths, so that the watches have to be asked one by one.
    #[doc(hidden)]
    const SWEPT: bool = false;
    /// Whether what fits a key may be another object, which dies on its own.
    #[doc(hidden)]
    const BY_CONTENT: bool = false;

    #[doc(hidden)]
    fn watch(key: &Self::Key, hash: HashValue, queue: &mut Self::Queue) -> Self;
    /// Watches another object instead, unless it is the same.
    #[doc(hidden)]
    fn rewatch(&mut self, key: &Self::Key, hash: HashValue, queue: &mut Self::Queue);
    /// There is to be no notice of this watch any more.
    #[doc(hidden)]
    #[inline]
    fn end(&mut self, _: &mut Self::Queue) {}

    /// The hash under which its entry stands, if it is the entry's key.
    #[doc(hidden)]
    fn hash(&self) -> HashValue;
    /// The hash that the notice of a death will have, if there will be one.
    #[doc(hidden)]
    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        None
    }
    #[doc(hidden)]
    fn keep(hash: HashValue) -> Self::Hash;
    /// The hash that this was made with.
    #[doc(hidden)]
    fn kept(&self, hash: Self::Hash) -> HashValue;

    /// Whether the object is at this address, or was and no other can be.
    #[doc(hidden)]
    fn is_at(&self, addr: *const ()) -> bool;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    /// Whether the notice is that of this watch.
    #[doc(hidden)]
    #[inline]
    fn is_named_by(&self, _: &<Self::Queue as NoticeQueue>::Notice) -> bool {
        false
    }
    /// Whether the notice of this watch had come when the queue was [looked](NoticeQueue::look) at.
    #[doc(hidden)]
    #[inline]
    fn is_seen(&self, _: &<Self::Queue as NoticeQueue>::Seen) -> bool {
        false
    }
}
