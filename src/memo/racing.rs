//! Computations without a reservation: when several threads ask for one result, each of the threads
//! computes it.

use core::convert::Infallible;
use std::boxed::Box;

use super::cache::Memo;
use super::computation::{Begun, Computation};
use super::key::{MemoKey, MemoQuery};
use super::watches::Results;
use crate::concurrent::Race;
use crate::hash::HashValue;

impl<K: MemoKey, V: Clone> Memo<K, V> {
    /// Returns the result for a key; computes the result if there is none, and never waits. Threads
    /// that ask for the same key at once each compute a result, and all get the result that is
    /// inserted first. O(inputs); lock-free if there is a result.
    ///
    /// Use the method where a waiting thread could hold up the computation for which the thread
    /// waits: where the computation waits for a work-stealing pool, takes a lock that callers hold,
    /// or needs the lock of an interpreter. The chapter
    /// [`memo`](crate::guide::memo#computations-that-wait) has an example of each.
    ///
    /// The call makes no reservation. If another call [computes](Self::get_or_compute) the result
    /// under a reservation, this call's result is inserted in place of the reserved result: the
    /// waiting threads get this call's result, and only the other computing thread gets the
    /// reserved result. If a result of this key is [removed](Self::remove), an object of the key
    /// [invalidated](Self::invalidate), or the memo [cleared](Self::clear) while this call
    /// computes, the computed result is returned, and not kept. Without reservations, the memo does
    /// not know which results are being computed. So the computed result is also not kept if
    /// [`remove`](Self::remove) or [`invalidate`](Self::invalidate) is called for any other key or
    /// object meanwhile, even if the call removes nothing. Deaths of other objects, and evictions
    /// by a ceiling, do no harm.
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
        let hash = match self.find(&key) {
            Ok(value) => {
                drop((key, compute));
                return Ok(value);
            }
            Err((hash, _)) => hash,
        };
        let begun = self.begin_race(key, hash);
        let value = compute(begun.computation())?;
        Ok(self.end_race(begun, hash, value))
    }

    #[inline(never)]
    fn begin_race<Q: MemoQuery<K>>(&self, key: Q, hash: HashValue) -> Racing<'_, K, V> {
        let race = self.table.begin_race();
        let handles = key.handles();
        self.begun::<Q, _>(hash, handles, key.into_stored(), race)
    }

    /// Keeps the result, unless the memo has a result by now, or there was an invalidation
    /// meanwhile. Returns a clone of the memo's result, or else the computed result.
    #[inline(never)]
    fn end_race(&self, begun: Racing<'_, K, V>, hash: HashValue, value: V) -> V {
        let (race, key, watches) = begun.end();
        let (watches, kept, race) = (watches(), value.clone(), Some(race));
        // T5 of the table.
        match (self.table).put_unless(hash, key, watches, kept, Self::read, race) {
            Some(first) => {
                drop(value);
                first
            }
            None => value,
        }
    }
}

/// A computation without a reservation.
type Racing<'m, K, V> = Box<Begun<'m, K, Race<'m, Results<K, V>>>>;
