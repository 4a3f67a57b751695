//! Keys by content: an entry is found by the content of its object, as long as that lives. Shared by the map, the
//! set and the interner of such keys.

use core::cell::RefCell;
use core::hash::Hash;
use equivalent::Equivalent;

use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, Unplaced, UpgradesOne, WatchesOne};
use crate::hash::HashValue;
use crate::reference::{Content, StrongRef, WeakRef};

/// The content of an object, as long as that lives.
pub(super) struct ContentKey<K: StrongRef>(K::Weak);

impl<K: StrongRef> ContentKey<K> {
    #[inline]
    pub(super) fn by(key: &K) -> Self {
        ContentKey(K::downgrade(key))
    }
}

impl<K: StrongRef> Clone for ContentKey<K> {
    fn clone(&self) -> Self {
        ContentKey(self.0.clone())
    }
}

impl<K: Content<Target: Eq>> PartialEq for ContentKey<K> {
    fn eq(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (self.0.upgrade(), other.0.upgrade()) else {
            return false;
        };
        K::content(&one) == K::content(&other)
    }
}

impl<K: Content<Target: Eq>> Eq for ContentKey<K> {}

/// The content that a lookup looks for. The object that has it is kept alive until the table is not read any more.
pub(super) struct Sought<'a, K, Q: ?Sized> {
    content: &'a Q,
    found: RefCell<Option<K>>,
}

impl<'a, K, Q: ?Sized> Sought<'a, K, Q> {
    #[inline]
    pub(super) fn new(content: &'a Q) -> Self {
        let found = RefCell::new(None);
        Sought { content, found }
    }
}

impl<K: Content, Q: ?Sized + Equivalent<K::Target>> Equivalent<ContentKey<K>> for Sought<'_, K, Q> {
    fn equivalent(&self, there: &ContentKey<K>) -> bool {
        let Some(key) = there.0.upgrade() else {
            return false;
        };
        let same = self.content.equivalent(K::content(&key));
        // Keeps no other object: another thread may be waiting for its death.
        if same {
            let before = self.found.replace(Some(key));
            drop(before);
        }
        same
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V> Table<ContentKey<K>, SharedWatchFor<K>, V> {
    /// Shows the entry of a content to a closure, while its object is kept alive; returns that too.
    #[inline]
    pub(super) fn look_up<Q, R>(
        &self,
        hash: HashValue,
        content: &Q,
        look: impl FnOnce(&V) -> R,
    ) -> Option<(K, R)>
    where
        Q: ?Sized + Equivalent<K::Target>,
    {
        let sought = Sought::new(content);
        let seen = self.read(hash, &sought, |_, value| Some(look(value)))?;
        Some((sought.found.into_inner()?, seen))
    }

    /// Removes the entry of a content, if `wanted`, and shows it to a closure, while its object is kept alive;
    /// returns that too.
    pub(super) fn take<Q, R>(
        &self,
        hash: HashValue,
        content: &Q,
        mut wanted: impl FnMut(&V) -> bool,
        show: impl FnOnce(&V) -> R,
    ) -> Option<(K, R)>
    where
        Q: ?Sized + Equivalent<K::Target>,
    {
        let sought = Sought::new(content);
        let seen = self.remove(
            hash,
            &sought,
            |_, value| wanted(value),
            |_, value| show(value),
        )?;
        let found = sought.found.into_inner();
        // T5
        drop(wanted);
        Some((found?, seen))
    }

    /// The key for an entry that is about to be inserted. Dead entries of its hash are unlinked first, if they are
    /// polled: they equal no key, and would pile up until the next sweep.
    #[inline]
    pub(super) fn admit(&self, hash: HashValue, key: &K) -> ContentKey<K> {
        self.sweep_hash(hash);
        ContentKey::by(key)
    }

    #[inline]
    pub(super) fn watch(&self, hash: HashValue, key: &K) -> Unplaced<'_, SharedWatchFor<K>> {
        SharedWatchFor::<K>::new(key, hash, self.queue())
    }

    /// In this order, for the first registration is cheapest before there is a weak pointer.
    #[inline]
    fn watch_and_admit(
        &self,
        hash: HashValue,
        key: &K,
    ) -> (Unplaced<'_, SharedWatchFor<K>>, ContentKey<K>) {
        let watch = self.watch(hash, key);
        (watch, self.admit(hash, key))
    }

    /// Inserts an entry, or replaces the one with its content, which is shown to `old`.
    #[inline]
    pub(super) fn set<R>(
        &self,
        hash: HashValue,
        key: &K,
        value: V,
        old: impl FnOnce(&SharedWatchFor<K>, &V) -> R,
    ) -> Option<R> {
        let (watch, by) = self.watch_and_admit(hash, key);
        self.put(hash, by, watch, value, old)
    }

    /// Inserts an entry, unless there is one with its content, whose object is then returned.
    #[inline]
    pub(super) fn add(&self, hash: HashValue, key: &K, value: V) -> Option<K> {
        let (watch, by) = self.watch_and_admit(hash, key);
        self.put_unless(hash, by, watch, value, |watch, _| watch.upgrade())
    }

    /// The weak pointers to all objects.
    pub(super) fn weak_keys(&self) -> std::vec::IntoIter<K::Weak> {
        let mut keys = std::vec::Vec::new();
        self.each(|_, watch, _| keys.push(watch.downgrade()));
        keys.into_iter()
    }
}
