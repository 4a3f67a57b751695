//! The graph of waits, in which a caller that is about to wait looks for a cycle.
//!
//! An edge leads from a computation to a reservation: the code of the computation waits for the
//! reservation, or leads it. A computation has several edges if its future polls several futures in
//! turn, as `join!` does. An edge belongs to the computation that polled the wait last. Code
//! outside of computations has no edges: nobody waits for that code.
//!
//! * **F1** A caller adds the edge of its wait *before* the search for a cycle. So of the callers
//!   closing a cycle, the last caller to add its edge sees the whole cycle. More callers may see
//!   the cycle too.
//! * **F2** A caller that has seen a cycle looks again. The cycle is a true one if *afterwards* all
//!   its edges are still there, and no reservation that a caller waits for is complete: a complete
//!   reservation delays nobody, though its waiters may not have woken yet. Each edge has a number
//!   of its own, so an edge that is seen twice was there all the time in between. Then all edges of
//!   the cycle were there at once, when the last of them had been seen for the first time.
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties
//! of Computer Systems", 1972.

use core::mem;
use std::collections::HashSet;
use std::sync::Arc;
use std::vec;
use std::vec::Vec;

use super::frame::Frame;
use super::reservation::{Outgoing, Progress, Reservation, WaitError};
use crate::sync::make_room;

/// An edge, until the drop.
pub(crate) struct Edge {
    from: Arc<Reservation>,
    number: usize,
}

impl Edge {
    /// The edge from the current computation, if there is one.
    fn new(to: &Arc<Reservation>, waits: bool) -> Option<Self> {
        Some(Edge::between(Reservation::current()?, to, waits))
    }

    /// Adds an edge between two reservations. `waits`: whether the computation of `from` waits for
    /// `to`; otherwise its code leads `to`.
    fn between(from: Arc<Reservation>, to: &Arc<Reservation>, waits: bool) -> Self {
        let to = Arc::clone(to);
        let number = from.0.with_room(
            |state, memory| make_room(&mut state.edges, 1, memory),
            |state, _| {
                let number = state.begun;
                state.begun += 1;
                state.edges.push(Outgoing { number, to, waits });
                number
            },
        );
        Edge { from, number }
    }

    /// The edge from the computation around a frame to the reservation of the frame.
    pub(crate) fn into_frame(frame: &Frame, to: &Arc<Reservation>) -> Option<Self> {
        let from = frame.before.as_ref()?;
        Some(Edge::between(Arc::clone(from), to, false))
    }

    /// The edge to a reservation that code of the current computation leads.
    pub(crate) fn of_leader(to: &Arc<Reservation>) -> Option<Self> {
        Edge::new(to, false)
    }

    /// Passes the edge of a wait on to the computation that polls the wait now. A wait that would
    /// close a cycle gets an error, and no edge.
    pub(crate) fn renew_of_wait(
        edge: &mut Option<Self>,
        to: &Arc<Reservation>,
    ) -> Result<(), WaitError> {
        let waits = true;
        Edge::renew(edge, to, waits)
    }

    /// Passes the edge of a leader on to the computation that polls the leader now.
    pub(crate) fn renew_of_leader(edge: &mut Option<Self>, to: &Arc<Reservation>) {
        let waits = false;
        _ = Edge::renew(edge, to, waits);
    }

    /// Passes an edge on to the current computation. `waits` is as for [`between`](Self::between).
    fn renew(edge: &mut Option<Self>, to: &Arc<Reservation>, waits: bool) -> Result<(), WaitError> {
        if !Reservation::is_current(edge.as_ref().map(|edge| &edge.from)) {
            *edge = None;
            // F1
            *edge = Edge::new(to, waits);
            if waits && edge.as_ref().is_some_and(|edge| edge.closes_a_cycle(to)) {
                *edge = None;
                return Err(WaitError::Cycle);
            }
        }
        Ok(())
    }

    /// Returns whether this edge, which leads to `to`, closes a cycle that is a true one (F2).
    fn closes_a_cycle(&self, to: &Arc<Reservation>) -> bool {
        loop {
            match self.way_back(to) {
                // The callers of a cycle without this caller find their cycle themselves.
                None => return false,
                Some(true) => return true,
                // Another way may be there.
                Some(false) => {}
            }
        }
    }

    /// Looks for a way that leads back to the computation of this edge. Returns `None` if there is
    /// no way, or if `to` is complete: then the caller waits no longer. Otherwise returns whether
    /// the way that was found is still there (F2).
    fn way_back(&self, to: &Arc<Reservation>) -> Option<bool> {
        // The reservations on all ways, each with the place from which an edge has led to it.
        let (mut reached, mut at) = (vec![(Arc::clone(to), None)], 0);
        let mut seen = HashSet::from([Arc::as_ptr(to)]);
        loop {
            let (last, _): &(_, Option<(usize, Outgoing)>) = reached.get(at)?;
            if Arc::ptr_eq(last, &self.from) {
                break;
            }
            for edge in last.edges() {
                if !edge.is_over() && seen.insert(Arc::as_ptr(&edge.to)) {
                    reached.push((Arc::clone(&edge.to), Some((at, edge))));
                }
            }
            at += 1;
        }
        while let (_, Some((from, edge))) = &reached[at] {
            let has =
                |state: &mut Progress| state.edges.iter().any(|one| one.number == edge.number);
            if edge.is_over() || !reached[*from].0.0.with(has) {
                return Some(false);
            }
            at = *from;
        }
        (!to.is_complete()).then_some(true)
    }
}

impl Outgoing {
    /// Whether the edge is a wait that is about to end.
    fn is_over(&self) -> bool {
        self.waits && self.to.is_complete()
    }
}

impl Reservation {
    /// Returns clones of the edges. Their memory is allocated outside of the lock.
    fn edges(&self) -> Vec<Outgoing> {
        self.0.with_room(
            |state, memory| match memory.capacity() < state.edges.len() {
                true => Err(state.edges.len()),
                false => Ok(()),
            },
            |state, memory| {
                memory.extend(state.edges.iter().cloned());
                mem::take(memory)
            },
        )
    }
}

impl Drop for Edge {
    fn drop(&mut self) {
        let ended = self.from.0.with(|state| {
            let at = state
                .edges
                .iter()
                .position(|edge| edge.number == self.number);
            at.map(|at| state.edges.swap_remove(at))
        });
        drop(ended);
    }
}
