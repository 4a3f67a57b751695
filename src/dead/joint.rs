//! What the two watches of one entry share, when either object's death ends the entry: the first
//! death announces the entry, the second finds that said and pushes nothing. So an entry is counted
//! once, and is exactly as long announced as it is dead and there.
//!
//! * **J1** Whoever finds the joint announced, or waits until it is, finds the count of the queue
//!   raised: a death that pushes nothing still happens after the one that did, for anybody whom
//!   either reaches. Therefore the count comes before the announcement, and that before the push.
//! * **J2** A death uses the joint under the gate of its object, and the winner not after its push.
//!   So when both watches have ended (D1), nobody uses it, and the last of them frees it.

use core::ptr::{self, NonNull};

use super::Shared;
use crate::ptr::{Flavour, HookRef};
use crate::sync::{self, AtomicUsize, Live, Ordering::*, UnsafeCell};
use alloc::boxed::Box;

/// Nobody has died. Else the number of the side that died first, from one, and whether it has counted.
const OPEN: usize = 0;
const COUNTED: usize = 4;

// Aligned for the marks in its address, also where a word is of 16 bits.
#[repr(align(4))]
pub(super) struct Joint {
    state: AtomicUsize,
    /// Watches, and the [`Inputs`] that makes them. The owner's (D3).
    users: AtomicUsize,
    /// The queue of each side, [`Shared`] of its own flavour: written before the side's hook is published.
    queues: [UnsafeCell<*const ()>; 2],
    live: Live,
}

/// What makes the watches of one entry: one, or two that belong together.
pub struct Inputs {
    joint: Option<NonNull<Joint>>,
    made: usize,
}

/// The context of a hook: the queue it goes to; or a joint, marked by its side in the low bits.
pub(super) struct Route<F: Flavour> {
    pub(super) queue: NonNull<Shared<F>>,
    pub(super) joint: Option<(NonNull<Joint>, usize)>,
}

impl Inputs {
    /// An entry with one input.
    #[inline]
    pub(crate) const fn alone() -> Self {
        Inputs {
            joint: None,
            made: 0,
        }
    }

    /// An entry with two inputs that may both announce their death.
    pub(crate) fn two() -> Self {
        let joint = Box::new(Joint {
            state: AtomicUsize::new(OPEN),
            users: AtomicUsize::new(1),
            queues: [ptr::null(); 2].map(UnsafeCell::new),
            live: Live::new(),
        });
        // SAFETY: a box is not null.
        let joint = unsafe { NonNull::new_unchecked(Box::into_raw(joint)) };
        Inputs {
            joint: Some(joint),
            made: 0,
        }
    }

    #[inline]
    pub(super) fn are_joined(&self) -> bool {
        self.joint.is_some()
    }

    /// The context of the next watch's hook.
    #[inline]
    pub(super) fn route<F: Flavour>(&mut self, queue: NonNull<Shared<F>>) -> *const () {
        let Some(joint) = self.joint else {
            return queue.as_ptr().cast_const().cast();
        };
        let side = self.made;
        self.made += 1;
        // SAFETY: J2, we are one of the users; nobody else reads this side's queue before a hook with
        // this context is published.
        unsafe {
            let joint = joint.as_ref();
            joint.queues[side].with_mut(|place| *place = queue.as_ptr().cast_const().cast());
            super::adjust(&joint.users, 1);
        }
        let joint = joint.as_ptr().cast_const().cast::<u8>();
        joint.wrapping_add(side + 1).cast()
    }
}

impl Drop for Inputs {
    #[inline]
    fn drop(&mut self) {
        if let Some(joint) = self.joint {
            // SAFETY: we are one of the users, and go.
            unsafe { Joint::leave(joint) };
        }
    }
}

impl Joint {
    /// # Safety
    /// D3: by the owner. The caller is one of the users, and goes; as a watch, it has ended.
    pub(super) unsafe fn leave(joint: NonNull<Self>) {
        // SAFETY: J2, we are one of the users.
        unsafe {
            let this = joint.as_ref();
            this.live.check();
            super::adjust(&this.users, -1);
            if this.users.load(Relaxed) == 0 {
                this.live.end();
                sync::free(joint);
            }
        }
    }

    /// This side's death has been counted. The joint may be gone when it has been pushed (J2).
    fn announce(&self, side: usize) {
        // Release: J1, the count, for the loser.
        self.state.store((side + 1) | COUNTED, Release);
        self.live.check();
    }

    /// Whether it was this side whose death announced the entry. Asked by who has found this side's
    /// gate closed: its death has been here, and what it left is final. Relaxed: the gate has
    /// synchronised.
    pub(super) fn was_announced_by(&self, side: usize) -> bool {
        self.live.check();
        self.state.load(Relaxed) == (side + 1) | COUNTED
    }
}

impl<F: Flavour> Route<F> {
    /// # Safety
    /// `context` comes from [`Inputs::route`] for a queue of this flavour, and the watch of its hook has
    /// not ended (or holds the gate up for us).
    #[inline]
    pub(super) unsafe fn of(context: *const ()) -> Self {
        let side = context.addr() % COUNTED;
        if side == 0 {
            // SAFETY: an unmarked context is a queue.
            let queue = unsafe { NonNull::new_unchecked(context.cast_mut().cast()) };
            return Route { queue, joint: None };
        }
        let side = side - 1;
        // SAFETY: a marked one is a joint, J2, whose queue for this side is set.
        unsafe {
            let joint = context.cast::<u8>().wrapping_sub(side + 1).cast::<Joint>();
            let joint = NonNull::new_unchecked(joint.cast_mut());
            joint.as_ref().live.check();
            let queue = joint.as_ref().queues[side].with(|queue| *queue);
            Route {
                queue: NonNull::new_unchecked(queue.cast_mut().cast()),
                joint: Some((joint, side)),
            }
        }
    }
}

/// The call of a hook with a joint: push it into its queue, unless the other object has died first.
///
/// # Safety
/// As for every [`Call`](crate::ptr::Call); under the gate.
pub(super) unsafe fn push_first<F: Flavour>(hook: HookRef<F>) {
    // SAFETY: as for `push`, the watch is registered, so queue and joint are there (D1, D2, J2).
    let Route { queue, joint } = unsafe { Route::<F>::of(hook.call().context) };
    let Some((joint, side)) = joint else { return };
    // SAFETY: as above.
    let (queue, joint) = unsafe { (queue.as_ref(), joint.as_ref()) };
    // Relaxed on success: what the winner has to say follows. Acquire on failure: J1, the winner's store.
    match joint
        .state
        .compare_exchange(OPEN, side + 1, Relaxed, Acquire)
    {
        Ok(_) => {
            queue.live.check();
            queue.notices.count();
            joint.announce(side);
            // SAFETY: fired, counted, and from here on the queue's.
            unsafe { queue.notices.link(hook) };
        }
        // The hook stays where it is: its watch will find that it has not been pushed. The winner is
        // between two instructions, and waits for nobody.
        Err(mut state) => {
            let mut turn = 0;
            while state & COUNTED == 0 {
                sync::relax(&mut turn);
                state = joint.state.load(Acquire);
            }
        }
    }
}
