//! How an entry of a shared collection watches objects: what [`Watch`](crate::reference::Watch) is for the
//! collections of a single owner.

use core::marker::PhantomData;
use core::ops::Deref;
use std::boxed::Box;

use crate::hash::HashValue;
use crate::ptr::Atomic;
use crate::queue::{HookId, SharedQueue, SharedWatch, SharedWatchOf};
use crate::reference::WeakRef;
use crate::reference::{Notified, Notify, Registrable, StrongRef, Swept, Upgrade, Watch, WeakKey};

/// A key that shared collections can watch: a [`WeakKey`] that can be used on any thread. An
/// [`Anchor`](crate::Anchor), and every [`SharedRef`]. Implemented for all that qualify.
pub trait SharedKey: WeakKey<Watch: Sharing> + Send + Sync {}

// The compiler reports an unmet bound once, at the first that needs it: `Send` and `Sync` come first, because their
// errors lead to the field of a payload that does not cross threads.
impl<K: Send + Sync + WeakKey<Watch: Sharing>> SharedKey for K {}

/// A pointer to objects that shared collections can refer to weakly: a [`StrongRef`] that can be used on any
/// thread, as can its weak pointer. [`Strong`](crate::Strong), [`Arc`](std::sync::Arc), and your own pointers
/// around them. Implemented for all that qualify.
pub trait SharedRef:
    SharedKey + StrongRef<Weak: Send + Sync, Watch: Sharing<SharedWatch: UpgradesOne>>
{
}

impl<K> SharedRef for K where
    K: Send + Sync + SharedKey + StrongRef<Watch: Sharing<SharedWatch: UpgradesOne>>
{
}

/// A way to learn of deaths on any thread. Sealed.
#[diagnostic::on_unimplemented(
    message = "what threads share cannot watch this pointer: it does not cross threads",
    label = "threads share `Strong`, `Arc` and `Anchor`",
    note = "for `Rc`, `local::Strong` and `local::Anchor` use the collections of one owner: `weakly::WeakMap`, …"
)]
pub trait Sharing: Watch {
    #[doc(hidden)]
    type SharedWatch: WatchesOne<Key = Self::Key>;
}

/// The watches of an entry: on one object or several.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Watches: Deregister + Send + Sync {
    /// Whether entries that go are counted: all threads that change the table share the count.
    #[doc(hidden)]
    const COUNTED: bool = false;
    /// Whether an entry may get two notices, and counts as one.
    #[doc(hidden)]
    const IS_PAIR: bool = false;
    /// Whether this entry has got two.
    #[doc(hidden)]
    fn is_notified_twice(&self) -> bool {
        false
    }
    /// Whether an object sends no notice of its death, so that it has to be polled; `None` if the type does not
    /// tell.
    #[doc(hidden)]
    const SWEPT: Option<bool>;
    /// The same for this entry.
    #[doc(hidden)]
    fn is_swept(&self) -> bool;
    /// Whether the entry is to go: an object has sent its notice (or, if polled, is dead).
    #[doc(hidden)]
    fn is_stale(&self) -> bool;
    /// Whether an object is dead, notified or not.
    #[doc(hidden)]
    fn is_dead(&self) -> bool {
        self.is_stale()
    }
    /// Whether, while the watch lasts, a lookup cannot take its entry for that of another object. Either the key
    /// is the address of a payload in a block that the watch keeps allocated: no other object can get that
    /// address, and a caller that has it keeps the object alive. Or the lookup compares through an upgrade. So
    /// what it finds is not stale, or the upgrade fails.
    #[doc(hidden)]
    fn pins(&self) -> bool;
    /// Whether the thread that inserts the entry keeps the objects alive, so that no death can be missed.
    #[doc(hidden)]
    #[inline]
    fn kept_alive(&self) -> bool {
        true
    }
    /// Whether an object has sent its notice; if not, its notice will come after this call.
    #[doc(hidden)]
    fn has_died(&self) -> bool {
        self.is_stale()
    }
    #[doc(hidden)]
    fn is_named_by(&self, hook: HookId) -> bool;
    /// Passes on the addresses of all objects.
    #[doc(hidden)]
    fn objects(&self, each: &mut dyn FnMut(*const ()));
    /// The entry was unlinked because of the notice of this hook, which is consumed.
    #[doc(hidden)]
    fn complete(&self, hook: HookId, queue: &SharedQueue);
}

/// A registration with a queue. (A trait apart from [`Watches`], and independent of the objects' types: whether a
/// collection may cross threads must not depend on a type of objects that own such a collection, except by auto
/// traits, or the question would depend on itself.)
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Deregister {
    /// Ends the registration: the entry is unlinked, and no notice is wanted any more. May be called again, and
    /// has to be called before the watch is dropped.
    #[doc(hidden)]
    fn end(&self, queue: &SharedQueue);
}

/// A watch on one object.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait WatchesOne: Watches + Sized {
    #[doc(hidden)]
    type Key: WeakKey;
    #[doc(hidden)]
    fn new<'q>(key: &Self::Key, hash: HashValue, queue: &'q SharedQueue) -> Unplaced<'q, Self>;
    /// A type-erased watch on the same object.
    #[doc(hidden)]
    fn of_any<'q>(
        key: &Self::Key,
        hash: HashValue,
        queue: &'q SharedQueue,
    ) -> Unplaced<'q, AnyWatch>
    where
        Self::Key: 'static;
}

/// A watch on one object that can return a pointer to it.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait UpgradesOne: WatchesOne<Key: StrongRef<Weak: Send + Sync>> {
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Key>;
    #[doc(hidden)]
    fn downgrade(&self) -> <Self::Key as StrongRef>::Weak;
}

/// A watch that is in no entry yet. Unlike one in an entry it knows its queue: if it gets into no entry, it is
/// ended.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub struct Unplaced<'q, T: Deregister> {
    watch: Option<T>,
    pub(super) queue: &'q SharedQueue,
}

impl<'q, T: Deregister> Unplaced<'q, T> {
    #[inline]
    pub(crate) fn new(watch: T, queue: &'q SharedQueue) -> Self {
        let watch = Some(watch);
        Unplaced { watch, queue }
    }

    /// The watch, which goes into an entry with the same queue, or into a watch on several objects.
    #[inline]
    pub(crate) fn into_inner(mut self) -> T {
        self.watch.take().expect("it is taken only here")
    }
}

impl<T: Deregister> Deref for Unplaced<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        self.watch
            .as_ref()
            .expect("it is taken only by `into_inner`")
    }
}

impl<T: Deregister> Drop for Unplaced<'_, T> {
    #[inline]
    fn drop(&mut self) {
        if let Some(watch) = &self.watch {
            watch.end(self.queue);
        }
    }
}

/// The watch on a pointer's object.
pub(crate) type SharedWatchFor<K> = <<K as WeakKey>::Watch as Sharing>::SharedWatch;

/// A watch on an object that sends a notice of its death.
pub struct NotifiedWatch<K: Registrable<Kind = Atomic>>(
    SharedWatchOf<K::Target>,
    PhantomData<K::Like>,
);

// What is missing in detail would only repeat the errors of the pointer itself.
#[diagnostic::do_not_recommend]
impl<K: Registrable<Kind = Atomic, Like: Send + Sync, Target: Send + Sync>> Sharing
    for Notified<K>
{
    type SharedWatch = NotifiedWatch<K>;
}

impl<K: Registrable<Kind = Atomic, Like: Send + Sync, Target: Send + Sync>> Watches
    for NotifiedWatch<K>
{
    const SWEPT: Option<bool> = Some(false);

    #[inline]
    fn is_swept(&self) -> bool {
        false
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.watch().is_notified()
    }

    #[inline]
    fn is_dead(&self) -> bool {
        self.0.watch().is_expired()
    }

    #[inline]
    fn pins(&self) -> bool {
        self.0.watch().pins_address()
    }

    #[inline]
    fn is_named_by(&self, hook: HookId) -> bool {
        self.0.watch().is_named_by(hook)
    }

    #[inline]
    fn complete(&self, _: HookId, _: &SharedQueue) {
        self.0.watch().complete();
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(self.0.watch().addr());
    }
}

impl<K: Registrable<Kind = Atomic>> Deregister for NotifiedWatch<K> {
    #[inline]
    fn end(&self, queue: &SharedQueue) {
        self.0.watch().end(queue);
    }
}

impl<K: Registrable<Kind = Atomic, Like: Send + Sync, Target: Send + Sync>> WatchesOne
    for NotifiedWatch<K>
{
    type Key = K;

    #[inline]
    fn new<'q>(key: &K, hash: HashValue, queue: &'q SharedQueue) -> Unplaced<'q, Self> {
        let watch = SharedWatchOf::new(K::object(key), hash, queue);
        Unplaced::new(NotifiedWatch(watch, PhantomData), queue)
    }

    fn of_any<'q>(key: &K, hash: HashValue, queue: &'q SharedQueue) -> Unplaced<'q, AnyWatch> {
        let watch = SharedWatch::new(K::object(key), hash, queue).untyped();
        Unplaced::new(AnyWatch::NotifiedWatch(watch), queue)
    }
}

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> UpgradesOne for NotifiedWatch<K>
where
    K::Pointee: Send + Sync,
{
    #[inline]
    fn is_expired(&self) -> bool {
        self.0.watch().is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> K::Weak {
        K::from_weak(self.0.downgrade())
    }
}

/// A watch on an object that sends none: its weak pointer pins the address, and is polled.
pub struct PolledWatch<K: StrongRef>(K::Weak);

#[diagnostic::do_not_recommend]
impl<K: StrongRef<Weak: Send + Sync>> Sharing for Swept<K>
where
    Swept<K>: Upgrade<Pointer = K>,
{
    type SharedWatch = PolledWatch<K>;
}

impl<K: StrongRef<Weak: Send + Sync>> Watches for PolledWatch<K> {
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

    fn complete(&self, _: HookId, _: &SharedQueue) {}

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(WeakRef::addr(&self.0));
    }
}

impl<K: StrongRef> Deregister for PolledWatch<K> {
    fn end(&self, _: &SharedQueue) {}
}

impl<K: StrongRef<Weak: Send + Sync>> WatchesOne for PolledWatch<K> {
    type Key = K;

    #[inline]
    fn new<'q>(pointer: &K, _: HashValue, queue: &'q SharedQueue) -> Unplaced<'q, Self> {
        Unplaced::new(PolledWatch(K::downgrade(pointer)), queue)
    }

    fn of_any<'q>(pointer: &K, _: HashValue, queue: &'q SharedQueue) -> Unplaced<'q, AnyWatch>
    where
        K: 'static,
    {
        let pins: Box<dyn Pins> = Box::new(PolledWatch::<K>(K::downgrade(pointer)));
        Unplaced::new(AnyWatch::PolledWatch(pins), queue)
    }
}

impl<K: StrongRef<Weak: Send + Sync>> UpgradesOne for PolledWatch<K> {
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

/// A watch on an object of any type, for entries with several inputs.
pub enum AnyWatch {
    /// On an object that sends a notice of its death.
    NotifiedWatch(SharedWatch),
    /// On an object that is polled.
    PolledWatch(Box<dyn Pins>),
}

impl Watches for AnyWatch {
    const SWEPT: Option<bool> = None;

    fn is_swept(&self) -> bool {
        matches!(self, AnyWatch::PolledWatch(_))
    }

    fn is_stale(&self) -> bool {
        match self {
            AnyWatch::NotifiedWatch(watch) => watch.is_notified(),
            AnyWatch::PolledWatch(object) => object.is_dead(),
        }
    }

    fn pins(&self) -> bool {
        match self {
            AnyWatch::NotifiedWatch(watch) => watch.pins_address(),
            AnyWatch::PolledWatch(_) => true,
        }
    }

    fn has_died(&self) -> bool {
        match self {
            AnyWatch::NotifiedWatch(watch) => watch.was_notified(),
            AnyWatch::PolledWatch(object) => object.is_dead(),
        }
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        matches!(self, AnyWatch::NotifiedWatch(watch) if watch.is_named_by(hook))
    }

    fn complete(&self, hook: HookId, queue: &SharedQueue) {
        match self {
            AnyWatch::NotifiedWatch(watch) if watch.is_named_by(hook) => watch.complete(),
            other => other.end(queue),
        }
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(match self {
            AnyWatch::NotifiedWatch(watch) => watch.addr(),
            AnyWatch::PolledWatch(object) => object.addr(),
        });
    }
}

impl Deregister for AnyWatch {
    fn end(&self, queue: &SharedQueue) {
        if let AnyWatch::NotifiedWatch(watch) = self {
            watch.end(queue);
        }
    }
}

/// A type-erased [`PolledWatch`].
pub trait Pins: Send + Sync {
    #[doc(hidden)]
    fn is_dead(&self) -> bool;
    #[doc(hidden)]
    fn addr(&self) -> *const ();
}

impl<K: StrongRef<Weak: Send + Sync>> Pins for PolledWatch<K> {
    fn is_dead(&self) -> bool {
        self.is_expired()
    }

    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }
}
