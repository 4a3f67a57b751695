//! The future of a value that tasks make together.

use core::any::Any;
use core::fmt;
use core::future::Future;
use core::marker::PhantomData;
use core::pin::Pin;
use core::task::{Context, Poll};
use std::panic::resume_unwind;
use std::sync::Arc;

use super::flight::{AnyWork, Begun, Error, Failure, Making, Polled, Seat, Waiter};
use crate::panics::FirstPanic;

/// A value that tasks make together, as a future. [`Memo`](crate::Memo) and
/// [`WeakValueMap`](super::WeakValueMap) return flights.
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
///   The other tasks start again: one of them computes with its own closure. A panic of the code
///   that makes the entry counts as a panic of the computation: of the value's `Clone`, of the
///   weight closure under a limit, of the key's `Eq`.
/// * *Blocking calls* for the same key wait as for another thread, without polling; they keep
///   nothing alive. If a flight is forgotten ([`mem::forget`]), blocking calls for its key wait for
///   ever; tasks poll the computation of the forgotten flight.
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
    /// The values of the collection have exactly this type, and no subtype of it: a waiting flight
    /// gets its value through `dyn Any`.
    value: PhantomData<fn(V) -> V>,
}

enum State<'m, V, R> {
    /// `None` when the flight is over.
    Ready(Option<R>),
    Waiting(Waiting<'m>, fn(Result<V, Error>) -> R),
}

/// A waiting flight. The drop leaves the joined computation.
struct Waiting<'m> {
    owner: &'m (dyn Any + Sync),
    /// The flight's own computation, if it has not begun.
    own: Option<Arc<dyn AnyWork>>,
    joined: Option<Joined>,
    /// Dropped before the flight leaves the computation.
    seat: Option<Seat>,
}

struct Joined {
    flight: Arc<Making>,
    /// `None` if a thread makes the value.
    work: Option<Arc<dyn AnyWork>>,
    is_own: bool,
}

impl<'m, V, R> Flight<'m, V, R> {
    #[inline]
    pub(crate) fn ready(made: R) -> Self {
        Self::of(State::Ready(Some(made)))
    }

    #[inline]
    fn of(state: State<'m, V, R>) -> Self {
        let value = PhantomData;
        Flight { state, value }
    }

    pub(crate) fn new(
        owner: &'m (dyn Any + Sync),
        work: Arc<dyn AnyWork>,
        finish: fn(Result<V, Error>) -> R,
    ) -> Self {
        let waiting = Waiting {
            owner,
            own: Some(work),
            joined: None,
            seat: None,
        };
        Self::of(State::Waiting(waiting, finish))
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

impl<V: 'static, R> State<'_, V, R> {
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
        let made = made.or_else(|failure| match failure {
            Failure::Error(error) => Err(error),
            Failure::Panic(payload) => resume_unwind(payload),
        });
        Poll::Ready(finish(made))
    }
}

#[cold]
fn over() -> ! {
    panic!("a `Flight` was polled after it was ready")
}

impl Waiting<'_> {
    #[cold]
    #[inline(never)]
    fn poll<V: 'static>(&mut self, context: &mut Context<'_>) -> Poll<Result<V, Failure>> {
        let mut out: Option<V> = None;
        loop {
            let Some(joined) = &self.joined else {
                let own = self
                    .own
                    .as_ref()
                    .expect("its own computation has not begun");
                let (flight, work) = match Arc::clone(own).begin(self.owner, &mut out) {
                    Begun::Found => return Poll::Ready(Ok(taken(out))),
                    Begun::Own(flight) => (flight, self.own.take()),
                    Begun::Work(work, flight) => (flight, Some(work)),
                    Begun::Thread(flight) => (flight, None),
                };
                let is_own = self.own.is_none();
                self.joined = Some(Joined {
                    flight,
                    work,
                    is_own,
                });
                continue;
            };
            let polled = match &joined.work {
                Some(work) => {
                    let waiter = Waiter {
                        flight: &joined.flight,
                        seat: &mut self.seat,
                        is_own: joined.is_own,
                    };
                    work.poll(waiter, self.owner, context, &mut out)
                }
                None => match Seat::wait(&mut self.seat, &joined.flight, context.waker()) {
                    Poll::Pending => Polled::Pending,
                    Poll::Ready(Ok(())) => Polled::Again,
                    Poll::Ready(Err(_)) => Polled::Cycle,
                },
            };
            match polled {
                // F3: the executor may wait, also for a value that this thread is about to make.
                Polled::Pending if Making::call_off() => {}
                Polled::Pending => return Poll::Pending,
                Polled::Made => return Poll::Ready(Ok(taken(out))),
                Polled::Failed(failure) => return Poll::Ready(Err(failure)),
                Polled::Again => self.leave(),
                Polled::Cycle => match joined.work.as_ref().or(self.own.as_ref()) {
                    Some(work) => work.cycle(),
                    None => unreachable!("it waits with its own computation, or for one"),
                },
            }
        }
    }

    fn leave(&mut self) {
        let mut panics = FirstPanic::default();
        panics.catch(|| self.seat = None);
        if let Some(joined) = self.joined.take() {
            if let Some(work) = &joined.work {
                panics.catch(|| work.leave(self.owner));
            }
        }
        panics.resume();
    }
}

fn taken<V>(out: Option<V>) -> V {
    match out {
        Some(value) => value,
        None => unreachable!("the value was put there"),
    }
}

impl Drop for Waiting<'_> {
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
