//! Results computed by tasks.

use core::convert::Infallible;
use core::future::Future;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::watches::{EntryWatches, Results};
use crate::concurrent::tasks::work::Dependencies;
use crate::concurrent::{
    Error, Flight, Gathered, InFlight, Plan, Table, Unplaced, Waiting, Watches, Work, cycle,
    fallible, infallible, running, waiting,
};
use crate::hash::HashValue;
use crate::ptr::CoreRef;

/// Tasks wait without blocking.
impl<K, V> Memo<K, V>
where
    K: MemoKey<Stored: Send + Sync, Weak: Send> + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Returns a future of the result for a key. The result is computed if there is none and no
    /// other call is computing it. O(inputs); a hit is lock-free and allocates nothing.
    ///
    /// [`Flight`] describes how tasks compute together. No particular executor is needed. The
    /// flight watches the objects in the key and keeps no input alive: if an input dies meanwhile,
    /// the waiting tasks get the result, and the result is not kept. The closure gets the
    /// [weak](crate::memo::Part::Weak) key, so that a computation need not keep the objects alive,
    /// and the [`Dependencies`]; the closure can move both into its future.
    ///
    /// Otherwise as [`get_or_compute`](Self::get_or_compute); both methods share results and
    /// computations: a task waits for a computing thread, and a thread waits for computing tasks.
    ///
    /// ```
    /// use weakly::{Memo, Strong, Weak};
    ///
    /// struct Session { user: String }
    ///
    /// async fn load_permissions(session: Weak<Session>) -> usize {
    ///     session.upgrade().map_or(0, |session| session.user.len()) // ...
    /// }
    ///
    /// static PERMISSIONS: Memo<Strong<Session>, usize> = Memo::new();
    ///
    /// async fn permissions(session: &Strong<Session>) -> usize {
    ///     PERMISSIONS.get_or_compute_async(session, |session, _| load_permissions(session)).await
    /// }
    /// # use std::task::{Context, Poll, Waker};
    /// # let session = Strong::new(Session { user: "root".into() });
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # assert_eq!(std::pin::pin!(permissions(&session)).poll(&mut context), Poll::Ready(4));
    /// # assert_eq!(PERMISSIONS.get(&session), Some(4));
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_compute_async<F, Fut>(&self, key: impl MemoQuery<K>, compute: F) -> Flight<'_, V>
    where
        F: FnOnce(K::Weak, Dependencies) -> Fut + Send + 'static,
        Fut: Future<Output = V> + Send + 'static,
    {
        self.fly(key, infallible, |key, dependencies| {
            let computing = compute(key, dependencies);
            async { Ok::<_, Infallible>(computing.await) }
        })
    }

    /// Returns a future of the result for a key; the computation may fail. See
    /// [`get_or_compute_async`](Self::get_or_compute_async).
    ///
    /// # Errors
    /// The error of the closure's future, for the task that has passed the closure. Then nothing is
    /// kept, and a waiting task or thread computes the result itself.
    #[inline]
    #[track_caller]
    pub fn try_get_or_compute_async<F, Fut, E>(
        &self,
        key: impl MemoQuery<K>,
        compute: F,
    ) -> Flight<'_, V, Result<V, E>>
    where
        F: FnOnce(K::Weak, Dependencies) -> Fut + Send + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Send + 'static,
    {
        self.fly(key, fallible, compute)
    }
}

impl<K, V> Memo<K, V>
where
    K: MemoKey<Stored: Send + Sync, Weak: Send> + 'static,
    V: Clone + Send + Sync + 'static,
{
    #[inline]
    #[track_caller]
    fn fly<Q, F, Fut, E, R>(
        &self,
        key: Q,
        finish: fn(Result<V, Error>) -> R,
        compute: F,
    ) -> Flight<'_, V, R>
    where
        Q: MemoQuery<K>,
        F: FnOnce(K::Weak, Dependencies) -> Fut + Send + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Send + 'static,
    {
        match self.find(&key) {
            Ok(value) => {
                drop((key, compute));
                Flight::ready(finish(Ok(value)))
            }
            Err(absent) => Flight::waiting(self.wait(key, absent, compute), finish),
        }
    }

    #[cold]
    #[inline(never)]
    fn wait<Q, F, Fut, E>(
        &self,
        key: Q,
        (hash, found): (HashValue, InFlight),
        compute: F,
    ) -> Waiting<'_, V>
    where
        Q: MemoQuery<K>,
        F: FnOnce(K::Weak, Dependencies) -> Fut + Send + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Send + 'static,
    {
        let handles = key.handles();
        let key = key.into_stored();
        let core = self.table.core();
        let plan = Planned::<K, V> {
            watches: Q::watch(handles, hash, core),
            value: PhantomData,
        };
        let weak = K::weak(&key, &plan.watches).expect("the caller has the objects");
        waiting(self, found, Work::new(hash, key, plan), move |flight| {
            running(move || compute(weak, Dependencies::new(flight, hash, core)))
        })
    }
}

/// The [`Plan`] of a memo: how a result computed by tasks becomes an entry.
struct Planned<K: MemoKey, V> {
    watches: K::Watches,
    value: PhantomData<fn() -> V>,
}

impl<K, V> Plan for Planned<K, V>
where
    K: MemoKey<Stored: Send + Sync> + 'static,
    V: Clone + Send + Sync + 'static,
{
    type Owner = Memo<K, V>;
    type Schema = Results<K, V>;
    type Made = V;

    fn table(memo: &Memo<K, V>) -> &Table<Results<K, V>> {
        &memo.table
    }

    fn read(watches: &EntryWatches<K::Watches>, value: &V) -> Option<V> {
        Memo::<K, V>::read(watches, value)
    }

    fn entry(
        self,
        made: &V,
        _: HashValue,
        _: CoreRef,
        gathered: Gathered,
    ) -> (Unplaced<'static, EntryWatches<K::Watches>>, V) {
        (EntryWatches::new(self.watches, gathered), made.clone())
    }

    fn is_stale(&self) -> bool {
        self.watches.is_moved()
    }

    fn begun(memo: &Memo<K, V>) {
        memo.misses.fetch_add(1, Relaxed);
    }

    fn found(memo: &Memo<K, V>) {
        memo.hits.add();
    }

    fn cycle() -> ! {
        cycle::<K, V>()
    }
}
