//! How an entry of a shared map holds on to an object: what [`watching`](crate::watching) is to the maps
//! of one owner.

use core::marker::PhantomData;
use std::boxed::Box;

use crate::hash::HashValue;
use crate::ptr::Atomic;
use crate::queue::{HookId, SharedQueue, Tie, TieTo};
use crate::reference::{Notify, StrongRef, WeakRef};
use crate::watching::{Notified, Swept, Watching};

/// A pointer that shared collections can hold weakly: a [`StrongRef`] that, with its weak pointer, may be
/// used on any thread. [`Strong`](crate::Strong), [`Arc`](std::sync::Arc), and your own around them.
/// Implemented for all that qualify.
pub trait SharedRef: StrongRef<Weak: Send + Sync, Watch: Sharing> + Send + Sync {}

impl<K: StrongRef<Weak: Send + Sync, Watch: Sharing> + Send + Sync> SharedRef for K {}

/// A way to learn of deaths on any thread. Sealed.
pub trait Sharing: Watching {
    #[doc(hidden)]
    type Tie: TiedTo<Pointer = Self::Pointer>;
}

/// Whatever ties an entry to the lives of objects.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Tied: Send + Sync {
    /// Whether its entry may be told of two deaths, and counts as one.
    #[doc(hidden)]
    const IS_PAIR: bool = false;
    /// Whether it has been.
    #[doc(hidden)]
    fn is_told_twice(&self) -> bool {
        false
    }
    /// Whether somebody's death is not told, so that it has to be asked for.
    #[doc(hidden)]
    fn is_swept(&self) -> bool;
    /// Whether the entry is to go: an object has announced its death (or, if swept, is dead).
    #[doc(hidden)]
    fn is_stale(&self) -> bool;
    /// Whether an object is dead, announced or not.
    #[doc(hidden)]
    fn is_dead(&self) -> bool {
        self.is_stale()
    }
    /// Whether whoever puts the entry in holds the objects, so that no death can be missed.
    #[doc(hidden)]
    #[inline]
    fn is_held(&self) -> bool {
        true
    }
    /// Whether an object has announced its death; if not, its notice will come after this.
    #[doc(hidden)]
    fn has_died(&self) -> bool {
        self.is_stale()
    }
    #[doc(hidden)]
    fn is_named_by(&self, hook: HookId) -> bool;
    /// The entry was unlinked because of the notice of this hook, which is gone with it.
    #[doc(hidden)]
    fn settle(&self, hook: HookId);
    /// The entry is unlinked: nobody is to be told of it any more.
    #[doc(hidden)]
    fn end(&self);
}

/// A tie to one object.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait TiedTo: Tied + Sized {
    #[doc(hidden)]
    type Pointer: StrongRef;
    #[doc(hidden)]
    fn new(pointer: &Self::Pointer, hash: HashValue, queue: &SharedQueue) -> Self;
    /// The same tie, of no type.
    #[doc(hidden)]
    fn of_any(pointer: &Self::Pointer, hash: HashValue, queue: &SharedQueue) -> AnyTie
    where
        Self::Pointer: 'static;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Pointer>;
    #[doc(hidden)]
    fn downgrade(&self) -> <Self::Pointer as StrongRef>::Weak;
}

/// The tie of a pointer.
pub(crate) type TieOf<K> = <<K as StrongRef>::Watch as Sharing>::Tie;

/// To an object that announces its death.
pub struct Announced<K: Notify<Flavour = Atomic>>(TieTo<K::Pointee>, PhantomData<K::Weak>);

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> Sharing for Notified<K>
where
    K::Pointee: Send + Sync,
{
    type Tie = Announced<K>;
}

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> Tied for Announced<K>
where
    K::Pointee: Send + Sync,
{
    #[inline]
    fn is_swept(&self) -> bool {
        false
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.tie().is_announced()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.0.tie().is_expired()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.tie().is_named_by(hook)
    }

    #[inline]
    fn settle(&self, _: HookId) {
        self.0.tie().settle();
    }

    #[inline]
    fn end(&self) {
        self.0.tie().end();
    }
}

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> TiedTo for Announced<K>
where
    K::Pointee: Send + Sync,
{
    type Pointer = K;

    #[inline]
    fn new(pointer: &K, hash: HashValue, queue: &SharedQueue) -> Self {
        let tie = TieTo::new(K::handle(pointer), hash, queue);
        Announced(tie, PhantomData)
    }

    fn of_any(pointer: &K, hash: HashValue, queue: &SharedQueue) -> AnyTie {
        AnyTie::Announced(Tie::new(K::handle(pointer), hash, queue))
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.tie().is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> K::Weak {
        K::from_weak(self.0.downgrade())
    }
}

/// To an object that does not: its weak pointer pins the address, and is asked now and then.
pub struct Pinned<K: StrongRef>(K::Weak);

impl<K: StrongRef<Weak: Send + Sync>> Sharing for Swept<K>
where
    Swept<K>: Watching<Pointer = K>,
{
    type Tie = Pinned<K>;
}

impl<K: StrongRef<Weak: Send + Sync>> Tied for Pinned<K> {
    #[inline]
    fn is_swept(&self) -> bool {
        true
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn is_named_by(&self, _: HookId) -> bool {
        false
    }

    fn settle(&self, _: HookId) {}

    fn end(&self) {}
}

impl<K: StrongRef<Weak: Send + Sync>> TiedTo for Pinned<K> {
    type Pointer = K;

    #[inline]
    fn new(pointer: &K, _: HashValue, _: &SharedQueue) -> Self {
        Pinned(K::downgrade(pointer))
    }

    fn of_any(pointer: &K, hash: HashValue, queue: &SharedQueue) -> AnyTie
    where
        K: 'static,
    {
        AnyTie::Pinned(Box::new(Self::new(pointer, hash, queue)))
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

/// To two objects: the entry goes with the first of them.
pub(crate) struct Pair<A, B>(pub(super) A, pub(super) B);

impl<A: Tied, B: Tied> Tied for Pair<A, B> {
    const IS_PAIR: bool = true;

    fn is_told_twice(&self) -> bool {
        !self.0.is_swept() && !self.1.is_swept() && self.0.is_stale() && self.1.is_stale()
    }

    #[inline]
    fn is_swept(&self) -> bool {
        self.0.is_swept() || self.1.is_swept()
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_stale() || self.1.is_stale()
    }

    fn is_dead(&self) -> bool {
        self.0.is_dead() || self.1.is_dead()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.is_named_by(hook) || self.1.is_named_by(hook)
    }

    /// The other object need not tell any more; if it has, its notice comes late.
    fn settle(&self, hook: HookId) {
        if self.0.is_named_by(hook) {
            self.0.settle(hook);
            self.1.end();
        } else {
            self.0.end();
            self.1.settle(hook);
        }
    }

    fn end(&self) {
        self.0.end();
        self.1.end();
    }
}

/// To an object of whatever type, for entries with several inputs.
pub enum AnyTie {
    /// To one that announces its death.
    Announced(Tie),
    /// To one that is asked.
    Pinned(Box<dyn Pins>),
}

/// What a [`Pinned`] is asked, whatever it pins.
pub trait Pins: Send + Sync {
    #[doc(hidden)]
    fn is_dead(&self) -> bool;
}

impl<K: StrongRef<Weak: Send + Sync>> Pins for Pinned<K> {
    fn is_dead(&self) -> bool {
        self.is_expired()
    }
}
