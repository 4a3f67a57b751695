//! Lookups by content.

use super::entries::Table;
use super::entry::Entry;
use crate::hash::HashValue;
use crate::reference::{ByContent, Content, Slot, Sought, Upgrade, Watch};

impl<K: Content, V: Slot> Table<ByContent<K>, V> {
    /// Returns the entry whose key is live and has this content, and the key.
    #[inline]
    pub(crate) fn find_by_content<Q>(
        &self,
        hash: HashValue,
        sought: &Q,
    ) -> Option<(&Entry<ByContent<K>, V>, K)>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        // The first entry of this hash is almost always the right one. A comparison of contents
        // inside the loop would be a call, for which every lookup would have to save registers.
        let entry = self.find(hash, |key| key.hash() == hash)?;
        match entry.key.upgrade() {
            Some(pinned) if Q::is(sought, K::content(&pinned)) => Some((entry, pinned)),
            other => self.find_slow(hash, sought, other),
        }
    }

    /// The slow path: the first entry of this hash has another content or is dead. `other` is
    /// dropped first, while no search has borrowed the table.
    #[cold]
    #[inline(never)]
    fn find_slow<Q>(
        &self,
        hash: HashValue,
        sought: &Q,
        other: Option<K>,
    ) -> Option<(&Entry<ByContent<K>, V>, K)>
    where
        Q: ?Sized + Sought<K::Target>,
    {
        drop(other);
        let mut pinned = None;
        let entry = self.find(hash, |key| key.has_content(hash, sought, &mut pinned))?;
        Some((entry, pinned?))
    }
}
