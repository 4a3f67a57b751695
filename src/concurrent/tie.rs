//! How an entry of a shared map holds on to an object: what [`Watch`](crate::reference::Watch) is to the maps
//! of one owner.

use core::marker::PhantomData;
use core::ops::Deref;
use std::boxed::Box;

use crate::hash::HashValue;
use crate::ptr::Atomic;
use crate::queue::{HookId, SharedQueue, Tie, TieTo};
use crate::reference::{Notified, Notify, StrongRef, Swept, Upgrade, WeakKey, WeakRef};

/// A pointer that shared collections can hold weakly: a [`StrongRef`] that, with its weak pointer, may be
/// used on any thread. [`Strong`](crate::Strong), [`Arc`](std::sync::Arc), and your own around them.
/// Implemented for all that qualify.
pub trait SharedRef: StrongRef<Weak: Send + Sync, Watch: Sharing> + Send + Sync {}

impl<K: StrongRef<Weak: Send + Sync, Watch: Sharing> + Send + Sync> SharedRef for K {}

/// A way to learn of deaths on any thread. Sealed.
pub trait Sharing: Upgrade {
    #[doc(hidden)]
    type Tie: TiedTo<Pointer = Self::Pointer>;
}

/// Whatever ties an entry to the lives of objects.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Tied: Ending + Send + Sync {
    /// Whether entries that go are counted: all threads that change the table share the count.
    #[doc(hidden)]
    const COUNTED: bool = false;
    /// Whether its entry may be told of two deaths, and counts as one.
    #[doc(hidden)]
    const IS_PAIR: bool = false;
    /// Whether it has been.
    #[doc(hidden)]
    fn is_told_twice(&self) -> bool {
        false
    }
    /// Whether there is somebody whose death is not told, so that it has to be asked for; none if that is not
    /// said by the type.
    #[doc(hidden)]
    const SWEPT: Option<bool>;
    /// Whether there is for this entry.
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
    /// Whether what its entry is found by is the object, or is asked by an upgrade, for as long as the tie is
    /// there: then what is found is not stale, or shows that itself. Nobody else can have the address of a
    /// payload inside a block that the tie keeps, and who asks by it holds the object.
    #[doc(hidden)]
    fn pins(&self) -> bool;
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
    fn settle(&self, hook: HookId, queue: &SharedQueue);
}

/// What is registered with a queue. (Apart from [`Tied`], and whatever the objects are: that a collection may
/// cross threads, which a type of objects that own it depends on, must not depend on that type again but by
/// auto traits.)
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Ending {
    /// The entry is unlinked: nobody is to be told of it any more. It may be ended again, and is to be ended
    /// before it is dropped.
    #[doc(hidden)]
    fn end(&self, queue: &SharedQueue);
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
    fn new<'q>(pointer: &Self::Pointer, hash: HashValue, queue: &'q SharedQueue)
    -> Loose<'q, Self>;
    /// The same tie, of no type.
    #[doc(hidden)]
    fn of_any<'q>(
        pointer: &Self::Pointer,
        hash: HashValue,
        queue: &'q SharedQueue,
    ) -> Loose<'q, AnyTie>
    where
        Self::Pointer: 'static;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Pointer>;
    #[doc(hidden)]
    fn downgrade(&self) -> <Self::Pointer as StrongRef>::Weak;
}

/// A tie that is in no entry yet. It knows its queue, as a tie in an entry does not: if it gets into none, it
/// is ended.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub struct Loose<'q, T: Ending> {
    tie: Option<T>,
    queue: &'q SharedQueue,
}

impl<'q, T: Ending> Loose<'q, T> {
    #[inline]
    pub(crate) fn new(tie: T, queue: &'q SharedQueue) -> Self {
        let tie = Some(tie);
        Loose { tie, queue }
    }

    /// The tie, which gets into an entry with the same queue, or into a tie of several.
    #[inline]
    pub(crate) fn into_inner(mut self) -> T {
        self.tie.take().expect("it is there until now")
    }
}

impl<'q, A: Ending, B: Ending> Loose<'q, Pair<A, B>> {
    /// Both, of one queue.
    #[inline]
    pub(crate) fn pair(one: Loose<'q, A>, other: Loose<'q, B>) -> Self {
        let queue = one.queue;
        Loose::new(Pair(one.into_inner(), other.into_inner()), queue)
    }
}

impl<T: Ending> Deref for Loose<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.tie.as_ref().expect("it is there until the end")
    }
}

impl<T: Ending> Drop for Loose<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(tie) = &self.tie {
            tie.end(self.queue);
        }
    }
}

/// The tie of a pointer.
pub(crate) type TieOf<K> = <<K as WeakKey>::Watch as Sharing>::Tie;

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
    const SWEPT: Option<bool> = Some(false);

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
    fn pins(&self) -> bool {
        self.0.tie().pins_address()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.tie().is_named_by(hook)
    }

    #[inline]
    fn settle(&self, _: HookId, _: &SharedQueue) {
        self.0.tie().settle();
    }
}

impl<K: Notify<Flavour = Atomic>> Ending for Announced<K> {
    #[inline]
    fn end(&self, queue: &SharedQueue) {
        self.0.tie().end(queue);
    }
}

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> TiedTo for Announced<K>
where
    K::Pointee: Send + Sync,
{
    type Pointer = K;

    #[inline]
    fn new<'q>(pointer: &K, hash: HashValue, queue: &'q SharedQueue) -> Loose<'q, Self> {
        let tie = TieTo::new(K::handle(pointer), hash, queue);
        Loose::new(Announced(tie, PhantomData), queue)
    }

    fn of_any<'q>(pointer: &K, hash: HashValue, queue: &'q SharedQueue) -> Loose<'q, AnyTie> {
        let tie = Tie::new(K::handle(pointer), hash, queue).untyped();
        Loose::new(AnyTie::Announced(tie), queue)
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
    Swept<K>: Upgrade<Pointer = K>,
{
    type Tie = Pinned<K>;
}

impl<K: StrongRef<Weak: Send + Sync>> Tied for Pinned<K> {
    const SWEPT: Option<bool> = Some(true);

    #[inline]
    fn is_swept(&self) -> bool {
        true
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_expired()
    }

    /// The weak pointer pins the allocation.
    #[inline]
    fn pins(&self) -> bool {
        true
    }

    #[inline]
    fn is_named_by(&self, _: HookId) -> bool {
        false
    }

    fn settle(&self, _: HookId, _: &SharedQueue) {}
}

impl<K: StrongRef> Ending for Pinned<K> {
    fn end(&self, _: &SharedQueue) {}
}

impl<K: StrongRef<Weak: Send + Sync>> TiedTo for Pinned<K> {
    type Pointer = K;

    #[inline]
    fn new<'q>(pointer: &K, _: HashValue, queue: &'q SharedQueue) -> Loose<'q, Self> {
        Loose::new(Pinned(K::downgrade(pointer)), queue)
    }

    fn of_any<'q>(pointer: &K, _: HashValue, queue: &'q SharedQueue) -> Loose<'q, AnyTie>
    where
        K: 'static,
    {
        let pins: Box<dyn Pins> = Box::new(Pinned::<K>(K::downgrade(pointer)));
        Loose::new(AnyTie::Pinned(pins), queue)
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
    const SWEPT: Option<bool> = match (A::SWEPT, B::SWEPT) {
        (Some(false), Some(false)) => Some(false),
        (Some(true), _) | (_, Some(true)) => Some(true),
        _ => None,
    };
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

    /// It is found by the first; the second is upgraded.
    #[inline]
    fn pins(&self) -> bool {
        self.0.pins()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.is_named_by(hook) || self.1.is_named_by(hook)
    }

    /// The other object need not tell any more; if it has, its notice comes late.
    fn settle(&self, hook: HookId, queue: &SharedQueue) {
        if self.0.is_named_by(hook) {
            self.0.settle(hook, queue);
            self.1.end(queue);
        } else {
            self.0.end(queue);
            self.1.settle(hook, queue);
        }
    }
}

impl<A: Ending, B: Ending> Ending for Pair<A, B> {
    fn end(&self, queue: &SharedQueue) {
        self.0.end(queue);
        self.1.end(queue);
    }
}

/// To an object of whatever type, for entries with several inputs.
pub enum AnyTie {
    /// To one that announces its death.
    Announced(Tie),
    /// To one that is asked.
    Pinned(Box<dyn Pins>),
}

impl Tied for AnyTie {
    const SWEPT: Option<bool> = None;

    fn is_swept(&self) -> bool {
        matches!(self, AnyTie::Pinned(_))
    }

    fn is_stale(&self) -> bool {
        match self {
            AnyTie::Announced(tie) => tie.is_announced(),
            AnyTie::Pinned(object) => object.is_dead(),
        }
    }

    fn pins(&self) -> bool {
        match self {
            AnyTie::Announced(tie) => tie.pins_address(),
            AnyTie::Pinned(_) => true,
        }
    }

    fn has_died(&self) -> bool {
        match self {
            AnyTie::Announced(tie) => tie.was_announced(),
            AnyTie::Pinned(object) => object.is_dead(),
        }
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        matches!(self, AnyTie::Announced(tie) if tie.is_named_by(hook))
    }

    fn settle(&self, hook: HookId, queue: &SharedQueue) {
        match self {
            AnyTie::Announced(tie) if tie.is_named_by(hook) => tie.settle(),
            other => other.end(queue),
        }
    }
}

impl Ending for AnyTie {
    fn end(&self, queue: &SharedQueue) {
        if let AnyTie::Announced(tie) = self {
            tie.end(queue);
        }
    }
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
