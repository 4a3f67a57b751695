//! Memoisation that never pins its inputs.

use core::any::type_name;
use core::cell::RefCell;
use core::convert::Infallible;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::boxed::Box;
use std::vec::Vec;

use crate::concurrent::{
    Address, AnyTie, Ending, Failed, Loose, Made, SharedRef, Striped, Table, TieOf, Tied, TiedTo,
    circle,
};
use crate::hash::HashValue;
use crate::queue::{HookId, SharedQueue};
use crate::reclaim::Reclaim;
use crate::reference::StrongRef;

/// A cache of results computed from objects, which keeps neither the objects nor, once one of them is
/// dead, the result. From one object, or a tuple of up to four; shared between threads behind `&self`.
///
/// An entry dies with the first of its inputs, which are its key, by identity, and what the computation
/// [depends on](Computation::depends_on) besides. An input is dead when its destructor has run (an `Arc`: when
/// its last strong pointer has gone). From then on the entry is not found, and the result is destroyed as the
/// values of a [`concurrent::WeakMap`](crate::concurrent::WeakMap) are.
///
/// Each result is computed once: threads that ask for the same key wait for the one that computes it. If
/// that panics or fails, nothing is cached, and one of those who wait computes it instead. A computation
/// may ask for other keys; one that, on whatever threads, comes to need itself panics, instead of waiting
/// for itself.
///
/// A result that owns a strong pointer to an input keeps it alive, and with it the entry; let it hold a
/// weak one.
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
    table: Table<K::Addresses, Ties, V>,
    hits: Striped,
    misses: AtomicUsize,
}

/// What a [`Memo`] is keyed by: a pointer, or a tuple of up to four. Sealed.
pub trait MemoKey: sealed::Sealed {
    /// How it is given: the pointer, or the tuple of pointers, by reference.
    type Ref<'a>: Copy
    where
        Self: 'a;
    #[doc(hidden)]
    type Addresses: Copy + Eq;
    #[doc(hidden)]
    fn addresses(key: Self::Ref<'_>) -> (HashValue, Self::Addresses);
    #[doc(hidden)]
    fn tie<'q>(
        key: Self::Ref<'_>,
        hash: HashValue,
        queue: &'q SharedQueue,
        ties: &mut Vec<Loose<'q, AnyTie>>,
    );
}

mod sealed {
    pub trait Sealed {}
}

impl<K: SharedRef + 'static> sealed::Sealed for K {}

impl<K: SharedRef + 'static> MemoKey for K {
    type Ref<'a> = &'a K;
    type Addresses = Address;

    #[inline]
    fn addresses(key: &K) -> (HashValue, Address) {
        Address::of(StrongRef::addr(key))
    }

    fn tie<'q>(
        key: &K,
        hash: HashValue,
        queue: &'q SharedQueue,
        ties: &mut Vec<Loose<'q, AnyTie>>,
    ) {
        ties.push(TieOf::<K>::of_any(key, hash, queue));
    }
}

macro_rules! tuples {
    ($($count:literal: $($key:ident $at:tt),+;)+) => {$(
        impl<$($key: SharedRef + 'static),+> sealed::Sealed for ($($key,)+) {}

        impl<$($key: SharedRef + 'static),+> MemoKey for ($($key,)+) {
            type Ref<'a> = ($(&'a $key,)+);
            type Addresses = [Address; $count];

            #[inline]
            fn addresses(key: Self::Ref<'_>) -> (HashValue, [Address; $count]) {
                Address::of_all([$(StrongRef::addr(key.$at)),+])
            }

            fn tie<'q>(
                key: Self::Ref<'_>,
                hash: HashValue,
                queue: &'q SharedQueue,
                ties: &mut Vec<Loose<'q, AnyTie>>,
            ) {
                $(ties.push(TieOf::<$key>::of_any(key.$at, hash, queue));)+
            }
        }
    )+};
}

tuples! {
    1: A 0;
    2: A 0, B 1;
    3: A 0, B 1, C 2;
    4: A 0, B 1, C 2, D 3;
}

/// The ties of an entry to all its inputs.
pub struct Ties {
    all: Box<[AnyTie]>,
    /// Whether all of them are those of the key, which who asks for it holds.
    held: bool,
    /// Whether one of the others does not tell of its death.
    asked: bool,
}

impl Ties {
    fn new<'q>(
        all: Vec<Loose<'q, AnyTie>>,
        keys: usize,
        queue: &'q SharedQueue,
    ) -> Loose<'q, Self> {
        let held = all.len() == keys;
        let asked = all[keys..].iter().any(|tie| tie.is_swept());
        let all = all.into_iter().map(Loose::into_inner).collect();
        Loose::new(Ties { all, held, asked }, queue)
    }

    /// Whether it has to be asked, even if nothing is pending, and is dead.
    #[inline]
    fn is_found_dead(&self) -> bool {
        self.asked && self.is_stale()
    }
}

impl Tied for Ties {
    const SWEPT: Option<bool> = None;

    fn is_swept(&self) -> bool {
        self.all.iter().any(AnyTie::is_swept)
    }

    fn is_stale(&self) -> bool {
        self.all.iter().any(AnyTie::is_stale)
    }

    /// A computation does not hold what it depends on besides: a notice may come, and go, before there is
    /// an entry to go.
    fn is_held(&self) -> bool {
        self.held
    }

    fn has_died(&self) -> bool {
        self.all.iter().any(AnyTie::has_died)
    }

    fn is_named_by(&self, hook: HookId) -> bool {
        self.all.iter().any(|tie| tie.is_named_by(hook))
    }

    fn settle(&self, hook: HookId, queue: &SharedQueue) {
        self.all.iter().for_each(|tie| tie.settle(hook, queue));
    }
}

impl Ending for Ties {
    fn end(&self, queue: &SharedQueue) {
        self.all.iter().for_each(|tie| tie.end(queue));
    }
}

/// A computation of a [`Memo`] that is under way.
pub struct Computation<'m> {
    queue: &'m SharedQueue,
    hash: HashValue,
    ties: RefCell<Vec<Loose<'m, AnyTie>>>,
    /// It belongs to the thread that computes.
    here: PhantomData<*mut ()>,
}

impl Computation<'_> {
    /// Makes the result depend on one more object: it goes when that dies, at the latest. Nothing is
    /// tracked by itself, as in compilers' caches: say what you have looked at. O(1).
    ///
    /// **Dependence is not transitive.** A result that was computed from another result depends on all that
    /// the other depends on, and has to say so: else, when one of those dies, the other goes and this one
    /// stays. The simplest way is to have the results be objects, `Memo<K, Strong<R>>`, and to depend on
    /// those that were used: `cx.depends_on(&result)`. When one goes, and nobody holds it, it dies, and so
    /// do those that depend on it, all at the next [`purge`](Memo::purge) (of each memo that is involved, in the
    /// order in which they depend). The example `incremental` does so.
    ///
    /// If it dies before the computation ends, the result is given out and not kept.
    pub fn depends_on<P: SharedRef + 'static>(&self, object: &P) {
        let tie = TieOf::<P>::of_any(object, self.hash, self.queue);
        self.ties.borrow_mut().push(tie);
    }
}

impl fmt::Debug for Computation<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Computation")
            .field("inputs", &self.ties.borrow().len())
            .finish()
    }
}

/// What has happened to a [`Memo`] so far. Exact while nobody uses it; then each call that was answered is a
/// hit or a miss (one that failed or panicked is a miss, unless it came to need itself), and
/// `misses == len + invalidated + discarded`.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Statistics {
    /// Calls that found their result, or waited for another's.
    pub hits: usize,
    /// Computations that were begun.
    pub misses: usize,
    /// Results that went because an input had died, those of inputs that died during the computation
    /// included.
    pub invalidated: usize,
    /// Computations that failed or panicked, and results that were removed by hand, before they were
    /// there or after.
    pub discarded: usize,
}

impl<K: MemoKey, V> Memo<K, V> {
    /// An empty memo, also for a `static`. Allocates nothing before the first computation.
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

    /// The number of results that are kept; of those whose inputs have died, what is not yet
    /// [buried](Self::purge) counts. O(threads).
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.entries()
    }

    /// Whether [`len`](Self::len) is zero.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The number of deaths of inputs whose results wait to be buried. O(1).
    #[must_use]
    pub fn pending_dead(&self) -> usize {
        self.table.pending()
    }

    /// When it destroys what the dead have left. See [`set_reclaim`](Self::set_reclaim).
    #[must_use]
    pub fn reclaim(&self) -> Reclaim {
        self.table.reclaim()
    }

    /// Chooses when it destroys the results of inputs that are dead.
    /// See [`WeakMap::set_reclaim`](crate::concurrent::WeakMap::set_reclaim).
    pub fn set_reclaim(&self, reclaim: Reclaim) {
        self.table.set_reclaim(reclaim);
    }

    /// Destroys the results of all inputs that are dead, and so on until there are none. See
    /// [`concurrent::WeakMap::purge`](crate::concurrent::WeakMap::purge).
    pub fn purge(&self) {
        self.table.purge();
    }

    /// Gives back memory that is not needed. See
    /// [`WeakMap::shrink_to_fit`](crate::concurrent::WeakMap::shrink_to_fit).
    pub fn shrink_to_fit(&self) {
        self.table.shrink_to_fit();
    }

    /// Forgets all results. O(capacity). What is being computed is not kept.
    pub fn clear(&self) {
        self.table.clear();
    }

    /// Forgets the result for a key; says whether there was one. O(1). If it is being computed, it is not
    /// kept.
    pub fn remove(&self, key: K::Ref<'_>) -> bool {
        let (hash, addresses) = K::addresses(key);
        self.table
            .remove(
                hash,
                &addresses,
                |_, _| true,
                |ties, _| !ties.is_found_dead(),
            )
            .is_some_and(|lived| lived)
    }

    /// Hits, misses, and what became of the results.
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
    /// The result for a key, if there is one. O(1), lock-free. Neither a hit nor a miss.
    #[inline]
    pub fn get(&self, key: K::Ref<'_>) -> Option<V> {
        let (hash, addresses) = K::addresses(key);
        self.table.read(hash, &addresses, Self::read)
    }

    #[inline]
    fn read(ties: &Ties, value: &V) -> Option<V> {
        (!ties.is_found_dead()).then(|| value.clone())
    }

    /// The result for a key, which is computed if there is none. O(inputs) and, if there is one, lock-free.
    ///
    /// The closure is handed the [`Computation`], to say what the result depends on besides.
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
        match self.ask(key, |cx| Ok::<_, Infallible>(compute(cx))) {
            Ok(value) => value,
            Err(Failed::By(never)) => match never {},
            Err(Failed::Circle) => circle::<K, V>(),
        }
    }

    /// The result for a key, which is computed if there is none, unless that fails. See
    /// [`get_or_compute`](Self::get_or_compute).
    ///
    /// # Errors
    /// What the closure says. Then nothing is kept, and who waits for this result computes it himself.
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
        match self.ask(key, compute) {
            Ok(value) => Ok(value),
            Err(Failed::By(error)) => Err(error),
            Err(Failed::Circle) => circle::<K, V>(),
        }
    }

    #[inline]
    fn ask<E>(
        &self,
        key: K::Ref<'_>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, Failed<E>> {
        let (hash, addresses) = K::addresses(key);
        let make = || {
            self.misses.fetch_add(1, Relaxed);
            let queue = self.table.queue();
            let mut ties = Vec::new();
            K::tie(key, hash, queue, &mut ties);
            let keys = ties.len();
            let computation = Computation {
                queue,
                hash,
                ties: RefCell::new(ties),
                here: PhantomData,
            };
            let value = compute(&computation)?;
            let ties = Ties::new(computation.ties.into_inner(), keys, queue);
            Ok((ties, value.clone(), value))
        };
        match self
            .table
            .get_or_make(hash, &addresses, || addresses, Self::read, make)?
        {
            Made::Hit(value) => {
                self.hits.add();
                Ok(value)
            }
            Made::Miss(value) => Ok(value),
        }
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
