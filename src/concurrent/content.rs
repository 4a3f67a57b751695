//! Keys by content: a lookup finds an entry by the content of its object, as long as the object
//! lives. Shared by the map, the set and the interner of such keys.

use core::hash::Hash;
use core::marker::PhantomData;
use core::ptr;

use super::identity::Address;
use super::node::{Compare, Node};
use super::schema::Schema;
use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, Unplaced, UpgradesOne, Watches, WatchesOne};
use crate::hash::HashValue;
use crate::raw::{Match, Registered};
use crate::reference::{Content, Sought, StrongRef, WeakRef};

/// Keys by the content of the watched object, as long as the object lives.
pub(super) struct ByContent<K, T, V>(PhantomData<(K, T, V)>);

/// Keys by the content of the object of a handle.
pub(super) type Contents<K, V> = ByContent<K, SharedWatchFor<K>, V>;

impl<K: StrongRef, T: Registered, V> Schema for ByContent<K, T, V> {
    type Key = ();
    type Probe = K::Weak;
    type Watch = T;
    type Value = V;
    /// The address of the object: a comparison of contents would have to keep the object alive.
    type Name = Address;

    fn name((): &(), watch: &T) -> Address
    where
        T: Watches,
    {
        let mut addr = ptr::null();
        watch.objects(&mut |object| addr = object);
        Address::new(addr)
    }

    fn is_named((): &(), watch: &T, name: &Address) -> bool
    where
        T: Watches,
    {
        Self::name(&(), watch) == *name
    }
}

impl<K: Content<Target: Eq> + SharedRef, V> Compare for Contents<K, V> {
    #[inline]
    fn key(_: &K::Weak) {}

    fn is_of(probe: &K::Weak, node: &Node<Self>) -> Match {
        probe
            .upgrade()
            .map_or(Match::No, |key| has_content(node, &key))
    }

    fn have_same_key(new: &Node<Self>, there: &Node<Self>) -> bool {
        object(new).is_some_and(|key| has_content(there, &key) == Match::Yes)
    }
}

/// The object of a node, if it lives.
#[inline]
fn object<K: SharedRef, V>(node: &Node<Contents<K, V>>) -> Option<K> {
    match node {
        Node::Ready { watch, .. } => watch.upgrade(),
        Node::Reserved { key, .. } => key.upgrade(),
    }
}

/// Whether the object of a node has the same content as the object of the given key.
fn has_content<K: Content<Target: Eq> + SharedRef, V>(
    node: &Node<Contents<K, V>>,
    key: &K,
) -> Match {
    object(node).map_or(Match::Dead, |there| {
        (K::content(key) == K::content(&there)).into()
    })
}

/// The content that a lookup looks for. The seeker keeps the object with the content alive until
/// the lookup no longer reads the table.
struct Seeker<'a, K, Q: ?Sized> {
    sought: &'a Q,
    found: Option<K>,
}

impl<'a, K: Content + SharedRef, Q: ?Sized> Seeker<'a, K, Q> {
    #[inline]
    fn new(sought: &'a Q) -> Self {
        let found = None;
        Seeker { sought, found }
    }

    /// Returns whether the object of a node has the sought content. If so, keeps this object, and
    /// no longer the object that was found before.
    #[inline]
    fn finds_in<V>(&mut self, node: &Node<Contents<K, V>>) -> Match
    where
        Q: Sought<K::Target>,
    {
        let Some(key) = object(node) else {
            return Match::Dead;
        };
        let same = Q::is(self.sought, K::content(&key));
        // Only the last object that was found is kept: another thread may be waiting for the death
        // of an earlier one, or of an object with another content.
        if same {
            let before = self.found.replace(key);
            drop(before);
        }
        same.into()
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V> Table<Contents<K, V>> {
    /// Shows the entry of a content to a closure, and keeps the object of the entry alive
    /// meanwhile; returns the object too.
    #[inline]
    pub(super) fn look_up<Q, R>(
        &self,
        hash: HashValue,
        sought: &Q,
        look: impl FnOnce(&V) -> R,
    ) -> Option<(K, R)>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        let mut sought = Seeker::new(sought);
        let sought_in = |node: &_| sought.finds_in(node);
        let show = |(), (): &(), value: &_| look(value);
        let seen = self.read_where(hash, sought_in, |_, _, _| Some(()), Watches::is_stale, show)?;
        Some((sought.found?, seen))
    }

    /// Removes the entry of a content, if `wanted`, and shows the entry to a closure, and keeps the
    /// object of the entry alive meanwhile; returns the object too. See
    /// [`remove_where`](Self::remove_where).
    pub(super) fn take<Q, R>(
        &self,
        hash: HashValue,
        sought: &Q,
        mut wanted: impl FnMut(Option<&V>) -> bool,
        show: impl FnOnce(&V) -> R,
    ) -> Option<(K, R)>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        let mut sought = Seeker::new(sought);
        let seen = self.remove_where(
            hash,
            |node| sought.finds_in(node),
            |entry| wanted(entry.map(|(_, value)| value)).then_some(()),
            |(), (), value| show(value),
        )?;
        let found = sought.found;
        // T5
        drop(wanted);
        Some((found?, seen))
    }

    /// Unlinks the dead entries of the hash, if they are polled: they equal no key, and would pile
    /// up until the next sweep. Then creates a watch for an entry that is about to be inserted.
    #[inline]
    fn sweep_and_watch<'k>(&self, hash: HashValue, key: &'k K) -> Unplaced<'k, SharedWatchFor<K>> {
        self.sweep_hash(hash);
        SharedWatchFor::<K>::new(key)
    }

    /// Inserts an entry, or replaces the entry with the same content: see [`put`](Self::put).
    #[inline]
    pub(super) fn set<H, R>(
        &self,
        hash: HashValue,
        key: &K,
        value: V,
        hold: impl Fn(&SharedWatchFor<K>, &V) -> Option<H>,
        show: impl FnOnce(H, &V) -> R,
    ) -> Option<R> {
        let watch = self.sweep_and_watch(hash, key);
        self.put(hash, (), watch, value, hold, show)
    }

    /// Inserts an entry, unless there is an entry with the same content, and then returns the
    /// object of the present entry.
    #[inline]
    pub(super) fn add(&self, hash: HashValue, key: &K, value: V) -> Option<K> {
        let watch = self.sweep_and_watch(hash, key);
        self.put_unless(hash, (), watch, value, |watch, _| watch.upgrade())
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V: Clone> Table<Contents<K, V>> {
    /// Moves the entry of a content to an object: see [`transfer`](Self::transfer).
    pub(super) fn transfer_to<Q: ?Sized + Sought<K::Target>>(
        &self,
        (from, sought): (HashValue, &Q),
        (to, key): (HashValue, &K),
    ) -> Option<V> {
        let mut sought = Seeker::new(sought);
        let copy = |_: &_, value: &V| Some((self.sweep_and_watch(to, key), value.clone()));
        let hold = |watch: &SharedWatchFor<K>, value: &V| Some((watch.hold()?, value.clone()));
        let old = self.transfer(
            (from, |node: &_| sought.finds_in(node)),
            (to, ()),
            copy,
            hold,
        );
        // T5
        drop(sought);
        old.map(without_key)
    }
}

/// Drops the key, whose object may die then, before the result is returned (T5).
#[inline]
pub(super) fn without_key<K, R>((key, result): (K, R)) -> R {
    drop(key);
    result
}

#[cfg(all(test, target_pointer_width = "64"))]
mod tests {
    use super::super::identity::Address;
    use super::super::key::ByKey;
    use super::*;
    use crate::Strong;
    use crate::raw::Entry;
    use std::boxed::Box;
    use std::sync::Arc;

    type Key = Strong<u64>;

    /// A set or an interner owns only the watches of its entries: no user notices when their memory
    /// is freed.
    #[test]
    fn nobody_waits_for_an_entry_without_a_value() {
        type Name = Strong<str>;
        const {
            assert!(!Node::<Contents<Name, ()>>::PROMPT);
            assert!(Node::<Contents<Name, Name>>::PROMPT);
        }
    }

    /// N189: The size of an entry of a shared map, and the part that a lookup reads: of the five
    /// words of a map with values of one word, a lookup reads the first three.
    #[test]
    fn a_node_is_small() {
        assert_eq!(
            size_of::<Node<ByKey<Address, SharedWatchFor<Key>, u64>>>(),
            40
        );
        assert_eq!(
            size_of::<Node<ByKey<Address, SharedWatchFor<Key>, Arc<str>>>>(),
            48
        );
        assert_eq!(
            size_of::<Node<ByKey<Address, SharedWatchFor<Key>, ()>>>(),
            32
        );
        let key = Key::new(1);
        let (hash, address) = Address::of(Key::as_ptr(&key).cast());
        let watch = SharedWatchFor::<Key>::new(&key);
        let node = Box::new(Node::<ByKey<_, _, _>>::new(
            hash,
            address,
            7_u64,
            watch.into_inner(),
        ));
        let Node::Ready {
            hash, key, value, ..
        } = &*node
        else {
            unreachable!()
        };
        let at = |field: *const ()| field.addr() - core::ptr::from_ref(&*node).addr();
        let fields = [
            at(core::ptr::from_ref(hash).cast()),
            at(core::ptr::from_ref(key).cast()),
            at(core::ptr::from_ref(value).cast()),
        ];
        assert_eq!(fields, [4, 8, 16]);
    }
}
