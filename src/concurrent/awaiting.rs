//! The future of a value that tasks wait for.

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
/// [`WeakValueMap`](super::WeakValueMap) return it.
///
/// **The computation belongs to all flights that wait for it**, and not to the first: each of them
/// has it, and whichever is polled polls it. So a task that is cancelled hands nothing over; a
/// flight that is never polled again stalls nobody who is; and when the last one is dropped, the
/// computation is, and nothing is left. It does nothing until it is polled, unless the value was
/// there.
///
/// * *Wakes.* A wake of the computation wakes one of the tasks: that which was polled last. If that
///   goes without having polled it, another one is woken. The end wakes all. O(1) for each wait.
///   Where no task waits, but other computations do, a task of each of these is woken. (So where
///   the task that was polled last is not polled when it is woken, and keeps its flight, the others
///   wait until one of them is polled for another reason. Where a waker panics, its task was
///   perhaps not woken: then all others are woken.)
/// * *The value* goes to all of them, also if it is not kept: because an input has died, or the
///   entry was removed. Those that ask after that compute anew.
/// * *A panic or an error* goes to the task that has passed the closure, if it still waits. The
///   others begin anew: one of them computes with its own closure. A panic of the code that makes
///   the entry counts as one of the computation: of the value's `Clone`, of the weight under a
///   limit, of the key's `Eq`.
/// * *Blocking calls* for the same key wait as they do for another thread, without polling; they
///   keep nothing alive. A flight that is forgotten ([`mem::forget`]) makes them wait for ever, for
///   its key; tasks poll what it has left.
/// * *Depth.* Computations that await each other nest as deep as the stack allows: with
///   optimisation, one level takes some 1,100 bytes of it when the outermost is polled, and when it
///   is dropped.
/// * *A cycle* panics: a computation that waits for itself through other computations, or through a
///   thread that blocks for one. (Where all who wait have gone before a poll has met it, two
///   computations that own each other's flights remain, until somebody asks for one of them.)
/// * *Its end.* The computation is destroyed before another one of the same key begins. But if its
///   destructor itself waits, or awaits what is not ready, the flight is called off, and another
///   one may begin.
///
/// **What no poll goes through is not found**: a computation that waits for a task that waits for
/// that computation waits for ever. So do two threads that block for computations, each of which
/// awaits what the other thread makes; and a blocking call on the only thread of an executor whose
/// tasks compute. And an executor that runs *within* a computation must poll no other task that
/// waits for that: this is taken for a cycle.
///
/// **It runs under whichever task polls it**: its task-locals, its tracing span, its runtime's
/// context may be those of another one that waits. Where that matters, let the computation spawn a
/// task, and wait for that.
///
/// It borrows the collection, so a spawned task has an [`Arc`](std::sync::Arc) of that, moved into
/// its `async` block; or the collection is a `static`:
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
    /// The values of the collection are of this type, and of no subtype of it: what waits finds
    /// them by that.
    value: PhantomData<fn(V) -> V>,
}

enum State<'m, V, R> {
    /// None when it is over.
    Ready(Option<R>),
    Waiting(Waiting<'m>, fn(Result<V, Error>) -> R),
}

/// A flight that waits. It leaves when it is dropped.
struct Waiting<'m> {
    owner: &'m (dyn Any + Sync),
    /// The task's own computation, if that has not begun.
    own: Option<Arc<dyn AnyWork>>,
    joined: Option<Joined>,
    /// Dropped before it leaves.
    seat: Option<Seat>,
}

struct Joined {
    flight: Arc<Making>,
    /// None if a thread makes the value.
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

// The value is not pinned: it is moved out.
impl<V, R> Unpin for Flight<'_, V, R> {}

impl<V: 'static, R> Future for Flight<'_, V, R> {
    type Output = R;

    /// # Panics
    /// If the computation that this flight has passed panics, or waits for itself. If a waker that
    /// is called here panics: all others are called, and the others that wait get what there is.
    /// And when it is polled again after it was ready.
    // As a call it costs 15 of the 229 instructions of a hit.
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
        // It leaves before there is a result.
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
                // F3: the executor may wait, also for what this thread is about to make.
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
