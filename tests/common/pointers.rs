//! The pointers to a number that shared collections take, for tests that name them.

use std::fmt;
use std::ops::Deref;
use std::sync::Arc;

use weakly::Strong;
use weakly::concurrent::SharedRef;

/// A pointer to a number that shared collections take.
pub trait Pointer:
    SharedRef<Target = usize>
    + Clone
    + From<usize>
    + Deref<Target = usize>
    + fmt::Debug
    + Send
    + Sync
    + 'static
{
    /// Whether deaths are notified.
    const NOTIFIES: bool;

    fn is(&self, other: &Self) -> bool {
        std::ptr::eq(&raw const **self, &raw const **other)
    }
}

impl Pointer for Strong<usize> {
    const NOTIFIES: bool = true;
}

impl Pointer for Arc<usize> {
    const NOTIFIES: bool = false;
}

/// Makes a `#[test]` for each kind of pointer, of tests that are generic over it.
#[allow(unused_macros)] // a program uses a part of this
macro_rules! for_each_pointer {
    ($($test:ident),* $(,)?) => {$(
        mod $test {
            #[test]
            fn strong() {
                super::$test::<weakly::Strong<usize>>();
            }
            #[test]
            fn arc() {
                super::$test::<std::sync::Arc<usize>>();
            }
        }
    )*};
}
#[allow(unused_imports)]
pub(crate) use for_each_pointer;
