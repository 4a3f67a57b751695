//! `Trace` for the types of the standard library and of this crate, and the macro for users' types.

use alloc::borrow::{Cow, ToOwned};
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, BTreeSet, BinaryHeap, LinkedList, VecDeque};
use alloc::rc::{self, Rc};
use alloc::string::String;
use alloc::sync::{self as arc, Arc};
use alloc::vec::Vec;
use core::cell::{Cell, OnceCell, RefCell};
use core::cmp::Reverse;
use core::hash::BuildHasherDefault;
use core::marker::{PhantomData, PhantomPinned};
use core::mem::ManuallyDrop;
use core::num::{self, Wrapping};
use core::ops;
use core::pin::Pin;
use core::ptr::NonNull;
use core::sync::atomic;
use core::time::Duration;

use super::graph::{Trace, Tracer};
use crate::hash::DefaultHashBuilder;
use crate::ptr::{Anchor, AnchorRef, FinalizerToken, Flavour, Strong, Weak};
use crate::reference::ByIdentity;

/// The payload is an object of its own, which is traced in turn.
impl<T: ?Sized + Trace + 'static, F: Flavour> Trace for Strong<T, F> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.pointer(self, |this, tracer| (**this).trace(tracer));
    }
}

/// The payload is an object of its own, which is traced in turn.
impl<T: ?Sized + Trace + 'static> Trace for Rc<T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.pointer(self, |this, tracer| (**this).trace(tracer));
    }
}

/// The payload is an object of its own, which is traced in turn. Unless the maps are [at
/// rest](crate::cycles::Cycles::at_rest), the object counts as held from outside: another thread
/// may clone the `Arc` at any time, and no mark tells.
impl<T: ?Sized + Trace + 'static> Trace for Arc<T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        tracer.pointer(self, |this, tracer| (**this).trace(tracer));
    }
}

macro_rules! show_nothing {
    (@ [$($generics:tt)*] $type:ty) => {
        /// Shows nothing.
        impl<$($generics)*> Trace for $type {
            fn trace(&self, _: &mut Tracer<'_>) {}
        }
    };
    ($($generics:tt $($type:ty),* $(,)?;)*) => {
        $($(show_nothing! { @ $generics $type })*)*
    };
}

pub(crate) use show_nothing;

show_nothing! {
    [] (), bool, char, str, String, f32, f64,
    u8, u16, u32, u64, u128, usize, i8, i16, i32, i64, i128, isize,
    num::NonZeroU8, num::NonZeroU16, num::NonZeroU32, num::NonZeroU64, num::NonZeroU128, num::NonZeroUsize,
    num::NonZeroI8, num::NonZeroI16, num::NonZeroI32, num::NonZeroI64, num::NonZeroI128, num::NonZeroIsize,
    atomic::AtomicBool,
    atomic::AtomicU8, atomic::AtomicU16, atomic::AtomicU32, atomic::AtomicUsize,
    atomic::AtomicI8, atomic::AtomicI16, atomic::AtomicI32, atomic::AtomicIsize,
    DefaultHashBuilder, Duration, PhantomPinned, ops::RangeFull, core::cmp::Ordering, core::net::IpAddr, core::net::SocketAddr, core::any::TypeId, core::alloc::Layout, core::convert::Infallible;
    [T] atomic::AtomicPtr<T>, BuildHasherDefault<T>;
    [T: ?Sized] PhantomData<T>, ManuallyDrop<T>, Cell<T>, &T, *const T, *mut T, NonNull<T>, rc::Weak<T>, arc::Weak<T>;
    [T: ?Sized, F: Flavour] Weak<T, F>;
    [F: Flavour] FinalizerToken<F>, Anchor<F>, AnchorRef<F>;
}

#[cfg(target_has_atomic = "64")]
show_nothing! { [] atomic::AtomicU64, atomic::AtomicI64; }

#[cfg(feature = "std")]
show_nothing! {
    [] std::time::Instant, std::time::SystemTime, std::thread::ThreadId, std::path::Path, std::path::PathBuf,
    std::ffi::OsStr, std::ffi::OsString, std::hash::RandomState;
}

macro_rules! each {
    ($access:ident: $([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        /// Shows the handles of each element.
        impl<$($generics)*> Trace for $type {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                self.$access().into_iter().for_each(|part| Trace::trace(&*part, tracer));
            }
        }
    )*};
}

each! {
    iter: [T: Trace] [T], [T: Trace, const N: usize] [T; N], [T: Trace] Vec<T>, [T: Trace] VecDeque<T>,
    [T: Trace] LinkedList<T>, [T: Trace] BTreeSet<T>, [T: Trace] BinaryHeap<T>, [T: Trace] Option<T>,
}

each! { get: [T: Trace] OnceCell<T> }

/// Shows nothing while the cell is mutably borrowed.
impl<T: ?Sized + Trace> Trace for RefCell<T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self.try_borrow() {
            Ok(inside) => inside.trace(tracer),
            Err(_) => tracer.unseen::<Self>("is mutably borrowed: search when it is not"),
        }
    }
}

#[cfg(feature = "std")]
each! { iter: [T: Trace, S] std::collections::HashSet<T, S> }

#[cfg(feature = "std")]
each! { get: [T: Trace] std::sync::OnceLock<T> }

macro_rules! each_pair {
    ($([$($generics:tt)*] $type:ty),* $(,)?) => {$(
        /// Shows the handles of each key and each value.
        impl<$($generics)*> Trace for $type {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                for (key, value) in self {
                    key.trace(tracer);
                    value.trace(tracer);
                }
            }
        }
    )*};
}

each_pair! { [K: Trace, V: Trace] BTreeMap<K, V> }

#[cfg(feature = "std")]
each_pair! { [K: Trace, V: Trace, S] std::collections::HashMap<K, V, S> }

// Function pointers that take a reference of any lifetime are separate types: here are the most
// usual of these types. (The compiler warns of impls for both, because older compilers took the two
// types for one.)
#[allow(coherence_leak_check)]
mod functions {
    use crate::cycles::graph::{Trace, Tracer};

    macro_rules! functions {
        ($($($part:ident)*;)+) => {
            show_nothing! { $([Output, $($part),*] fn($($part),*) -> Output;)+ }
        };
    }

    functions! {
        ;
        A;
        A B;
        A B C;
        A B C D;
        A B C D E;
        A B C D E F;
        A B C D E F G;
        A B C D E F G H;
    }

    show_nothing! {
        [Output, A: ?Sized] for<'a> fn(&'a A) -> Output, for<'a> fn(&'a mut A) -> Output;
    }
}

macro_rules! tuples {
    ($($($part:ident)+;)+) => {$(
        /// Shows the handles of each part.
        impl<$($part: Trace),+> Trace for ($($part,)+) {
            #[allow(non_snake_case)]
            fn trace(&self, tracer: &mut Tracer<'_>) {
                let ($($part,)+) = self;
                $($part.trace(tracer);)+
            }
        }
    )+};
}

tuples! {
    A;
    A B;
    A B C;
    A B C D;
    A B C D E;
    A B C D E F;
    A B C D E F G;
    A B C D E F G H;
}

macro_rules! parts {
    ($([$($generics:tt)*] $type:ty, |$this:ident| $($part:expr),+;)+) => {$(
        /// Shows the handles of each part.
        impl<$($generics)*> Trace for $type {
            fn trace(&self, tracer: &mut Tracer<'_>) {
                let $this = self;
                $(Trace::trace($part, tracer);)+
            }
        }
    )+};
}

parts! {
    [T: Trace] ops::Range<T>, |range| &range.start, &range.end;
    [T: Trace] ops::RangeFrom<T>, |range| &range.start;
    [T: Trace] ops::RangeTo<T>, |range| &range.end;
    [T: Trace] ops::RangeInclusive<T>, |range| range.start(), range.end();
    [T: Trace] ops::RangeToInclusive<T>, |range| &range.end;
    [T: ?Sized + Trace] Box<T>, |this| &**this;
    [T: ?Sized + Trace] Pin<Box<T>>, |this| &**this;
    [T: ?Sized + Trace + 'static, F: Flavour] Pin<Strong<T, F>>, |this| Strong::in_pin(this);
    [T: Trace] Wrapping<T>, |this| &this.0;
    [T: Trace] Reverse<T>, |this| &this.0;
    [P: Trace] ByIdentity<P>, |this| &this.0;
}

impl<T: Trace, E: Trace> Trace for Result<T, E> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        match self {
            Ok(value) => value.trace(tracer),
            Err(error) => error.trace(tracer),
        }
    }
}

/// Shows the handles of an owned value; a borrowed value shows nothing.
impl<T: ?Sized + ToOwned<Owned: Trace>> Trace for Cow<'_, T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        if let Cow::Owned(owned) = self {
            owned.trace(tracer);
        }
    }
}

/// Shows the value behind a lock, unless [threads share the lock](Tracer::is_shared).
#[cfg(feature = "std")]
fn locked<G: ops::Deref<Target: Trace>>(
    tracer: &mut Tracer<'_>,
    lock: impl FnOnce() -> std::sync::TryLockResult<G>,
) {
    if tracer.is_shared() {
        return;
    }
    match lock() {
        Ok(inside) => Trace::trace(&*inside, tracer),
        Err(std::sync::TryLockError::Poisoned(inside)) => Trace::trace(&**inside.get_ref(), tracer),
        Err(std::sync::TryLockError::WouldBlock) => {
            tracer.unseen::<G::Target>("is locked: search when it is not")
        }
    }
}

/// Shows nothing while the mutex is locked, nor where [threads share the mutex](Tracer::is_shared).
#[cfg(feature = "std")]
impl<T: ?Sized + Trace> Trace for std::sync::Mutex<T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        locked(tracer, || self.try_lock());
    }
}

/// Shows nothing while the lock is locked for writing, nor where [threads share the
/// lock](Tracer::is_shared).
#[cfg(feature = "std")]
impl<T: ?Sized + Trace> Trace for std::sync::RwLock<T> {
    fn trace(&self, tracer: &mut Tracer<'_>) {
        locked(tracer, || self.try_read());
    }
}

/// Implements [`Trace`] for a type: names the fields that own strong handles.
///
/// ```
/// use std::cell::RefCell;
/// use weakly::{Strong, cycles::Trace, impl_trace};
///
/// struct Node { name: String, next: RefCell<Option<Strong<Node>>>, children: Vec<Strong<Node>> }
/// impl_trace!(Node: next, children);
///
/// struct Leaf;
/// impl_trace!(Leaf); // owns none
///
/// struct Pair(Strong<Leaf>, Strong<Leaf>);
/// impl_trace!(Pair: 0, 1);
///
/// struct List<T> { head: Option<Strong<List<T>>>, item: T }
/// impl_trace!([T: Trace + 'static] List<T>: head, item);
///
/// enum Term { Variable(String), Apply(Strong<Term>, Strong<Term>) }
/// impl_trace!(match Term {
///     Term::Variable(_) => [],
///     Term::Apply(function, argument) => [function, argument],
/// });
/// # _ = (Leaf, Pair(Strong::new(Leaf), Strong::new(Leaf)), Term::Variable(String::new()), List { head: None, item: 1 });
/// # let f = || Strong::new(Term::Variable(String::new()));
/// # let (Term::Variable(_) | Term::Apply(..)) = Term::Apply(f(), f());
/// # let node = Node { name: String::new(), next: RefCell::new(None), children: Vec::new() };
/// # _ = node.name;
/// ```
///
/// A collection that does not implement [`Trace`] itself, such as a collection of another crate, is
/// shown by its items: `&field` is [iterated over](Tracer::each), and yields references, or pairs
/// of references.
///
/// ```
/// use hashbrown::{HashMap, HashSet, HashTable};
/// use weakly::{ByIdentity, Strong, impl_trace};
///
/// struct Graph<S> {
///     roots: HashSet<ByIdentity<Strong<Node>>, S>,
///     names: HashMap<String, Strong<Node>, S>,
///     all: HashTable<Strong<Node>>,
/// }
/// struct Node;
/// impl_trace!([S] Graph<S>: each roots, each names, each all);
/// impl_trace!(Node);
///
/// enum Scope { Global, Local(HashMap<String, Strong<Node>, std::hash::RandomState>) }
/// impl_trace!(match Scope {
///     Scope::Global => [],
///     Scope::Local(names) => [each names],
/// });
/// # _ = (Scope::Global, Scope::Local(HashMap::default()));
/// # _ = Graph::<std::hash::RandomState> { roots: HashSet::default(), names: HashMap::default(), all: HashTable::new() };
/// ```
///
/// There is no `where` clause: bounds belong in the brackets, as in `[I: Iterator<Item: Trace>]`.
///
/// A field without a name in the macro is not shown: [`Trace`] describes the consequences. With the
/// feature `derive`, `#[derive(Trace)]` shows all fields that are not marked `#[trace(skip)]`.
#[macro_export]
macro_rules! impl_trace {
    (@ $tracer:ident []) => {};
    (@ $tracer:ident [each $part:expr $(, $($rest:tt)*)?]) => {
        $crate::cycles::Tracer::each(&mut $tracer.field(stringify!($part)), $part);
        $crate::impl_trace! { @ $tracer [$($($rest)*)?] }
    };
    (@ $tracer:ident [$part:expr $(, $($rest:tt)*)?]) => {
        $crate::cycles::Trace::trace($part, &mut $tracer.field(stringify!($part)));
        $crate::impl_trace! { @ $tracer [$($($rest)*)?] }
    };
    (@ $tracer:ident $this:ident []) => {};
    // First, because a field may have the name `each`.
    (@ $tracer:ident $this:ident [$field:tt $(, $($rest:tt)*)?]) => {
        $crate::cycles::Trace::trace(&$this.$field, &mut $tracer.field(stringify!($field)));
        $crate::impl_trace! { @ $tracer $this [$($($rest)*)?] }
    };
    (@ $tracer:ident $this:ident [each $field:tt $(, $($rest:tt)*)?]) => {
        $crate::cycles::Tracer::each(&mut $tracer.field(stringify!($field)), &$this.$field);
        $crate::impl_trace! { @ $tracer $this [$($($rest)*)?] }
    };
    (@ $($rest:tt)*) => {
        ::core::compile_error!("a field is named alone, or after `each`")
    };
    ([$($generics:tt)*] match $type:ty { $($pattern:pat => [$($parts:tt)*]),* $(,)? }) => {
        impl<$($generics)*> $crate::cycles::Trace for $type {
            #[allow(unused_variables)]
            fn trace(&self, tracer: &mut $crate::cycles::Tracer<'_>) {
                match self {
                    $($pattern => { $crate::impl_trace! { @ tracer [$($parts)*] } })*
                }
            }
        }
    };
    (match $($rest:tt)*) => { $crate::impl_trace! { [] match $($rest)* } };
    ([$($generics:tt)*] $type:ty $(: $($fields:tt)*)?) => {
        impl<$($generics)*> $crate::cycles::Trace for $type {
            #[allow(unused_variables)]
            fn trace(&self, tracer: &mut $crate::cycles::Tracer<'_>) {
                $crate::impl_trace! { @ tracer self [$($($fields)*)?] }
            }
        }
    };
    ($($rest:tt)*) => { $crate::impl_trace! { [] $($rest)* } };
}
