//! Keys by content: an entry is found by what its object says, for as long as that lives. What a map, a set
//! and an interner of such keys have in common.

use core::cell::RefCell;
use core::hash::Hash;
use equivalent::Equivalent;

use super::table::Table;
use super::watch::{SharedRef, SharedWatchFor, Unplaced, WatchesOne};
use crate::hash::HashValue;
use crate::reference::{Content, StrongRef, WeakRef};

/// A content by which an entry is found, while its object lives.
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

/// A content that is looked for. The object that has it is kept until the table is not looked at any more.
pub(super) struct Sought<'a, K, Q: ?Sized> {
    content: &'a Q,
    held: RefCell<Option<K>>,
}

impl<'a, K, Q: ?Sized> Sought<'a, K, Q> {
    #[inline]
    pub(super) fn new(content: &'a Q) -> Self {
        let held = RefCell::new(None);
        Sought { content, held }
    }
}

impl<K: Content, Q: ?Sized + Equivalent<K::Target>> Equivalent<ContentKey<K>> for Sought<'_, K, Q> {
    fn equivalent(&self, said: &ContentKey<K>) -> bool {
        let Some(key) = said.0.upgrade() else {
            return false;
        };
        let same = self.content.equivalent(K::content(&key));
        // No other: its life may be what somebody waits for.
        if same {
            let before = self.held.replace(Some(key));
            drop(before);
        }
        same
    }
}

impl<K: Content<Target: Eq + Hash> + SharedRef, V> Table<ContentKey<K>, SharedWatchFor<K>, V> {
    /// Shows the entry of a content to a closure, while its object is held; gives that out too.
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
        Some((sought.held.into_inner()?, seen))
    }

    /// Removes the entry of a content, if `wanted`, and shows it, while its object is held; gives that out
    /// too.
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
        Some((sought.held.into_inner()?, seen))
    }

    /// What finds an entry that is about to be put in. The dead of its hash go first, if nobody tells of
    /// them: they are equal to none, and would pile up until the next sweep.
    #[inline]
    pub(super) fn admit(&self, hash: HashValue, key: &K) -> ContentKey<K> {
        self.sweep_hash(hash);
        ContentKey::by(key)
    }

    #[inline]
    pub(super) fn watch(&self, hash: HashValue, key: &K) -> Unplaced<'_, SharedWatchFor<K>> {
        SharedWatchFor::<K>::new(key, hash, self.queue())
    }

    /// Puts an entry in, in the place of the one of its content; `old` is shown that one.
    #[inline]
    pub(super) fn set<R>(
        &self,
        hash: HashValue,
        key: &K,
        value: V,
        old: impl FnOnce(&SharedWatchFor<K>, &V) -> R,
    ) -> Option<R> {
        let said = self.admit(hash, key);
        self.put(hash, said, self.watch(hash, key), value, old)
    }

    /// Puts an entry in, unless there is one of its content, whose object is then given out.
    #[inline]
    pub(super) fn add(&self, hash: HashValue, key: &K, value: V) -> Option<K> {
        let said = self.admit(hash, key);
        self.put_unless(hash, said, self.watch(hash, key), value, |watch, _| {
            watch.upgrade()
        })
    }

    /// The weak pointers to all objects.
    pub(super) fn weak_keys(&self) -> std::vec::IntoIter<K::Weak> {
        let mut keys = std::vec::Vec::new();
        self.each(|_, watch, _| keys.push(watch.downgrade()));
        keys.into_iter()
    }
}
