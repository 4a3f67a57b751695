//! The way from an object to its entries: its registrations are its own list of them, and each has its entry's hash.

use alloc::vec::Vec;

use super::flavour::{Flavour, Variable};
use super::gate::Gate;
use super::object_ref::ObjectRef;
use super::recipient::Recipient;
use super::record::RecordRef;
use super::state::State;
use crate::sync::Ordering::*;

impl<T: ?Sized, F: Flavour> ObjectRef<'_, T, F> {
    /// The hashes of the entries with which a collection has registered with the object, in their short form: each once, in
    /// ascending order. An entry that was unlinked a moment ago may still be registered; and of one that stores no hash with
    /// its registration, this is any.
    ///
    /// O(n log n) for all n registrations of the object, with whatever collections. Those are under its gate meanwhile: threads
    /// that register or deregister the same object wait.
    pub(crate) fn hashes_with(self, target: Recipient<F>) -> Vec<u32> {
        let mut hashes = Vec::new();
        let block = self.block();
        // Acquire: the registration, with its hash; or the record.
        let state = block.header().state.load(Acquire);
        match State::<F>::decode(state) {
            State::Record(record) => record.hashes_with(target, &mut hashes),
            // B3: the hash is not older than this registration. It may be that of a later one: then this one has ended, and
            // that one, perhaps of another collection, has come while we look, so it matters neither whether we show it.
            _ if state == State::entry(target).encode() => hashes.push(block.hash()),
            // The object lives, so it is not `DEAD`; and it is only locked while nothing is registered.
            _ => {}
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

impl<F: Flavour> RecordRef<F> {
    /// As for an [object](ObjectRef::hashes_with), but in any order.
    fn hashes_with(self, target: Recipient<F>, into: &mut Vec<u32>) {
        // `None` only of a dead object.
        while let Some(gate) = self.lock().filter(Gate::is_open) {
            let count = gate.count() as usize;
            if count <= into.capacity() {
                gate.each(|of, hash| {
                    if of == target {
                        // There is room: nothing is allocated under the gate.
                        into.push(hash);
                    }
                });
                return;
            }
            drop(gate);
            into.reserve(count);
        }
    }
}
