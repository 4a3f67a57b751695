//! Atomics, locks and thread-locals for scripts under shuttle.
//!
//! shuttle's own atomics are larger than a word, and the library lays some atomics out in raw
//! memory and in unions. So the atomics here are the atomics of `core`. Each use is a step, before
//! which the scheduler may choose a different thread.

use core::ops::{Deref, DerefMut};
use core::sync::atomic;
use core::time::Duration;

pub(crate) use shuttle::sync as locks;
pub(crate) use shuttle::thread::yield_now;
pub(crate) use shuttle::thread_local;

/// Declares atomics. An atomic here has the methods of the atomic in `core`, each with a step.
macro_rules! scheduled {
    ($($name:ident$(<$target:ident>)? = $value:ty;)*) => {$(
        #[derive(Debug, Default)]
        #[repr(transparent)]
        #[allow(unreachable_pub, reason = "the type is in the traits of flavours")]
        pub struct $name$(<$target>)?(atomic::$name$(<$target>)?);

        impl$(<$target>)? $name$(<$target>)? {
            pub(crate) const fn new(value: $value) -> Self {
                $name(atomic::$name::new(value))
            }
        }

        impl$(<$target>)? Deref for $name$(<$target>)? {
            type Target = atomic::$name$(<$target>)?;

            fn deref(&self) -> &Self::Target {
                step();
                &self.0
            }
        }

        impl$(<$target>)? DerefMut for $name$(<$target>)? {
            fn deref_mut(&mut self) -> &mut Self::Target {
                &mut self.0
            }
        }
    )*};
}

scheduled! {
    AtomicBool = bool;
    AtomicU16 = u16;
    AtomicU32 = u32;
    AtomicUsize = usize;
    AtomicPtr<T> = *mut T;
}

/// Lets the scheduler choose the thread that goes on.
fn step() {
    shuttle::thread::sleep(Duration::ZERO);
}
