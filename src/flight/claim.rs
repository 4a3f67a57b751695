//! Who makes the value of a reservation: an owner, racers, or both.
//!
//! * **J1** All waiting callers wait for the owner. Racers wait for nobody, and delay nobody. An
//!   owner that comes to a reservation of racers *joins* it: the node stays, and the owner has a
//!   reservation of its own, for its waiters and for the graph.
//! * **J2** The first value takes the place of the node, and closes the reservation. If there is no
//!   value, the last maker closes the reservation, unlinks the node, and leaves afterwards.
//!   Joining, leaving and closing are under one lock, and nobody joins a closed reservation. So no
//!   maker begins a value for a node that another maker is about to unlink. A caller that finds a
//!   closed reservation unlinks the node itself, if the node is still linked.
//! * **J3** A removal or an invalidation unlinks the node, and the makers do not keep their values.
//!   A caller that comes afterwards finds no node.

use core::mem;
use std::sync::Arc;

use super::reservation::{Makers, Progress, Reservation};
use crate::panics::wake_all;
use crate::sync::Ordering::Relaxed;
use crate::waits::Sleepers;

/// The role of a maker.
#[derive(Clone)]
pub(crate) enum Role {
    Owner,
    /// An owner that has joined racers, and its own reservation.
    Joined(Arc<Reservation>),
    Racer,
}

impl Role {
    /// The reservation for which callers wait, if the maker has claimed `reservation`. Nobody waits
    /// for a racer.
    pub(crate) fn own<'r>(
        &'r self,
        reservation: &'r Arc<Reservation>,
    ) -> Option<&'r Arc<Reservation>> {
        match self {
            Role::Owner => Some(reservation),
            Role::Joined(own) => Some(own),
            Role::Racer => None,
        }
    }
}

/// The answer to a caller that wants to make the value.
pub(crate) enum Claim {
    Yours(Role),
    /// The owner of this reservation makes the value.
    Taken(Arc<Reservation>),
    /// The reservation is closed (J2): the caller unlinks its node.
    Closed,
}

impl Progress {
    /// J1, J2: claims the value, for a racer or for an owner. An owner that joins racers takes its
    /// reservation out of `own`. Returns `None` if there is none: then the caller makes one, and
    /// claims again.
    fn claim(
        &mut self,
        this: &Arc<Reservation>,
        races: bool,
        own: &mut Option<Arc<Reservation>>,
    ) -> Option<Claim> {
        let makers = &mut self.makers;
        Some(match &makers.joined {
            _ if races && !makers.closed => {
                makers.racers += 1;
                // Relaxed: with `is_raced`: the racer drops its handle, or publishes its value.
                this.1.store(true, Relaxed);
                Claim::Yours(Role::Racer)
            }
            _ if makers.owned && !self.complete && !races => Claim::Taken(Arc::clone(this)),
            Some(other) if !races => Claim::Taken(Arc::clone(other)),
            _ if makers.closed => Claim::Closed,
            _ => {
                let own = own.take()?;
                makers.joined = Some(Arc::clone(&own));
                Claim::Yours(Role::Joined(own))
            }
        })
    }
}

impl Makers {
    /// Takes a maker out. Returns the reservation of an owner that had joined.
    fn leave(&mut self, role: &Role) -> Option<Arc<Reservation>> {
        match role {
            Role::Racer => self.racers -= 1,
            Role::Owner => self.owned = false,
            Role::Joined(_) => return self.joined.take(),
        }
        None
    }
}

impl Reservation {
    /// Claims the value for a caller that has found the node of the reservation. The caller leaves
    /// whatever happens.
    pub(crate) fn claim(this: &Arc<Self>, races: bool) -> Claim {
        let mut own = None;
        loop {
            match this.0.with(|state| state.claim(this, races, &mut own)) {
                Some(claim) => return claim,
                None => own = Some(Reservation::new()),
            }
        }
    }

    /// J2: a maker leaves without a value. If the maker is the last, the maker closes the
    /// reservation instead, and stays until it has unlinked the node: then the answer is true.
    pub(crate) fn leave_or_close(&self, role: &Role) -> bool {
        let (closes, joined) = self.0.with(|Progress { makers, .. }| {
            let owners = usize::from(makers.owned) + usize::from(makers.joined.is_some());
            let closes = owners + makers.racers == 1 && !mem::replace(&mut makers.closed, true);
            (closes, if closes { None } else { makers.leave(role) })
        });
        drop(joined);
        closes
    }

    /// Whether a value in the place of the node may be the value of another maker.
    pub(crate) fn is_raced(&self) -> bool {
        // Relaxed: with `Progress::claim`. The caller has seen the value of the racer, or that the
        // racer has dropped its handle.
        self.1.load(Relaxed)
    }

    /// The second half of [`leave_or_close`](Self::leave_or_close): if the maker is an owner,
    /// completes the reservation for which callers wait. `closed` is the answer of
    /// `leave_or_close`: if true, the maker has unlinked the node meanwhile, and leaves now (J2);
    /// otherwise the maker has left already.
    ///
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    pub(crate) fn quit(&self, role: &Role, closed: bool) {
        if closed {
            let joined = self.0.with(|state| state.makers.leave(role));
            // Not under the lock: the drop may free the reservation of the owner.
            drop(joined);
        }
        // Last: the waiters go on, and find no node.
        match role {
            Role::Racer => {}
            Role::Owner => self.complete(),
            Role::Joined(own) => own.complete(),
        }
    }

    /// J2: a value has taken the place of the node. All callers that wait go on. The maker of the
    /// value need not leave.
    ///
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    pub(crate) fn land(&self) {
        // The values and errors that no heir gets are dropped last: their end may run user code.
        let ((joined, _left), woken) = self.0.wake(Sleepers::All, |state, waiting| {
            state.makers.closed = true;
            (state.makers.joined.clone(), state.complete(waiting))
        });
        if joined.is_some() || !woken.is_empty() {
            let (_others_left, others) = joined.map(|own| own.end()).unzip();
            wake_all(woken.chain(others.into_iter().flatten()));
        }
    }
}
