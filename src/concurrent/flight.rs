//! Single flight: when several threads and tasks want the same value, the first makes the value,
//! and the rest wait.
//!
//! A *flight* is the making of one value. A thread that makes a value is the *leader* of its
//! flight; threads and tasks waiting for the flight are its *waiters*. A wait that would never end
//! gets an error instead. An example is a thread asking for a value that the thread itself is
//! making. The same holds for a value whose leader waits, perhaps through further threads, for the
//! asking thread.
//!
//! * **F1** A thread publishes its wait *before* the search for a cycle. So of the threads closing
//!   a cycle, the last thread to publish its wait sees the whole cycle. More threads may see the
//!   cycle too.
//! * **F2** A thread waits for a flight, not for a thread. A complete flight delays no thread,
//!   though its waiters may not have woken yet, and its leader may wait for a second flight by now.
//!   The time of a wait may be up, so each wait has a number. A thread that has seen a cycle looks
//!   again: the cycle is a true one if *afterwards* no flight of the cycle is complete, and no
//!   number has changed. Then, when the thread saw the last of the waits, each leader was at its
//!   flight, and each leader still waited (or was about to get its error).
//! * **F3** A flight on standby is linked, but its leader has yet to run further user code before
//!   the leader makes the value. A flight on standby delays no thread: before the leader waits for
//!   anything, the leader calls the flight off. A flight that is called off is complete, and the
//!   next thread that finds its node unlinks the node.
//! * **F4** A flight of tasks ([`work`](super::work)) has no leader. A thread that waits inside a
//!   poll of the flight starts a flight of its own, a *stand-in*, and completes the stand-in when
//!   the wait is over. So F2 holds for the flight of tasks, too.
//! * **F5** A task waiting for a thread is not in the graph of waits, since the task may give up.
//!   So the task looks for a cycle at each poll. A thread or task that begins to wait wakes tasks
//!   of each flight on which its wait depends through threads, and the woken tasks look then. Tasks
//!   of a flight in the middle of a poll are woken too, since the poll may have looked already. A
//!   waker may itself wait, and so change the published wait of the calling thread: then the thread
//!   begins once more.
//! * **F6** A task leaves its waker first, and decides afterwards whether to wait. A thread that
//!   ends the wait ends it first, and takes the wakers afterwards, under the same lock.
//! * **F7** A caller may insert a value in the place of a flight's node. The flight is complete for
//!   its waiters then: the waiters find the inserted value. The leader goes on, and ends the
//!   flight.
//!
//! No thread takes a lock while the thread holds a lock, and none runs user code under a lock,
//! wakers included. All shared state is under locks: no load could hide a second load from loom
//! (see `sync`).
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties
//! of Computer Systems", 1972.

#[cfg(all(test, weakly_loom))]
pub(super) mod models;
mod seat;
mod standby;

pub(crate) use seat::Seat;

use core::any::Any;
use core::cell::Cell;
use core::mem;
use core::ptr;
use core::task::Waker;
use std::sync::{Arc, Weak};
use std::task::Wake;
use std::time::Instant;
use std::vec;
use std::vec::Vec;

use super::gathered::Gathered;
use super::seats::{Place, Seats};
use crate::panics::{FirstPanic, wake_all};
use crate::sync::{
    AtomicUsize, Condvar, Exclusive, Mutex, MutexGuard, Ordering::Relaxed, Own, make_room,
    thread_local,
};

/// A value that is being made.
pub(crate) struct Making {
    /// The first flight of the leader, if the leader has an earlier flight (see [`FLIGHTS`]).
    first: Option<Arc<Making>>,
    /// In a first flight: the wait of its leader.
    waits_for: Mutex<Wait>,
    status: Mutex<Status>,
    completion: Condvar,
    /// In a flight of tasks.
    joint: Option<Joint>,
}

/// F2
#[derive(Default)]
struct Wait {
    /// Changes with each beginning and each end.
    number: usize,
    flight: Option<Arc<Making>>,
}

struct Status {
    /// No thread sleeps for the flight any more.
    complete: bool,
    /// The leader has ended the flight.
    ended: bool,
    /// While the flight is on standby: the flight put on standby before by the same thread (F3).
    outer: Option<Arc<Making>>,
    /// The number of threads sleeping until the flight is complete. (A notification without
    /// sleepers would be a system call all the same.)
    sleepers: usize,
    tasks: Seats,
}

/// The part of a flight that tasks make together. The table has a handle to the flight, and so has
/// the waker of the computation. Neither handle keeps the computation alive.
pub(crate) struct Joint {
    /// The stand-in of a thread that waits inside a poll of the flight (F4).
    polled_by: Mutex<Option<Arc<Making>>>,
    /// The [mark](MARK) of the thread that polls the flight, or zero. A thread compares the mark
    /// with its own mark.
    poller: AtomicUsize,
    pub(super) work: Weak<dyn AnyWork>,
    /// The objects on which the value depends besides its key, until the flight's node has left the
    /// table: see [`Dependencies`](super::work::Dependencies).
    pub(super) gathered: Mutex<Option<Gathered>>,
}

/// A computation of tasks ([`work`](super::work)), without its types.
pub(super) trait AnyWork: Send + Sync {
    fn is_stale(&self) -> bool;
    /// For the collection, which knows the types.
    fn as_any(self: Arc<Self>) -> Arc<dyn Any + Send + Sync>;
}

/// Why a wait has ended before the flight is complete.
#[derive(Debug, PartialEq)]
pub(crate) enum WaitError {
    /// The thread would wait for itself.
    Cycle,
    /// The time is up.
    TimedOut,
}

/// The first flight of a thread, and the number of its flights that have not ended.
type Flights = Own<Option<(Arc<Making>, usize)>>;

thread_local! {
    /// The flights of the current thread. While there are some, the first flight stands for the
    /// thread in the graph. No thread can wait for a thread without flights. Without flights, the
    /// thread-local owns nothing.
    static FLIGHTS: Flights = const { Own::new(None) };
    /// The address of this mark stands for the thread.
    static MARK: u8 = const { 0 };
    /// The flights that the current thread polls: each poll is within the poll before it in the
    /// list.
    static POLLING: Own<Vec<Arc<Making>>> = const { Own::new(Vec::new()) };
}

fn push(flights: &Own<Vec<Arc<Making>>>, flight: &Arc<Making>) {
    let flight = Arc::clone(flight);
    flights.with_room(
        |all, memory| make_room(all, 1, memory),
        |all, _| all.push(flight),
    );
}

/// Whether a list has room for the given number of wakers.
fn has_room(list: &mut Vec<Waker>, count: usize) -> Result<(), usize> {
    match list.capacity() < count {
        true => Err(count),
        false => Ok(()),
    }
}

/// Takes the memory of an empty list out. The caller frees the memory.
fn take_if_empty(flights: &mut Vec<Arc<Making>>) -> Vec<Arc<Making>> {
    match flights.is_empty() {
        true => mem::take(flights),
        false => Vec::new(),
    }
}

/// A number that differs from the number of every other living thread.
fn mark() -> usize {
    MARK.with(|mark| ptr::from_ref(mark).addr())
}

impl Making {
    fn new(joint: Option<Joint>) -> Self {
        Making {
            first: None,
            waits_for: Mutex::new(Wait::default()),
            status: Mutex::new(Status {
                complete: false,
                ended: false,
                outer: None,
                sleepers: 0,
                tasks: Seats::new(),
            }),
            completion: Condvar::new(),
            joint,
        }
    }

    /// Starts a flight of the current thread. The thread has to [`complete`](Self::complete) the
    /// flight whatever happens.
    pub(crate) fn start() -> Arc<Self> {
        let mut flight = Making::new(None);
        flight.first = Self::of_this_thread();
        let flight = Arc::new(flight);
        FLIGHTS.with(|flights| match &mut *flights.enter() {
            Some((_, count)) => *count += 1,
            none => *none = Some((Arc::clone(&flight), 1)),
        });
        flight
    }

    /// Starts a flight of tasks.
    pub(super) fn of_work(work: Weak<dyn AnyWork>) -> Arc<Self> {
        Arc::new(Making::new(Some(Joint {
            polled_by: Mutex::new(None),
            poller: AtomicUsize::new(0),
            work,
            gathered: Mutex::new(Some(Gathered::default())),
        })))
    }

    pub(super) fn joint(&self) -> Option<&Joint> {
        self.joint.as_ref()
    }

    /// The computation of tasks, while it is there.
    pub(super) fn work(&self) -> Option<std::sync::Arc<dyn AnyWork>> {
        self.joint.as_ref()?.work.upgrade()
    }

    /// Whether a caller that wants the value has to wait for the flight: the flight is not
    /// complete, and its object is not dead.
    pub(super) fn is_in_the_way(&self) -> bool {
        !self.is_complete() && !self.work().is_some_and(|work| work.is_stale())
    }

    #[inline]
    pub(super) fn is_of_tasks(&self) -> bool {
        self.joint.is_some()
    }

    /// Takes the dependencies of the value out. No dependency is added from then on.
    #[cold]
    #[inline(never)]
    pub(super) fn close(&self) -> Gathered {
        let joint = self.joint.as_ref();
        let gathered = joint.and_then(|joint| joint.gathered.replace(None));
        gathered.unwrap_or_default()
    }

    /// The flight that stands for the leader.
    fn leader(this: &Arc<Self>) -> &Arc<Self> {
        this.first.as_ref().unwrap_or(this)
    }

    /// The flight that stands for the current thread.
    pub(super) fn of_this_thread() -> Option<Arc<Self>> {
        FLIGHTS.with(|flights| {
            let flights = flights.enter();
            flights.as_ref().map(|(first, _)| Arc::clone(first))
        })
    }

    /// Ends the flight: the value is there, or there will be none. All waiters go on.
    ///
    /// # Panics
    /// If a waker does.
    pub(crate) fn complete(&self) {
        wake_all(self.end().into_iter().filter_map(Place::into_waker));
    }

    /// Ends the flight like `complete`, but leaves the wakers of the tasks to the caller.
    #[must_use]
    fn end(&self) -> Vec<Place> {
        let mut status = self.status.lock();
        let had_ended = mem::replace(&mut status.ended, true);
        let places = self.complete_with(status);
        if !had_ended && !self.is_of_tasks() {
            let ended = FLIGHTS.with(|flights| {
                let mut flights = flights.enter();
                let (_, count) = flights.as_mut()?;
                *count -= 1;
                if *count == 0 { flights.take() } else { None }
            });
            drop(ended);
        }
        places
    }

    fn complete_with(&self, mut status: MutexGuard<'_, Status>) -> Vec<Place> {
        status.complete = true;
        // F6
        let places = status.tasks.take();
        let sleepers = status.sleepers;
        drop(status);
        if sleepers != 0 {
            self.completion.notify_all();
        }
        places
    }

    /// Completes the flight for its waiters, not for its leader.
    ///
    /// # Panics
    /// If a waker does, unless the thread is panicking.
    #[cold]
    fn wake_waiters(&self) {
        let places = self.complete_with(self.status.lock());
        wake_all(places.into_iter().filter_map(Place::into_waker));
    }

    pub(super) fn is_complete(&self) -> bool {
        self.status.lock().complete
    }

    /// Waits until the flight is complete, or until a given time.
    pub(crate) fn wait(this: &Arc<Self>, until: Option<Instant>) -> Result<(), WaitError> {
        Self::call_off();
        // Both guards end even if a waker panics, the stand-in last.
        let stand_in = StandIn::for_polls();
        let Some(waiting) = Self::of_this_thread().map(Waiting) else {
            return this.sleep(until);
        };
        loop {
            let (number, cycle, way) = waiting.begin(this);
            if cycle {
                return Err(WaitError::Cycle);
            }
            // F5. A waker may do anything, including a wait.
            Self::have_looked(&way);
            if waiting.0.waits(number) {
                return this.sleep(until);
            }
            stand_in.iter().for_each(StandIn::show);
        }
    }

    fn sleep(&self, until: Option<Instant>) -> Result<(), WaitError> {
        let mut status = self.status.lock();
        status.sleepers += 1;
        // A loop, since a wait may end spuriously. (Waits of loom never do.)
        while !status.complete {
            let left = until.map(|until| until.saturating_duration_since(Instant::now()));
            if left.is_some_and(|left| left.is_zero()) {
                break;
            }
            status = self.completion.wait(status, left);
        }
        status.sleepers -= 1;
        match status.complete {
            true => Ok(()),
            false => Err(WaitError::TimedOut),
        }
    }

    /// Whether the flight cannot complete before a certain leader goes on; and the flights on which
    /// the given flight depends.
    fn leads_to(this: &Arc<Self>, is_end: impl Fn(&Arc<Self>) -> bool) -> (bool, Vec<Arc<Self>>) {
        let (mut way, mut waits) = (vec![Arc::clone(this)], Vec::new());
        while let Some(last) = way.last() {
            let leader = Self::leader(last);
            if is_end(leader) {
                // F2
                let is_over = way.iter().any(|flight| flight.is_complete())
                    || (waits.iter())
                        .any(|(leader, number): &(Arc<Self>, _)| !leader.waits(*number));
                return (!is_over, way);
            }
            let next = match &leader.joint {
                Some(joint) => joint.polled_by.lock().clone(),
                None => {
                    let wait = leader.waits_for.lock();
                    let (flight, number) = (wait.flight.clone(), wait.number);
                    drop(wait);
                    waits.push((Arc::clone(leader), number));
                    flight
                }
            };
            match next {
                // The threads of a cycle without the current thread find their cycle themselves.
                Some(next) if !way.iter().any(|flight| Arc::ptr_eq(flight, &next)) => {
                    way.push(next)
                }
                _ => break,
            }
        }
        (false, way)
    }

    /// Whether the thread represented by the flight is still at the wait with the given number.
    fn waits(&self, number: usize) -> bool {
        self.waits_for.lock().number == number
    }

    /// F5: wakes tasks waiting for the flights, so that the tasks look for a cycle.
    ///
    /// # Panics
    /// If a waker does.
    fn have_looked(way: &[Arc<Self>]) {
        let mut panics = FirstPanic::default();
        for tasks in way.iter().filter(|flight| flight.is_of_tasks()) {
            panics.catch(|| tasks.wake_next());
        }
        panics.resume();
    }

    /// Whether a task polled on the current thread cannot wait for the flight, because the current
    /// thread leads the flight, or polls a flight on which the given flight depends. Also returns
    /// the flights on which the given flight depends.
    fn delays_itself(this: &Arc<Self>) -> (bool, Vec<Arc<Self>>) {
        let me = Self::of_this_thread();
        let is_end = |leader: &Arc<Self>| {
            leader.is_polled_here() || me.as_ref().is_some_and(|me| Arc::ptr_eq(leader, me))
        };
        Self::leads_to(this, is_end)
    }

    /// Whether the current thread polls a flight.
    fn is_polling() -> bool {
        POLLING.with(|all| !all.enter().is_empty())
    }

    /// Whether the current thread polls the flight.
    pub(super) fn is_polled_here(&self) -> bool {
        // Relaxed: the current thread has written its own mark; any different value is the mark of
        // a different thread.
        let poller = |joint: &Joint| joint.poller.load(Relaxed);
        self.joint.as_ref().map(poller) == Some(mark())
    }

    /// Runs a poll of the flight.
    pub(super) fn poll<R>(this: &Arc<Self>, poll: impl FnOnce() -> R) -> R {
        struct Polled;
        impl Drop for Polled {
            fn drop(&mut self) {
                let ended = POLLING.with(|all| {
                    let mut all = all.enter();
                    (all.pop(), take_if_empty(&mut all))
                });
                drop(ended);
            }
        }
        POLLING.with(|all| push(all, this));
        let _polled = Polled;
        let _poller = this.joint.as_ref().map(Poller::begin);
        poll()
    }

    /// Wakes the tasks in the given seats; the woken tasks owe a poll. (A seat may have a new owner
    /// by now, or belong to a flight that was called off: then the wake is for nothing, or wakes no
    /// task.)
    pub(super) fn wake(&self, seats: Vec<u32>) {
        if seats.is_empty() {
            return;
        }
        let mut wakers = Vec::with_capacity(seats.len());
        let mut status = self.status.lock();
        wakers.extend(seats.iter().filter_map(|at| status.tasks.empty(*at)));
        drop(status);
        self.have_polled(wakers);
    }

    /// Wakes a task for a wake of the computation.
    fn wake_next(&self) {
        let (first, others) = self.status.with_room(
            |status, others| has_room(others, status.tasks.others()),
            |status, others| (status.tasks.next(others), mem::take(others)),
        );
        self.have_polled(first.into_iter().chain(others));
    }

    /// Wakes tasks, at least one of which has to poll. If a waker panics, its task may not poll:
    /// then all remaining tasks are woken, too.
    fn have_polled(&self, wakers: impl IntoIterator<Item = Waker>) {
        let mut panics = FirstPanic::default();
        panics.wake_each(wakers);
        if panics.is_some() {
            let others = self.status.with_room(
                |status, others| has_room(others, status.tasks.count()),
                |status, others| {
                    status.tasks.all(others);
                    mem::take(others)
                },
            );
            panics.wake_each(others);
        }
        panics.resume();
    }
}

/// The waker of the computation: it wakes a task, and the task polls the computation (A2).
impl Wake for Making {
    fn wake(self: Arc<Self>) {
        self.wake_next();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_next();
    }
}

/// The guard of a thread that polls a flight. At most one thread polls a flight at a time.
struct Poller<'f> {
    joint: &'f Joint,
    before: usize,
}

impl<'f> Poller<'f> {
    fn begin(joint: &'f Joint) -> Self {
        // Relaxed: the caller has taken the computation after the last thread gave it back.
        let before = joint.poller.swap(mark(), Relaxed);
        Poller { joint, before }
    }
}

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.joint.poller.store(self.before, Relaxed);
    }
}

/// F7: the flight whose node a value has replaced, if there is one. The drop of the guard lets the
/// waiters of a thread go on, also if the operation panics: then the panic of a waker is dropped.
/// (Tasks making a value together go on making the value.)
#[derive(Default)]
pub(super) struct Overtaken(Cell<Option<Arc<Making>>>);

impl Overtaken {
    /// Notes the flight of the replaced node.
    #[inline]
    pub(super) fn set(&self, flight: Option<Arc<Making>>) {
        self.0.set(flight.filter(|flight| !flight.is_of_tasks()));
    }

    /// # Panics
    /// If a waker does.
    #[inline]
    pub(super) fn wake(self) {
        let flight = self.0.take();
        mem::forget(self);
        if let Some(flight) = flight {
            flight.wake_waiters();
        }
    }
}

impl Drop for Overtaken {
    fn drop(&mut self) {
        if let Some(flight) = self.0.take() {
            flight.wake_waiters();
        }
    }
}

/// The flight that stands for the current thread, while the thread waits.
struct Waiting(Arc<Making>);

impl Waiting {
    /// Begins the wait. Returns the number of the wait, whether the wait closes a cycle, and the
    /// flights on which the wait depends.
    fn begin(&self, flight: &Arc<Making>) -> (usize, bool, Vec<Arc<Making>>) {
        // F1
        let number = self.set(Some(Arc::clone(flight)));
        let (cycle, way) = Making::leads_to(flight, |leader| Arc::ptr_eq(leader, &self.0));
        (number, cycle, way)
    }

    fn set(&self, flight: Option<Arc<Making>>) -> usize {
        let mut wait = self.0.waits_for.lock();
        let number = wait.number.wrapping_add(1);
        let old = mem::replace(&mut *wait, Wait { flight, number });
        drop(wait);
        drop(old);
        number
    }
}

impl Drop for Waiting {
    fn drop(&mut self) {
        self.set(None);
    }
}

/// The stand-in of the current thread, while the thread waits within polls (F4).
struct StandIn(Arc<Making>);

impl StandIn {
    fn for_polls() -> Option<Self> {
        Making::is_polling().then(|| {
            let this = StandIn(Making::start());
            this.show();
            this
        })
    }

    fn show(&self) {
        self.set(Some(&self.0));
    }

    fn set(&self, stand_in: Option<&Arc<Making>>) {
        POLLING.with(|all| {
            for joint in all.enter().iter().filter_map(|one| one.joint.as_ref()) {
                // (The old stand-in has a second owner: nothing is freed here.)
                drop(joint.polled_by.replace(stand_in.cloned()));
            }
        });
    }
}

impl Drop for StandIn {
    fn drop(&mut self) {
        self.set(None);
        self.0.complete();
    }
}
