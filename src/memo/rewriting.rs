//! Rewritings: computations whose result may be one of the inputs.

use core::convert::Infallible;

use super::cache::Memo;
use super::computation::Computation;
use super::key::{MemoKey, MemoQuery};
use crate::concurrent::{Errors, Way};
use crate::reference::{StrongRef, WeakKey};

/// The kept form of a rewriting's result in a [`Memo`]: the place of an input, or a result that is
/// no input. Only [`Memo::get_or_rewrite`] and [`Memo::try_get_or_rewrite`] make a `Rewritten`.
///
/// A term that does not change is rewritten to itself. A memo that kept this result would keep its
/// own key alive, and so the entry, for ever. A `Rewritten` only remembers that the result is the
/// input, and returns a clone of the handle in the query. Any other result is owned by the entry,
/// and destroyed with the entry.
///
/// ```
/// use weakly::{Memo, Strong, concurrent::Interner, memo::Rewritten};
///
/// let words = Interner::<Strong<str>>::new();
/// let lower = Memo::<Strong<str>, Rewritten<Strong<str>>>::new();
/// let lowered = |word: &Strong<str>| {
///     lower.get_or_rewrite(word, |_| words.intern_ref(&*word.to_lowercase()))
/// };
///
/// let (loud, quiet) = (words.intern_ref("Word"), words.intern_ref("word"));
/// assert!(Strong::ptr_eq(&lowered(&loud), &quiet));
/// assert!(Strong::ptr_eq(&lowered(&quiet), &quiet)); // itself
/// drop((loud, quiet));
/// lower.purge();
/// assert!(lower.is_empty() && words.is_empty());
/// ```
///
/// **Not detected:** a result that *owns* an input (the derivative of `eˣ` contains `eˣ`), or leads
/// back to an input through further results (`a` becomes `b`, and `b` becomes `a`), keeps the input
/// alive. In these cases, let the entry have a [`Weak`](crate::Weak) handle to its result, and
/// [declare](Computation::depends_on) the result: then the entry is dropped when nobody uses the
/// result any more.
///
/// A `Rewritten` is valid only for the key of its entry: it says, for instance, "the first input".
/// Do not put the return value of [`Memo::get`] into another memo by
/// [`get_or_compute`](Memo::get_or_compute). There the `Rewritten` would stand for an input of
/// another key; if the other key has no input at this place, the methods that return results panic.
#[derive(Debug, Clone)]
pub struct Rewritten<R>(Stored<R>);

#[derive(Debug, Clone)]
enum Stored<R> {
    /// The input at this place in the key.
    Input(usize),
    Other(R),
}

impl<R> Rewritten<R> {
    /// Returns the result, if it is no input.
    pub(super) fn owned(&self) -> Option<&R> {
        match &self.0 {
            Stored::Input(_) => None,
            Stored::Other(result) => Some(result),
        }
    }
}

impl<R: StrongRef + Clone + 'static> Rewritten<R> {
    // Neither `of` nor `of_key` is inlined: they would enlarge the frames of a deep recursion.
    #[inline(never)]
    fn of<K: MemoKey, Q: MemoQuery<K>>(inputs: Q::Handles, result: R) -> Self {
        let addr = WeakKey::addr(&result);
        let (mut at, mut found) = (0, None);
        Q::inputs(inputs, &mut |input| {
            let input = input.downcast_ref::<R>();
            if found.is_none() && input.is_some_and(|input| WeakKey::addr(input) == addr) {
                found = Some(at);
            }
            at += 1;
        });
        Rewritten(found.map_or(Stored::Other(result), Stored::Input))
    }

    /// Returns the result. The key must be the key with which the `Rewritten` was made.
    #[inline(never)]
    fn of_key<K: MemoKey, Q: MemoQuery<K>>(self, inputs: Q::Handles) -> R {
        let place = match self.0 {
            Stored::Input(place) => place,
            Stored::Other(result) => return result,
        };
        let (mut at, mut found) = (0, None);
        Q::inputs(inputs, &mut |input| {
            if at == place {
                found = input.downcast_ref::<R>();
            }
            at += 1;
        });
        found
            .cloned()
            .expect("a `Rewritten` was used with a key other than its own")
    }
}

/// Rewritings: the result may be an input. See [`Rewritten`].
impl<K: MemoKey, R: StrongRef + Clone + 'static> Memo<K, Rewritten<R>> {
    /// Returns the result for a key; computes the result if there is none. The result may be one of
    /// the inputs: the memo does not keep this input alive. Otherwise like
    /// [`get_or_compute`](Self::get_or_compute).
    ///
    /// The result is compared by identity with the inputs of its own type. A waiting call blocks
    /// its thread: do not make the call on the only thread of an executor.
    ///
    /// # Panics
    /// If the computation comes to need its own result, on this thread or through threads that wait
    /// for each other.
    ///
    /// ```
    /// use weakly::{Memo, Strong, memo::Rewritten};
    ///
    /// struct Node { value: i32 }
    ///
    /// let larger = Memo::<(Strong<Node>, Strong<Node>), Rewritten<Strong<Node>>>::new();
    /// let (one, two) = (Strong::new(Node { value: 1 }), Strong::new(Node { value: 2 }));
    /// let larger_of = |a: &Strong<Node>, b: &Strong<Node>| {
    ///     larger.get_or_rewrite((a, b), |_| if a.value > b.value { a.clone() } else { b.clone() })
    /// };
    /// assert!(Strong::ptr_eq(&larger_of(&one, &two), &two));
    /// drop(two); // the memo does not keep it alive
    /// larger.purge();
    /// assert!(larger.is_empty());
    /// ```
    #[inline]
    #[track_caller]
    pub fn get_or_rewrite(
        &self,
        key: impl MemoQuery<K>,
        rewrite: impl FnOnce(&Computation<'_>) -> R,
    ) -> R {
        let rewrite = |cx: &Computation<'_>| Ok::<_, Infallible>(rewrite(cx));
        let Ok(result) = self.rewrite(key, || Way::WAITS, rewrite);
        result
    }

    /// Returns the result for a key as [`get_or_rewrite`](Self::get_or_rewrite) does; the
    /// computation may fail. See [`try_get_or_compute`](Self::try_get_or_compute).
    ///
    /// # Errors
    /// The error of the closure. Then nothing is kept, and one of the waiting threads computes the
    /// result.
    ///
    /// # Panics
    /// As [`get_or_rewrite`](Self::get_or_rewrite).
    #[inline]
    #[track_caller]
    pub fn try_get_or_rewrite<E>(
        &self,
        key: impl MemoQuery<K>,
        rewrite: impl FnOnce(&Computation<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.rewrite(key, || Way::WAITS, rewrite)
    }

    /// Returns the result for a key as [`get_or_rewrite`](Self::get_or_rewrite) does; the
    /// computation may fail, and the threads that wait share the error. See
    /// [`try_get_or_compute_shared`](Self::try_get_or_compute_shared).
    ///
    /// # Errors
    /// The error of the closure, or a clone of the error of the computation for which the call has
    /// waited. Then nothing is kept.
    ///
    /// # Panics
    /// As [`get_or_rewrite`](Self::get_or_rewrite).
    #[inline]
    #[track_caller]
    pub fn try_get_or_rewrite_shared<E: Clone + Send + Sync + 'static>(
        &self,
        key: impl MemoQuery<K>,
        rewrite: impl FnOnce(&Computation<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        self.rewrite(key, || Way::SHARES, rewrite)
    }

    #[inline]
    #[track_caller]
    fn rewrite<Q: MemoQuery<K>, E, Es: Errors<E>>(
        &self,
        key: Q,
        way: impl FnOnce() -> Way<Es>,
        rewrite: impl FnOnce(&Computation<'_>) -> Result<R, E>,
    ) -> Result<R, E> {
        let inputs = key.handles();
        let rewrite = move |cx: &Computation<'_>| Ok(Rewritten::of::<K, Q>(inputs, rewrite(cx)?));
        let rewritten = self.compute_by(key, way, rewrite)?;
        Ok(rewritten.of_key::<K, Q>(inputs))
    }

    /// Returns the result for a key, if there is one: as [`get`](Self::get). O(1).
    #[inline]
    #[track_caller]
    pub fn get_rewritten<Q: MemoQuery<K>>(&self, key: Q) -> Option<R> {
        let inputs = key.handles();
        Some(self.get(key)?.of_key::<K, Q>(inputs))
    }
}
