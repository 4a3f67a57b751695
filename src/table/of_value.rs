//! The entries of a value: found by the hashes that its object knows or, if it knows nothing, among
//! all.

use alloc::vec::Vec;

use super::entries::Table;
use super::entry::Entry;
use super::sweep::Walk;
use crate::reference::{Slot, Watch, WeakKey};

impl<K: Slot, V: Watch> Table<K, V> {
    /// The entries with this value, those whose keys are dead included. O(n log n) for all n
    /// registrations of the value's object, or O(capacity) if no notices come of it.
    pub(crate) fn entries_of(&self, value: &V::Key) -> Vec<&Entry<K, V>> {
        let addr = WeakKey::addr(value);
        let is_of = |entry: &&Entry<K, V>| entry.value.is_at(addr);
        let Some(hashes) = V::hashes_of(value, &self.values) else {
            return self.iter().filter(is_of).collect();
        };
        let mut found = Vec::with_capacity(hashes.len());
        for hash in hashes {
            // hashbrown compares tags alone: what another of these hashes leads to comes with that.
            let has_hash = |entry: &&Entry<K, V>| entry.value.hash_of_notice() == Some(hash);
            let entries = self.entries.iter_hash(hash.get());
            found.extend(entries.filter(is_of).filter(has_hash));
        }
        found
    }

    /// Removes the entries with this value whose keys are live, and returns how many. Costs as much
    /// as [`entries_of`](Self::entries_of). If a destructor panics, the entries stay that are not
    /// removed yet.
    pub(crate) fn remove_of(&mut self, value: &V::Key) -> usize {
        let addr = WeakKey::addr(value);
        let is_of = |entry: &Entry<K, V>| entry.value.is_at(addr) && !entry.key.is_expired();
        let mut removed = 0;
        if let Some(hashes) = V::hashes_of(value, &self.values) {
            for hash in hashes {
                while let Ok(found) = self.entries.find_entry(hash.get(), is_of) {
                    let mut entry = found.remove().0;
                    entry.deregister(&mut self.keys, &mut self.values);
                    removed += 1;
                }
            }
        } else {
            let mut walk = Walk::new();
            let of = |entry: &mut Entry<K, V>| is_of(entry).then_some(());
            while self.take_next(&mut walk, of).is_some() {
                removed += 1;
            }
        }
        removed
    }
}
