//! An entry, and its remains when it is dead.

use crate::hash::HashValue;
use crate::reference::Slot;

/// An entry: two slots.
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// The remains of a dead entry: the slots that the collection owns.
pub(crate) type Remains<K, V> = (<K as Slot>::Remains, <V as Slot>::Remains);

impl<K: Slot, V: Slot> Entry<K, V> {
    /// Returns the hash under which the entry is stored: the hash that its key knows, or, beside a
    /// key that the collection owns, the cookie of the value.
    ///
    /// Runs no user code: hashbrown asks for the hash while it moves entries, and would lose
    /// entries if the answer panicked.
    #[inline]
    pub(crate) fn hash(&self) -> HashValue {
        let hash = self.key.hash().or_else(|| self.value.cookie());
        // (An owned key has a watched value, and an entry in a table is registered.)
        hash.unwrap_or(HashValue::NONE)
    }

    /// Returns whether one slot is dead, notified or not.
    #[inline]
    pub(crate) fn is_expired(&self) -> bool {
        self.key.is_expired() || self.value.is_expired()
    }

    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.key.is_stale() || self.value.is_stale()
    }

    /// Deregisters both slots of an entry that is unlinked, or is about to be dropped: no notice of
    /// the entry may come any more.
    #[inline]
    pub(crate) fn deregister(&mut self, keys: &mut K::Queue, values: &mut V::Queue) {
        self.key.deregister(keys);
        self.value.deregister(values);
    }

    /// Turns an entry into its remains. The entry is unlinked, dead and deregistered.
    pub(crate) fn into_remains(self) -> Remains<K, V> {
        (self.key.into_remains(), self.value.into_remains())
    }
}
