//! The entries of a value. The object of the value knows their hashes; if it does not, all entries
//! are searched.

use alloc::vec::Vec;

use super::entries::Table;
use super::entry::Entry;
use super::sweep::Walk;
use crate::reference::{Slot, Watch, WeakKey};

impl<K: Slot, V: Watch> Table<K, V> {
    /// Returns the entries with this value, including entries whose keys are dead. O(n log n) for
    /// all n registrations of the value's object, or O(capacity) if the object sends no notices.
    pub(crate) fn entries_of(&self, value: &V::Key) -> Vec<&Entry<K, V>> {
        let addr = WeakKey::addr(value);
        let is_of = |entry: &&Entry<K, V>| entry.value.is_at(addr);
        let Some(hashes) = V::cookies_of(value, &self.values) else {
            return self.entries.iter().filter(is_of).collect();
        };
        let mut found = Vec::with_capacity(hashes.len());
        for hash in hashes {
            // hashbrown compares only tags, so an entry with another of these hashes may come up:
            // its own hash will find it.
            let has_hash = |entry: &&Entry<K, V>| entry.value.cookie() == Some(hash);
            let entries = self.entries.iter_hash(hash.get());
            found.extend(entries.filter(is_of).filter(has_hash));
        }
        found
    }

    /// Removes the entries with this value whose keys are live, and returns their number. Costs as
    /// much as [`entries_of`](Self::entries_of). If a destructor panics, the entries that are not
    /// removed yet stay.
    pub(crate) fn remove_of(&mut self, value: &V::Key) -> usize {
        let addr = WeakKey::addr(value);
        let is_of = |entry: &Entry<K, V>| entry.value.is_at(addr) && !entry.key.is_expired();
        let mut removed = 0;
        if let Some(hashes) = V::cookies_of(value, &self.values) {
            for hash in hashes {
                while let Ok(found) = self.entries.find_entry(hash.get(), is_of) {
                    let mut entry = found.remove().0;
                    entry.deregister(&mut self.keys, &mut self.values);
                    removed += 1;
                }
            }
        } else {
            let mut walk = Walk::default();
            let of = |entry: &mut Entry<K, V>| is_of(entry).then_some(());
            while self.take_next(&mut walk, of).is_some() {
                removed += 1;
            }
        }
        removed
    }
}
