//! Races: when several callers ask for one result, each of the callers computes it.

use core::convert::{Infallible, identity};
use core::future::Future;

use super::cache::Memo;
use super::computation::Computation;
use super::key::{MemoKey, MemoQuery};
use super::tasks::Dependencies;
use crate::concurrent::Way;

impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns the result for a key; computes the result if there is none, and never waits. Callers
    /// that ask for the same key at once each compute a result, and all get the result that is
    /// computed first. O(inputs); lock-free if there is a result.
    ///
    /// Use the method where a waiting thread could hold up the computation for which the thread
    /// waits: where the computation waits for a work-stealing pool, takes a lock that callers hold,
    /// or needs the lock of an interpreter. The chapter
    /// [`memo`](crate::guide::memo#computations-that-wait) has an example of each.
    ///
    /// No caller waits for a race. A call of [`get_or_compute`](Self::get_or_compute) beside a race
    /// computes, too, and other callers may wait for that call: the result that is computed first,
    /// in the race or beside it, is kept, and goes to the racing calls, the computing call and the
    /// waiting callers. In the [four cases](Self) in which a computed result is not kept, the
    /// result of a race is not kept either.
    ///
    /// # Panics
    /// No cycle is detected, and none panics. A computation that asks for its own key by this
    /// method recurses without end.
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// let lengths = Memo::<Strong<str>, usize>::new();
    /// let text = Strong::from("text");
    /// let length = || lengths.get_or_compute_racing(&text, |_| text.len());
    /// std::thread::scope(|scope| {
    ///     scope.spawn(length);
    ///     assert_eq!(length(), 4);
    /// });
    /// assert_eq!(lengths.len(), 1);
    /// ```
    #[track_caller]
    pub fn get_or_compute_racing(
        &self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(&Computation<'_>) -> V,
    ) -> V {
        let Ok(value) = self.try_get_or_compute_racing(key, |cx| Ok::<_, Infallible>(compute(cx)));
        value
    }

    /// Returns the result for a key; computes the result if there is none, may fail, and never
    /// waits. See [`get_or_compute_racing`](Self::get_or_compute_racing).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept.
    #[track_caller]
    pub fn try_get_or_compute_racing<E>(
        &self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(&Computation<'_>) -> Result<V, E>,
    ) -> Result<V, E> {
        self.compute_by(key, || Way::RACES, compute)
    }

    /// Returns a future of the result for a key. The future computes the result if there is none,
    /// and never waits for another caller: no task that is not polled delays it. See
    /// [`get_or_compute_racing`](Self::get_or_compute_racing) for races, and
    /// [`get_or_compute_async`](Self::get_or_compute_async) for the closure. O(inputs).
    ///
    /// ```
    /// use weakly::{Memo, Strong};
    ///
    /// static LENGTHS: Memo<Strong<str>, usize> = Memo::new();
    ///
    /// async fn length(text: &Strong<str>) -> usize {
    ///     LENGTHS.get_or_compute_racing_async(text, async |_, _| text.len()).await
    /// }
    /// # use std::task::{Context, Poll, Waker};
    /// # let text = Strong::from("text");
    /// # let mut context = Context::from_waker(Waker::noop());
    /// # assert_eq!(std::pin::pin!(length(&text)).poll(&mut context), Poll::Ready(4));
    /// # assert_eq!(LENGTHS.get(&text), Some(4));
    /// ```
    pub async fn get_or_compute_racing_async<'m, Fut>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> V
    where
        Fut: Future<Output = V>,
    {
        let task = self.task(key, Way::RACES, compute, Ok::<_, Infallible>);
        let Ok(value) = task.await;
        value
    }

    /// Returns a future of the result for a key; the computation may fail. See
    /// [`get_or_compute_racing_async`](Self::get_or_compute_racing_async).
    ///
    /// # Errors
    /// The error of the closure's future. Then nothing is kept.
    pub async fn try_get_or_compute_racing_async<'m, Fut, E>(
        &'m self,
        key: impl MemoQuery<K>,
        compute: impl FnOnce(K::Weak, Dependencies<'m>) -> Fut,
    ) -> Result<V, E>
    where
        Fut: Future<Output = Result<V, E>>,
    {
        self.task(key, Way::RACES, compute, identity).await
    }
}
