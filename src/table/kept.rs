//! What a dead entry leaves: destroyed at once, or kept until it is asked for.

use alloc::vec::Vec;

use super::reclaim::Reclaim;
use crate::panics::run_all;

/// The policy, and what has been kept.
pub(crate) struct Kept<R>(
    /// `None` if nothing is kept.
    Option<Vec<R>>,
);

impl<R> Kept<R> {
    pub(super) const fn new() -> Self {
        Kept(None)
    }

    pub(super) fn policy(&self) -> Reclaim {
        match self.0 {
            None => Reclaim::OnUse,
            Some(_) => Reclaim::OnRequest,
        }
    }

    /// Sets the policy. Nothing is kept if nothing is to be kept any more.
    pub(super) fn set_policy(&mut self, policy: Reclaim) {
        match policy {
            Reclaim::OnRequest => _ = self.0.get_or_insert_with(Vec::new),
            Reclaim::OnUse => self.0 = None,
        }
    }

    /// Takes what an entry leaves that was unlinked because it is dead. The caller's table is
    /// consistent: this may run a destructor.
    #[inline]
    pub(super) fn reclaim(&mut self, remains: R) {
        match &mut self.0 {
            None => drop(remains),
            Some(kept) => kept.push(remains),
        }
    }

    /// Takes one of those that are kept.
    #[inline]
    pub(super) fn take(&mut self) -> Option<R> {
        self.0.as_mut()?.pop()
    }

    /// Destroys what is kept. If a destructor panics, the others run.
    pub(super) fn clear(&mut self) {
        run_all(|| self.take().is_some());
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = &R> {
        self.0.iter().flatten()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, Vec::len)
    }

    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.shrink_to_fit();
        }
    }
}
