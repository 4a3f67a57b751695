//! What the test programs share: the four kinds of pointer, objects that count their deaths, and
//! sizes that Miri can bear.

#![allow(dead_code, unreachable_pub)] // each test program uses its own part

use std::cell::Cell;
use std::ops::Deref;
use std::rc::Rc;
use std::sync::Arc;

use weakly::{StrongRef, WeakRef, local};

/// A kind of pointer that can be a key. Tests are written once, over `P: Kind`, and run for each by
/// [`for_each_kind!`].
pub trait Kind: 'static {
    /// The strong pointer.
    type Strong<T: 'static>: StrongRef<Target = T> + Clone + Deref<Target = T> + From<T>;
    /// Whether deaths are announced (exact `len`) or found by sweeping.
    const NOTIFIES: bool;
}

macro_rules! kinds {
    ($($name:ident: $strong:ty, $notifies:expr;)*) => {$(
        pub enum $name {}
        impl Kind for $name {
            type Strong<T: 'static> = $strong;
            const NOTIFIES: bool = $notifies;
        }
    )*};
}

kinds! {
    Atomic: weakly::Strong<T>, true;
    Local: local::Strong<T>, true;
    StdArc: Arc<T>, false;
    StdRc: Rc<T>, false;
}

/// Makes a `#[test]` for each kind of pointer from functions that are generic over it:
/// `for_each_kind!(empty_map, insert_then_get);` gives `empty_map::atomic`, `empty_map::local`, …
#[macro_export]
macro_rules! for_each_kind {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn atomic() {
                super::$test::<$crate::common::Atomic>();
            }
            #[test]
            fn local() {
                super::$test::<$crate::common::Local>();
            }
            #[test]
            fn std_arc() {
                super::$test::<$crate::common::StdArc>();
            }
            #[test]
            fn std_rc() {
                super::$test::<$crate::common::StdRc>();
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

/// Counts the drops of the [`Witness`]es that it made.
#[derive(Clone, Default)]
pub struct Counter(Rc<Cell<usize>>);

impl Counter {
    pub fn get(&self) -> usize {
        self.0.get()
    }

    /// A value whose drop counts.
    pub fn witness(&self) -> Witness {
        Witness(self.0.clone())
    }
}

/// See [`Counter`].
pub struct Witness(Rc<Cell<usize>>);

impl Drop for Witness {
    fn drop(&mut self) {
        self.0.set(self.0.get() + 1);
    }
}

/// `full`, or `small` where every step is interpreted.
pub const fn scaled(full: usize, small: usize) -> usize {
    if cfg!(miri) { small } else { full }
}
