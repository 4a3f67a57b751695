//! Lookups by content.

use core::hash::Hash;
use equivalent::Equivalent;

use super::entries::Table;
use super::entry::Entry;
use super::slot::Slot;
use crate::hash::HashValue;
use crate::reference::{ByContent, Content, Upgrade, Watch};

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
        let entry = self.find(hash, |key| key.has_content(hash, content, &mut held))?;
        Some((entry, held?))
    }
}
