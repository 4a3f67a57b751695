//! A word of a record: it has the finalizers of a live object, and then the depths of a dead
//! object's notices.

#[cfg(not(weakly_loom))]
use core::mem::ManuallyDrop;
use core::ptr;

use super::callbacks::FinalizerNode;
use super::flavour::{Flavour, Variable};
use crate::sync::UnsafeCell;

/// The finalizers, until the death has taken them, and then the depths of the notices (R4). Both
/// are of use only at the end of an object.
#[cfg(not(weakly_loom))]
#[repr(C)]
pub(super) union Ends<F: Flavour> {
    /// Newest first; or the home, which then has the finalizers (G1).
    finalizers: ManuallyDrop<UnsafeCell<*mut FinalizerNode<F>>>,
    depths: ManuallyDrop<[F::Half; 2]>,
}

/// (loom's atomics cannot lie in raw memory. The cell shows uses of the depths that come too
/// early.)
#[cfg(weakly_loom)]
pub(super) struct Ends<F: Flavour> {
    finalizers: UnsafeCell<*mut FinalizerNode<F>>,
    depths: [F::Half; 2],
}

impl<F: Flavour> Ends<F> {
    pub(super) fn new() -> Self {
        let finalizers = UnsafeCell::new(ptr::null_mut());
        #[cfg(not(weakly_loom))]
        return Ends {
            finalizers: ManuallyDrop::new(finalizers),
        };
        #[cfg(weakly_loom)]
        Ends {
            finalizers,
            depths: [0; 2].map(F::Half::new),
        }
    }

    /// # Safety
    /// R4: the death has not taken the finalizers.
    pub(super) unsafe fn finalizers(&self) -> &UnsafeCell<*mut FinalizerNode<F>> {
        #[cfg(not(weakly_loom))]
        // SAFETY: the caller's promise.
        return unsafe { &self.finalizers };
        #[cfg(weakly_loom)]
        &self.finalizers
    }

    /// # Safety
    /// R4: the caller is the death, which has taken the finalizers, and has the gate.
    pub(super) unsafe fn begin_depths(&self) {
        #[cfg(not(weakly_loom))]
        // SAFETY: the caller's promise; a union with a cell may change behind a reference.
        unsafe {
            let depths = (&raw const self.depths).cast_mut();
            depths.write(ManuallyDrop::new([0; 2].map(F::Half::new)));
        }
        #[cfg(weakly_loom)]
        self.finalizers.with_mut(|_| ());
    }

    /// # Safety
    /// R4: the depths have begun.
    pub(super) unsafe fn depths(&self) -> &[F::Half; 2] {
        #[cfg(not(weakly_loom))]
        // SAFETY: the caller's promise.
        return unsafe { &self.depths };
        #[cfg(weakly_loom)]
        {
            self.finalizers.with(|_| ());
            &self.depths
        }
    }
}
