//! Values that tasks make together: the computation belongs to all waiting tasks, and each polled
//! task polls the computation. The table refers to the computation weakly.
//!
//! * **A1** The flight's node leads to the *work*, and does not own the work. The work has owners
//!   ([`held`](super::held)), each of which borrows the collection. The last owner to leave
//!   destroys the computation, and unlinks the node. So a task that leaves hands nothing over, and
//!   nothing is left of a computation without waiting tasks.
//! * **A2** The waker of the computation wakes a single task, the task polled last. If all waiting
//!   tasks were polled within other computations, the waker wakes all of them: each leads to tasks
//!   waiting for the outer computation, except a task inside a computation that this computation
//!   needs, which leads back. If a woken task leaves before it has polled the computation, more
//!   tasks are woken in the same way (see [`Seat`]). If a waker panics, its task was perhaps not
//!   woken, and all remaining tasks are woken. The waker leads to the flight and not to the work:
//!   otherwise a computation that keeps its waker would keep itself alive.
//! * **A3** All waiting tasks get the result of the computation, whether or not the table keeps the
//!   entry. The error of the computation, or its panic, goes to the task whose closure made the
//!   computation, if the task still waits; the remaining tasks look anew. A panic of the code that
//!   makes the entry counts as a panic of the computation.
//! * **A4** A watch on a further object depends on the core of the table. The core counts the watch
//!   while the flight's node is in the table, or waits in the table for its end; the end of the
//!   node closes the list of watches. So the core is there from then on, also if a flight was
//!   forgotten and its [`Dependencies`] go on. A watch that finds the list closed at its
//!   registration ends at once.
//! * **A5** Nothing keeps the objects of the key alive. An object without a pinned address may die
//!   meanwhile, and a new object may take its address. A caller that finds the flight then has a
//!   handle to the new object: the flight is [stale](Plan::is_stale), and delays no caller.
//! * **A6** The computation is destroyed before its flight is complete, so no second computation of
//!   the same key is at work then. Meanwhile the flight is on standby (F3): if the destructor asks
//!   for the same key, the making begins anew.
//! * **A7** From the last poll of the computation to the end of the flight, only the polling thread
//!   can go on. User code in between counts as part of the poll: a request for the value by this
//!   user code is a cycle, and does not wait for the flight. Wakers run after the end.
//! * **A8** A flight may be called off before the computation begins. The computation then begins
//!   with a new flight. A task that has joined by the first flight leaves. The task never polls for
//!   the first flight, which would wake no task: the first flight is complete before there is a
//!   computation to poll.

use core::any::Any;
use core::fmt;
use core::future::Future;
use core::panic::AssertUnwindSafe;
use core::pin::Pin;
use core::task::{Context, Poll, Waker};
use std::boxed::Box;
use std::panic::catch_unwind;
use std::sync::Arc;
use std::thread;

use super::super::flight::{AnyWork, Making, Seat};
use super::super::gathered::Gathered;
use super::super::making::{Leader, Stage};
use super::super::node::Compare;
use super::super::schema::Schema;
use super::super::table::Table;
use super::super::watch::{AnyWatch, SharedKey, SharedWatchFor, Unplaced, WatchesOne};
use super::held::{Found, Held};
use crate::hash::HashValue;
use crate::panics::FirstPanic;
use crate::ptr::CoreRef;
use crate::sync::{Exclusive, Mutex};

/// How a collection makes an entry of the result of tasks.
pub(crate) trait Plan: Send + 'static {
    /// The collection.
    type Owner: Sync + 'static;
    type Schema: Compare<Probe: Clone + Send + Sync + 'static>;
    /// The result for the tasks.
    type Made: Clone + Send + Sync + 'static;

    fn table(owner: &Self::Owner) -> &Table<Self::Schema>;
    fn read(watch: &Watch<Self>, value: &Value<Self>) -> Option<Self::Made>;
    fn entry(
        self,
        made: &Self::Made,
        hash: HashValue,
        core: CoreRef,
        gathered: Gathered,
    ) -> (Unplaced<'static, Watch<Self>>, Value<Self>);
    /// Whether an object of the key is dead, and its address may belong to a new object by now.
    /// Runs no code of users.
    fn is_stale(&self) -> bool {
        false
    }
    /// Notes that a computation has begun.
    fn begun(_: &Self::Owner) {}
    /// Notes that a task has got a present value, or the result of a computation begun by a
    /// different task.
    fn found(_: &Self::Owner) {}
    /// Panics, because the making of a value asked for the same value.
    fn cycle() -> !;
}

type Probe<P> = <<P as Plan>::Schema as Schema>::Probe;
type Watch<P> = <<P as Plan>::Schema as Schema>::Watch;
type Value<P> = <<P as Plan>::Schema as Schema>::Value;

/// The error of a computation.
pub(crate) type Error = Box<dyn Any + Send>;

/// A3: the error of a computation, or its panic.
pub(in super::super) type Failure = thread::Result<Error>;

/// A computation that runs.
pub(crate) type Running<V> = Pin<Box<dyn Future<Output = Result<V, Error>> + Send>>;

/// A computation whose error has no type. The first poll calls the closure.
pub(crate) fn running<V, E: Send + 'static, Fut>(
    compute: impl FnOnce() -> Fut + Send + 'static,
) -> Running<V>
where
    Fut: Future<Output = Result<V, E>> + Send + 'static,
{
    Box::pin(async move {
        let made = compute().await;
        made.map_err(|error| Box::new(error) as Error)
    })
}

/// The outcome for the caller that has passed a computation that cannot fail.
#[inline]
pub(crate) fn infallible<V>(made: Result<V, Error>) -> V {
    match made {
        Ok(made) => made,
        Err(_) => unreachable!("it cannot fail"),
    }
}

/// The outcome for the caller that has passed a computation that fails with an `E`.
#[inline]
pub(crate) fn fallible<V, E: 'static>(made: Result<V, Error>) -> Result<V, E> {
    made.map_err(|error| match error.downcast() {
        Ok(error) => *error,
        Err(_) => unreachable!("it fails with an `E`"),
    })
}

/// A computation, or the place of a computation that has not begun.
pub(crate) struct Work<P: Plan> {
    pub(super) hash: HashValue,
    pub(super) key: Probe<P>,
    /// Present until there is an entry, or until it is certain that there will be none.
    plan: Mutex<Option<P>>,
    held: Held<Begun<P::Made>, Arc<P::Made>>,
    /// A3
    failure: Mutex<Option<Failure>>,
}

/// A computation, and the flight with which the computation has begun (A8).
type Begun<V> = (Running<V>, Arc<Making>);

/// The outcome of a poll: the value, or the failure of the task's own computation. `None` if the
/// computation makes no value, and a further computation may.
pub(in super::super) type Polled<V> = Poll<Option<Result<V, Failure>>>;

impl<P: Plan> AnyWork for Work<P> {
    fn is_stale(&self) -> bool {
        self.plan.lock().as_ref().is_some_and(P::is_stale)
    }

    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync> {
        self
    }
}

impl<P: Plan> Work<P> {
    /// The work of a task, which has not begun.
    pub(crate) fn new(hash: HashValue, key: Probe<P>, plan: P) -> Arc<Self> {
        Arc::new(Work {
            hash,
            key,
            plan: Mutex::new(Some(plan)),
            held: Held::new(),
            failure: Mutex::new(None),
        })
    }

    /// Joins the computation of a flight, if there is a computation: the caller becomes an owner.
    pub(in super::super) fn join(flight: &Making) -> Option<Arc<Self>> {
        let work = flight.work()?.as_any().downcast::<Self>();
        work.ok().filter(|work| work.held.join())
    }

    /// Begins the computation.
    pub(super) fn begin(&self, running: Running<P::Made>, flight: &Arc<Making>) {
        // Other tasks may have found the computation already.
        flight.wake(self.held.give_back((running, Arc::clone(flight))));
    }

    /// Polls the computation for an owner that waits for the flight.
    pub(in super::super) fn poll(
        &self,
        flight: &Arc<Making>,
        seat: &mut Option<Seat>,
        is_own: bool,
        owner: &P::Owner,
        context: &mut Context<'_>,
    ) -> Polled<P::Made> {
        if flight.is_polled_here() {
            P::cycle();
        }
        let mut complete = Seat::take(seat, flight, context.waker());
        loop {
            if complete {
                // The computation has no result, or the flight was called off before the
                // computation began.
                let made = self.held.result().map(|made| P::Made::clone(&made));
                return Poll::Ready(self.outcome(made, is_own, owner));
            }
            match self.held.take() {
                Found::Taken((running, begun)) if flight.is_over_for_tasks() => {
                    // A8
                    self.begin(running, &begun);
                    complete = true;
                }
                Found::Taken((running, _)) => {
                    return self.advance(running, flight, seat.as_ref(), is_own, owner);
                }
                Found::Refused => {
                    let waits = seat.as_ref().filter(|seat| self.held.wait(seat.at()));
                    if let Some(seat) = waits {
                        seat.owe();
                        return Poll::Pending;
                    }
                }
                // The flight is about to complete, or its computation is being destroyed.
                Found::Over => match Seat::wait(seat, flight, context.waker()) {
                    Poll::Pending => return Poll::Pending,
                    Poll::Ready(Err(_)) => P::cycle(),
                    Poll::Ready(Ok(())) => complete = true,
                },
            }
        }
    }

    /// Removes an owner. The last owner destroys the computation, so user code may run (A1).
    pub(in super::super) fn leave(&self, owner: &P::Owner) {
        if let Some((running, flight)) = self.held.leave() {
            self.abandon(running, &flight, owner);
        }
    }

    /// Polls the computation, which belongs to the caller meanwhile.
    fn advance(
        &self,
        mut running: Running<P::Made>,
        flight: &Arc<Making>,
        seat: Option<&Seat>,
        is_own: bool,
        owner: &P::Owner,
    ) -> Polled<P::Made> {
        let polled = catch_unwind(AssertUnwindSafe(|| {
            Making::poll(flight, || {
                let waker = Waker::from(Arc::clone(flight));
                running.as_mut().poll(&mut Context::from_waker(&waker))
            })
        }));
        let made = match polled {
            Ok(Poll::Pending) => {
                // O1
                self.begin(running, flight);
                return Poll::Pending;
            }
            Ok(Poll::Ready(made)) => made.map_err(Ok),
            Err(payload) => Err(Err(payload)),
        };
        let mut panics = FirstPanic::default();
        // The end does not wake the own task. The waker is user code, which may wait for the end
        // (A7).
        let waker = seat.and_then(Seat::silence);
        let mut shared = None;
        match made {
            Ok(made) => {
                panics.catch(|| self.publish(made, flight, owner, &mut shared));
                panics.catch(|| drop(running));
            }
            Err(failure) => {
                self.fail(failure);
                panics.catch(|| self.abandon(running, flight, owner));
            }
        }
        panics.catch(|| drop(waker));
        panics.resume();
        Poll::Ready(self.outcome(shared, is_own, owner))
    }

    /// A3: the outcome for a task: the result, or else the failure of the task's own computation.
    fn outcome(
        &self,
        made: Option<P::Made>,
        is_own: bool,
        owner: &P::Owner,
    ) -> Option<Result<P::Made, Failure>> {
        if made.is_some() && !is_own {
            P::found(owner);
        }
        let failure = || is_own.then(|| self.failure.replace(None)).flatten();
        made.map(Ok).or_else(|| failure().map(Err))
    }

    /// A3: ends the computation without a result.
    fn fail(&self, failure: Failure) {
        drop(self.failure.replace(Some(failure)));
        self.held.fail();
    }

    /// Makes the entry, gives the result to the other tasks, and completes the flight. `shared` is
    /// for the polling task. If user code panics before the end, the computation has no result
    /// (A3), though the entry may be there.
    fn publish(
        &self,
        made: P::Made,
        flight: &Arc<Making>,
        owner: &P::Owner,
        shared: &mut Option<P::Made>,
    ) {
        let table = P::table(owner);
        let leader = Leader::new(table, self.hash, Arc::clone(flight), Stage::Begun);
        let plan = self.plan.replace(None).expect("it ends once");
        let entry = || {
            // The handle of a user makes a weak handle.
            let (watch, stored) = plan.entry(&made, self.hash, table.core(), flight.close());
            (P::Schema::key(&self.key), watch, stored, made)
        };
        leader.publish(entry, |made| {
            match made.and_then(|made| self.share(made, flight)) {
                Ok(made) => *shared = Some(made),
                Err(payload) => self.fail(Err(payload)),
            }
        });
    }

    /// Gives the result to the other tasks.
    fn share(&self, made: P::Made, flight: &Arc<Making>) -> thread::Result<P::Made> {
        // Clones are user code (A7), and come before the computation ends.
        let share = || {
            let mut shared = None;
            while !self.held.end(shared) {
                shared = Some(Arc::new(made.clone()));
            }
            made
        };
        catch_unwind(AssertUnwindSafe(|| Making::poll(flight, share)))
    }

    /// Destroys the computation, and completes the flight without a result (A6).
    fn abandon(&self, running: Running<P::Made>, flight: &Arc<Making>, owner: &P::Owner) {
        let mut panics = FirstPanic::default();
        let standby = Making::stand_by(flight);
        panics.catch(|| drop(running));
        drop(standby);
        let table = P::table(owner);
        let leader = Leader::new(table, self.hash, Arc::clone(flight), Stage::Begun);
        panics.catch(|| drop(leader));
        panics.resume();
    }
}

/// The further objects on which a result computed by tasks depends, besides its key.
/// [`Memo::get_or_compute_async`](crate::Memo::get_or_compute_async) passes the `Dependencies` to
/// the closure.
pub struct Dependencies {
    flight: Arc<Making>,
    hash: HashValue,
    core: CoreRef,
}

impl Dependencies {
    pub(crate) fn new(flight: Arc<Making>, hash: HashValue, core: CoreRef) -> Self {
        Dependencies { flight, hash, core }
    }

    /// Makes the result depend on one more object: the memo drops the result when the object dies,
    /// at the latest. O(1) amortised. Like
    /// [`Computation::depends_on`](crate::memo::Computation::depends_on), but on any thread. After
    /// the end of the computation the call does nothing.
    ///
    /// If the object dies before the computation ends, or is [invalidated](crate::Memo::invalidate)
    /// from now on, the waiting flights get the result, and the result is not kept.
    pub fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is a user's, and a registration allocates: under no lock.
        let (watched, watch) = SharedWatchFor::<P>::any(object);
        let Some(joint) = self.flight.joint() else {
            return;
        };
        // A4
        let wants = |gathered: &&mut Gathered| !gathered.has(watched);
        let count = |_: &mut Gathered| self.core.count();
        let Some(counted) = joint.gathered.lock().as_mut().filter(wants).map(count) else {
            return;
        };
        let mut watch = Some(watch(self.hash, counted));
        joint.gathered.with_room(
            |gathered, room| match gathered {
                Some(gathered) => gathered.make_room(room),
                None => Ok(()),
            },
            |gathered, _| {
                // Another thread may have declared the object meanwhile.
                if let Some(gathered) = gathered.as_mut().filter(wants) {
                    watch
                        .take()
                        .into_iter()
                        .for_each(|watch| gathered.push(watched, watch));
                }
            },
        );
        watch.into_iter().for_each(AnyWatch::leave);
    }
}

impl fmt::Debug for Dependencies {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Dependencies").finish_non_exhaustive()
    }
}
