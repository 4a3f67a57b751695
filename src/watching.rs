//! How the death of a weak side becomes known: announced, or looked for; told apart by identity, or by
//! content.

use core::hash::Hash;
use core::marker::PhantomData;
use equivalent::Equivalent;

use crate::dead::{self, DeadQueue, Inputs, Watch};
use crate::hash::HashValue;
use crate::ptr::Flavour;
use crate::reference::{Content, Notify, StrongRef, WeakRef};
use crate::table::{Deaths, Notice, Slot};

/// A weak side of an entry: how a collection learns that its object is dead, [`Notified`] or [`Swept`].
/// Sealed.
pub trait Watching: Slot {
    /// The pointer to the object.
    type Pointer: StrongRef;
    #[doc(hidden)]
    fn watch(
        pointer: &Self::Pointer,
        hash: HashValue,
        deaths: &mut Self::Deaths,
        inputs: &mut Inputs,
    ) -> Self;
    #[doc(hidden)]
    fn target(&self) -> *const ();
    #[doc(hidden)]
    fn is_on(&self, pointer: &Self::Pointer) -> bool;
    #[doc(hidden)]
    fn is_expired(&self) -> bool;
    #[doc(hidden)]
    fn upgrade(&self) -> Option<Self::Pointer>;
    #[doc(hidden)]
    fn downgrade(&self) -> <Self::Pointer as StrongRef>::Weak;
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
    const ANNOUNCES: bool = true;
    const BY_ADDRESS: bool = true;

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        self.watch.hash().map(HashValue::told)
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.watch.is_announced()
    }

    #[inline]
    fn end(&mut self) {
        self.watch.end();
    }

    #[inline]
    fn is_named_by(&self, notice: &dead::Notice<'_, K::Flavour>) -> bool {
        self.watch.is_named_by(notice)
    }

    #[inline]
    fn settle(self, notice: dead::Notice<'_, K::Flavour>) {
        self.watch.settle(notice);
    }

    #[inline]
    fn into_remains(self) {}
}

impl<F: Flavour> Deaths for DeadQueue<F> {
    type Notice<'a> = dead::Notice<'a, F>;
    const NONE: Self = DeadQueue::new();

    #[inline]
    fn is_idle(&self) -> bool {
        self.is_idle()
    }

    #[inline]
    fn announced(&self) -> usize {
        self.announced()
    }

    #[inline]
    fn next(&mut self) -> Option<dead::Notice<'_, F>> {
        self.pop()
    }
}

impl<F: Flavour> Notice for dead::Notice<'_, F> {
    #[inline]
    fn hash(&self) -> u64 {
        self.hash()
    }

    #[inline]
    fn orphaned(self) {
        self.orphaned();
    }
}

impl<K: Notify> Watching for Notified<K> {
    type Pointer = K;

    #[inline]
    fn watch(pointer: &K, hash: HashValue, deaths: &mut Self::Deaths, inputs: &mut Inputs) -> Self {
        Notified {
            watch: deaths.watch(K::handle(pointer), hash.get(), inputs),
            like: PhantomData,
        }
    }

    #[inline]
    fn target(&self) -> *const () {
        self.watch.addr()
    }

    #[inline]
    fn is_on(&self, pointer: &K) -> bool {
        self.watch.is_on(K::handle(pointer))
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade().map(K::from_handle)
    }

    fn downgrade(&self) -> K::Weak {
        K::from_weak(self.watch.downgrade())
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

    #[inline]
    fn watch(pointer: &K, _: HashValue, (): &mut (), _: &mut Inputs) -> Self {
        Swept(K::downgrade(pointer))
    }

    #[inline]
    fn target(&self) -> *const () {
        WeakRef::addr(&self.0)
    }

    /// The address is pinned, so it is proof enough.
    #[inline]
    fn is_on(&self, pointer: &K) -> bool {
        WeakRef::addr(&self.0) == K::addr(pointer)
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

/// A weak key that is told apart by what it says. The hash stays when the content has gone.
pub struct ByContent<K: StrongRef> {
    watch: K::Watch,
    hash: HashValue,
}

impl<K: StrongRef> ByContent<K> {
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        self.hash
    }

    /// Whether the key lives and says this. If so, it is left in `held`; the caller drops it when the
    /// table is not looked at any more, for it may be the last handle by then. (One that has the same
    /// 64 bits of hash and says something else goes with the next of that kind.) A dead key is never
    /// asked.
    #[inline]
    pub(crate) fn says<Q>(&self, hash: HashValue, content: &Q, held: &mut Option<K>) -> bool
    where
        K: Content,
        Q: ?Sized + Hash + Equivalent<K::Target>,
    {
        if self.hash != hash {
            return false;
        }
        *held = self.upgrade();
        held.as_ref()
            .is_some_and(|key| content.equivalent(K::content(key)))
    }
}

impl<K: StrongRef> Slot for ByContent<K> {
    type Deaths = <K::Watch as Slot>::Deaths;
    type Remains = ();
    const SWEPT: bool = K::Watch::SWEPT;
    const ANNOUNCES: bool = K::Watch::ANNOUNCES;
    const BY_CONTENT: bool = true;

    #[inline]
    fn hash_of_notice(&self) -> Option<HashValue> {
        self.watch.hash_of_notice()
    }

    #[inline]
    fn is_stale(&self) -> bool {
        self.watch.is_stale()
    }

    #[inline]
    fn end(&mut self) {
        self.watch.end();
    }

    #[inline]
    fn is_named_by(&self, notice: &<Self::Deaths as Deaths>::Notice<'_>) -> bool {
        self.watch.is_named_by(notice)
    }

    #[inline]
    fn settle(self, notice: <Self::Deaths as Deaths>::Notice<'_>) {
        self.watch.settle(notice);
    }

    #[inline]
    fn into_remains(self) {}
}

impl<K: StrongRef> Watching for ByContent<K> {
    type Pointer = K;

    #[inline]
    fn watch(pointer: &K, hash: HashValue, deaths: &mut Self::Deaths, inputs: &mut Inputs) -> Self {
        ByContent {
            watch: K::Watch::watch(pointer, hash, deaths, inputs),
            hash,
        }
    }

    #[inline]
    fn target(&self) -> *const () {
        self.watch.target()
    }

    #[inline]
    fn is_on(&self, pointer: &K) -> bool {
        self.watch.is_on(pointer)
    }

    #[inline]
    fn is_expired(&self) -> bool {
        self.watch.is_expired()
    }

    #[inline]
    fn upgrade(&self) -> Option<K> {
        self.watch.upgrade()
    }

    fn downgrade(&self) -> K::Weak {
        self.watch.downgrade()
    }
}
