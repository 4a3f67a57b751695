//! What the test programs share: the kinds of pointers, objects that count their deaths, and
//! sizes that Miri can bear.

#![allow(dead_code, unreachable_pub)] // each test program uses a part of it

pub mod corpus;
pub mod custom;
pub mod doomed;
pub mod heap;
pub mod instalments;
pub mod lease;
#[cfg(feature = "std")]
pub mod nested;
pub mod of_values;
pub mod own;
pub mod owned;
pub mod pairs;
#[cfg(feature = "std")]
pub mod pointers;
pub mod random;
pub mod subject;
pub mod watchdog;

use std::borrow::Borrow;
use std::cell::{Cell, RefCell};
use std::ops::Deref;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind, set_hook, take_hook};
use std::rc::Rc;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, Mutex, Once};
use std::thread::Builder;

use weakly::{
    Anchor, Finalizer, Strong, WeakMap, WeakSet, local,
    ptr::{self, FinalizerToken, Flavour},
    reference::{StrongRef, WeakRef},
};

/// A kind of pointer that can be a key. Tests are written once, over `P: Kind`, and run for each by
/// [`for_each_kind!`].
pub trait Kind: 'static {
    /// The strong pointer.
    type Strong<T: 'static>: StrongRef<Target = T> + Clone + Deref<Target = T> + Borrow<T> + From<T>;
    /// Whether deaths are notified (exact `len`) or found by sweeping.
    const NOTIFIES: bool;
    /// How many strong handles and how many weak ones (with entries) an object has.
    fn counts<T: 'static>(strong: &Self::Strong<T>) -> (usize, usize);
}

/// The usual key of a test, and its collections.
pub type Key<P> = <P as Kind>::Strong<usize>;
pub type Map<P, V> = WeakMap<Key<P>, V>;
pub type Set<P> = WeakSet<Key<P>>;

/// The objects `0..n`.
pub fn keys<P: Kind>(n: usize) -> Vec<Key<P>> {
    (0..n).map(Into::into).collect()
}

macro_rules! kinds {
    ($($name:ident: $strong:ty, $notifies:expr;)*) => {$(
        pub enum $name {}
        impl Kind for $name {
            type Strong<T: 'static> = $strong;
            const NOTIFIES: bool = $notifies;
            fn counts<T: 'static>(strong: &Self::Strong<T>) -> (usize, usize) {
                (<$strong>::strong_count(strong), <$strong>::weak_count(strong))
            }
        }
    )*};
}

kinds! {
    Atomic: weakly::Strong<T>, true;
    Local: local::Strong<T>, true;
    StdArc: Arc<T>, false;
    StdRc: Rc<T>, false;
    UserOwn: own::Own<(), T, { own::APART }>, true;
}

/// How many bytes make one operation of a script.
pub const STEP: usize = 4;

/// One of `choices`, chosen by a byte.
pub fn pick<T: Copy>(choices: &[T], byte: u8) -> T {
    choices[usize::from(byte) % choices.len()]
}

/// Makes a `#[test]` for each kind of pointer from functions that are generic over it:
/// `for_each_kind!(empty_map, insert_then_get);` gives `empty_map::atomic`, `empty_map::local`, …
///
/// Each further kind takes a third of the time that these three take to compile, and the library has one source for `Arc`
/// and `Rc`. So the tests with `Rc`, and many of those with a user's own handle, take the place of the others under
/// `--cfg weakly_other_handles`, which `.ci/handles` sets; the maps by identity are tested with all kinds at any time.
#[macro_export]
macro_rules! for_each_kind {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[cfg(not(weakly_other_handles))]
            #[test]
            fn atomic() {
                super::$test::<$crate::common::Atomic>();
            }
            #[cfg(not(weakly_other_handles))]
            #[test]
            fn local() {
                super::$test::<$crate::common::Local>();
            }
            #[cfg(not(weakly_other_handles))]
            #[test]
            fn std_arc() {
                super::$test::<$crate::common::StdArc>();
            }
            #[cfg(weakly_other_handles)]
            #[test]
            fn std_rc() {
                super::$test::<$crate::common::StdRc>();
            }
        }
    )*};
}

/// As [`for_each_kind!`], for the kinds that threads can share.
#[macro_export]
macro_rules! for_each_shared_kind {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[cfg(not(weakly_other_handles))]
            #[test]
            fn atomic() {
                super::$test::<$crate::common::Atomic>();
            }
            #[cfg(not(weakly_other_handles))]
            #[test]
            fn std_arc() {
                super::$test::<$crate::common::StdArc>();
            }
            #[cfg(weakly_other_handles)]
            #[test]
            fn user_own() {
                super::$test::<$crate::common::UserOwn>();
            }
        }
    )*};
}

/// A flavour of this crate's own pointers: tests of features that the standard library's pointers lack are
/// generic over it, and run for both by [`for_each_flavour!`].
pub trait Own: Flavour {
    /// `Strong::finalize`, with the bounds that both flavours accept.
    fn finalize<T: ?Sized>(
        object: &ptr::Strong<T, Self>,
        f: impl FnOnce() + Send + 'static,
    ) -> FinalizerToken<Self>;
    /// The same, of an anchor.
    fn finalize_anchor(
        anchor: &ptr::Anchor<Self>,
        f: impl FnOnce() + Send + 'static,
    ) -> FinalizerToken<Self>;
}

impl Own for weakly::ptr::Atomic {
    fn finalize<T: ?Sized>(object: &Strong<T>, f: impl FnOnce() + Send + 'static) -> Finalizer {
        Strong::finalize(object, f)
    }

    fn finalize_anchor(anchor: &Anchor, f: impl FnOnce() + Send + 'static) -> Finalizer {
        anchor.finalize(f)
    }
}

impl Own for weakly::ptr::Local {
    fn finalize<T: ?Sized>(
        object: &local::Strong<T>,
        f: impl FnOnce() + Send + 'static,
    ) -> local::Finalizer {
        local::Strong::finalize(object, f)
    }

    fn finalize_anchor(
        anchor: &local::Anchor,
        f: impl FnOnce() + Send + 'static,
    ) -> local::Finalizer {
        anchor.finalize(f)
    }
}

/// As [`for_each_kind!`], for functions that are generic over [`Own`].
#[macro_export]
macro_rules! for_each_flavour {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn atomic() {
                super::$test::<weakly::ptr::Atomic>();
            }
            #[test]
            fn local() {
                super::$test::<weakly::ptr::Local>();
            }
        }
    )*};
}

/// A new object.
pub fn new<P: Kind, T: 'static>(value: T) -> P::Strong<T> {
    value.into()
}

/// A weak handle to it.
pub fn downgrade<S: StrongRef>(strong: &S) -> S::Weak {
    S::downgrade(strong)
}

/// Whether its object is still there.
pub fn is_alive<W: WeakRef>(weak: &W) -> bool {
    weak.upgrade().is_some()
}

/// Counts the ends of the values that it made.
#[derive(Clone, Default)]
pub struct Counter(Rc<Cell<usize>>);

impl Counter {
    pub fn get(&self) -> usize {
        self.0.get()
    }

    /// A value that counts when it is dropped.
    pub fn witness(&self) -> OnDrop {
        let count = self.0.clone();
        OnDrop::new(move || count.set(count.get() + 1))
    }
}

/// Counts, on any thread.
#[derive(Clone, Default)]
pub struct Count(Arc<AtomicUsize>);

impl Count {
    /// Counts one more, and returns the count.
    pub fn add(&self) -> usize {
        self.0.fetch_add(1, SeqCst) + 1
    }

    pub fn get(&self) -> usize {
        self.0.load(SeqCst)
    }
}

/// A value that runs a closure when it is dropped.
pub struct OnDrop(Box<dyn FnMut()>);

impl OnDrop {
    pub fn new(f: impl FnMut() + 'static) -> Self {
        OnDrop(Box::new(f))
    }
}

impl Drop for OnDrop {
    fn drop(&mut self) {
        (self.0)();
    }
}

/// Events, in order; may be noted on any thread.
#[derive(Clone, Default)]
pub struct Log(Arc<Mutex<Vec<&'static str>>>);

impl Log {
    pub fn note(&self, event: &'static str) {
        self.0.lock().unwrap().push(event);
    }

    /// What was noted since the last call.
    pub fn take(&self) -> Vec<&'static str> {
        std::mem::take(&mut self.0.lock().unwrap())
    }
}

/// `mem::forget`, but into a global list that is reachable, so that leak checkers report only other leaks.
pub fn forget<T>(value: T) {
    reach(Box::into_raw(Box::new(value)).cast());
}

fn reach(memory: *mut ()) {
    static FORGOTTEN: Mutex<Vec<AtomicPtr<()>>> = Mutex::new(Vec::new());
    FORGOTTEN.lock().unwrap().push(AtomicPtr::new(memory));
}

/// Runs something that may panic; returns whether it did.
pub fn panics(f: impl FnOnce()) -> bool {
    catch_unwind(AssertUnwindSafe(f)).is_err()
}

/// The file and the line where something panics.
pub fn place_of_panic(f: impl FnOnce()) -> (String, u32) {
    thread_local! {
        static PLACE: RefCell<Option<(String, u32)>> = const { RefCell::new(None) };
    }
    // Once: while one test takes the hook, another may panic.
    static HOOK: Once = Once::new();
    HOOK.call_once(|| {
        let before = take_hook();
        set_hook(Box::new(move |info| {
            PLACE.set(info.location().map(|it| (it.file().into(), it.line())));
            before(info);
        }));
    });
    assert!(panics(f));
    PLACE.take().expect("a panic has a place")
}

/// A panic without a message on standard error.
pub fn quiet_panic() -> ! {
    resume_unwind(Box::new("hostile"))
}

/// Runs something that may panic like that; any other panic goes on.
pub fn unless_panics<R>(f: impl FnOnce() -> R) -> Option<R> {
    let result = catch_unwind(AssertUnwindSafe(f)).map_err(|panic| {
        if panic.downcast_ref() != Some(&"hostile") {
            resume_unwind(panic);
        }
    });
    result.ok()
}

/// `full`, or `small` under Miri, where every step is interpreted.
pub const fn scaled(full: usize, small: usize) -> usize {
    if cfg!(miri) { small } else { full }
}

/// `full` in an optimised build, which the deep run tests; a part of it where steps take long; `small` under Miri.
pub const fn sized(full: usize, part: usize, small: usize) -> usize {
    let full = if cfg!(debug_assertions) { part } else { full };
    scaled(full, small)
}

/// Runs something on a stack of `size` bytes.
pub fn on_a_stack_of<R: Send + 'static>(size: usize, f: impl FnOnce() -> R + Send + 'static) -> R {
    let mut result = None;
    let thread = Builder::new().stack_size(size);
    on_a_thread(thread, Box::new(|| result = Some(f()))).unwrap();
    result.unwrap()
}

/// What threads need is compiled once, and not for each closure.
fn on_a_thread(thread: Builder, f: Box<dyn FnOnce() + Send + '_>) -> std::thread::Result<()> {
    std::thread::scope(|scope| thread.spawn_scoped(scope, f).unwrap().join())
}

/// Runs something that may never end, on a thread of its own; if it hangs, the whole program fails, before it has used
/// up all memory.
pub fn in_time<R: Send + 'static>(f: impl FnOnce() -> R + Send + 'static) -> R {
    let name = std::thread::current().name().unwrap_or("?").to_owned();
    let _watched = watchdog::watched(name);
    let mut result = None;
    on_a_thread(Builder::new(), Box::new(|| result = Some(f())))
        .unwrap_or_else(|panic| resume_unwind(panic));
    result.unwrap()
}
