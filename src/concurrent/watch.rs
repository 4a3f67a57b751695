//! The watches of an entry of a shared collection: the counterpart of
//! [`Watch`](crate::reference::Watch), which is for the collections of a single owner.

use core::any::Any;
use core::marker::PhantomData;
use core::ops::Deref;
use core::ptr;
use std::any::TypeId;
use std::boxed::Box;
use std::vec::Vec;

use crate::hash::HashValue;
use crate::ptr::{Atomic, CoreRef, Counted, Recipient, SharedWatch, SharedWatchOf};
use crate::raw::Registered;
use crate::reference::WeakRef;
use crate::reference::{Notified, Notify, Permit, Registrable, StrongRef, Swept, Watch, WeakKey};

/// A key that shared collections can watch: a [`WeakKey`] that can be used on any thread. An
/// [`Anchor`](crate::Anchor), and every [`SharedRef`]. Implemented for all qualifying types.
pub trait SharedKey: WeakKey<Watch: Sharing> + Send + Sync {}

// One bound, which implies all other bounds: the compiler reports each unmet bound.
impl<K: WeakKey<Watch: Sharing>> SharedKey for K {}

/// A handle to objects that shared collections can refer to weakly: a [`StrongRef`] that can be
/// used on any thread, like its weak handle. [`Strong`](crate::Strong), [`Arc`](std::sync::Arc),
/// and your own handles around these. Implemented for all qualifying types.
pub trait SharedRef:
    SharedKey + StrongRef<Weak: Send + Sync, Watch: Sharing<SharedWatch: UpgradesOne>>
{
}

impl<K> SharedRef for K where K: StrongRef<Watch: Sharing<SharedWatch: UpgradesOne>> {}

/// A watch that learns of deaths on any thread, for keys that cross threads. Sealed.
#[diagnostic::on_unimplemented(
    message = "what threads share cannot watch this handle: it does not cross threads",
    label = "threads share `Strong`, `Arc` and `Anchor`",
    note = "for `Rc`, `local::Strong` and `local::Anchor` use the collections of one owner: `weakly::WeakMap`, …",
    note = "`Strong<_, Local>` is what `local::Strong<_>` names, and `Strong<_, Atomic>` what `weakly::Strong<_>` names",
    note = "in generic code the bound is `K: concurrent::SharedKey`; of a weak value, a key by content and for `Debug`, \
            `concurrent::SharedRef`"
)]
pub trait Sharing: Watch<Key: WeakKey<Weak: Send + Sync> + Send + Sync> {
    #[doc(hidden)]
    type SharedWatch: WatchesOne<Key = Self::Key>;
}

/// A state in which an object may be.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub enum ObjectState {
    /// The object has to be polled, because its death does not unlink the entry.
    Polled,
    /// The object has to be polled, and is dead.
    Stale,
    Expired,
}

/// The watches of an entry: on one object or on several.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait Watches: Registered + Send + Sync {
    /// Whether the entry has to be polled, because the death of an object does not unlink the
    /// entry; `None` if the type does not decide.
    #[doc(hidden)]
    const SWEPT: Option<bool>;
    /// Returns whether any object is in a state.
    #[doc(hidden)]
    fn any_is(&self, state: ObjectState) -> bool;
    /// Returns whether this entry has to be polled.
    #[doc(hidden)]
    #[inline]
    fn is_swept(&self) -> bool {
        self.any_is(ObjectState::Polled)
    }
    /// Returns whether a polled object is dead.
    #[doc(hidden)]
    #[inline]
    fn is_stale(&self) -> bool {
        self.any_is(ObjectState::Stale)
    }
    /// Returns whether any object has expired.
    #[doc(hidden)]
    #[inline]
    fn is_expired(&self) -> bool {
        self.any_is(ObjectState::Expired)
    }
    /// Passes the addresses of all objects to the closure.
    #[doc(hidden)]
    fn objects(&self, each: &mut dyn FnMut(*const ()));
}

/// A watch on one object.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait WatchesOne: Watches + Sized {
    #[doc(hidden)]
    type Key: WeakKey;
    /// Creates a watch that is registered when its entry is inserted, unless the replaced entry
    /// watches the same object.
    #[doc(hidden)]
    fn new(key: &Self::Key) -> Unplaced<'_, Self>;
    /// Creates a watch, and registers it.
    #[doc(hidden)]
    fn registered(key: &Self::Key, hash: HashValue, core: CoreRef) -> Unplaced<'static, Self>;
    /// Names the object, and makes a registered, type-erased watch on the object. This call may run
    /// code of the key's user-defined handle type; the returned closure runs none.
    #[doc(hidden)]
    fn any(key: &Self::Key) -> (Watched, impl FnOnce(HashValue, Counted) -> AnyWatch)
    where
        Self::Key: 'static;
    /// Returns another watch on the object, type-erased, if the object is polled.
    #[doc(hidden)]
    fn again(&self) -> Option<AnyWatch>
    where
        Self::Key: 'static,
    {
        None
    }
    /// Returns the hashes of the entries that a table with this core has for an object, each once.
    /// The object lists its registrations: O(n log n) for all n registrations, in all collections.
    /// The result may contain too much: the hash of an entry that was just removed, or an entry
    /// that has another kind of watch on the object. `None` if the object is polled, and has no
    /// list.
    #[doc(hidden)]
    fn hashes_of(key: &Self::Key, core: CoreRef) -> Option<Vec<HashValue>>;
    /// Returns a weak handle to the object, if the object lives. Upgrades nothing.
    #[doc(hidden)]
    fn downgrade(&self) -> Option<<Self::Key as WeakKey>::Weak>;
    /// Turns the watch of an entry that is being destroyed into a weak handle to the object, live
    /// or dead. `None` if the replacing entry's watch has taken over the registration.
    #[doc(hidden)]
    fn into_weak(self) -> Option<<Self::Key as WeakKey>::Weak>;
}

/// A watch on one object that can return a handle to the object. (No bound `Key: StrongRef`: the
/// bound would repeat a bound of [`SharedRef`], and the trait solver of Rust 1.101 would find `type
/// S: SharedRef<Target = T>` ambiguous.)
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub trait UpgradesOne: WatchesOne {
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Key>;
    /// Holds the object for an operation that changes the entry: returns `None` if the object is
    /// dead, `Some(None)` if the death of the object would unlink the entry, or else a handle.
    #[doc(hidden)]
    #[inline]
    fn hold(&self) -> Option<Option<Self::Key>> {
        if Self::SWEPT == Some(false) {
            return Some(None);
        }
        self.upgrade().map(Some)
    }
    /// Returns the address of the object, live or dead.
    #[doc(hidden)]
    fn addr(&self) -> *const ();
}

/// A watch that is in no entry yet, and may not be registered yet: until then, the object is kept
/// alive.
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub struct Unplaced<'k, T> {
    watch: T,
    object: PhantomData<&'k ()>,
}

impl<T> Unplaced<'_, T> {
    #[inline]
    pub(crate) fn new(watch: T) -> Self {
        let object = PhantomData;
        Unplaced { watch, object }
    }

    /// Returns the watch, for an entry that is inserted, or dropped, within the lifetime of `self`.
    #[inline]
    pub(crate) fn into_inner(self) -> T {
        self.watch
    }
}

impl<T> Deref for Unplaced<'_, T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.watch
    }
}

/// The watch on a handle's object.
pub(crate) type SharedWatchFor<K> = <<K as WeakKey>::Watch as Sharing>::SharedWatch;

/// A watch on an object whose death unlinks the entry.
pub struct NotifiedWatch<K: Registrable<Kind = Atomic>>(
    SharedWatchOf<K::Target>,
    PhantomData<K::Weak>,
);

// Only this flavour: for another flavour the compiler reports that `Sharing` is not implemented. An
// unmet bound leads to the field of a payload that does not cross threads.
impl<K> Sharing for Notified<K, Atomic>
where
    K: Registrable<Kind = Atomic, Weak: Send + Sync, Target: Send + Sync> + Send + Sync,
{
    type SharedWatch = NotifiedWatch<K>;
}

impl<K: Registrable<Kind = Atomic, Weak: Send + Sync, Target: Send + Sync>> Watches
    for NotifiedWatch<K>
{
    const SWEPT: Option<bool> = Some(false);

    #[inline]
    fn any_is(&self, state: ObjectState) -> bool {
        state == ObjectState::Expired && self.0.watch().is_expired()
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(self.0.watch().addr());
    }
}

impl<K: Registrable<Kind = Atomic>> Registered for NotifiedWatch<K> {
    type Of = K::Target;

    #[inline]
    fn only(&self) -> Option<&SharedWatch<K::Target>> {
        Some(self.0.watch())
    }
}

impl<K: Registrable<Kind = Atomic, Weak: Send + Sync, Target: Send + Sync>> WatchesOne
    for NotifiedWatch<K>
{
    type Key = K;

    #[inline]
    fn new(key: &K) -> Unplaced<'_, Self> {
        let watch = SharedWatchOf::of(SharedWatch::new(K::object(key)));
        Unplaced::new(NotifiedWatch(watch, PhantomData))
    }

    #[inline]
    fn registered(key: &K, hash: HashValue, core: CoreRef) -> Unplaced<'static, Self> {
        let watch = SharedWatchOf::of(SharedWatch::registered(
            K::object(key),
            core.count(),
            hash.short(),
        ));
        Unplaced::new(NotifiedWatch(watch, PhantomData))
    }

    fn any(key: &K) -> (Watched, impl FnOnce(HashValue, Counted) -> AnyWatch)
    where
        K: 'static,
    {
        let object = K::object(key);
        let watch = move |hash: HashValue, counted| {
            let watch = SharedWatch::registered(object, counted, hash.short());
            AnyWatch::NotifiedWatch(watch.untyped())
        };
        (Watched::Notified(object.place().addr().get()), watch)
    }

    fn hashes_of(key: &K, core: CoreRef) -> Option<Vec<HashValue>> {
        // An anchor without an address is in no collection.
        if K::known_addr(key).is_null() {
            return Some(Vec::new());
        }
        let hashes = K::object(key).hashes_with(Recipient::Core(core));
        Some(hashes.into_iter().map(HashValue::of_short).collect())
    }

    fn downgrade(&self) -> Option<K::Weak> {
        let weak = self.0.downgrade().filter(|_| !self.is_expired())?;
        Some(K::weak(weak, Permit::new()))
    }

    fn into_weak(self) -> Option<K::Weak> {
        let weak = self.0.into_weak()?;
        Some(K::weak(weak, Permit::new()))
    }
}

impl<K: Notify<Flavour = Atomic, Weak: Send + Sync>> UpgradesOne for NotifiedWatch<K>
where
    K::Pointee: Send + Sync,
{
    #[inline]
    fn upgrade(&self) -> Option<K> {
        let handle = self.0.upgrade()?;
        Some(K::from_handle(handle, Permit::new()))
    }

    #[inline]
    fn addr(&self) -> *const () {
        self.0.watch().addr()
    }
}

/// A watch on a polled object: the weak handle pins the address.
pub struct PolledWatch<K: StrongRef>(K::Weak);

impl<K: StrongRef<Weak: Send + Sync> + 'static> PolledWatch<K> {
    /// Erases the type. Asks the handle for its address: the code of the handle may be a user's.
    fn erased(self) -> AnyWatch {
        AnyWatch::PolledWatch(WeakRef::addr(&self.0).addr(), Box::new(self))
    }
}

impl<K: StrongRef<Weak: Send + Sync> + Send + Sync> Sharing for Swept<K, Atomic> {
    type SharedWatch = PolledWatch<K>;
}

impl<K: StrongRef<Weak: Send + Sync>> Watches for PolledWatch<K> {
    const SWEPT: Option<bool> = Some(true);

    #[inline]
    fn any_is(&self, state: ObjectState) -> bool {
        state == ObjectState::Polled || self.0.is_expired()
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(WeakRef::addr(&self.0));
    }
}

impl<K: StrongRef> Registered for PolledWatch<K> {
    type Of = ();
}

impl<K: StrongRef<Weak: Send + Sync>> WatchesOne for PolledWatch<K> {
    type Key = K;

    #[inline]
    fn new(pointer: &K) -> Unplaced<'_, Self> {
        Unplaced::new(PolledWatch(K::downgrade(pointer)))
    }

    #[inline]
    fn registered(pointer: &K, _: HashValue, _: CoreRef) -> Unplaced<'static, Self> {
        Unplaced::new(PolledWatch(K::downgrade(pointer)))
    }

    fn any(pointer: &K) -> (Watched, impl FnOnce(HashValue, Counted) -> AnyWatch)
    where
        K: 'static,
    {
        let watch = PolledWatch::<K>(K::downgrade(pointer)).erased();
        (watch.watched(), |_, _| watch)
    }

    fn again(&self) -> Option<AnyWatch>
    where
        K: 'static,
    {
        Some(Pins::again(self))
    }

    fn hashes_of(_: &K, _: CoreRef) -> Option<Vec<HashValue>> {
        None
    }

    fn downgrade(&self) -> Option<K::Weak> {
        (!self.is_stale()).then(|| self.0.clone())
    }

    fn into_weak(self) -> Option<K::Weak> {
        Some(self.0)
    }
}

impl<K: StrongRef<Weak: Send + Sync>> UpgradesOne for PolledWatch<K> {
    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }

    #[inline]
    fn addr(&self) -> *const () {
        WeakRef::addr(&self.0)
    }
}

/// The name of an object, as long as an [`AnyWatch`] watches the object.
#[derive(Clone, Copy, PartialEq)]
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind the bound of an associated type"
)]
pub enum Watched {
    /// The place of the object's block.
    Notified(usize),
    /// The object's address, which names one object among the objects of handles of this type.
    Polled(usize, TypeId),
}

impl Watched {
    #[inline]
    pub(super) fn hash(self) -> u64 {
        let (Watched::Notified(addr) | Watched::Polled(addr, _)) = self;
        HashValue::of_addr(ptr::without_provenance(addr)).get()
    }
}

/// A watch on an object of any type, for entries with several inputs. The watch is registered
/// before there is an entry.
pub enum AnyWatch {
    /// A watch on an object whose death unlinks the entry.
    NotifiedWatch(SharedWatch),
    /// A watch on a polled object, and the address of the object: [`watched`](Self::watched) is
    /// asked under a lock, and calls no code of a user's handle type.
    PolledWatch(usize, Box<dyn Pins>),
}

impl AnyWatch {
    /// Ends a watch without an entry, whose collection may be gone; see [`SharedWatch::leave`].
    pub(crate) fn leave(self) {
        if let AnyWatch::NotifiedWatch(watch) = self {
            watch.leave();
        }
    }

    /// Returns the name of the object.
    #[inline]
    pub(super) fn watched(&self) -> Watched {
        match self {
            AnyWatch::NotifiedWatch(watch) => Watched::Notified(watch.place()),
            AnyWatch::PolledWatch(addr, object) => Watched::Polled(*addr, (**object).type_id()),
        }
    }

    /// Returns a handle to a polled object: see [`UpgradesOne::hold`].
    pub(crate) fn hold(&self) -> Option<Option<Box<dyn Any>>> {
        match self {
            AnyWatch::NotifiedWatch(_) => Some(None),
            AnyWatch::PolledWatch(_, object) => object.hold().map(Some),
        }
    }

    /// Returns another watch on the object, if the object is polled.
    pub(crate) fn again(&self) -> Option<AnyWatch> {
        match self {
            AnyWatch::NotifiedWatch(_) => None,
            AnyWatch::PolledWatch(_, object) => Some(object.again()),
        }
    }
}

impl Watches for AnyWatch {
    const SWEPT: Option<bool> = None;

    fn any_is(&self, state: ObjectState) -> bool {
        match self {
            AnyWatch::NotifiedWatch(watch) => state == ObjectState::Expired && watch.is_expired(),
            AnyWatch::PolledWatch(_, object) => state == ObjectState::Polled || object.is_expired(),
        }
    }

    fn objects(&self, each: &mut dyn FnMut(*const ())) {
        each(match self {
            AnyWatch::NotifiedWatch(watch) => watch.addr(),
            AnyWatch::PolledWatch(addr, _) => ptr::without_provenance(*addr),
        });
    }
}

impl Registered for AnyWatch {
    type Of = ();

    fn only(&self) -> Option<&SharedWatch> {
        match self {
            AnyWatch::NotifiedWatch(watch) => Some(watch),
            AnyWatch::PolledWatch(..) => None,
        }
    }
}

/// A type-erased [`PolledWatch`].
pub trait Pins: Any + Send + Sync {
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    /// Returns a handle to the object, if the object lives.
    #[doc(hidden)]
    fn hold(&self) -> Option<Box<dyn Any>>;
    /// Returns another watch on the object.
    #[doc(hidden)]
    fn again(&self) -> AnyWatch;
}

impl<K: StrongRef<Weak: Send + Sync> + 'static> Pins for PolledWatch<K> {
    fn again(&self) -> AnyWatch {
        PolledWatch::<K>(self.0.clone()).erased()
    }

    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    fn hold(&self) -> Option<Box<dyn Any>> {
        Some(Box::new(self.0.upgrade()?))
    }
}
