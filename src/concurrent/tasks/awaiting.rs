//! The future of a value that tasks make together.

use core::fmt;
use core::future::Future;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::boxed::Box;
use std::panic::resume_unwind;
use std::sync::Arc;

use super::super::flight::{Making, Seat};
use super::super::making::{Claimed, InFlight};
use super::work::{Error, Failure, Plan, Running, Work};
use crate::panics::FirstPanic;
use crate::sync::{Exclusive, Mutex};

/// A value that tasks make together, as a future. [`Memo`](crate::Memo) and
/// [`WeakValueMap`](super::super::WeakValueMap) return flights.
///
/// **The computation belongs to all flights that wait for it**, not only to the first flight:
/// polling any of these flights polls the computation. So a cancelled task hands nothing over, and
/// a flight that is never polled again does not stall the polled flights. When the last flight is
/// dropped, the computation is dropped, and nothing is left. A flight does nothing until it is
/// polled, unless the value was there at the call.
///
/// * *Wakes.* A wake of the computation wakes one of the waiting tasks: the task that polled last.
///   If this task drops its flight without polling, another task is woken. The end of the
///   computation wakes all tasks. O(1) for each wait. If no task waits for the computation, but
///   other computations do, a task of each of these computations is woken. (So if the task that
///   polled last does not poll when it is woken, and keeps its flight, the other tasks wait until
///   one of them is polled for another reason. If a waker panics, its task may not have been woken:
///   then all other tasks are woken.)
/// * *The value* goes to all waiting flights, also if the value is not kept because an input has
///   died, or the entry was removed. Then calls that come later compute anew.
/// * *A panic or an error* goes to the task that has passed the closure, if this task still waits.
///   The other tasks start again, and a second task computes with its closure. A panic of the code
///   that makes the entry counts as a panic of the computation: of the value's `Clone`, of the
///   weight closure under a limit, of the key's `Eq`.
/// * *Blocking calls* for the same key wait as for another thread, without polling; they keep
///   nothing alive. If a flight is forgotten ([`mem::forget`]), blocking calls for its key wait for
///   ever, or until a value is inserted in the place of the awaited value. After a removal of the
///   key, an insertion does not release these calls. Tasks poll the computation of the forgotten
///   flight.
/// * *Depth.* Computations that await each other nest as deep as the stack allows. With
///   optimisation, one level takes some 1,100 bytes of stack when the outermost computation is
///   polled, and when it is dropped.
/// * *A cycle* panics: a computation that waits for itself through other computations, or through a
///   thread that blocks for a computation. (If all waiting flights are dropped before a poll has
///   met the cycle, two computations that own each other's flights remain, until a new call asks
///   for one of them.)
/// * *The end.* The computation is destroyed before another computation of the same key begins. But
///   if the destructor itself waits, or awaits a future that is not ready, the flight is called
///   off, and another computation may begin.
///
/// **A cycle is not found if no poll leads through it.** If a computation waits for a spawned task,
/// and the task waits for the computation, both wait for ever. The same is true of two threads that
/// block for computations, each of which awaits the value that the other thread makes; and of a
/// blocking call on the only thread of an executor whose tasks compute. And an executor that runs
/// *within* a computation must not poll another task that waits for the computation: such a poll is
/// taken for a cycle.
///
/// **The computation runs under any task that polls it**: the task-locals, the tracing span and the
/// runtime's context may be those of another waiting task. If this matters, let the computation
/// spawn a task, and wait for the spawned task.
///
/// A flight borrows its collection. So a spawned task moves an [`Arc`](std::sync::Arc) of the
/// collection into its `async` block, or the collection is a `static`:
///
/// ```
/// use std::sync::Arc;
/// use weakly::{Memo, Strong};
///
/// fn spawn<T>(task: impl Future<Output = T> + Send + 'static) {
///     // ...
/// #   use std::task::{Context, Poll, Waker};
/// #   assert!(std::pin::pin!(task).poll(&mut Context::from_waker(Waker::noop())).is_ready());
/// }
///
/// static LENGTHS: Memo<Strong<str>, usize> = Memo::new();
/// let areas = Arc::new(Memo::<Strong<u32>, u32>::new());
///
/// let (text, side) = (Strong::from("text"), Strong::new(3));
/// spawn(async move {
///     let text = &text;
///     assert_eq!(LENGTHS.get_or_compute_async(text, |_, _| async { 4 }).await, 4);
///     assert_eq!(areas.get_or_compute_async(&side, |_, _| async { 9 }).await, 9);
/// });
/// ```
///
/// [`mem::forget`]: std::mem::forget
#[must_use = "futures do nothing unless they are awaited"]
pub struct Flight<'m, V, R = V> {
    state: State<'m, V, R>,
}

enum State<'m, V, R> {
    /// `None` when the flight is over.
    Ready(Option<R>),
    Waiting(Waiting<'m, V>, fn(Result<V, Error>) -> R),
}

/// A waiting flight, without the types of its collection and its closure.
pub(crate) type Waiting<'m, V> = Box<dyn Wait<V> + Send + Sync + 'm>;

/// See [`Waiting`].
pub(crate) trait Wait<V> {
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<V, Failure>>;
}

impl<'m, V, R> Flight<'m, V, R> {
    #[inline]
    pub(crate) fn ready(made: R) -> Self {
        let state = State::Ready(Some(made));
        Flight { state }
    }

    #[inline]
    pub(crate) fn waiting(waiting: Waiting<'m, V>, finish: fn(Result<V, Error>) -> R) -> Self {
        let state = State::Waiting(waiting, finish);
        Flight { state }
    }
}

// The value is not pinned: the value is moved out.
impl<V, R> Unpin for Flight<'_, V, R> {}

impl<V: 'static, R> Future for Flight<'_, V, R> {
    type Output = R;

    /// # Panics
    /// If the flight's own computation panics, or waits for itself. If a waker called by the poll
    /// panics: then all other wakers are called, and the other waiters get the result. If the
    /// flight is polled again after it was ready.
    // As a call, `poll` would cost 15 of the 229 instructions of a hit.
    #[inline(always)]
    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<R> {
        match &mut self.get_mut().state {
            State::Ready(made) => match made.take() {
                Some(made) => Poll::Ready(made),
                None => over(),
            },
            waiting => waiting.poll(context),
        }
    }
}

impl<V, R> State<'_, V, R> {
    #[cold]
    #[inline(never)]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<R> {
        let State::Waiting(waiting, finish) = self else {
            unreachable!("it waits")
        };
        let (Poll::Ready(made), finish) = (waiting.poll(context), *finish) else {
            return Poll::Pending;
        };
        // The flight leaves the computation before there is a result.
        *self = State::Ready(None);
        let made = made.map_err(|failure| failure.unwrap_or_else(|panic| resume_unwind(panic)));
        Poll::Ready(finish(made))
    }
}

#[cold]
fn over() -> ! {
    panic!("a `Flight` was polled after it was ready")
}

/// A task that waits. The drop leaves the joined computation.
struct Waiter<'m, P: Plan, B> {
    owner: &'m P::Owner,
    /// The task's own computation, if it has not begun, and the closure that begins it.
    own: Option<Arc<Work<P>>>,
    begin: Mutex<Option<B>>,
    /// The flight that a lookup has found, until the task waits.
    found: InFlight,
    joined: Option<Joined<P>>,
    /// Dropped before the flight leaves the computation.
    seat: Option<Seat>,
}

/// The flight for which a task waits.
struct Joined<P: Plan> {
    flight: Arc<Making>,
    /// `None` if a thread makes the value, or the node of the flight is about to leave the table.
    work: Option<Arc<Work<P>>>,
}

impl<P: Plan, B> Waiter<'_, P, B>
where
    B: FnOnce(Arc<Making>) -> Running<P::Made> + Send,
{
    /// Returns the value, if there is one, or else joins a flight or begins the own computation.
    fn begin(&mut self) -> Option<P::Made> {
        let own = self.own.as_ref().expect("it has not begun");
        let (table, hash, key) = (P::table(self.owner), own.hash, &own.key);
        let start = || Making::of_work(Arc::downgrade(own) as _);
        match table.reserve(hash, key, P::read, self.found.take(), start) {
            Ok(Claimed::There(made)) => {
                P::found(self.owner);
                return Some(made);
            }
            Ok(Claimed::Yours(leader)) => {
                let begin = self.begin.replace(None).expect("it begins once");
                let running = begin(Arc::clone(leader.flight()));
                P::begun(self.owner);
                let (flight, work) = (leader.leave_to_tasks(), self.own.take());
                let joined = self.joined.insert(Joined { flight, work });
                // Last: a waker may panic.
                if let Some(work) = &joined.work {
                    work.begin(running, &joined.flight);
                }
            }
            Err(flight) => {
                let work = Work::join(&flight);
                self.joined = Some(Joined { flight, work });
            }
        }
        None
    }
}

impl<P: Plan, B> Waiter<'_, P, B> {
    fn leave(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.seat = None);
        if let Some(work) = self.joined.take().and_then(|joined| joined.work) {
            panics.catch(|| work.leave(self.owner));
        }
        panics.resume();
    }
}

/// A waiting flight of a task.
pub(crate) fn waiting<'m, P: Plan, B>(
    owner: &'m P::Owner,
    found: InFlight,
    own: Arc<Work<P>>,
    begin: B,
) -> Waiting<'m, P::Made>
where
    B: FnOnce(Arc<Making>) -> Running<P::Made> + Send + 'm,
{
    Box::new(Waiter {
        owner,
        own: Some(own),
        begin: Mutex::new(Some(begin)),
        found,
        joined: None,
        seat: None,
    })
}

impl<P: Plan, B> Wait<P::Made> for Waiter<'_, P, B>
where
    B: FnOnce(Arc<Making>) -> Running<P::Made> + Send,
{
    #[cold]
    #[inline(never)]
    fn poll(&mut self, context: &mut Context<'_>) -> Poll<Result<P::Made, Failure>> {
        loop {
            let Some(Joined { flight, work }) = &self.joined else {
                match self.begin() {
                    Some(made) => return Poll::Ready(Ok(made)),
                    None => continue,
                }
            };
            let seat = &mut self.seat;
            let polled = match work {
                Some(work) => work.poll(flight, seat, self.own.is_none(), self.owner, context),
                None => match Seat::wait(seat, flight, context.waker()) {
                    Poll::Pending => Poll::Pending,
                    Poll::Ready(Ok(())) => Poll::Ready(None),
                    Poll::Ready(Err(_)) => P::cycle(),
                },
            };
            match polled {
                // F3: the executor may wait, also for a value that this thread is about to make.
                Poll::Pending if Making::call_off() => {}
                Poll::Pending => return Poll::Pending,
                Poll::Ready(Some(made)) => return Poll::Ready(made),
                Poll::Ready(None) => self.leave(),
            }
        }
    }
}

impl<P: Plan, B> Drop for Waiter<'_, P, B> {
    fn drop(&mut self) {
        self.leave();
    }
}

impl<V, R> fmt::Debug for Flight<'_, V, R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = match &self.state {
            State::Ready(Some(_)) => "ready",
            State::Waiting(..) => "waiting",
            State::Ready(None) => "over",
        };
        f.debug_struct("Flight").field("state", &state).finish()
    }
}
