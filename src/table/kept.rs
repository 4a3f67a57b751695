//! The remains of dead entries: destroyed at once, or kept until the user asks for them.

use alloc::vec::Vec;

use super::reclaim::Reclaim;
use crate::panics::run_all;

/// The policy, and the kept remains.
pub(crate) struct KeptRemains<R>(
    /// `None` with the policy [`Reclaim::OnUse`].
    Option<Vec<R>>,
);

impl<R> KeptRemains<R> {
    pub(super) const fn new() -> Self {
        KeptRemains(None)
    }

    pub(super) fn policy(&self) -> Reclaim {
        match self.0 {
            None => Reclaim::OnUse,
            Some(_) => Reclaim::OnRequest,
        }
    }

    /// Sets the policy. Under [`Reclaim::OnUse`], nothing stays kept.
    pub(super) fn set_policy(&mut self, policy: Reclaim) {
        match policy {
            Reclaim::OnRequest => _ = self.0.get_or_insert_with(Vec::new),
            Reclaim::OnUse => self.0 = None,
        }
    }

    /// Destroys or keeps the remains of an entry that was unlinked because it is dead. The caller's
    /// entries are consistent, since a destructor may run.
    #[inline]
    pub(crate) fn reclaim(&mut self, remains: R) {
        match &mut self.0 {
            None => drop(remains),
            Some(kept) => kept.push(remains),
        }
    }

    /// Takes the remains of one entry out.
    #[inline]
    pub(super) fn take(&mut self) -> Option<R> {
        self.0.as_mut()?.pop()
    }

    /// Destroys the kept remains. If a destructor panics, the other destructors still run.
    pub(super) fn clear(&mut self) {
        run_all(|| self.take().is_some());
    }

    /// Iterates over the kept remains.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &R> {
        self.0.iter().flatten()
    }

    #[inline]
    pub(super) fn len(&self) -> usize {
        self.0.as_ref().map_or(0, Vec::len)
    }

    /// Returns the bytes of the list.
    pub(super) fn memory_usage(&self) -> usize {
        self.0.as_ref().map_or(0, Vec::capacity) * size_of::<R>()
    }

    pub(super) fn shrink_to_fit(&mut self) {
        if let Some(kept) = &mut self.0 {
            kept.shrink_to_fit();
        }
    }
}
