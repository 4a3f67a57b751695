//! The leader of a reservation, a thread or a task: it runs a computation, and publishes the value.

use core::cell::RefCell;
use core::future::{Future, poll_fn};
use core::mem;
use core::pin::pin;
use core::task::Poll;
use std::boxed::Box;
use std::sync::Arc;

use super::change::{Change, Upkeep};
use super::node::{Compare, Node};
use super::schema::Schema;
use super::table::{NewNode, Pin, Table};
use super::watch::{Unplaced, Watches};
use super::way::{Errors, Failed};
use crate::flight::{Edge, Frame, Reservation, Role, Running};
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::raw::Entry as _;

/// A leader and the frame of its computation, in few bytes of the stack.
pub(super) type Leads<'t, S> = Box<(Leader<'t, S>, Option<Frame>)>;

impl<S: Compare> Table<S> {
    /// Unlinks the node of a reservation, if the node is still linked.
    #[cold]
    pub(super) fn withdraw(
        &self,
        pin: &Pin<'_, S>,
        hash: HashValue,
        reservation: &Arc<Reservation>,
    ) {
        let reservation = Arc::as_ptr(reservation);
        let own = |node: &Node<S>| node.is_reserved_by(reservation);
        if let Some(node) = self.unlink_if(pin, hash, own, |_| true) {
            self.end(node);
        }
    }
}

/// The parts of a made entry.
type MadeEntry<'a, S> = (
    <S as Schema>::Key,
    Unplaced<'a, <S as Schema>::Watch>,
    <S as Schema>::Value,
);

/// A maker of the value of a key, a thread or a task: the owner of a reservation, or a racer. The
/// end of the leader, also by a panic or by a drop of the task, leaves the reservation; if the
/// leader is the last maker, and there is no value, the end unlinks the node of the reservation.
/// The first waiter that is polled, or wakes, or another caller that arrives makes the value then.
pub(crate) struct Leader<'a, S: Compare> {
    pub(super) table: &'a Table<S>,
    pub(super) hash: HashValue,
    /// None once the value has taken the place of the node.
    reservation: Option<Arc<Reservation>>,
    /// J4: the handle of the frame, until the frame is set.
    spare: Option<Arc<Reservation>>,
    pub(super) role: Role,
    pub(super) stage: Stage,
    /// The edge from the computation within which the caller leads.
    pub(super) edge: Option<Edge>,
}

/// The stage of a reservation.
#[derive(PartialEq)]
pub(super) enum Stage {
    /// The computation has begun, and its outcome is not counted yet. The node of the reservation
    /// may be in the table.
    Begun,
    /// As `Begun`, and the outcome is counted.
    Counted,
    /// The value has taken the place of the node.
    Landed,
    /// Another leader has the reservation, or the leader has left.
    HandedOver,
}

impl<'a, S: Compare> Leader<'a, S> {
    #[inline]
    pub(super) fn new(
        table: &'a Table<S>,
        hash: HashValue,
        (reservation, spare): (Arc<Reservation>, Option<Arc<Reservation>>),
        role: Role,
    ) -> Self {
        Leader {
            table,
            hash,
            reservation: Some(reservation),
            spare,
            role,
            stage: Stage::Begun,
            edge: None,
        }
    }

    /// The first maker of a reservation, with two of its handles.
    #[inline]
    pub(super) fn first(
        table: &'a Table<S>,
        hash: HashValue,
        handles: (Arc<Reservation>, Option<Arc<Reservation>>),
        races: bool,
    ) -> Self {
        let role = if races { Role::Racer } else { Role::Owner };
        Leader::new(table, hash, handles, role)
    }

    /// Adds the edge from the computation within which the caller leads, if there is one.
    #[inline]
    pub(super) fn begun(mut self) -> Self {
        self.edge = self.own().and_then(Edge::of_leader);
        self
    }

    /// Returns the claimed reservation. The value has not taken the place of its node yet.
    pub(super) fn reservation(&self) -> &Arc<Reservation> {
        match &self.reservation {
            Some(reservation) => reservation,
            None => unreachable!("its value has taken the place of its node"),
        }
    }

    /// The reservation for which callers wait.
    pub(super) fn own(&self) -> Option<&Arc<Reservation>> {
        self.role.own(self.reservation())
    }

    /// Sets a frame around user code for which callers wait.
    pub(crate) fn frame(&self) -> Option<Frame> {
        self.own().map(Reservation::frame)
    }

    /// As [`frame`](Self::frame), for a thread, whose frame lasts until the leader ends. The leader
    /// may not have [begun](Self::begun).
    #[inline(always)]
    pub(crate) fn frame_of_thread(&mut self) -> Option<Frame> {
        let spare = self.spare.take_if(|_| matches!(self.role, Role::Owner));
        let frame = spare.map_or_else(|| self.frame(), |spare| Some(Frame::of(spare)));
        if self.edge.is_none() {
            let ends = frame.as_ref().zip(self.own());
            self.edge = ends.and_then(|(frame, own)| Edge::into_frame(frame, own));
        }
        frame
    }

    /// Runs the computation of a task. A load `pauses` in its first poll, before the first poll of
    /// the computation.
    pub(crate) async fn run<F: Future>(
        &mut self,
        mut pauses: bool,
        compute: impl FnOnce() -> F,
    ) -> F::Output {
        let reservation = self.reservation.as_ref();
        let own = reservation.and_then(|reservation| self.role.own(reservation));
        let edge = &mut self.edge;
        let (mut compute, computing) = (Some(compute), pin!(None));
        let mut running = Running { computing, own };
        poll_fn(|context| {
            let _frame = own.map(|own| {
                Edge::renew_of_leader(edge, own);
                Reservation::frame(own)
            });
            if let Some(compute) = compute.take() {
                running.computing.set(Some(compute()));
                if mem::take(&mut pauses) {
                    return Poll::Pending;
                }
            }
            let polled = match running.computing.as_mut().as_pin_mut() {
                Some(computing) => computing.poll(context),
                None => unreachable!("it is dropped last"),
            };
            if polled.is_ready() {
                // T5
                running.computing.set(None);
            }
            polled
        })
        .await
    }

    /// Runs the computation of a task, and ends with its outcome. `split` tells the value from the
    /// error.
    pub(crate) async fn make<F: Future, V, R, E>(
        self,
        pauses: bool,
        compute: impl FnOnce() -> F,
        split: impl FnOnce(F::Output) -> Result<V, E>,
        end: impl FnOnce(Self, Result<V, E>) -> Result<R, E>,
    ) -> Result<R, E> {
        // Dropped before `end`, which has the parts of the entry: their drop may run user code.
        let mut leader = self;
        let outcome = split(leader.run(pauses, compute).await);
        let _frame = leader.frame();
        end(leader, outcome)
    }

    /// Leaves without a value. The callers that wait get the error, if the node of the reservation
    /// is linked, and the inputs of the computation are `live`; otherwise the error may be out of
    /// date. The leader calls `live` when no further caller can begin to wait for the leader. So a
    /// caller that begins after the end of an input does not get the error.
    pub(crate) fn fail<E, Es: Errors<E>>(mut self, error: &E, live: impl FnOnce() -> bool) {
        let shares = Es::SHARED && self.is_linked();
        self.leave(|own| {
            if let Some(own) = own.filter(|_| shares && live()) {
                Es::leave(error, own);
            }
        });
    }

    /// Whether the node of the reservation is linked.
    fn is_linked(&self) -> bool {
        let pin = self.table.pin();
        // The destructors at the end of the pin might wait for the reservation.
        pin.leave_quietly();
        let own = Arc::as_ptr(self.reservation());
        let is_own = |node: &Node<S>| node.is_reserved_by(own);
        pin.get(self.hash.bits(), is_own).is_some()
    }

    /// Publishes the value, and returns the result that comes with the value; or, if another maker
    /// of the same reservation was faster, what `read` returns for that maker's value. The table
    /// does not keep the value either if the node of the reservation was removed or replaced
    /// meanwhile, nor if an object has died that the caller did not keep alive. `frame` is the
    /// frame of a [thread](Self::frame_of_thread). If the table keeps the value, `landed` may
    /// change the result, and then `leave` may leave the result to the callers that wait.
    #[inline]
    pub(crate) fn finish<R>(
        mut self,
        mut frame: Option<Frame>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: impl FnOnce() -> (MadeEntry<'a, S>, R),
        landed: impl FnOnce(&S::Watch, &mut R),
        leave: impl FnOnce(&Reservation, &R),
    ) -> R {
        // The edge lasts until the destructors at the end of the visit have run.
        let _edge = self.edge.take();
        let (table, hash, mut leader) = (self.table, self.hash, self);
        let ((key, watch, value), made) = made();
        let made = RefCell::new(made);
        let (mut landed, mut leave) = (Some(landed), Some(leave));
        let mut landed = |watch: &S::Watch| {
            if let Some(landed) = landed.take() {
                landed(watch, &mut made.borrow_mut());
            }
        };
        let mut leave = |own: &Reservation| {
            if let Some(leave) = leave.take() {
                leave(own, &made.borrow());
            }
        };
        let node = if watch.is_swept() || table.is_swept() {
            table.ready(hash, key, watch, value)
        } else {
            let make = || Node::new(hash, key, value, watch.into_inner());
            let own = Arc::as_ptr(leader.reservation());
            let is_own = |node: &Node<_>| node.is_reserved_by(own);
            let linked = |new: &Node<_>| new.watch().into_iter().for_each(&mut landed);
            let land = |old| leader.land(frame.take(), old, &mut leave);
            match table.nodes.publish(make, is_own, linked, land) {
                Ok(due) => {
                    table.reap(due);
                    return made.into_inner();
                }
                Err(node) => node,
            }
        };
        let other = leader.finish_unusual(read, node, landed, leave);
        table.tidy();
        match other {
            // T5
            Some(other) => {
                drop(made);
                other
            }
            None => made.into_inner(),
        }
    }

    /// As [`finish`](Self::finish), for any table. If another maker was faster, returns what `read`
    /// returns for the present value.
    #[cold]
    #[inline(never)]
    fn finish_unusual<R>(
        self,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: NewNode<'a, S>,
        landed: impl FnOnce(&S::Watch),
        leave: impl FnOnce(&Reservation),
    ) -> Option<R> {
        let table = self.table;
        table.change(Upkeep::Nothing, |change, other| {
            let mut node = made;
            let mut leader = self;
            *other = leader.put(change, &mut node, read, landed);
            if leader.stage == Stage::Landed {
                leader.land(None, None, leave);
            }
        })
    }

    /// A value has taken the place of the node, which is passed if no thread looks at it.
    fn land(
        &mut self,
        frame: Option<Frame>,
        old: Option<Node<S>>,
        leave: impl FnOnce(&Reservation),
    ) {
        self.stage = Stage::HandedOver;
        let Some(reservation) = self.reservation.take() else {
            unreachable!("a value takes the place of a node once");
        };
        match (old, frame, &self.role) {
            // J4
            (
                Some(Node::Reserved {
                    reservation: third,
                    key,
                    ..
                }),
                Some(frame),
                Role::Owner,
            ) if Reservation::is_unseen(&reservation) => {
                match frame.end() {
                    Some(second) => Reservation::keep([reservation, second, third]),
                    None => reservation.land(),
                }
                drop(key);
            }
            (_old, _frame, role) => {
                let mut panics = FirstPanic::default();
                if let Some(own) = role.own(&reservation) {
                    panics.catch(|| leave(own));
                }
                panics.catch(|| reservation.land());
                panics.resume();
            }
        }
    }

    /// Makes the value as a thread, and publishes the value. `entry` turns the value into an entry.
    #[cold]
    #[inline(never)]
    pub(super) fn make_apart<V, E, Es: Errors<E>>(
        leads: Leads<'a, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<V>,
        make: impl FnOnce() -> Result<V, E>,
        entry: impl FnOnce(&V) -> MadeEntry<'a, S>,
    ) -> Result<V, Failed<E>> {
        match make() {
            Ok(made) => Ok(Leader::finish_apart(leads, read, made, entry)),
            Err(error) => {
                // The end of the leader's pin may destroy entries removed by other threads, and a
                // destructor may panic.
                Leader::fail_apart::<E, Es>(leads, &error);
                Err(Failed::Error(error))
            }
        }
    }

    /// As [`finish`](Self::finish), for a thread.
    #[inline(never)]
    #[allow(
        clippy::boxed_local,
        reason = "a computation has only the box on its stack"
    )]
    fn finish_apart<R>(
        leads: Leads<'a, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        made: R,
        entry: impl FnOnce(&R) -> MadeEntry<'a, S>,
    ) -> R {
        let (leader, frame) = *leads;
        let made = || (entry(&made), made);
        leader.finish(frame, read, made, |_, _| (), |_, _| ())
    }

    /// As [`fail`](Self::fail), for a thread.
    #[inline(never)]
    #[allow(
        clippy::boxed_local,
        reason = "a computation has only the box on its stack"
    )]
    fn fail_apart<E, Es: Errors<E>>(leads: Leads<'a, S>, error: &E) {
        let (leader, _frame) = *leads;
        leader.fail::<E, Es>(error, || true);
    }

    /// Puts a node in the place of the node of the reservation. If another maker was faster,
    /// returns what `read` returns for the present value.
    fn put<R>(
        &mut self,
        change: &Change<'_, '_, S>,
        node: &mut NewNode<'_, S>,
        read: impl Fn(&S::Watch, &S::Value) -> Option<R>,
        landed: impl FnOnce(&S::Watch),
    ) -> Option<R> {
        let (table, mut there) = (self.table, None);
        // Whether an object has died that the caller did not keep alive. The table asks objects
        // that are not polled.
        if !(table.is_swept() && node.is_stale()) {
            let Some(reservation) = &self.reservation else {
                unreachable!("it has not landed");
            };
            let (own, stage) = (Arc::as_ptr(reservation), &mut self.stage);
            let is_own = |now: Option<&Node<_>>| {
                let live = now.and_then(Node::live).filter(|_| reservation.is_raced());
                there = live.and_then(|(watch, value)| read(watch, value));
                now.is_some_and(|now| now.is_reserved_by(own))
            };
            let mut new = None;
            let is_linked = |_: Option<&_>, node| (*stage, new) = (Stage::Landed, Some(node));
            if change.put(node, is_own, is_linked).is_some() {
                if let Some(watch) = new.and_then(Node::watch) {
                    landed(watch);
                }
                return None;
            }
        }
        self.stage = Stage::Counted;
        if there.is_none() {
            table.count(|counts| &counts.ended);
        }
        there
    }
}

impl<S: Compare> Drop for Leader<'_, S> {
    // Apart, as `lead` is.
    #[inline(never)]
    fn drop(&mut self) {
        self.leave(|_| ());
    }
}

impl<S: Compare> Leader<'_, S> {
    /// Ends the leader. If there is no value, `last` runs at a moment when no further caller can
    /// begin to wait for the leader, and the callers that wait have not gone on yet.
    fn leave(&mut self, last: impl FnOnce(Option<&Reservation>)) {
        let failed = match mem::replace(&mut self.stage, Stage::HandedOver) {
            Stage::HandedOver => return,
            Stage::Landed => return self.reservation().land(),
            Stage::Counted => false,
            Stage::Begun => true,
        };
        let (table, mut panics) = (self.table, FirstPanic::default());
        if failed {
            table.count(|counts| &counts.failures);
        }
        let (own, role) = (self.reservation(), &self.role);
        let closes = own.leave_or_close(role);
        let pin = closes.then(|| table.pin());
        if let Some(pin) = &pin {
            panics.catch(|| table.withdraw(pin, self.hash, own));
        }
        panics.catch(|| last(self.own().map(|own| &**own)));
        panics.catch(|| own.quit(role, closes));
        // Last: the end of the pin may run destructors that wait for threads waiting for this
        // reservation.
        panics.catch(|| drop(pin));
        if failed {
            panics.catch(|| table.tidy());
        }
        panics.resume();
    }
}
