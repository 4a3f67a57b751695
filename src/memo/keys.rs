//! The keys of a memo.

use core::fmt;
use core::iter::FusedIterator;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::watches::EntryWatches;
use crate::concurrent::Watches;

impl<K: MemoKey, V> Memo<K, V> {
    /// Returns whether there is a result for a key. O(1), lock-free. Counts only [under a
    /// ceiling](crate::Statistics).
    #[must_use]
    #[track_caller]
    pub fn contains_key(&self, key: impl MemoQuery<K>) -> bool {
        let read =
            |_: &_, watches: &EntryWatches<_>, _: &_| (!watches.is_found_dead()).then_some(());
        let found = self.look_up(&key, read);
        // T5 of the table.
        drop(key);
        found.is_some()
    }

    /// Iterates over the keys of the results, in no order, as a snapshot. A result that is removed,
    /// or whose input dies, before the iterator reaches the result is left out. A result that is
    /// still being computed is not there yet. O(capacity), and O(inputs) for each result.
    ///
    /// The keys are [weak](crate::memo::Part::Weak), and keep no object alive. The first weak
    /// handle to an object allocates a record for the object.
    ///
    /// ```
    /// use weakly::{Memo, Strong, memo::Value};
    ///
    /// let drawn = Memo::<(Strong<str>, Value<u32>), String>::new();
    /// let page = Strong::from("a page");
    /// for width in [80, 120] {
    ///     drawn.insert((&page, &width), "a page, drawn".into());
    /// }
    /// let mut widths: Vec<_> = drawn.keys().map(|(_, width)| *width).collect();
    /// widths.sort();
    /// assert_eq!(widths, [80, 120]);
    /// let (weak, width) = drawn.keys().next().unwrap();
    /// assert!(drawn.contains_key((&weak.upgrade().unwrap(), &*width)));
    /// ```
    pub fn keys(&self) -> impl FusedIterator<Item = K::Weak> + fmt::Debug {
        let show = |key: &_, watches: &_, _: &_| shown::<K>(key, watches);
        self.table.snapshot(show).map(|(_, key)| key)
    }

    /// Keeps the results for which the closure returns true. O(capacity). The closure gets
    /// [weak](crate::memo::Part::Weak) keys, at the cost of a record for each object, as in
    /// [`keys`](Self::keys). The closure may miss the results that other threads insert meanwhile,
    /// and misses the results that are still being computed.
    ///
    /// ```
    /// use weakly::{Memo, Strong, memo::Value};
    ///
    /// let drawn = Memo::<(Strong<str>, Value<u32>), String>::new();
    /// let page = Strong::from("a page");
    /// for width in [80, 120] {
    ///     drawn.insert((&page, &width), "a page, drawn".into());
    /// }
    /// drawn.retain(|(_, width), _| **width < 100);
    /// assert_eq!((drawn.len(), drawn.contains_key((&page, &80))), (1, true));
    /// ```
    pub fn retain(&self, mut keep: impl FnMut(&K::Weak, &V) -> bool) {
        self.table.retain(|key, watches, value| {
            shown::<K>(key, watches).is_none_or(|key| keep(&key, value))
        });
    }
}

/// Returns the weak key of an entry, if all inputs live.
fn shown<K: MemoKey>(key: &K::Stored, watches: &EntryWatches<K::Watches>) -> Option<K::Weak> {
    let key = K::weak(key, watches.key_watches())?;
    (!watches.is_expired()).then_some(key)
}
