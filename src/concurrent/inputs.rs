//! The inputs of a computation besides its key: the objects that the computation declares, and the
//! results that the computation asks for. Threads and tasks have the same list.
//!
//! * **I1** While a thread runs code of a computation, the innermost [`Scope`] of the thread names
//!   the list of the computation. An operation of a memo runs in a scope without a list, because
//!   the operation runs user code: `Hash`, `Eq`, `Clone`, destructors. When the operation has left
//!   this scope, it adds the [dependency](Dependency) on its result to the list.
//! * **I2** A dependency is a share of the token of the entry that the operation has found or made,
//!   and handles to the polled inputs of the entry. An operation whose result has no entry *spoils*
//!   the list: then the computation's own result is not kept.
//! * **I3** The addition of a dependency registers the computation with the token at once. So the
//!   end of the entry ends the registration, and a result whose registration has ended is not
//!   linked ([`Registered::may_be_linked`](crate::raw::Registered::may_be_linked)).
//! * **I4** The end of the computation closes its list, and ends the last use of the core. An
//!   addition counts its registration under the lock of the open list, and so before the end.

use core::future::{Future, poll_fn};
use core::mem::{self, ManuallyDrop};
use core::pin::pin;
use core::ptr::{self, NonNull};
use core::task::Poll;
use std::boxed::Box;
use std::sync::Arc;
use std::vec::Vec;

use super::gathered::Gathered;
use super::leader::Leader;
use super::node::Compare;
use super::watch::{AnyWatch, SharedKey, SharedWatchFor, Watched, WatchesOne};
use crate::flight::Reservation;
use crate::hash::HashValue;
use crate::ptr::{CoreRef, Counted, Token};
use crate::sync::Mutex;
use crate::thread::Scope;

/// The inputs of a computation.
pub(crate) struct Inputs {
    core: CoreRef,
    hash: HashValue,
    /// The reservation of the computation, for [frames](Reservation::frame) on other threads.
    reservation: Option<Arc<Reservation>>,
    /// `None` after the end of the computation.
    gathered: Mutex<Option<Gathered>>,
}

/// The dependency of a computation on the result of an operation (I2).
pub(crate) enum Dependency {
    /// The computation depends on the entry of the result, and on its polled inputs, already.
    Known,
    /// The operation has a result, but no entry, because an input has ended or the key was removed
    /// meanwhile.
    Ended,
    /// The dependency on the entry with this token and these polled inputs.
    New(Token, Vec<AnyWatch>),
}

impl<S: Compare> Leader<'_, S> {
    /// A new list of inputs, for the computation of the leader.
    pub(crate) fn inputs(&self) -> Inputs {
        Inputs {
            core: self.table.core(),
            hash: self.hash,
            reservation: self.own().cloned(),
            gathered: Mutex::new(Some(Gathered::default())),
        }
    }
}

impl Inputs {
    /// Returns whether the thread runs code of a computation.
    #[inline]
    pub(crate) fn is_in_computation() -> bool {
        !Scope::inputs().is_null()
    }

    /// Returns whether code of a computation has called the operation that now runs
    /// [apart](Scope::apart).
    pub(crate) fn is_called_by_computation() -> bool {
        Scope::has_outer()
    }

    /// Adds a dependency to the inputs of all computations whose code the thread runs. `None`
    /// spoils the inputs (I2).
    pub(crate) fn add_dependency(dependency: Option<Dependency>) {
        if !Inputs::is_in_computation() || matches!(dependency, Some(Dependency::Known)) {
            return;
        }
        Scope::apart(|| {
            Inputs::each_asking(|inputs| match &dependency {
                Some(Dependency::New(token, polled)) => inputs.add_all(token, polled),
                Some(Dependency::Known) => {}
                Some(Dependency::Ended) => inputs.note(Gathered::note_ended),
                None => inputs.note(|gathered| gathered.spoiled = true),
            });
        });
    }

    /// Calls `each` with the inputs of each computation that has called the operation that now runs
    /// [apart](Scope::apart).
    fn each_asking(mut each: impl FnMut(&Inputs)) {
        Scope::each_outer(|inputs| {
            // SAFETY: `run`, `enter` and `Computing::enter` name lists, which live until the end of
            // their scopes. The scopes are outer scopes, which do not end in this function.
            each(unsafe { &*inputs.cast() });
        });
    }

    /// Returns whether all computations that have called the operation depend on the entry with the
    /// token at this place. The operation runs [apart](Scope::apart).
    pub(crate) fn knows(token: usize) -> bool {
        let mut knows = true;
        Inputs::each_asking(|inputs| {
            let gathered = inputs.gathered.lock();
            let known = |gathered: &Gathered| gathered.has(Watched::Notified(token));
            knows &= gathered.as_ref().is_some_and(known);
        });
        knows
    }

    /// Returns whether the thread runs code of the computation with this reservation, perhaps below
    /// code of other computations.
    pub(crate) fn is_computing(reservation: &Arc<Reservation>) -> bool {
        Scope::any(|inputs| {
            // SAFETY: as in `each_asking`.
            let inputs: &Inputs = unsafe { &*inputs.cast() };
            let own = inputs.reservation.as_ref();
            own.is_some_and(|own| Arc::ptr_eq(own, reservation))
        })
    }

    /// Runs an operation of a memo [apart](Scope::apart), and [adds](Self::add_dependency) the
    /// dependency that the operation returns beside its result.
    pub(crate) fn add_dependency_of<R>(operation: impl FnOnce() -> (R, Option<Dependency>)) -> R {
        let (result, dependency) = Inputs::apart(operation);
        Inputs::add_dependency(dependency);
        result
    }

    /// Runs a part of an operation of a memo.
    pub(crate) fn apart<R>(run: impl FnOnce() -> R) -> R {
        Inputs::or_spoil(|| Scope::apart(run))
    }

    /// Runs code whose panic spoils the inputs of the computation that asks (I2).
    pub(crate) fn or_spoil<R>(run: impl FnOnce() -> R) -> R {
        struct Spoils;
        impl Drop for Spoils {
            fn drop(&mut self) {
                Inputs::add_dependency(None);
            }
        }
        let spoils = Spoils;
        let result = run();
        mem::forget(spoils);
        result
    }

    /// Adds the polled inputs of an entry, and then its token: another part of the computation that
    /// finds the token in the list adds nothing ([`Dependency::Known`]).
    fn add_all(&self, token: &Token, polled: &[AnyWatch]) {
        for watch in polled.iter().filter_map(AnyWatch::again) {
            self.add(watch.watched(), |_, _| Some(watch));
        }
        self.add(Watched::Notified(token.place()), |hash, counted| {
            let watch = token.watch(counted, hash.short());
            watch.map(AnyWatch::NotifiedWatch)
        });
    }

    /// Notes a reason for which the result of the computation will not be kept; nothing after the
    /// end of the computation.
    fn note(&self, note: impl FnMut(&mut Gathered)) {
        self.gathered.lock().iter_mut().for_each(note);
    }

    /// Adds an object; nothing after the end of the computation.
    pub(crate) fn depends_on<P: SharedKey + 'static>(&self, object: &P) {
        // The handle is of a user's type, and user code may run here.
        Scope::apart(|| {
            let (watched, watch) = SharedWatchFor::<P>::any(object);
            self.add(watched, |hash, counted| Some(watch(hash, counted)));
        });
    }

    /// Adds an input, unless it is there. `watch` returns `None` if the input has ended, allocates,
    /// and runs under no lock.
    fn add(&self, input: Watched, watch: impl FnOnce(HashValue, Counted) -> Option<AnyWatch>) {
        let wants = |gathered: &&mut Gathered| !gathered.has(input);
        // I4
        let count = |_: &mut Gathered| self.core.count();
        let Some(counted) = self.gathered.lock().as_mut().filter(wants).map(count) else {
            return;
        };
        let Some(watch) = watch(self.hash, counted) else {
            return self.note(Gathered::note_ended);
        };
        let mut watch = Some(watch);
        self.gathered.with_room(
            |gathered, room| match gathered {
                Some(gathered) => gathered.make_room(room),
                None => Ok(()),
            },
            |gathered, _| {
                // Another thread may have added the input meanwhile.
                if let Some(gathered) = gathered.as_mut().filter(wants) {
                    let watch = watch.take().into_iter();
                    watch.for_each(|watch| gathered.push(input, watch));
                }
            },
        );
        watch.into_iter().for_each(AnyWatch::leave);
    }

    /// Returns the inputs, at the end of a computation by a thread.
    pub(crate) fn into_gathered(self) -> Gathered {
        self.gathered.into_inner().unwrap_or_default()
    }

    /// Takes the inputs out. No input is added from then on.
    pub(crate) fn close(&self) -> Gathered {
        self.gathered.replace(None).unwrap_or_default()
    }

    /// Returns the number of inputs: 0 after the end of the computation.
    pub(crate) fn len(&self) -> usize {
        let gathered = self.gathered.lock();
        gathered
            .as_ref()
            .map_or(0, |gathered| gathered.watches.len())
    }

    /// Runs code of a task's computation: what the code asks for is added.
    pub(crate) fn run<R>(&self, run: impl FnOnce() -> R) -> R {
        Scope::with(ptr::from_ref(self).cast(), false, run)
    }

    /// Runs code of the computation on any thread: what the code asks for is added, and the
    /// detection of cycles knows the computation. If the thread runs code of another computation
    /// already, the code belongs to both: the other one may have called it, or a pool of threads.
    pub(crate) fn enter<R>(&self, run: impl FnOnce() -> R) -> R {
        let _frame = self.reservation.as_ref().map(Reservation::frame);
        Scope::with(ptr::from_ref(self).cast(), Inputs::is_in_computation(), run)
    }
}

/// Polls a future, each time through a closure, which also drops the future that is ready.
pub(crate) async fn each_poll<F: Future>(
    through: impl Fn(&mut dyn FnMut()),
    future: F,
) -> F::Output {
    let mut future = pin!(Some(future));
    poll_fn(|context| {
        let mut polled = Poll::Pending;
        through(&mut || {
            if let Some(running) = future.as_mut().as_pin_mut() {
                polled = running.poll(context);
            }
            if polled.is_ready() {
                // T5 of the table
                future.set(None);
            }
        });
        polled
    })
    .await
}

/// The parts of a computation, among them its inputs.
pub(crate) trait HasInputs {
    fn inputs(&self) -> &Inputs;
}

/// A computation of a thread: its parts, in one place on the heap.
pub(crate) struct Computing<T: HasInputs>(Box<(Scope, T)>);

impl<T: HasInputs> Computing<T> {
    #[inline]
    pub(crate) fn new(parts: T) -> Self {
        Computing(Box::new((Scope::new(), parts)))
    }

    /// The current thread begins to run code of the computation.
    #[inline]
    pub(crate) fn enter(self) -> Entered<T> {
        let place = NonNull::from(Box::leak(self.0));
        // SAFETY: the place is valid until `leave` takes it back.
        let (scope, parts) = unsafe { place.as_ref() };
        // SAFETY: new; `leave` ends the scope. A value with a pointer stays on its thread.
        unsafe { scope.begin(ptr::from_ref(parts.inputs()).cast()) };
        Entered(place)
    }

    #[inline(always)]
    pub(crate) fn into_parts(self) -> T {
        self.0.1
    }
}

/// A computation whose code the current thread runs, until [`end`](Self::end). The drop is the end
/// of a computation without a result.
pub(crate) struct Entered<T: HasInputs>(NonNull<(Scope, T)>);

impl<T: HasInputs> Entered<T> {
    #[inline]
    pub(crate) fn parts(&self) -> &T {
        // SAFETY: as in `enter`.
        unsafe { &self.0.as_ref().1 }
    }

    /// The current thread has run the code of the computation.
    #[inline]
    pub(crate) fn end(self) -> Computing<T> {
        let place = ManuallyDrop::new(self).0;
        // SAFETY: the value is forgotten.
        unsafe { Entered::leave(place) }
    }

    /// # Safety
    /// Called once.
    #[inline]
    unsafe fn leave(place: NonNull<(Scope, T)>) -> Computing<T> {
        // SAFETY: made by `enter`, and the caller's promise.
        unsafe {
            place.as_ref().0.end();
            Computing(Box::from_raw(place.as_ptr()))
        }
    }
}

impl<T: HasInputs> Drop for Entered<T> {
    fn drop(&mut self) {
        // SAFETY: the last use of the value.
        let computing = unsafe { Entered::leave(self.0) };
        Inputs::add_dependency(None);
        Scope::apart(|| drop(computing));
    }
}
