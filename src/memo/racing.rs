//! Races: when several callers ask for one result, each of the callers computes it.

use core::convert::Infallible;

use super::cache::Memo;
use super::computation::Computation;
use super::key::{MemoKey, MemoQuery};
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
}
