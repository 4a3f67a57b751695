//! `purge_cycles` for a memo: results that keep their own inputs alive are removed.

use core::any::type_name;
use std::boxed::Box;

use super::cache::Memo;
use super::key::{MemoKey, TraceKey};
use super::rewriting::Rewritten;
use crate::concurrent::MemberOf;
use crate::cycles::{Cycles, Cyclic, Member, Purged, Sealed, Trace, Tracer};

impl<K: MemoKey, V> Sealed for &Memo<K, V> {}

impl<K: MemoKey + TraceKey, V: Trace> Cyclic for &Memo<K, V> {
    fn member<'m>(self) -> Box<dyn Member + 'm>
    where
        Self: 'm,
    {
        Box::new(MemberOf::new(
            &self.table,
            show::<K, V>,
            type_name::<Memo<K, V>>(),
        ))
    }
}

/// Shows the tracer the handles that an entry owns.
fn show<K: TraceKey, V: Trace>(key: &K::Stored, value: &V, tracer: &mut Tracer<'_>) {
    K::trace(key, tracer);
    V::trace(value, tracer);
}

impl<K: MemoKey, V> Memo<K, V> {
    /// Removes the results that keep themselves alive: each result that leads to one of its inputs,
    /// if only results of this kind keep the input alive. The removed results count as invalidated.
    /// See [`WeakMap::purge_cycles`](crate::concurrent::WeakMap::purge_cycles).
    ///
    /// An object on which a result [depends](crate::memo::Computation::depends_on) is an input,
    /// too: a result that is the only owner of this object is removed even while handles to the key
    /// exist. A result also owns the plain parts of its key.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// let simpler = Memo::<Strong<str>, Strong<str>>::new();
    /// let term = Strong::from("x");
    /// simpler.get_or_compute(&term, |_| term.clone()); // is its own input
    /// drop(term);
    /// assert_eq!(simpler.purge_cycles().removed, 1);
    /// ```
    pub fn purge_cycles(&self) -> Purged
    where
        K: TraceKey,
        V: Trace,
    {
        Cycles::new().with(self).purge()
    }
}

/// A memo in a field, or behind a pointer in a field. The memo shows the handles that its results
/// own; a memo [shared by threads](Tracer::is_shared) shows nothing.
impl<K: MemoKey + TraceKey, V: Trace> Trace for Memo<K, V> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.table.show(show::<K, V>, tracer);
    }
}

impl<R: Trace> Trace for Rewritten<R> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Some(owned) = self.owned() {
            owned.trace(tracer);
        }
    }
}
