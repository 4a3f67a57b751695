//! The cache of results.

use core::any::type_name;
use core::convert::Infallible;
use core::fmt;
use core::hash::{BuildHasher, Hasher};
use core::marker::PhantomData;
use std::sync::OnceLock;
use std::time::{Duration, Instant};

use super::computation::{Begun, Computation, Parts};
use super::key::{MemoKey, MemoQuery};
use super::timeout::TimedOut;
use super::watches::{EntryWatches, Results};
use crate::concurrent::{
    Absent, Claimed, Computing, Dependency, Errors, Failed, Gathered, Inputs, Leader, SharedKey,
    SharedWatchFor, Table, Watches, Way, ceiling, counting, made_by, shared_housekeeping, taking,
};
use crate::flight::{Frame, WaitError};
use crate::hash::{AddrHasher, DefaultHashBuilder, HashValue};
use crate::thread::Scope;

/// A cache of results computed from objects, shared between threads behind `&self`. The key is one
/// handle, [`Many`] handles, or a tuple of up to four parts: the first part is a handle or `Many`
/// handles, each further part is a handle, `Many` handles or a plain [`Value`]. The cache does not
/// keep the objects alive. When one of the objects dies, the cache drops the result.
///
/// An entry ends with the first of its inputs. The inputs are the objects in the key, compared by
/// identity; the results of this and other memos that the [computation](Computation) has asked for,
/// which the memo notes without a word; and the objects that the computation
/// [declares](Computation::depends_on). An object is dead when its destructor has run (for an
/// `Arc`: when the last strong handle is gone). From then on no lookup finds the entry, and the
/// result is destroyed like the values of a
/// [`concurrent::WeakMap`](crate::concurrent::WeakMap).
///
/// A result ends with an input, and when it is removed, [invalidated](Self::invalidate), replaced
/// by [`insert`](Self::insert), or when its memo is dropped. The end of a result ends all results
/// that were computed from it, at any depth and in any memo, before the call returns that ends the
/// result: O(ended results). An object that does not notify, such as an `Arc`, is an input of all
/// these results itself, and each of them is polled.
///
/// Each result is computed once (except in [races](Self::get_or_compute_racing)): threads that ask
/// for the same key wait for the thread computing the result. If the computation panics or fails,
/// nothing is cached, and one of the waiting threads computes the result instead. A computation may
/// ask for other keys. A computation that comes to need its own result, through any number of
/// threads, panics instead of waiting for itself. No cycle is detected where a computation waits in
/// a work-stealing pool, or for a lock that callers hold: threads [may wait for
/// ever](crate::guide::memo#computations-that-wait) there.
///
/// A computed result is not kept in four cases: another result is [inserted](Self::insert) for the
/// key meanwhile, the key is removed or [invalidated](Self::invalidate) meanwhile, an input ends,
/// or the computation has asked for a result that was not kept. Then only the computing thread gets
/// the computed result. The waiting threads find the inserted result, or one of the waiting threads
/// computes the result anew.
///
/// Computations nest as deep as the stack allows. With optimisation, one level of a small
/// computation takes some 130 bytes of stack, closure and caller included: 50,000 levels fit on a
/// stack of 8 MiB.
///
/// A result that owns a strong handle to an input keeps the input alive, and with the input the
/// entry, until [`purge_cycles`](Self::purge_cycles) finds that nothing else does. Give the result
/// a weak handle instead. If the result may *be* an input, as in a rewriting that changes nothing,
/// let the memo remember only that: see [the
/// guide](crate::guide::memo#results-that-may-be-their-own-input).
///
/// ```
/// use weakly::{Memo, Strong};
///
/// struct Function { body: String, callee: Option<Strong<Function>> }
///
/// let sizes = Memo::<Strong<Function>, usize>::new();
/// fn size(sizes: &Memo<Strong<Function>, usize>, function: &Strong<Function>) -> usize {
///     sizes.get_or_compute(function, |_| {
///         let callee = function.callee.as_ref().map_or(0, |callee| size(sizes, callee));
///         function.body.len() + callee
///     })
/// }
///
/// let leaf = Strong::new(Function { body: "1 + 1".into(), callee: None });
/// let root = Strong::new(Function { body: "leaf()".into(), callee: Some(leaf.clone()) });
/// assert_eq!(size(&sizes, &root), 11);
/// assert_eq!(size(&sizes, &root), 11);
/// assert_eq!((sizes.statistics().hits, sizes.statistics().misses), (1, 2));
/// drop(leaf);
/// assert_eq!(sizes.remove(root.callee.as_ref().unwrap()), Some(5));
/// assert!(sizes.is_empty()); // the size of the root was computed from the size of the leaf
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
///
/// An object and parameters are a tuple, too. [`MemoQuery`] describes how each part is passed. A
/// hit allocates nothing. The death of an object costs O(results): it unlinks the results for all
/// parameters of the object, one after the other, and locks one bucket at a time. The `Hash` and
/// `Eq` of plain values may run any code: the memo calls neither under a lock, and a `Hash` that
/// contradicts its `Eq` only causes misses. Plain values are hashed with random seeds, drawn for
/// the memo's first entry.
///
/// ```
/// use weakly::{Memo, Strong, memo::Value};
///
/// struct Graph { nodes: usize }
///
/// let compiled = Memo::<(Strong<Graph>, Value<String>, Value<u8>), String>::new();
/// let graph = Strong::new(Graph { nodes: 3 });
/// let compile = |target: &str, level: u8| {
///     compiled.get_or_compute((&graph, target, &level), |_| {
///         format!("{} nodes for {target} at {level}", graph.nodes)
///     })
/// };
/// assert_eq!(compile("x86", 2), "3 nodes for x86 at 2");
/// assert_eq!(compile("x86", 2), compile("x86", 2));
/// assert_eq!(compiled.statistics().misses, 1);
/// drop(graph);
/// assert!(compiled.is_empty());
/// ```
///
/// [`Many`]: crate::memo::Many
/// [`MemoQuery`]: crate::memo::MemoQuery
/// [`Value`]: crate::memo::Value
pub struct Memo<K: MemoKey, V> {
    pub(super) table: Table<Results<K, V>>,
    /// Hashes keys with plain parts. The seeds are drawn for the memo's first entry.
    hasher: OnceLock<DefaultHashBuilder>,
}

impl<K: MemoKey, V> Memo<K, V> {
    crate::sync::const_fn! {
        /// Creates an empty memo, also for a `static`. Allocates nothing.
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
        pub fn new() -> Self {
            Memo {
                table: Table::new(type_name::<Self>),
                hasher: OnceLock::new(),
            }
        }
    }

    /// Creates an empty memo with room for `capacity` results.
    ///
    /// # Panics
    /// If the size exceeds the address space.
    #[must_use]
    #[track_caller]
    pub fn with_capacity(capacity: usize) -> Self {
        Memo {
            table: Table::new(type_name::<Self>).with_room_for(capacity),
            ..Self::new()
        }
    }

    shared_housekeeping!(table);
    taking! {
        table, (V, impl Sized + use<K, V>), |(key, value)| (value, key),
        "Takes out at most `n` results whose inputs have died, instead of destroying them: each with the plain values of its key, which are dropped with the pair.";
    }
    ceiling!(K, V, |key, watches| K::into_weak(
        key,
        watches.into_key_watches()
    ));
    counting!();

    /// Removes all results in which an object takes part, as a part of the key or because the
    /// computation [depends on](Computation::depends_on) the object, and all results that were
    /// computed from these results, in any memo. Returns the number of results that the call has
    /// removed because of the object. A computation under way that has already named the object, or
    /// has asked for a removed result, finishes, but only the computing thread gets its result, and
    /// the result is not [kept](Self). The method is for objects that change in place, under a
    /// lock: the thread that has changed an object calls `invalidate`. Then no later lookup finds a
    /// result of the old state, if each computation declares an object before it reads the object,
    /// under the same lock.
    ///
    /// O(n log n) for all n registrations of the object, in all collections: the object lists its
    /// registrations, and the memo is not scanned. Threads that insert or remove results of the
    /// same object wait for that time. An object that does not notify, such as an
    /// [`Arc`](std::sync::Arc), has no such list: then the call costs O(capacity), and no
    /// computation under way is kept, whatever its key.
    ///
    /// ```
    /// use std::sync::Mutex;
    /// use weakly::{Memo, Strong, memo::Value};
    ///
    /// let text = Strong::new(Mutex::new(String::from("one two")));
    /// let found = Memo::<(Strong<Mutex<String>>, Value<String>), bool>::new();
    /// let contains = |word: &str| {
    ///     found.get_or_compute((&text, word), |_| text.lock().unwrap().contains(word))
    /// };
    /// assert!(contains("two") && !contains("three"));
    /// text.lock().unwrap().push_str(" three");
    /// assert_eq!(found.invalidate(&text), 2);
    /// assert!(contains("two") && contains("three"));
    /// ```
    pub fn invalidate<P: SharedKey>(&self, object: &P) -> usize {
        Scope::apart(|| self.end_all_of(object))
    }

    /// As [`invalidate`](Self::invalidate), [apart](Scope::apart) from the code of a computation.
    fn end_all_of<P: SharedKey>(&self, object: &P) -> usize {
        let addr = P::known_addr(object);
        let names_it = |watches: &EntryWatches<K::Watches>| {
            let mut found = false;
            watches.objects(&mut |there| found |= there == addr);
            found
        };
        let hashes = self.table.hashes_of::<SharedWatchFor<P>>(object);
        // A reservation does not record the objects on which its computation depends. But the
        // object is registered for the hash of the computation's key, so a reservation with this
        // hash is a reservation of a dependent computation, unless two of 2^31 hashes are equal by
        // chance. For an object without registrations, such as an `Arc`, every computation under
        // way counts as dependent.
        self.table
            .remove_each(hashes.as_deref(), names_it, |_| true)
    }

    /// Returns the hash of a key; `None` if the key has plain parts and the memo never had an
    /// entry.
    #[inline]
    #[track_caller]
    pub(super) fn hash_if_any(&self, key: &impl MemoQuery<K>) -> Option<HashValue> {
        Self::hash_with(key, || self.hasher.get())
    }

    /// Returns the hash of a key that is about to get an entry.
    #[inline]
    #[track_caller]
    pub(super) fn hash(&self, key: &impl MemoQuery<K>) -> HashValue {
        let hasher = || Some(self.hasher.get_or_init(DefaultHashBuilder::default));
        Self::hash_with(key, hasher).expect("there is a hasher")
    }

    /// Returns the hash of a key; `None` if the key has plain parts, and there is no hasher.
    #[inline]
    #[track_caller]
    fn hash_with<'h>(
        key: &impl MemoQuery<K>,
        hasher: impl FnOnce() -> Option<&'h DefaultHashBuilder>,
    ) -> Option<HashValue> {
        if K::PLAIN {
            let Some(hasher) = hasher() else {
                // The hash of a list also checks that the list is not empty.
                key.hash(&mut DefaultHashBuilder::default().build_hasher());
                return None;
            };
            let mut state = hasher.build_hasher();
            key.hash(&mut state);
            Some(HashValue::fold(state.finish()))
        } else {
            let mut state = AddrHasher::default();
            key.hash(&mut state);
            Some(state.hash())
        }
    }
}

impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns the result for a key, if there is one. O(1), lock-free outside of computations.
    /// Counts only [under a ceiling](crate::Statistics). Within a [computation](Computation), the
    /// result becomes an input of that computation.
    #[inline]
    #[track_caller]
    pub fn get(&self, key: impl MemoQuery<K>) -> Option<V> {
        let read = |_: &_, watches: &_, value: &_| Self::read(watches, value);
        let found = self.look_up(&key, read);
        // T5 of the table, also below.
        drop(key);
        found
    }

    /// Sets the result for a key, and returns the replaced result. O(inputs), and O(1) for each
    /// result that was computed from the replaced result, and ends. If the result for the key is
    /// [being computed](crate::concurrent#a-value-that-is-being-made), only the computing thread
    /// gets the computed result; the memo keeps the inserted result, and waiting threads find it.
    ///
    /// ```
    /// use weakly::{Memo, Strong, memo::Value};
    ///
    /// let areas = Memo::<(Strong<str>, Value<u32>), u32>::new();
    /// let shape = Strong::from("square");
    /// assert_eq!(areas.insert((&shape, &3), 9), None);
    /// assert_eq!(areas.get_or_compute((&shape, &3), |_| unreachable!()), 9);
    /// ```
    #[track_caller]
    pub fn insert(&self, key: impl MemoQuery<K>, value: V) -> Option<V> {
        // Outside of computations not in a closure, which would hide the caller's location.
        match Scope::is_any() {
            true => Scope::apart(|| self.set(key, value)),
            false => self.set(key, value),
        }
    }

    /// Removes the result for a key, and returns a clone of the result. O(1), and O(1) for each
    /// result that was computed from the removed result, and ends. The result itself is destroyed
    /// when no thread looks at it any more, as for
    /// [`WeakMap::remove_if`](crate::concurrent::WeakMap::remove_if). A result that is [being
    /// computed](crate::concurrent#a-value-that-is-being-made) will not be [kept](Self), and the
    /// waiting threads compute the result anew.
    #[track_caller]
    pub fn remove(&self, key: impl MemoQuery<K>) -> Option<V> {
        // As in `insert`.
        match Scope::is_any() {
            true => Scope::apart(|| self.take(key)),
            false => self.take(key),
        }
    }

    /// As [`remove`](Self::remove), [apart](Scope::apart) from the code of a computation.
    #[track_caller]
    fn take(&self, key: impl MemoQuery<K>) -> Option<V> {
        let remove = |hash: HashValue| {
            self.table.remove_where(
                hash,
                |node| key.is(node.key()),
                |entry: Option<(&EntryWatches<_>, _)>| {
                    Some(entry.is_some_and(|(watches, _)| !watches.is_found_dead()))
                },
                |was_live, _, value| was_live.then(|| value.clone()),
            )
        };
        let removed = self.hash_if_any(&key).and_then(remove).flatten();
        // T5 of the table.
        drop(key);
        removed
    }

    /// As [`insert`](Self::insert), [apart](Scope::apart) from the code of a computation.
    #[track_caller]
    fn set<Q: MemoQuery<K>>(&self, key: Q, value: V) -> Option<V> {
        let (hash, handles) = (self.hash(&key), key.handles());
        let key = key.into_stored();
        let watches = Q::watch(handles, hash, self.table.core());
        let watches = EntryWatches::new(watches, Gathered::default());
        let hold = |watches: &EntryWatches<K::Watches>, _: &V| watches.hold();
        let (held, old) = self
            .table
            .put(hash, key, watches, value, hold, |held, old| {
                (held, old.clone())
            })?;
        // T5 of the table.
        drop(held);
        Some(old)
    }

    /// Returns the result for a key; computes the result if there is none. O(inputs); lock-free if
    /// there is a result, and the call is made outside of [computations](Computation).
    ///
    /// The closure gets the [`Computation`], to declare further objects on which the result
    /// depends. The result depends on each result that the closure asks for, without a word.
    ///
    /// A waiting call blocks its thread. Do not make the call on the only thread of an executor,
    /// whose other tasks may have to compute the result. Where the closure waits for a
    /// work-stealing pool, or for a lock that callers hold, use
    /// [`get_or_compute_racing`](Self::get_or_compute_racing), which never waits.
    ///
    /// # Panics
    /// If the computation comes to need its own result, on this thread or through threads that wait
    /// for each other.
    #[inline]
    #[track_caller]
    pub fn get_or_compute(
        &self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(&Computation<'_>) -> V,
    ) -> V {
        let Ok(value) = self.try_get_or_compute(key, |cx| Ok::<_, Infallible>(compute(cx)));
        value
    }

    /// Returns the result for a key; computes the result if there is none, and may fail. See
    /// [`get_or_compute`](Self::get_or_compute).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and a waiting thread computes the result
    /// itself: n threads that wait for a result which cannot be computed try n times, one after the
    /// other. [`try_get_or_compute_shared`](Self::try_get_or_compute_shared) tries once.
    ///
    /// # Panics
    /// As [`get_or_compute`](Self::get_or_compute).
    #[inline]
    #[track_caller]
    pub fn try_get_or_compute<E>(
        &self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, E> {
        self.compute_by(key, || Way::WAITS, compute)
    }

    /// Returns the result for a key; computes the result if there is none, and may fail. If the
    /// computation fails, the threads and tasks that wait for it get clones of the error, if they
    /// ask by a method that shares errors of this type. The next call computes anew. Otherwise as
    /// [`try_get_or_compute`](Self::try_get_or_compute).
    ///
    /// # Errors
    /// The error of the closure, or a clone of the error of the computation for which the call has
    /// waited. Then nothing is kept. No call gets an error that is out of date: if the key was
    /// removed during the computation, or an input has ended, one of the waiting calls computes the
    /// result itself.
    ///
    /// # Panics
    /// As [`get_or_compute`](Self::get_or_compute).
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// let memo = Memo::<Strong<str>, u32>::new();
    /// let text = Strong::from("seven");
    /// let parse = || memo.try_get_or_compute_shared(&text, |_| text.parse::<u32>());
    /// assert!(std::thread::scope(|scope| {
    ///     let other = scope.spawn(parse); // computes, or gets the error of this thread
    ///     parse().is_err() && other.join().unwrap().is_err()
    /// }));
    /// assert_eq!(memo.try_get_or_compute_shared(&text, |_| "7".parse::<u32>()), Ok(7));
    /// ```
    #[track_caller]
    pub fn try_get_or_compute_shared<E: Clone + Send + Sync + 'static>(
        &self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, E> {
        self.compute_by(key, || Way::SHARES, compute)
    }

    #[inline]
    #[track_caller]
    pub(super) fn compute_by<E, Es: Errors<E>>(
        &self,
        key: impl MemoQuery<K>,
        way: impl FnOnce() -> Way<Es>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, E> {
        made_by::<K, V, E>(self.compute(key, way, compute))
    }

    /// Returns the result for a key; computes the result if there is none. If another thread is
    /// computing the result, the call waits for at most `timeout`. The timeout does not limit the
    /// call's own computation. A call that timed out counts as a miss. The call blocks its thread:
    /// do not make it on the only thread of an executor. Otherwise as
    /// [`get_or_compute`](Self::get_or_compute).
    ///
    /// # Errors
    /// If the time is up. The other thread's computation goes on.
    ///
    /// # Panics
    /// As [`get_or_compute`](Self::get_or_compute).
    ///
    /// ```
    /// use std::{thread, time::Duration};
    /// use weakly::{Memo, Strong};
    ///
    /// let memo = Memo::<Strong<u32>, u32>::new();
    /// let one = Strong::new(1);
    /// let soon = Duration::from_millis(1);
    /// memo.get_or_compute(&one, |_| {
    ///     thread::scope(|scope| {
    ///         let other = scope.spawn(|| memo.get_or_compute_timeout(&one, soon, |_| 2));
    ///         assert!(other.join().unwrap().is_err());
    ///     });
    ///     3
    /// });
    /// assert_eq!(memo.get_or_compute_timeout(&one, soon, |_| 2), Ok(3));
    /// ```
    #[track_caller]
    pub fn get_or_compute_timeout(
        &self,
        key: impl MemoQuery<K>,
        timeout: Duration,
        compute: impl FnOnce(&Computation<'_>) -> V,
    ) -> Result<V, TimedOut> {
        // `None`: the timeout is longer than the clock can represent.
        let way = || Way::until(Instant::now().checked_add(timeout));
        let computed = self.compute(key, way, |cx| Ok::<_, Infallible>(compute(cx)));
        if let Err(Failed::Wait(WaitError::TimedOut)) = computed {
            return Err(TimedOut);
        }
        let Ok(value) = made_by::<K, V, _>(computed);
        Ok(value)
    }

    #[inline]
    #[track_caller]
    fn compute<E, Es: Errors<E>>(
        &self,
        key: impl MemoQuery<K>,
        way: impl FnOnce() -> Way<Es>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, Failed<E>> {
        match self.ask(key, way)? {
            Claimed::Yours(begun) => Self::run::<E, Es>(begun, compute),
            Claimed::There(value) => {
                drop(compute);
                Ok(value)
            }
        }
    }

    /// Returns the result, or a computation for this thread to run. `way` is a closure because a
    /// hit needs no way.
    // Not inlined: a user's frame containing `ask` would be three times as large.
    #[inline(never)]
    #[track_caller]
    fn ask<E, Es: Errors<E>>(
        &self,
        key: impl MemoQuery<K>,
        way: impl FnOnce() -> Way<Es>,
    ) -> Result<Claimed<V, Leads<'_, K, V>>, Failed<E>> {
        match self.find(&key) {
            Ok(value) => {
                drop(key);
                Ok(Claimed::There(value))
            }
            Err(absent) => self.begin(key, absent, way),
        }
    }

    /// Runs the computation, and publishes its result, or passes its error on. No other frame of
    /// the library is on the stack while the computation runs.
    #[cold]
    #[inline(never)]
    fn run<E, Es: Errors<E>>(
        begun: Leads<'_, K, V>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, Failed<E>> {
        match compute(&begun.parts().computation) {
            Ok(value) => Ok(Self::finish(begun, value)),
            Err(error) => {
                // The end of the leader's pin may destroy entries removed by other threads, and
                // their destructors may panic.
                Self::fail::<E, Es>(begun, &error);
                Err(Failed::Error(error))
            }
        }
    }

    /// Publishes a clone of the result, and returns the result. If another maker was faster,
    /// returns a clone of that maker's result. The computation that asks depends on the entry of
    /// the result; if there is none, the dependency is [`Dependency::Ended`].
    #[inline(never)]
    fn finish(begun: Leads<'_, K, V>, value: V) -> V {
        let computing = begun.end();
        Inputs::add_dependency_of(|| {
            let ((leader, frame), key, watches) = computing.into_parts().end();
            let made = || ((key, watches(), value.clone()), (value, None));
            let by_computation = Inputs::is_called_by_computation();
            let landed = |watches: &_, made: &mut _| Self::landed_as(by_computation, watches, made);
            let read = Self::read_with_dependency;
            let (value, dependency) = leader.finish(frame, read, made, landed, |_, _| ());
            (value, dependency.or(Some(Dependency::Ended)))
        })
    }

    /// Ends a computation without a result. The error goes to the callers that wait, if `Es` shares
    /// errors, and no input has ended.
    #[cold]
    #[inline(never)]
    fn fail<E, Es: Errors<E>>(begun: Leads<'_, K, V>, error: &E) {
        let computing = begun.end();
        Inputs::add_dependency_of(|| {
            let ((leader, _frame), key, watches) = computing.into_parts().end();
            let watches = watches();
            leader.fail::<E, Es>(error, || watches.all_live());
            drop((watches, key));
            ((), None)
        });
    }

    /// Returns the result, if it is there by now, or a computation for this thread to run.
    #[cold]
    #[inline(never)]
    fn begin<'m, Q: MemoQuery<K>, E, Es: Errors<E>>(
        &'m self,
        key: Q,
        (hash, absent): (HashValue, Absent<'m, Results<K, V>>),
        way: impl FnOnce() -> Way<Es>,
    ) -> Result<Claimed<V, Leads<'m, K, V>>, Failed<E>> {
        let claimed = Inputs::apart(|| {
            let handles = key.handles();
            let key = key.into_stored();
            let way = way();
            let mut leader = match self.table.reserve_first(hash, &key, absent, way.races) {
                Ok(leader) => leader,
                Err(absent) => {
                    match (self.table).lead(hash, &key, Self::read_with_dependency, absent, &way)? {
                        Claimed::There(value) => {
                            drop(key);
                            return Ok(Claimed::There(value));
                        }
                        Claimed::Yours(leader) => leader,
                    }
                }
            };
            let (frame, core) = (leader.frame_of_thread(), self.table.core());
            let computation = Computation {
                inputs: leader.inputs(),
                memo: PhantomData,
            };
            Ok(Claimed::Yours(Computing::new(Parts {
                computation,
                watches: Q::watch(handles, hash, core),
                key,
                way: (leader, frame),
            })))
        });
        match claimed {
            Ok(Claimed::Yours(computing)) => Ok(Claimed::Yours(computing.enter())),
            Ok(Claimed::There((value, dependency))) => {
                Inputs::add_dependency(dependency);
                Ok(Claimed::There(value))
            }
            Err(failed) => {
                Inputs::add_dependency(None);
                Err(failed)
            }
        }
    }
}

/// A computation under a reservation. Its drop completes the reservation.
type Leads<'m, K, V> = Begun<'m, K, (Leader<'m, Results<K, V>>, Option<Frame>)>;

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
