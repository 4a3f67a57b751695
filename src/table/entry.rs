//! An entry, and what it leaves.

use super::slot::Slot;

/// An entry: two slots.
pub(crate) struct Entry<K, V> {
    pub(crate) key: K,
    pub(crate) value: V,
}

/// What a dead entry leaves: what the collection owns of it.
pub(crate) type Remains<K, V> = (<K as Slot>::Remains, <V as Slot>::Remains);

impl<K: Slot, V: Slot> Entry<K, V> {
    #[inline]
    pub(crate) fn is_stale(&self) -> bool {
        self.key.is_stale() || self.value.is_stale()
    }

    /// It is unlinked, or about to be dropped: there is to be no notice of it any more.
    #[inline]
    pub(crate) fn end(&mut self, keys: &mut K::Queue, values: &mut V::Queue) {
        self.key.end(keys);
        self.value.end(values);
    }

    /// It is unlinked, dead, and has ended.
    pub(super) fn into_remains(self) -> Remains<K, V> {
        (self.key.into_remains(), self.value.into_remains())
    }
}
