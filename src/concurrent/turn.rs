//! Who lets go what is beyond a limit: one call of a thread for each ring. What the destructors that it runs put beyond the
//! same limit is left to it, so that they do not nest.

use core::cell::Cell;

use crate::keep::shared::SharedRing;

/// How many rings a thread settles within each other. What nests deeper goes with the next operation on its ring.
const MAX_NESTED: usize = 16;

/// A ring, by its address, and whether something was left to who settles it.
type Settled = (usize, bool);

crate::sync::thread_local! {
    static DEPTH: Cell<usize> = const { Cell::new(0) };
    /// Those that the thread settles. Without a destructor, so that those of other thread-locals can settle.
    static RINGS: [Cell<Settled>; MAX_NESTED] = const { [const { Cell::new((0, false)) }; MAX_NESTED] };
}

/// The turn of this thread to settle a ring, until this is dropped.
pub(super) struct Turn {
    before: usize,
}

impl Turn {
    /// `None` if the thread settles the ring already: what has to go is left to that call.
    pub(super) fn enter<X>(ring: &SharedRing<X>) -> Option<Self> {
        let (addr, before) = (core::ptr::from_ref(ring).addr(), DEPTH.with(Cell::get));
        RINGS.with(|rings| {
            if let Some(outer) = rings[..before].iter().find(|ring| ring.get().0 == addr) {
                outer.set((addr, true));
                return None;
            }
            rings.get(before)?.set((addr, false));
            DEPTH.with(|depth| depth.set(before + 1));
            Some(Turn { before })
        })
    }

    /// Whether something was left to this call since it was asked last.
    pub(super) fn is_wanted_again(&self) -> bool {
        RINGS.with(|rings| {
            let (addr, again) = rings[self.before].get();
            rings[self.before].set((addr, false));
            again
        })
    }
}

impl Drop for Turn {
    fn drop(&mut self) {
        DEPTH.with(|depth| depth.set(self.before));
    }
}
