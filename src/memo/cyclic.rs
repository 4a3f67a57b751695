//! `purge_cycles` for a memo: results that keep their own inputs alive are removed.

use core::any::type_name;
use std::boxed::Box;
use std::vec::Vec;

use super::cache::Memo;
use super::key::{MemoKey, TraceKey};
use super::watches::Results;
use crate::concurrent::MemberOf;
use crate::cycles::{Cyclic, Member, Purged, Sealed, Trace, Tracer, drain_one, purge_one};

impl<K: MemoKey, V> Sealed for &Memo<K, V> {}

impl<K: MemoKey + TraceKey + 'static, V: Trace> Cyclic for &Memo<K, V> {
    type Contents = V;

    fn member<'m, 'v>(self) -> Box<dyn Member<'v> + 'm>
    where
        Self: 'm,
        V: 'v,
    {
        let mut member = self.cyclic();
        member.weak = |key, watches| Some(Box::new(K::weak(key, watches.key_watches())?));
        Box::new(member)
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
        purge_one(&mut self.cyclic())
    }

    /// Removes the same results as [`purge_cycles`](Self::purge_cycles), and results of dead
    /// inputs, but destroys none of them: returns each result with the plain values of its key. See
    /// [`WeakMap::drain_cycles`](crate::concurrent::WeakMap::drain_cycles).
    ///
    /// # Panics
    /// If a `trace` panics: then no living result is removed, and dead results are destroyed. If a
    /// listener or the destructor of a weak handle panics.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// let simpler = Memo::<Strong<str>, Strong<str>>::new();
    /// let term = Strong::from("x");
    /// simpler.get_or_compute(&term, |_| term.clone()); // is its own input
    /// drop(term);
    /// let (purged, results) = simpler.drain_cycles();
    /// assert_eq!((purged.removed, &*results[0].0), (1, "x"));
    /// ```
    #[must_use = "what is returned is destroyed when it is dropped"]
    pub fn drain_cycles(&self) -> (Purged, Vec<(V, impl Sized + use<K, V>)>)
    where
        K: TraceKey,
        V: Trace,
    {
        let mut member = self.cyclic();
        let purged = drain_one(&mut member);
        let taken = core::mem::take(&mut member.taken).into_iter();
        (purged, taken.map(|(key, value)| (value, key)).collect())
    }

    fn cyclic(&self) -> MemberOf<'_, Results<K, V>>
    where
        K: TraceKey,
        V: Trace,
    {
        MemberOf::new(&self.table, show::<K, V>, type_name::<Self>())
    }
}

/// A memo in a field, or behind a pointer in a field. The memo shows the handles that its results
/// own; a memo [shared by threads](Tracer::is_shared) shows nothing.
impl<K: MemoKey + TraceKey, V: Trace> Trace for Memo<K, V> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        self.table.show(show::<K, V>, tracer);
    }
}
