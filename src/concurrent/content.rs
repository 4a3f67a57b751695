//! Keys by content: an entry is found by what its object says, for as long as that lives. What a map, a set
//! and an interner of such keys have in common.

use core::cell::RefCell;
use core::hash::Hash;
use equivalent::Equivalent;

use super::table::Table;
use super::tie::{Loose, SharedRef, TieOf, TiedTo};
use crate::hash::HashValue;
use crate::reference::{Content, StrongRef, WeakRef};

/// A content by which an entry is found, while its object lives.
pub(super) struct Said<K: StrongRef>(K::Weak);

impl<K: StrongRef> Said<K> {
    #[inline]
    pub(super) fn by(key: &K) -> Self {
        Said(K::downgrade(key))
    }
}

impl<K: StrongRef> Clone for Said<K> {
    fn clone(&self) -> Self {
        Said(self.0.clone())
    }
}

impl<K: Content<Target: Eq>> PartialEq for Said<K> {
    fn eq(&self, other: &Self) -> bool {
        let (Some(one), Some(other)) = (self.0.upgrade(), other.0.upgrade()) else {
            return false;
        };
        K::content(&one) == K::content(&other)
    }
}

impl<K: Content<Target: Eq>> Eq for Said<K> {}

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

impl<K: Content, Q: ?Sized + Equivalent<K::Target>> Equivalent<Said<K>> for Sought<'_, K, Q> {
    fn equivalent(&self, said: &Said<K>) -> bool {
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

impl<K: Content<Target: Eq + Hash> + SharedRef, V> Table<Said<K>, TieOf<K>, V> {
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
    pub(super) fn admit(&self, hash: HashValue, key: &K) -> Said<K> {
        self.sweep_hash(hash);
        Said::by(key)
    }

    #[inline]
    pub(super) fn tie(&self, hash: HashValue, key: &K) -> Loose<'_, TieOf<K>> {
        TieOf::<K>::new(key, hash, self.queue())
    }

    /// Puts an entry in, in the place of the one of its content; `old` is shown that one.
    #[inline]
    pub(super) fn set<R>(
        &self,
        hash: HashValue,
        key: &K,
        value: V,
        old: impl FnOnce(&TieOf<K>, &V) -> R,
    ) -> Option<R> {
        let said = self.admit(hash, key);
        self.put(hash, said, self.tie(hash, key), value, old)
    }

    /// Puts an entry in, unless there is one of its content, whose object is then given out.
    #[inline]
    pub(super) fn add(&self, hash: HashValue, key: &K, value: V) -> Option<K> {
        let said = self.admit(hash, key);
        self.put_unless(hash, said, self.tie(hash, key), value, |tie, _| {
            tie.upgrade()
        })
    }

    /// The weak pointers to all objects.
    pub(super) fn weak_keys(&self) -> std::vec::IntoIter<K::Weak> {
        let mut keys = std::vec::Vec::new();
        self.each(|_, tie, _| keys.push(tie.downgrade()));
        keys.into_iter()
    }
}
