//! A memo, purged of results that keep their own inputs alive.

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

/// Shows what an entry owns.
fn show<K: TraceKey, V: Trace>(key: &K::Stored, value: &V, tracer: &mut Tracer<'_>) {
    K::trace(key, tracer);
    V::trace(value, tracer);
}

impl<K: MemoKey, V> Memo<K, V> {
    /// Removes the results that keep themselves alive: a result that leads to one of its inputs, if
    /// nothing but such results does. They count as discarded. See
    /// [`WeakMap::purge_cycles`](crate::concurrent::WeakMap::purge_cycles).
    ///
    /// What a result [depends on](crate::memo::Computation::depends_on) is an input, too: a result
    /// that owns it, as nothing else does, goes although its key is held. The plain parts of its
    /// key are its own, too.
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

/// A memo that is a field, or behind one. Shows what its results own; nothing where [threads share
/// it](Tracer::is_shared).
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
