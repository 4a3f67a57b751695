//! Results computed by tasks.

use core::convert::Infallible;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::sync::atomic::Ordering::Relaxed;
use std::sync::Arc;

use super::cache::Memo;
use super::key::{MemoKey, MemoQuery};
use super::watches::EntryWatches;
use crate::concurrent::{Claimed, Gathered, SharedKey, SharedWatchFor, WatchesOne, cycle};
use crate::hash::HashValue;
use crate::ptr::CoreRef;
use crate::sync::{Exclusive, Mutex};

/// Tasks wait without blocking.
impl<K: MemoKey, V: Clone> Memo<K, V> {
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
    pub async fn get_or_compute_async<'m, Fut>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> V
    where
        Fut: Future<Output = V>,
    {
        let compute = |key, dependencies| {
            let computing = compute(key, dependencies);
            async { Ok::<_, Infallible>(computing.await) }
        };
        let Ok(value) = self.try_get_or_compute_async(key, compute).await;
        value
    }

    /// Returns a future of the result for a key; the computation may fail. See
    /// [`get_or_compute_async`](Self::get_or_compute_async).
    ///
    /// # Errors
    /// The error of the closure's future, for the task that has passed the closure. Then nothing is
    /// kept, and a waiting task or thread computes the result itself.
    pub async fn try_get_or_compute_async<'m, Q: MemoQuery<K>, Fut, E>(
        &'m self,
        key: Q,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> Result<V, E>
    where
        Fut: Future<Output = Result<V, E>>,
    {
        let (hash, absent) = match self.find(&key) {
            Ok(value) => return Ok(value),
            Err(found) => found,
        };
        let (handles, key) = (key.handles(), key.into_stored());
        match self
            .table
            .lead_in_task(hash, &key, Self::read, |_| None, absent)
            .await
        {
            Err(_) => cycle::<K, V>(),
            Ok(Claimed::There(value)) => {
                self.hits.add();
                Ok(value)
            }
            Ok(Claimed::Yours(leader)) => {
                self.misses.fetch_add(1, Relaxed);
                let (watches, weak) = {
                    let _frame = leader.frame();
                    let watches = Q::watch(handles, hash, self.table.core());
                    let weak = K::weak(&key, &watches).expect("the caller has the objects");
                    (watches, weak)
                };
                let dependencies = Dependencies::new(hash, self.table.core());
                // Dropped before the parts of the entry, whose drop may run user code.
                let leader = leader;
                let computed = leader.run(|| compute(weak, dependencies.share())).await;
                let _frame = leader.frame();
                match computed {
                    Ok(value) => Ok(leader.finish(|| {
                        let watches = EntryWatches::new(watches, dependencies.close());
                        (key, watches, value.clone(), value)
                    })),
                    Err(error) => {
                        drop(leader);
                        Err(error)
                    }
                }
            }
        }
    }
}

/// The further objects on which a result computed by a task depends, besides its key.
/// [`Memo::get_or_compute_async`] passes the `Dependencies` to the closure.
pub struct Dependencies<'m> {
    gathered: Arc<Mutex<Option<Gathered>>>,
    hash: HashValue,
    core: CoreRef,
    memo: PhantomData<&'m ()>,
}

impl Dependencies<'_> {
    fn new(hash: HashValue, core: CoreRef) -> Self {
        Dependencies {
            gathered: Arc::new(Mutex::new(Some(Gathered::default()))),
            hash,
            core,
            memo: PhantomData,
        }
    }

    fn share(&self) -> Self {
        let (gathered, memo) = (Arc::clone(&self.gathered), PhantomData);
        Dependencies {
            gathered,
            memo,
            ..*self
        }
    }

    /// Takes the dependencies out. No dependency is added from then on.
    fn close(&self) -> Gathered {
        self.gathered.replace(None).unwrap_or_default()
    }

    /// Makes the result depend on one more object: see
    /// [`Computation::depends_on`](crate::memo::Computation::depends_on). After the end of the
    /// computation the call does nothing.
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is a user's, and a registration allocates: under no lock.
        let (watched, watch) = SharedWatchFor::<P>::any(object);
        let mut watch = Some(watch(self.hash, self.core.count()));
        self.gathered.with_room(
            |gathered, room| match gathered {
                Some(gathered) => gathered.make_room(room),
                None => Ok(()),
            },
            |gathered, _| {
                if let Some(gathered) = gathered.as_mut().filter(|all| !all.has(watched)) {
                    watch
                        .take()
                        .into_iter()
                        .for_each(|watch| gathered.push(watched, watch));
                }
            },
        );
        drop(watch);
    }
}

impl fmt::Debug for Dependencies<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}
