//! Results computed by tasks.

use core::convert::{Infallible, identity};
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::ops::Deref;
use std::boxed::Box;
use std::sync::Arc;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery, Part};
use super::watches::{EntryWatches, Results};
use crate::concurrent::{
    AnyWatch, Claimed, Errors, Failed, Gathered, Leader, Load, SharedKey, SharedWatchFor, Tally,
    WatchesOne, Way, apart, cycle,
};
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::sync::{Exclusive, Mutex};

/// Tasks wait without blocking.
impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns a future of the result for a key. The result is computed if there is none and no
    /// other call is computing it. O(inputs); a hit is lock-free and allocates nothing. No
    /// particular executor is needed.
    ///
    /// The future of the first caller runs the computation, and the other callers wait for this
    /// future. So a first caller that does not poll its future any more delays the others; if it
    /// drops its future, the computation is dropped, and one of the others begins anew.
    /// [`get_or_compute_spawned`](Self::get_or_compute_spawned) has neither hazard; the chapter
    /// [`single_flight`](crate::guide::single_flight) compares both forms. The closure and its
    /// future may borrow from the caller, and need not be `Send`.
    ///
    /// The future watches the objects in the key and keeps no input alive: if an input dies
    /// meanwhile, the caller gets the result, and the result is not kept. The closure gets the
    /// [weak](crate::memo::Part::Weak) key, so that a computation need not keep the objects alive,
    /// and the [`Dependencies`]; the closure can move both into its future.
    ///
    /// Otherwise as [`get_or_compute`](Self::get_or_compute); both methods share results and
    /// computations: a task waits for a computing thread, and a thread waits for a computing task.
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
    pub async fn get_or_compute_async<'m, Fut>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> V
    where
        Fut: Future<Output = V>,
    {
        let Ok(value) = self
            .task(key, Way::WAITS, compute, Ok::<_, Infallible>)
            .await;
        value
    }

    /// Returns a future of the result for a key; the computation may fail. See
    /// [`get_or_compute_async`](Self::get_or_compute_async).
    ///
    /// # Errors
    /// The error of the closure's future. Then nothing is kept, and a waiting task or thread
    /// computes the result itself: n tasks that wait for a result which cannot be computed try n
    /// times, one after the other.
    /// [`try_get_or_compute_shared_async`](Self::try_get_or_compute_shared_async) tries once.
    pub async fn try_get_or_compute_async<'m, Fut, E>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> Result<V, E>
    where
        Fut: Future<Output = Result<V, E>>,
    {
        self.task(key, Way::WAITS, compute, identity).await
    }

    /// Returns a future of the result for a key; the computation may fail, and the tasks and
    /// threads that wait share the error. See
    /// [`try_get_or_compute_shared`](Self::try_get_or_compute_shared), and
    /// [`get_or_compute_async`](Self::get_or_compute_async).
    ///
    /// # Errors
    /// The error of the closure's future, or a clone of the error of the computation for which the
    /// task has waited. Then nothing is kept.
    pub async fn try_get_or_compute_shared_async<'m, Fut, E>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> Result<V, E>
    where
        E: Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>>,
    {
        self.task(key, Way::SHARES, compute, identity).await
    }

    /// `split` tells the result from an error.
    pub(super) async fn task<'m, F: Future, E, Es: Errors<E>>(
        &'m self,
        key: impl MemoQuery<K>,
        way: Way<Es>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
    ) -> Result<V, E> {
        match self.claim(key, &way).await? {
            Claimed::There(value) => {
                // T5 of the table, also below.
                drop(compute);
                Ok(value)
            }
            Claimed::Yours((mut begun, weak)) => {
                let dependencies = begun.entry.dependencies();
                let compute = || compute(weak, dependencies);
                let computed = begun.leader.run(false, compute).await;
                apart(|| begun.end(way, split(computed)))
            }
        }
    }

    /// Returns the result, if it is there by now, or what the caller needs to compute the result.
    async fn claim<Q: MemoQuery<K>, E, Es: Errors<E>>(
        &self,
        key: Q,
        way: &Way<Es>,
    ) -> Result<Claimed<V, Begins<'_, K, V>>, E> {
        let found = apart(|| {
            let found = self.find(&key);
            found.map_err(|(hash, absent)| (hash, absent.leave()))
        });
        let (hash, absent) = match found {
            Ok(value) => {
                drop(key);
                return Ok(Claimed::There(value));
            }
            Err(absent) => absent,
        };
        let (handles, key) = (key.handles(), key.into_stored());
        let claimed = (self.table).lead_in_task(hash, &key, Self::read, |_| None, absent, way);
        match claimed.await {
            Err(Failed::Error(error)) => {
                drop(key);
                Err(error)
            }
            Err(Failed::Wait(_)) => cycle::<K, V>(),
            Ok(Claimed::There(value)) => {
                self.table.tally(Tally::Hit);
                drop(key);
                Ok(Claimed::There(value))
            }
            Ok(Claimed::Yours(leader)) => Ok(Claimed::Yours(apart(|| {
                self.table.tally(Tally::Load);
                let (core, leader) = (self.table.core(), leader);
                let _frame = leader.frame();
                let watches = Q::watch(handles, hash, core);
                let weak = K::weak(&key, &watches).expect("the caller has the objects");
                let further = Further(Arc::new(Mutex::new(Some(Gathered::default()))));
                let entry = Entry {
                    key,
                    watches,
                    hash,
                    core,
                    further,
                };
                (Box::new(Begun { leader, entry }), weak)
            }))),
        }
    }
}

/// An executor runs the computation as a task of its own.
impl<K, V> Memo<K, V>
where
    K: MemoKey<Stored: Send + Sync> + 'static,
    V: Clone + Send + Sync + 'static,
{
    /// Returns a future of the result for a key. If there is no result, and no other call is
    /// computing the result, the computation becomes a *load*: a future that `spawn` gives to an
    /// executor. The caller waits for the load. O(inputs); a hit is lock-free, allocates nothing
    /// and spawns nothing.
    ///
    /// The load goes on when its caller is dropped, or is not polled any more: no caller in this
    /// form delays another caller, and the next caller finds the result. `memo` is a
    /// `&'static Memo`, an [`Arc`] of a memo, or another pointer to a memo; the load gets a clone
    /// of `memo`, and keeps the memo alive. The caller calls both closures in a poll of its own, so
    /// the closures may borrow, and only the computation has to be `Send + 'static`. `spawn` must
    /// not wait for the load, unless `spawn` runs the load. The chapter
    /// [`single_flight`](crate::guide::single_flight) compares the form with
    /// [`get_or_compute_async`](Self::get_or_compute_async), and both forms share results and
    /// computations.
    ///
    /// # Panics
    /// If the computation panics: the panic goes to the caller or, if the caller is gone, to the
    /// task of the load. If the load is dropped before its end, by `spawn` or by an executor that
    /// shuts down. If the computation comes to need its own result. If a clone of `memo` leads to
    /// another memo.
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
    ///     let load = |session, _| load_permissions(session);
    ///     Memo::get_or_compute_spawned(&PERMISSIONS, session, load, |load| {
    ///         tokio::spawn(load);
    ///     })
    ///     .await
    /// }
    /// # mod tokio {
    /// #     pub fn spawn(load: std::pin::Pin<Box<dyn Future<Output = ()> + Send>>) {
    /// #         let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #         assert!({ load }.as_mut().poll(&mut context).is_ready());
    /// #     }
    /// # }
    /// # use std::task::{Context, Poll, Waker};
    /// # let session = Strong::new(Session { user: "root".into() });
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # assert_eq!(std::pin::pin!(permissions(&session)).poll(&mut context), Poll::Ready(4));
    /// # assert_eq!(PERMISSIONS.get(&session), Some(4));
    /// ```
    pub async fn get_or_compute_spawned<M, Fut>(
        memo: M,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'static>) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> V
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        Fut: Future<Output = V> + Send + 'static,
    {
        let split = Ok::<_, Infallible>;
        let Ok(value) = Self::load(memo, key, Way::WAITS, compute, split, spawn).await;
        value
    }

    /// Returns a future of the result for a key; the computation may fail. See
    /// [`get_or_compute_spawned`](Self::get_or_compute_spawned).
    ///
    /// # Errors
    /// The error of the closure's future. Then nothing is kept, and a waiting task or thread
    /// computes the result itself.
    ///
    /// # Panics
    /// As [`get_or_compute_spawned`](Self::get_or_compute_spawned).
    pub async fn try_get_or_compute_spawned<M, Fut, E>(
        memo: M,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'static>) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Send + 'static,
    {
        Self::load(memo, key, Way::WAITS, compute, identity, spawn).await
    }

    /// Returns a future of the result for a key; the computation may fail, and the tasks and
    /// threads that wait share the error. See
    /// [`get_or_compute_spawned`](Self::get_or_compute_spawned), and
    /// [`try_get_or_compute_shared`](Self::try_get_or_compute_shared).
    ///
    /// # Errors
    /// The error of the closure's future, or a clone of the error of the computation for which the
    /// task has waited. Then nothing is kept.
    ///
    /// # Panics
    /// As [`get_or_compute_spawned`](Self::get_or_compute_spawned).
    pub async fn try_get_or_compute_shared_spawned<M, Fut, E>(
        memo: M,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'static>) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Clone + Send + Sync + 'static,
    {
        Self::load(memo, key, Way::SHARES, compute, identity, spawn).await
    }

    async fn load<M, F, E, Es: Errors<E> + Send + 'static>(
        memo: M,
        key: impl MemoQuery<K>,
        way: Way<Es>,
        compute: impl FnOnce(K::Weak, Dependencies<'static>) -> F,
        split: impl FnOnce(F::Output) -> Result<V, E> + Send + 'static,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        F: Future + Send + 'static,
        E: Send + 'static,
    {
        let loading = match memo.claim(key, &way).await? {
            Claimed::There(value) => {
                drop((compute, spawn));
                return Ok(value);
            }
            Claimed::Yours((begun, weak)) => {
                let Begun { entry, leader } = *begun;
                let (share, computing) = {
                    let _frame = leader.frame();
                    (memo.clone(), compute(weak, entry.dependencies()))
                };
                let finish = |leader: Leader<'_, _>, value| entry.finish(leader, value);
                leader.spawn(
                    way,
                    (share, |memo: &M| &memo.table),
                    computing,
                    split,
                    finish,
                    spawn,
                )
            }
        };
        loading.result::<K, V>().await
    }
}

/// A computation of a task, in one place on the heap, so that the frame of a poll is small. The
/// leader is dropped first: the drop of a key may run user code, and nothing is reserved then.
struct Begun<'m, K: MemoKey, V> {
    leader: Leader<'m, Results<K, V>>,
    entry: Entry<K>,
}

type Begins<'m, K, V> = (Box<Begun<'m, K, V>>, <K as Part>::Weak);

impl<K: MemoKey, V: Clone> Begun<'_, K, V> {
    #[expect(
        clippy::boxed_local,
        reason = "unboxed where the result becomes an entry"
    )]
    fn end<E, Es: Errors<E>>(self: Box<Self>, way: Way<Es>, outcome: Result<V, E>) -> Result<V, E> {
        let Begun { leader, entry } = *self;
        leader.end(way, outcome, |leader, value| entry.finish(leader, value))
    }
}

/// The parts of an entry whose result a task computes.
struct Entry<K: MemoKey> {
    key: K::Stored,
    watches: K::Watches,
    hash: HashValue,
    core: CoreRef,
    further: Further,
}

impl<K: MemoKey> Entry<K> {
    /// The lifetime is that of the memo, or of a share that the computation has.
    fn dependencies<'m>(&self) -> Dependencies<'m> {
        Dependencies {
            further: Arc::clone(&self.further.0),
            hash: self.hash,
            core: self.core,
            memo: PhantomData,
        }
    }

    fn finish<V: Clone>(self, leader: Leader<'_, Results<K, V>>, value: V) -> V {
        leader.finish(None, Memo::<K, V>::read, || {
            let watches = EntryWatches::new(self.watches, self.further.close());
            ((self.key, watches, value.clone()), value)
        })
    }
}

/// The watches on the further objects of a computation. The list is open as long as the leader of
/// the computation lives, and so does the table.
struct Further(Arc<Mutex<Option<Gathered>>>);

impl Further {
    /// Takes the watches out. No watch is added from then on.
    fn close(&self) -> Gathered {
        self.0.replace(None).unwrap_or_default()
    }
}

impl Drop for Further {
    fn drop(&mut self) {
        self.close();
    }
}

/// The further objects on which a result computed by a task depends, besides its key.
/// [`Memo::get_or_compute_async`] passes the `Dependencies` to the closure.
pub struct Dependencies<'m> {
    further: Arc<Mutex<Option<Gathered>>>,
    hash: HashValue,
    core: CoreRef,
    memo: PhantomData<&'m ()>,
}

impl Dependencies<'_> {
    /// Makes the result depend on one more object: see
    /// [`Computation::depends_on`](crate::memo::Computation::depends_on). After the end of the
    /// computation the call does nothing.
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is a user's, and a registration allocates: under no lock.
        let (watched, watch) = SharedWatchFor::<P>::any(object);
        let wants = |gathered: &&mut Gathered| !gathered.has(watched);
        // The core may go when the list is closed, but not before the counted watch has ended.
        let count = |_: &mut Gathered| self.core.count();
        let Some(counted) = self.further.lock().as_mut().filter(wants).map(count) else {
            return;
        };
        let mut watch = Some(watch(self.hash, counted));
        self.further.with_room(
            |gathered, room| match gathered {
                Some(gathered) => gathered.make_room(room),
                None => Ok(()),
            },
            |gathered, _| {
                // Another thread may have declared the object meanwhile.
                if let Some(gathered) = gathered.as_mut().filter(wants) {
                    watch
                        .take()
                        .into_iter()
                        .for_each(|watch| gathered.push(watched, watch));
                }
            },
        );
        watch.into_iter().for_each(AnyWatch::leave);
    }
}

impl fmt::Debug for Dependencies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}
