//! Single flight: of several threads and tasks that want the same value made, one makes it and the others wait.
//!
//! What would wait for itself gets an error instead: a thread that asks for what it is making, and one that asks for what
//! another thread is making that waits, perhaps through more threads, for the first.
//!
//! * **F1** A thread publishes what it waits for *before* it checks whether that closes a cycle. So of the threads
//!   that close one, the last to publish sees it whole; perhaps another sees it too.
//! * **F2** A thread waits for a flight, not for a thread. A flight that is complete delays no thread, though its
//!   waiters may not have woken yet, and its leader may wait for something else by now. And the time of a wait may be up: each
//!   wait has a number. So the cycle that was seen is a true one if *afterwards* none of its flights is complete, and no number has
//!   changed: then, when the last of its waits was seen, each leader was at that flight, and each still waited (or was about to
//!   get its error).
//! * **F3** A flight on standby, whose value is not being made yet, or not any more, delays no thread: before its leader waits
//!   for anything, the flight is called off. It is complete then, and whoever finds it removes it.
//! * **F4** What tasks make together ([`work`](super::work)) has no leader. A thread that waits while it polls such a flight
//!   says so by a flight of its own, a *stand-in*, which is complete when it goes on. So F2 holds of that, too.
//! * **F5** A task that waits for a thread is not in this graph: it may give up. So it looks for a cycle each time when it is
//!   polled. And whoever begins to wait, a thread or a task, wakes tasks of each flight on which that depends through threads,
//!   which look then: also if such a flight is being polled, since that poll has perhaps looked already. If a waker waits itself,
//!   for which this thread waits for something else meanwhile, the thread begins once more.
//! * **F6** A task leaves its waker first, and then looks whether it has to wait. Who ends that wait does so first, and then
//!   takes the wakers, under the same lock.
//! * **F7** A flight whose node a value has replaced, which another caller has inserted, is complete for those that wait: they
//!   find that value. Its leader goes on, and ends it.
//!
//! No lock is taken while another is locked, and none is locked while user code runs, wakers among it. All shared state is
//! under locks: there is no load that could hide another one from loom (see `sync`).
//!
//! To detect deadlocks by the cycles of the wait-for graph: R. C. Holt, "Some Deadlock Properties of Computer
//! Systems", 1972.

#[cfg(all(test, weakly_loom))]
pub(super) mod models;
mod seat;
mod standby;

pub(crate) use seat::Seat;

use core::any::Any;
use core::mem;
use core::ptr;
use core::task::{Context, Waker};
use std::boxed::Box;
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
    /// The first flight of its leader, if that is another (see [`FLIGHTS`]).
    first: Option<Arc<Making>>,
    /// In a first flight: what its leader waits for.
    waits_for: Mutex<Wait>,
    status: Mutex<Status>,
    completion: Condvar,
    /// If tasks make it together.
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
    /// No thread sleeps for it any more.
    complete: bool,
    /// Its leader has ended it.
    ended: bool,
    /// While it is on standby: the flight that its thread has put on standby before (F3).
    outer: Option<Arc<Making>>,
    /// How many threads sleep until it is complete. To wake none would be a system call all the same.
    sleepers: usize,
    tasks: Seats,
}

/// What tasks make together. The table has this, and so has the waker that the computation gets; neither keeps that.
pub(crate) struct Joint {
    /// The stand-in of a thread that polls it, and waits meanwhile (F4).
    polled_by: Mutex<Option<Arc<Making>>>,
    /// The [mark](MARK) of the thread that polls it, or zero: only whether that is the own one counts.
    poller: AtomicUsize,
    pub(super) work: Weak<dyn AnyWork>,
    /// What the value depends on besides its key, until the flight's node has left the table: see
    /// [`Dependencies`](super::work::Dependencies).
    pub(super) gathered: Mutex<Option<Gathered>>,
}

/// Why a wait has ended though the flight is not complete.
#[derive(Debug, PartialEq)]
pub(crate) enum Unmet {
    /// It would wait for itself.
    Cycle,
    /// The time is up.
    TimedOut,
}

/// The first of a thread's flights, and how many of them are not complete.
type Flights = Own<Option<(Arc<Making>, usize)>>;

thread_local! {
    /// The flights of this thread: as long as it has some, the first stands for the thread. No thread can wait for
    /// one without flights. This owns nothing once there are no flights.
    static FLIGHTS: Flights = const { Own::new(None) };
    /// Its address stands for the thread.
    static MARK: u8 = const { 0 };
    /// The flights that this thread polls, one within the other.
    static POLLING: Own<Vec<Arc<Making>>> = const { Own::new(Vec::new()) };
}

fn push(flights: &Own<Vec<Arc<Making>>>, flight: &Arc<Making>) {
    let flight = Arc::clone(flight);
    flights.with_room(
        |all, memory| make_room(all, 1, memory),
        |all, _| all.push(flight),
    );
}

/// Whether there is room for so many.
fn has_room(list: &mut Vec<Waker>, count: usize) -> Result<(), usize> {
    match list.capacity() < count {
        true => Err(count),
        false => Ok(()),
    }
}

/// Takes the memory of a list out, if nothing is in it. The caller frees it.
fn take_if_empty(flights: &mut Vec<Arc<Making>>) -> Vec<Arc<Making>> {
    match flights.is_empty() {
        true => mem::take(flights),
        false => Vec::new(),
    }
}

/// What tells this thread from all others that live.
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

    /// Starts a flight of this thread, which has to [`complete`](Self::complete) it whatever happens.
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

    /// What tasks make together, if that is there.
    pub(super) fn work(&self) -> Option<std::sync::Arc<dyn AnyWork>> {
        self.joint.as_ref()?.work.upgrade()
    }

    /// Whether who wants the value has to wait for this flight: it is not complete, and not of an object that is dead.
    pub(super) fn is_in_the_way(&self) -> bool {
        !self.is_complete() && !self.work().is_some_and(|work| work.is_stale())
    }

    #[inline]
    pub(super) fn is_of_tasks(&self) -> bool {
        self.joint.is_some()
    }

    /// Takes out what the value depends on; nothing is added from then on.
    #[cold]
    #[inline(never)]
    pub(super) fn close(&self) -> Gathered {
        let joint = self.joint.as_ref();
        let gathered = joint.and_then(|joint| joint.gathered.replace(None));
        gathered.unwrap_or_default()
    }

    /// What stands for its leader.
    fn leader(this: &Arc<Self>) -> &Arc<Self> {
        this.first.as_ref().unwrap_or(this)
    }

    /// What stands for this thread.
    pub(super) fn of_this_thread() -> Option<Arc<Self>> {
        FLIGHTS.with(|flights| {
            let flights = flights.enter();
            flights.as_ref().map(|(first, _)| Arc::clone(first))
        })
    }

    /// Completes the flight, if it is one of a thread by that: the value is there, or will not be. All waiters go on.
    ///
    /// # Panics
    /// If a waker does.
    pub(crate) fn complete(&self) {
        wake_all(self.end().into_iter().filter_map(Place::into_waker));
    }

    /// The same, but for the tasks: the caller calls their wakers.
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
    /// If a waker does, unless this thread is panicking.
    #[cold]
    fn wake_waiters(&self) {
        let places = self.complete_with(self.status.lock());
        wake_all(places.into_iter().filter_map(Place::into_waker));
    }

    pub(super) fn is_complete(&self) -> bool {
        self.status.lock().complete
    }

    /// Waits until the flight is complete, or until a time.
    pub(crate) fn wait(this: &Arc<Self>, until: Option<Instant>) -> Result<(), Unmet> {
        Self::call_off();
        // Both go even if a waker panics, this one last.
        let stand_in = StandIn::for_polls();
        let Some(waiting) = Self::of_this_thread().map(Waiting) else {
            return this.sleep(until);
        };
        loop {
            let (number, cycle, way) = waiting.begin(this);
            if cycle {
                return Err(Unmet::Cycle);
            }
            // F5. A waker may do anything, also wait.
            Self::have_looked(&way);
            if waiting.0.waits(number) {
                return this.sleep(until);
            }
            stand_in.iter().for_each(StandIn::show);
        }
    }

    fn sleep(&self, until: Option<Instant>) -> Result<(), Unmet> {
        let mut status = self.status.lock();
        status.sleepers += 1;
        // A loop, since a wait may end spuriously. (loom's never does.)
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
            false => Err(Unmet::TimedOut),
        }
    }

    /// Whether this flight cannot complete before a certain leader goes on; and the flights on which it depends.
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
                // A cycle without us is left to its own threads.
                Some(next) if !way.iter().any(|flight| Arc::ptr_eq(flight, &next)) => {
                    way.push(next)
                }
                _ => break,
            }
        }
        (false, way)
    }

    /// Whether this is the wait of the thread for which the flight stands.
    fn waits(&self, number: usize) -> bool {
        self.waits_for.lock().number == number
    }

    /// F5: wakes tasks that wait for these flights, so that they look for a cycle.
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

    /// Whether a task that is polled on this thread cannot wait for the flight: because this thread makes it, or waits for
    /// tasks that wait for this one. And the flights on which it depends.
    fn delays_itself(this: &Arc<Self>) -> (bool, Vec<Arc<Self>>) {
        let me = Self::of_this_thread();
        let is_end = |leader: &Arc<Self>| {
            leader.is_polled_here() || me.as_ref().is_some_and(|me| Arc::ptr_eq(leader, me))
        };
        Self::leads_to(this, is_end)
    }

    /// Whether this thread polls any.
    fn is_polling() -> bool {
        POLLING.with(|all| !all.enter().is_empty())
    }

    /// Whether this thread polls the flight.
    pub(super) fn is_polled_here(&self) -> bool {
        // Relaxed: what this thread has written; any other value is of another.
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

    /// Wakes the tasks in these seats, which then owe a poll. (One may have another owner by now, or be a seat of a flight that
    /// was called off: then somebody is woken for nothing, or nobody.)
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

    /// Wakes whom a wake of the computation wakes.
    fn wake_next(&self) {
        let (first, others) = self.status.with_room(
            |status, others| has_room(others, status.tasks.others()),
            |status, others| (status.tasks.next(others), mem::take(others)),
        );
        self.have_polled(first.into_iter().chain(others));
    }

    /// Wakes tasks one of which is to poll. If a waker panics, perhaps its task is not polled: then all others are woken, too.
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

/// What the computation gets to be woken by: it wakes one of the tasks, which polls it (A2).
impl Wake for Making {
    fn wake(self: Arc<Self>) {
        self.wake_next();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        self.wake_next();
    }
}

/// This thread polls a flight, until this is dropped. One thread at a time does.
struct Poller<'f> {
    joint: &'f Joint,
    before: usize,
}

impl<'f> Poller<'f> {
    fn begin(joint: &'f Joint) -> Self {
        // Relaxed: the caller has taken what it polls, after the thread before gave that back.
        let before = joint.poller.swap(mark(), Relaxed);
        Poller { joint, before }
    }
}

impl Drop for Poller<'_> {
    fn drop(&mut self) {
        self.joint.poller.store(self.before, Relaxed);
    }
}

/// F7: the flight whose node a value has replaced, if one has. Threads and tasks that wait for a thread find the value when
/// this ends, also by a panic of the operation: then a panic of a waker is dropped. (Tasks that make a value together go on.)
#[derive(Default)]
pub(super) struct Overtaken(Option<Arc<Making>>);

impl Overtaken {
    /// The flight of a node that was replaced.
    pub(super) fn set(&mut self, flight: Option<Arc<Making>>) {
        self.0 = flight.filter(|flight| !flight.is_of_tasks());
    }
}

impl Drop for Overtaken {
    /// # Panics
    /// If a waker does.
    #[inline]
    fn drop(&mut self) {
        if let Some(flight) = self.0.take() {
            flight.wake_waiters();
        }
    }
}

/// What stands for this thread, while it waits.
struct Waiting(Arc<Making>);

impl Waiting {
    /// The number of the wait; whether it closes a cycle; and the flights on which it depends.
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

/// The stand-in of this thread, while it waits within polls (F4).
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
                // (What was there has another owner: nothing is freed here.)
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

/// What a computation has failed with.
pub(crate) type Error = Box<dyn Any + Send>;

/// A3 of [`work`](super::work).
pub(crate) enum Failure {
    Error(Error),
    Panic(Box<dyn Any + Send>),
}

/// How a task begins to wait.
pub(crate) enum Begun {
    /// It does not: the value is in the place that was passed.
    Found,
    /// Its own computation begins.
    Own(Arc<Making>),
    /// Another one is at work, and the task is one of its owners.
    Work(Arc<dyn AnyWork>, Arc<Making>),
    /// A thread makes the value, or the node of a flight is about to go.
    Thread(Arc<Making>),
}

/// What a poll finds.
pub(crate) enum Polled {
    Pending,
    /// The value is in the place that was passed.
    Made,
    /// Of the task's own computation.
    Failed(Failure),
    /// Nothing comes of this computation: another one may.
    Again,
    Cycle,
}

/// What tasks make together ([`work`](super::work)), without the types of its collection and its closure. `owner` is the
/// collection, and `out` the place of the value: an `Option` of it.
pub(crate) trait AnyWork: Send + Sync {
    fn begin(self: Arc<Self>, owner: &(dyn Any + Sync), out: &mut dyn Any) -> Begun;
    /// One owner more, if there are some.
    fn join(&self) -> bool;
    fn is_stale(&self) -> bool;
    fn poll(
        &self,
        waiter: Waiter<'_>,
        owner: &(dyn Any + Sync),
        context: &mut Context<'_>,
        out: &mut dyn Any,
    ) -> Polled;
    /// One owner less. Code of users may run: the computation is destroyed with the last.
    fn leave(&self, owner: &(dyn Any + Sync));
    fn cycle(&self) -> !;
}

/// A task that waits.
pub(crate) struct Waiter<'w> {
    pub(super) flight: &'w Arc<Making>,
    pub(super) seat: &'w mut Option<Seat>,
    /// Whether it is its own computation.
    pub(super) is_own: bool,
}
