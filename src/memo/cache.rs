//! The cache of results.

use core::any::type_name;
use core::convert::Infallible;
use core::fmt;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;

use super::computation::{Begun, Computation};
use super::key::MemoKey;
use super::statistics::{Statistics, Striped};
use super::watches::EntryWatches;
use crate::concurrent::flight::Cycle;
use crate::concurrent::{Absent, ByKey, Failed, Table, Wanted, made_by, shared_housekeeping};

/// A cache of results computed from objects, shared between threads behind `&self`. The key is one handle, or a
/// tuple of up to four. The cache keeps neither the objects alive nor, once one of them is dead, the result.
///
/// An entry dies with the first of its inputs: its key, by identity, and the objects that the computation [depends
/// on](Computation::depends_on) besides. An input is dead when its destructor has run (for an `Arc`: when its last
/// strong handle has gone). From then on the entry is not found, and the result is destroyed as the values of a
/// [`concurrent::WeakMap`](crate::concurrent::WeakMap) are.
///
/// Each result is computed once: threads that ask for the same key wait for the one that computes it. If that
/// panics or fails, nothing is cached, and one of the waiting threads computes it instead. A computation may ask
/// for other keys. One that comes to need its own result, through any threads, panics instead of waiting for
/// itself.
///
/// Computations nest as deep as the stack allows. With optimisation, one level of a small computation takes some
/// 130 bytes of it, closure and caller included: 50,000 levels fit on a stack of 8 MiB.
///
/// A result that owns a strong handle to an input keeps it alive, and with it the entry, until
/// [`purge_cycles`](Self::purge_cycles) finds that nothing else does; give it a weak one. If
/// the result may *be* an input, as with a rewriting that changes nothing, ask with
/// [`get_or_rewrite`](Self::get_or_rewrite): then the memo only remembers which input it is.
///
/// ```
/// use weakly::{Memo, Strong};
///
/// struct Function { body: String, callee: Option<Strong<Function>> }
///
/// let sizes = Memo::<Strong<Function>, usize>::new();
/// fn size(sizes: &Memo<Strong<Function>, usize>, function: &Strong<Function>) -> usize {
///     sizes.get_or_compute(function, |cx| {
///         let callee = function.callee.as_ref().map_or(0, |callee| {
///             cx.depends_on(callee);
///             size(sizes, callee)
///         });
///         function.body.len() + callee
///     })
/// }
///
/// let leaf = Strong::new(Function { body: "1 + 1".into(), callee: None });
/// let root = Strong::new(Function { body: "leaf()".into(), callee: Some(leaf.clone()) });
/// assert_eq!(size(&sizes, &root), 11);
/// assert_eq!(size(&sizes, &root), 11);
/// assert_eq!((sizes.statistics().hits, sizes.statistics().misses), (1, 2));
/// drop(root);
/// sizes.purge();
/// assert_eq!(sizes.len(), 1); // the leaf's
/// ```
///
/// Several inputs are a tuple:
///
/// ```
/// use std::sync::Arc;
/// use weakly::{Memo, Strong};
///
/// let unified = Memo::<(Strong<String>, Arc<str>), String>::new();
/// let (a, b) = (Strong::new(String::from("a")), Arc::from("b"));
/// assert_eq!(unified.get_or_compute((&a, &b), |_| format!("{a}{b}")), "ab");
/// ```
pub struct Memo<K: MemoKey, V> {
    pub(super) table: Table<ByKey<K::Addresses>, EntryWatches<K::EntryWatches>, V>,
    hits: Striped,
    misses: AtomicUsize,
}

impl<K: MemoKey, V> Memo<K, V> {
    /// Creates an empty memo, also for a `static`. Allocates nothing before the first computation.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// static LENGTHS: Memo<Strong<str>, usize> = Memo::new();
    ///
    /// let text = Strong::from("text");
    /// assert_eq!(LENGTHS.get_or_compute(&text, |_| text.len()), 4);
    /// ```
    #[must_use]
    pub const fn new() -> Self {
        Memo {
            table: Table::new(),
            hits: Striped::new(),
            misses: AtomicUsize::new(0),
        }
    }

    /// Creates an empty memo with room for `capacity` results.
    #[must_use]
    pub fn with_capacity(capacity: usize) -> Self {
        Memo {
            table: Table::new().with_room_for(capacity),
            ..Self::new()
        }
    }

    shared_housekeeping!(table);

    /// Removes the result for a key; returns whether there was one. O(1). If it is being computed, it will not be
    /// kept.
    pub fn remove(&self, key: K::Ref<'_>) -> bool {
        let (hash, addresses) = K::addresses(key);
        self.table
            .remove(
                hash,
                |there| *there == addresses,
                |_, _| true,
                |_, watches, _| !watches.is_found_dead(),
            )
            .is_some_and(|lived| lived)
    }

    /// Returns hits, misses, and what became of the results.
    #[must_use]
    pub fn statistics(&self) -> Statistics {
        Statistics {
            hits: self.hits.sum(),
            misses: self.misses.load(Relaxed),
            invalidated: self.table.dead(),
            discarded: self.table.discarded(),
        }
    }
}

impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns the result for a key, if there is one. O(1), lock-free. Neither a hit nor a miss.
    #[inline]
    pub fn get(&self, key: K::Ref<'_>) -> Option<V> {
        let (hash, addresses) = K::addresses(key);
        self.table.read(
            hash,
            |there| *there == addresses,
            |_, watches, value| Self::read(watches, value),
        )
    }

    #[inline]
    fn read(watches: &EntryWatches<K::EntryWatches>, value: &V) -> Option<V> {
        (!watches.is_found_dead()).then(|| value.clone())
    }

    /// Returns the result for a key, which is computed if there is none. O(inputs), and lock-free if there is one.
    ///
    /// The closure is passed the [`Computation`], to declare what the result depends on besides.
    ///
    /// # Panics
    /// If the computation comes to need itself, on this thread or by waiting for others that wait for it.
    #[inline]
    #[track_caller]
    pub fn get_or_compute(
        &self,
        key: K::Ref<'_>,
        compute: impl FnOnce(&Computation<'_>) -> V,
    ) -> V {
        let Ok(value) = self.try_get_or_compute(key, |cx| Ok::<_, Infallible>(compute(cx)));
        value
    }

    /// Returns the result for a key, which is computed if there is none, unless that fails. See
    /// [`get_or_compute`](Self::get_or_compute).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and a thread that waits for this result computes it itself.
    ///
    /// # Panics
    /// As [`get_or_compute`](Self::get_or_compute).
    #[inline]
    #[track_caller]
    pub fn try_get_or_compute<E>(
        &self,
        key: K::Ref<'_>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, E> {
        let absent = match self.find(&key) {
            Ok(value) => {
                // T5 of the table.
                drop(compute);
                return Ok(value);
            }
            Err(absent) => absent,
        };
        made_by::<K, V, E>(self.compute(&key, absent, compute))
    }

    /// Not inlined: a user's frame that contained it would be three times as large.
    #[inline(never)]
    fn find(&self, &key: &K::Ref<'_>) -> Result<V, Absent> {
        let (hash, addresses) = K::addresses(key);
        let found = self.table.find(hash, &addresses, Self::read);
        if found.is_ok() {
            self.hits.add();
        }
        found
    }

    /// The only frame of ours on the stack while user code runs.
    #[cold]
    #[inline(never)]
    fn compute<E>(
        &self,
        key: &K::Ref<'_>,
        absent: Absent,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, Failed<E>> {
        match self.begin(key, absent)? {
            Wanted::Ours(begun) => match compute(begun.computation()) {
                Ok(value) => Ok(begun.finish(value)),
                Err(error) => {
                    // Its pin may destroy what others have removed, and that may panic.
                    drop(begun);
                    Err(Failed::Error(error))
                }
            },
            Wanted::There(value) => {
                drop(compute);
                Ok(value)
            }
        }
    }

    /// The result, if it is there by now, or a computation for this thread to run.
    #[cold]
    #[inline(never)]
    fn begin(
        &self,
        &key: &K::Ref<'_>,
        absent: Absent,
    ) -> Result<Wanted<V, Box<Begun<'_, K, V>>>, Cycle> {
        let (hash, addresses) = K::addresses(key);
        let begin = |leader| {
            self.misses.fetch_add(1, Relaxed);
            let core = self.table.core();
            let watches = K::watch(key, hash, core);
            Begun::new(core, hash, addresses, watches, leader)
        };
        let wanted = self
            .table
            .lead(hash, &addresses, Self::read, absent, begin)?;
        if let Wanted::There(_) = wanted {
            self.hits.add();
        }
        Ok(wanted)
    }
}

impl<K: MemoKey, V> Default for Memo<K, V> {
    fn default() -> Self {
        Self::new()
    }
}

impl<K: MemoKey, V> fmt::Debug for Memo<K, V> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Memo")
            .field("key", &type_name::<K>())
            .field("len", &self.len())
            .field("statistics", &self.statistics())
            .finish()
    }
}
