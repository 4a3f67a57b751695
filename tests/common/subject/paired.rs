//! Pairs as a subject: a pair has two sides, and one of them is the life.

use std::collections::BTreeMap;
use std::marker::PhantomData;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::*;

/// Pairs that live as long as one of their sides: the other is kept beside them.
pub struct Paired<W, C, O> {
    pub all: C,
    pub partners: Partners<O>,
    which: PhantomData<W>,
}

/// The keys live.
pub enum ByKey {}
/// The values live. If `FRESH`, a new value has a new key, and else the key of its number.
pub enum ByValue<const FRESH: bool = false> {}

impl<W, C: Default, O> From<C> for Paired<W, C, O> {
    fn from(all: C) -> Self {
        Paired {
            all,
            partners: Partners::default(),
            which: PhantomData,
        }
    }
}

impl<W, C: Default, O> Default for Paired<W, C, O> {
    fn default() -> Self {
        C::default().into()
    }
}

impl<W, C: Clone, O: Clone> Clone for Paired<W, C, O> {
    fn clone(&self) -> Self {
        Paired {
            all: self.all.clone(),
            partners: Partners(Mutex::new(self.partners.0.lock().unwrap().clone())),
            which: PhantomData,
        }
    }
}

impl<W, C: PartialEq, O> PartialEq for Paired<W, C, O> {
    fn eq(&self, other: &Self) -> bool {
        self.all == other.all
    }
}

/// The other sides, by number.
pub struct Partners<O>(pub Mutex<BTreeMap<usize, O>>);

impl<O> Default for Partners<O> {
    fn default() -> Self {
        Partners(Mutex::default())
    }
}

impl<O: Life> Partners<O> {
    fn lock(&self) -> MutexGuard<'_, BTreeMap<usize, O>> {
        // (An allocation may have failed there.)
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub fn of(&self, number: usize) -> O {
        let mut partners = self.lock();
        let partner = partners.entry(number).or_insert_with(|| number.into());
        partner.clone()
    }

    pub fn extend(&mut self, others: Self) {
        let mut partners = self.0.lock().unwrap();
        let more = (partners.len()..).zip(others.0.into_inner().unwrap().into_values());
        partners.extend(more);
    }

    /// Another for this number; the one before is kept.
    pub fn renew(&self, number: usize) -> O {
        let before = self.0.lock().unwrap().remove(&number);
        let place = usize::MAX - self.0.lock().unwrap().len();
        self.0
            .lock()
            .unwrap()
            .extend(before.map(|before| (place, before)));
        self.of(number)
    }
}

impl<W, C: Upkeep, O> Upkeep for Paired<W, C, O> {
    upkeep!(C, self, self.all);
}

impl<W, C: Memory, O> Memory for Paired<W, C, O> {
    memory!(C, self, self.all);
}
