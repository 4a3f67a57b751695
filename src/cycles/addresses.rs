//! Numbers by address.

use hashbrown::HashTable;
use hashbrown::hash_table::Entry;

use crate::hash::HashValue;

/// A map from addresses to numbers.
#[derive(Default)]
#[allow(
    unreachable_pub,
    reason = "1.85 does not see it behind a method of a sealed trait"
)]
pub struct Addresses(HashTable<(usize, u32)>);

fn hash(addr: usize) -> u64 {
    HashValue::of_addr(core::ptr::without_provenance(addr)).get()
}

impl Addresses {
    pub(super) fn get(&self, addr: usize) -> Option<u32> {
        let found = self.0.find(hash(addr), |(there, _)| *there == addr)?;
        Some(found.1)
    }

    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    pub(crate) fn contains(&self, addr: usize) -> bool {
        self.get(addr).is_some()
    }

    /// Returns the number of an address; an address without a number gets `new`. Also returns
    /// whether the address got `new`.
    pub(super) fn get_or_insert(&mut self, addr: usize, new: u32) -> (u32, bool) {
        let same = |(there, _): &(usize, u32)| *there == addr;
        match self.0.entry(hash(addr), same, |(there, _)| hash(*there)) {
            Entry::Occupied(there) => (there.get().1, false),
            Entry::Vacant(place) => {
                place.insert((addr, new));
                (new, true)
            }
        }
    }
}
