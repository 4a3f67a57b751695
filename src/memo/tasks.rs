//! Results computed by tasks.

use core::convert::{Infallible, identity};
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::ops::Deref;
use std::boxed::Box;
use std::sync::Arc;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::lookup::WithDependency;
use super::watches::{EntryWatches, Results};
use crate::concurrent::{
    Claimed, Dependency, Errors, Failed, Inputs, Leader, Load, SharedKey, Way, apart, cycle,
    each_poll,
};
use crate::thread::Scope;

/// Tasks wait without blocking.
impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns a future of the result for a key. The result is computed if there is none and no
    /// other call is computing it. O(inputs); a hit [outside of
    /// computations](crate::memo::Computation) is lock-free and allocates nothing. No particular
    /// executor is needed.
    ///
    /// Within a computation by tasks, the result becomes an input of the computation whose poll
    /// gets the result. If several computations poll one future, such as a shared future, the
    /// other computations get no dependence: let each computation ask the memo itself.
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

    /// Returns the result for a key, or computes the result in this task. `split` tells the result
    /// from an error.
    async fn task<'m, F: Future, E, Es: Errors<E>>(
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
                let inputs = Arc::clone(&begun.entry.inputs.0);
                let compute = || {
                    let computing = begin(&inputs, |dependencies| compute(weak, dependencies));
                    go_on(inputs, computing)
                };
                let pauses = false;
                let computed = begun.leader.run(pauses, compute).await;
                apart(|| begun.end::<E, Es>(split(computed)))
            }
        }
    }

    /// Returns the result, if it is there by now, or what the caller needs to compute the result.
    async fn claim<Q: MemoQuery<K>, E, Es: Errors<E>>(
        &self,
        key: Q,
        way: &Way<Es>,
    ) -> Result<Claimed<V, (Box<TaskComputation<'_, K, V>>, K::Weak)>, E> {
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
        let (handles, key) = Inputs::apart(|| (key.handles(), key.into_stored()));
        let (read, left) = (Self::read_with_dependency, |_: &_| None);
        let claimed = self.table.lead_in_task(hash, &key, read, left, absent, way);
        let claimed = each_poll(|poll| Inputs::apart(poll), claimed).await;
        if claimed.is_err() {
            Inputs::add_dependency(None);
        }
        match claimed {
            Err(Failed::Error(error)) => {
                drop(key);
                Err(error)
            }
            Err(Failed::Wait(_)) => cycle::<K, V>(),
            Ok(Claimed::There((value, dependency))) => {
                drop(key);
                Inputs::add_dependency(dependency);
                Ok(Claimed::There(value))
            }
            Ok(Claimed::Yours(leader)) => Ok(Claimed::Yours(Inputs::apart(|| {
                let leader = leader;
                let _frame = leader.frame();
                let watches = Q::watch(handles, hash, self.table.core());
                let weak = K::weak(&key, &watches).expect("the caller has the objects");
                let entry = UnmadeEntry {
                    key,
                    watches,
                    inputs: OpenInputs(Arc::new(leader.inputs())),
                };
                (Box::new(TaskComputation { leader, entry }), weak)
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
    /// executor. The caller waits for the load. O(inputs); a hit spawns nothing and, [outside of
    /// computations](crate::memo::Computation), is lock-free and allocates nothing.
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

    /// Returns a future of the result for a key, which a load computes if there is none. `split`
    /// tells the result from an error.
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
                let TaskComputation { entry, leader } = *begun;
                let inputs = Arc::clone(&entry.inputs.0);
                let (share, computing) = {
                    let _frame = leader.frame();
                    let share = Inputs::apart(|| memo.clone());
                    let computing = begin(&inputs, |dependencies| compute(weak, dependencies));
                    (share, go_on(inputs, computing))
                };
                let by_computation = Inputs::is_in_computation();
                let end = move |leader: Leader<'_, _>, outcome| {
                    Scope::apart(|| entry.end::<V, E, Es>(leader, outcome, by_computation))
                };
                leader.spawn(
                    (share, |memo: &M| &memo.table),
                    computing,
                    split,
                    end,
                    spawn,
                )
            }
        };
        let result = loading.result::<K, V>();
        let result = each_poll(|poll| Inputs::apart(poll), result).await;
        let (result, dependency) = split_dependency(result);
        Inputs::add_dependency(dependency);
        result
    }
}

/// A computation that a task runs, in one place on the heap, so that the frame of a poll is small.
/// The leader is dropped first: the drop of a key may run user code, and nothing is reserved then.
struct TaskComputation<'m, K: MemoKey, V> {
    leader: Leader<'m, Results<K, V>>,
    entry: UnmadeEntry<K>,
}

impl<K: MemoKey, V: Clone> TaskComputation<'_, K, V> {
    /// Inserts the result into the memo, or reports the error to the waiters. If code of another
    /// computation has asked for the result, that computation then depends on the result.
    fn end<E, Es: Errors<E>>(self: Box<Self>, outcome: Result<V, E>) -> Result<V, E> {
        Inputs::add_dependency_of(|| {
            let TaskComputation { leader, entry } = *self;
            let by_computation = Inputs::is_called_by_computation();
            let _frame = leader.frame();
            split_dependency(entry.end::<V, E, Es>(leader, outcome, by_computation))
        })
    }
}

/// Separates the result of an operation from the dependency for [`Inputs::add_dependency`]. Within
/// a computation, a result without a dependency has no entry: [`Dependency::Ended`]. (Outside of
/// computations `add_dependency` ignores the dependency.) An error has no entry either, but is no
/// ended input: `None` spoils the inputs, and does not mark them as ended (see
/// [`EntryWatches::all_live`]).
fn split_dependency<V, E>(
    ended: Result<WithDependency<V>, E>,
) -> (Result<V, E>, Option<Dependency>) {
    match ended {
        Ok((value, dependency)) => (Ok(value), dependency.or(Some(Dependency::Ended))),
        Err(error) => (Err(error), None),
    }
}

/// The parts of an entry whose result a task computes.
struct UnmadeEntry<K: MemoKey> {
    key: K::Stored,
    watches: K::Watches,
    inputs: OpenInputs,
}

impl<K: MemoKey> UnmadeEntry<K> {
    /// Ends a computation: inserts the result into the memo, or reports the error to the waiters.
    /// `by_computation`: whether code of another computation has asked for the result; then the
    /// dependency on the entry of the result is returned, too.
    fn end<V: Clone, E, Es: Errors<E>>(
        self,
        leader: Leader<'_, Results<K, V>>,
        outcome: Result<V, E>,
        by_computation: bool,
    ) -> Result<WithDependency<V>, E> {
        let watches = EntryWatches::new(self.watches, self.inputs.0.close());
        let value = match outcome {
            Ok(value) => value,
            Err(error) => {
                leader.fail::<E, Es>(&error, || watches.all_live());
                return Err(error);
            }
        };
        let made = || ((self.key, watches, value.clone()), (value, None));
        let read = |watches: &_, value: &_| Memo::<K, V>::read_as(by_computation, watches, value);
        let landed =
            |watches: &_, made: &mut _| Memo::<K, V>::landed_as(by_computation, watches, made);
        Ok(leader.finish(None, read, made, landed, |_, _| ()))
    }
}

/// The inputs of a computation by tasks. The list is open as long as the leader of the computation
/// lives, and so does the table.
struct OpenInputs(Arc<Inputs>);

impl Drop for OpenInputs {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Calls the closure of a computation, as code of the computation. `'m` is the lifetime of the
/// memo, or of a share of the memo that the computation has.
fn begin<'m, F>(inputs: &Arc<Inputs>, compute: impl FnOnce(Dependencies<'m>) -> F) -> F {
    let dependencies = Dependencies {
        inputs: Arc::clone(inputs),
        memo: PhantomData,
    };
    Inputs::or_spoil(|| inputs.run(|| compute(dependencies)))
}

/// Makes the polls of a computation's future code of the computation: the results that the future
/// asks for become inputs.
fn go_on<F: Future>(inputs: Arc<Inputs>, computing: F) -> impl Future<Output = F::Output> {
    let through = move |poll: &mut dyn FnMut()| Inputs::or_spoil(|| inputs.run(poll));
    each_poll(through, computing)
}

/// A computation by tasks: the counterpart of a [`Computation`](crate::memo::Computation).
/// [`Memo::get_or_compute_async`] passes the `Dependencies` to the closure. The result depends on
/// each result that the closure or its future asks for in a poll of the computation. Subtasks
/// [enter](Self::enter) the computation.
pub struct Dependencies<'m> {
    inputs: Arc<Inputs>,
    memo: PhantomData<&'m ()>,
}

impl<'m> Dependencies<'m> {
    /// Makes the result depend on one more object that is no result: see
    /// [`Computation::depends_on`](crate::memo::Computation::depends_on). After the end of the
    /// computation the call does nothing.
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        self.inputs.depends_on(object);
    }

    /// Makes a future a part of the computation, for a task of its own: the result depends on each
    /// result that the future asks for before the end of the computation. See
    /// [`Computation::enter`](crate::memo::Computation::enter). The part borrows the memo as the
    /// `Dependencies` do: with a `static` memo, or in a load, the part is `'static` if the future
    /// is. O(1) for each poll.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// static LENGTHS: Memo<Strong<str>, usize> = Memo::new();
    /// static SUMS: Memo<(Strong<str>, Strong<str>), usize> = Memo::new();
    ///
    /// async fn length(text: Strong<str>) -> usize {
    ///     LENGTHS.get_or_compute_async(&text, async |text, _| text.upgrade().unwrap().len()).await
    /// }
    ///
    /// async fn sum(one: &Strong<str>, other: &Strong<str>) -> usize {
    ///     let texts = (one.clone(), other.clone());
    ///     SUMS.get_or_compute_async((one, other), async |_, dependencies| {
    ///         let part = tokio::spawn(dependencies.enter(length(texts.0)));
    ///         length(texts.1).await + part.await.unwrap()
    ///     })
    ///     .await
    /// }
    /// # mod tokio {
    /// #     pub fn spawn<T>(part: impl Future<Output = T>) -> impl Future<Output = Result<T, ()>> {
    /// #         let mut context = std::task::Context::from_waker(std::task::Waker::noop());
    /// #         let std::task::Poll::Ready(done) = std::pin::pin!(part).poll(&mut context) else { panic!() };
    /// #         std::future::ready(Ok(done))
    /// #     }
    /// # }
    /// # use std::task::{Context, Poll, Waker};
    /// # let (one, other) = (Strong::from("one"), Strong::from("other"));
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # assert_eq!(std::pin::pin!(sum(&one, &other)).poll(&mut context), Poll::Ready(8));
    /// # LENGTHS.remove(&one);
    /// # assert_eq!(SUMS.get((&one, &other)), None);
    /// ```
    // With `'m`: the list of inputs counts registrations of the memo's core.
    pub fn enter<F: Future>(&self, part: F) -> impl Future<Output = F::Output> + use<'m, F> {
        let inputs = Arc::clone(&self.inputs);
        each_poll(move |poll| inputs.enter(poll), part)
    }
}

impl fmt::Debug for Dependencies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}
