//! How deaths unlink entries, and the lists of the unlinked entries.
//!
//! A death finds its entry by the registration and the hash. It unlinks the entry under the lock of
//! the bucket, as a writer does, but never helps to move a bucket: in a bucket that has not moved,
//! the entry is unlinked where it is. C2 and C3 of `ptr::shared` explain why the array is not freed
//! meanwhile.

use core::iter;
use core::ptr::{self, NonNull};

use super::array::Array;
use super::entry::{Entry, Registered};
use super::nested::NestedCall;
use crate::ptr::{Dead, Found, Off, RegistrationId, Token, below};
use crate::sync::prefetch_to_write;

/// Unlinks the entry with the registration `of`: an [`Unlink`](crate::ptr::Unlink).
///
/// # Safety
/// `entries` is an array of a table of `N`, and is not freed meanwhile.
pub(super) unsafe fn unlink<N: Entry>(
    entries: *mut (),
    of: RegistrationId,
    addr: *const (),
    hash: u32,
    off: &mut Off,
) -> Found {
    // SAFETY: the caller's promise.
    let array = unsafe { &*entries.cast::<Array<N>>() };
    let mut link = None;
    let node = array.unlink(N::hash_of(addr, hash), |node| {
        link = node
            .watch()
            .and_then(|watch| watch.named(of))
            .map(NonNull::from);
        link.is_some()
    });
    let (node, link) = match (node, link) {
        (Ok(node), Some(link)) => (node, link),
        (Err(Some(token)), _) => return Found::Tied(token.into()),
        _ => return Found::Nothing,
    };
    // SAFETY: unlinked by the calling thread, under the lock: no thread destroys the entry before
    // it is in a list.
    let watch = unsafe { node.as_ref() }.watch();
    watch
        .into_iter()
        .for_each(|watch| watch.end_others(of, off));
    NestedCall::note_killed(array.core().as_ptr().cast());
    Found::Unlinked(Dead::new(node, link))
}

impl<N: Entry> Array<N> {
    /// Unlinks an entry. The error is `None` if there is no such entry, or the open token of the
    /// entry.
    fn unlink(
        &self,
        hash: u64,
        mut is_sought: impl FnMut(&N) -> bool,
    ) -> Result<NonNull<N>, Option<Token>> {
        let mut array = self;
        loop {
            let home = array.home(hash);
            prefetch_to_write(home);
            let Some(mut locked) = home.lock_unseen() else {
                array = array
                    .next()
                    .expect("a bucket has moved, but there is no next array");
                continue;
            };
            let found = self.find_in(&locked, hash, &mut is_sought);
            let (bucket, slot) = found.ok_or(None)?;
            let node = NonNull::new(bucket.slot(slot)).ok_or(None)?;
            // SAFETY: linked.
            untie(unsafe { node.as_ref() })?;
            locked.clear(bucket, slot);
            return Ok(node);
        }
    }
}

/// Prepares an entry to be unlinked, under the lock of its bucket: see [`Registered::untie`].
#[inline]
pub(super) fn untie<N: Entry>(node: &N) -> Result<(), Token> {
    node.watch().map_or(Ok(()), Registered::untie)
}

/// Returns the entries of a list.
///
/// # Safety
/// The list has `count` entries of type `N`, and belongs to the caller.
pub(super) unsafe fn list<N: Entry>(first: *mut (), count: usize) -> impl Iterator<Item = *mut N> {
    // SAFETY: the caller's promise. The link is read before the entry is passed on.
    let entries = iter::successors(Some(first), |entry| Some(unsafe { next::<N>(*entry) }));
    entries.take(count).map(<*mut ()>::cast)
}

/// Returns the next entry in a list.
///
/// # Safety
/// `entry` is an `N` in a list that belongs to the caller.
pub(super) unsafe fn next<N: Entry>(entry: *mut ()) -> *mut () {
    // SAFETY: the caller's promise.
    let watch = unsafe { &*entry.cast::<N>() }.watch();
    watch
        .and_then(Registered::link)
        .map_or(ptr::null_mut(), below)
}
