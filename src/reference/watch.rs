//! How the death of a weak side becomes known: announced, or looked for; told apart by identity, or by
//! content.

use core::hash::Hash;
use core::marker::PhantomData;
use equivalent::Equivalent;

use super::strong::{Content, Notify, StrongRef, WeakRef};
use crate::hash::HashValue;
use crate::ptr::Flavour;
use crate::queue::{DeadNotice, DeadQueue, Seen, Watch};
use crate::table::{Deaths, Entry, Slot, Table};

/// A weak side of an entry: how a collection learns that its object is dead, [`Notified`] or [`Swept`].
/// Sealed.
pub trait Watching: Slot {
    /// The pointer to the object.
    type Pointer: StrongRef;
    #[doc(hidden)]
    fn watch(pointer: &Self::Pointer, hash: HashValue, deaths: &mut Self::Deaths) -> Self;
    /// What an entry keyed by content keeps of its hash beside this.
    #[doc(hidden)]
    type Hash: Copy;
    #[doc(hidden)]
    fn keep(hash: HashValue) -> Self::Hash;
    /// The hash that the entry was put in with.
    #[doc(hidden)]
    fn kept(&self, hash: Self::Hash) -> HashValue;
    /// Watches another object instead, unless it is the same.
    #[doc(hidden)]
    fn rewatch(&mut self, pointer: &Self::Pointer, hash: HashValue, deaths: &mut Self::Deaths);
    #[doc(hidden)]
    fn target(&self) -> *const ();
    /// Whether the object is at this address, or was and no other can be.
    #[doc(hidden)]
    fn is_at(&self, addr: *const ()) -> bool;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Pointer>;
    #[doc(hidden)]
    fn downgrade(&self) -> Option<<Self::Pointer as StrongRef>::Weak>;
}

/// For pointers that announce their deaths: a death is known at once, and costs what the dead cost.
pub struct Notified<K: Notify> {
    watch: Watch<K::Pointee, K::Flavour>,
    /// It makes pointers on any thread that it gets to: whether it may get there is for them to say, and
    /// not for the handles that they wrap.
    like: PhantomData<K::Weak>,
}

impl<K: Notify> Slot for Notified<K> {
    type Deaths = DeadQueue<K::Flavour>;
    type Remains = ();

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        self.watch.hash()
    }

    #[inline]
    fn end(&mut self, deaths: &mut Self::Deaths) {
        deaths.end(&mut self.watch);
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &DeadNotice<K::Flavour>) -> bool {
        self.watch.is_named_by(notice)
    }

    fn is_seen(&self, seen: &Seen) -> bool {
        self.watch.is_seen(seen)
    }

    #[inline]
    fn into_remains(self) {}
}

impl<F: Flavour> Deaths for DeadQueue<F> {
    type Notice = DeadNotice<F>;
    type Seen = Seen;
    const NONE: Self = DeadQueue::new();

    #[inline]
    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    fn pending(&self) -> usize {
        self.pending()
    }

    fn iter(&self) -> impl Iterator<Item = DeadNotice<F>> {
        self.iter()
    }

    fn look(&self) -> (usize, Seen) {
        let seen = self.look();
        (seen.total(), seen)
    }

    #[inline]
    fn peek(&mut self) -> Option<HashValue> {
        self.peek()
    }

    #[inline(always)]
    fn next(&mut self) -> Option<DeadNotice<F>> {
        self.next()
    }

    #[inline]
    fn hash(notice: &DeadNotice<F>) -> HashValue {
        notice.hash()
    }

    #[inline]
    fn finish(&mut self, notice: DeadNotice<F>) {
        self.finish(notice);
    }
}

impl<K: Notify> Watching for Notified<K> {
    type Pointer = K;
    /// It is in the block of the object, beside the count.
    type Hash = ();

    #[inline]
    fn keep(_: HashValue) {}

    #[inline]
    fn kept(&self, (): ()) -> HashValue {
        self.watch.hash().unwrap_or(HashValue::NONE)
    }

    #[inline]
    fn watch(pointer: &K, hash: HashValue, deaths: &mut Self::Deaths) -> Self {
        Notified {
            watch: deaths.watch(K::handle(pointer), hash),
            like: PhantomData,
        }
    }

    #[inline]
    fn rewatch(&mut self, pointer: &K, hash: HashValue, deaths: &mut Self::Deaths) {
        // Code of the user's: before anything is ended.
        let handle = K::handle(pointer);
        if !self.watch.is_on(handle) {
            // The new one first: it may allocate, and that may fail.
            let mut old = core::mem::replace(&mut self.watch, deaths.watch(handle, hash));
            deaths.end(&mut old);
        }
    }

    #[inline]
    fn target(&self) -> *const () {
        self.watch.addr()
    }

    #[inline(always)]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.watch.downgrade().map(K::from_weak)
    }
}

/// For pointers that do not announce their deaths: their collections look at a few entries at each
/// change, and at all before they grow. A dead entry is never shown, but until it is found its value
/// stays, and it counts.
pub struct Swept<K: StrongRef>(K::Weak);

/// It is always idle: an entry pins its allocation, so nobody else can have its address.
impl<K: StrongRef> Slot for Swept<K> {
    type Deaths = ();
    type Remains = ();
    const SWEPT: bool = true;

    #[inline]
    fn is_stale(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef> Watching for Swept<K> {
    type Pointer = K;
    type Hash = HashValue;

    #[inline]
    fn keep(hash: HashValue) -> HashValue {
        hash
    }

    #[inline]
    fn kept(&self, hash: HashValue) -> HashValue {
        hash
    }

    #[inline]
    fn watch(pointer: &K, _: HashValue, (): &mut ()) -> Self {
        Swept(K::downgrade(pointer))
    }

    #[inline]
    fn rewatch(&mut self, pointer: &K, hash: HashValue, deaths: &mut ()) {
        *self = Self::watch(pointer, hash, deaths);
    }

    #[inline]
    fn target(&self) -> *const () {
        WeakRef::addr(&self.0)
    }

    /// The address is pinned, so it is proof enough.
    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        WeakRef::addr(&self.0) == addr
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.0.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.0.upgrade()
    }

    fn downgrade(&self) -> Option<K::Weak> {
        Some(self.0.clone())
    }
}

/// A weak key that is told apart by its content. The hash stays when the content has gone.
pub struct ByContent<K: StrongRef> {
    watch: K::Watch,
    hash: <K::Watch as Watching>::Hash,
}

impl<K: StrongRef> ByContent<K> {
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        self.watch.kept(self.hash)
    }

    /// Whether the key lives and has this content. If so, it is left in `held`; the caller drops it when
    /// the table is not looked at any more, for it may be the last handle by then. (One that has the same
    /// hash and another content goes with the next of that kind.) A dead key is never asked.
    #[inline]
    pub(crate) fn says<Q>(&self, hash: HashValue, content: &Q, held: &mut Option<K>) -> bool
    where
        K: Content,
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        if self.hash() != hash {
            return false;
        }
        *held = self.upgrade();
        held.as_ref()
            .is_some_and(|key| content.equivalent(K::content(key)))
    }
}

impl<K: Content, V: Slot> Table<ByContent<K>, V> {
    /// The entry whose key lives and has this content, and that key.
    #[inline]
    pub(crate) fn find_by_content<Q>(
        &self,
        hash: HashValue,
        content: &Q,
    ) -> Option<(&Entry<ByContent<K>, V>, K)>
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        // Almost always the first of this hash is the one. To compare contents inside the loop would be a
        // call there, for which each lookup saves its registers.
        let entry = self.find(hash, |key| key.hash() == hash)?;
        match entry.key.upgrade() {
            Some(held) if content.equivalent(K::content(&held)) => Some((entry, held)),
            other => self.find_behind(hash, content, other),
        }
    }

    /// The same, if the first of this hash is another or dead. The `other` is dropped when the table is not
    /// looked at.
    #[cold]
    #[inline(never)]
    fn find_behind<Q>(
        &self,
        hash: HashValue,
        content: &Q,
        other: Option<K>,
    ) -> Option<(&Entry<ByContent<K>, V>, K)>
    where
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        drop(other);
        let mut held = None;
        let entry = self.find(hash, |key| key.says(hash, content, &mut held))?;
        Some((entry, held?))
    }
}

impl<K: StrongRef> Slot for ByContent<K> {
    type Deaths = <K::Watch as Slot>::Deaths;
    type Remains = ();
    const SWEPT: bool = K::Watch::SWEPT;
    const BY_CONTENT: bool = true;

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        Some(self.hash())
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.watch.is_stale()
    }

    #[inline]
    fn end(&mut self, deaths: &mut Self::Deaths) {
        self.watch.end(deaths);
    }

    #[inline(always)]
    fn is_named_by(&self, notice: &<Self::Deaths as Deaths>::Notice) -> bool {
        self.watch.is_named_by(notice)
    }

    fn is_seen(&self, seen: &<Self::Deaths as Deaths>::Seen) -> bool {
        self.watch.is_seen(seen)
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef> Watching for ByContent<K> {
    type Pointer = K;
    type Hash = ();

    fn keep(_: HashValue) {}

    fn kept(&self, (): ()) -> HashValue {
        self.hash()
    }

    #[inline]
    fn watch(pointer: &K, hash: HashValue, deaths: &mut Self::Deaths) -> Self {
        ByContent {
            watch: K::Watch::watch(pointer, hash, deaths),
            hash: K::Watch::keep(hash),
        }
    }

    #[inline]
    fn rewatch(&mut self, pointer: &K, hash: HashValue, deaths: &mut Self::Deaths) {
        self.watch.rewatch(pointer, hash, deaths);
    }

    #[inline]
    fn target(&self) -> *const () {
        self.watch.target()
    }

    #[inline]
    fn is_at(&self, addr: *const ()) -> bool {
        self.watch.is_at(addr)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade()
    }

    fn downgrade(&self) -> Option<K::Weak> {
        self.watch.downgrade()
    }
}
