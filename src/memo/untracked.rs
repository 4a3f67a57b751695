//! Code of a computation that adds nothing to the inputs of the computation.

use core::future::Future;

use crate::concurrent::each_poll;
use crate::thread::Scope;

/// Runs code without a dependence: the result of the current [computation](super::Computation)
/// depends on no result that the code asks for. O(1).
///
/// Only the current computation is meant: a computation that begins within the code tracks its own
/// inputs.
///
/// ```
/// use weakly::{Memo, Strong, memo::untracked};
///
/// let (visits, titles) = (Memo::<Strong<str>, u32>::new(), Memo::<Strong<str>, String>::new());
/// let page = Strong::from("page");
/// visits.insert(&page, 7);
/// let title = || titles.get_or_compute(&page, |_| {
///     let visits = untracked(|| visits.get(&page)); // for a log
///     format!("{page}, {visits:?} at first")
/// });
/// assert_eq!(title(), "page, Some(7) at first");
/// visits.insert(&page, 8); // does not end the title
/// assert_eq!(title(), "page, Some(7) at first");
/// ```
pub fn untracked<R>(run: impl FnOnce() -> R) -> R {
    Scope::apart(run)
}

/// Returns a future without a dependence, as by [`untracked`] in each poll. O(1) for each poll.
///
/// ```
/// use weakly::{Memo, Strong, memo::untracked_async};
///
/// static LENGTHS: Memo<Strong<str>, usize> = Memo::new();
/// static TITLES: Memo<Strong<str>, String> = Memo::new();
///
/// async fn title(page: &Strong<str>) -> String {
///     TITLES.get_or_compute_async(page, async |_, _| {
///         let length = LENGTHS.get_or_compute_async(page, async |_, _| page.len());
///         format!("{page} of {}", untracked_async(length).await)
///     })
///     .await
/// }
/// # use std::task::{Context, Poll, Waker};
/// # let page = Strong::from("page");
/// # let mut context = Context::from_waker(Waker::noop());
/// # assert_eq!(std::pin::pin!(title(&page)).poll(&mut context), Poll::Ready("page of 4".into()));
/// # LENGTHS.remove(&page);
/// # assert!(TITLES.contains_key(&page));
/// ```
pub async fn untracked_async<F: Future>(future: F) -> F::Output {
    each_poll(|poll| Scope::apart(poll), future).await
}
