//! What a memo has, by its keys.

use core::fmt;
use core::iter::FusedIterator;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::watches::EntryWatches;
use crate::concurrent::Watches;

impl<K: MemoKey, V> Memo<K, V> {
    /// Returns whether there is a result for a key. O(1), lock-free. Neither a hit nor a miss.
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

    /// Iterates over the keys of the results, in no order, as a snapshot: those whose inputs die,
    /// or which are removed, before the iterator reaches them are left out. A result that is being
    /// computed is not there yet. O(capacity), and O(inputs) for each.
    ///
    /// The keys are [weak](crate::memo::Part::Weak), and no object is kept alive. A handle costs an
    /// object the record that its first handle does.
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

    /// Keeps the results for which the closure returns true. O(capacity). The closure gets the keys
    /// [weakly](crate::memo::Part::Weak), at the price of a record for each object, as
    /// [`keys`](Self::keys) does. It may not see the results that other threads insert meanwhile,
    /// nor those that are being computed.
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

/// What is shown of a key, if all inputs live.
fn shown<K: MemoKey>(key: &K::Stored, watches: &EntryWatches<K::Watches>) -> Option<K::Weak> {
    let key = K::weak(key, watches.keys())?;
    (!watches.is_expired()).then_some(key)
}
