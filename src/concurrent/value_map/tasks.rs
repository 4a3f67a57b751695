//! Values that tasks make.

use core::convert::{Infallible, identity};
use core::future::Future;
use core::hash::{BuildHasher, Hash};
use core::ops::Deref;

use super::super::leader::Leader;
use super::super::spawned::Load;
use super::super::watch::{SharedRef, SharedWatchFor, UpgradesOne, WatchesOne};
use super::super::way::{Claimed, Errors, Failed, Way, cycle};
use super::{Named, WeakValueMap};
use crate::flight::Reservation;
use crate::hash::HashValue;

impl<K: Eq + Hash, V: SharedRef, S: BuildHasher> WeakValueMap<K, V, S> {
    /// Returns a future of the live value of a key. The value is made if there is none and no other
    /// call is making it. O(1) amortised. The map does not keep the value alive: the waiting tasks
    /// do, and then the caller. No particular executor is needed.
    ///
    /// The future of the first caller makes the value, and the other callers wait for this future:
    /// see [`Memo::get_or_compute_async`](crate::Memo::get_or_compute_async) for the two hazards,
    /// and [`get_or_insert_spawned`](Self::get_or_insert_spawned) for the form without them.
    /// Values, and reservations, are shared with [`get_or_insert_with`](Self::get_or_insert_with):
    /// a task waits for a making thread, and a thread waits for a making task. A hit allocates
    /// nothing, but needs an owned key, unlike [`get`](Self::get).
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// struct Tenant { name: String }
    ///
    /// async fn load(name: String) -> Strong<Tenant> {
    ///     Strong::new(Tenant { name }) // ...
    /// }
    ///
    /// static TENANTS: LazyLock<WeakValueMap<String, Strong<Tenant>>> = LazyLock::new(WeakValueMap::new);
    ///
    /// async fn tenant(name: &str) -> Strong<Tenant> {
    ///     match TENANTS.get(name) {
    ///         Some(tenant) => tenant,
    ///         None => TENANTS.get_or_insert_async(name.into(), load).await,
    ///     }
    /// }
    /// # use std::task::{Context, Poll, Waker};
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # let Poll::Ready(tenant) = std::pin::pin!(tenant("a")).poll(&mut context) else { panic!() };
    /// # assert_eq!(tenant.name, "a");
    /// # assert!(TENANTS.contains_key("a"));
    /// ```
    pub async fn get_or_insert_async<Fut>(&self, key: K, make: impl FnOnce(K) -> Fut) -> V
    where
        K: Clone,
        V: Clone + 'static,
        Fut: Future<Output = V>,
    {
        let Ok(value) = self.task(key, Way::WAITS, make, Ok::<_, Infallible>).await;
        value
    }

    /// Returns a future of the live value of a key; the making may fail. See
    /// [`get_or_insert_async`](Self::get_or_insert_async).
    ///
    /// # Errors
    /// The error of the closure's future. Then nothing is kept, and a waiting task or thread makes
    /// the value itself: n tasks that wait for a value which cannot be made try n times, one after
    /// the other. [`try_get_or_insert_shared_async`](Self::try_get_or_insert_shared_async) tries
    /// once.
    pub async fn try_get_or_insert_async<Fut, E>(
        &self,
        key: K,
        make: impl FnOnce(K) -> Fut,
    ) -> Result<V, E>
    where
        K: Clone,
        V: Clone + 'static,
        Fut: Future<Output = Result<V, E>>,
    {
        self.task(key, Way::WAITS, make, identity).await
    }

    /// Returns a future of the live value of a key; the making may fail, and the tasks and threads
    /// that wait share the error. See [`get_or_insert_async`](Self::get_or_insert_async), and
    /// [`WeakMap::try_get_or_insert_shared`](crate::concurrent::WeakMap::try_get_or_insert_shared).
    ///
    /// # Errors
    /// The error of the closure's future, or a clone of the error of the making for which the task
    /// has waited. Then nothing is kept.
    pub async fn try_get_or_insert_shared_async<Fut, E>(
        &self,
        key: K,
        make: impl FnOnce(K) -> Fut,
    ) -> Result<V, E>
    where
        K: Clone,
        V: Clone + 'static,
        E: Clone + Send + Sync + 'static,
        Fut: Future<Output = Result<V, E>>,
    {
        self.task(key, Way::SHARES, make, identity).await
    }

    /// `split` tells the value from an error.
    async fn task<F: Future, E, Es: Errors<E>>(
        &self,
        key: K,
        way: Way<Es>,
        make: impl FnOnce(K) -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
    ) -> Result<V, E>
    where
        K: Clone,
        V: Clone + 'static,
    {
        match self.claim(key, &way).await? {
            Claimed::There(value) => {
                // T5 of the table, also below.
                drop(make);
                Ok(value)
            }
            Claimed::Yours((key, leader)) => {
                let name = {
                    let _frame = leader.frame();
                    key.clone()
                };
                let end = |leader: Leader<'_, _>, made| Self::end::<E, Es>(leader, key, made);
                let pauses = false;
                leader.make(pauses, || make(name), split, end).await
            }
        }
    }

    /// Returns a future of the live value of a key. If the key has no live value, and no other call
    /// is making the value, the making becomes a *load*: a future that `spawn` gives to an
    /// executor. The caller waits for the load. O(1) amortised. The map does not keep the value
    /// alive: the waiting tasks do, and then the caller. If all of them are gone when the load
    /// ends, only a [floor](Self::set_keep_alive) keeps the value.
    ///
    /// `map` is a `&'static WeakValueMap`, an [`Arc`](std::sync::Arc) of a map, or another pointer
    /// to a map. See [`Memo::get_or_compute_spawned`](crate::Memo::get_or_compute_spawned).
    ///
    /// # Panics
    /// As [`Memo::get_or_compute_spawned`](crate::Memo::get_or_compute_spawned).
    ///
    /// ```
    /// use std::sync::LazyLock;
    /// use weakly::{Strong, concurrent::WeakValueMap};
    ///
    /// struct Tenant { name: String }
    ///
    /// async fn load(name: String) -> Strong<Tenant> {
    ///     Strong::new(Tenant { name }) // ...
    /// }
    ///
    /// static TENANTS: LazyLock<WeakValueMap<String, Strong<Tenant>>> = LazyLock::new(WeakValueMap::new);
    ///
    /// async fn tenant(name: &str) -> Strong<Tenant> {
    ///     WeakValueMap::get_or_insert_spawned(&*TENANTS, name.into(), load, |load| {
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
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # let Poll::Ready(tenant) = std::pin::pin!(tenant("a")).poll(&mut context) else { panic!() };
    /// # assert_eq!(tenant.name, "a");
    /// # assert!(TENANTS.contains_key("a"));
    /// ```
    pub async fn get_or_insert_spawned<M, Fut>(
        map: M,
        key: K,
        make: impl FnOnce(K) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> V
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        K: Clone + Send + Sync + 'static,
        V: Clone + 'static,
        S: 'static,
        Fut: Future<Output = V> + Send + 'static,
    {
        let Ok(value) = Self::load(map, key, Way::WAITS, make, Ok::<_, Infallible>, spawn).await;
        value
    }

    /// Returns a future of the live value of a key; the making may fail. See
    /// [`get_or_insert_spawned`](Self::get_or_insert_spawned).
    ///
    /// # Errors
    /// The error of the closure's future. Then nothing is kept, and a waiting task or thread makes
    /// the value itself.
    ///
    /// # Panics
    /// As [`Memo::get_or_compute_spawned`](crate::Memo::get_or_compute_spawned).
    pub async fn try_get_or_insert_spawned<M, Fut, E>(
        map: M,
        key: K,
        make: impl FnOnce(K) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        K: Clone + Send + Sync + 'static,
        V: Clone + 'static,
        S: 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Send + 'static,
    {
        Self::load(map, key, Way::WAITS, make, identity, spawn).await
    }

    /// Returns a future of the live value of a key; the making may fail, and the tasks and threads
    /// that wait share the error. See [`get_or_insert_spawned`](Self::get_or_insert_spawned), and
    /// [`WeakMap::try_get_or_insert_shared`](crate::concurrent::WeakMap::try_get_or_insert_shared).
    ///
    /// # Errors
    /// The error of the closure's future, or a clone of the error of the making for which the task
    /// has waited. Then nothing is kept.
    ///
    /// # Panics
    /// As [`Memo::get_or_compute_spawned`](crate::Memo::get_or_compute_spawned).
    pub async fn try_get_or_insert_shared_spawned<M, Fut, E>(
        map: M,
        key: K,
        make: impl FnOnce(K) -> Fut,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        K: Clone + Send + Sync + 'static,
        V: Clone + 'static,
        S: 'static,
        Fut: Future<Output = Result<V, E>> + Send + 'static,
        E: Clone + Send + Sync + 'static,
    {
        Self::load(map, key, Way::SHARES, make, identity, spawn).await
    }

    /// Returns a future of the value of a key, which a load makes if there is none. `split` tells
    /// the value from an error.
    async fn load<M, F, E, Es: Errors<E> + Send + 'static>(
        map: M,
        key: K,
        way: Way<Es>,
        make: impl FnOnce(K) -> F,
        split: impl FnOnce(F::Output) -> Result<V, E> + Send + 'static,
        spawn: impl FnOnce(Load),
    ) -> Result<V, E>
    where
        M: Deref<Target = Self> + Clone + Send + 'static,
        K: Clone + Send + Sync + 'static,
        V: Clone + 'static,
        S: 'static,
        F: Future + Send + 'static,
        E: Send + 'static,
    {
        let loading = match map.claim(key, &way).await? {
            Claimed::There(value) => {
                drop((make, spawn));
                return Ok(value);
            }
            Claimed::Yours((key, leader)) => {
                let (share, making) = {
                    let _frame = leader.frame();
                    (map.clone(), make(key.clone()))
                };
                let end = |leader: Leader<'_, _>, made| Self::end::<E, Es>(leader, key, made);
                leader.spawn((share, |map: &M| &map.table), making, split, end, spawn)
            }
        };
        loading.result::<K, V>().await
    }

    /// Returns the live value of a key, if it is there by now, or a leader that makes the value.
    async fn claim<E, Es: Errors<E>>(
        &self,
        key: K,
        way: &Way<Es>,
    ) -> Result<Claimed<V, (K, Leader<'_, Named<K, V>>)>, E>
    where
        K: Clone,
        V: Clone + 'static,
    {
        let hash = HashValue::of(&self.hasher, &key);
        let absent = match self.table.look(hash, &key, Self::read) {
            Ok(value) => {
                drop(key);
                return Ok(Claimed::There(value));
            }
            Err(absent) => absent,
        };
        let left = Reservation::left::<V>;
        let claimed = (self.table).lead_in_task(hash, &key, Self::read, left, absent, way);
        match claimed.await {
            Err(Failed::Error(error)) => {
                drop(key);
                Err(error)
            }
            Err(Failed::Wait(_)) => cycle::<K, V>(),
            Ok(Claimed::There(value)) => {
                drop(key);
                Ok(Claimed::There(value))
            }
            Ok(Claimed::Yours(leader)) => Ok(Claimed::Yours((key, leader))),
        }
    }

    fn read(watch: &SharedWatchFor<V>, (): &()) -> Option<V> {
        watch.upgrade()
    }

    fn end<E, Es: Errors<E>>(
        leader: Leader<'_, Named<K, V>>,
        key: K,
        made: Result<V, E>,
    ) -> Result<V, E>
    where
        V: Clone + 'static,
    {
        let value = match made {
            Ok(value) => value,
            Err(error) => {
                leader.fail::<E, Es>(&error, || true);
                return Err(error);
            }
        };
        let (hash, core) = (leader.hash, leader.table.core());
        let made = || {
            let watch = SharedWatchFor::<V>::registered(&value, hash, core);
            ((key, watch, ()), value)
        };
        // The map does not keep the value alive: the waiting tasks do.
        let leave = |to: &Reservation, value: &V| {
            if to.is_awaited() {
                to.leave(value.clone());
            }
        };
        Ok(leader.finish(None, Self::read, made, |_, _| (), leave))
    }
}
