//! The way from an object to its entries: the registrations of an object are a list of its entries,
//! and each registration has its entry's hash.

use alloc::vec::Vec;
use core::mem;

use super::flavour::{Flavour, Variable};
use super::gate::Gate;
use super::hook::{HookRef, LoneHook};
use super::object_ref::ObjectRef;
use super::recipient::Recipient;
use super::record::{RecordRef, RecordSlot};
use super::state::{State, entry};
use crate::sync::{self, Ordering::*};

/// The number of hooks at which a thread looks before it lets other threads through the gate.
const BATCH: usize = if cfg!(weakly_loom) { 1 } else { 256 };

impl<T: ?Sized, F: Flavour> ObjectRef<'_, T, F> {
    /// Returns the hashes of the entries that a collection has registered with the object, in their
    /// short form: each hash once, in ascending order. An entry that was unlinked a moment ago may
    /// still be registered. For an entry that stores no hash with its registration, the result may
    /// contain any hash.
    ///
    /// O(n log n) for all n registrations of the object, with whatever collections. Other threads
    /// that register with the object or deregister wait for at most [`BATCH`] registrations at a
    /// time.
    pub(crate) fn hashes_with(self, recipient: Recipient<F>) -> Vec<u32> {
        let mut hashes = Vec::new();
        let block = self.block();
        // Acquire: the registration, with its hash; or the record.
        let state = block.header().state.load(Acquire);
        match State::<F>::decode(state) {
            State::Record(record) => record.hashes_with(recipient, &mut hashes),
            // B3: the hash is not older than the registration in `state`. The hash may be a
            // later registration's. In this case the registration has ended, and the later one,
            // perhaps of another collection, has come during this call; so it matters for neither
            // of them whether the hash is shown.
            _ if state == entry(recipient) => hashes.push(block.hash()),
            // The object lives, so the state is not `DEAD`; and the state is only locked while
            // nothing is registered.
            _ => {}
        }
        hashes.sort_unstable();
        hashes.dedup();
        hashes
    }
}

impl<F: Flavour> RecordRef<F> {
    /// Does the same as for an [object](ObjectRef::hashes_with), but in any order.
    fn hashes_with(self, recipient: Recipient<F>, into: &mut Vec<u32>) {
        let mut cursor = Cursor::new(self);
        loop {
            // Not under the gate, since this allocates.
            into.reserve(BATCH + 2);
            // `None` only for a dead object.
            let Some(gate) = self.lock().filter(Gate::is_open) else {
                return;
            };
            // All registrations may be hooks: the first two may have ended.
            if cursor.hook.is_none() && gate.count() as usize > BATCH {
                drop(gate);
                cursor.make();
                continue;
            }
            // There is room for all hashes that are found before the gate is given back.
            let mut look = |of: Option<Recipient<F>>, hash: u32| {
                if of == Some(recipient) {
                    into.push(hash);
                }
            };
            let mut next = match cursor.take(&gate) {
                Some(next) => next,
                None => {
                    for slot in [RecordSlot::First, RecordSlot::Second] {
                        look(gate.recipient(slot), self.hash(slot));
                    }
                    gate.newest()
                }
            };
            let (mut last, mut looked) = (None, 0);
            while looked < BATCH {
                let Some(hook) = next else { return };
                // SAFETY: we have the gate, and the hook is linked.
                let of = unsafe { hook.recipient_if_any() };
                look(of, hook.hash());
                // The marks of other threads do not count: two threads could pass each other for
                // ever.
                looked += usize::from(of.is_some());
                (last, next) = (next, hook.next_in_list());
            }
            if next.is_none() {
                return;
            }
            cursor.mark(&gate, last);
            if gate.pause() {
                sync::give_way();
            }
        }
    }
}

/// The place in the list of a record's hooks up to which a thread has looked. A hook of the
/// thread's own marks the place while other threads have the gate. The mark is not a registration;
/// the object lives meanwhile, so no death finds the mark.
struct Cursor<F: Flavour> {
    record: RecordRef<F>,
    hook: Option<HookRef<F>>,
    is_linked: bool,
}

impl<F: Flavour> Cursor<F> {
    fn new(record: RecordRef<F>) -> Self {
        Cursor {
            record,
            hook: None,
            is_linked: false,
        }
    }

    fn make(&mut self) {
        let nothing = Recipient::<F>::encode(None);
        self.hook = Some(LoneHook::boxed(nothing, self.record.block(), 0));
    }

    /// Marks the place behind the hook `last`, up to which the thread has looked.
    fn mark(&mut self, _: &Gate<F>, last: Option<HookRef<F>>) {
        if let (Some(hook), Some(last)) = (self.hook, last) {
            hook.link_behind(last);
            self.is_linked = true;
        }
    }

    /// Takes the mark away, if there is one; returns the hook behind the mark, if any.
    fn take(&mut self, gate: &Gate<F>) -> Option<Option<HookRef<F>>> {
        let hook = self.hook.filter(|_| mem::take(&mut self.is_linked))?;
        let next = hook.next_in_list();
        gate.unlink(hook);
        Some(next)
    }
}

impl<F: Flavour> Drop for Cursor<F> {
    fn drop(&mut self) {
        if self.is_linked {
            // `hashes_with` has panicked in `reserve`, between two turns at the gate. (`lock` fails
            // only for a dead object; the object lives.)
            if let Some(gate) = self.record.lock() {
                self.take(&gate);
            }
        }
        if let Some(hook) = self.hook {
            // SAFETY: the hook is ours, and not linked any more.
            unsafe { LoneHook::free(hook) };
        }
    }
}
